// RUN: vcattn-opt %s --vcattn-serialize-kernels=format=ptx --split-input-file --verify-diagnostics
// RUN: not vcattn-opt %s --vcattn-serialize-kernels=ptxas=/nowhere/ptxas 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: not vcattn-opt %s --vcattn-serialize-kernels=chip=sm_42 2>&1 | FileCheck %s --check-prefix=CHIP

// PTXAS: error: cannot run ptxas: no executable file /nowhere/ptxas
// CHIP: error: vcattn-serialize-kernels: needs a chip that vcattn knows and the format ptx or cubin, got chip 'sm_42' and format 'cubin'

gpu.module @fine {
  llvm.func @f() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @f(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @+1 {{a kernel calls '__nv_expf', which the GPU does not have}}
    %0 = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.return
  }
}
