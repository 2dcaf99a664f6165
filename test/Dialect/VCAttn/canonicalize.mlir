// RUN: vcattn-opt %s -canonicalize | FileCheck %s

// A mask that keeps everything says nothing.
// CHECK-LABEL: func @trivial_masks(
// CHECK-COUNT-3: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.000000e+00 : f64}
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<1x1x1x8xi1>
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<1x1x1x8xf32>
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<1x1x1x8xi1>
func.func @trivial_masks(%x: tensor<1x1x8x16xf32>, %m: tensor<1x1x1x8xi1>)
    -> (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>,
        tensor<1x1x8x16xf32>) {
  %true = arith.constant dense<true> : tensor<1x1x1x8xi1>
  %false = arith.constant dense<false> : tensor<1x1x1x8xi1>
  %zero = arith.constant dense<0.0> : tensor<1x1x1x8xf32>
  %minus_zero = arith.constant dense<-0.0> : tensor<1x1x1x8xf32>
  %one = arith.constant dense<1.0> : tensor<1x1x1x8xf32>
  %0 = vcattn.attention %x, %x, %x mask %true : tensor<1x1x1x8xi1> {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  %1 = vcattn.attention %x, %x, %x mask %zero : tensor<1x1x1x8xf32> {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  %2 = vcattn.attention %x, %x, %x mask %minus_zero : tensor<1x1x1x8xf32> {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  %3 = vcattn.attention %x, %x, %x mask %false : tensor<1x1x1x8xi1> {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  %4 = vcattn.attention %x, %x, %x mask %one : tensor<1x1x1x8xf32> {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  %5 = vcattn.attention %x, %x, %x mask %m : tensor<1x1x1x8xi1> {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  return %0, %1, %2, %3, %4, %5
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>,
        tensor<1x1x8x16xf32>
}

// CHECK-LABEL: func @trivial_mask_quantized(
// CHECK: vcattn.quantized_attention %{{.*}}, %{{.*}}, %{{.*}} {cast = #vcattn.cast<expcast>, scale = 1.000000e+00 : f64}
func.func @trivial_mask_quantized(%x: tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32> {
  %true = arith.constant dense<true> : tensor<1x1x1x8xi1>
  %0 = vcattn.quantized_attention %x, %x, %x mask %true {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x1x8xi1>) -> tensor<1x1x8x16xf32>
  return %0 : tensor<1x1x8x16xf32>
}

// The last query sees all keys, and so does everybody if there is one only.
// CHECK-LABEL: func @trivial_causality(
// CHECK: vcattn.attention %{{.*}} {scale = 1.000000e+00 : f64} : tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>
// CHECK: vcattn.attention %{{.*}} {scale = 1.000000e+00 : f64} : tensor<1x1x8x16xf32>, tensor<1x1x1x16xf32>
// CHECK: vcattn.quantized_attention %{{.*}} {cast = #vcattn.cast<exact>, layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64} : (tensor<1x1x8x16xf32>
// CHECK: vcattn.attention %{{.*}} {causal = #vcattn.causality<top_left>, scale = 1.000000e+00 : f64} : tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>
// CHECK: vcattn.attention %{{.*}} {causal = #vcattn.causality<bottom_right>, scale = 1.000000e+00 : f64} : tensor<1x1x8x16xf32>, tensor<1x1x1x16xf32>
func.func @trivial_causality(%one: tensor<1x1x1x16xf32>, %x: tensor<1x1x8x16xf32>, %y: tensor<1x5x8x16xf32>)
    -> (tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>) {
  %0 = vcattn.attention %one, %x, %x {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>}
      : tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x1x16xf32>
  %1 = vcattn.attention %x, %one, %one {scale = 1.0 : f64, causal = #vcattn.causality<top_left>}
      : tensor<1x1x8x16xf32>, tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32> -> tensor<1x1x8x16xf32>
  %2 = vcattn.quantized_attention %x, %y, %y {cast = #vcattn.cast<exact>, scale = 1.0 : f64,
      layout = #vcattn.layout<bthd>, causal = #vcattn.causality<bottom_right>}
      : (tensor<1x1x8x16xf32>, tensor<1x5x8x16xf32>, tensor<1x5x8x16xf32>) -> tensor<1x1x8x16xf32>
  %3 = vcattn.attention %one, %x, %x {scale = 1.0 : f64, causal = #vcattn.causality<top_left>}
      : tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x1x16xf32>
  %4 = vcattn.attention %x, %one, %one {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>}
      : tensor<1x1x8x16xf32>, tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32> -> tensor<1x1x8x16xf32>
  return %0, %1, %2, %3, %4
      : tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x1x16xf32>, tensor<1x1x8x16xf32>
}

// With as many queries as keys both corners are one; with sizes unknown nothing
// is.
// CHECK-LABEL: func @one_corner(
// CHECK: vcattn.attention %{{.*}} {causal = #vcattn.causality<top_left>, scale = 1.000000e+00 : f64} : tensor<1x1x8x16xf32>
// CHECK: vcattn.attention %{{.*}} {causal = #vcattn.causality<bottom_right>, scale = 1.000000e+00 : f64} : tensor<1x1x?x16xf32>
func.func @one_corner(%x: tensor<1x1x8x16xf32>, %y: tensor<1x1x?x16xf32>) -> (tensor<1x1x8x16xf32>, tensor<1x1x?x16xf32>) {
  %0 = vcattn.attention %x, %x, %x {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  %1 = vcattn.attention %y, %y, %y {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>}
      : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x?x16xf32>
  return %0, %1 : tensor<1x1x8x16xf32>, tensor<1x1x?x16xf32>
}

// CHECK-LABEL: func @unused_lse(
// CHECK: %[[O:.*]] = vcattn.attention %{{.*}} {scale = 1.000000e+00 : f64, test.note} : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
// CHECK-NEXT: %[[P:.*]] = vcattn.quantized_attention %{{.*}} -> tensor<1x1x8x16xf32>
// CHECK-NEXT: %[[R:.*]], %[[L:.*]] = vcattn.attention
// CHECK-NEXT: return %[[O]], %[[P]], %[[L]]
func.func @unused_lse(%x: tensor<1x1x8x16xf32>) -> (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8xf32>) {
  %0:2 = vcattn.attention %x, %x, %x {scale = 1.0 : f64, test.note}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
  %1:2 = vcattn.quantized_attention %x, %x, %x {cast = #vcattn.cast<exact>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) -> (tensor<1x1x8x16xf32>, tensor<1x1x8xf32>)
  %2:2 = vcattn.attention %x, %x, %x {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
  return %0#0, %1#0, %2#1 : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
}

// CHECK-LABEL: func @identity_permutation(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x3x16xf32>, %[[Y:.*]]: tensor<?x?x?x16xf32>
// CHECK: %[[G:.*]] = vcattn.gather_tokens %[[X]]
// CHECK: return %[[X]], %[[Y]], %[[G]]
func.func @identity_permutation(%x: tensor<1x2x3x16xf32>, %y: tensor<?x?x?x16xf32>)
    -> (tensor<1x2x3x16xf32>, tensor<?x?x?x16xf32>, tensor<1x2x3x16xf32>) {
  %p = arith.constant dense<[[[0, 1, 2], [0, 1, 2]]]> : tensor<1x2x3xi32>
  %r = arith.constant dense<[[[0, 1, 2], [0, 2, 1]]]> : tensor<1x2x3xi32>
  %0 = vcattn.gather_tokens %x, %p : (tensor<1x2x3x16xf32>, tensor<1x2x3xi32>) -> tensor<1x2x3x16xf32>
  %1 = vcattn.gather_tokens %y, %p : (tensor<?x?x?x16xf32>, tensor<1x2x3xi32>) -> tensor<?x?x?x16xf32>
  %2 = vcattn.gather_tokens %x, %r : (tensor<1x2x3x16xf32>, tensor<1x2x3xi32>) -> tensor<1x2x3x16xf32>
  return %0, %1, %2 : tensor<1x2x3x16xf32>, tensor<?x?x?x16xf32>, tensor<1x2x3x16xf32>
}

// Rotating twice is the identity up to rounding only.
// CHECK-LABEL: func @rotated_twice(
// CHECK-COUNT-2: vcattn.hadamard
func.func @rotated_twice(%x: tensor<1x2x3x16xf32>) -> tensor<1x2x3x16xf32> {
  %0 = vcattn.hadamard %x : (tensor<1x2x3x16xf32>) -> tensor<1x2x3x16xf32>
  %1 = vcattn.hadamard %0 : (tensor<1x2x3x16xf32>) -> tensor<1x2x3x16xf32>
  return %1 : tensor<1x2x3x16xf32>
}

// CHECK-LABEL: func @dead(
// CHECK-NEXT: return
func.func @dead(%x: tensor<1x2x3x16xf32>) {
  %0:2 = vcattn.center_keys %x : (tensor<1x2x3x16xf32>) -> (tensor<1x2x3x16xf32>, tensor<1x2x16xf32>)
  %1:2 = vcattn.cluster %0#0 {clusters = 2 : i64, iterations = 1 : i64} : (tensor<1x2x3x16xf32>) -> (tensor<1x2x3xi32>, tensor<1x2x2x16xf32>)
  return
}

// A window without bounds goes; causality takes the place of a right bound.
// CHECK-LABEL: func @windows(
// CHECK: vcattn.attention %{{.*}} {scale = 1.000000e+00 : f64} :
// CHECK: vcattn.attention %{{.*}} {causal = #vcattn.causality<top_left>, scale = 1.000000e+00 : f64} :
// CHECK: vcattn.attention %{{.*}} {causal = #vcattn.causality<bottom_right>, scale = 1.000000e+00 : f64, window = #vcattn.window<left = 3>} :
// CHECK: vcattn.attention %{{.*}} {scale = 1.000000e+00 : f64, window = #vcattn.window<right = 4>} :
func.func @windows(%x: tensor<1x2x30x16xf32>) -> (tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>) {
  %0 = vcattn.attention %x, %x, %x {scale = 1.0 : f64, window = #vcattn.window<>}
      : tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32> -> tensor<1x2x30x16xf32>
  %1 = vcattn.attention %x, %x, %x {scale = 1.0 : f64, causal = #vcattn.causality<top_left>, window = #vcattn.window<right = 4>}
      : tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32> -> tensor<1x2x30x16xf32>
  %2 = vcattn.attention %x, %x, %x {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>, window = #vcattn.window<left = 3, right = 4>}
      : tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32> -> tensor<1x2x30x16xf32>
  %3 = vcattn.attention %x, %x, %x {scale = 1.0 : f64, window = #vcattn.window<right = 4>}
      : tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32> -> tensor<1x2x30x16xf32>
  return %0, %1, %2, %3 : tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32>
}

// A single query aligned to the last key that counts does not see all of them.
// CHECK-LABEL: func @lengths(
// CHECK: causal = #vcattn.causality<bottom_right>
func.func @lengths(%q: tensor<1x2x1x16xf32>, %k: tensor<1x2x30x16xf32>, %n: tensor<1xi32>) -> tensor<1x2x1x16xf32> {
  %0 = vcattn.attention %q, %k, %k lengths %n : tensor<1xi32> {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>}
      : tensor<1x2x1x16xf32>, tensor<1x2x30x16xf32>, tensor<1x2x30x16xf32> -> tensor<1x2x1x16xf32>
  return %0 : tensor<1x2x1x16xf32>
}
