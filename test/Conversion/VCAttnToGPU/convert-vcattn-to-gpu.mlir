// RUN: vcattn-opt %s --convert-vcattn-to-gpu --canonicalize --cse --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --convert-vcattn-to-gpu --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=KERNEL

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4,
                             consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = true,
                             promotion = 32>

// All sizes static: nothing to guard, and the grid is known.
// CHECK-LABEL: func @static
// CHECK-SAME: (%[[Q:.*]]: memref<1x4x300x128xi8>, %[[QS:.*]]: memref<1x4x300xf32>, %[[K:.*]]: memref<1x2x200x128xi8>
// CHECK-DAG: %[[KEYS:.*]] = arith.constant 200 : index
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 12 : index
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 384 : index
// CHECK-DAG: %[[SHARED:.*]] = arith.constant 157888 : i32
// scale * log2(e) * 8 * 2^-24
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant 6.05378929E-8 : f32
// CHECK-NOT: scf.if
// CHECK: %[[QMAP:.*]] = vcattn.encode_tensor_map %[[Q]] box [1, 1, 64, 128]
// A tile of values is half of a block of 128 keys.
// CHECK: %[[KMAP:.*]] = vcattn.encode_tensor_map %[[K]] box [1, 1, 64, 128]
// CHECK: %[[VMAP:.*]] = vcattn.encode_tensor_map %{{.*}} box [1, 1, 1, 136, 64]
// CHECK: %[[CAST:.*]] = memref.cast %[[QS]] : memref<1x4x300xf32> to memref<?x?x?xf32>
// CHECK: gpu.launch_func @vcattn_attention_i8::@attention_i8 blocks in (%[[BLOCKS]], {{.*}}) threads in (%[[THREADS]], {{.*}}) dynamic_shared_memory_size %[[SHARED]]
// CHECK-SAME: args(%[[QMAP]] : !vcattn.tensor_map, %[[KMAP]] : !vcattn.tensor_map, %[[VMAP]] : !vcattn.tensor_map, %[[CAST]] : memref<?x?x?xf32>
// CHECK-SAME: memref<?x?x?x4xf32>
// CHECK-SAME: memref<?x?x128xf32>
// CHECK-SAME: memref<?x?x?x16x2x8x8xf16>
// CHECK-SAME: memref<?x?x?x128xbf16>
// CHECK-SAME: %[[KEYS]] : index, %[[FACTOR]] : f32)
func.func @static(%q: memref<1x4x300x128xi8>, %qs: memref<1x4x300xf32>, %k: memref<1x2x200x128xi8>,
                  %ks: memref<1x2x2x4xf32>, %v: memref<1x2x2x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>,
                  %m: memref<1x2x1x16x2x8x8xf16>, %out: memref<1x4x300x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x300x128xi8>, memref<1x4x300xf32>, memref<1x2x200x128xi8>,
          memref<1x2x2x4xf32>, memref<1x2x2x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      outs(%out : memref<1x4x300x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
  return
}

// Another shape and scale: the same kernel.
// CHECK-LABEL: func @other_shape
// CHECK: gpu.launch_func @vcattn_attention_i8::@attention_i8 blocks
func.func @other_shape(%q: memref<8x4x4096x128xi8>, %qs: memref<8x4x4096xf32>, %k: memref<8x4x512x128xi8>,
                       %ks: memref<8x4x4x4xf32>, %v: memref<8x4x4x136x128xf8E4M3FN>, %vs: memref<8x4x128xf32>,
                       %m: memref<8x4x1x16x2x8x8xf16>, %out: memref<8x4x4096x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<8x4x4096x128xi8>, memref<8x4x4096xf32>, memref<8x4x512x128xi8>,
          memref<8x4x4x4xf32>, memref<8x4x4x136x128xf8E4M3FN>, memref<8x4x128xf32>, memref<8x4x1x16x2x8x8xf16>)
      outs(%out : memref<8x4x4096x128xbf16>)
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
  return
}

