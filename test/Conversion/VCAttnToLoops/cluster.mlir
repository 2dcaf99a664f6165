// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize | FileCheck %s
// RUN: vcattn-opt %s --convert-vcattn-to-loops="target=gpu vector-width=4" \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries" --cse --canonicalize \
// RUN:   | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: func.func @cluster
//  CHECK-SAME: %{{.*}}: tensor<1x2x?x32xbf16>
// Evenly spaced rows to start from.
//       CHECK: scf.forall {{.*}} in (2, 8)
//       CHECK:   arith.divui
//       CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// One fma per channel and cluster, in the order of the channels; ties go to the
// lower cluster.
//       CHECK:   scf.forall
//       CHECK:     math.fma %{{.*}} : vector<8xf32>
// CHECK-COUNT-7:   arith.cmpf olt
// Sums per chunk of 1024 tokens; empty clusters keep their centroid.
//       CHECK:   arith.addf
//       CHECK:   arith.divf
//       CHECK:   arith.select
// The sort: a chunk's members of a cluster are neighbours.
//       CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}, %{{.*}}] [1, 1, %[[N:.*]]] [1, 1, 1] : tensor<1x2x?xi32> to tensor<?xi32>
//       CHECK: tensor.parallel_insert_slice

// Every loop writes in place: no iteration allocates or copies.
// BUFFER-LABEL: func.func @cluster
//   BUFFER-NOT: memref.copy
//       BUFFER: scf.forall
//   BUFFER-NOT: memref.copy
//       BUFFER: return
func.func @cluster(%v: tensor<1x2x?x32xbf16>) -> (tensor<1x2x?xi32>, tensor<1x2x8x32xf32>) {
  %p, %c = vcattn.cluster %v {clusters = 8 : i64, iterations = 3 : i64}
      : (tensor<1x2x?x32xbf16>) -> (tensor<1x2x?xi32>, tensor<1x2x8x32xf32>)
  return %p, %c : tensor<1x2x?xi32>, tensor<1x2x8x32xf32>
}
