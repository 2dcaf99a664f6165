// The attention kernel for Hopper for other head dimensions: every kernel is
// assembled without serializing a product (which would be an error) and, but for a
// few bytes where queries and values take most registers, without spills.

// REQUIRES: ptxas
// RUN: vcattn-opt %s --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
// RUN: sed 's/cast<expcast>/cast<exact>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
// RUN: sed 's/cast<expcast>/cast<hybrid>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s

// CHECK-COUNT-17: remark: attention_{{.*}} registers, {{[0-9]+}} bytes of stack, {{[0-9]|[123][0-9]}} bytes spilled

#target = #vcattn.target<"sm_90a">

// The default schedules: of small, of other and of wide dimensions.
#small = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 8, consumers = 3, producer_registers = 24,
                          consumer_registers = 160, ping_pong = false, promotion = 32>
#three = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 4, consumers = 3, producer_registers = 24,
                          consumer_registers = 160, ping_pong = false, promotion = 32>
#wide = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24,
                         consumer_registers = 240, ping_pong = true, promotion = 32>

func.func @d16_16_i8(%q: memref<?x?x?x16xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x16xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x24x128xf8E4M3FN>, %vs: memref<?x?x16xf32>, %m: memref<?x?x?x2x2x8x8xf16>, %out: memref<?x?x?x16xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x16xi8>, memref<?x?x?xf32>, memref<?x?x?x16xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x24x128xf8E4M3FN>, memref<?x?x16xf32>, memref<?x?x?x2x2x8x8xf16>)
      outs(%out : memref<?x?x?x16xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #small}
  return
}

func.func @d40_40_i8(%q: memref<?x?x?x40xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x40xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x48x128xf8E4M3FN>, %vs: memref<?x?x40xf32>, %m: memref<?x?x?x5x2x8x8xf16>, %out: memref<?x?x?x40xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x40xi8>, memref<?x?x?xf32>, memref<?x?x?x40xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x48x128xf8E4M3FN>, memref<?x?x40xf32>, memref<?x?x?x5x2x8x8xf16>)
      outs(%out : memref<?x?x?x40xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #small}
  return
}

func.func @d64_64_i8(%q: memref<?x?x?x64xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x64xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x72x128xf8E4M3FN>, %vs: memref<?x?x64xf32>, %m: memref<?x?x?x8x2x8x8xf16>, %out: memref<?x?x?x64xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x64xi8>, memref<?x?x?xf32>, memref<?x?x?x64xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x72x128xf8E4M3FN>, memref<?x?x64xf32>, memref<?x?x?x8x2x8x8xf16>)
      outs(%out : memref<?x?x?x64xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #small}
  return
}

func.func @d72_72_i8(%q: memref<?x?x?x72xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x72xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x80x128xf8E4M3FN>, %vs: memref<?x?x72xf32>, %m: memref<?x?x?x9x2x8x8xf16>, %out: memref<?x?x?x72xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x72xi8>, memref<?x?x?xf32>, memref<?x?x?x72xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x80x128xf8E4M3FN>, memref<?x?x72xf32>, memref<?x?x?x9x2x8x8xf16>)
      outs(%out : memref<?x?x?x72xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #three}
  return
}

func.func @d80_80_e4m3(%q: memref<?x?x?x80xf8E4M3FN>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x80xf8E4M3FN>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x88x128xf8E4M3FN>, %vs: memref<?x?x80xf32>, %m: memref<?x?x?x10x2x8x8xf16>, %out: memref<?x?x?x80xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x80xf8E4M3FN>, memref<?x?x?xf32>, memref<?x?x?x80xf8E4M3FN>, memref<?x?x?x4xf32>,
          memref<?x?x?x88x128xf8E4M3FN>, memref<?x?x80xf32>, memref<?x?x?x10x2x8x8xf16>)
      outs(%out : memref<?x?x?x80xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #three}
  return
}

func.func @d96_96_i8(%q: memref<?x?x?x96xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x96xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x104x128xf8E4M3FN>, %vs: memref<?x?x96xf32>, %m: memref<?x?x?x12x2x8x8xf16>, %out: memref<?x?x?x96xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x96xi8>, memref<?x?x?xf32>, memref<?x?x?x96xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x104x128xf8E4M3FN>, memref<?x?x96xf32>, memref<?x?x?x12x2x8x8xf16>)
      outs(%out : memref<?x?x?x96xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #three}
  return
}

func.func @d192_192_i8(%q: memref<?x?x?x192xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x192xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x200x128xf8E4M3FN>, %vs: memref<?x?x192xf32>, %m: memref<?x?x?x24x2x8x8xf16>, %out: memref<?x?x?x192xbf16>, %room: memref<132x24576xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x192xi8>, memref<?x?x?xf32>, memref<?x?x?x192xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x200x128xf8E4M3FN>, memref<?x?x192xf32>, memref<?x?x?x24x2x8x8xf16>)
      outs(%out, %room : memref<?x?x?x192xbf16>, memref<132x24576xf32>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #wide}
  return
}

func.func @d224_224_i8(%q: memref<?x?x?x224xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x224xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x232x128xf8E4M3FN>, %vs: memref<?x?x224xf32>, %m: memref<?x?x?x28x2x8x8xf16>, %out: memref<?x?x?x224xbf16>, %room: memref<132x28672xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x224xi8>, memref<?x?x?xf32>, memref<?x?x?x224xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x232x128xf8E4M3FN>, memref<?x?x224xf32>, memref<?x?x?x28x2x8x8xf16>)
      outs(%out, %room : memref<?x?x?x224xbf16>, memref<132x28672xf32>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #wide}
  return
}

