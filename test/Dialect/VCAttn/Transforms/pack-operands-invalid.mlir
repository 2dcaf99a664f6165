// RUN: vcattn-opt %s -split-input-file -vcattn-pack-operands -verify-diagnostics

#target = #vcattn.target<"sm_100a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @target(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{no kernel is known for target sm_100a}}
  %o = vcattn.quantized_attention %q scale %qs, %q scale %ks, %v scale %vs
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @schedule(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{has a target but no schedule: run vcattn-schedule}}
  %o = vcattn.quantized_attention %q scale %qs, %q scale %ks, %v scale %vs
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #target}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @float_scores(%q: tensor<1x1x8x128xbf16>, %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{the kernel for sm_90a takes queries and keys as codes, not as 'bf16': run vcattn-quantize}}
  %o = vcattn.quantized_attention %q, %q, %v scale %vs
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
      : (tensor<1x1x8x128xbf16>, tensor<1x1x8x128xbf16>, tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @float_values(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{the kernel for sm_90a takes values as codes, not as 'f32': run vcattn-quantize}}
  %o = vcattn.quantized_attention %q scale %qs, %q scale %ks, %v
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// -----

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @scale(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{the kernel for sm_90a takes a scale that is not negative}}
  %o = vcattn.quantized_attention %q scale %qs, %q scale %ks, %v scale %vs
      {scale = -1.0 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}
