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

!scores = !vcattn.fragment<64x64xi32, scores>
!accumulator = !vcattn.fragment<64x136xf32, accumulator>

// Integer scores start from the bits of 1.5 * 2^23; registers are tied to the
// fence before and the wait after.
// CHECK-LABEL: gpu.func @products
// CHECK: llvm.mlir.constant(1262485504 : i32)
// CHECK: llvm.inline_asm {{.*}}"wgmma.fence.sync.aligned;", "=r,
// CHECK-COUNT-4: "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {{{.*}}}, $64, $65, 1;"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: "wgmma.fence.sync.aligned;", "=f,
// CHECK: "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{.*}}}, {$128, $129, $130, $131}, $132, 1, 1, 1, 0;"
// What is in flight is not touched by the next fence.
// CHECK: "wgmma.fence.sync.aligned;", "=r,=r,
// CHECK-COUNT-2: "wgmma.mma_async.sync.aligned.m64n136k32.f32.e4m3.e4m3 {{{.*}}}, {$136, $137, $138, $139}, $140, 1, 1, 1;"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: "wgmma.wait_group.sync.aligned 1;", "=r,
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,
gpu.module @m {
  gpu.func @products(%i: i1) kernel {
    %q = vcattn.shared_tile : !vcattn.tile<64x128xi8>
    %k = vcattn.shared_tile : !vcattn.tile<64x128xi8>
    %v = vcattn.shared_tile : !vcattn.tile<136x64xf8E4M3FN>
    %m = vcattn.shared_tile : !vcattn.tile<128x16xf16>
    %zero = vcattn.fill 0.0 : !accumulator
    %p = vcattn.fill 0.0 : !vcattn.fragment<64x64xf8E4M3FN, probabilities>
    %sums = vcattn.fill 0.0 : !vcattn.fragment<64x8xf16, row_sums>
    %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xi8>, !vcattn.tile<64x128xi8> -> !vcattn.in_flight<!scores>
    vcattn.mma_commit
    %a = vcattn.mma_means %zero, %sums, %m upper %i : !accumulator, !vcattn.fragment<64x8xf16, row_sums>, !vcattn.tile<128x16xf16> -> !vcattn.in_flight<!accumulator>
    %b = vcattn.mma_values %a, %p, %v : !vcattn.in_flight<!accumulator>, !vcattn.fragment<64x64xf8E4M3FN, probabilities>, !vcattn.tile<136x64xf8E4M3FN> -> !vcattn.in_flight<!accumulator>
    vcattn.mma_commit
    %s1 = vcattn.mma_wait %s outstanding 1 : !vcattn.in_flight<!scores> -> !scores
    %b1 = vcattn.mma_wait %b outstanding 0 : !vcattn.in_flight<!accumulator> -> !accumulator
    gpu.return
  }
}

// -----

!scores = !vcattn.fragment<64x64xf32, scores>

// An f32 accumulator starts undefined: the first product ignores it.
// CHECK-LABEL: gpu.func @e4m3_scores
// CHECK-NOT: llvm.mlir.constant(1262485504
// CHECK: llvm.mlir.undef : f32
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {{{.*}}}, $64, $65, 0, 1, 1;"
// CHECK-COUNT-3: "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {{{.*}}}, $64, $65, 1, 1, 1;"
gpu.module @m {
  gpu.func @e4m3_scores() kernel {
    %q = vcattn.shared_tile : !vcattn.tile<64x128xf8E4M3FN>
    %k = vcattn.shared_tile : !vcattn.tile<64x128xf8E4M3FN>
    %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xf8E4M3FN>, !vcattn.tile<64x128xf8E4M3FN> -> !vcattn.in_flight<!scores>
    gpu.return
  }
}

// -----

!rows = !vcattn.fragment<64xf32, rows>
!maxima = !vcattn.fragment<64xf32, maxima>
!scores = !vcattn.fragment<64x64xf32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!levels = !vcattn.fragment<64x64xi16, levels>