// Another format: another kernel. Tokens before heads: the box follows, and so
// do the coordinates and the stores of the kernel.
// CHECK-LABEL: func @tokens_first
// CHECK: vcattn.encode_tensor_map %{{.*}} box [1, 64, 1, 128] : memref<1x300x4x128xf8E4M3FN>
// CHECK: gpu.launch_func @vcattn_attention_e4m3::@attention_e4m3 blocks
func.func @tokens_first(%q: memref<1x300x4x128xf8E4M3FN>, %qs: memref<1x4x300xf32>, %k: memref<1x200x2x128xf8E4M3FN>,
                        %ks: memref<1x2x2x4xf32>, %v: memref<1x2x2x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>,
                        %m: memref<1x2x1x16x2x8x8xf16>, %out: memref<1x300x4x128xf16, strided<[?, ?, ?, 1], offset: ?>>,
                        %lse: memref<1x4x300xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x300x4x128xf8E4M3FN>, memref<1x4x300xf32>,
          memref<1x200x2x128xf8E4M3FN>, memref<1x2x2x4xf32>, memref<1x2x2x136x128xf8E4M3FN>, memref<1x2x128xf32>,
          memref<1x2x1x16x2x8x8xf16>)
      outs(%out, %lse : memref<1x300x4x128xf16, strided<[?, ?, ?, 1], offset: ?>>, memref<1x4x300xf32>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, layout = #vcattn.layout<bthd>, target = #target, schedule = #schedule}
  return
}

