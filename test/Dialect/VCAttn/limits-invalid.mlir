// RUN: vcattn-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a window's bound is -1, for none, or in [0, 2^31), got -2}}
func.func private @x() attributes {test.attr = #vcattn.window<left = -2>}

// -----

// expected-error @+1 {{a window's bound is -1, for none, or in [0, 2^31), got 2147483648}}
func.func private @x() attributes {test.attr = #vcattn.window<left = 1, right = 2147483648>}

// -----

func.func @lengths(%q: tensor<2x4x200x64xf32>, %k: tensor<2x2x300x64xf32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'vcattn.attention' op lengths has shape 4, expected 2}}
  %0 = vcattn.attention %q, %k, %k lengths %x : tensor<4xi32> {scale = 1.0 : f64}
      : tensor<2x4x200x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x64xf32> -> tensor<2x4x200x64xf32>
  return
}

// -----

func.func @block_heads(%q: tensor<2x4x200x64xf32>, %k: tensor<2x2x300x64xf32>, %x: tensor<2x2x2x3xi1>) {
  // expected-error @+1 {{'vcattn.attention' op block mask dimension 1 is 2, expected 1 or 4}}
  %0 = vcattn.attention %q, %k, %k blocks %x : tensor<2x2x2x3xi1> {scale = 1.0 : f64}
      : tensor<2x4x200x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x64xf32> -> tensor<2x4x200x64xf32>
  return
}

// -----

func.func @block_batch(%q: tensor<2x4x200x64xf32>, %k: tensor<2x2x300x64xf32>, %x: tensor<3x1x2x3xi1>) {
  // expected-error @+1 {{'vcattn.attention' op block mask dimension 0 is 3, expected 1 or 2}}
  %0 = vcattn.attention %q, %k, %k blocks %x : tensor<3x1x2x3xi1> {scale = 1.0 : f64}
      : tensor<2x4x200x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x64xf32> -> tensor<2x4x200x64xf32>
  return
}

// -----

func.func @block_queries(%q: tensor<2x4x200x64xf32>, %k: tensor<2x2x300x64xf32>, %x: tensor<1x1x1x3xi1>) {
  // expected-error @+1 {{'vcattn.attention' op block mask dimension 2 is 1, expected 2}}
  %0 = vcattn.attention %q, %k, %k blocks %x : tensor<1x1x1x3xi1> {scale = 1.0 : f64}
      : tensor<2x4x200x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x64xf32> -> tensor<2x4x200x64xf32>
  return
}

// -----

func.func @block_keys(%q: tensor<2x4x200x64xf32>, %k: tensor<2x2x300x64xf32>, %x: tensor<1x1x2x300xi1>) {
  // expected-error @+1 {{'vcattn.attention' op block mask dimension 3 is 300, expected 3}}
  %0 = vcattn.attention %q, %k, %k blocks %x : tensor<1x1x2x300xi1> {scale = 1.0 : f64}
      : tensor<2x4x200x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x64xf32> -> tensor<2x4x200x64xf32>
  return
}

// -----

func.func @center(%x: tensor<2x2x300x64xf32>, %n: tensor<1xi32>) {
  // expected-error @+1 {{'vcattn.center_keys' op lengths has shape 1, expected 2}}
  %0:2 = vcattn.center_keys %x, %n {} : (tensor<2x2x300x64xf32>, tensor<1xi32>) -> (tensor<2x2x300x64xf32>, tensor<2x2x64xf32>)
  return
}

// -----

func.func @cluster(%x: tensor<2x2x300x64xf32>, %n: tensor<1xi32>) {
  // expected-error @+1 {{'vcattn.cluster' op lengths has shape 1, expected 2}}
  %0:2 = vcattn.cluster %x, %n {clusters = 4 : i64, iterations = 2 : i64} : (tensor<2x2x300x64xf32>, tensor<1xi32>) -> (tensor<2x2x300xi32>, tensor<2x2x4x64xf32>)
  return
}

// -----

func.func @residual(%x: tensor<2x2x300x64xf32>, %n: tensor<1xi32>) {
  // expected-error @+1 {{'vcattn.block_residual' op lengths has shape 1, expected 2}}
  %0:2 = vcattn.block_residual %x, %n {} : (tensor<2x2x300x64xf32>, tensor<1xi32>) -> (tensor<2x2x300x64xf32>, tensor<2x2x3x64xf32>)
  return
}

// -----

func.func @quantize(%x: tensor<2x2x300x64xf32>, %n: tensor<1xi32>) {
  // expected-error @+1 {{'vcattn.quantize' op lengths has shape 1, expected 2}}
  %0:2 = vcattn.quantize %x lengths %n {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>} : (tensor<2x2x300x64xf32>, tensor<1xi32>) -> (tensor<2x2x300x64xi8>, tensor<2x2x300xf32>)
  return
}

// -----

