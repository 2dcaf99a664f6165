// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize | FileCheck %s

// Query head h reads the permutation of key head h / 4; a dimension of 1 is read
// at 0.
// CHECK-LABEL: func.func @gather
//  CHECK-SAME: %[[X:.*]]: tensor<1x1x?x?xi1>, %[[P:.*]]: tensor<2x2x?xi32>
//   CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
//   CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
//       CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[I:.*]]) in (2, 8, %{{.*}})
//       CHECK:   %[[KH:.*]] = arith.divui %[[H]], %[[C4]]
//       CHECK:   scf.for %[[J:[^ ]*]] = %{{.*}} to
//       CHECK:     %[[ENTRY:.*]] = tensor.extract %[[P]][%[[B]], %[[KH]], %[[J]]]
//       CHECK:     %[[KEY:.*]] = arith.index_cast %[[ENTRY]]
//       CHECK:     %[[LOW:.*]] = arith.minsi %[[KEY]]
//       CHECK:     %[[FROM:.*]] = arith.maxsi %[[LOW]]
//       CHECK:     %[[BIT:.*]] = tensor.extract %[[X]][%[[C0]], %[[C0]], %[[I]], %[[FROM]]]
//       CHECK:     tensor.insert %[[BIT]] into %{{.*}}[%[[J]]]
//       CHECK:   tensor.parallel_insert_slice {{.*}}[%[[B]], %[[H]], %[[I]], 0]
func.func @gather(%x: tensor<1x1x?x?xi1>, %p: tensor<2x2x?xi32>) -> tensor<2x8x?x?xi1> {
  %0 = vcattn.gather_mask %x, %p {group = 4 : i64}
      : (tensor<1x1x?x?xi1>, tensor<2x2x?xi32>) -> tensor<2x8x?x?xi1>
  return %0 : tensor<2x8x?x?xi1>
}
