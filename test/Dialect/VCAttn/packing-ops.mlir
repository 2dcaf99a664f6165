// RUN: vcattn-opt %s | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -mlir-print-op-generic | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -emit-bytecode | vcattn-opt | FileCheck %s

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

// CHECK-LABEL: func @pack_values(
// CHECK: vcattn.pack_values %{{.*}} : (tensor<2x4x300x128xf8E4M3FN>) -> tensor<2x4x3x136x128xf8E4M3FN>
// CHECK: vcattn.pack_values %{{.*}} {layout = #vcattn.layout<bthd>} : (tensor<?x?x4x80xf8E4M3FN>) -> tensor<?x4x?x88x128xf8E4M3FN>
func.func @pack_values(%x: tensor<2x4x300x128xf8E4M3FN>, %y: tensor<?x?x4x80xf8E4M3FN>) {
  %0 = vcattn.pack_values %x : (tensor<2x4x300x128xf8E4M3FN>) -> tensor<2x4x3x136x128xf8E4M3FN>
  %1 = vcattn.pack_values %y {layout = #vcattn.layout<bthd>}
      : (tensor<?x?x4x80xf8E4M3FN>) -> tensor<?x4x?x88x128xf8E4M3FN>
  return
}

// CHECK-LABEL: func @pack_means(
// CHECK: vcattn.pack_means %{{.*}}, %{{.*}} : (tensor<2x4x17x128xf32>, tensor<2x4x128xf32>) -> tensor<2x4x2x16x2x8x8xf16>
// CHECK: vcattn.pack_means %{{.*}}, %{{.*}} : (tensor<?x4x?x80xf32>, tensor<?x4x80xf32>) -> tensor<?x4x?x10x2x8x8xf16>
func.func @pack_means(%x: tensor<2x4x17x128xf32>, %s: tensor<2x4x128xf32>, %y: tensor<?x4x?x80xf32>, %t: tensor<?x4x80xf32>) {
  %0 = vcattn.pack_means %x, %s : (tensor<2x4x17x128xf32>, tensor<2x4x128xf32>) -> tensor<2x4x2x16x2x8x8xf16>
  %1 = vcattn.pack_means %y, %t : (tensor<?x4x?x80xf32>, tensor<?x4x80xf32>) -> tensor<?x4x?x10x2x8x8xf16>
  return
}

// CHECK-LABEL: func @packed_attention(
// CHECK: vcattn.packed_attention ins(%{{.*}} : tensor<1x8x200x128xi8>, {{.*}}) outs(%{{.*}} : tensor<1x8x200x128xbf16>) {cast = #vcattn.cast<expcast>
// CHECK-SAME: -> tensor<1x8x200x128xbf16>
func.func @packed_attention(
    %q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
    %v: tensor<1x2x3x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x1x16x2x8x8xf16>, %o: tensor<1x8x200x128xbf16>) {
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>, tensor<1x2x3x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%o : tensor<1x8x200x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x200x128xbf16>
  return
}

// CHECK-LABEL: func @packed_attention_dynamic_lse_bthd(
// CHECK: vcattn.packed_attention ins({{.*}}) outs(%{{.*}}, %{{.*}} : tensor<?x?x8x128xf32>, tensor<?x8x?xf32>)
// CHECK-SAME: layout = #vcattn.layout<bthd>
// CHECK-SAME: -> tensor<?x?x8x128xf32>, tensor<?x8x?xf32>
func.func @packed_attention_dynamic_lse_bthd(
    %q: tensor<?x?x8x128xf8E4M3FN>, %qs: tensor<?x8x?xf32>, %k: tensor<?x?x2x128xf8E4M3FN>, %ks: tensor<?x2x?x4xf32>,
    %v: tensor<?x2x?x136x128xf8E4M3FN>, %vs: tensor<?x2x128xf32>, %m: tensor<?x2x?x16x2x8x8xf16>, %o: tensor<?x?x8x128xf32>, %l: tensor<?x8x?xf32>) {
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<?x?x8x128xf8E4M3FN>, tensor<?x8x?xf32>, tensor<?x?x2x128xf8E4M3FN>, tensor<?x2x?x4xf32>, tensor<?x2x?x136x128xf8E4M3FN>, tensor<?x2x128xf32>, tensor<?x2x?x16x2x8x8xf16>)
      outs(%o, %l : tensor<?x?x8x128xf32>, tensor<?x8x?xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule, layout = #vcattn.layout<bthd>} -> tensor<?x?x8x128xf32>, tensor<?x8x?xf32>
  return
}

// CHECK-LABEL: func @packed_attention_buffers(
// CHECK: vcattn.packed_attention ins({{.*}}) outs(%{{.*}}, %{{.*}} : memref<1x8x200x128xbf16>, memref<1x8x200xf32>)
func.func @packed_attention_buffers(
    %q: memref<1x8x200x128xi8>, %qs: memref<1x8x200xf32>, %k: memref<1x2x300x128xi8>, %ks: memref<1x2x3x4xf32>,
    %v: memref<1x2x3x136x128xf8E4M3FN>, %vs: memref<1x2x128xf32>, %m: memref<1x2x1x16x2x8x8xf16>, %o: memref<1x8x200x128xbf16>, %l: memref<1x8x200xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x8x200x128xi8>, memref<1x8x200xf32>, memref<1x2x300x128xi8>, memref<1x2x3x4xf32>, memref<1x2x3x136x128xf8E4M3FN>, memref<1x2x128xf32>, memref<1x2x1x16x2x8x8xf16>)
      outs(%o, %l : memref<1x8x200x128xbf16>, memref<1x8x200xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule}
  return
}

// CHECK-LABEL: func @encode_tensor_map(
// CHECK: vcattn.encode_tensor_map %{{.*}} box [1, 1, 64, 128] : memref<?x?x?x128xi8, strided<[?, ?, ?, 1], offset: ?>>
func.func @encode_tensor_map(%x: memref<?x?x?x128xi8, strided<[?, ?, ?, 1], offset: ?>>) -> !vcattn.tensor_map {
  %0 = vcattn.encode_tensor_map %x box [1, 1, 64, 128] : memref<?x?x?x128xi8, strided<[?, ?, ?, 1], offset: ?>>
  return %0 : !vcattn.tensor_map
}

// Three shards of at most 2048 keys.
// CHECK-LABEL: func @packed_attention_split(
// CHECK: vcattn.packed_attention ins({{.*}}) outs(%{{.*}}, %{{.*}} : tensor<3x1x8x16x128xf32>, tensor<3x1x8x16xf32>)
// CHECK-SAME: split_keys = 2048 : i64
func.func @packed_attention_split(%q: tensor<1x8x16x128xi8>, %qs: tensor<1x8x16xf32>, %k: tensor<1x2x5000x128xi8>, %ks: tensor<1x2x40x4xf32>, %v: tensor<1x2x40x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x3x16x2x8x8xf16>, %o: tensor<3x1x8x16x128xf32>, %l: tensor<3x1x8x16xf32>) {
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x16x128xi8>, tensor<1x8x16xf32>, tensor<1x2x5000x128xi8>, tensor<1x2x40x4xf32>, tensor<1x2x40x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x3x16x2x8x8xf16>)
      outs(%o, %l : tensor<3x1x8x16x128xf32>, tensor<3x1x8x16xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule, split_keys = 2048 : i64} -> tensor<3x1x8x16x128xf32>, tensor<3x1x8x16xf32>
  return
}
