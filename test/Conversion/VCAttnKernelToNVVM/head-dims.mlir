// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse))' --split-input-file | FileCheck %s

!keys = !vcattn.pipeline<2 x !vcattn.tile<128x192xi8>>

// 192 columns lie in three panels of 64 bytes, a copy each; the stage expects all.
// CHECK-LABEL: gpu.func @panels(%arg0: !llvm.ptr
// CHECK-DAG: %[[BYTES:.*]] = llvm.mlir.constant(24576 : i32) : i32
// CHECK-DAG: %[[C64:.*]] = llvm.mlir.constant(64 : i32) : i32
// CHECK-DAG: %[[C128:.*]] = llvm.mlir.constant(128 : i32) : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0, %{{.*}}, box[%arg2, %arg1]
// CHECK: %[[SECOND:.*]] = llvm.add %arg2, %[[C64]]
// CHECK: llvm.getelementptr %{{.*}}[8192]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0, %{{.*}}, box[%[[SECOND]], %arg1]
// CHECK: %[[THIRD:.*]] = llvm.add %arg2, %[[C128]]
// CHECK: llvm.getelementptr %{{.*}}[16384]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0, %{{.*}}, box[%[[THIRD]], %arg1]
// CHECK-NOT: nvvm.cp.async
gpu.module @m {
  gpu.func @panels(%map: !vcattn.tensor_map, %i: i32, %j: i32) kernel {
    %keys = vcattn.create_pipeline consumers 2 : !keys
    vcattn.load_tile %map[%i, %j] to %keys[%i] : !keys
    gpu.return
  }
}

// -----

!values = !vcattn.pipeline<2 x !vcattn.tile<264x128xf8E4M3FN>>

// More rows than a box may have come in equal shares.
// CHECK-LABEL: gpu.func @rows(%arg0: !llvm.ptr
// CHECK-DAG: %[[C88:.*]] = llvm.mlir.constant(88 : i32) : i32
// CHECK-DAG: %[[C176:.*]] = llvm.mlir.constant(176 : i32) : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0, %{{.*}}, box[%arg2, %arg1]
// CHECK: %[[SECOND:.*]] = llvm.add %arg1, %[[C88]]
// CHECK: llvm.getelementptr %{{.*}}[11264]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0, %{{.*}}, box[%arg2, %[[SECOND]]]
// CHECK: %[[THIRD:.*]] = llvm.add %arg1, %[[C176]]
// CHECK: llvm.getelementptr %{{.*}}[22528]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %arg0, %{{.*}}, box[%arg2, %[[THIRD]]]
// CHECK-NOT: nvvm.cp.async
gpu.module @m {
  gpu.func @rows(%map: !vcattn.tensor_map, %i: i32, %j: i32) kernel {
    %values = vcattn.create_pipeline consumers 2 : !values
    vcattn.load_tile %map[%i, %j] to %values[%i] : !values
    gpu.return
  }
}

// -----

!scores = !vcattn.fragment<64x128xi32, scores>

// 64-byte rows: the swizzle of 64 bytes (2 in bits 62 and 63) and groups of 8 rows
// 512 bytes apart (32 in bits 32 to 45); the lower half is added to the tile. Five steps of 32 bytes cover 160
// columns: two in each panel of 64 queries (4096 bytes: 256) or 128 keys (8192
// bytes: 512) and 64 columns.
// CHECK-LABEL: gpu.func @steps
// CHECK-DAG: llvm.mlir.constant(-9223371899415822336 : i64) : i64
// CHECK-DAG: llvm.mlir.constant(65536 : i32) : i32
// CHECK-DAG: llvm.mlir.constant(2 : i64) : i64
// CHECK-DAG: llvm.mlir.constant(256 : i64) : i64
// CHECK-DAG: llvm.mlir.constant(512 : i64) : i64
// CHECK-DAG: llvm.mlir.constant(1024 : i64) : i64
// CHECK-COUNT-5: "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8
// CHECK-NOT: wgmma.mma_async
gpu.module @m {
  gpu.func @steps() kernel {
    %q = vcattn.shared_tile : !vcattn.tile<64x160xi8>
    %k = vcattn.shared_tile : !vcattn.tile<128x160xi8>
    %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x160xi8>, !vcattn.tile<128x160xi8> -> !vcattn.in_flight<!scores>
    gpu.return
  }
}

