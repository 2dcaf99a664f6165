// RUN: vcattn-opt %s --vcattn-forall-to-gpu-launch --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --vcattn-forall-to-gpu-launch=block-size=256 --split-input-file | FileCheck %s --check-prefix=WIDE

// CHECK-LABEL: func.func @transpose
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[Y:.*]]: memref<64x?xf32>, %[[N:.*]]: index
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[N]]
// CHECK: %[[TOTAL:.*]] = arith.muli %[[COUNT]], %[[C64:.*]] : index
// CHECK: %[[C127:.*]] = arith.constant 127
// CHECK: %[[UP:.*]] = arith.addi %[[TOTAL]], %[[C127]]
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[UP]], %{{.*}}
// CHECK: gpu.launch blocks(%[[BX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads(%[[TX:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[C128:.*]], {{.*}}) module(@transpose_kernels) function(@transpose_0)
// CHECK: %[[FIRST:.*]] = arith.muli %[[BX]], %[[C128]]
// CHECK: %[[LINEAR:.*]] = arith.addi %[[FIRST]], %[[TX]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[LINEAR]], %[[TOTAL]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: %[[J:.*]] = arith.remui %[[LINEAR]], %[[C64]]
// CHECK: %[[I:.*]] = arith.divui %[[LINEAR]], %[[C64]]
// CHECK: memref.load %[[X]][%[[I]], %[[J]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[J]], %[[I]]]
// CHECK: gpu.terminator
// WIDE-LABEL: func.func @transpose
// WIDE: arith.constant 256 : index
func.func @transpose(%x: memref<?x64xf32>, %y: memref<64x?xf32>, %n: index) attributes {vcattn.entry} {
  scf.forall (%i, %j) in (%n, 64) {
    %0 = memref.load %x[%i, %j] : memref<?x64xf32>
    memref.store %0, %y[%j, %i] : memref<64x?xf32>
  }
  return
}

// A function that is not an entry stays as it is.
// CHECK-LABEL: func.func @other
// CHECK: scf.forall
func.func @other(%y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (64) {
    memref.store %zero, %y[%i] : memref<64xf32>
  }
  return
}

// -----

// Bounds and steps; a loop inside becomes sequential; only the copy that is
// strided needs a kernel.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: %[[X:.*]]: memref<16x8xf32>, %[[Y:.*]]: memref<16x8xf32>, %[[Z:.*]]: memref<16x8xf32, strided<[?, ?], offset: ?>>, %[[LB:.*]]: index, %[[UB:.*]]: index
// CHECK: %[[RANGE:.*]] = arith.subi %[[UB]], %[[LB]]
// CHECK: %[[POS:.*]] = arith.maxsi %[[RANGE]]
// CHECK: arith.divui
// CHECK: gpu.launch {{.*}} function(@nested_0)
// CHECK: %[[MUL:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: arith.addi %{{.*}}, %[[LB]]
// CHECK: scf.for
// CHECK-NOT: scf.forall
// CHECK: memref.copy %[[X]], %[[Y]]
// CHECK: gpu.launch {{.*}} function(@nested_copy_1)
// CHECK: memref.load %[[Y]]
// CHECK: memref.store %{{.*}}, %[[Z]]
func.func @nested(%x: memref<16x8xf32>, %y: memref<16x8xf32>,
                  %z: memref<16x8xf32, strided<[?, ?], offset: ?>>, %lb: index, %ub: index) {
  scf.forall (%i) = (%lb) to (%ub) step (2) {
    scf.forall (%j) in (8) {
      %0 = memref.load %x[%i, %j] : memref<16x8xf32>
      memref.store %0, %x[%i, %j] : memref<16x8xf32>
    }
  }
  memref.copy %x, %y : memref<16x8xf32> to memref<16x8xf32>
  memref.copy %y, %z : memref<16x8xf32> to memref<16x8xf32, strided<[?, ?], offset: ?>>
  return
}
