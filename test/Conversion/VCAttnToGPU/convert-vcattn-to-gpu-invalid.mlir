// RUN: vcattn-opt %s --convert-vcattn-to-gpu --split-input-file --verify-diagnostics

func.func @tensors(%q: tensor<1x1x128x128xi8>, %qs: tensor<1x1x128xf32>, %ks: tensor<1x1x1x4xf32>,
    %v: tensor<1x1x1x136x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>, %m: tensor<1x1x1x16x2x8x8xf16>, %out: tensor<1x1x128x128xbf16>) {
  // expected-error@+1 {{must be bufferized before it becomes a kernel}}
  %r = vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      tensor<1x1x128x128xi8>, tensor<1x1x128xf32>, tensor<1x1x128x128xi8>, tensor<1x1x1x4xf32>,
      tensor<1x1x1x136x128xf8E4M3FN>, tensor<1x1x128xf32>, tensor<1x1x1x16x2x8x8xf16>)
      outs(%out : tensor<1x1x128x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>} -> tensor<1x1x128x128xbf16>
  return
}

// -----

func.func @target(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16>, %out: memref<1x1x128x128xbf16>) {
  // expected-error@+1 {{has no kernel for sm_100a}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16>)
      outs(%out : memref<1x1x128x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_100a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @tiles(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16>, %out: memref<1x1x128x128xbf16>) {
  // expected-error@+1 {{has a kernel for tiles of 64 queries per consumer, not 64 for 2 consumers}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16>)
      outs(%out : memref<1x1x128x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 64, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = false, promotion = 32>}
  return
}

// -----

func.func @scale(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16>, %out: memref<1x1x128x128xbf16>) {
  // expected-error@+1 {{needs a scale that is finite and not negative}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16>)
      outs(%out : memref<1x1x128x128xbf16>)
      {scale = -1.0 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @means(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16, strided<[?, ?, ?, ?, ?, ?, 1], offset: ?>>, %out: memref<1x1x128x128xbf16>) {
  // expected-error@+1 {{needs groups of means to be contiguous}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16, strided<[?, ?, ?, ?, ?, ?, 1], offset: ?>>)
      outs(%out : memref<1x1x128x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

// Scales are found by counting tiles.
func.func @key_scales(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32, strided<[?, ?, ?, 1], offset: ?>>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16>, %out: memref<1x1x128x128xbf16>) {
  // expected-error@+1 {{needs a head's key scales to be contiguous, got 'memref<1x1x1x4xf32, strided<[?, ?, ?, 1], offset: ?>>'}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32, strided<[?, ?, ?, 1], offset: ?>>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16>)
      outs(%out : memref<1x1x128x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @key_scale_groups(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32, strided<[8, 8, 4, 2]>>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16>, %out: memref<1x1x128x128xbf16>) {
  // expected-error@+1 {{needs a head's key scales to be contiguous}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32, strided<[8, 8, 4, 2]>>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16>)
      outs(%out : memref<1x1x128x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @shards(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16>,
    %out: memref<1x1x1x128x128xf32, strided<[?, ?, ?, ?, 1]>>) {
  // expected-error@+1 {{needs the outputs of shards of keys to be contiguous, got 'memref<1x1x1x128x128xf32, strided<[?, ?, ?, ?, 1]>>'}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16>)
      outs(%out : memref<1x1x1x128x128xf32, strided<[?, ?, ?, ?, 1]>>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, split_keys = 2048 : i64, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @block_tiles(%q: memref<1x1x128x128xi8>, %qs: memref<1x1x128xf32>, %ks: memref<1x1x1x4xf32>,
    %v: memref<1x1x1x136x128xf8E4M3FN>, %vs: memref<1x1x128xf32>, %m: memref<1x1x1x16x2x8x8xf16>, %out: memref<1x1x128x128xbf16>,
    %blocks: memref<1x1x1x1xi1>) {
  // expected-error@+1 {{has a block mask, of tiles of 128 queries, and a schedule with tiles of 64}}
  vcattn.packed_attention ins(%q, %qs, %q, %ks, %v, %vs, %m :
      memref<1x1x128x128xi8>, memref<1x1x128xf32>, memref<1x1x128x128xi8>, memref<1x1x1x4xf32>,
      memref<1x1x1x136x128xf8E4M3FN>, memref<1x1x128xf32>, memref<1x1x1x16x2x8x8xf16>)
      blocks(%blocks : memref<1x1x1x1xi1>) outs(%out : memref<1x1x128x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 64, tile_k = 64, stages = 2, consumers = 1,
         producer_registers = 24, consumer_registers = 240, ping_pong = false, promotion = 32>}
  return
}
