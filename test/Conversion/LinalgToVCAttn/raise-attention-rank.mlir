// RUN: vcattn-opt %s -vcattn-raise-attention | FileCheck %s

// Ranks other than 4, and batch dimensions that were collapsed.

#q2 = affine_map<(m, n, d) -> (m, d)>
#k2 = affine_map<(m, n, d) -> (n, d)>
#s2 = affine_map<(m, n, d) -> (m, n)>
#p2 = affine_map<(m, d, n) -> (m, n)>
#v2 = affine_map<(m, d, n) -> (n, d)>
#o2 = affine_map<(m, d, n) -> (m, d)>
#q3 = affine_map<(b, m, n, d) -> (b, m, d)>
#k3 = affine_map<(b, m, n, d) -> (b, n, d)>
#s3 = affine_map<(b, m, n, d) -> (b, m, n)>
#p3 = affine_map<(b, m, d, n) -> (b, m, n)>
#v3 = affine_map<(b, m, d, n) -> (b, n, d)>
#o3 = affine_map<(b, m, d, n) -> (b, m, d)>

// CHECK-LABEL: func @rank_2
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[Q4:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0, 1, 2], [3]] output_shape [1, 1, 64, 32]
// CHECK: %[[K4:.*]] = tensor.expand_shape %[[K]]
// CHECK: %[[V4:.*]] = tensor.expand_shape %[[V]]
// CHECK: %[[O:.*]] = vcattn.attention %[[Q4]], %[[K4]], %[[V4]] {scale = 1.000000e+00 : f64}
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[O]] {{\[\[}}0, 1, 2], [3]]
// CHECK-NEXT: return %[[C]]
func.func @rank_2(%q: tensor<64x32xf32>, %k: tensor<96x32xf32>, %v: tensor<96x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<64x96xf32>) -> tensor<64x96xf32>
  %s = linalg.contract indexing_maps = [#q2, #k2, #s2]
      ins(%q, %k : tensor<64x32xf32>, tensor<96x32xf32>) outs(%sz : tensor<64x96xf32>) -> tensor<64x96xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<64x96xf32>) outs(%se : tensor<64x96xf32>) -> tensor<64x96xf32>
  %oe = tensor.empty() : tensor<64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<64x48xf32>) -> tensor<64x48xf32>
  %o = linalg.contract indexing_maps = [#p2, #v2, #o2]
      ins(%p, %v : tensor<64x96xf32>, tensor<96x48xf32>) outs(%oz : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %o : tensor<64x48xf32>
}

// Batch and heads collapsed for a batch_matmul, and expanded again.
// CHECK-LABEL: func @collapsed
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[O]]
func.func @collapsed(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x4x96x32xf32> into tensor<8x96x32xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x96x48xf32> into tensor<8x96x48xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %kc : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %vc : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 64, 48] : tensor<8x64x48xf32>
      into tensor<2x4x64x48xf32>
  return %ox : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @collapsed_result_stays
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
// CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %[[O]] {{\[\[}}0, 1], [2], [3]]
// CHECK-NEXT: return %[[C]]
func.func @collapsed_result_stays(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<8x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x4x96x32xf32> into tensor<8x96x32xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x96x48xf32> into tensor<8x96x48xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %kc : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %vc : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  return %o : tensor<8x64x48xf32>
}

// Transposed, then collapsed; expanded, then transposed.
// CHECK-LABEL: func @collapsed_bthd
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[O]]
func.func @collapsed_bthd(%q: tensor<2x64x4x32xf32>, %k: tensor<2x96x4x32xf32>, %v: tensor<2x96x4x48xf32>)
    -> tensor<2x64x4x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qte = tensor.empty() : tensor<2x4x64x32xf32>
  %qt = linalg.transpose ins(%q : tensor<2x64x4x32xf32>) outs(%qte : tensor<2x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %kte = tensor.empty() : tensor<2x4x96x32xf32>
  %kt = linalg.transpose ins(%k : tensor<2x96x4x32xf32>) outs(%kte : tensor<2x4x96x32xf32>) permutation = [0, 2, 1, 3]
  %vte = tensor.empty() : tensor<2x4x96x48xf32>
  %vt = linalg.transpose ins(%v : tensor<2x96x4x48xf32>) outs(%vte : tensor<2x4x96x48xf32>) permutation = [0, 2, 1, 3]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x4x96x32xf32> into tensor<8x96x32xf32>
  %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<2x4x96x48xf32> into tensor<8x96x48xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %kc : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %vc : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 64, 48] : tensor<8x64x48xf32>
      into tensor<2x4x64x48xf32>
  %ote = tensor.empty() : tensor<2x64x4x48xf32>
  %ot = linalg.transpose
      ins(%ox : tensor<2x4x64x48xf32>) outs(%ote : tensor<2x64x4x48xf32>) permutation = [0, 2, 1, 3]
  return %ot : tensor<2x64x4x48xf32>
}

