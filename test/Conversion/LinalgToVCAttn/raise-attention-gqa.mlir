// RUN: vcattn-opt %s -vcattn-raise-attention | FileCheck %s

// Fewer key heads than query heads.

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#o = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#rep = affine_map<(b, h, g, n, d) -> (b, h, 0, n, d)>
#id5 = affine_map<(b, h, g, n, d) -> (b, h, g, n, d)>
#mg = affine_map<(b, h, g, m, n) -> (b, m, n)>
#qg = affine_map<(b, h, g, m, n, d) -> (b, h, g, m, d)>
#kg = affine_map<(b, h, g, m, n, d) -> (b, h, n, d)>
#sg = affine_map<(b, h, g, m, n, d) -> (b, h, g, m, n)>
#pg = affine_map<(b, h, g, m, d, n) -> (b, h, g, m, n)>
#vg = affine_map<(b, h, g, m, d, n) -> (b, h, n, d)>
#og = affine_map<(b, h, g, m, d, n) -> (b, h, g, m, d)>
#qgt = affine_map<(b, h, g, m, n, d) -> (b, m, h, g, d)>
#kgt = affine_map<(b, h, g, m, n, d) -> (b, n, h, d)>
#vgt = affine_map<(b, h, g, m, d, n) -> (b, n, h, d)>
#ogt = affine_map<(b, h, g, m, d, n) -> (b, m, h, g, d)>
#km = affine_map<(b, h, m, n, d) -> (b, n, d)>
#vm = affine_map<(b, h, m, d, n) -> (b, n, d)>
#q3 = affine_map<(b, m, n, d) -> (b, m, d)>
#k3 = affine_map<(b, m, n, d) -> (b, n, d)>
#s3 = affine_map<(b, m, n, d) -> (b, m, n)>
#p3 = affine_map<(b, m, d, n) -> (b, m, n)>
#v3 = affine_map<(b, m, d, n) -> (b, n, d)>
#o3 = affine_map<(b, m, d, n) -> (b, m, d)>

