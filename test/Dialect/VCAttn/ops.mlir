// RUN: vcattn-opt %s | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -mlir-print-op-generic | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -emit-bytecode | vcattn-opt | FileCheck %s

// CHECK-LABEL: func @attention(
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64} : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x128xbf16> -> tensor<1x4x200x128xbf16>
func.func @attention(%q: tensor<1x4x200x128xbf16>, %k: tensor<1x4x300x128xbf16>, %v: tensor<1x4x300x128xbf16>)
    -> tensor<1x4x200x128xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.5 : f64}
      : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x128xbf16> -> tensor<1x4x200x128xbf16>
  return %o : tensor<1x4x200x128xbf16>
}

// Everything at once: grouped heads, other value dimension, a mask that
// broadcasts, means, causality, the other layout, log-sum-exp, mixed types.
// CHECK-LABEL: func @attention_full(
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<1x8x1x300xf16> means %{{.*}} : tensor<2x2x3x80xf32> {causal = #vcattn.causality<bottom_right>, layout = #vcattn.layout<bthd>, scale = -1.000000e+00 : f64} : tensor<2x200x8x64xf32>, tensor<2x300x2x64xbf16>, tensor<2x300x2x80xf16> -> tensor<2x200x8x80xf32>, tensor<2x8x200xf32>
func.func @attention_full(%q: tensor<2x200x8x64xf32>, %k: tensor<2x300x2x64xbf16>, %v: tensor<2x300x2x80xf16>,
                          %mask: tensor<1x8x1x300xf16>, %means: tensor<2x2x3x80xf32>)
    -> (tensor<2x200x8x80xf32>, tensor<2x8x200xf32>) {
  %o, %lse = vcattn.attention %q, %k, %v mask %mask : tensor<1x8x1x300xf16> means %means : tensor<2x2x3x80xf32>
      {scale = -1.0 : f64, causal = #vcattn.causality<bottom_right>, layout = #vcattn.layout<bthd>}
      : tensor<2x200x8x64xf32>, tensor<2x300x2x64xbf16>, tensor<2x300x2x80xf16>
        -> tensor<2x200x8x80xf32>, tensor<2x8x200xf32>
  return %o, %lse : tensor<2x200x8x80xf32>, tensor<2x8x200xf32>
}

// CHECK-LABEL: func @attention_dynamic(
// CHECK: vcattn.attention %{{.*}} mask %{{.*}} : tensor<?x?x?x?xi1> {causal = #vcattn.causality<top_left>, scale = 1.000000e+00 : f64}
func.func @attention_dynamic(%q: tensor<?x?x?x?xf16>, %k: tensor<?x?x?x?xf16>, %v: tensor<?x?x?x?xf16>,
                             %mask: tensor<?x?x?x?xi1>) -> (tensor<?x?x?x?xf16>, tensor<?x?x?xf32>) {
  %o, %lse = vcattn.attention %q, %k, %v mask %mask : tensor<?x?x?x?xi1>
      {scale = 1.0 : f64, causal = #vcattn.causality<top_left>}
      : tensor<?x?x?x?xf16>, tensor<?x?x?x?xf16>, tensor<?x?x?x?xf16> -> tensor<?x?x?x?xf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x?xf16>, tensor<?x?x?xf32>
}

// No tokens, and no heads, are fine.
// CHECK-LABEL: func @attention_empty(
// CHECK: vcattn.attention
func.func @attention_empty(%q: tensor<1x0x4x8xf32>, %k: tensor<1x0x0x8xf32>) -> tensor<1x0x4x8xf32> {
  %o = vcattn.attention %q, %k, %k {scale = 1.0 : f64}
      : tensor<1x0x4x8xf32>, tensor<1x0x0x8xf32>, tensor<1x0x0x8xf32> -> tensor<1x0x4x8xf32>
  return %o : tensor<1x0x4x8xf32>
}

// CHECK-LABEL: func @quantized_attention(
// CHECK: vcattn.quantized_attention %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}} mask %{{.*}} means %{{.*}} {cast = #vcattn.cast<expcast>, causal = #vcattn.causality<top_left>, scale = 5.000000e-01 : f64
// CHECK-SAME: schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>
// CHECK-SAME: target = #vcattn.target<"sm_90a">
func.func @quantized_attention(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x300x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %mask: tensor<1x1x200x300xi1>,
    %means: tensor<1x2x3x128xf32>) -> (tensor<1x8x200x128xbf16>, tensor<1x8x200xf32>) {
  %o, %lse = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs mask %mask means %means
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, causal = #vcattn.causality<top_left>,
       layout = #vcattn.layout<bhtd>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24,
                                   consumer_registers = 240, ping_pong = true, promotion = 32>}
      : (tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>,
         tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x1x200x300xi1>, tensor<1x2x3x128xf32>)
        -> (tensor<1x8x200x128xbf16>, tensor<1x8x200xf32>)
  return %o, %lse : tensor<1x8x200x128xbf16>, tensor<1x8x200xf32>
}

// CHECK-LABEL: func @quantized_attention_floats(
// CHECK: vcattn.quantized_attention %{{.*}}, %{{.*}}, %{{.*}} {cast = #vcattn.cast<exact>, scale = 1.000000e+00 : f64} : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf16>, tensor<?x?x?x?xbf16>) -> tensor<?x?x?x?xf32>
func.func @quantized_attention_floats(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf16>, %v: tensor<?x?x?x?xbf16>)
    -> tensor<?x?x?x?xf32> {
  %o = vcattn.quantized_attention %q, %k, %v {cast = #vcattn.cast<exact>, scale = 1.0 : f64}
      : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf16>, tensor<?x?x?x?xbf16>) -> tensor<?x?x?x?xf32>
  return %o : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func @quantized_attention_e4m3(
// CHECK: vcattn.quantized_attention %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} {cast
func.func @quantized_attention_e4m3(
    %q: tensor<1x8x200x128xf8E4M3FN>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xf8E4M3FN>,
    %ks: tensor<1x2x3x4xf32>, %v: tensor<1x2x300x128xf32>) -> tensor<1x8x200x128xf16> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_103a">}
      : (tensor<1x8x200x128xf8E4M3FN>, tensor<1x8x200xf32>, tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x3x4xf32>,
         tensor<1x2x300x128xf32>) -> tensor<1x8x200x128xf16>
  return %o : tensor<1x8x200x128xf16>
}

// CHECK-LABEL: func @entry(
// CHECK-SAME: attributes {vcattn.entry}
func.func @entry() attributes {vcattn.entry} {
  return
}
