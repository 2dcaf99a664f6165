// RUN: vcattn-opt %s | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -mlir-print-op-generic | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -emit-bytecode | vcattn-opt | FileCheck %s

// What limits the keys that a query sees: windows, lengths, block masks.

// CHECK-LABEL: func @attention(
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<1x1x1x300xi1> means %{{.*}} : tensor<2x2x3x64xf32> lengths %{{.*}} : tensor<2xi32> blocks %{{.*}} : tensor<1x4x2x3xi1> {causal = #vcattn.causality<bottom_right>, scale = 1.000000e+00 : f64, window = #vcattn.window<left = 64>}
func.func @attention(%q: tensor<2x4x200x64xf32>, %k: tensor<2x2x300x64xf32>, %mask: tensor<1x1x1x300xi1>,
                     %means: tensor<2x2x3x64xf32>, %lengths: tensor<2xi32>, %blocks: tensor<1x4x2x3xi1>) -> tensor<2x4x200x64xf32> {
  %o = vcattn.attention %q, %k, %k mask %mask : tensor<1x1x1x300xi1> means %means : tensor<2x2x3x64xf32>
      lengths %lengths : tensor<2xi32> blocks %blocks : tensor<1x4x2x3xi1>
      {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>, window = #vcattn.window<left = 64>}
      : tensor<2x4x200x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x64xf32> -> tensor<2x4x200x64xf32>
  return %o : tensor<2x4x200x64xf32>
}

// CHECK-LABEL: func @quantized_attention(
// CHECK: vcattn.quantized_attention %{{.*}}, %{{.*}}, %{{.*}} lengths %{{.*}} blocks %{{.*}} {cast = #vcattn.cast<expcast>, scale = 1.000000e+00 : f64, window = #vcattn.window<left = 3, right = 5>}
func.func @quantized_attention(%q: tensor<?x?x?x64xf32>, %lengths: tensor<?xi32>, %blocks: tensor<?x?x?x?xi1>) -> tensor<?x?x?x64xf32> {
  %o = vcattn.quantized_attention %q, %q, %q lengths %lengths blocks %blocks
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, window = #vcattn.window<left = 3, right = 5>}
      : (tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?xi32>, tensor<?x?x?x?xi1>) -> tensor<?x?x?x64xf32>
  return %o : tensor<?x?x?x64xf32>
}

// CHECK-LABEL: func private @windows(
// CHECK-SAME: test.a = #vcattn.window<left = 7>
// CHECK-SAME: test.b = #vcattn.window<right = 0>
// CHECK-SAME: test.c = #vcattn.window<>
func.func private @windows() attributes {test.a = #vcattn.window<left = 7, right = -1>, test.b = #vcattn.window<right = 0>, test.c = #vcattn.window<>}

// CHECK-LABEL: func @method(
// CHECK: vcattn.center_keys %{{.*}}, %[[N:.*]] : (tensor<2x2x300x64xf32>, tensor<2xi32>)
// CHECK: vcattn.cluster %{{.*}}, %[[N]] {
// CHECK: vcattn.block_residual %{{.*}}, %[[N]] :
// CHECK: vcattn.quantize %{{.*}} bound %{{.*}} lengths %[[N]] {
// CHECK: vcattn.quantize %{{.*}} lengths %[[N]] {
func.func @method(%x: tensor<2x2x300x64xf32>, %n: tensor<2xi32>) {
  %0:2 = vcattn.center_keys %x, %n : (tensor<2x2x300x64xf32>, tensor<2xi32>) -> (tensor<2x2x300x64xf32>, tensor<2x2x64xf32>)
  %1:2 = vcattn.cluster %x, %n {clusters = 4 : i64, iterations = 2 : i64} : (tensor<2x2x300x64xf32>, tensor<2xi32>) -> (tensor<2x2x300xi32>, tensor<2x2x4x64xf32>)
  %2:2 = vcattn.block_residual %x, %n : (tensor<2x2x300x64xf32>, tensor<2xi32>) -> (tensor<2x2x300x64xf32>, tensor<2x2x3x64xf32>)
  %3:2 = vcattn.quantize %2#0 bound %2#1 lengths %n {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>}
      : (tensor<2x2x300x64xf32>, tensor<2x2x3x64xf32>, tensor<2xi32>) -> (tensor<2x2x300x64xf8E4M3FN>, tensor<2x2x64xf32>)
  %4:2 = vcattn.quantize %x lengths %n {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<2x2x300x64xf32>, tensor<2xi32>) -> (tensor<2x2x300x64xi8>, tensor<2x2x300xf32>)
  return
}

// CHECK-LABEL: func @packed_attention(
// CHECK: vcattn.packed_attention ins({{.*}}) mask(%{{.*}} : memref<1x1x200x300xf16>) lengths(%{{.*}} : memref<1xi32>) blocks(%{{.*}} : memref<1x8x2x3xi1>) outs(%{{.*}} : memref<1x8x200x128xbf16>) {cast = #vcattn.cast<expcast>, causal = #vcattn.causality<top_left>
// CHECK-SAME: window = #vcattn.window<left = 64>
func.func @packed_attention(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>, %m: memref<1x2x1x16x2x8x8xf16>, %o: memref<1x8x200x128xbf16>,
    %mask: memref<1x1x200x300xf16>, %lengths: memref<1xi32>, %blocks: memref<1x8x2x3xi1>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      mask(%mask : memref<1x1x200x300xf16>) lengths(%lengths : memref<1xi32>) blocks(%blocks : memref<1x8x2x3xi1>)
      outs(%o : memref<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #vcattn.target<"sm_90a">, causal = #vcattn.causality<top_left>,
       window = #vcattn.window<left = 64>,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
  return
}

!scores = !vcattn.fragment<64x64xi32, scores>
!maxima = !vcattn.fragment<64xf32, maxima>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!keep = !vcattn.fragment<64x64xi1, keep>
!added = !vcattn.fragment<64x64xf32, added>
!levels = !vcattn.fragment<64x64xi16, levels>

// CHECK-LABEL: func @kernel(
func.func @kernel(%s: !scores, %a: !multipliers, %m: !maxima, %n: i32, %i: index, %bits: memref<?x?x?x?xi1>, %floats: memref<?x?x?x?xbf16>) {
  // CHECK: %[[K:.*]] = vcattn.keep_keys rows %{{.*}} diagonal %{{.*}} keys %{{.*}} to %{{.*}} left -1 right 0 : <64x64xi1, keep>
  %keep = vcattn.keep_keys rows %n diagonal %n keys %n to %n left -1 right 0 : !keep
  // CHECK: %[[KB:.*]] = vcattn.load_mask %[[K]], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : <64x64xi1, keep>, memref<?x?x?x?xi1>
  %bool = vcattn.load_mask %keep, %bits[%i, %i, %i, %i] : !keep, memref<?x?x?x?xi1>
  // CHECK: %[[KF:.*]], %[[A:.*]] = vcattn.load_mask %[[KB]], %{{.*}} : <64x64xi1, keep>, memref<?x?x?x?xbf16> -> !vcattn.fragment<64x64xf32, added>
  %kept, %added = vcattn.load_mask %bool, %floats[%i, %i, %i, %i] : !keep, memref<?x?x?x?xbf16> -> !added
  // CHECK: vcattn.cast_scores <exact> %{{.*}} keep %[[KF]] : !vcattn.fragment<64x64xi1, keep> added %[[A]] : !vcattn.fragment<64x64xf32, added> saturate :
  %l, %overflow = vcattn.cast_scores <exact> %s, %a, %m keep %kept : !keep added %added : !added saturate : !scores, !multipliers, !maxima -> !levels
  // CHECK: vcattn.cast_scores <hybrid> %{{.*}} keep %[[KF]] : !vcattn.fragment<64x64xi1, keep> added %[[A]] : !vcattn.fragment<64x64xf32, added> :
  %lh, %hybrid_overflow = vcattn.cast_scores <hybrid> %s, %a, %m keep %kept : !keep added %added : !added : !scores, !multipliers, !maxima -> !levels
  // CHECK: vcattn.raise_maximum <exact> %{{.*}} keep %[[KF]] : !vcattn.fragment<64x64xi1, keep> added %[[A]] : !vcattn.fragment<64x64xf32, added> :
  %max, %factor = vcattn.raise_maximum <exact> %s, %a, %m keep %kept : !keep added %added : !added : !scores, !multipliers, !maxima
  return
}

// CHECK-LABEL: func @varlen(
// CHECK: vcattn.varlen_attention %{{.*}}, %{{.*}}, %{{.*}} sequences %{{.*}}, %{{.*}} {causal = #vcattn.causality<top_left>, layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64, window = #vcattn.window<left = 8>} : (tensor<1x?x4x64xbf16>, tensor<1x?x2x64xbf16>, tensor<1x?x2x32xbf16>, tensor<?xi32>, tensor<?xi32>) -> (tensor<1x?x4x32xbf16>, tensor<1x4x?xf32>)
func.func @varlen(%q: tensor<1x?x4x64xbf16>, %k: tensor<1x?x2x64xbf16>, %v: tensor<1x?x2x32xbf16>, %cq: tensor<?xi32>, %ck: tensor<?xi32>) -> (tensor<1x?x4x32xbf16>, tensor<1x4x?xf32>) {
  %o, %l = vcattn.varlen_attention %q, %k, %v sequences %cq, %ck
      {scale = 1.0 : f64, causal = #vcattn.causality<top_left>, window = #vcattn.window<left = 8>, layout = #vcattn.layout<bthd>}
      : (tensor<1x?x4x64xbf16>, tensor<1x?x2x64xbf16>, tensor<1x?x2x32xbf16>, tensor<?xi32>, tensor<?xi32>) -> (tensor<1x?x4x32xbf16>, tensor<1x4x?xf32>)
  return %o, %l : tensor<1x?x4x32xbf16>, tensor<1x4x?xf32>
}
