// RUN: vcattn-opt %s --vcattn-serialize-kernels=format=ptx | FileCheck %s

// What the numerics contract says becomes exactly these instructions: no
// contraction, rounding to nearest, denormals kept.
// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<{{.*}}chip = "sm_90a"
// CHECK-SAME: .target sm_90a
// CHECK-SAME: .visible .entry f(
// CHECK-SAME: mul.rn.f32
// CHECK-SAME: add.rn.f32
// CHECK-SAME: fma.rn.f32
// CHECK-SAME: div.rn.f32
// CHECK-SAME: max.NaN.f32
// CHECK-SAME: ex2.approx.f32
// CHECK-SAME: cvt.rni.f32.f32
gpu.module @kernels {
  llvm.func @f(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %a = llvm.load volatile %p : !llvm.ptr -> f32
    %b = llvm.load volatile %p : !llvm.ptr -> f32
    %mul = llvm.fmul %a, %b : f32
    %add = llvm.fadd %mul, %b : f32
    %fma = llvm.intr.fma(%add, %a, %b) : (f32, f32, f32) -> f32
    %div = llvm.fdiv %fma, %add : f32
    %max = llvm.intr.maximum(%div, %b) : (f32, f32) -> f32
    %exp = llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"(%max) : (f32) -> f32
    %int = llvm.intr.roundeven(%exp) : (f32) -> f32
    llvm.store volatile %int, %p : f32, !llvm.ptr
    llvm.return
  }
}
