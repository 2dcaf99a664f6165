// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm))' | FileCheck %s

!keep = !vcattn.fragment<64x64xi1, keep>
!maxima = !vcattn.fragment<64xf32, maxima>
!scores = !vcattn.fragment<64x64xi32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!levels = !vcattn.fragment<64x64xi16, levels>
!added = !vcattn.fragment<64x64xf32, added>

// A word per row: the columns below each limit, no comparison per key.
// CHECK-LABEL: gpu.func @keep_keys
// CHECK: llvm.intr.smin
// CHECK: llvm.shl
// CHECK-NOT: llvm.icmp "slt"
// CHECK: llvm.xor
// An i1 is a byte; rows and keys past the end read the last one.
// CHECK: llvm.intr.smin
// CHECK: llvm.load %{{.*}} invariant {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK: llvm.icmp "ne" %{{.*}}, %{{.*}} : i8
// A thread has 16 columns of a row, of two rows.
// CHECK-COUNT-31: llvm.load %{{.*}} invariant {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK-NOT: -> i8
// CHECK: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<1> -> f16
// CHECK: llvm.fpext %{{.*}} : f16 to f32
// CHECK: llvm.fmul
// CHECK: llvm.fcmp "une"
// What is added comes after the fma.
// CHECK: llvm.fadd
// CHECK: nvvm.convert.f32x2.to.f16x2
// CHECK: llvm.select
// CHECK: nvvm.shfl.sync bfly
gpu.module @m {
  gpu.func @keep_keys(%n: i32, %i: index, %bits: memref<?x?x?x?xi1, strided<[?, ?, ?, ?], offset: ?>>, %floats: memref<?x?x?x?xf16>) kernel {
    %s = vcattn.fill 0.0 : !scores
    %a = vcattn.fill 0.0 : !multipliers
    %max = vcattn.fill 0xFF800000 : !maxima
    %keep = vcattn.keep_keys rows %n diagonal %n keys %n to %n left 5 right 7 : !keep
    %bool = vcattn.load_mask %keep, %bits[%i, %i, %i, %i] : !keep, memref<?x?x?x?xi1, strided<[?, ?, ?, ?], offset: ?>>
    %kept, %added = vcattn.load_mask %bool, %floats[%i, %i, %i, %i] : !keep, memref<?x?x?x?xf16> -> !added
    %levels, %overflow = vcattn.cast_scores <expcast> %s, %a, %max keep %kept : !keep added %added : !added
        : !scores, !multipliers, !maxima -> !levels
    %new, %factor = vcattn.raise_maximum <expcast> %s, %a, %max keep %kept : !keep added %added : !added
        : !scores, !multipliers, !maxima
    gpu.return
  }
}
