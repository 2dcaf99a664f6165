// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm{debug-waits}))' | FileCheck %s
// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm))' | FileCheck %s --check-prefix=PLAIN
// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm{debug-waits},canonicalize, \
// RUN:   convert-scf-to-cf,vcattn-lower-kernels,reconcile-unrealized-casts,convert-nvvm-to-llvm), \
// RUN:   vcattn-serialize-kernels{format=ptx})' | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: gpu.func @never_filled
// CHECK: %[[START:.*]] = nvvm.read.ptx.sreg.clock64
// CHECK: scf.while
// CHECK:   %[[DONE:.*]] = nvvm.mbarrier.try_wait %[[BARRIER:.*]], %{{.*}} : !llvm.ptr<3>, i32 -> i1
// CHECK:   %[[PENDING:.*]] = llvm.xor %[[DONE]]
// CHECK:   scf.condition(%[[PENDING]])
// CHECK:   %[[NOW:.*]] = nvvm.read.ptx.sreg.clock64
// CHECK:   %[[CYCLES:.*]] = llvm.sub %[[NOW]], %[[START]]
// CHECK:   %[[MOST:.*]] = llvm.mlir.constant(8589934592 : i64)
// CHECK:   %[[TOO_LONG:.*]] = llvm.icmp "ugt" %[[CYCLES]], %[[MOST]]
// CHECK:   scf.if %[[TOO_LONG]]
// CHECK:     llvm.intr.trap

// PLAIN-LABEL: gpu.func @never_filled
// PLAIN: scf.while
// PLAIN:   nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32 -> i1
// PLAIN-NOT: trap

// A wait that is not needed reads no clock.
// CHECK-LABEL: gpu.func @asked_before
// CHECK: %[[FULL:.*]] = nvvm.mbarrier.test.wait
// CHECK-NOT: clock64
// CHECK: scf.if %[[FULL]] {
// CHECK-NEXT: } else {
// CHECK-NEXT: nvvm.read.ptx.sreg.clock64
// CHECK: nvvm.mbarrier.try_wait
// CHECK: llvm.intr.trap

// PTX: mbarrier.try_wait.parity
// PTX: trap;
gpu.module @kernels {
  gpu.func @never_filled() kernel attributes {known_block_size = array<i32: 128, 1, 1>, vcattn.shared_memory = 1040 : i64} {
    %use = arith.constant 0 : i32
    %p = vcattn.create_pipeline consumers 1 : <1 x !vcattn.tile<8x128xi8>>
    %t = vcattn.wait_tile %p[%use] : !vcattn.pipeline<1 x !vcattn.tile<8x128xi8>> -> !vcattn.tile<8x128xi8>
    gpu.return
  }
  gpu.func @asked_before() kernel attributes {known_block_size = array<i32: 128, 1, 1>, vcattn.shared_memory = 1040 : i64} {
    %use = arith.constant 0 : i32
    %p = vcattn.create_pipeline consumers 1 : <1 x !vcattn.tile<8x128xi8>>
    %full = vcattn.test_tile %p[%use] : !vcattn.pipeline<1 x !vcattn.tile<8x128xi8>>
    %t = vcattn.wait_tile %p[%use] unless %full : !vcattn.pipeline<1 x !vcattn.tile<8x128xi8>> -> !vcattn.tile<8x128xi8>
    gpu.return
  }
}
