// RUN: vcattn-opt %s --vcattn-unroll-transfers | FileCheck %s

// CHECK-LABEL: func.func @read
// CHECK-SAME: %[[X:.*]]: memref<4x?xf32, strided<[?, ?], offset: ?>>, %[[I:.*]]: index
// CHECK: %[[A:.*]] = memref.load %[[X]][%[[I]], %[[I]]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK: %[[B:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK: vector.from_elements %[[A]], %[[B]] : vector<2xf32>
func.func @read(%x: memref<4x?xf32, strided<[?, ?], offset: ?>>, %i: index) -> vector<2xf32> {
  %pad = arith.constant 0.0 : f32
  %0 = vector.transfer_read %x[%i, %i], %pad {in_bounds = [true]}
      : memref<4x?xf32, strided<[?, ?], offset: ?>>, vector<2xf32>
  return %0 : vector<2xf32>
}

// CHECK-LABEL: func.func @write
// CHECK: %[[A:.*]] = vector.extract %{{.*}}[0]
// CHECK: memref.store %[[A]]
// CHECK: %[[B:.*]] = vector.extract %{{.*}}[1]
// CHECK: memref.store %[[B]]
func.func @write(%x: memref<?xf32>, %i: index, %v: vector<2xf32>) {
  vector.transfer_write %v, %x[%i] {in_bounds = [true]} : vector<2xf32>, memref<?xf32>
  return
}

// CHECK-LABEL: func.func @others
// CHECK: vector.transfer_read
// CHECK: vector.transfer_read
// CHECK: vector.transfer_read
func.func @others(%x: memref<4x?xf32>, %i: index) -> (vector<2xf32>, vector<2xf32>, vector<2x2xf32>) {
  %pad = arith.constant 0.0 : f32
  %0 = vector.transfer_read %x[%i, %i], %pad : memref<4x?xf32>, vector<2xf32>
  %1 = vector.transfer_read %x[%i, %i], %pad {in_bounds = [true], permutation_map = affine_map<(a, b) -> (a)>}
      : memref<4x?xf32>, vector<2xf32>
  %2 = vector.transfer_read %x[%i, %i], %pad {in_bounds = [true, true]} : memref<4x?xf32>, vector<2x2xf32>
  return %0, %1, %2 : vector<2xf32>, vector<2xf32>, vector<2x2xf32>
}