func.func @packed_mask_rank(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>, %m: memref<1x2x1x16x2x8x8xf16>, %o: memref<1x8x200x128xbf16>,
    %x: memref<200x300xf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op mask must have rank 4, got 'memref<200x300xf16>'}}
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      mask(%x : memref<200x300xf16>) outs(%o : memref<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @packed_lengths_rank(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>, %m: memref<1x2x1x16x2x8x8xf16>, %o: memref<1x8x200x128xbf16>,
    %x: memref<1x1xi32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op lengths must have rank 1, got 'memref<1x1xi32>'}}
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      lengths(%x : memref<1x1xi32>) outs(%o : memref<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @packed_blocks_rank(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>, %m: memref<1x2x1x16x2x8x8xf16>, %o: memref<1x8x200x128xbf16>,
    %x: memref<2x3xi1>) {
  // expected-error @+1 {{'vcattn.packed_attention' op block mask must have rank 4, got 'memref<2x3xi1>'}}
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      blocks(%x : memref<2x3xi1>) outs(%o : memref<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

func.func @packed_mask(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>, %m: memref<1x2x1x16x2x8x8xf16>, %o: memref<1x8x200x128xbf16>,
    %x: memref<1x1x200x200xf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op mask dimension 3 is 200, expected 1 or 300}}
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      mask(%x : memref<1x1x200x200xf16>) outs(%o : memref<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

// -----

// expected-error @+1 {{a fragment of keep holds i1, got 'i8'}}
func.func private @keep(!vcattn.fragment<64x128xi8, keep>)

// -----

// expected-error @+1 {{a fragment of added holds f32, got 'f16'}}
func.func private @added(!vcattn.fragment<64x128xf16, added>)

// -----

func.func @float_mask(%k: !vcattn.fragment<64x128xi1, keep>, %m: memref<?x?x?x?xf16>, %i: index) {
  // expected-error @+1 {{of 'memref<?x?x?x?xf16>' adds something}}
  %0 = vcattn.load_mask %k, %m[%i, %i, %i, %i] : !vcattn.fragment<64x128xi1, keep>, memref<?x?x?x?xf16>
  return
}

// -----

func.func @bool_mask(%k: !vcattn.fragment<64x128xi1, keep>, %m: memref<?x?x?x?xi1>, %i: index) {
  // expected-error @+1 {{of 'memref<?x?x?x?xi1>' adds nothing}}
  %0, %1 = vcattn.load_mask %k, %m[%i, %i, %i, %i] : !vcattn.fragment<64x128xi1, keep>, memref<?x?x?x?xi1> -> !vcattn.fragment<64x128xf32, added>
  return
}

// -----

func.func @shape(%k: !vcattn.fragment<64x128xi1, keep>, %m: memref<?x?x?x?xf16>, %i: index) {
  // expected-error @+1 {{adds to as many scores as it keeps}}
  %0, %1 = vcattn.load_mask %k, %m[%i, %i, %i, %i] : !vcattn.fragment<64x128xi1, keep>, memref<?x?x?x?xf16> -> !vcattn.fragment<64x64xf32, added>
  return
}

// -----

func.func @varlen_batch(%q: tensor<2x4x200x64xf32>, %k: tensor<2x2x300x64xf32>, %cq: tensor<4xi32>, %ck: tensor<4xi32>) {
  // expected-error @+1 {{'vcattn.varlen_attention' op sequences are packed in a batch of 1, got 2}}
  %0 = vcattn.varlen_attention %q, %k, %k sequences %cq, %ck {scale = 1.0 : f64}
      : (tensor<2x4x200x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x64xf32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x4x200x64xf32>
  return
}

// -----

func.func @varlen_boundaries(%q: tensor<1x4x200x64xf32>, %k: tensor<1x2x300x64xf32>, %cq: tensor<4xi32>, %ck: tensor<5xi32>) {
  // expected-error @+1 {{'vcattn.varlen_attention' op has 4 boundaries of queries and 5 of keys}}
  %0 = vcattn.varlen_attention %q, %k, %k sequences %cq, %ck {scale = 1.0 : f64}
      : (tensor<1x4x200x64xf32>, tensor<1x2x300x64xf32>, tensor<1x2x300x64xf32>, tensor<4xi32>, tensor<5xi32>) -> tensor<1x4x200x64xf32>
  return
}

// -----

func.func @varlen_none(%q: tensor<1x4x200x64xf32>, %k: tensor<1x2x300x64xf32>, %cq: tensor<0xi32>, %ck: tensor<0xi32>) {
  // expected-error @+1 {{'vcattn.varlen_attention' op needs a boundary at least, where the last sequence ends}}
  %0 = vcattn.varlen_attention %q, %k, %k sequences %cq, %ck {scale = 1.0 : f64}
      : (tensor<1x4x200x64xf32>, tensor<1x2x300x64xf32>, tensor<1x2x300x64xf32>, tensor<0xi32>, tensor<0xi32>) -> tensor<1x4x200x64xf32>
  return
}

// -----

func.func @varlen_dims(%q: tensor<1x4x200x32xf32>, %k: tensor<1x2x300x64xf32>, %cq: tensor<4xi32>, %ck: tensor<4xi32>) {
  // expected-error @+1 {{'vcattn.varlen_attention' op head dimensions of query (32) and key (64) differ}}
  %0 = vcattn.varlen_attention %q, %k, %k sequences %cq, %ck {scale = 1.0 : f64}
      : (tensor<1x4x200x32xf32>, tensor<1x2x300x64xf32>, tensor<1x2x300x64xf32>, tensor<4xi32>, tensor<4xi32>) -> tensor<1x4x200x32xf32>
  return
}
