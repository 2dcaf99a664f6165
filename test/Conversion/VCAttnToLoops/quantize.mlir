// RUN: vcattn-opt %s --convert-vcattn-to-loops --canonicalize --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --convert-vcattn-to-loops=target=gpu --canonicalize --split-input-file | FileCheck %s --check-prefix=GPU

// One scale per token: everything in one loop.
// CHECK-LABEL: func.func @token
//       CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 40)
//       CHECK:   math.absf
//       CHECK:   arith.maximumf
//       CHECK:   %[[SCALE:.*]] = arith.divf %[[A:.*]], %[[TOP:.*]] : f32
//       CHECK:   %[[INVERSE:.*]] = arith.divf %[[TOP]], %[[A]] : f32
//       CHECK:   arith.maxnumf
//       CHECK:   arith.minnumf
//       CHECK:   math.roundeven
//       CHECK:   tensor.parallel_insert_slice {{.*}} : tensor<16xi8> into tensor<1x2x40x16xi8>
//       CHECK:   tensor.parallel_insert_slice {{.*}} : tensor<1xf32> into tensor<1x2x40xf32>
//   CHECK-NOT: scf.forall (
func.func @token(%x: tensor<1x2x40x16xf32>)
    -> (tensor<1x2x40x16xi8>, tensor<1x2x40xf32>) {
  %0:2 = vcattn.quantize %x
      {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<1x2x40x16xf32>) -> (tensor<1x2x40x16xi8>, tensor<1x2x40xf32>)
  return %0#0, %0#1 : tensor<1x2x40x16xi8>, tensor<1x2x40xf32>
}

// -----

// Rows, then groups of a block, then scales, then codes.
// CHECK-LABEL: func.func @block
//       CHECK: %[[ROWS:.*]] = scf.forall (%{{.*}}, %{{.*}}) in (2, 300)
//       CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 3, 4)
//       CHECK:   scf.for {{.*}} step %c8
//       CHECK:     tensor.extract %[[ROWS]]
//       CHECK: %[[S:.*]]:2 = scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (2, 3, 4)
//       CHECK: scf.forall (%{{.*}}, %[[T:.*]]) in (2, 300)
//       CHECK:   %[[BLOCK:.*]] = arith.divui %[[T]]
//       CHECK:   %[[IN:.*]] = arith.remui %[[T]]
//       CHECK:   %[[SLOT:.*]] = arith.remui %[[IN]]
//       CHECK:   %[[GROUP:.*]] = arith.divui %[[SLOT]]
//       CHECK:   tensor.extract %[[S]]#1[%{{.*}}, %{{.*}}, %[[BLOCK]], %[[GROUP]]]
func.func @block(%x: tensor<1x2x300x16xf32>)
    -> (tensor<1x2x300x16xi8>, tensor<1x2x3x4xf32>) {
  %0:2 = vcattn.quantize %x {format = #vcattn.format<i8>,
      granularity = #vcattn.granularity<block>, groups = 4 : i64}
      : (tensor<1x2x300x16xf32>) -> (tensor<1x2x300x16xi8>, tensor<1x2x3x4xf32>)
  return %0#0, %0#1 : tensor<1x2x300x16xi8>, tensor<1x2x3x4xf32>
}

// -----

// Channels are bounded by the means; E4M3 is rounded in integers.
// CHECK-LABEL: func.func @channel
//  CHECK-SAME: %[[X:.*]]: tensor<1x2x300x16xf32>, %[[M:.*]]: tensor<1x2x3x16xf32>
//       CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 3)
//       CHECK: scf.forall (%{{.*}}) in (2)
//       CHECK:   vector.transfer_read %[[M]]
//       CHECK:   arith.mulf
//       CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 16)
//       CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 300)
//   CHECK-NOT:   arith.truncf
//       CHECK:   arith.bitcast %{{.*}} : vector<16xi8> to vector<16xf8E4M3FN>
func.func @channel(%x: tensor<1x2x300x16xf32>, %m: tensor<1x2x3x16xf32>)
    -> (tensor<1x2x300x16xf8E4M3FN>, tensor<1x2x16xf32>) {
  %0:2 = vcattn.quantize %x bound %m {format = #vcattn.format<f8E4M3FN>,
      granularity = #vcattn.granularity<channel>}
      : (tensor<1x2x300x16xf32>, tensor<1x2x3x16xf32>)
      -> (tensor<1x2x300x16xf8E4M3FN>, tensor<1x2x16xf32>)
  return %0#0, %0#1 : tensor<1x2x300x16xf8E4M3FN>, tensor<1x2x16xf32>
}

// -----

// Two E2M1 codes per byte, one E4M3 scale per 16.
// CHECK-LABEL: func.func @e2m1
//       CHECK: scf.forall
//       CHECK:   tensor.parallel_insert_slice {{.*}} : tensor<16xi8> into tensor<1x2x40x16xi8>
//       CHECK:   tensor.parallel_insert_slice {{.*}} : tensor<2xf8E4M3FN> into tensor<1x2x40x2xf8E4M3FN>
func.func @e2m1(%x: tensor<1x2x40x32xf32>)
    -> (tensor<1x2x40x16xi8>, tensor<1x2x40xf32>, tensor<1x2x40x2xf8E4M3FN>) {
  %0:3 = vcattn.quantize %x {format = #vcattn.format<f4E2M1FN>,
      granularity = #vcattn.granularity<token>} : (tensor<1x2x40x32xf32>)
      -> (tensor<1x2x40x16xi8>, tensor<1x2x40xf32>, tensor<1x2x40x2xf8E4M3FN>)
  return %0#0, %0#1, %0#2
      : tensor<1x2x40x16xi8>, tensor<1x2x40xf32>, tensor<1x2x40x2xf8E4M3FN>
}

// -----

// On a GPU rows of codes start on multiples of 16 bytes, as tensor maps want.
// CHECK-LABEL: func.func @row_pitch
// CHECK: tensor.empty() : tensor<1x2x8x40xi8>
// GPU-LABEL: func.func @row_pitch
// GPU: %[[ROOM:.*]] = tensor.empty() : tensor<1x2x8x48xi8>
// GPU: tensor.extract_slice %[[ROOM]][0, 0, 0, 0] [1, 2, 8, 40] [1, 1, 1, 1] : tensor<1x2x8x48xi8> to tensor<1x2x8x40xi8>
func.func @row_pitch(%x: tensor<1x2x8x40xf32>) -> (tensor<1x2x8x40xi8>, tensor<1x2x8xf32>) {
  %codes, %scales = vcattn.quantize %x {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<1x2x8x40xf32>) -> (tensor<1x2x8x40xi8>, tensor<1x2x8xf32>)
  return %codes, %scales : tensor<1x2x8x40xi8>, tensor<1x2x8xf32>
}
