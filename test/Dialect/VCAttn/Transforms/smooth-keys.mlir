// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-keys -verify-diagnostics | FileCheck %s
// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-keys=rotate=false | FileCheck %s --check-prefix=CENTER
// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-keys=center=false | FileCheck %s --check-prefix=ROTATE
// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-keys -vcattn-smooth-keys | FileCheck %s

// CHECK-LABEL: func @plain
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>, %[[V:.*]]: tensor<1x4x300x128xbf16>
// CHECK: %[[KC:.*]], %{{.*}} = vcattn.center_keys %[[K]] : (tensor<1x4x300x128xbf16>) -> (tensor<1x4x300x128xf32>, tensor<1x4x128xf32>)
// CHECK-DAG: %[[QR:.*]] = vcattn.hadamard %[[Q]]
// CHECK-DAG: %[[KR:.*]] = vcattn.hadamard %[[KC]]
// CHECK: %[[O:.*]] = vcattn.attention %[[QR]], %[[KR]], %[[V]] {scale = 5.000000e-01 : f64} : tensor<1x4x200x128xf32>, tensor<1x4x300x128xf32>, tensor<1x4x300x128xbf16> -> tensor<1x4x200x128xbf16>
// CHECK-NEXT: return %[[O]]

// CENTER-LABEL: func @plain
// CENTER-SAME: %[[Q:.*]]: tensor<1x4x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>, %[[V:.*]]: tensor<1x4x300x128xbf16>
// CENTER-NEXT: %[[KC:.*]], %{{.*}} = vcattn.center_keys %[[K]]
// CENTER-NEXT: vcattn.attention %[[Q]], %[[KC]], %[[V]]

// ROTATE-LABEL: func @plain
// ROTATE-SAME: %[[Q:.*]]: tensor<1x4x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>, %[[V:.*]]: tensor<1x4x300x128xbf16>
// ROTATE-NEXT: %[[QR:.*]] = vcattn.hadamard %[[Q]]
// ROTATE-NEXT: %[[KR:.*]] = vcattn.hadamard %[[K]]
// ROTATE-NEXT: vcattn.attention %[[QR]], %[[KR]], %[[V]]
func.func @plain(%q: tensor<1x4x200x128xbf16>, %k: tensor<1x4x300x128xbf16>, %v: tensor<1x4x300x128xbf16>)
    -> tensor<1x4x200x128xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.5 : f64}
      : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x128xbf16> -> tensor<1x4x200x128xbf16>
  return %o : tensor<1x4x200x128xbf16>
}

// -----

