// RUN: vcattn-opt %s --one-shot-bufferize="bufferize-function-boundaries" --split-input-file | FileCheck %s

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4,
                             consumers = 2, producer_registers = 24,
                             consumer_registers = 240, ping_pong = true,
                             promotion = 32>

// The outputs are overwritten: no copy of what they held.
// CHECK-LABEL: func @attend
// CHECK: %[[OUT:.*]] = memref.alloc() {{.*}} : memref<1x4x300x128xbf16>
// CHECK: %[[LSE:.*]] = memref.alloc() {{.*}} : memref<1x4x300xf32>
// CHECK-NOT: memref.copy
// CHECK: vcattn.packed_attention ins(
// CHECK-SAME: outs(%[[OUT]], %[[LSE]] : memref<1x4x300x128xbf16>, memref<1x4x300xf32>)
// CHECK-NOT: memref.copy
func.func @attend(%q: tensor<1x4x300x128xi8>, %qs: tensor<1x4x300xf32>,
                  %k: tensor<1x2x200x128xi8>, %ks: tensor<1x2x2x4xf32>,
                  %v: tensor<1x2x2x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>,
                  %m: tensor<1x2x1x16x2x8x8xf16>)
    -> (tensor<1x4x300x128xbf16>, tensor<1x4x300xf32>) {
  %out = tensor.empty() : tensor<1x4x300x128xbf16>
  %lse = tensor.empty() : tensor<1x4x300xf32>
  %r:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x4x300x128xi8>, tensor<1x4x300xf32>,
          tensor<1x2x200x128xi8>, tensor<1x2x2x4xf32>, tensor<1x2x2x136x128xf8E4M3FN>,
          tensor<1x2x128xf32>, tensor<1x2x1x16x2x8x8xf16>)
      outs(%out, %lse : tensor<1x4x300x128xbf16>, tensor<1x4x300xf32>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
      -> tensor<1x4x300x128xbf16>, tensor<1x4x300xf32>
  return %r#0, %r#1 : tensor<1x4x300x128xbf16>, tensor<1x4x300xf32>
}
