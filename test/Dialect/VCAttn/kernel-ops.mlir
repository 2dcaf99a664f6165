// RUN: vcattn-opt %s | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s --mlir-print-op-generic | vcattn-opt | FileCheck %s

!keys = !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>
!means = !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>>
!rows = !vcattn.fragment<64xf32, rows>
!maxima = !vcattn.fragment<64xf32, maxima>
!scores = !vcattn.fragment<64x64xi32, scores>
!multipliers = !vcattn.fragment<64x4xf32, multipliers>
!levels = !vcattn.fragment<64x64xi16, levels>
!probabilities = !vcattn.fragment<64x64xf8E4M3FN, probabilities>
!accumulator = !vcattn.fragment<64x136xf32, accumulator>
!row_sums = !vcattn.fragment<64x8xf16, row_sums>

// CHECK-LABEL: func @pipelines
func.func @pipelines(%map: !vcattn.tensor_map, %memory: memref<?x16x2x8x8xf16>, %i: i32, %j: index, %c: i1) {
  // CHECK: %[[KEYS:.*]] = vcattn.create_pipeline consumers 2 : <4 x !vcattn.tile<128x128xi8>>
  %keys = vcattn.create_pipeline consumers 2 : !keys
  %means = vcattn.create_pipeline consumers 2 : !means
  // CHECK: %[[TOTALS:.*]] = vcattn.shared_tile : <128x128xf32>
  %totals = vcattn.shared_tile : !vcattn.tile<128x128xf32>
  // CHECK: vcattn.warp_specialize producer registers 24 {
  vcattn.warp_specialize producer registers 24 {
    // CHECK: vcattn.acquire %[[KEYS]][%{{.*}}] : <4 x
    vcattn.acquire %keys[%i] : !keys
    // CHECK: vcattn.load_tile %{{.*}}[%{{.*}}, %{{.*}}] to %[[KEYS]][%{{.*}}]
    vcattn.load_tile %map[%i, %i] to %keys[%i] : !keys
    // CHECK: vcattn.load_bytes %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}] : memref<?x16x2x8x8xf16>, <2 x
    vcattn.load_bytes %memory[%j, %j, %j, %j, %j] to %means[%i] : memref<?x16x2x8x8xf16>, !means
  // CHECK: } consumers 2 registers 240 {
  } consumers 2 registers 240 {
  // CHECK: ^bb0(%[[ME:.*]]: i32):
  ^bb0(%me: i32):
    // CHECK: vcattn.take_turn %[[ME]]
    vcattn.take_turn %me
    // CHECK: %[[TILE:.*]] = vcattn.wait_tile %[[KEYS]][%{{.*}}] : <4 x
    %tile = vcattn.wait_tile %keys[%i] : !keys -> !vcattn.tile<128x128xi8>
    // CHECK: %[[FULL:.*]] = vcattn.test_tile %[[KEYS]][%{{.*}}] : <4 x !vcattn.tile<128x128xi8>>
    %full = vcattn.test_tile %keys[%i] : !keys
    // CHECK: vcattn.wait_tile %[[KEYS]][%{{.*}}] unless %[[FULL]] : <4 x !vcattn.tile<128x128xi8>> -> <128x128xi8>
    %next = vcattn.wait_tile %keys[%i] unless %full : !keys -> !vcattn.tile<128x128xi8>
    // CHECK: vcattn.tile_rows %[[TILE]][%[[ME]]] : <128x128xi8> -> <64x128xi8>
    %mine = vcattn.tile_rows %tile[%me] : !vcattn.tile<128x128xi8> -> !vcattn.tile<64x128xi8>
    // CHECK: vcattn.pass_turn %[[ME]]
    vcattn.pass_turn %me
    // CHECK: vcattn.release %[[KEYS]][%{{.*}}] : <4 x
    vcattn.release %keys[%i] : !keys
    // CHECK: vcattn.release %{{.*}}[%{{.*}}] if %{{.*}} : <2 x
    vcattn.release %means[%i] if %c : !means
    // CHECK: vcattn.clear_total %[[TOTALS]] columns 128 : !vcattn.tile<128x128xf32>
    vcattn.clear_total %totals columns 128 : !vcattn.tile<128x128xf32>
  }
  return
}

