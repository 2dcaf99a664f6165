// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize | FileCheck %s

// A row of 32 is two vectors: strides 1 to 8 shuffle, stride 16 pairs them.
// CHECK-LABEL: func.func @hadamard
//   CHECK-DAG: %[[NORM:.*]] = arith.constant dense<0.176776692> : vector<16xf32>
//       CHECK: scf.forall (%[[H:.*]], %[[T:.*]]) in (2, 40)
// CHECK-COUNT-2: vector.transfer_read
//       CHECK:   %[[X:.*]] = vector.shuffle {{.*}} [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14]
//       CHECK:   %[[SUM:.*]] = arith.addf %{{.*}}, %[[X]]
//       CHECK:   %[[DIFFERENCE:.*]] = arith.subf %[[X]], %{{.*}}
//       CHECK:   vector.shuffle %[[SUM]], %[[DIFFERENCE]] [0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31]
//       CHECK:   %[[A:.*]] = arith.addf
//       CHECK:   %[[B:.*]] = arith.subf
//       CHECK:   arith.mulf %{{.*}}, %[[NORM]]
//       CHECK:   arith.mulf %{{.*}}, %[[NORM]]
//   CHECK-NOT:   arith.mulf
func.func @hadamard(%x: tensor<1x2x40x32xf16>) -> tensor<1x2x40x32xf32> {
  %0 = vcattn.hadamard %x : (tensor<1x2x40x32xf16>) -> tensor<1x2x40x32xf32>
  return %0 : tensor<1x2x40x32xf32>
}
