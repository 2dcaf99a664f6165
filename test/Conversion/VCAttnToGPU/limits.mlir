// What limits the keys that a query sees: only a kernel that has it pays for it.

// RUN: vcattn-opt %s --convert-vcattn-to-gpu --split-input-file | FileCheck %s

#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = true, promotion = 16>

// Tiles before and after those that all queries see wholly are stepped through
// one by one; between, nothing is masked. Late query tiles come first.
// CHECK-LABEL: gpu.func @attention_i8
// CHECK-NOT: valid
// CHECK: vcattn.warp_specialize
// The first tile.
// CHECK: vcattn.keep_keys {{.*}} left -1 right 0
// CHECK: vcattn.raise_maximum <expcast> {{.*}} keep
// Tiles before.
// CHECK: scf.for
// CHECK: vcattn.keep_keys
// CHECK: vcattn.test_tile
// CHECK: %[[LEVELS:.*]], %[[OVERFLOW:.*]] = vcattn.cast_scores <expcast> {{.*}} keep
// CHECK-NEXT: scf.if %[[OVERFLOW]]
// CHECK: vcattn.raise_maximum <expcast> {{.*}} keep
// CHECK: vcattn.cast_scores <expcast> {{.*}} keep {{.*}} saturate
// CHECK: } else {
// CHECK-NEXT: vcattn.mma_wait {{.*}} outstanding 0
// CHECK-NEXT: vcattn.pack_probabilities <expcast> %[[LEVELS]]
// CHECK: vcattn.take_row_sums
// CHECK: vcattn.mma_means
// CHECK: vcattn.promote
// Whole rounds of four tiles: the others are stepped through one by one.
// CHECK: scf.for
// CHECK-NOT: keep
// CHECK: vcattn.cast_scores <expcast>
// CHECK-NOT: keep
// CHECK: vcattn.raise_maximum <expcast>
// CHECK-NOT: keep
// CHECK: vcattn.cast_scores <expcast> {{.*}} saturate
// CHECK-NOT: keep
// CHECK-COUNT-3: vcattn.mma_values
// CHECK-NOT: keep
// CHECK: vcattn.take_row_sums
// CHECK: vcattn.mma_means
// CHECK: vcattn.promote
// Tiles after.
// CHECK: scf.for
// CHECK: vcattn.keep_keys
// CHECK: vcattn.cast_scores <expcast> {{.*}} keep
// The last round is filled up, with tiles that are let go of.
// CHECK: scf.for
// CHECK-NEXT: vcattn.wait_tile
// CHECK-NEXT: vcattn.release
// CHECK-NEXT: vcattn.wait_tile
// CHECK-NEXT: vcattn.release
// CHECK: vcattn.merge
// CHECK: vcattn.normalize_and_store {{.*}} {masked}
func.func @causal(%q: memref<1x4x?x128xi8>, %qs: memref<1x4x?xf32>, %k: memref<1x4x?x128xi8>,
    %ks: memref<1x4x?x4xf32>, %v: memref<1x4x?x136x128xf8E4M3FN>, %vs: memref<1x4x128xf32>, %m: memref<1x4x?x16x2x8x8xf16>,
    %out: memref<1x4x?x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x?x128xi8>, memref<1x4x?xf32>, memref<1x4x?x128xi8>, memref<1x4x?x4xf32>,
          memref<1x4x?x136x128xf8E4M3FN>, memref<1x4x128xf32>, memref<1x4x?x16x2x8x8xf16>)
      outs(%out : memref<1x4x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">, schedule = #schedule, causal = #vcattn.causality<bottom_right>}
  return
}

// -----

#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = true, promotion = 16>

// CHECK-LABEL: gpu.func @attention_i8
// CHECK-SAME: memref<?xi32>
// CHECK: vcattn.keep_keys {{.*}} left 64 right -1
func.func @window(%q: memref<1x4x?x128xi8>, %qs: memref<1x4x?xf32>, %k: memref<1x4x?x128xi8>,
    %ks: memref<1x4x?x4xf32>, %v: memref<1x4x?x136x128xf8E4M3FN>, %vs: memref<1x4x128xf32>, %m: memref<1x4x?x16x2x8x8xf16>,
    %out: memref<1x4x?x128xbf16>, %n: memref<1xi32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x?x128xi8>, memref<1x4x?xf32>, memref<1x4x?x128xi8>, memref<1x4x?x4xf32>,
          memref<1x4x?x136x128xf8E4M3FN>, memref<1x4x128xf32>, memref<1x4x?x16x2x8x8xf16>)
      lengths(%n : memref<1xi32>) outs(%out : memref<1x4x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">, schedule = #schedule, window = #vcattn.window<left = 64>}
  return
}

// -----

#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = true, promotion = 16>

