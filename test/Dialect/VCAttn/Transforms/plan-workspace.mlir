// RUN: vcattn-opt %s --allow-unregistered-dialect --vcattn-plan-workspace --canonicalize --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --allow-unregistered-dialect --vcattn-plan-workspace=reuse=false --canonicalize --split-input-file | FileCheck %s --check-prefix=APART

// %b is not used before %a is done with, %c is alive with both.
// CHECK-LABEL: func.func @share
// CHECK-SAME: %[[X:.*]]: memref<100xf32>, %[[W:.*]]: memref<?xi8> {vcattn.workspace}, %{{.*}}: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C512:.*]] = arith.constant 512 : index
// CHECK-DAG: memref.view %[[W]][%[[C0]]][] : memref<?xi8> to memref<100xf32>
// CHECK-DAG: memref.view %[[W]][%[[C0]]][] : memref<?xi8> to memref<100xf32>
// CHECK-DAG: memref.view %[[W]][%[[C512]]][] : memref<?xi8> to memref<10xi8>
// CHECK-NOT: dealloc
// CHECK-LABEL: func.func @share_workspace_size(%{{.*}}: memref<100xf32>) -> i64
// CHECK: %[[SIZE:.*]] = arith.constant 768 : i64
// CHECK: return %[[SIZE]]
// APART-LABEL: func.func @share_workspace_size
// APART: arith.constant 1280 : i64
func.func @share(%x: memref<100xf32>) attributes {vcattn.entry} {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  %c = memref.alloc() : memref<10xi8>
  "test.use"(%a, %c) : (memref<100xf32>, memref<10xi8>) -> ()
  memref.dealloc %a : memref<100xf32>
  "test.use"(%b, %c) : (memref<100xf32>, memref<10xi8>) -> ()
  memref.dealloc %b : memref<100xf32>
  memref.dealloc %c : memref<10xi8>
  return
}

// -----

// A use of a view is a use of the buffer, and so is one in a loop.
// CHECK-LABEL: func.func @views
// CHECK-DAG: memref.view %{{.*}}[%c0{{.*}}][] : memref<?xi8> to memref<64x2xf32>
// CHECK-DAG: memref.view %{{.*}}[%c512{{.*}}][] : memref<?xi8> to memref<64xf32>
// CHECK-LABEL: func.func @views_workspace_size
// CHECK: arith.constant 768 : i64
func.func @views() attributes {vcattn.entry} {
  %a = memref.alloc() : memref<64x2xf32>
  %s = memref.subview %a[0, 0] [64, 1] [1, 1] : memref<64x2xf32> to memref<64x1xf32, strided<[2, 1]>>
  %b = memref.alloc() : memref<64xf32>
  "test.use"(%b) : (memref<64xf32>) -> ()
  scf.forall (%i) in (4) {
    "test.use"(%s) : (memref<64x1xf32, strided<[2, 1]>>) -> ()
  }
  return
}

// -----

// Slots of dynamic buffers come after the static part. %b fits where %a was;
// %c has another size.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[X:.*]]: memref<?x8xf32>, %[[Y:.*]]: memref<?xf32>, %[[W:.*]]: memref<?xi8>
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c32
// CHECK: %[[UP:.*]] = arith.addi %[[BYTES]], %c255
// CHECK: %[[ALIGNED:.*]] = arith.andi %[[UP]], %c-256
// CHECK: %[[SECOND:.*]] = arith.addi %[[ALIGNED]], %c256
// CHECK: memref.view %[[W]][%c256{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x8xf32>
// CHECK: memref.view %[[W]][%c256{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x8xi8>
// CHECK: memref.view %[[W]][%[[SECOND]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %[[W]][%c0{{.*}}][] : memref<?xi8> to memref<2xf32>
// CHECK-LABEL: func.func @dynamic_workspace_size
// CHECK-SAME: %[[X:.*]]: memref<?x8xf32>, %[[Y:.*]]: memref<?xf32>) -> i64
// CHECK-DAG: memref.dim %[[X]]
// CHECK-DAG: memref.dim %[[Y]]
// CHECK: %[[TOTAL:.*]] = arith.index_cast
// CHECK: return %[[TOTAL]]
func.func @dynamic(%x: memref<?x8xf32>, %y: memref<?xf32>) attributes {vcattn.entry} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %m = memref.dim %y, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  %b = memref.alloc(%n) : memref<?x8xi8>
  %c = memref.alloc(%m) : memref<?xf32>
  %d = memref.alloc() : memref<2xf32>
  "test.use"(%a, %d) : (memref<?x8xf32>, memref<2xf32>) -> ()
  "test.use"(%b, %c, %d) : (memref<?x8xi8>, memref<?xf32>, memref<2xf32>) -> ()
  return
}

// -----

// Without allocations the arguments are there all the same.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: memref<?xi8> {vcattn.workspace}, %{{.*}}: !llvm.ptr {vcattn.stream}
// CHECK-LABEL: func.func @nothing_workspace_size(
// CHECK: arith.constant 0 : i64
func.func @nothing() { return }