// Two maxima of -inf, and what they add to the products of both casts: +inf.
// CHECK-LABEL: gpu.func @softmax
// CHECK: %[[LEAST:.*]] = llvm.mlir.constant(0xFF800000 : f32) : f32
// CHECK-NEXT: %[[MOST:.*]] = llvm.mlir.constant(0x7F800000 : f32) : f32
// CHECK: %[[M0:.*]] = llvm.mlir.poison : !llvm.struct<(f32, f32, f32, f32, f32, f32)>
// CHECK-NEXT: %[[M1:.*]] = llvm.insertvalue %[[LEAST]], %[[M0]][0]
// CHECK-NEXT: %[[M2:.*]] = llvm.insertvalue %[[LEAST]], %[[M1]][1]
// CHECK-NEXT: %[[M3:.*]] = llvm.insertvalue %[[MOST]], %[[M2]][2]
// CHECK-NEXT: %[[M4:.*]] = llvm.insertvalue %[[MOST]], %[[M3]][3]
// CHECK-NEXT: %[[M5:.*]] = llvm.insertvalue %[[MOST]], %[[M4]][4]
// CHECK-NEXT: llvm.insertvalue %[[MOST]], %[[M5]][5]
// One fma per score, one conversion and one maximum per two, one vote.
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : f32
// CHECK-NOT: llvm.mlir.constant(1.196500e+02 : f32)
// CHECK-COUNT-16: nvvm.convert.f32x2.to.f16x2 {{.*}}relu = true
// CHECK-NOT: nvvm.convert
// CHECK-NOT: llvm.and
// CHECK: llvm.intr.umax
// CHECK: nvvm.vote.sync any
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// The raised maxima bring along what they add: (119.65 - maximum) * 2^-24.
// CHECK: %[[TOP:.*]] = llvm.mlir.constant(1.196500e+02 : f32)
// CHECK: %[[BELOW:.*]] = llvm.fsub %[[TOP]], %{{.*}} : f32
// CHECK: %[[UNIT:.*]] = llvm.mlir.constant(5.96046448E-8 : f32)
// CHECK: llvm.fmul %[[BELOW]], %[[UNIT]] : f32
// Cast again, codes above the largest one become it, unless NaN; those that only
// fill the last tile are masked.
// CHECK: llvm.intr.minimum(%{{.*}}, %{{.*}}) : (vector<2xf16>, vector<2xf16>)
// CHECK: llvm.and
// CHECK-NOT: nvvm.vote
// CHECK-COUNT-8: nvvm.prmt
// CHECK-NOT: nvvm.prmt
gpu.module @m {
  gpu.func @softmax(%memory: memref<?x?x?xf32>, %key_scales: memref<?x?x?x4xf32>, %i: index, %f: f32, %n: i32) kernel {
    %s = vcattn.fill 0.0 : !scores
    %max = vcattn.fill 0xFF800000 : !maxima
    %rows = vcattn.load_rows %memory[%i, %i, %i] times %f : memref<?x?x?xf32> -> !rows
    %a = vcattn.load_multipliers %rows, %key_scales[%i, %i, %i] : !rows, memref<?x?x?x4xf32> -> !multipliers
    %levels, %overflow = vcattn.cast_scores <expcast> %s, %a, %max : !scores, !multipliers, !maxima -> !levels
    scf.if %overflow {
      %max1, %factor = vcattn.raise_maximum <expcast> %s, %a, %max : !scores, !multipliers, !maxima
    }
    %masked, %unused = vcattn.cast_scores <expcast> %s, %a, %max valid %n saturate : !scores, !multipliers, !maxima -> !levels
    %p = vcattn.pack_probabilities <expcast> %masked : !levels -> !vcattn.fragment<64x64xf8E4M3FN, probabilities>
    gpu.return
  }
}

// -----

!maxima = !vcattn.fragment<64xf32, maxima>
!scores = !vcattn.fragment<64x64xi32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!levels = !vcattn.fragment<64x64xi16, levels>

