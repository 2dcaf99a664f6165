// RUN: vcattn-opt %s --vcattn-pass-tensor-maps-by-value | FileCheck %s

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%arg0: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %arg1: !llvm.ptr)
// CHECK-SAME: attributes {nvvm.kernel}
llvm.func @kernel(%map: !llvm.ptr, %other: !llvm.ptr) attributes {nvvm.kernel, vcattn.tensor_map_arguments = array<i32: 0>} {
  llvm.return
}

// CHECK-LABEL: llvm.func @no_map(%arg0: !llvm.ptr) attributes {nvvm.kernel}
llvm.func @no_map(%p: !llvm.ptr) attributes {nvvm.kernel} {
  llvm.return
}
