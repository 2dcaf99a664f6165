// REQUIRES: ptxas
// RUN: vcattn-opt %s --vcattn-serialize-kernels="report=true ptxas=%ptxas" 2>&1 | FileCheck %s
// RUN: vcattn-opt %s --vcattn-serialize-kernels 2>&1 | FileCheck %s --check-prefix=QUIET

// CHECK: remark: f: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// CHECK: bin = "\7FELF
// QUIET-NOT: remark
gpu.module @kernels {
  llvm.func @f(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %a = llvm.load %p : !llvm.ptr -> f32
    %mul = llvm.fmul %a, %a : f32
    llvm.store %mul, %p : f32, !llvm.ptr
    llvm.return
  }
}
