// RUN: vcattn-opt %s -split-input-file -verify-diagnostics

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @too_many_outputs(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>, %l: tensor<1x8x200xf32>, %x: tensor<1x8x200xf32>, %y: tensor<2x8xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op takes an output and, if wanted, a log-sum-exp and room for totals, got 4}}
  %0:4 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o, %l, %x, %y : tensor<1x8x200x128xbf16>, tensor<1x8x200xf32>, tensor<1x8x200xf32>, tensor<2x8xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>, tensor<1x8x200xf32>, tensor<1x8x200xf32>, tensor<2x8xf32>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @query_rank(
    %q: tensor<8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op query must have rank 4, got 'tensor<8x200x128xi8>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @query_scale_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op query scale must have rank 3, got 'tensor<1x8xf32>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @key_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op key must have rank 4, got 'tensor<2x300x128xi8>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @key_scale_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op key scale must have rank 4, got 'tensor<1x2x3xf32>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @value_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x300x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op value must have rank 5, got 'tensor<1x2x300x128xf8E4M3FN>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @value_scale_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op value scale must have rank 3, got 'tensor<1x2xf32>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @means_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x3x128xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op means must have rank 7, got 'tensor<1x2x3x128xf16>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x3x128xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @output_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op output must have rank 4, got 'tensor<8x200x128xbf16>'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @lse_type(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>, %l: tensor<1x8x200xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op log-sum-exp must be f32 of rank 3 and room for totals f32 of rank 2, in this order, got 'tensor<1x8x200xbf16>'}}
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o, %l : tensor<1x8x200x128xbf16>, tensor<1x8x200xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>, tensor<1x8x200xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @lse_rank(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>, %l: tensor<1x8x200x1xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op log-sum-exp must be f32 of rank 3 and room for totals f32 of rank 2, in this order, got 'tensor<1x8x200x1xf32>'}}
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o, %l : tensor<1x8x200x128xbf16>, tensor<1x8x200x1xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>, tensor<1x8x200x1xf32>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @formats(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xf8E4M3FN>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op query and key must be codes of one format, got 'i8' and 'f8E4M3FN'}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @head_dims(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x64xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op head dimensions of query (128) and key (64) differ}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x64xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @heads(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x3x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op query heads (8) must be a multiple of key heads (3)}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x3x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @query_scale_shape(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x200x8xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op query scale has shape 1x200x8, expected 1x8x200}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x200x8xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @key_scale_shape(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x4x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op key scale has shape 1x2x4x4, expected 1x2x3x4}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x4x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @value_shape(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x2x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op value has shape 1x2x2x136x128, expected 1x2x3x136x128}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x2x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @value_scale_shape(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x64xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op value scale has shape 1x2x64, expected 1x2x128}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x64xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @means_shape(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x2x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op means has shape 1x2x2x16x2x8x8, expected 1x2x1x16x2x8x8}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x2x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @output_shape(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x200x8x128xbf16>) {
  // expected-error @+1 {{'vcattn.packed_attention' op output has shape 1x200x8x128, expected 1x8x200x128}}
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x200x8x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x200x8x128xbf16>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @lse_shape(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>, %l: tensor<1x200x8xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op log-sum-exp has shape 1x200x8, expected 1x8x200}}
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o, %l : tensor<1x8x200x128xbf16>, tensor<1x200x8xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>, tensor<1x200x8xf32>
  return
}

// -----

func.func @pack_means_dynamic(%m: tensor<1x2x3x?xf32>, %s: tensor<1x2x?xf32>) {
  // expected-error @+1 {{'vcattn.pack_means' op value dimension must be static, got 'tensor<1x2x3x?xf32>'}}
  %0 = vcattn.pack_means %m, %s
      : (tensor<1x2x3x?xf32>, tensor<1x2x?xf32>) -> tensor<1x2x1x?x2x8x8xf16>
  return
}

// -----

func.func @pack_means_scale(%m: tensor<1x2x3x16xf32>, %s: tensor<1x4x16xf32>) {
  // expected-error @+1 {{'vcattn.pack_means' op value scale has shape 1x4x16, expected 1x2x16}}
  %0 = vcattn.pack_means %m, %s
      : (tensor<1x2x3x16xf32>, tensor<1x4x16xf32>) -> tensor<1x2x1x2x2x8x8xf16>
  return
}

// -----

func.func @pack_values_type(%x: tensor<1x2x3x16xf8E4M3FN>) {
  // expected-error @+2 {{'vcattn.pack_values' op inferred type(s) 'tensor<1x2x1x24x128xf8E4M3FN>' are incompatible with return type(s) of operation 'tensor<1x2x1x16x128xf8E4M3FN>'}}
  // expected-error @+1 {{'vcattn.pack_values' op failed to infer returned types}}
  %0 = vcattn.pack_values %x : (tensor<1x2x3x16xf8E4M3FN>) -> tensor<1x2x1x16x128xf8E4M3FN>
  return
}

// -----

