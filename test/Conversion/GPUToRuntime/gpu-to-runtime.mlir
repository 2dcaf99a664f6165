// RUN: vcattn-opt %s --convert-gpu-to-vcattn-runtime --canonicalize | FileCheck %s

module attributes {gpu.container_module} {

// Images and kernels are constants, which the runtime loads when first needed.
// CHECK-DAG: llvm.mlir.global internal constant @kernels_image("PTX\00") {addr_space = 0 : i32, alignment = 64 : i64}
// CHECK-DAG: llvm.mlir.global internal constant @[[CHIP:.*]]("sm_90a\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[ONE:.*]]("one\00")
// CHECK-DAG: llvm.mlir.global internal @kernels_module() {{.*}}: !llvm.struct<(ptr, i64, ptr, ptr)>
// CHECK-DAG: llvm.mlir.global internal @one_kernel() {{.*}}: !llvm.struct<(ptr, ptr, ptr)>
gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "PTX">]

// The size: -1 if a descriptor is wrong.
// CHECK-LABEL: llvm.func @f_workspace_size(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr, %[[O:.*]]: !llvm.ptr) -> i64
// CHECK: %[[MINUS:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK: llvm.call @vcattn_rt_check_memref
// CHECK: llvm.cond_br %{{.*}}, ^[[FINE:.*]], ^[[EXIT:.*]](%[[MINUS]] : i64)
// CHECK: llvm.call @f_workspace_size.body

// CHECK-LABEL: llvm.func @f(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr, %[[O:.*]]: !llvm.ptr, %[[W:.*]]: !llvm.ptr, %[[SIZE:.*]]: i64, %[[STREAM:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.call @vcattn_rt_begin(%[[CALL:.*]], %{{.*}}, %{{.*}}, %[[STREAM]])
// CHECK: llvm.call @vcattn_rt_check_memref(%[[CALL]], %{{.*}}, %[[X]],
// CHECK: llvm.call @vcattn_rt_check_memref(%[[CALL]], %{{.*}}, %[[O]],
// CHECK: %[[STATUS:.*]] = llvm.call @vcattn_rt_status(%[[CALL]])
// CHECK: llvm.cond_br %{{.*}}, ^[[FINE:.*]], ^[[EXIT:.*]](%[[STATUS]] : i32)
// CHECK: ^[[FINE]]:
// CHECK: llvm.load %[[X]] : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
// CHECK: %[[NEED:.*]] = llvm.call @f_workspace_size.body
// CHECK: llvm.call @vcattn_rt_check_workspace(%[[CALL]], %[[W]], %[[SIZE]], %[[NEED]])
// CHECK: llvm.call @vcattn_rt_enter(%[[CALL]])
// CHECK: llvm.call @f.body({{.*}}, %[[W]], %[[W]], %{{.*}}, %[[SIZE]], %{{.*}}, %[[CALL]])
// CHECK: llvm.call @vcattn_rt_end(%[[CALL]])

// CHECK-LABEL: llvm.func internal @f.body(
func.func @f(%x: memref<?x128xi8, strided<[?, 1], offset: ?>>, %o: memref<4xf32> {vcattn.result = 0 : i64},
             %w: memref<?xi8> {vcattn.workspace}, %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x128xi8, strided<[?, 1], offset: ?>>
  // CHECK: %[[COND:.*]] = llvm.zext %{{.*}} : i1 to i32
  // CHECK: llvm.call @vcattn_rt_assert(%{{.*}}, %[[COND]], %{{.*}})
  // CHECK: llvm.call @vcattn_rt_encode_tensor_map(%{{.*}}, %[[MAP:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  %map = vcattn.encode_tensor_map %x box [64, 128] : memref<?x128xi8, strided<[?, 1], offset: ?>>
  %a = memref.view %w[%c0][] : memref<?xi8> to memref<4xf32>
  // A map is passed by value, 1 scalar, 5 members of a descriptor.
  // CHECK: llvm.store %[[MAP]], %[[PARAMETERS:.*]] : !llvm.ptr, !llvm.ptr
  // CHECK: llvm.getelementptr %[[PARAMETERS]][6]
  // CHECK-NOT: llvm.getelementptr %[[PARAMETERS]][7]
  // CHECK: llvm.call @vcattn_rt_launch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[PARAMETERS]])
  gpu.launch_func @kernels::@one blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%map : !vcattn.tensor_map, %n : index, %a : memref<4xf32>)
  // CHECK: llvm.call @vcattn_rt_copy(
  memref.copy %a, %o : memref<4xf32> to memref<4xf32>
  // Assertions come before all that.
  %any = arith.cmpi ne, %n, %c0 : index
  cf.assert %any, "argument 0 is empty"
  return
}
func.func @f_workspace_size(%x: memref<?x128xi8, strided<[?, 1], offset: ?>>, %o: memref<4xf32>) -> i64 {
  %c256 = arith.constant 256 : i64
  return %c256 : i64
}

// What is no entry stays.
// CHECK: func.func @other(%{{.*}}: tensor<4xf32>)
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

}
