// RUN: vcattn-opt %s -vcattn-pack-operands | FileCheck %s

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>

// CHECK-LABEL: func @means
// CHECK-SAME: %[[Q:[^:]*]]: tensor<1x8x200x128xi8>, %[[QS:[^:]*]]: tensor<1x8x200xf32>, %[[K:[^:]*]]: tensor<1x2x300x128xi8>, %[[KS:[^:]*]]: tensor<1x2x3x4xf32>, %[[V:[^:]*]]: tensor<1x2x300x128xf8E4M3FN>, %[[VS:[^:]*]]: tensor<1x2x128xf32>, %[[M:[^:]*]]: tensor<1x2x3x128xf32>
// CHECK: %[[VP:.*]] = vcattn.pack_values %[[V]] : (tensor<1x2x300x128xf8E4M3FN>) -> tensor<1x2x3x136x128xf8E4M3FN>
// CHECK: %[[MP:.*]] = vcattn.pack_means %[[M]], %[[VS]] : (tensor<1x2x3x128xf32>, tensor<1x2x128xf32>) -> tensor<1x2x1x16x2x8x8xf16>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x8x200x128xbf16>
// CHECK: %[[O:.*]] = vcattn.packed_attention ins(%[[Q]], %[[QS]], %[[K]], %[[KS]], %[[VP]], %[[VS]], %[[MP]] :
// CHECK-SAME: outs(%[[E]] : tensor<1x8x200x128xbf16>)
// CHECK-SAME: cast = #vcattn.cast<expcast>
// CHECK-SAME: scale = 5.000000e-01 : f64
// CHECK-SAME: target = #vcattn.target<"sm_90a">
// CHECK-SAME: test.note
// CHECK-SAME: -> tensor<1x8x200x128xbf16>
// CHECK-NEXT: return %[[O]]
func.func @means(%q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
                 %v: tensor<1x2x300x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %m: tensor<1x2x3x128xf32>)
    -> tensor<1x8x200x128xbf16> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs means %m
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule, test.note}
      : (tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>,
         tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x3x128xf32>) -> tensor<1x8x200x128xbf16>
  return %o : tensor<1x8x200x128xbf16>
}

// Without means zeros are packed; sizes come from the operands.
// CHECK-LABEL: func @no_means_dynamic_bthd_lse
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x?x8x128xf8E4M3FN>, %{{[^:]*}}: tensor<?x8x?xf32>, %{{[^:]*}}: tensor<?x?x2x128xf8E4M3FN>, %[[KS:[^:]*]]: tensor<?x2x?x4xf32>, %{{[^:]*}}: tensor<?x?x2x128xf8E4M3FN>, %[[VS:[^:]*]]: tensor<?x2x128xf32>
// CHECK: vcattn.pack_values %{{.*}} {layout = #vcattn.layout<bthd>} : (tensor<?x?x2x128xf8E4M3FN>) -> tensor<?x2x?x136x128xf8E4M3FN>
// CHECK-DAG: %[[B:.*]] = tensor.dim %[[VS]], %c0
// CHECK-DAG: %[[TILES:.*]] = tensor.dim %[[KS]], %c2
// CHECK: %[[ME:.*]] = tensor.empty(%[[B]], %[[TILES]]) : tensor<?x2x?x128xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[ME]]
// CHECK: vcattn.pack_means %[[ZERO]], %[[VS]]
// CHECK: %[[QB:.*]] = tensor.dim %[[Q]], %c0
// CHECK: %[[QN:.*]] = tensor.dim %[[Q]], %c1
// CHECK: %[[E:.*]] = tensor.empty(%[[QB]], %[[QN]]) : tensor<?x?x8x128xf16>
// CHECK: %[[L:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x8x?xf32>
// CHECK: %[[O:.*]]:2 = vcattn.packed_attention
// CHECK-SAME: outs(%[[E]], %[[L]] : tensor<?x?x8x128xf16>, tensor<?x8x?xf32>)
// CHECK-SAME: layout = #vcattn.layout<bthd>
// CHECK: return %[[O]]#0, %[[O]]#1
func.func @no_means_dynamic_bthd_lse(
    %q: tensor<?x?x8x128xf8E4M3FN>, %qs: tensor<?x8x?xf32>, %k: tensor<?x?x2x128xf8E4M3FN>, %ks: tensor<?x2x?x4xf32>,
    %v: tensor<?x?x2x128xf8E4M3FN>, %vs: tensor<?x2x128xf32>) -> (tensor<?x?x8x128xf16>, tensor<?x8x?xf32>) {
  %o:2 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule, layout = #vcattn.layout<bthd>}
      : (tensor<?x?x8x128xf8E4M3FN>, tensor<?x8x?xf32>, tensor<?x?x2x128xf8E4M3FN>, tensor<?x2x?x4xf32>,
         tensor<?x?x2x128xf8E4M3FN>, tensor<?x2x128xf32>) -> (tensor<?x?x8x128xf16>, tensor<?x8x?xf32>)
  return %o#0, %o#1 : tensor<?x?x8x128xf16>, tensor<?x8x?xf32>
}

