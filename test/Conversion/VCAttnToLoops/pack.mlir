// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize | FileCheck %s

// One iteration writes a row: a channel of a tile's keys, or row sums' ones.
// CHECK-LABEL: func.func @values
//       CHECK: scf.forall (%{{.*}}, %[[TILE:[a-z0-9]+]], %[[ROW:[a-z0-9]+]]) in (2, %{{.*}}, 136)
//       CHECK:   %[[IS_CHANNEL:.*]] = arith.cmpi ult, %[[ROW]], %{{.*}}
//       CHECK:   arith.remui %[[TILE]]
//       CHECK:   scf.for %[[SLOT:[a-z0-9]+]] =
//   CHECK-DAG:     arith.andi %[[SLOT]]
//       CHECK:     scf.if
//       CHECK:       tensor.extract %{{.*}} : tensor<1x2x?x128xf8E4M3FN>
//       CHECK:     tensor.insert
//       CHECK:   tensor.parallel_insert_slice {{.*}}[0, %{{.*}}, %[[TILE]], %[[ROW]], 0] [1, 1, 1, 1, 128]
func.func @values(%codes: tensor<1x2x?x128xf8E4M3FN>) -> tensor<1x2x?x136x128xf8E4M3FN> {
  %0 = vcattn.pack_values %codes
      : (tensor<1x2x?x128xf8E4M3FN>) -> tensor<1x2x?x136x128xf8E4M3FN>
  return %0 : tensor<1x2x?x136x128xf8E4M3FN>
}

// CHECK-LABEL: func.func @means
//       CHECK: scf.forall {{.*}} in (2, 2, 16, 2, 8)
//       CHECK:   scf.for
//       CHECK:     arith.divf %{{.*}} : f32
//       CHECK:     arith.truncf %{{.*}} : f32 to f16
//       CHECK:   tensor.parallel_insert_slice {{.*}} [1, 1, 1, 1, 1, 1, 8]
func.func @means(%means: tensor<1x2x17x128xf32>, %scale: tensor<1x2x128xf32>)
    -> tensor<1x2x2x16x2x8x8xf16> {
  %0 = vcattn.pack_means %means, %scale
      : (tensor<1x2x17x128xf32>, tensor<1x2x128xf32>) -> tensor<1x2x2x16x2x8x8xf16>
  return %0 : tensor<1x2x2x16x2x8x8xf16>
}