// A mask may be about any tile: there are no others. What it adds is read again
// where a maximum is raised, not kept.
// CHECK-LABEL: func.func @mask
// CHECK: memref.extract_strided_metadata
// CHECK-COUNT-4: arith.select
// CHECK: memref.reinterpret_cast {{.*}} to memref<?x?x?x?xf16, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-LABEL: gpu.func @attention_i8
// CHECK: vcattn.load_mask
// CHECK: scf.for
// CHECK: vcattn.load_mask
// CHECK: scf.if
// CHECK: vcattn.load_mask
// CHECK: vcattn.raise_maximum {{.*}} keep {{.*}} added
// CHECK: vcattn.cast_scores <expcast> {{.*}} keep {{.*}} added {{.*}} saturate
// CHECK: vcattn.normalize_and_store
func.func @mask(%q: memref<1x4x?x128xi8>, %qs: memref<1x4x?xf32>, %k: memref<1x4x?x128xi8>,
    %ks: memref<1x4x?x4xf32>, %v: memref<1x4x?x136x128xf8E4M3FN>, %vs: memref<1x4x128xf32>, %m: memref<1x4x?x16x2x8x8xf16>,
    %out: memref<1x4x?x128xbf16>, %x: memref<1x?x1x?xf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x?x128xi8>, memref<1x4x?xf32>, memref<1x4x?x128xi8>, memref<1x4x?x4xf32>,
          memref<1x4x?x136x128xf8E4M3FN>, memref<1x4x128xf32>, memref<1x4x?x16x2x8x8xf16>)
      mask(%x : memref<1x?x1x?xf16>) outs(%out : memref<1x4x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">, schedule = #schedule}
  return
}

// -----

#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = true, promotion = 16>

// Producer and consumers skip the same tiles, and start with the first that
// there is. A block is two tiles.
// CHECK-LABEL: gpu.func @attention_i8
// CHECK: vcattn.warp_specialize
// CHECK: scf.while
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: %[[BLOCK:.*]] = arith.divui %{{.*}}, %[[TWO]] : i32
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[BLOCK]] : i32 to index
// CHECK: memref.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %[[INDEX]]] : memref<?x?x?x?xi1, strided<[?, ?, ?, ?], offset: ?>>
// CHECK: scf.for
// CHECK: scf.if
// CHECK: vcattn.load_tile
// CHECK: } consumers
// CHECK: scf.while
// CHECK: scf.for
// CHECK: scf.if
// CHECK: vcattn.mma_scores
func.func @blocks(%q: memref<1x4x?x128xi8>, %qs: memref<1x4x?xf32>, %k: memref<1x4x?x128xi8>,
    %ks: memref<1x4x?x4xf32>, %v: memref<1x4x?x136x128xf8E4M3FN>, %vs: memref<1x4x128xf32>, %m: memref<1x4x?x16x2x8x8xf16>,
    %out: memref<1x4x?x128xbf16>, %x: memref<1x1x?x?xi1>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x?x128xi8>, memref<1x4x?xf32>, memref<1x4x?x128xi8>, memref<1x4x?x4xf32>,
          memref<1x4x?x136x128xf8E4M3FN>, memref<1x4x128xf32>, memref<1x4x?x16x2x8x8xf16>)
      blocks(%x : memref<1x1x?x?xi1>) outs(%out : memref<1x4x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">, schedule = #schedule}
  return
}

// -----

#schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 4, consumers = 3, producer_registers = 24,
                             consumer_registers = 160, ping_pong = false, promotion = 32>

// The largest score of those that count tells whether to raise a maximum, before
// any exponential is made.
// CHECK-LABEL: gpu.func @attention_i8
// The first tile, and tiles before.
// CHECK: vcattn.raise_maximum <hybrid> {{.*}} keep
// CHECK: scf.for
// CHECK: vcattn.keep_keys
// CHECK: vcattn.check_maximum <hybrid> {{.*}} keep
// CHECK-NEXT: scf.if
// CHECK: vcattn.raise_maximum <hybrid> {{.*}} keep
// CHECK: } else {
// CHECK: vcattn.cast_scores <hybrid> {{.*}} keep
// Whole rounds.
// CHECK: scf.for
// CHECK-NOT: keep
// CHECK-COUNT-4: vcattn.check_maximum <hybrid>
// CHECK-NOT: keep
// CHECK: vcattn.promote
// Tiles after.
// CHECK: scf.for
// CHECK: vcattn.keep_keys
// CHECK: vcattn.check_maximum <hybrid> {{.*}} keep
// CHECK: vcattn.cast_scores <hybrid> {{.*}} keep
// CHECK-NOT: vcattn.check_maximum
// CHECK: vcattn.normalize_and_store {{.*}} {cast = #vcattn.cast<hybrid>, masked}
func.func @hybrid(%q: memref<1x4x?x128xi8>, %qs: memref<1x4x?xf32>, %k: memref<1x4x?x128xi8>,
    %ks: memref<1x4x?x4xf32>, %v: memref<1x4x?x136x128xf8E4M3FN>, %vs: memref<1x4x128xf32>, %m: memref<1x4x?x16x2x8x8xf16>,
    %out: memref<1x4x?x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x?x128xi8>, memref<1x4x?xf32>, memref<1x4x?x128xi8>, memref<1x4x?x4xf32>,
          memref<1x4x?x136x128xf8E4M3FN>, memref<1x4x128xf32>, memref<1x4x?x16x2x8x8xf16>)
      outs(%out : memref<1x4x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<hybrid>, target = #vcattn.target<"sm_90a">, schedule = #schedule, causal = #vcattn.causality<bottom_right>}
  return
}