// Attention without a target is the CPU's.
// CHECK-LABEL: func @no_target
// CHECK-NEXT: vcattn.quantized_attention
func.func @no_target(%q: tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32> {
  %o = vcattn.quantized_attention %q, %q, %q {cast = #vcattn.cast<exact>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

// What limits the keys goes with it.
// CHECK-LABEL: func @limits
// CHECK-SAME: %[[MASK:[^: ]*]]: tensor<1x1x1x300xi1>, %[[N:[^: ]*]]: tensor<1xi32>, %[[B:[^: ]*]]: tensor<1x8x2x3xi1>
// CHECK: vcattn.packed_attention ins({{.*}}) mask(%[[MASK]] : tensor<1x1x1x300xi1>) lengths(%[[N]] : tensor<1xi32>) blocks(%[[B]] : tensor<1x8x2x3xi1>) outs({{.*}}) {
// CHECK-SAME: causal = #vcattn.causality<bottom_right>
// CHECK-SAME: window = #vcattn.window<left = 3>
func.func @limits(%q: tensor<1x8x200x128xi8>, %qs: tensor<1x8x200xf32>, %k: tensor<1x2x300x128xi8>, %ks: tensor<1x2x3x4xf32>,
                  %v: tensor<1x2x300x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>, %mask: tensor<1x1x1x300xi1>, %n: tensor<1xi32>, %b: tensor<1x8x2x3xi1>)
    -> tensor<1x8x200x128xbf16> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs mask %mask lengths %n blocks %b
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule,
       causal = #vcattn.causality<bottom_right>, window = #vcattn.window<left = 3>}
      : (tensor<1x8x200x128xi8>, tensor<1x8x200xf32>, tensor<1x2x300x128xi8>, tensor<1x2x3x4xf32>,
         tensor<1x2x300x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x1x1x300xi1>, tensor<1xi32>, tensor<1x8x2x3xi1>) -> tensor<1x8x200x128xbf16>
  return %o : tensor<1x8x200x128xbf16>
}

// Other dimensions: channels in whole eights, and room in global memory for the
// FP32 copies that shared memory has none for. The third result is dropped.
#wide = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 2, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 16>
// CHECK-LABEL: func @head_dims
// CHECK: vcattn.pack_values %{{.*}} : (tensor<1x1x8x250xf8E4M3FN>) -> tensor<1x1x1x264x128xf8E4M3FN>
// CHECK: vcattn.pack_means %{{.*}} -> tensor<1x1x1x32x2x8x8xf16>
// CHECK: %[[ROOM:.*]] = tensor.empty() : tensor<132x32768xf32>
// CHECK: %[[O:.*]]:2 = vcattn.packed_attention
// CHECK-SAME: outs(%{{.*}}, %[[ROOM]] : tensor<1x1x8x250xf32>, tensor<132x32768xf32>)
// CHECK: return %[[O]]#0
func.func @head_dims(%q: tensor<1x1x8x40xi8>, %qs: tensor<1x1x8xf32>, %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x250xf8E4M3FN>,
                     %vs: tensor<1x1x250xf32>) -> tensor<1x1x8x250xf32> {
  %o = vcattn.quantized_attention %q scale %qs, %q scale %ks, %v scale %vs
      {scale = 1.0 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #wide}
      : (tensor<1x1x8x40xi8>, tensor<1x1x8xf32>, tensor<1x1x8x40xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x250xf8E4M3FN>,
         tensor<1x1x250xf32>) -> tensor<1x1x8x250xf32>
  return %o : tensor<1x1x8x250xf32>
}
