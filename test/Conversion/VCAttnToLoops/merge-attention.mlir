// RUN: vcattn-opt %s --convert-vcattn-to-loops=vector-width=16 --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Results by 16 channels, shards in order; the log-sum-exp in a loop of its own.
// CHECK-LABEL: func.func @merge
//  CHECK-SAME: %[[X:.*]]: tensor<?x2x4x64x128xf32>, %[[L:.*]]: tensor<?x2x4x64xf32>
//       CHECK: %[[SHARDS:.*]] = tensor.dim %[[L]], %c0
//       CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[I:.*]], %[[C:.*]]) in (2, 4, 64, 8)
//       CHECK:   %[[CHANNEL:.*]] = arith.muli %[[C]], %c16
//       CHECK:   %[[TOP:.*]] = scf.for %[[S:[^ ]*]] = %c0 to %[[SHARDS]]
//       CHECK:     tensor.extract %[[L]][%[[S]], %[[B]], %[[H]], %[[I]]]
//       CHECK:     arith.maxnumf
//       CHECK:   %[[SUMS:.*]]:2 = scf.for %[[S:[^ ]*]] = %c0 to %[[SHARDS]]
//       CHECK:     arith.select
//       CHECK:     vector.transfer_read %[[X]][%[[S]], %[[B]], %[[H]], %[[I]], %[[CHANNEL]]]
//       CHECK:     math.fma {{.*}} : vector<16xf32>
//       CHECK:   arith.divf
//       CHECK:   arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
//       CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 4, 64)
//       CHECK:   math.log2
func.func @merge(%x: tensor<?x2x4x64x128xf32>, %l: tensor<?x2x4x64xf32>)
    -> (tensor<2x4x64x128xbf16>, tensor<2x4x64xf32>) {
  %0:2 = vcattn.merge_attention %x, %l
      : (tensor<?x2x4x64x128xf32>, tensor<?x2x4x64xf32>) -> (tensor<2x4x64x128xbf16>, tensor<2x4x64xf32>)
  return %0#0, %0#1 : tensor<2x4x64x128xbf16>, tensor<2x4x64xf32>
}

// -----

// CHECK-LABEL: func.func @without_lse
//       CHECK: scf.forall
//   CHECK-NOT: scf.forall (
//       CHECK: return
func.func @without_lse(%x: tensor<2x1x64x4x128xf32>, %l: tensor<2x1x4x64xf32>) -> tensor<1x64x4x128xf32> {
  %0 = vcattn.merge_attention %x, %l {layout = #vcattn.layout<bthd>}
      : (tensor<2x1x64x4x128xf32>, tensor<2x1x4x64xf32>) -> tensor<1x64x4x128xf32>
  return %0 : tensor<1x64x4x128xf32>
}

// -----

func.func @dynamic_dim(%x: tensor<2x1x4x64x?xf32>, %l: tensor<2x1x4x64xf32>) -> tensor<1x4x64x?xf32> {
  // expected-error @+1 {{'vcattn.merge_attention' op cannot be lowered to loops: the last dimension of partial must be static, got 'tensor<2x1x4x64x?xf32>'}}
  %0 = vcattn.merge_attention %x, %l : (tensor<2x1x4x64x?xf32>, tensor<2x1x4x64xf32>) -> tensor<1x4x64x?xf32>
  return %0 : tensor<1x4x64x?xf32>
}