// Keys say nothing about how their batch came to be.
// CHECK-LABEL: func @collapsed_query_only
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: tensor.collapse_shape %[[Q]]
// CHECK: vcattn.attention {{.*}} : tensor<1x8x64x32xf32>, tensor<1x8x96x32xf32>
func.func @collapsed_query_only(%q: tensor<2x4x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x48xf32>)
    -> tensor<8x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %k : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %v : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  return %o : tensor<8x64x48xf32>
}

// CHECK-LABEL: func @collapsed_with_mask
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:[^:]*]]: tensor<2x4x64x96xf32>
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] : tensor<2x4x64x96xf32>
// CHECK-NEXT: return %[[O]]
func.func @collapsed_with_mask(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x4x64x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x4x96x32xf32> into tensor<8x96x32xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x96x48xf32> into tensor<8x96x48xf32>
  %mc = tensor.collapse_shape %m [[0, 1], [2], [3]] : tensor<2x4x64x96xf32> into tensor<8x64x96xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %kc : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %t = linalg.add
      ins(%s, %mc : tensor<8x64x96xf32>, tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%t : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %vc : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 64, 48] : tensor<8x64x48xf32>
      into tensor<2x4x64x48xf32>
  return %ox : tensor<2x4x64x48xf32>
}

// The mask does not say where batch ends and heads begin, so nothing is taken apart.
// CHECK-LABEL: func @collapsed_with_another_mask
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: vcattn.attention {{.*}} : tensor<1x8x64x32xf32>, tensor<1x8x96x32xf32>
func.func @collapsed_with_another_mask(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<8x64x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %kc = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x4x96x32xf32> into tensor<8x96x32xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x96x48xf32> into tensor<8x96x48xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %kc : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %t = linalg.add
      ins(%s, %m : tensor<8x64x96xf32>, tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%t : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %vc : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 64, 48] : tensor<8x64x48xf32>
      into tensor<2x4x64x48xf32>
  return %ox : tensor<2x4x64x48xf32>
}

// A batch of 1 that was dropped for a batch_matmul and put back.
// CHECK-LABEL: func @batch_of_one_dropped
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64} : tensor<1x64x8x32xf32>, tensor<1x96x8x32xf32>, tensor<1x96x8x48xf32> -> tensor<1x64x8x48xf32>
// CHECK-NEXT: return %[[O]]
func.func @batch_of_one_dropped(%q: tensor<1x64x8x32xf32>, %k: tensor<1x96x8x32xf32>, %v: tensor<1x96x8x48xf32>)
    -> tensor<1x64x8x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qte = tensor.empty() : tensor<1x8x64x32xf32>
  %qt = linalg.transpose ins(%q : tensor<1x64x8x32xf32>) outs(%qte : tensor<1x8x64x32xf32>) permutation = [0, 2, 1, 3]
  %kte = tensor.empty() : tensor<1x8x96x32xf32>
  %kt = linalg.transpose ins(%k : tensor<1x96x8x32xf32>) outs(%kte : tensor<1x8x96x32xf32>) permutation = [0, 2, 1, 3]
  %vte = tensor.empty() : tensor<1x8x96x48xf32>
  %vt = linalg.transpose ins(%v : tensor<1x96x8x48xf32>) outs(%vte : tensor<1x8x96x48xf32>) permutation = [0, 2, 1, 3]
  %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<1x8x64x32xf32> into tensor<8x64x32xf32>
  %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<1x8x96x32xf32> into tensor<8x96x32xf32>
  %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<1x8x96x48xf32> into tensor<8x96x48xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %kc : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %vc : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [1, 8, 64, 48] : tensor<8x64x48xf32>
      into tensor<1x8x64x48xf32>
  %ote = tensor.empty() : tensor<1x64x8x48xf32>
  %ot = linalg.transpose
      ins(%ox : tensor<1x8x64x48xf32>) outs(%ote : tensor<1x64x8x48xf32>) permutation = [0, 2, 1, 3]
  return %ot : tensor<1x64x8x48xf32>
}
