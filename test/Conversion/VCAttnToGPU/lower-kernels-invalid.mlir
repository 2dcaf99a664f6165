// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(vcattn-lower-kernels))' --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @f(%x: f32) kernel {
    // expected-error @+1 {{'math.exp' op has no instruction on the GPU for 'f32'}}
    %0 = math.exp %x : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @f(%x: f16) kernel {
    // expected-error @+1 {{'math.exp2' op has no instruction on the GPU for 'f16'}}
    %0 = math.exp2 %x : f16
    gpu.return
  }
}