// CHECK-LABEL: func @products
func.func @products(%q: !vcattn.tile<64x128xi8>, %k: !vcattn.tile<64x128xi8>, %v: !vcattn.tile<136x64xf8E4M3FN>,
                    %m: !vcattn.tile<128x16xf16>, %acc: !accumulator, %p: !probabilities, %sums: !row_sums, %upper: i1)
    -> (!scores, !accumulator) {
  // CHECK: %[[S:.*]] = vcattn.mma_scores %{{.*}}, %{{.*}} : <64x128xi8>, <64x128xi8> -> <!vcattn.fragment<64x64xi32, scores>>
  %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xi8>, !vcattn.tile<64x128xi8> -> !vcattn.in_flight<!scores>
  // CHECK: vcattn.mma_commit
  vcattn.mma_commit
  // CHECK: %[[A:.*]] = vcattn.mma_means %{{.*}}, %{{.*}}, %{{.*}} upper %{{.*}} : !vcattn.fragment<64x136xf32, accumulator>
  %a = vcattn.mma_means %acc, %sums, %m upper %upper : !accumulator, !row_sums, !vcattn.tile<128x16xf16> -> !vcattn.in_flight<!accumulator>
  // CHECK: vcattn.mma_values %[[A]], %{{.*}}, %{{.*}} : !vcattn.in_flight<!vcattn.fragment<64x136xf32, accumulator>>
  %b = vcattn.mma_values %a, %p, %v : !vcattn.in_flight<!accumulator>, !probabilities, !vcattn.tile<136x64xf8E4M3FN> -> !vcattn.in_flight<!accumulator>
  vcattn.mma_commit
  // CHECK: vcattn.mma_wait %[[S]] outstanding 1
  %scores = vcattn.mma_wait %s outstanding 1 : !vcattn.in_flight<!scores> -> !scores
  %out = vcattn.mma_wait %b outstanding 0 : !vcattn.in_flight<!accumulator> -> !accumulator
  return %scores, %out : !scores, !accumulator
}

// CHECK-LABEL: func @softmax
func.func @softmax(%scales: memref<?x?x?xf32>, %key_scales: memref<?x?x?x4xf32>, %i: index, %f: f32, %n: i32, %s: !scores, %m: !maxima)
    -> (!probabilities, !probabilities, !probabilities, !rows) {
  // CHECK: %[[ROWS:.*]] = vcattn.load_rows %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] times %{{.*}} : memref<?x?x?xf32> -> <64xf32, rows>
  %rows = vcattn.load_rows %scales[%i, %i, %i] times %f : memref<?x?x?xf32> -> !rows
  // CHECK: %[[A:.*]] = vcattn.load_multipliers %[[ROWS]], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}]
  %a = vcattn.load_multipliers %rows, %key_scales[%i, %i, %i] : !rows, memref<?x?x?x4xf32> -> !multipliers
  // CHECK: vcattn.check_maximum <expcast> %{{.*}}, %[[A]], %{{.*}} valid %{{.*}} :
  %above = vcattn.check_maximum <expcast> %s, %a, %m valid %n : !scores, !multipliers, !maxima
  // CHECK: vcattn.check_maximum <exact> %{{.*}}, %[[A]], %{{.*}} :
  %exact_above = vcattn.check_maximum <exact> %s, %a, %m : !scores, !multipliers, !maxima
  // CHECK: vcattn.check_maximum <hybrid> %{{.*}}, %[[A]], %{{.*}} : <64x64xi32, scores>, <64x4xf32, multipliers>, <64xf32, maxima>
  %hybrid_above = vcattn.check_maximum <hybrid> %s, %a, %m : !scores, !multipliers, !maxima
  // CHECK: vcattn.recompute %{{.*}}
  %again = vcattn.recompute %n
  // CHECK: %[[L:.*]], %{{.*}} = vcattn.cast_scores <expcast> %{{.*}}, %[[A]], %{{.*}} valid %{{.*}} saturate :
  %l, %overflow = vcattn.cast_scores <expcast> %s, %a, %m valid %n saturate : !scores, !multipliers, !maxima -> !levels
  // CHECK: %[[E:.*]], %{{.*}} = vcattn.cast_scores <exact> %{{.*}}, %[[A]], %{{.*}} :
  %le, %exact_overflow = vcattn.cast_scores <exact> %s, %a, %m : !scores, !multipliers, !maxima -> !levels
  // CHECK: %[[H:.*]], %{{.*}} = vcattn.cast_scores <hybrid> %{{.*}}, %[[A]], %{{.*}} : {{.*}} -> <64x64xi16, levels>
  %lh, %hybrid_overflow = vcattn.cast_scores <hybrid> %s, %a, %m : !scores, !multipliers, !maxima -> !levels
  // CHECK: %[[MAX:.*]], %[[FACTOR:.*]] = vcattn.raise_maximum <exact> %{{.*}}, %[[A]], %{{.*}} :
  %max, %factor = vcattn.raise_maximum <exact> %s, %a, %m : !scores, !multipliers, !maxima
  // CHECK: vcattn.raise_maximum <hybrid> %{{.*}}, %[[A]], %[[MAX]] : {{.*}}, <64xf32, maxima>
  %max1, %factor1 = vcattn.raise_maximum <hybrid> %s, %a, %max : !scores, !multipliers, !maxima
  // CHECK: vcattn.rescale %{{.*}} by %[[FACTOR]] : !vcattn.fragment<64xf32, rows>, <64xf32, rows>
  %r = vcattn.rescale %rows by %factor : !rows, !rows
  // CHECK: vcattn.pack_probabilities <expcast> %[[L]] : <64x64xi16, levels> -> <64x64xf8E4M3FN, probabilities>
  %p = vcattn.pack_probabilities <expcast> %l : !levels -> !probabilities
  // CHECK: vcattn.pack_probabilities <exact> %[[E]] :
  %pe = vcattn.pack_probabilities <exact> %le : !levels -> !probabilities
  // CHECK: vcattn.pack_probabilities <hybrid> %[[H]] :
  %ph = vcattn.pack_probabilities <hybrid> %lh : !levels -> !probabilities
  return %p, %pe, %ph, %r : !probabilities, !probabilities, !probabilities, !rows
}