// -----

!accumulator = !vcattn.fragment<64x264xf32, accumulator>

// A product gives at most 256 columns.
// CHECK-LABEL: gpu.func @halves
// CHECK: m64n128k32.f32.e4m3.e4m3
// CHECK: m64n136k32.f32.e4m3.e4m3
// CHECK: m64n128k32.f32.e4m3.e4m3
// CHECK: m64n136k32.f32.e4m3.e4m3
gpu.module @m {
  gpu.func @halves(%acc: !accumulator, %p: !vcattn.fragment<64x128xf8E4M3FN, probabilities>) kernel {
    %v = vcattn.shared_tile : !vcattn.tile<264x128xf8E4M3FN>
    %a = vcattn.mma_values %acc, %p, %v : !accumulator, !vcattn.fragment<64x128xf8E4M3FN, probabilities>, !vcattn.tile<264x128xf8E4M3FN> -> !vcattn.in_flight<!accumulator>
    gpu.return
  }
}

// -----

!rows = !vcattn.fragment<64xf32, rows>
!accumulator = !vcattn.fragment<64x16xf32, accumulator>

// Totals in global memory: the block's row, the consumer's share of it.
// CHECK-LABEL: gpu.func @totals
// CHECK-DAG: %[[SHARE:.*]] = llvm.mlir.constant(512 : i32) : i32
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.store volatile %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK: llvm.load volatile %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store volatile %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
gpu.module @m {
  gpu.func @totals(%room: memref<?x1024xf32>, %acc: !accumulator, %one: !rows) kernel {
    vcattn.clear_total %room columns 8 : memref<?x1024xf32>
    %a = vcattn.promote %acc, %room times %one : !accumulator, memref<?x1024xf32>, !rows
    gpu.return
  }
}

// -----

!rows = !vcattn.fragment<64xf32, rows>
!maxima = !vcattn.fragment<64xf32, maxima>
!accumulator = !vcattn.fragment<64x24xf32, accumulator>

// Of 16 accumulated channels the last 5 are not stored; scales past the last one
// are not read.
// CHECK-LABEL: gpu.func @partial
// CHECK-DAG: %[[LAST:.*]] = llvm.mlir.constant(10 : i64) : i64
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[SECOND:.*]] = arith.constant 2 : index
// CHECK: %[[MOST:.*]] = llvm.sub %[[LAST]], %{{.*}} : i64
// CHECK: llvm.intr.smin(%{{.*}}, %[[MOST]])
// CHECK: arith.cmpi ult, %{{.*}}, %[[FIRST]] : index
// CHECK: arith.cmpi ult, %{{.*}}, %[[SECOND]] : index
gpu.module @m {
  gpu.func @partial(%acc: !accumulator, %one: !rows, %max: !maxima, %vs: memref<?x?x11xf32>, %out: memref<?x?x?x11xbf16>, %i: index) kernel {
    vcattn.normalize_and_store %acc, %one, %max, %vs[%i, %i] to %out[%i, %i, %i]
        : !accumulator, !rows, !maxima, memref<?x?x11xf32>, memref<?x?x?x11xbf16>
    gpu.return
  }
}

// -----

!maxima = !vcattn.fragment<64xf32, maxima>
!scores = !vcattn.fragment<64x64xi32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>

// The largest of 16 scores per row, then one cast of it; a thread without a valid
// key has no level. What is computed again goes through an instruction of its own.
// CHECK-LABEL: gpu.func @check
// CHECK-COUNT-30: llvm.intr.smax
// CHECK-NOT: llvm.intr.smax
// CHECK-COUNT-2: nvvm.convert.f32x2.to.f16x2
// CHECK-NOT: nvvm.convert.f32x2
// CHECK: nvvm.vote.sync any
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "", "=r,0" %arg2
gpu.module @m {
  gpu.func @check(%s: !scores, %a: !multipliers, %n: i32, %max: !maxima) kernel {
    %overflow = vcattn.check_maximum <expcast> %s, %a, %max valid %n : !scores, !multipliers, !maxima
    scf.if %overflow {
      %again = vcattn.recompute %n
    }
    gpu.return
  }
}
