// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize --cse --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --convert-vcattn-to-loops="target=gpu" --split-input-file | FileCheck %s --check-prefix=GPU

// Tiles of keys (transposed) and values in FP32, then one iteration per 32
// queries: scores, codes, values. Keys are a multiple of 64, so that every key
// of a tile is seen. A tile's means are those of its block of 128 keys.
// CHECK-LABEL: func.func @quantized
//       CHECK: %[[KEYS:.*]] = scf.forall {{.*}} -> (tensor<1x2x4x64x64xf32>)
//       CHECK: %[[VALUES:.*]] = scf.forall {{.*}} -> (tensor<1x2x4x64x64xf32>)
//       CHECK: %[[MEANS:.*]] = scf.forall {{.*}} -> (tensor<1x2x2x64xf32>)
//       CHECK:   arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
//       CHECK: scf.forall (%[[H:.*]], %{{.*}}) in (4, 2)
//       CHECK:   arith.divui %[[H]], %c2
//       CHECK:   %[[TILE:.*]] = tensor.extract_slice %[[KEYS]]
//       CHECK:   vector.transfer_read %[[TILE]]
//       CHECK:   math.fma
//   CHECK-NOT:   arith.cmpi s
// The raise, and the codes again.
//       CHECK:   arith.cmpf ugt
//       CHECK:   %[[ANY:.*]] = vector.reduction <or>
//       CHECK:   scf.if %[[ANY]]
//       CHECK:     arith.maxnumf
//       CHECK:   } else {
//       CHECK:   %[[BLOCK:.*]] = arith.divui %[[T:.*]], %c2
//       CHECK:   tensor.extract_slice %[[MEANS]][{{.*}}, %[[BLOCK]], 0]
//       CHECK:   tensor.extract_slice %[[VALUES]][{{.*}}, %[[T]], 0, 0]
//       CHECK:   tensor.parallel_insert_slice {{.*}} : tensor<?x64xbf16> into tensor<1x4x64x64xbf16>
// GPU-LABEL: func.func @quantized
//       GPU: vcattn.quantized_attention
func.func @quantized(%q: tensor<1x4x64x64xi8>, %qs: tensor<1x4x64xf32>,
                     %k: tensor<1x2x256x64xi8>, %ks: tensor<1x2x2x4xf32>,
                     %v: tensor<1x2x256x64xf8E4M3FN>, %vs: tensor<1x2x64xf32>,
                     %m: tensor<1x2x2x64xf32>) -> tensor<1x4x64x64xbf16> {
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      means %m {cast = #vcattn.cast<expcast>, scale = 0.125 : f64}
      : (tensor<1x4x64x64xi8>, tensor<1x4x64xf32>, tensor<1x2x256x64xi8>,
         tensor<1x2x2x4xf32>, tensor<1x2x256x64xf8E4M3FN>, tensor<1x2x64xf32>,
         tensor<1x2x2x64xf32>) -> tensor<1x4x64x64xbf16>
  return %0 : tensor<1x4x64x64xbf16>
}

// -----

// Floats: tiles with a value that is not finite go the way that skips what a
// query does not see. Causality limits keys and tiles.
// CHECK-LABEL: func.func @exact
//       CHECK: %[[T:.*]]:2 = scf.forall {{.*}} -> (tensor<1x1x5x64x64xf32>, tensor<1x1x5xi8>)
//       CHECK: scf.forall
//       CHECK:   arith.minsi
//       CHECK:   arith.ceildivui
//       CHECK:   math.fma
//       CHECK:   arith.cmpi sgt, %{{.*}}, %{{.*}} : vector<16xi32>
//       CHECK:   %[[FINITE:.*]] = tensor.extract %[[T]]#1
//       CHECK:   %[[IS_FINITE:.*]] = arith.cmpi ne, %[[FINITE]]
//       CHECK:   scf.if %[[IS_FINITE]]
//       CHECK:   } else {
//       CHECK:     arith.select
//       CHECK:   math.log2
//       CHECK:   tensor.parallel_insert_slice {{.*}} into tensor<1x?x1x50xf32>
//       CHECK:   tensor.parallel_insert_slice {{.*}} into tensor<1x1x?xf32>
func.func @exact(%q: tensor<1x?x1x64xf16>, %k: tensor<1x300x1x64xf16>,
                 %v: tensor<1x300x1x50xf16>)
    -> (tensor<1x?x1x50xf32>, tensor<1x1x?xf32>) {
  %0, %1 = vcattn.attention %q, %k, %v {scale = 0.125 : f64,
      causal = #vcattn.causality<top_left>, layout = #vcattn.layout<bthd>}
      : tensor<1x?x1x64xf16>, tensor<1x300x1x64xf16>, tensor<1x300x1x50xf16>
      -> tensor<1x?x1x50xf32>, tensor<1x1x?xf32>
  return %0, %1 : tensor<1x?x1x50xf32>, tensor<1x1x?xf32>
}