// KERNEL-LABEL: gpu.module @vcattn_attention_i8
// KERNEL: gpu.func @attention_i8(
// KERNEL-SAME: !vcattn.tensor_map
// KERNEL-SAME: kernel attributes {known_block_size = array<i32: 384, 1, 1>
// KERNEL-SAME: vcattn.shared_memory = 157888 : i64
// KERNEL: vcattn.create_pipeline consumers 1 : <2 x !vcattn.tile<64x128xi8>>
// KERNEL: vcattn.create_pipeline consumers 2 : <4 x !vcattn.tile<64x128xi8>>
// KERNEL: vcattn.create_pipeline consumers 2 : <4 x !vcattn.tile<136x64xf8E4M3FN>>
// KERNEL: vcattn.create_pipeline consumers 2 : <2 x !vcattn.tile<128x16xf16>>
// KERNEL: vcattn.shared_tile : <128x128xf32>
// KERNEL: vcattn.warp_specialize producer registers 24 {
// KERNEL: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %[[ROUND:.*]] = %c0_i32, %[[MEAN:.*]] = %c0_i32)
// Keys and values are counted in rounds of four uses: a work item starts one.
// KERNEL: vcattn.load_tile
// KERNEL: %[[START:.*]] = arith.muli %[[ROUND]], %c4_i32 : i32
// KERNEL: scf.for %[[J:.*]] = %c0_i32 to %[[TILES:.*]] step %c1_i32
// KERNEL: %[[USE:.*]] = arith.addi %[[START]], %[[J]] : i32
// KERNEL: %[[TOKEN:.*]] = arith.muli %[[J]], %c64_i32 : i32
// KERNEL: vcattn.load_tile %arg1[%{{.*}}, %{{.*}}, %[[TOKEN]], %c0_i32] to %[[KEYS:.*]][%[[USE]]]
// A tile of means is for 16 blocks.
// KERNEL: arith.remui %[[J]], %c32_i32 : i32
// KERNEL: scf.if
// KERNEL: vcattn.load_bytes
// KERNEL: %[[BLOCK:.*]] = arith.divui %[[J]], %c2_i32 : i32
// KERNEL: %[[HALF:.*]] = arith.remui %[[J]], %c2_i32 : i32
// KERNEL: %[[COLUMN:.*]] = arith.muli %[[HALF]], %c64_i32 : i32
// KERNEL: vcattn.load_tile %arg2[%{{.*}}, %{{.*}}, %[[BLOCK]], %c0_i32, %[[COLUMN]]] to %[[VALUES:.*]][%[[USE]]]
// The rest of its last round is filled up.
// KERNEL: %[[USED:.*]] = arith.addi %[[START]], %[[TILES]] : i32
// KERNEL: %[[UP:.*]] = arith.addi %[[USED]], %c3_i32 : i32
// KERNEL: %[[NEXT:.*]] = arith.divui %[[UP]], %c4_i32 : i32
// KERNEL: %[[END:.*]] = arith.muli %[[NEXT]], %c4_i32 : i32
// KERNEL: scf.for %[[FILLER:.*]] = %[[USED]] to %[[END]]
// KERNEL: vcattn.load_tile %arg1{{.*}} to %[[KEYS]][%[[FILLER]]]
// KERNEL: vcattn.load_tile %arg2{{.*}} to %[[VALUES]][%[[FILLER]]]
// KERNEL: scf.yield %{{.*}}, %[[NEXT]], %{{.*}} : i32, i32, i32
// KERNEL: } consumers 2 registers 240 {
// KERNEL: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %[[ROUND:.*]] = %c0_i32, %{{.*}} = %c0_i32)
// The first tile is masked and always raises the maximum.
// KERNEL: %[[MAXIMA:.*]] = vcattn.fill 0xFF800000 : <64xf32, maxima>
// KERNEL: %[[M:.*]], %{{.*}} = vcattn.raise_maximum <expcast> %{{.*}}, %{{.*}}, %[[MAXIMA]] valid
// KERNEL: vcattn.cast_scores <expcast> %{{.*}}, %{{.*}}, %[[M]] valid {{.*}} saturate
// KERNEL: vcattn.pack_probabilities <expcast>
// Rounds of four steps. Uses are multiples of four and a constant.
// KERNEL: scf.for %[[R:.*]] = %c0_i32 to
// KERNEL: %[[FIRST:.*]] = arith.muli %[[R]], %c4_i32 : i32
// KERNEL: %[[SUM:.*]] = arith.addi %[[ROUND]], %[[R]] : i32
// KERNEL: %[[USE:.*]] = arith.muli %[[SUM]], %c4_i32 : i32
// KERNEL: %[[TILE1:.*]] = arith.addi %[[FIRST]], %c1_i32 : i32
// KERNEL: %[[USE1:.*]] = arith.addi %[[USE]], %c1_i32 : i32
// Both questions come before the turn and what is waited for.
// KERNEL: %[[HAS_KEYS:.*]] = vcattn.test_tile %{{.*}}[%[[USE1]]]
// KERNEL-NEXT: %[[HAS_VALUES:.*]] = vcattn.test_tile %{{.*}}[%[[USE]]]
// Two tiles share a block's scales.
// KERNEL-NEXT: %[[BLOCK:.*]] = arith.divui %[[TILE1]], %c2_i32 : i32
// KERNEL-NEXT: %[[INDEX:.*]] = arith.index_cast %[[BLOCK]] : i32 to index
// KERNEL-NEXT: vcattn.load_multipliers %{{.*}}[%{{.*}}, %{{.*}}, %[[INDEX]]]
// KERNEL-NEXT: vcattn.take_turn
// KERNEL-NEXT: vcattn.wait_tile %{{.*}}[%[[USE1]]] unless %[[HAS_KEYS]]
// KERNEL-NEXT: vcattn.mma_scores
// KERNEL-NEXT: vcattn.mma_commit
// KERNEL-NEXT: vcattn.wait_tile %{{.*}}[%[[USE]]] unless %[[HAS_VALUES]]
// KERNEL-NEXT: %[[RUNNING:.*]] = vcattn.mma_values
// KERNEL-NEXT: vcattn.mma_commit
// KERNEL-NEXT: vcattn.pass_turn
// KERNEL-NEXT: vcattn.mma_wait {{.*}} outstanding 1
// KERNEL-NEXT: vcattn.release %{{.*}}[%[[USE1]]]
// Levels first; the product is waited for behind the branch, on both sides.
// KERNEL-NEXT: %[[LEVELS:.*]], %[[OVERFLOW:.*]] = vcattn.cast_scores <expcast>
// KERNEL-NOT: valid
// KERNEL: scf.if %[[OVERFLOW]]
// KERNEL-NEXT: %[[M:.*]], %[[FACTOR:.*]] = vcattn.raise_maximum
// KERNEL-NEXT: %[[DONE:.*]] = vcattn.mma_wait %[[RUNNING]] outstanding 0
// KERNEL-NEXT: vcattn.rescale %[[DONE]] by %[[FACTOR]]
// KERNEL-NEXT: vcattn.rescale
// KERNEL-NEXT: vcattn.rescale
// KERNEL-NEXT: vcattn.cast_scores <expcast> %{{.*}}, %{{.*}}, %[[M]] saturate
// KERNEL-NEXT: vcattn.pack_probabilities <expcast>
// KERNEL: } else {
// KERNEL-NEXT: vcattn.mma_wait %[[RUNNING]] outstanding 0
// KERNEL-NEXT: vcattn.pack_probabilities <expcast> %[[LEVELS]]
// KERNEL: }
// KERNEL-NEXT: vcattn.release %{{.*}}[%[[USE]]]
// Three more steps, without a loop or another branch.
// KERNEL-NOT: scf.for
// KERNEL: arith.addi %[[FIRST]], %c2_i32 : i32
// KERNEL: vcattn.mma_values
// KERNEL: arith.addi %[[FIRST]], %c3_i32 : i32
// KERNEL: vcattn.mma_values
// KERNEL: %[[DONE:.*]] = arith.addi %[[FIRST]], %c4_i32 : i32
// KERNEL: vcattn.mma_values
// Every 8 blocks row sums are taken and means restored, every two groups the
// accumulator is promoted.
// KERNEL: %[[IN_GROUP:.*]] = arith.remui %[[DONE]], %c16_i32 : i32
// KERNEL: arith.cmpi eq, %[[IN_GROUP]], %c0_i32 : i32
// KERNEL: scf.if
// KERNEL: vcattn.take_row_sums
// KERNEL: vcattn.mma_means
// KERNEL: arith.remui %[[DONE]], %c32_i32 : i32
// KERNEL: scf.if
// KERNEL: vcattn.promote
// What is left of the last round's tiles is masked.
// KERNEL: scf.for
// KERNEL: vcattn.test_tile
// KERNEL: vcattn.cast_scores <expcast> {{.*}} valid
// KERNEL: scf.if
// KERNEL: vcattn.raise_maximum <expcast> {{.*}} valid
// KERNEL: vcattn.cast_scores <expcast> {{.*}} valid {{.*}} saturate
// KERNEL: vcattn.mma_values
// Fillers are let go of, once the last values are.
// KERNEL: vcattn.release
// KERNEL: scf.for %[[FILLER:.*]] = %{{.*}} to %{{.*}} step %c1_i32
// KERNEL-NEXT: vcattn.wait_tile %{{.*}}[%[[FILLER]]] :
// KERNEL-NEXT: vcattn.release %{{.*}}[%[[FILLER]]]
// KERNEL-NEXT: vcattn.wait_tile %{{.*}}[%[[FILLER]]] :
// KERNEL-NEXT: vcattn.release %{{.*}}[%[[FILLER]]]
// KERNEL-NEXT: }
// KERNEL: vcattn.merge
// KERNEL: vcattn.normalize_and_store
// KERNEL-LABEL: gpu.module @vcattn_attention_e4m3
// KERNEL: vcattn.normalize_and_store {{.*}} lse %{{.*}} {layout = #vcattn.layout<bthd>}
// KERNEL-NOT: gpu.module
// KERNEL: {{^}}// -----

