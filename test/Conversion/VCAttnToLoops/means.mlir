// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize --cse --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --convert-vcattn-to-loops="vector-width=4" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=NARROW

// Block sums in token order, their sum in block order, one subtraction per token.
// CHECK-LABEL: func.func @center_keys
//  CHECK-SAME: %[[K:.*]]: tensor<1x2x?x32xbf16>
//       CHECK: %[[N:.*]] = tensor.dim %[[K]]
//       CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[N]]
//       CHECK: %[[SUMS:.*]] = scf.forall (%{{.*}}, %{{.*}}) in (2, %[[BLOCKS]])
//       CHECK:   scf.for {{.*}} iter_args({{.*}} = %{{.*}}, {{.*}} = %{{.*}}) -> (vector<16xf32>, vector<16xf32>)
//       CHECK:     arith.addf
//   CHECK-NOT:   arith.divf
//       CHECK: %[[MEAN:.*]] = scf.forall
//       CHECK:   vector.transfer_read %[[SUMS]]
//       CHECK:   arith.divf
//       CHECK: %[[CENTRED:.*]] = scf.forall (%{{.*}}, %{{.*}}) in (2, %[[N]])
//       CHECK:   vector.transfer_read %[[MEAN]]
//       CHECK:   arith.subf
//       CHECK:   tensor.parallel_insert_slice {{.*}} : tensor<32xf32> into tensor<1x2x?x32xf32>
//       CHECK: return %[[CENTRED]], %[[MEAN]]
// NARROW-LABEL: func.func @center_keys
//       NARROW: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, %{{.*}}, 8)
//       NARROW: vector.transfer_read {{.*}} vector<4xbf16>
func.func @center_keys(%k: tensor<1x2x?x32xbf16>)
    -> (tensor<1x2x?x32xf32>, tensor<1x2x32xf32>) {
  %0, %1 = vcattn.center_keys %k : (tensor<1x2x?x32xbf16>)
      -> (tensor<1x2x?x32xf32>, tensor<1x2x32xf32>)
  return %0, %1 : tensor<1x2x?x32xf32>, tensor<1x2x32xf32>
}

// -----

// A block's mean divides by its own number of tokens.
// CHECK-LABEL: func.func @block_residual
//       CHECK: %[[MEANS:.*]] = scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
//       CHECK:   %[[COUNT:.*]] = arith.subi
//       CHECK:   arith.index_cast %[[COUNT]]
//       CHECK:   arith.divf
//       CHECK: scf.forall (%{{.*}}, %[[TOKEN:.*]]) in (3, 130)
//       CHECK:   %[[BLOCK:.*]] = arith.divui %[[TOKEN]]
//       CHECK:   vector.transfer_read %[[MEANS]][%{{.*}}, %{{.*}}, %[[BLOCK]], %{{.*}}]
//       CHECK:   arith.subf
func.func @block_residual(%v: tensor<1x130x3x16xf32>)
    -> (tensor<1x130x3x16xf32>, tensor<1x3x2x16xf32>) {
  %0, %1 = vcattn.block_residual %v {layout = #vcattn.layout<bthd>}
      : (tensor<1x130x3x16xf32>) -> (tensor<1x130x3x16xf32>, tensor<1x3x2x16xf32>)
  return %0, %1 : tensor<1x130x3x16xf32>, tensor<1x3x2x16xf32>
}

// -----

// The codes' own means, then mean - code mean * scale.
// CHECK-LABEL: func.func @compensate_means
//  CHECK-SAME: %[[M:.*]]: tensor<1x3x2x16xf32>, %{{.*}}: tensor<1x130x3x16xf8E4M3FN>, %[[S:.*]]: tensor<1x3x16xf32>
//       CHECK: %[[CODES:.*]] = scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
//       CHECK:   arith.divf
//       CHECK: scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
//   CHECK-DAG:   vector.transfer_read %[[M]]
//   CHECK-DAG:   vector.transfer_read %[[CODES]]
//   CHECK-DAG:   vector.transfer_read %[[S]]
//       CHECK:   %[[LEFT:.*]] = arith.mulf
//       CHECK:   arith.subf %{{.*}}, %[[LEFT]]
func.func @compensate_means(%m: tensor<1x3x2x16xf32>, %v: tensor<1x130x3x16xf8E4M3FN>, %s: tensor<1x3x16xf32>)
    -> tensor<1x3x2x16xf32> {
  %0 = vcattn.compensate_means %m, %v, %s {layout = #vcattn.layout<bthd>}
      : (tensor<1x3x2x16xf32>, tensor<1x130x3x16xf8E4M3FN>, tensor<1x3x16xf32>) -> tensor<1x3x2x16xf32>
  return %0 : tensor<1x3x2x16xf32>
}