// Two exponentials and one conversion, to neighbouring bytes, for two scores. No
// level is compared here: check_maximum does it, by the largest score alone.
// CHECK-LABEL: gpu.func @exact
// CHECK-COUNT-30: llvm.intr.smax
// CHECK-NOT: llvm.intr.smax
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: llvm.nvvm.ex2
// CHECK-NOT: nvvm.convert
// CHECK: %[[TIE:.*]] = llvm.mlir.constant(1139277824 : i32)
// CHECK: llvm.icmp "ugt" %{{.*}}, %[[TIE]] : i32
// CHECK: nvvm.vote.sync any
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: %[[C:.*]] = nvvm.convert.f32x2.to.f8x2 %{{.*}}, %{{.*}} {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E4M3FN)
// CHECK: llvm.insertelement %[[C]], %{{.*}} : vector<2xi16>
// CHECK-COUNT-15: nvvm.convert.f32x2.to.f8x2
// CHECK-NOT: nvvm.convert
// CHECK-NOT: nvvm.vote
// Bytes 0 and 1 of both registers.
// CHECK-COUNT-8: llvm.mlir.constant(21520 : i32) : i32{{[[:space:]]+}}%{{[0-9]+}} = nvvm.prmt
// CHECK-NOT: nvvm.prmt
gpu.module @m {
  gpu.func @exact(%s: !scores, %a: !multipliers, %max: !maxima) kernel {
    %above = vcattn.check_maximum <exact> %s, %a, %max : !scores, !multipliers, !maxima
    %levels, %overflow = vcattn.cast_scores <exact> %s, %a, %max : !scores, !multipliers, !maxima -> !levels
    %p = vcattn.pack_probabilities <exact> %levels : !levels -> !vcattn.fragment<64x64xf8E4M3FN, probabilities>
    gpu.return
  }
}

// -----

!maxima = !vcattn.fragment<64xf32, maxima>
!scores = !vcattn.fragment<64x64xi32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!levels = !vcattn.fragment<64x64xi16, levels>

// Of 64 keys the first 40 are cast exactly, the others by ExpCast: of a thread's
// 32 scores the first 20 and the other 12. Largest scores are told apart by cast
// and row: 2 * 9 and 2 * 5 maxima, then a level of each.
// CHECK-LABEL: gpu.func @hybrid
// CHECK-COUNT-28: llvm.intr.smax
// CHECK-NOT: llvm.intr.smax
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: llvm.nvvm.ex2
// CHECK-COUNT-2: nvvm.convert.f32x2.to.f16x2 {{.*}}relu = true
// CHECK-NOT: nvvm.convert
// CHECK: %[[EXACT:.*]] = llvm.icmp "ugt"
// CHECK: %[[EXPCAST:.*]] = llvm.icmp "ne"
// CHECK: %[[ABOVE:.*]] = llvm.or %[[EXACT]], %[[EXPCAST]] : i1
// CHECK: nvvm.vote.sync any %{{.*}}, %[[ABOVE]] -> i1
// Raised if either cast's largest level is too large; the maximum is that of all
// keys.
// CHECK-COUNT-20: llvm.intr.maxnum
// CHECK: nvvm.shfl.sync bfly
// CHECK: %[[EXACT_ROW:.*]] = llvm.icmp "ugt"
// CHECK: nvvm.shfl.sync bfly
// CHECK: %[[EXPCAST_ROW:.*]] = llvm.icmp "ne"
// CHECK: %[[ABOVE_ROW:.*]] = llvm.or %[[EXACT_ROW]], %[[EXPCAST_ROW]] : i1
// CHECK: llvm.intr.maxnum
// CHECK: llvm.select %[[ABOVE_ROW]], %{{.*}}, %{{.*}} : i1, f32
// CHECK: llvm.mlir.constant(1.195350e+02 : f32)
// CHECK: llvm.mlir.constant(6.400000e+01 : f32)
// CHECK-COUNT-20: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: llvm.nvvm.ex2
// CHECK: nvvm.convert.f32x2.to.f8x2
// CHECK-COUNT-6: nvvm.convert.f32x2.to.f16x2 {{.*}}relu = true
// Cast again, the levels of ExpCast alone have to be limited.
// CHECK: llvm.intr.minimum(%{{.*}}, %{{.*}}) : (vector<2xf16>, vector<2xf16>)
// CHECK-NOT: nvvm.convert
// CHECK: nvvm.prmt
gpu.module @m {
  gpu.func @hybrid(%s: !scores, %a: !multipliers, %max: !maxima) kernel {
    %above = vcattn.check_maximum <hybrid> %s, %a, %max : !scores, !multipliers, !maxima
    %raised, %factor = vcattn.raise_maximum <hybrid> %s, %a, %max : !scores, !multipliers, !maxima
    %levels, %overflow = vcattn.cast_scores <hybrid> %s, %a, %raised saturate : !scores, !multipliers, !maxima -> !levels
    %p = vcattn.pack_probabilities <hybrid> %levels : !levels -> !vcattn.fragment<64x64xf8E4M3FN, probabilities>
    gpu.return
  }
}

