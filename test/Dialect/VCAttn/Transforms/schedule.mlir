// RUN: vcattn-opt %s -vcattn-schedule | FileCheck %s
// RUN: vcattn-opt %s -vcattn-schedule=target=sm_90a | FileCheck %s
// RUN: vcattn-opt %s -vcattn-schedule=choices=tile_q=128,stages=3,promotion=64,ping_pong=true | FileCheck %s --check-prefix=CHOICES
// RUN: vcattn-opt %s -vcattn-schedule=choices=tile_q=64 | FileCheck %s --check-prefix=ONE
// An attention's own schedule stays, but for the fields that are chosen.
// RUN: vcattn-opt %s -vcattn-schedule=choices=tile_q=128,stages=3,promotion=64 -vcattn-schedule=choices=ping_pong=true \
// RUN:   | FileCheck %s --check-prefix=CHOICES
// RUN: vcattn-opt %s -vcattn-schedule=report=true 2>&1 | FileCheck %s --check-prefix=REPORT

// CHECK-LABEL: func @codes
// CHECK: vcattn.quantized_attention
// CHECK-SAME: schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 4, consumers = 3, producer_registers = 24, consumer_registers = 160, ping_pong = false, promotion = 32>
// CHECK-SAME: target = #vcattn.target<"sm_90a">
// CHOICES-LABEL: func @codes
// CHOICES: tile_q = 128, tile_k = 64, stages = 3, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 64>
// ONE-LABEL: func @codes
// ONE: tile_q = 64, tile_k = 64, stages = 4, consumers = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, promotion = 32>
// REPORT: schedule.mlir:[[@LINE+3]]:8: remark: schedule: tile_q=192,tile_k=64,stages=4,consumers=3,producer_registers=24,consumer_registers=160,ping_pong=false,promotion=32
func.func @codes(%q: tensor<1x1x?x128xi8>, %qs: tensor<1x1x?xf32>, %k: tensor<1x1x8x128xi8>, %ks: tensor<1x1x1x4xf32>,
                 %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x?x128xf32> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x?x128xi8>, tensor<1x1x?xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>,
         tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x?x128xf32>
  return %o : tensor<1x1x?x128xf32>
}

// Few queries, as their types tell: a tile of 64, unless that is chosen.
// CHECK-LABEL: func @few
// CHECK: tile_q = 64, tile_k = 64, stages = 4, consumers = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, promotion = 32>
// ONE-LABEL: func @few
// ONE: tile_q = 64,
func.func @few(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %k: tensor<1x1x8x128xi8>, %ks: tensor<1x1x1x4xf32>,
                 %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>,
         tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// Only where all keys are seen.
// CHECK-LABEL: func @causal
// CHECK: tile_q = 192, tile_k = 64, stages = 4,
func.func @causal(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %k: tensor<1x1x8x128xi8>, %ks: tensor<1x1x1x4xf32>,
                 %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, causal = #vcattn.causality<top_left>, scale = 1.0 : f64}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>,
         tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// Exact attention has no kernel to schedule.
// CHECK-LABEL: func @exact
// CHECK: vcattn.attention %{{.*}} {scale = 1.000000e+00 : f64}
func.func @exact(%q: tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32> {
  %o = vcattn.attention %q, %q, %q {scale = 1.0 : f64}
      : tensor<1x1x8x128xf32>, tensor<1x1x8x128xf32>, tensor<1x1x8x128xf32> -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// Three consumers, unless a block mask wants tiles of 128 queries or values are
// wide; small dimensions leave room for more stages.
// CHECK-LABEL: func @head_dims
// CHECK: tile_q = 192, tile_k = 64, stages = 8, consumers = 3, {{.*}} : (tensor<1x1x8x40xf32>
// CHECK: tile_q = 128, tile_k = 64, stages = 4, consumers = 2, {{.*}} ping_pong = false, {{.*}} : (tensor<1x1x8x40xf32>
// CHECK: tile_q = 192, tile_k = 64, stages = 4, consumers = 3, {{.*}} : (tensor<1x1x8x192xf32>
// CHECK: tile_q = 128, tile_k = 64, stages = 4, consumers = 2, {{.*}} ping_pong = true, {{.*}} : (tensor<1x1x8x40xf32>
func.func @head_dims(%small: tensor<1x1x8x40xf32>, %blocks: tensor<1x1x1x1xi1>, %k: tensor<1x1x8x192xf32>, %v: tensor<1x1x8x128xf32>, %large: tensor<1x1x8x256xf32>)
    -> (tensor<1x1x8x40xf32>, tensor<1x1x8x128xf32>, tensor<1x1x8x256xf32>) {
  %0 = vcattn.quantized_attention %small, %small, %small {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x40xf32>, tensor<1x1x8x40xf32>, tensor<1x1x8x40xf32>) -> tensor<1x1x8x40xf32>
  %blocked = vcattn.quantized_attention %small, %small, %small blocks %blocks {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x40xf32>, tensor<1x1x8x40xf32>, tensor<1x1x8x40xf32>, tensor<1x1x1x1xi1>) -> tensor<1x1x8x40xf32>
  %1 = vcattn.quantized_attention %k, %k, %v {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x192xf32>, tensor<1x1x8x192xf32>, tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32>
  %2 = vcattn.quantized_attention %small, %small, %large {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x40xf32>, tensor<1x1x8x40xf32>, tensor<1x1x8x256xf32>) -> tensor<1x1x8x256xf32>
  return %0, %1, %2 : tensor<1x1x8x40xf32>, tensor<1x1x8x128xf32>, tensor<1x1x8x256xf32>
}
