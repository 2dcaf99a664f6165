// RUN: vcattn-opt %s --vcattn-cpu-interface --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @static
//  CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) attributes {llvm.emit_c_interface}
//   CHECK-NOT: memref.alloc
//       CHECK: memref.store %{{.*}}, %[[OUT]]
//       CHECK: return{{$}}
func.func @static(%x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = memref.alloc() : memref<4xf32>
  %1 = memref.load %x[%c0] : memref<4xf32>
  memref.store %1, %0[%c0] : memref<4xf32>
  return %0 : memref<4xf32>
}

// CHECK-LABEL: func.func @dynamic
//  CHECK-SAME: (%{{.*}}: memref<?xf32>) -> memref<?xf32> attributes {llvm.emit_c_interface}
func.func @dynamic(%x: memref<?xf32>) -> memref<?xf32> {
  return %x : memref<?xf32>
}

// What is returned without having been made here is copied, by a loop.
// CHECK-LABEL: func.func @copied
//   CHECK-NOT: memref.copy
//       CHECK: linalg.generic
func.func @copied(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// CHECK-LABEL: func.func private @helper
//   CHECK-NOT: emit_c_interface
func.func private @helper(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}
