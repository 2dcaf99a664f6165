// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(vcattn-lower-kernels))' | FileCheck %s

gpu.module @kernels {
  // A memref is its descriptor's members; indices have 64 bits.
  // CHECK-LABEL: llvm.func @arithmetic(
  // CHECK-SAME: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
  // CHECK-SAME: nvvm.kernel
  gpu.func @arithmetic(%x: memref<?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: nvvm.read.ptx.sreg.tid.x
    %i = gpu.thread_id x
    %a = memref.load %x[%i] : memref<?xf32>
    // CHECK: llvm.intr.fma(%{{.*}}) : (f32, f32, f32) -> f32
    %b = math.fma %a, %a, %a : f32
    // CHECK: llvm.fmul %{{.*}}, %{{.*}} : f32
    %c = arith.mulf %b, %a : f32
    // CHECK: llvm.intr.roundeven
    %d = math.roundeven %c : f32
    // CHECK: llvm.intr.fabs
    %e = math.absf %d : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"
    %f = math.exp2 %e : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
    %g = math.log2 %f : f32
    // CHECK: llvm.intr.maximum
    %h = arith.maximumf %g, %c : f32
    // CHECK: llvm.fdiv
    %k = arith.divf %h, %a : f32
    memref.store %k, %x[%i] : memref<?xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @vectors(
  gpu.func @vectors(%x: memref<?xf32>) kernel {
    %i = gpu.thread_id x
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<128xf32>
    %a = vector.load %x[%i] : memref<?xf32>, vector<128xf32>
    // CHECK: llvm.intr.fma(%{{.*}}) : (vector<128xf32>, vector<128xf32>, vector<128xf32>) -> vector<128xf32>
    %b = math.fma %a, %a, %a : vector<128xf32>
    vector.store %b, %x[%i] : memref<?xf32>, vector<128xf32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @narrow(
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> i8
  gpu.func @narrow(%x: memref<?xf8E4M3FN>, %y: memref<?xi8>) kernel {
    %i = gpu.block_id x
    %a = memref.load %x[%i] : memref<?xf8E4M3FN>
    %b = arith.bitcast %a : f8E4M3FN to i8
    memref.store %b, %y[%i] : memref<?xi8>
    gpu.return
  }
}