// -----

// The byte that a register's second code is in depends on its cast: 1 if exact,
// 2 if not. Of 32 keys all are exact; of the 32 after them, 8 are.
// CHECK-LABEL: gpu.func @pack_hybrid
// CHECK-DAG: %[[L0:.*]] = llvm.extractvalue %arg0[0]
// CHECK-DAG: %[[L2:.*]] = llvm.extractvalue %arg0[2]
// CHECK-DAG: %[[L8:.*]] = llvm.extractvalue %arg0[8]
// CHECK-DAG: %[[L10:.*]] = llvm.extractvalue %arg0[10]
// CHECK-DAG: %[[L13:.*]] = llvm.extractvalue %arg0[13]
// CHECK-DAG: %[[L15:.*]] = llvm.extractvalue %arg0[15]
// CHECK: %[[BOTH_EXACT:.*]] = llvm.mlir.constant(21520 : i32)
// CHECK-NEXT: nvvm.prmt <default> %[[BOTH_EXACT]], %[[L0]], %[[L2]] : i32
// CHECK-COUNT-3: llvm.mlir.constant(21520 : i32) : i32{{[[:space:]]+}}%{{[0-9]+}} = nvvm.prmt
// CHECK-NEXT: %[[MIXED:.*]] = llvm.mlir.constant(25616 : i32)
// CHECK-NEXT: nvvm.prmt <default> %[[MIXED]], %[[L8]], %[[L10]] : i32
// CHECK-NEXT: llvm.mlir.constant(25616 : i32)
// CHECK-NEXT: nvvm.prmt
// CHECK-NEXT: llvm.mlir.constant(25632 : i32)
// CHECK-NEXT: nvvm.prmt
// CHECK-NEXT: %[[NEITHER:.*]] = llvm.mlir.constant(25632 : i32)
// CHECK-NEXT: nvvm.prmt <default> %[[NEITHER]], %[[L13]], %[[L15]] : i32
// CHECK-NOT: nvvm.prmt
// CHECK-LABEL: gpu.func @pack_expcast
// CHECK-COUNT-8: llvm.mlir.constant(25632 : i32) : i32{{[[:space:]]+}}%{{[0-9]+}} = nvvm.prmt
// CHECK-NOT: nvvm.prmt
gpu.module @m {
  gpu.func @pack_hybrid(%levels: !vcattn.fragment<64x64xi16, levels>) kernel {
    %p = vcattn.pack_probabilities <hybrid> %levels : !vcattn.fragment<64x64xi16, levels> -> !vcattn.fragment<64x64xf8E4M3FN, probabilities>
    gpu.return
  }
  gpu.func @pack_expcast(%levels: !vcattn.fragment<64x64xi16, levels>) kernel {
    %p = vcattn.pack_probabilities <expcast> %levels : !vcattn.fragment<64x64xi16, levels> -> !vcattn.fragment<64x64xf8E4M3FN, probabilities>
    gpu.return
  }
}

// -----

!keys = !vcattn.pipeline<4 x !vcattn.tile<64x128xi8>>
!scores = !vcattn.fragment<64x64xi32, scores>

