// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm))' --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse))' --split-input-file | FileCheck %s --check-prefix=BARRIERS

!keys = !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>

// CHECK: llvm.mlir.global external @vcattn_shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// The tiles come first, the barriers after them: 4 * 16384, then 65536 of the
// totals; full barriers expect the producer, empty ones both consumers.
// CHECK-LABEL: gpu.func @roles(%arg0: !llvm.ptr
// CHECK-SAME: vcattn.tensor_map_arguments = array<i32: 0>
// CHECK: llvm.getelementptr %{{.*}}[131072] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// CHECK: nvvm.shfl.sync idx
// CHECK: scf.if
// CHECK: nvvm.setmaxregister decrease 24
// CHECK: nvvm.mbarrier.try_wait %
// CHECK: nvvm.mbarrier.arrive.expect_tx
// Coordinates are counted from the innermost dimension.
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0, %{{.*}}, box[%arg2, %arg1]
// CHECK: } else {
// CHECK: nvvm.setmaxregister increase 240
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads
// CHECK: nvvm.mbarrier.try_wait %
// CHECK: nvvm.barrier.arrive id = %{{.*}} number_of_threads
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b"
// BARRIERS-LABEL: gpu.func @roles
// BARRIERS-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// BARRIERS-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i32) : i32
// BARRIERS-COUNT-4: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
// BARRIERS-COUNT-4: nvvm.mbarrier.init %{{.*}}, %[[TWO]]
gpu.module @m {
  gpu.func @roles(%map: !vcattn.tensor_map, %i: i32, %j: i32) kernel {
    %keys = vcattn.create_pipeline consumers 2 : !keys
    %totals = vcattn.shared_tile : !vcattn.tile<128x128xf32>
    vcattn.warp_specialize producer registers 24 {
      vcattn.acquire %keys[%i] : !keys
      vcattn.load_tile %map[%i, %j] to %keys[%i] : !keys
    } consumers 2 registers 240 {
    ^bb0(%me: i32):
      vcattn.take_turn %me
      %tile = vcattn.wait_tile %keys[%i] : !keys -> !vcattn.tile<128x128xi8>
      vcattn.pass_turn %me
      vcattn.release %keys[%i] : !keys
    }
    gpu.return
  }
}

// -----

!means = !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>>