// -----

#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4,
                             consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = false,
                             promotion = 32>

// Sizes that may be zero: no keys give zeros and -inf, no queries nothing.
// CHECK-LABEL: func @dynamic
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[INFINITY:.*]] = arith.constant 0xFF800000 : f32
// CHECK: scf.if
// CHECK: scf.forall
// CHECK: memref.store %[[ZERO]], %{{.*}} : memref<1x2x?x128xf32>
// CHECK: scf.forall
// CHECK: memref.store %[[INFINITY]], %{{.*}} : memref<1x2x?xf32>
// CHECK: } else {
// CHECK: scf.if
// CHECK: vcattn.encode_tensor_map
// CHECK: arith.minui %{{.*}}, %c132
// CHECK: gpu.launch_func
// KERNEL-LABEL: gpu.func @attention_i8
// KERNEL-NOT: vcattn.take_turn
func.func @dynamic(%q: memref<1x2x?x128xi8>, %qs: memref<1x2x?xf32>, %k: memref<1x2x?x128xi8>,
                   %ks: memref<1x2x?x4xf32>, %v: memref<1x2x?x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>,
                   %m: memref<1x2x?x16x2x8x8xf16>, %out: memref<1x2x?x128xf32>, %lse: memref<1x2x?xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x2x?x128xi8>, memref<1x2x?xf32>, memref<1x2x?x128xi8>,
          memref<1x2x?x4xf32>, memref<1x2x?x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x?x16x2x8x8xf16>)
      outs(%out, %lse : memref<1x2x?x128xf32>, memref<1x2x?xf32>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">, schedule = #schedule}
  return
}

