// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize | FileCheck %s

// Entries out of range read the nearest token.
// CHECK-LABEL: func.func @gather
//  CHECK-SAME: %[[X:.*]]: tensor<1x?x4x16xbf16>, %[[P:.*]]: tensor<1x4x?xi32>
//       CHECK: scf.forall (%[[H:.*]], %[[T:.*]]) in (4, %{{.*}})
//       CHECK:   %[[ENTRY:.*]] = tensor.extract %[[P]][%{{.*}}, %[[H]], %[[T]]]
//       CHECK:   %[[I:.*]] = arith.index_cast %[[ENTRY]]
//       CHECK:   %[[LOW:.*]] = arith.minsi %[[I]]
//       CHECK:   %[[FROM:.*]] = arith.maxsi %[[LOW]]
//       CHECK:   %[[ROW:.*]] = vector.transfer_read %[[X]][%{{.*}}, %[[FROM]], %[[H]], %{{.*}}]
//       CHECK:   vector.transfer_write %[[ROW]]
//       CHECK:   tensor.parallel_insert_slice {{.*}}[0, %[[T]], %[[H]], 0]
func.func @gather(%x: tensor<1x?x4x16xbf16>, %p: tensor<1x4x?xi32>)
    -> tensor<1x?x4x16xbf16> {
  %0 = vcattn.gather_tokens %x, %p {layout = #vcattn.layout<bthd>}
      : (tensor<1x?x4x16xbf16>, tensor<1x4x?xi32>) -> tensor<1x?x4x16xbf16>
  return %0 : tensor<1x?x4x16xbf16>
}