// CHECK-LABEL: gpu.func @load_bytes
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: %[[SOURCE:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
// CHECK: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %[[SOURCE]], %{{.*}}, %{{.*}} : !llvm.ptr<7>, <1>
gpu.module @m {
  gpu.func @load_bytes(%memory: memref<?x2048xf16, strided<[?, 1], offset: ?>>, %i: i32, %j: index) kernel {
    %means = vcattn.create_pipeline consumers 2 : !means
    %zero = arith.constant 0 : index
    vcattn.load_bytes %memory[%j, %zero] to %means[%i] : memref<?x2048xf16, strided<[?, 1], offset: ?>>, !means
    gpu.return
  }
}

// -----

!scores = !vcattn.fragment<64x128xi32, scores>
!accumulator = !vcattn.fragment<64x136xf32, accumulator>

// Integer scores start from the bits of 1.5 * 2^23; registers are tied to the
// fence before and the wait after.
// CHECK-LABEL: gpu.func @products
// CHECK: llvm.mlir.constant(1262485504 : i32)
// CHECK: llvm.inline_asm {{.*}}"wgmma.fence.sync.aligned;", "=r,
// CHECK-COUNT-4: "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {{{.*}}}, $128, $129, 1;"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: "wgmma.fence.sync.aligned;", "=f,
// CHECK: "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{.*}}}, {$128, $129, $130, $131}, $132, 1, 1, 1, 0;"
// What is in flight is not touched by the next fence.
// CHECK: "wgmma.fence.sync.aligned;", "=r,=r,
// CHECK-COUNT-4: "wgmma.mma_async.sync.aligned.m64n136k32.f32.e4m3.e4m3 {{{.*}}}, {$136, $137, $138, $139}, $140, 1, 1, 1;"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: "wgmma.wait_group.sync.aligned 1;", "=r,
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,
gpu.module @m {
  gpu.func @products(%i: i1) kernel {
    %q = vcattn.shared_tile : !vcattn.tile<64x128xi8>
    %k = vcattn.shared_tile : !vcattn.tile<128x128xi8>
    %v = vcattn.shared_tile : !vcattn.tile<136x128xf8E4M3FN>
    %m = vcattn.shared_tile : !vcattn.tile<128x16xf16>
    %zero = vcattn.fill 0.0 : !accumulator
    %p = vcattn.fill 0.0 : !vcattn.fragment<64x128xf8E4M3FN, probabilities>
    %sums = vcattn.fill 0.0 : !vcattn.fragment<64x8xf16, row_sums>
    %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xi8>, !vcattn.tile<128x128xi8> -> !vcattn.in_flight<!scores>
    vcattn.mma_commit
    %a = vcattn.mma_means %zero, %sums, %m upper %i : !accumulator, !vcattn.fragment<64x8xf16, row_sums>, !vcattn.tile<128x16xf16> -> !vcattn.in_flight<!accumulator>
    %b = vcattn.mma_values %a, %p, %v : !vcattn.in_flight<!accumulator>, !vcattn.fragment<64x128xf8E4M3FN, probabilities>, !vcattn.tile<136x128xf8E4M3FN> -> !vcattn.in_flight<!accumulator>
    vcattn.mma_commit
    %s1 = vcattn.mma_wait %s outstanding 1 : !vcattn.in_flight<!scores> -> !scores
    %b1 = vcattn.mma_wait %b outstanding 0 : !vcattn.in_flight<!accumulator> -> !accumulator
    gpu.return
  }
}

// -----

!scores = !vcattn.fragment<64x128xf32, scores>

// An f32 accumulator starts undefined: the first product ignores it.
// CHECK-LABEL: gpu.func @e4m3_scores
// CHECK-NOT: llvm.mlir.constant(1262485504
// CHECK: llvm.mlir.undef : f32
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {{{.*}}}, $128, $129, 0, 1, 1;"
// CHECK-COUNT-3: "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {{{.*}}}, $128, $129, 1, 1, 1;"
gpu.module @m {
  gpu.func @e4m3_scores() kernel {
    %q = vcattn.shared_tile : !vcattn.tile<64x128xf8E4M3FN>
    %k = vcattn.shared_tile : !vcattn.tile<128x128xf8E4M3FN>
    %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xf8E4M3FN>, !vcattn.tile<128x128xf8E4M3FN> -> !vcattn.in_flight<!scores>
    gpu.return
  }
}

// -----

!rows = !vcattn.fragment<64xf32, rows>
!scores = !vcattn.fragment<64x128xf32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!levels = !vcattn.fragment<64x128xi16, levels>

// One fma per score, one conversion and one maximum per two, one vote.
// CHECK-LABEL: gpu.func @softmax
// CHECK: llvm.mlir.constant(1.196500e+02 : f32)
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : f32
// CHECK-COUNT-32: nvvm.convert.f32x2.to.f16x2 {{.*}}relu = true
// CHECK-NOT: llvm.and
// CHECK: llvm.intr.umax
// CHECK: nvvm.vote.sync any
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// Cast again, codes above the largest one become it, unless NaN; those that only
// fill the last tile are masked.
// CHECK: llvm.intr.minimum(%{{.*}}, %{{.*}}) : (vector<2xf16>, vector<2xf16>)
// CHECK: llvm.and
// CHECK-NOT: nvvm.vote
// CHECK-COUNT-16: nvvm.prmt
gpu.module @m {
  gpu.func @softmax(%memory: memref<?x?x?xf32>, %key_scales: memref<?x?x?x4xf32>, %i: index, %f: f32, %n: i32) kernel {
    %s = vcattn.fill 0.0 : !scores
    %max = vcattn.fill 0.0 : !rows
    %rows = vcattn.load_rows %memory[%i, %i, %i] times %f : memref<?x?x?xf32> -> !rows
    %a = vcattn.load_multipliers %rows, %key_scales[%i, %i, %i] : !rows, memref<?x?x?x4xf32> -> !multipliers
    %levels, %overflow = vcattn.cast_scores <expcast> %s, %a, %max : !scores, !multipliers, !rows -> !levels
    scf.if %overflow {
      %max1, %factor = vcattn.raise_maximum <expcast> %s, %a, %max : !scores, !multipliers, !rows
    }
    %masked, %unused = vcattn.cast_scores <expcast> %s, %a, %max valid %n saturate : !scores, !multipliers, !rows -> !levels
    %p = vcattn.pack_probabilities %masked : !levels -> !vcattn.fragment<64x128xf8E4M3FN, probabilities>
    gpu.return
  }
}

// -----

!rows = !vcattn.fragment<64xf32, rows>
!accumulator = !vcattn.fragment<64x136xf32, accumulator>

// CHECK-LABEL: gpu.func @accumulate
// CHECK-COUNT-16: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK-COUNT-68: llvm.fmul
// CHECK: nvvm.convert.f32x2.to.f16x2
// CHECK-COUNT-16: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.fdiv
// Pairs of elements where they are aligned, single ones where not.
// CHECK: scf.if
// CHECK-COUNT-16: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-COUNT-32: llvm.store %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"
// CHECK: memref.store
gpu.module @m {
  gpu.func @accumulate(%vs: memref<?x?x128xf32>, %out: memref<?x?x?x128xbf16>, %lse: memref<?x?x?xf32>, %i: index) kernel {
    %total = vcattn.shared_tile : !vcattn.tile<64x128xf32>
    vcattn.clear_total %total columns 128 : !vcattn.tile<64x128xf32>
    %acc = vcattn.fill 0.0 : !accumulator
    %one = vcattn.fill 1.0 : !rows
    %scaled = vcattn.rescale %acc by %one : !accumulator, !rows
    %rest, %sum, %sums = vcattn.take_row_sums %scaled, %one : !accumulator, !rows -> !vcattn.fragment<64x8xf16, row_sums>
    %a = vcattn.promote %rest, %total times %one : !accumulator, !vcattn.tile<64x128xf32>, !rows
    %b = vcattn.merge %a, %total times %one : !accumulator, !vcattn.tile<64x128xf32>, !rows
    vcattn.normalize_and_store %b, %sum, %one, %vs[%i, %i] to %out[%i, %i, %i] lse %lse
        : !accumulator, !rows, !rows, memref<?x?x128xf32>, memref<?x?x?x128xbf16>, memref<?x?x?xf32>
    gpu.return
  }
}

// -----

// Where the distance of channels is open, rows are stored 16 bytes at a time if
// it is 1 and they start on such a boundary, else element by element.
// CHECK-LABEL: gpu.func @open
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-NOT: vector<2xf16>
// CHECK-COUNT-64: llvm.store %{{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<1>
gpu.module @m {
  gpu.func @open(%vs: memref<?x?x128xf32>, %out: memref<?x?x?x128xf16, strided<[?, ?, ?, ?], offset: ?>>, %i: index) kernel {
    %acc = vcattn.fill 0.0 : !vcattn.fragment<64x136xf32, accumulator>
    %one = vcattn.fill 1.0 : !vcattn.fragment<64xf32, rows>
    vcattn.normalize_and_store %acc, %one, %one, %vs[%i, %i] to %out[%i, %i, %i]
        : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, rows>,
          memref<?x?x128xf32>, memref<?x?x?x128xf16, strided<[?, ?, ?, ?], offset: ?>>
    gpu.return
  }
}

// -----

// With a stride between channels there are no pairs.
// CHECK-LABEL: gpu.func @strided
// CHECK-NOT: vector<4xi32>
// CHECK-NOT: vector<2xf16>
// CHECK-COUNT-64: llvm.store %{{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<1>
gpu.module @m {
  gpu.func @strided(%vs: memref<?x?x128xf32>, %out: memref<?x?x?x128xf16, strided<[?, ?, ?, 2], offset: ?>>, %i: index) kernel {
    %acc = vcattn.fill 0.0 : !vcattn.fragment<64x136xf32, accumulator>
    %one = vcattn.fill 1.0 : !vcattn.fragment<64xf32, rows>
    vcattn.normalize_and_store %acc, %one, %one, %vs[%i, %i] to %out[%i, %i, %i]
        : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, rows>,
          memref<?x?x128xf32>, memref<?x?x?x128xf16, strided<[?, ?, ?, 2], offset: ?>>
    gpu.return
  }
}

// -----

!keep = !vcattn.fragment<64x128xi1, keep>
!rows = !vcattn.fragment<64xf32, rows>
!scores = !vcattn.fragment<64x128xi32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!levels = !vcattn.fragment<64x128xi16, levels>

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
    %max = vcattn.fill 0.0 : !rows
    %keep = vcattn.keep_keys rows %n diagonal %n keys %n to %n left 5 right 7 : !keep
    %bool = vcattn.load_mask %keep, %bits[%i, %i, %i, %i] : !keep, memref<?x?x?x?xi1, strided<[?, ?, ?, ?], offset: ?>>
    %kept, %added = vcattn.load_mask %bool, %floats[%i, %i, %i, %i] : !keep, memref<?x?x?x?xf16> -> !vcattn.fragment<64x128xf32, added>
    %levels, %overflow = vcattn.cast_scores <expcast> %s, %a, %max keep %kept : !keep added %added : !vcattn.fragment<64x128xf32, added>
        : !scores, !multipliers, !rows -> !levels
    %new, %factor = vcattn.raise_maximum <expcast> %s, %a, %max keep %kept : !keep added %added : !vcattn.fragment<64x128xf32, added>
        : !scores, !multipliers, !rows
    gpu.return
  }
}

// -----

// A row that saw nothing is 0, whatever it would be multiplied by.
// CHECK-LABEL: gpu.func @masked
// CHECK: llvm.fcmp "oeq"
// CHECK: llvm.fdiv
// CHECK: scf.if
// CHECK: llvm.store
gpu.module @m {
  gpu.func @masked(%vs: memref<?x?x128xf32>, %out: memref<?x?x?x128xf32>, %i: index) kernel {
    %acc = vcattn.fill 0.0 : !vcattn.fragment<64x136xf32, accumulator>
    %one = vcattn.fill 1.0 : !vcattn.fragment<64xf32, rows>
    vcattn.normalize_and_store %acc, %one, %one, %vs[%i, %i] to %out[%i, %i, %i] {masked}
        : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, rows>,
          memref<?x?x128xf32>, memref<?x?x?x128xf32>
    gpu.return
  }
}
