// RUN: not vcattn-opt %s -vcattn-schedule=target=sm_80 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not vcattn-opt %s -vcattn-schedule=target=sm_103a 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not vcattn-opt %s -vcattn-schedule=stages=5 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: not vcattn-opt %s -vcattn-schedule=stages=1 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not vcattn-opt %s -vcattn-schedule=tile-k=100 2>&1 | FileCheck %s --check-prefix=TILEK
// RUN: not vcattn-opt %s -vcattn-schedule="consumers=3" 2>&1 | FileCheck %s --check-prefix=CONSUMERS

func.func @codes(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %k: tensor<1x1x8x128xi8>, %ks: tensor<1x1x1x4xf32>,
                 %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  // ROOM: schedule-invalid.mlir:[[@LINE+6]]:8: error: 'vcattn.quantized_attention' op schedule needs 259280 bytes of shared memory, sm_90a has 232448
  // UNKNOWN: schedule-invalid.mlir:[[@LINE+5]]:8: error: unknown target 'sm_80', expected one of sm_90a, sm_100a, sm_103a, sm_120a
  // NONE: schedule-invalid.mlir:[[@LINE+4]]:8: error: no schedule is known for target sm_103a with head dimension 128 and value dimension 128
  // STAGES: schedule-invalid.mlir:[[@LINE+3]]:8: error: stages must be at least 2, got 1
  // TILEK: schedule-invalid.mlir:[[@LINE+2]]:8: error: tile_k must be a positive multiple of 128, got 100
  // CONSUMERS: schedule-invalid.mlir:[[@LINE+1]]:8: error: tile_q (128) must be a positive multiple of consumers (3)
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>,
         tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}