func.func @tensor_map_rank(%x: memref<i8>) {
  // expected-error @+1 {{'vcattn.encode_tensor_map' op a tensor map has 1 to 5 dimensions, got 'memref<i8>'}}
  %0 = vcattn.encode_tensor_map %x box [] : memref<i8>
  return
}

// -----

func.func @tensor_map_box(%x: memref<8x8xi8>) {
  // expected-error @+1 {{'vcattn.encode_tensor_map' op box has 1 sizes for a memref of rank 2}}
  %0 = vcattn.encode_tensor_map %x box [8] : memref<8x8xi8>
  return
}

// -----

func.func @tensor_map_box_size(%x: memref<8x8xi8>) {
  // expected-error @+1 {{'vcattn.encode_tensor_map' op box sizes must be in [1, 256], got 257}}
  %0 = vcattn.encode_tensor_map %x box [257, 8] : memref<8x8xi8>
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 16>

func.func @totals_missing(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x264x128xf8E4M3FN>, %vs: memref<1x2x256xf32>, %m: memref<1x2x1x32x2x8x8xf16>, %o: memref<1x8x200x256xbf16>, %x: memref<132x32768xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op needs room for totals as an output}}
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x264x128xf8E4M3FN>, memref<1x2x256xf32>, memref<1x2x1x32x2x8x8xf16>)
      outs(%o : memref<1x8x200x256xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule}
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 16>

func.func @totals_unneeded(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>, %m: memref<1x2x1x16x2x8x8xf16>, %o: memref<1x8x200x128xbf16>, %x: memref<132x16384xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op keeps totals in shared memory, no output is for them}}
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      outs(%o, %x : memref<1x8x200x128xbf16>, memref<132x16384xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule}
  return
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 16>

func.func @totals_shape(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x264x128xf8E4M3FN>, %vs: memref<1x2x256xf32>, %m: memref<1x2x1x32x2x8x8xf16>, %o: memref<1x8x200x256xbf16>, %x: memref<132x64xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op room for totals has shape 132x64, expected 132x32768}}
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x264x128xf8E4M3FN>, memref<1x2x256xf32>, memref<1x2x1x32x2x8x8xf16>)
      outs(%o, %x : memref<1x8x200x256xbf16>, memref<132x64xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule}
  return
}

// -----

func.func @split_keys(%q: tensor<1x8x16x128xi8>, %qs: tensor<1x8x16xf32>, %k: tensor<1x2x5000x128xi8>, %ks: tensor<1x2x40x4xf32>, %v: tensor<1x2x40x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x3x16x2x8x8xf16>, %o: tensor<3x1x8x16x128xf32>, %l: tensor<3x1x8x16xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op split_keys must be a multiple of 2048, got 1024}}
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x16x128xi8>, tensor<1x8x16xf32>, tensor<1x2x5000x128xi8>, tensor<1x2x40x4xf32>, tensor<1x2x40x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x3x16x2x8x8xf16>)
      outs(%o, %l : tensor<3x1x8x16x128xf32>, tensor<3x1x8x16xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">, schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>, split_keys = 1024 : i64} -> tensor<3x1x8x16x128xf32>, tensor<3x1x8x16xf32>
  return
}

// -----

func.func @split_output(%q: tensor<1x8x16x128xi8>, %qs: tensor<1x8x16xf32>, %k: tensor<1x2x5000x128xi8>, %ks: tensor<1x2x40x4xf32>, %v: tensor<1x2x40x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x3x16x2x8x8xf16>, %o: tensor<2x1x8x16x128xf32>, %l: tensor<3x1x8x16xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op output has shape 2x1x8x16x128, expected 3x1x8x16x128}}
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x16x128xi8>, tensor<1x8x16xf32>, tensor<1x2x5000x128xi8>, tensor<1x2x40x4xf32>, tensor<1x2x40x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x3x16x2x8x8xf16>)
      outs(%o, %l : tensor<2x1x8x16x128xf32>, tensor<3x1x8x16xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">, schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>, split_keys = 2048 : i64} -> tensor<2x1x8x16x128xf32>, tensor<3x1x8x16xf32>
  return
}

// -----

func.func @split_lse(%q: tensor<1x8x16x128xi8>, %qs: tensor<1x8x16xf32>, %k: tensor<1x2x5000x128xi8>, %ks: tensor<1x2x40x4xf32>, %v: tensor<1x2x40x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x3x16x2x8x8xf16>, %o: tensor<2x1x8x16x128xf32>, %l: tensor<1x1x8x16xf32>) {
  // expected-error @+1 {{'vcattn.packed_attention' op log-sum-exp has shape 1x1x8x16, expected 2x1x8x16}}
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x16x128xi8>, tensor<1x8x16xf32>, tensor<1x2x5000x128xi8>, tensor<1x2x40x4xf32>, tensor<1x2x40x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x3x16x2x8x8xf16>)
      outs(%o, %l : tensor<2x1x8x16x128xf32>, tensor<1x1x8x16xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">, schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>, split_keys = 4096 : i64} -> tensor<2x1x8x16x128xf32>, tensor<1x1x8x16xf32>
  return
}
