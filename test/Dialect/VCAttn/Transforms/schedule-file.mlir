// Schedules that were stored are used for attentions with their key, and for no
// others; what is wrong with a file is said with its place.
//
// RUN: split-file %s %t
// RUN: vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/good.json | FileCheck %s
// RUN: vcattn-opt %t/codes.mlir -vcattn-schedule="file=%t/good.json choices=promotion=64" | FileCheck %s --check-prefix=CHOICES
// CHECK-LABEL: func @few
// CHECK: tile_q = 64, tile_k = 64, stages = 5, consumers = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, promotion = 32>
// CHECK-LABEL: func @open
// CHECK: tile_q = 192, tile_k = 64, stages = 4, consumers = 3,
// CHOICES-LABEL: func @few
// CHOICES: stages = 5, {{.*}} promotion = 64>

// RUN: not vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/missing.json 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/truncated.json 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// RUN: not vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/version.json 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/type.json 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/sizes.json 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/field.json 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not vcattn-opt %t/codes.mlir -vcattn-schedule=file=%t/room.json 2>&1 | FileCheck %s --check-prefix=ROOM
// MISSING: error: schedule file {{.*}}missing.json: No such file or directory
// TRUNCATED: error: schedule file {{.*}}truncated.json:4:0: Expected : after object key
// VERSION: error: schedule file {{.*}}version.json: version 2, where this program knows 1
// TYPE: error: schedule file {{.*}}type.json: expected integer at schedules.schedules[0].head_dim
// SIZES: error: schedule file {{.*}}sizes.json: expected few, decode, short, medium, long or open at schedules.schedules[0].sizes
// FIELD: error: schedule file {{.*}}field.json: no such field, or no such value of it at schedules.schedules[0].schedule.stages
// ROOM: codes.mlir:2:8: error: 'vcattn.quantized_attention' op schedule needs {{[0-9]+}} bytes of shared memory, sm_90a has 232448

//--- codes.mlir
func.func @few(%q: tensor<1x1x8x128xi8>, %qs: tensor<1x1x8xf32>, %k: tensor<1x1x8x128xi8>, %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x128xi8>, tensor<1x1x8xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}
func.func @open(%q: tensor<1x1x?x128xi8>, %qs: tensor<1x1x?xf32>, %k: tensor<1x1x8x128xi8>, %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x128xf8E4M3FN>, %vs: tensor<1x1x128xf32>) -> tensor<1x1x?x128xf32> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x?x128xi8>, tensor<1x1x?xf32>, tensor<1x1x8x128xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x128xf8E4M3FN>, tensor<1x1x128xf32>) -> tensor<1x1x?x128xf32>
  return %o : tensor<1x1x?x128xf32>
}
//--- good.json
{"version": 1,
 "schedules": [{"target": "sm_90a", "head_dim": 128, "value_dim": 128, "cast": "expcast", "scores": "i8", "causal": "none",
                "sizes": "few", "schedule": {"tile_q": "64", "stages": "5"}, "device": "a card", "milliseconds": 0.5}]}
//--- truncated.json
{"version": 1,
 "schedules": [{"target": "sm_90a", "head_dim": 128,
                "value_dim": 128, "cast"
//--- version.json
{"version": 2, "schedules": []}
//--- type.json
{"version": 1,
 "schedules": [{"target": "sm_90a", "head_dim": "128", "value_dim": 128, "cast": "expcast", "scores": "i8", "causal": "none",
                "sizes": "few", "schedule": {}, "device": "a card", "milliseconds": 0.5}]}
//--- sizes.json
{"version": 1,
 "schedules": [{"target": "sm_90a", "head_dim": 128, "value_dim": 128, "cast": "expcast", "scores": "i8", "causal": "none",
                "sizes": "tiny", "schedule": {}, "device": "a card", "milliseconds": 0.5}]}
//--- field.json
{"version": 1,
 "schedules": [{"target": "sm_90a", "head_dim": 128, "value_dim": 128, "cast": "expcast", "scores": "i8", "causal": "none",
                "sizes": "few", "schedule": {"stages": "many"}, "device": "a card", "milliseconds": 0.5}]}
//--- room.json
{"version": 1,
 "schedules": [{"target": "sm_90a", "head_dim": 128, "value_dim": 128, "cast": "expcast", "scores": "i8", "causal": "none",
                "sizes": "few", "schedule": {"tile_q": "192", "stages": "8"}, "device": "a card", "milliseconds": 0.5}]}
