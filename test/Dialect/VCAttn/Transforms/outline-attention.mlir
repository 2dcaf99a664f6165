// RUN: vcattn-opt %s -split-input-file -vcattn-outline-attention | FileCheck %s
// RUN: vcattn-opt %s -split-input-file -vcattn-outline-attention -vcattn-outline-attention | FileCheck %s
// RUN: vcattn-opt %s -split-input-file -vcattn-outline-attention=keep-reshapes=true | FileCheck %s --check-prefix=KEEP

// Two attentions among other ops, which stay as they are.
// CHECK-LABEL: func @among_others(
// CHECK-SAME: %[[Q:.*]]: tensor<1x1x8x16xf32>, %[[K:.*]]: tensor<1x1x8x16xf32>, %[[M:.*]]: tensor<1x1x8x8xi1>
// CHECK-NOT: vcattn.attention
// CHECK: %[[O:.*]]:2 = call @among_others_attention0(%[[Q]], %[[K]], %[[M]]) : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x8xi1>) -> (tensor<1x1x8x16xf32>, tensor<1x1x8xf32>)
// CHECK: %[[X:.*]] = linalg.exp ins(%[[O]]#0
// CHECK: %[[P:.*]] = call @among_others_attention1(%[[X]]) : (tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
// CHECK: return %[[P]], %[[O]]#1
// CHECK: func private @among_others_attention0(%[[Q:.*]]: tensor<1x1x8x16xf32>, %[[K:.*]]: tensor<1x1x8x16xf32>, %[[M:.*]]: tensor<1x1x8x8xi1>) -> (tensor<1x1x8x16xf32>, tensor<1x1x8xf32>) attributes {vcattn.entry} {
// CHECK-NEXT: %[[O:.*]], %[[L:.*]] = vcattn.attention %[[Q]], %[[K]], %[[K]] mask %[[M]] : tensor<1x1x8x8xi1> {scale = 1.000000e+00 : f64, test.note}
// CHECK-NEXT: return %[[O]], %[[L]]
// CHECK: func private @among_others_attention1(%[[X:.*]]: tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32> attributes {vcattn.entry} {
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[X]], %[[X]], %[[X]] {scale = 2.000000e+00 : f64}
// CHECK-NEXT: return %[[O]]
func.func @among_others(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x8x16xf32>, %m: tensor<1x1x8x8xi1>)
    -> (tensor<1x1x8x16xf32>, tensor<1x1x8xf32>) {
  %o:2 = vcattn.attention %q, %k, %k mask %m : tensor<1x1x8x8xi1> {scale = 1.0 : f64, test.note}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
  %e = tensor.empty() : tensor<1x1x8x16xf32>
  %x = linalg.exp ins(%o#0 : tensor<1x1x8x16xf32>) outs(%e : tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
  %p = vcattn.attention %x, %x, %x {scale = 2.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  return %p, %o#1 : tensor<1x1x8x16xf32>, tensor<1x1x8xf32>
}

// -----

// CHECK-LABEL: func @alone(
// CHECK-SAME: attributes {vcattn.entry}
// CHECK-NEXT: vcattn.attention
// CHECK-NOT: @alone_
func.func @alone(%q: tensor<?x?x?x16xf32>, %k: tensor<?x?x?x16xf32>) -> tensor<?x?x?x16xf32> {
  %o = vcattn.attention %q, %k, %k {scale = 1.0 : f64}
      : tensor<?x?x?x16xf32>, tensor<?x?x?x16xf32>, tensor<?x?x?x16xf32> -> tensor<?x?x?x16xf32>
  return %o : tensor<?x?x?x16xf32>
}

// -----

// Reshapes at the boundary stay in the caller, or make no difference.
// KEEP-LABEL: func @reshapes(
// KEEP-SAME: attributes {vcattn.entry}
// KEEP-NOT: call
// KEEP: vcattn.attention
// CHECK-LABEL: func @reshapes(
// CHECK-SAME: %[[Q:.*]]: tensor<4x8x16xf32>
// CHECK-SAME: -> tensor<4x8x16xf32> {
// CHECK-NEXT: %[[E:.*]] = tensor.expand_shape %[[Q]]
// CHECK-NEXT: %[[O:.*]] = call @reshapes_attention0(%[[E]])
// CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %[[O]]
// CHECK-NEXT: return %[[C]]
func.func @reshapes(%q: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %e = tensor.expand_shape %q [[0, 1], [2], [3]] output_shape [1, 4, 8, 16] : tensor<4x8x16xf32> into tensor<1x4x8x16xf32>
  %o = vcattn.attention %e, %e, %e {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  %c = tensor.collapse_shape %o [[0, 1], [2], [3]] : tensor<1x4x8x16xf32> into tensor<4x8x16xf32>
  return %c : tensor<4x8x16xf32>
}

// -----

// Inside a region, and with the name taken.
// CHECK-LABEL: func @loop(
// CHECK: scf.for
// CHECK: func.call @loop_attention0_0
// CHECK: func private @loop_attention0_0(
// CHECK: func private @loop_attention0()
func.func @loop(%q: tensor<1x1x8x16xf32>, %n: index) -> tensor<1x1x8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q) -> tensor<1x1x8x16xf32> {
    %o = vcattn.attention %x, %q, %q {scale = 1.0 : f64}
        : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
    scf.yield %o : tensor<1x1x8x16xf32>
  }
  return %r : tensor<1x1x8x16xf32>
}
func.func private @loop_attention0()

// -----

// CHECK-LABEL: func @no_attention(
// CHECK-NOT: vcattn.entry
func.func @no_attention(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