// Every key head repeated twice.
// CHECK-LABEL: func @repeated
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64} : tensor<2x4x64x32xf32>, tensor<2x2x96x32xf32>, tensor<2x2x96x48xf32> -> tensor<2x4x64x48xf32>
// CHECK-NEXT: return %[[O]]
func.func @repeated(%q: tensor<2x4x64x32xf32>, %k: tensor<2x2x96x32xf32>, %v: tensor<2x2x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %kr1 = tensor.expand_shape %k [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 96, 32] : tensor<2x2x96x32xf32>
      into tensor<2x2x1x96x32xf32>
  %kre = tensor.empty() : tensor<2x2x2x96x32xf32>
  %krb = linalg.generic {indexing_maps = [#rep, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%kr1 : tensor<2x2x1x96x32xf32>) outs(%kre : tensor<2x2x2x96x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x2x96x32xf32>
  %kr = tensor.collapse_shape %krb [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x32xf32> into tensor<2x4x96x32xf32>
  %vr1 = tensor.expand_shape %v [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 96, 48] : tensor<2x2x96x48xf32>
      into tensor<2x2x1x96x48xf32>
  %vre = tensor.empty() : tensor<2x2x2x96x48xf32>
  %vrb = linalg.generic {indexing_maps = [#rep, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%vr1 : tensor<2x2x1x96x48xf32>) outs(%vre : tensor<2x2x2x96x48xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x2x96x48xf32>
  %vr = tensor.collapse_shape %vrb [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x48xf32> into tensor<2x4x96x48xf32>
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %kr : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %vr : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @repeated_by_broadcast_op
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64} : tensor<2x4x64x32xf32>, tensor<2x2x96x32xf32>, tensor<2x2x96x48xf32> -> tensor<2x4x64x48xf32>
func.func @repeated_by_broadcast_op(%q: tensor<2x4x64x32xf32>, %k: tensor<2x2x96x32xf32>, %v: tensor<2x2x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %kre = tensor.empty() : tensor<2x2x2x96x32xf32>
  %krb = linalg.broadcast ins(%k : tensor<2x2x96x32xf32>) outs(%kre : tensor<2x2x2x96x32xf32>) dimensions = [2]
  %kr = tensor.collapse_shape %krb [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x32xf32> into tensor<2x4x96x32xf32>
  %vre = tensor.empty() : tensor<2x2x2x96x48xf32>
  %vrb = linalg.broadcast ins(%v : tensor<2x2x96x48xf32>) outs(%vre : tensor<2x2x2x96x48xf32>) dimensions = [2]
  %vr = tensor.collapse_shape %vrb [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x48xf32> into tensor<2x4x96x48xf32>
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %kr : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %vr : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// As torch-mlir flattens it: batch, key heads and repeats in one dimension.
// CHECK-LABEL: func @repeated_and_collapsed
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64} : tensor<2x4x64x32xf32>, tensor<2x2x96x32xf32>, tensor<2x2x96x48xf32> -> tensor<2x4x64x48xf32>
// CHECK-NEXT: return %[[O]]
func.func @repeated_and_collapsed(%q: tensor<2x4x64x32xf32>, %k: tensor<2x2x96x32xf32>, %v: tensor<2x2x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
  %kr1 = tensor.expand_shape %k [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 96, 32] : tensor<2x2x96x32xf32>
      into tensor<2x2x1x96x32xf32>
  %kre = tensor.empty() : tensor<2x2x2x96x32xf32>
  %krb = linalg.generic {indexing_maps = [#rep, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%kr1 : tensor<2x2x1x96x32xf32>) outs(%kre : tensor<2x2x2x96x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x2x96x32xf32>
  %kr = tensor.collapse_shape %krb [[0, 1, 2], [3], [4]] : tensor<2x2x2x96x32xf32> into tensor<8x96x32xf32>
  %vr1 = tensor.expand_shape %v [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 96, 48] : tensor<2x2x96x48xf32>
      into tensor<2x2x1x96x48xf32>
  %vre = tensor.empty() : tensor<2x2x2x96x48xf32>
  %vrb = linalg.generic {indexing_maps = [#rep, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%vr1 : tensor<2x2x1x96x48xf32>) outs(%vre : tensor<2x2x2x96x48xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x2x96x48xf32>
  %vr = tensor.collapse_shape %vrb [[0, 1, 2], [3], [4]] : tensor<2x2x2x96x48xf32> into tensor<8x96x48xf32>
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%qc, %kr : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %o = linalg.contract indexing_maps = [#p3, #v3, #o3]
      ins(%p, %vr : tensor<8x64x96xf32>, tensor<8x96x48xf32>) outs(%oz : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %ox = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 4, 64, 48] : tensor<8x64x48xf32>
      into tensor<2x4x64x48xf32>
  return %ox : tensor<2x4x64x48xf32>
}

// Key and value heads have to be as many.
// CHECK-LABEL: func @keys_repeated_only
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[KR:.*]] = tensor.collapse_shape
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[KR]], %[[V]] {scale = 1.000000e+00 : f64}
func.func @keys_repeated_only(%q: tensor<2x4x64x32xf32>, %k: tensor<2x2x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %kr1 = tensor.expand_shape %k [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 96, 32] : tensor<2x2x96x32xf32>
      into tensor<2x2x1x96x32xf32>
  %kre = tensor.empty() : tensor<2x2x2x96x32xf32>
  %krb = linalg.generic {indexing_maps = [#rep, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%kr1 : tensor<2x2x1x96x32xf32>) outs(%kre : tensor<2x2x2x96x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x2x96x32xf32>
  %kr = tensor.collapse_shape %krb [[0], [1, 2], [3], [4]] : tensor<2x2x2x96x32xf32> into tensor<2x4x96x32xf32>
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %kr : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// Queries with a dimension that keys do not have.
// CHECK-LABEL: func @grouped
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[Q4:.*]] = tensor.collapse_shape %[[Q]] {{\[\[}}0], [1, 2], [3], [4]] : tensor<2x2x2x64x32xf32> into tensor<2x4x64x32xf32>
// CHECK: %[[O:.*]] = vcattn.attention %[[Q4]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64} : tensor<2x4x64x32xf32>, tensor<2x2x96x32xf32>, tensor<2x2x96x48xf32> -> tensor<2x4x64x48xf32>
// CHECK: %[[O5:.*]] = tensor.expand_shape %[[O]] {{\[\[}}0], [1, 2], [3], [4]] output_shape [2, 2, 2, 64, 48]
// CHECK-NEXT: return %[[O5]]
func.func @grouped(%q: tensor<2x2x2x64x32xf32>, %k: tensor<2x2x96x32xf32>, %v: tensor<2x2x96x48xf32>)
    -> tensor<2x2x2x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x2x2x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %s = linalg.contract indexing_maps = [#qg, #kg, #sg]
      ins(%q, %k : tensor<2x2x2x64x32xf32>, tensor<2x2x96x32xf32>)
      outs(%sz : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %p = linalg.softmax dimension(4)
      ins(%s : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %oe = tensor.empty() : tensor<2x2x2x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  %o = linalg.contract indexing_maps = [#pg, #vg, #og]
      ins(%p, %v : tensor<2x2x2x64x96xf32>, tensor<2x2x96x48xf32>)
      outs(%oz : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  return %o : tensor<2x2x2x64x48xf32>
}

// As jax.nn.dot_product_attention has them.
// CHECK-LABEL: func @grouped_bthd
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[Q4:.*]] = tensor.collapse_shape %[[Q]] {{\[\[}}0], [1], [2, 3], [4]]
// CHECK: %[[O:.*]] = vcattn.attention %[[Q4]], %[[K]], %[[V]] {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64} : tensor<2x64x4x32xf32>, tensor<2x96x2x32xf32>, tensor<2x96x2x48xf32> -> tensor<2x64x4x48xf32>
// CHECK: %[[O5:.*]] = tensor.expand_shape %[[O]] {{\[\[}}0], [1], [2, 3], [4]]
// CHECK-NEXT: return %[[O5]]
func.func @grouped_bthd(%q: tensor<2x64x2x2x32xf32>, %k: tensor<2x96x2x32xf32>, %v: tensor<2x96x2x48xf32>)
    -> tensor<2x64x2x2x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x2x2x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %s = linalg.contract indexing_maps = [#qgt, #kgt, #sg]
      ins(%q, %k : tensor<2x64x2x2x32xf32>, tensor<2x96x2x32xf32>)
      outs(%sz : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %p = linalg.softmax dimension(4)
      ins(%s : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %oe = tensor.empty() : tensor<2x64x2x2x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x64x2x2x48xf32>) -> tensor<2x64x2x2x48xf32>
  %o = linalg.contract indexing_maps = [#pg, #vgt, #ogt]
      ins(%p, %v : tensor<2x2x2x64x96xf32>, tensor<2x96x2x48xf32>)
      outs(%oz : tensor<2x64x2x2x48xf32>) -> tensor<2x64x2x2x48xf32>
  return %o : tensor<2x64x2x2x48xf32>
}

// Multi-query attention without a head dimension on keys: what is batch to the
// products becomes heads, 4 of queries to each of keys.
// CHECK-LABEL: func @one_key_head
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[Q4:.*]] = tensor.collapse_shape %[[Q]] {{\[\[}}0, 1], [2], [3]] : tensor<2x4x64x32xf32> into tensor<8x64x32xf32>
// CHECK: vcattn.attention {{.*}} : tensor<1x8x64x32xf32>, tensor<1x2x96x32xf32>, tensor<1x2x96x48xf32> -> tensor<1x8x64x48xf32>
func.func @one_key_head(%q: tensor<2x4x64x32xf32>, %k: tensor<2x96x32xf32>, %v: tensor<2x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #km, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #vm, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @grouped_causal_and_mask
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:[^:]*]]: tensor<2x64x96xf32>
// CHECK: %[[M4:.*]] = tensor.expand_shape %[[M]] {{\[\[}}0, 1], [2], [3]] output_shape [2, 1, 64, 96]
// CHECK: vcattn.attention {{.*}} mask %[[M4]] : tensor<2x1x64x96xf32> {causal = #vcattn.causality<top_left>, scale = 1.000000e+00 : f64}
func.func @grouped_causal_and_mask(%q: tensor<2x2x2x64x32xf32>,
    %k: tensor<2x2x96x32xf32>, %v: tensor<2x2x96x48xf32>, %m: tensor<2x64x96xf32>)
    -> tensor<2x2x2x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x2x2x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %s = linalg.contract indexing_maps = [#qg, #kg, #sg]
      ins(%q, %k : tensor<2x2x2x64x32xf32>, tensor<2x2x96x32xf32>)
      outs(%sz : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id5, #mg, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x2x2x64x96xf32>, tensor<2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %c = arith.cmpi sge, %i, %j : index
    %0 = arith.addf %x, %y : f32
    %1 = arith.select %c, %0, %low : f32
    linalg.yield %1 : f32
  } -> tensor<2x2x2x64x96xf32>
  %p = linalg.softmax dimension(4)
      ins(%t : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %oe = tensor.empty() : tensor<2x2x2x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  %o = linalg.contract indexing_maps = [#pg, #vg, #og]
      ins(%p, %v : tensor<2x2x2x64x96xf32>, tensor<2x2x96x48xf32>)
      outs(%oz : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  return %o : tensor<2x2x2x64x48xf32>
}