func.func @d256_256_i8(%q: memref<?x?x?x256xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x256xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x264x128xf8E4M3FN>, %vs: memref<?x?x256xf32>, %m: memref<?x?x?x32x2x8x8xf16>, %out: memref<?x?x?x256xbf16>, %room: memref<132x32768xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x256xi8>, memref<?x?x?xf32>, memref<?x?x?x256xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x264x128xf8E4M3FN>, memref<?x?x256xf32>, memref<?x?x?x32x2x8x8xf16>)
      outs(%out, %room : memref<?x?x?x256xbf16>, memref<132x32768xf32>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #wide}
  return
}

func.func @d256_256_e4m3(%q: memref<?x?x?x256xf8E4M3FN>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x256xf8E4M3FN>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x264x128xf8E4M3FN>, %vs: memref<?x?x256xf32>, %m: memref<?x?x?x32x2x8x8xf16>, %out: memref<?x?x?x256xbf16>, %room: memref<132x32768xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x256xf8E4M3FN>, memref<?x?x?xf32>, memref<?x?x?x256xf8E4M3FN>, memref<?x?x?x4xf32>,
          memref<?x?x?x264x128xf8E4M3FN>, memref<?x?x256xf32>, memref<?x?x?x32x2x8x8xf16>)
      outs(%out, %room : memref<?x?x?x256xbf16>, memref<132x32768xf32>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #wide}
  return
}

func.func @d192_128_i8(%q: memref<?x?x?x192xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x192xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x136x128xf8E4M3FN>, %vs: memref<?x?x128xf32>, %m: memref<?x?x?x16x2x8x8xf16>, %out: memref<?x?x?x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x192xi8>, memref<?x?x?xf32>, memref<?x?x?x192xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x136x128xf8E4M3FN>, memref<?x?x128xf32>, memref<?x?x?x16x2x8x8xf16>)
      outs(%out : memref<?x?x?x128xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #three}
  return
}

func.func @d128_64_i8(%q: memref<?x?x?x128xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x128xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x72x128xf8E4M3FN>, %vs: memref<?x?x64xf32>, %m: memref<?x?x?x8x2x8x8xf16>, %out: memref<?x?x?x64xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x128xi8>, memref<?x?x?xf32>, memref<?x?x?x128xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x72x128xf8E4M3FN>, memref<?x?x64xf32>, memref<?x?x?x8x2x8x8xf16>)
      outs(%out : memref<?x?x?x64xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #three}
  return
}

func.func @d64_128_i8(%q: memref<?x?x?x64xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x64xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x136x128xf8E4M3FN>, %vs: memref<?x?x128xf32>, %m: memref<?x?x?x16x2x8x8xf16>, %out: memref<?x?x?x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x64xi8>, memref<?x?x?xf32>, memref<?x?x?x64xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x136x128xf8E4M3FN>, memref<?x?x128xf32>, memref<?x?x?x16x2x8x8xf16>)
      outs(%out : memref<?x?x?x128xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #three}
  return
}

func.func @d16_256_i8(%q: memref<?x?x?x16xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x16xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x264x128xf8E4M3FN>, %vs: memref<?x?x256xf32>, %m: memref<?x?x?x32x2x8x8xf16>, %out: memref<?x?x?x256xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x16xi8>, memref<?x?x?xf32>, memref<?x?x?x16xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x264x128xf8E4M3FN>, memref<?x?x256xf32>, memref<?x?x?x32x2x8x8xf16>)
      outs(%out : memref<?x?x?x256xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #wide}
  return
}

func.func @d33_50_i8(%q: memref<?x?x?x33xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x33xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x64x128xf8E4M3FN>, %vs: memref<?x?x50xf32>, %m: memref<?x?x?x7x2x8x8xf16>, %out: memref<?x?x?x50xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x33xi8>, memref<?x?x?xf32>, memref<?x?x?x33xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x64x128xf8E4M3FN>, memref<?x?x50xf32>, memref<?x?x?x7x2x8x8xf16>)
      outs(%out : memref<?x?x?x50xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #small}
  return
}

func.func @d64_64_i8_causal(%q: memref<?x?x?x64xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x64xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x72x128xf8E4M3FN>, %vs: memref<?x?x64xf32>, %m: memref<?x?x?x8x2x8x8xf16>, %out: memref<?x?x?x64xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x64xi8>, memref<?x?x?xf32>, memref<?x?x?x64xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x72x128xf8E4M3FN>, memref<?x?x64xf32>, memref<?x?x?x8x2x8x8xf16>)
      outs(%out : memref<?x?x?x64xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, causal = #vcattn.causality<top_left>, target = #target, schedule = #small}
  return
}

func.func @d192_128_i8_causal(%q: memref<?x?x?x192xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x192xi8>, %ks: memref<?x?x?x4xf32>,
    %v: memref<?x?x?x136x128xf8E4M3FN>, %vs: memref<?x?x128xf32>, %m: memref<?x?x?x16x2x8x8xf16>, %out: memref<?x?x?x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x192xi8>, memref<?x?x?xf32>, memref<?x?x?x192xi8>, memref<?x?x?x4xf32>,
          memref<?x?x?x136x128xf8E4M3FN>, memref<?x?x128xf32>, memref<?x?x?x16x2x8x8xf16>)
      outs(%out : memref<?x?x?x128xbf16>)
      {scale = 0.1 : f64, cast = #vcattn.cast<expcast>, causal = #vcattn.causality<top_left>, target = #target, schedule = #three}
  return
}
