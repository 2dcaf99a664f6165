// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @correct_lse
//       CHECK: scf.forall (%[[H:.*]], %[[I:.*]]) in (8, 64)
//       CHECK:   %[[KEY_HEAD:.*]] = arith.divui %[[H]], %c4
//       CHECK:   scf.for
//       CHECK:     tensor.extract %{{.*}}[%{{.*}}, %[[KEY_HEAD]], %{{.*}}]
//       CHECK:     math.fma
//       CHECK:   %[[IS_EMPTY:.*]] = arith.cmpf oeq
//       CHECK:   arith.select %[[IS_EMPTY]]
func.func @correct_lse(%q: tensor<1x8x64x128xbf16>, %m: tensor<1x2x128xf32>,
                       %l: tensor<1x8x64xf32>) -> tensor<1x8x64xf32> {
  %0 = vcattn.correct_lse %q, %m, %l {scale = 0.088 : f64}
      : (tensor<1x8x64x128xbf16>, tensor<1x2x128xf32>, tensor<1x8x64xf32>)
      -> tensor<1x8x64xf32>
  return %0 : tensor<1x8x64xf32>
}
