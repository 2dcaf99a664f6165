// RUN: vcattn-opt %s --vcattn-to-nvvm | FileCheck %s
// RUN: vcattn-opt %s --vcattn-to-nvvm --vcattn-to-runtime=format=ptx | FileCheck %s --check-prefix=RUNTIME

// Results are out-parameters of any strides, buffers views of the workspace, and
// everything runs in kernels.
// CHECK-LABEL: func.func @prepare(
// CHECK-SAME: memref<1x2x?x128xbf16, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-SAME: memref<1x2x?x128xi8, strided<[?, ?, ?, ?], offset: ?>> {vcattn.result = 0 : i64}
// CHECK-SAME: memref<1x2x?xf32, strided<[?, ?, ?], offset: ?>> {vcattn.result = 1 : i64}
// CHECK-SAME: memref<?xi8> {vcattn.workspace}
// CHECK-SAME: !llvm.ptr {vcattn.stream}
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: memref.view
// CHECK: gpu.launch_func @vcattn_kernels::@prepare_0 blocks in (%{{.*}}, %c1, %c1) threads in (%c128, %c1, %c1)
// CHECK: cf.assert %{{.*}}, "result 0: size of dimension 2 is wrong"
// CHECK-NOT: memref.load
// CHECK: gpu.module @vcattn_kernels
// CHECK-LABEL: llvm.func @prepare_0(
// CHECK-SAME: nvvm.kernel
// CHECK-NOT: llvm.alloca
// CHECK: func.func @prepare_workspace_size(

// RUNTIME: llvm.func @prepare_workspace_size({{.*}}) -> i64
// RUNTIME: llvm.func @prepare({{.*}}) -> i32
// RUNTIME: llvm.func internal @prepare.body(
// RUNTIME: llvm.call @vcattn_rt_assert
// RUNTIME: llvm.call @vcattn_rt_launch
func.func @prepare(%q: tensor<1x2x?x128xbf16>) -> (tensor<1x2x?x128xi8>, tensor<1x2x?xf32>) {
  %r = vcattn.hadamard %q : (tensor<1x2x?x128xbf16>) -> tensor<1x2x?x128xf32>
  %q8, %qs = vcattn.quantize %r {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<1x2x?x128xf32>) -> (tensor<1x2x?x128xi8>, tensor<1x2x?xf32>)
  return %q8, %qs : tensor<1x2x?x128xi8>, tensor<1x2x?xf32>
}
