// RUN: vcattn-opt %s | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -mlir-print-op-generic | vcattn-opt | FileCheck %s

// CHECK-LABEL: func @attention
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64} : tensor<1x4x200x128xbf16>
func.func @attention(%q: tensor<1x4x200x128xbf16>, %k: tensor<1x4x300x128xbf16>, %v: tensor<1x4x300x128xbf16>)
    -> tensor<1x4x200x128xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.5 : f64}
      : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x128xbf16> -> tensor<1x4x200x128xbf16>
  return %o : tensor<1x4x200x128xbf16>
}