// Centring lowers every score of a query by scale * <q, mean>, and with it the
// log-sum-exp; causality and mask do not matter to it.
// CHECK-LABEL: func @lse_gqa_bthd
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x8x64xf16>, %[[K:[^:]*]]: tensor<?x?x2x64xf16>
// CHECK: %[[KC:.*]], %[[MEAN:.*]] = vcattn.center_keys %[[K]] {layout = #vcattn.layout<bthd>} : (tensor<?x?x2x64xf16>) -> (tensor<?x?x2x64xf32>, tensor<?x2x64xf32>)
// CHECK: %[[O:.*]], %[[LSE0:.*]] = vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<?x1x?x?xi1> {causal = #vcattn.causality<bottom_right>, layout = #vcattn.layout<bthd>, scale = 1.250000e-01 : f64}
// CHECK-NEXT: %[[LSE:.*]] = vcattn.correct_lse %[[Q]], %[[MEAN]], %[[LSE0]] {layout = #vcattn.layout<bthd>, scale = 1.250000e-01 : f64}
// CHECK-NEXT: return %[[O]], %[[LSE]]
// ROTATE-LABEL: func @lse_gqa_bthd
// ROTATE-NOT: correct_lse
func.func @lse_gqa_bthd(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>,
                        %m: tensor<?x1x?x?xi1>) -> (tensor<?x?x8x64xf16>, tensor<?x8x?xf32>) {
  %o:2 = vcattn.attention %q, %k, %v mask %m : tensor<?x1x?x?xi1>
      {scale = 0.125 : f64, causal = #vcattn.causality<bottom_right>, layout = #vcattn.layout<bthd>}
      : tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16> -> tensor<?x?x8x64xf16>, tensor<?x8x?xf32>
  return %o#0, %o#1 : tensor<?x?x8x64xf16>, tensor<?x8x?xf32>
}

// -----

// After vcattn-expcast queries and keys are still floats.
// CHECK-LABEL: func @after_expcast
// CHECK: vcattn.center_keys
// CHECK: vcattn.quantized_attention %{{.*}}, %{{.*}}, %{{.*}} {cast = #vcattn.cast<expcast>, scale = 1.000000e+00 : f64} : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>)
func.func @after_expcast(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x8x16xf32>, %v: tensor<1x1x8x16xf32>)
    -> tensor<1x1x8x16xf32> {
  %o = vcattn.quantized_attention %q, %k, %v {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

// -----

// After vcattn-smooth-values the keys are gathered; they are centred after it.
// CHECK-LABEL: func @after_smooth_values
// CHECK: %[[KG:.*]] = vcattn.gather_tokens
// CHECK: vcattn.center_keys %[[KG]]
func.func @after_smooth_values(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x8x16xf32>, %v: tensor<1x1x8x16xf32>,
                               %p: tensor<1x1x8xi32>) -> tensor<1x1x8x16xf32> {
  %kg = vcattn.gather_tokens %k, %p : (tensor<1x1x8x16xf32>, tensor<1x1x8xi32>) -> tensor<1x1x8x16xf32>
  %vg = vcattn.gather_tokens %v, %p : (tensor<1x1x8x16xf32>, tensor<1x1x8xi32>) -> tensor<1x1x8x16xf32>
  %o = vcattn.attention %q, %kg, %vg {scale = 1.0 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

// -----

// CHECK-LABEL: func @no_power_of_two
// CHECK: %[[KC:.*]], %{{.*}} = vcattn.center_keys
// CHECK: vcattn.hadamard %[[KC]]
func.func @no_power_of_two(%q: tensor<1x1x8x96xf32>, %k: tensor<1x1x8x96xf32>, %v: tensor<1x1x8x96xf32>)
    -> tensor<1x1x8x96xf32> {
  %o = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x8x96xf32>, tensor<1x1x8x96xf32>, tensor<1x1x8x96xf32> -> tensor<1x1x8x96xf32>
  return %o : tensor<1x1x8x96xf32>
}

// -----

// CHECK-LABEL: func @odd_head_dim
// CHECK: %[[KC:.*]], %{{.*}} = vcattn.center_keys
// CHECK-NOT: hadamard
// CHECK: vcattn.attention %{{.*}}, %[[KC]]
func.func @odd_head_dim(%q: tensor<1x1x8x33xf32>, %k: tensor<1x1x8x33xf32>, %v: tensor<1x1x8x96xf32>)
    -> tensor<1x1x8x96xf32> {
  // expected-remark @+1 {{queries and keys are not rotated: head dimension 33 is odd}}
  %o = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x8x33xf32>, tensor<1x1x8x33xf32>, tensor<1x1x8x96xf32> -> tensor<1x1x8x96xf32>
  return %o : tensor<1x1x8x96xf32>
}

// -----

// CHECK-LABEL: func @dynamic_head_dim
// CHECK-NOT: hadamard
func.func @dynamic_head_dim(%q: tensor<1x1x8x?xf32>, %k: tensor<1x1x8x?xf32>, %v: tensor<1x1x8x96xf32>)
    -> tensor<1x1x8x96xf32> {
  // expected-remark @+1 {{queries and keys are not rotated: head dimension is dynamic}}
  %o = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x8x?xf32>, tensor<1x1x8x?xf32>, tensor<1x1x8x96xf32> -> tensor<1x1x8x96xf32>
  return %o : tensor<1x1x8x96xf32>
}

// -----

// CHECK-LABEL: func @codes
// CHECK-NEXT: vcattn.quantized_attention
func.func @codes(%q: tensor<1x1x8x16xi8>, %qs: tensor<1x1x8xf32>, %k: tensor<1x1x8x16xi8>, %ks: tensor<1x1x1x4xf32>,
                 %v: tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32> {
  // expected-remark @+1 {{keys are not smoothed: they are codes already}}
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xi8>, tensor<1x1x8xf32>, tensor<1x1x8x16xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x16xf32>)
        -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

// -----

// CHECK-LABEL: func @lengths
// CHECK-SAME: %[[N:[^ ]*]]: tensor<2xi32>
// CHECK: vcattn.center_keys %{{.*}}, %[[N]] :
// CHECK: vcattn.attention %{{.*}} lengths %[[N]] : tensor<2xi32>
func.func @lengths(%x: tensor<2x1x200x64xf32>, %n: tensor<2xi32>) -> tensor<2x1x200x64xf32> {
  %o = vcattn.attention %x, %x, %x lengths %n : tensor<2xi32> {scale = 1.0 : f64}
      : tensor<2x1x200x64xf32>, tensor<2x1x200x64xf32>, tensor<2x1x200x64xf32> -> tensor<2x1x200x64xf32>
  return %o : tensor<2x1x200x64xf32>
}