// CHECK-LABEL: func @accumulate
func.func @accumulate(%acc: !accumulator, %total: !vcattn.tile<64x128xf32>, %vs: memref<?x?x128xf32>,
                      %out: memref<?x?x?x128xbf16>, %lse: memref<?x?x?xf32>, %i: index) {
  // CHECK: %[[ONE:.*]] = vcattn.fill 1.000000e+00 : <64xf32, rows>
  %one = vcattn.fill 1.0 : !rows
  // CHECK: %[[MAX:.*]] = vcattn.fill 0xFF800000 : <64xf32, maxima>
  %max = vcattn.fill 0xFF800000 : !maxima
  // CHECK: vcattn.take_row_sums %{{.*}}, %[[ONE]]
  %rest, %sum, %sums = vcattn.take_row_sums %acc, %one : !accumulator, !rows -> !row_sums
  // CHECK: vcattn.promote %{{.*}}, %{{.*}} times %[[ONE]]
  %a = vcattn.promote %rest, %total times %one : !accumulator, !vcattn.tile<64x128xf32>, !rows
  // CHECK: vcattn.merge
  %b = vcattn.merge %a, %total times %one : !accumulator, !vcattn.tile<64x128xf32>, !rows
  // CHECK: vcattn.normalize_and_store %{{.*}}, %{{.*}}, %[[MAX]], {{.*}} lse %{{.*}} {layout = #vcattn.layout<bthd>}
  vcattn.normalize_and_store %b, %sum, %max, %vs[%i, %i] to %out[%i, %i, %i] lse %lse {layout = #vcattn.layout<bthd>}
      : !accumulator, !rows, !maxima, memref<?x?x128xf32>, memref<?x?x?x128xbf16>, memref<?x?x?xf32>
  // CHECK: vcattn.normalize_and_store
  // CHECK-NOT: lse
  vcattn.normalize_and_store %b, %sum, %max, %vs[%i, %i] to %out[%i, %i, %i]
      : !accumulator, !rows, !maxima, memref<?x?x128xf32>, memref<?x?x?x128xbf16>
  return
}
