// RUN: not vcattn-opt %s -vcattn-schedule=target=sm_80 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not vcattn-opt %s -vcattn-schedule=target=sm_103a 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not vcattn-opt %s -vcattn-schedule=choices=stages=6 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: not vcattn-opt %s -vcattn-schedule=choices=tile_q=128,consumers=3 2>&1 | FileCheck %s --check-prefix=CONSUMERS
// RUN: not vcattn-opt %s -vcattn-schedule=choices=tile_q=64,ping_pong=true 2>&1 | FileCheck %s --check-prefix=TURNS
// RUN: not vcattn-opt %s -vcattn-schedule=choices=stages=1 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not vcattn-opt %s -vcattn-schedule=choices=tile_k=128 2>&1 | FileCheck %s --check-prefix=TILEK
// RUN: not vcattn-opt %s -vcattn-schedule=choices=promotion=24 2>&1 | FileCheck %s --check-prefix=PROMOTION
// RUN: not vcattn-opt %s -vcattn-schedule=choices=ping_pong=yes 2>&1 | FileCheck %s --check-prefix=PING-PONG
// RUN: not vcattn-opt %s -vcattn-schedule=choices=stages 2>&1 | FileCheck %s --check-prefix=NO-VALUE
// RUN: not vcattn-opt %s -vcattn-schedule=choices=stage=3 2>&1 | FileCheck %s --check-prefix=FIELD

// STAGES: error: vcattn-schedule: a schedule's stages is 2..8, not '1'
// TILEK: error: vcattn-schedule: a schedule's tile_k is 64, not '128'
// PROMOTION: error: vcattn-schedule: a schedule's promotion is 16, 32, ... 1024, not '24'
// PING-PONG: error: vcattn-schedule: a schedule's ping_pong is false|true, not 'yes'
// NO-VALUE: error: vcattn-schedule: a schedule's stages is 2..8, not ''
// FIELD: error: vcattn-schedule: a schedule has no field 'stage'; there are tile_q, tile_k, stages, consumers, producer_registers, consumer_registers, ping_pong, promotion

func.func @codes(%q: tensor<1x1x?x128xi8>, %qs: tensor<1x1x?xf32>, %k: tensor<1x1x8x128xi8>, %ks: tensor<1x1x1x4xf32>,
                 %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x?x128xf32> {
  // ROOM: schedule-invalid.mlir:[[@LINE+5]]:8: error: 'vcattn.quantized_attention' op schedule needs 232720 bytes of shared memory, sm_90a has 232448
  // UNKNOWN: schedule-invalid.mlir:[[@LINE+4]]:8: error: unknown target 'sm_80', expected one of sm_90a, sm_100a, sm_103a, sm_120a
  // NONE: schedule-invalid.mlir:[[@LINE+3]]:8: error: no schedule is known for target sm_103a with head dimension 128 and value dimension 128
  // CONSUMERS: schedule-invalid.mlir:[[@LINE+2]]:8: error: tile_q (128) must be a positive multiple of consumers (3)
  // TURNS: schedule-invalid.mlir:[[@LINE+1]]:8: error: ping_pong needs 2 consumers, got 1
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x?x128xi8>, tensor<1x1x?xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>,
         tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x?x128xf32>
  return %o : tensor<1x1x?x128xf32>
}