// -----

#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4,
                             consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = true,
                             promotion = 16>

// Shards of 4096 keys: a unit of work starts at its shard's first tile, has 64
// tiles or what is left, and writes the batch entry of its shard.
// CHECK-LABEL: func @split
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 24 : index
// CHECK-DAG: memref.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3], [4]] : memref<3x2x4x16x128xf32> into memref<6x4x16x128xf32>
// CHECK-DAG: memref.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] : memref<3x2x4x16xf32> into memref<6x4x16xf32>
// CHECK: gpu.launch_func {{.*}} blocks in (%[[BLOCKS]],
// KERNEL-LABEL: gpu.func @attention_i8
// KERNEL: vcattn.warp_specialize
// KERNEL: scf.for
// KERNEL: %[[ROW:.*]] = arith.divui %{{.*}} : i32
// KERNEL: arith.remui %[[ROW]], %[[HEADS:.*]] : i32
// KERNEL: %[[OUT_BATCH:.*]] = arith.divui %[[ROW]], %[[HEADS]] : i32
// KERNEL: %[[BATCH:.*]] = arith.remui %[[OUT_BATCH]], %[[BATCHES:.*]] : i32
// KERNEL: %[[SHARD:.*]] = arith.divui %[[OUT_BATCH]], %[[BATCHES]] : i32
// KERNEL: %[[FIRST:.*]] = arith.muli %[[SHARD]], %c64_i32
// KERNEL: %[[REST:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// KERNEL: %[[TILES:.*]] = arith.minsi %[[REST]], %c64_i32
// KERNEL: scf.for %[[J:.*]] = %c0_i32 to %[[TILES]]
// KERNEL: arith.addi %[[FIRST]], %[[J]] : i32
// KERNEL: vcattn.normalize_and_store {{.*}}[%[[B:.*]], %{{.*}}] to %{{.*}}[%[[OB:.*]], %{{.*}}, %{{.*}}] lse
func.func @split(%q: memref<2x4x16x128xi8>, %qs: memref<2x4x16xf32>, %k: memref<2x4x10000x128xi8>,
                 %ks: memref<2x4x79x4xf32>, %v: memref<2x4x79x136x128xf8E4M3FN>, %vs: memref<2x4x128xf32>,
                 %m: memref<2x4x5x16x2x8x8xf16>, %out: memref<3x2x4x16x128xf32>, %lse: memref<3x2x4x16xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<2x4x16x128xi8>, memref<2x4x16xf32>, memref<2x4x10000x128xi8>,
          memref<2x4x79x4xf32>, memref<2x4x79x136x128xf8E4M3FN>, memref<2x4x128xf32>, memref<2x4x5x16x2x8x8xf16>)
      outs(%out, %lse : memref<3x2x4x16x128xf32>, memref<3x2x4x16xf32>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, split_keys = 4096 : i64, target = #vcattn.target<"sm_90a">,
       schedule = #schedule}
  return
}

// -----

#schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 4,
                             consumers = 3, producer_registers = 24,
                             consumer_registers = 160, ping_pong = false,
                             promotion = 32>

// Where a level costs an exponential, the largest score tells beforehand whether
// levels will be of use; they are made behind the branch, under the product of
// values. Masked tiles are no exception, as long as rows have the same keys.
// CHECK-LABEL: func @hybrid
// CHECK: gpu.launch_func @vcattn_attention_i8::@attention_i8
// KERNEL-LABEL: gpu.func @attention_i8
// KERNEL: } consumers 3 registers 160 {
// KERNEL: vcattn.raise_maximum <hybrid>
// KERNEL: vcattn.cast_scores <hybrid> {{.*}} saturate
// KERNEL: vcattn.pack_probabilities <hybrid>
// KERNEL: scf.for
// KERNEL: vcattn.test_tile
// KERNEL-NOT: vcattn.take_turn
// KERNEL: %[[RUNNING:.*]] = vcattn.mma_values
// KERNEL-NEXT: vcattn.mma_commit
// KERNEL-NEXT: vcattn.mma_wait {{.*}} outstanding 1
// KERNEL-NEXT: vcattn.release
// KERNEL-NEXT: %[[OVERFLOW:.*]] = vcattn.check_maximum <hybrid>
// KERNEL-NEXT: scf.if %[[OVERFLOW]]
// KERNEL-NEXT: vcattn.raise_maximum <hybrid>
// KERNEL-NEXT: vcattn.mma_wait %[[RUNNING]] outstanding 0
// KERNEL: vcattn.cast_scores <hybrid> {{.*}} saturate
// KERNEL: } else {
// KERNEL-NEXT: %[[LEVELS:.*]], %{{.*}} = vcattn.cast_scores <hybrid>
// KERNEL-NEXT: vcattn.mma_wait %[[RUNNING]] outstanding 0
// KERNEL-NEXT: vcattn.pack_probabilities <hybrid> %[[LEVELS]]
// KERNEL-COUNT-3: vcattn.check_maximum <hybrid>
// KERNEL: vcattn.promote
// KERNEL: vcattn.check_maximum <hybrid> {{.*}} valid
// KERNEL: vcattn.cast_scores <hybrid> {{.*}} valid
// The log-sum-exp counts from what this cast's codes stand for.
// KERNEL: vcattn.normalize_and_store {{.*}} {cast = #vcattn.cast<hybrid>}
// The exact cast alike: another kernel.
// CHECK-LABEL: func @exact
// CHECK: gpu.launch_func @vcattn_attention_i8_0::@attention_i8
// KERNEL-LABEL: gpu.func @attention_i8
// KERNEL-COUNT-5: vcattn.check_maximum <exact>
// KERNEL-NOT: vcattn.check_maximum
// KERNEL: vcattn.cast_scores <exact>
func.func @hybrid(%q: memref<1x4x300x128xi8>, %qs: memref<1x4x300xf32>, %k: memref<1x2x200x128xi8>,
                  %ks: memref<1x2x2x4xf32>, %v: memref<1x2x2x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>,
                  %m: memref<1x2x1x16x2x8x8xf16>, %out: memref<1x4x300x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x300x128xi8>, memref<1x4x300xf32>, memref<1x2x200x128xi8>,
          memref<1x2x2x4xf32>, memref<1x2x2x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      outs(%out : memref<1x4x300x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<hybrid>, target = #vcattn.target<"sm_90a">, schedule = #schedule}
  return
}

func.func @exact(%q: memref<1x4x300x128xi8>, %qs: memref<1x4x300xf32>, %k: memref<1x2x200x128xi8>,
                 %ks: memref<1x2x2x4xf32>, %v: memref<1x2x2x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>,
                 %m: memref<1x2x1x16x2x8x8xf16>, %out: memref<1x4x300x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x300x128xi8>, memref<1x4x300xf32>, memref<1x2x200x128xi8>,
          memref<1x2x2x4xf32>, memref<1x2x2x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      outs(%out : memref<1x4x300x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<exact>, target = #vcattn.target<"sm_90a">, schedule = #schedule}
  return
}