// Asked early, the barrier is waited for only if it was not full by then. A tile
// is a number, its address in units of 16 bytes: a stage is 512 of them.
// CHECK-LABEL: gpu.func @test_tile(
// CHECK: %[[Q:.*]] = llvm.udiv %{{.*}}, %{{.*}} : i32
// CHECK: llvm.mlir.poison : !llvm.struct<(ptr<3>, ptr<3>, i32)>
// CHECK: %[[FULL:.*]] = nvvm.mbarrier.test.wait %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32 -> i1
// CHECK: %[[FIRST:.*]] = llvm.extractvalue %{{.*}}[2] : !llvm.struct<(ptr<3>, ptr<3>, i32)>
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(512 : i32) : i32
// CHECK: %[[DISTANCE:.*]] = llvm.mul %{{.*}}, %[[SIZE]] : i32
// CHECK: %[[K:.*]] = llvm.add %[[FIRST]], %[[DISTANCE]] : i32
// CHECK: scf.if %[[FULL]] {
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.while
// CHECK: nvvm.mbarrier.try_wait
// Its descriptor is two numbers: the tile and a constant (1 << 16) are added; the
// other half is a constant: swizzle 1, groups of 8 rows 1024 bytes apart.
// CHECK: %[[LEADING:.*]] = llvm.mlir.constant(65536 : i32) : i32
// CHECK: llvm.add %[[Q]], %[[LEADING]] : i32
// CHECK: %[[LEADING:.*]] = llvm.mlir.constant(65536 : i32) : i32
// CHECK-NEXT: %[[LOW:.*]] = llvm.add %[[K]], %[[LEADING]] : i32
// CHECK-NEXT: %[[WIDE:.*]] = llvm.zext %[[LOW]] : i32 to i64
// CHECK-NEXT: %[[HIGH:.*]] = llvm.mlir.constant(4611686293305294848 : i64) : i64
// CHECK-NEXT: llvm.or %[[WIDE]], %[[HIGH]] : i64
// CHECK-NOT: llvm.lshr
// CHECK: wgmma.mma_async
gpu.module @m {
  gpu.func @test_tile(%i: i32) kernel {
    %q = vcattn.shared_tile : !vcattn.tile<64x128xi8>
    %keys = vcattn.create_pipeline consumers 2 : !keys
    %full = vcattn.test_tile %keys[%i] : !keys
    %k = vcattn.wait_tile %keys[%i] unless %full : !keys -> !vcattn.tile<64x128xi8>
    %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xi8>, !vcattn.tile<64x128xi8> -> !vcattn.in_flight<!scores>
    gpu.return
  }
}

// -----

// Part of a tile is further by a number, too: 256 units per 32 rows.
// CHECK-LABEL: gpu.func @tile_rows
// CHECK: %[[TILE:.*]] = llvm.udiv %{{.*}}, %{{.*}} : i32
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(256 : i32) : i32
// CHECK: %[[DISTANCE:.*]] = llvm.mul %arg0, %[[SIZE]] : i32
// CHECK: llvm.add %[[TILE]], %[[DISTANCE]] : i32
gpu.module @m {
  gpu.func @tile_rows(%i: i32) kernel {
    %tile = vcattn.shared_tile : !vcattn.tile<64x128xi8>
    %mine = vcattn.tile_rows %tile[%i] : !vcattn.tile<64x128xi8> -> !vcattn.tile<32x128xi8>
    gpu.return
  }
}

// -----

!rows = !vcattn.fragment<64xf32, rows>
!maxima = !vcattn.fragment<64xf32, maxima>
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
    %max = vcattn.fill 0xFF800000 : !maxima
    %scaled = vcattn.rescale %acc by %one : !accumulator, !rows
    %rest, %sum, %sums = vcattn.take_row_sums %scaled, %one : !accumulator, !rows -> !vcattn.fragment<64x8xf16, row_sums>
    %a = vcattn.promote %rest, %total times %one : !accumulator, !vcattn.tile<64x128xf32>, !rows
    %b = vcattn.merge %a, %total times %one : !accumulator, !vcattn.tile<64x128xf32>, !rows
    vcattn.normalize_and_store %b, %sum, %max, %vs[%i, %i] to %out[%i, %i, %i] lse %lse
        : !accumulator, !rows, !maxima, memref<?x?x128xf32>, memref<?x?x?x128xbf16>, memref<?x?x?xf32>
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
    %max = vcattn.fill 0xFF800000 : !vcattn.fragment<64xf32, maxima>
    vcattn.normalize_and_store %acc, %one, %max, %vs[%i, %i] to %out[%i, %i, %i]
        : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, maxima>,
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
    %max = vcattn.fill 0xFF800000 : !vcattn.fragment<64xf32, maxima>
    vcattn.normalize_and_store %acc, %one, %max, %vs[%i, %i] to %out[%i, %i, %i]
        : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, maxima>,
          memref<?x?x128xf32>, memref<?x?x?x128xf16, strided<[?, ?, ?, 2], offset: ?>>
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
    %max = vcattn.fill 0xFF800000 : !vcattn.fragment<64xf32, maxima>
    vcattn.normalize_and_store %acc, %one, %max, %vs[%i, %i] to %out[%i, %i, %i] {masked}
        : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, maxima>,
          memref<?x?x128xf32>, memref<?x?x?x128xf32>
    gpu.return
  }
}
