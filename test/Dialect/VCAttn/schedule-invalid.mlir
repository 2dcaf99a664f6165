// RUN: vcattn-opt %s --split-input-file --verify-diagnostics

func.func @shared_memory(%q: tensor<1x1x128x128xi8>, %s: tensor<1x1x128xf32>,
                         %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x128x128xf8E4M3FN>) {
  // expected-error@+1 {{schedule needs 232720 bytes of shared memory, sm_90a has 232448}}
  %0 = vcattn.quantized_attention %q scale %s, %q scale %ks, %v scale %s
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 6, consumers = 3,
         producer_registers = 24, consumer_registers = 160, ping_pong = false, promotion = 32>}
      : (tensor<1x1x128x128xi8>, tensor<1x1x128xf32>, tensor<1x1x128x128xi8>,
         tensor<1x1x1x4xf32>, tensor<1x1x128x128xf8E4M3FN>, tensor<1x1x128xf32>)
      -> tensor<1x1x128x128xbf16>
  return
}

// -----

func.func @registers(%q: tensor<1x1x128x128xi8>, %s: tensor<1x1x128xf32>,
                     %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x128x128xf8E4M3FN>) {
  // expected-error@+1 {{schedule needs 66560 registers, a multiprocessor of sm_90a has 65536}}
  %0 = vcattn.quantized_attention %q scale %s, %q scale %ks, %v scale %s
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2,
         producer_registers = 40, consumer_registers = 240, ping_pong = true, promotion = 32>}
      : (tensor<1x1x128x128xi8>, tensor<1x1x128xf32>, tensor<1x1x128x128xi8>,
         tensor<1x1x1x4xf32>, tensor<1x1x128x128xf8E4M3FN>, tensor<1x1x128xf32>)
      -> tensor<1x1x128x128xbf16>
  return
}

// -----

func.func @registers_per_thread(%q: tensor<1x1x128x128xi8>, %s: tensor<1x1x128xf32>,
                                %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x128x128xf8E4M3FN>) {
  // expected-error@+1 {{schedule gives a thread 256 registers, sm_90a allows 255}}
  %0 = vcattn.quantized_attention %q scale %s, %q scale %ks, %v scale %s
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 64, tile_k = 64, stages = 4, consumers = 1,
         producer_registers = 24, consumer_registers = 256, ping_pong = false, promotion = 32>}
      : (tensor<1x1x128x128xi8>, tensor<1x1x128xf32>, tensor<1x1x128x128xi8>,
         tensor<1x1x1x4xf32>, tensor<1x1x128x128xf8E4M3FN>, tensor<1x1x128xf32>)
      -> tensor<1x1x128x128xbf16>
  return
}

// -----

func.func @head_dimension(%q: tensor<1x1x128x320xi8>, %s: tensor<1x1x128xf32>,
                          %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x128x128xf8E4M3FN>) {
  // expected-error@+1 {{a schedule is for head dimensions from 1 to 256, got 320 and 128}}
  %0 = vcattn.quantized_attention %q scale %s, %q scale %ks, %v scale %s
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2,
         producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
      : (tensor<1x1x128x320xi8>, tensor<1x1x128xf32>, tensor<1x1x128x320xi8>,
         tensor<1x1x1x4xf32>, tensor<1x1x128x128xf8E4M3FN>, tensor<1x1x128xf32>)
      -> tensor<1x1x128x128xbf16>
  return
}

// -----

func.func @registers_needed(%q: tensor<1x1x128x128xi8>, %s: tensor<1x1x128xf32>,
                                %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x128x160xf8E4M3FN>, %vs: tensor<1x1x160xf32>) {
  // expected-error@+1 {{schedule gives a consumer's thread 160 registers, which needs at least 164}}
  %0 = vcattn.quantized_attention %q scale %s, %q scale %ks, %v scale %vs
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 2, consumers = 3,
         producer_registers = 24, consumer_registers = 160, ping_pong = false, promotion = 32>}
      : (tensor<1x1x128x128xi8>, tensor<1x1x128xf32>, tensor<1x1x128x128xi8>,
         tensor<1x1x1x4xf32>, tensor<1x1x128x160xf8E4M3FN>, tensor<1x1x160xf32>)
      -> tensor<1x1x128x160xbf16>
  return
}
