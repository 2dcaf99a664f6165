// RUN: vcattn-opt %s -vcattn-raise-attention | FileCheck %s

// Orders of dimensions.

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#o = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
#swap = affine_map<(a, b, c, d) -> (a, c, b, d)>
#qb = affine_map<(b, h, m, n, d) -> (b, m, h, d)>
#kb = affine_map<(b, h, m, n, d) -> (b, n, h, d)>
#kt = affine_map<(b, h, m, n, d) -> (b, h, d, n)>
#st = affine_map<(b, h, m, n, d) -> (b, h, n, m)>
#vb = affine_map<(b, h, m, d, n) -> (b, n, h, d)>
#vt = affine_map<(b, h, m, d, n) -> (b, h, d, n)>
#pt = affine_map<(b, h, m, d, n) -> (b, h, n, m)>
#ob = affine_map<(b, h, m, d, n) -> (b, m, h, d)>
#ot = affine_map<(b, h, m, d, n) -> (b, h, d, m)>

// Tokens before heads, as models have them: no transpose is left.
// CHECK-LABEL: func @bthd_there_and_back
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64} : tensor<2x64x4x32xf32>, tensor<2x96x4x32xf32>, tensor<2x96x4x48xf32> -> tensor<2x64x4x48xf32>
// CHECK-NEXT: return %[[O]]
func.func @bthd_there_and_back(%q: tensor<2x64x4x32xf32>, %k: tensor<2x96x4x32xf32>, %v: tensor<2x96x4x48xf32>)
    -> tensor<2x64x4x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qte = tensor.empty() : tensor<2x4x64x32xf32>
  %qt = linalg.transpose ins(%q : tensor<2x64x4x32xf32>) outs(%qte : tensor<2x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %kte = tensor.empty() : tensor<2x4x96x32xf32>
  %kt = linalg.transpose ins(%k : tensor<2x96x4x32xf32>) outs(%kte : tensor<2x4x96x32xf32>) permutation = [0, 2, 1, 3]
  %vte = tensor.empty() : tensor<2x4x96x48xf32>
  %vt = linalg.transpose ins(%v : tensor<2x96x4x48xf32>) outs(%vte : tensor<2x4x96x48xf32>) permutation = [0, 2, 1, 3]
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%qt, %kt : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %vt : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %ote = tensor.empty() : tensor<2x64x4x48xf32>
  %ot = linalg.transpose ins(%o : tensor<2x4x64x48xf32>) outs(%ote : tensor<2x64x4x48xf32>) permutation = [0, 2, 1, 3]
  return %ot : tensor<2x64x4x48xf32>
}

// CHECK-LABEL: func @bthd_there_only
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64}
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[O]] : tensor<2x64x4x48xf32>) outs(%{{.*}} : tensor<2x4x64x48xf32>) permutation = [0, 2, 1, 3]
// CHECK-NEXT: return %[[T]]
func.func @bthd_there_only(%q: tensor<2x64x4x32xf32>, %k: tensor<2x96x4x32xf32>, %v: tensor<2x96x4x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qte = tensor.empty() : tensor<2x4x64x32xf32>
  %qt = linalg.transpose ins(%q : tensor<2x64x4x32xf32>) outs(%qte : tensor<2x4x64x32xf32>) permutation = [0, 2, 1, 3]
  %kte = tensor.empty() : tensor<2x4x96x32xf32>
  %kt = linalg.transpose ins(%k : tensor<2x96x4x32xf32>) outs(%kte : tensor<2x4x96x32xf32>) permutation = [0, 2, 1, 3]
  %vte = tensor.empty() : tensor<2x4x96x48xf32>
  %vt = linalg.transpose ins(%v : tensor<2x96x4x48xf32>) outs(%vte : tensor<2x4x96x48xf32>) permutation = [0, 2, 1, 3]
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%qt, %kt : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %vt : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @bthd_by_generics
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[O]]
func.func @bthd_by_generics(%q: tensor<2x64x4x32xf32>, %k: tensor<2x96x4x32xf32>, %v: tensor<2x96x4x48xf32>)
    -> tensor<2x64x4x48xf32> {
  %zero = arith.constant 0.0 : f32
  %qte = tensor.empty() : tensor<2x4x64x32xf32>
  %qt = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x64x4x32xf32>) outs(%qte : tensor<2x4x64x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x4x64x32xf32>
  %kte = tensor.empty() : tensor<2x4x96x32xf32>
  %kt = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x96x4x32xf32>) outs(%kte : tensor<2x4x96x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x4x96x32xf32>
  %vte = tensor.empty() : tensor<2x4x96x48xf32>
  %vt = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v : tensor<2x96x4x48xf32>) outs(%vte : tensor<2x4x96x48xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x4x96x48xf32>
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%qt, %kt : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %vt : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %ote = tensor.empty() : tensor<2x64x4x48xf32>
  %ot = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : tensor<2x4x64x48xf32>) outs(%ote : tensor<2x64x4x48xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2x64x4x48xf32>
  return %ot : tensor<2x64x4x48xf32>
}

// Einsum: BTNH,BSNH->BNTS, then BNTS,BSNH->BTNH.
// CHECK-LABEL: func @bthd_by_maps
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[O]]
func.func @bthd_by_maps(%q: tensor<2x64x4x32xf32>, %k: tensor<2x96x4x32xf32>, %v: tensor<2x96x4x48xf32>)
    -> tensor<2x64x4x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#qb, #kb, #s]
      ins(%q, %k : tensor<2x64x4x32xf32>, tensor<2x96x4x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x64x4x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x64x4x48xf32>) -> tensor<2x64x4x48xf32>
  %o = linalg.contract indexing_maps = [#p, #vb, #ob]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x96x4x48xf32>)
      outs(%oz : tensor<2x64x4x48xf32>) -> tensor<2x64x4x48xf32>
  return %o : tensor<2x64x4x48xf32>
}

// The layout of most; what differs is transposed.
// CHECK-LABEL: func @one_of_three_differs
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[KT:.*]] = linalg.transpose ins(%[[K]]
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[KT]], %[[V]] {scale = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[O]]
func.func @one_of_three_differs(%q: tensor<2x4x64x32xf32>, %k: tensor<2x96x4x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %kte = tensor.empty() : tensor<2x4x96x32xf32>
  %kt = linalg.transpose ins(%k : tensor<2x96x4x32xf32>) outs(%kte : tensor<2x4x96x32xf32>) permutation = [0, 2, 1, 3]
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %kt : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
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

// Keys that the caller has transposed are transposed back.
// CHECK-LABEL: func @key_transposed_argument
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[KT:.*]] = linalg.transpose ins(%[[K]]{{.*}}permutation = [0, 1, 3, 2]
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[KT]], %[[V]] {scale = 1.000000e+00 : f64}
func.func @key_transposed_argument(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x32x96xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #kt, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x32x96xf32>)
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

// CHECK-LABEL: func @value_transposed_argument
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[VT:.*]] = linalg.transpose ins(%[[V]]{{.*}}permutation = [0, 1, 3, 2]
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[VT]] {scale = 1.000000e+00 : f64}
func.func @value_transposed_argument(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x48x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #vt, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x48x96xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @key_and_value_on_the_left
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
func.func @key_and_value_on_the_left(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#k, #q, #s]
      ins(%k, %q : tensor<2x4x96x32xf32>, tensor<2x4x64x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#v, #p, #o]
      ins(%v, %p : tensor<2x4x96x48xf32>, tensor<2x4x64x96xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// Keys before queries in the scores: softmax over dimension 2 is right.
// CHECK-LABEL: func @scores_transposed
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
func.func @scores_transposed(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x96x64xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x96x64xf32>) -> tensor<2x4x96x64xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #st]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x96x64xf32>) -> tensor<2x4x96x64xf32>
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<2x4x96x64xf32>) outs(%se : tensor<2x4x96x64xf32>) -> tensor<2x4x96x64xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#pt, #v, #o]
      ins(%p, %v : tensor<2x4x96x64xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// Every dimension of one size: only maps tell keys from their transpose.
// CHECK-LABEL: func @square
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
func.func @square(%q: tensor<2x4x64x64xf32>, %k: tensor<2x4x64x64xf32>, %v: tensor<2x4x64x64xf32>)
    -> tensor<2x4x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x64xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%sz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x64xf32>) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %oe = tensor.empty() : tensor<2x4x64x64xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%oz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  return %o : tensor<2x4x64x64xf32>
}

// CHECK-LABEL: func @square_key_transposed
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[KT:.*]] = linalg.transpose ins(%[[K]]{{.*}}permutation = [0, 1, 3, 2]
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[KT]], %[[V]] {scale = 1.000000e+00 : f64}
func.func @square_key_transposed(%q: tensor<2x4x64x64xf32>, %k: tensor<2x4x64x64xf32>, %v: tensor<2x4x64x64xf32>)
    -> tensor<2x4x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x64xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %s = linalg.contract indexing_maps = [#q, #kt, #s]
      ins(%q, %k : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%sz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x64xf32>) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %oe = tensor.empty() : tensor<2x4x64x64xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%oz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  return %o : tensor<2x4x64x64xf32>
}

// CHECK-LABEL: func @result_transposed
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[O]]{{.*}}permutation = [0, 1, 3, 2]
// CHECK-NEXT: return %[[T]]
func.func @result_transposed(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x48x64xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x48x64xf32>) -> tensor<2x4x48x64xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #ot]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x48x64xf32>) -> tensor<2x4x48x64xf32>
  return %o : tensor<2x4x48x64xf32>
}

// The rounding of the result to f16 is attention's own.
// CHECK-LABEL: func @dynamic_and_rounded
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64} : tensor<?x?x?x32xf16>, tensor<?x?x?x32xf16>, tensor<?x?x?x32xf16> -> tensor<?x?x?x32xf16>
// CHECK-NEXT: return %[[O]]
func.func @dynamic_and_rounded(%q: tensor<?x?x?x32xf16>, %k: tensor<?x?x?x32xf16>, %v: tensor<?x?x?x32xf16>)
    -> tensor<?x?x?x32xf16> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %q, %c0 : tensor<?x?x?x32xf16>
  %H = tensor.dim %q, %c1 : tensor<?x?x?x32xf16>
  %M = tensor.dim %q, %c2 : tensor<?x?x?x32xf16>
  %N = tensor.dim %k, %c2 : tensor<?x?x?x32xf16>
  %se = tensor.empty(%B, %H, %M, %N) : tensor<?x?x?x?xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x?x?x32xf16>, tensor<?x?x?x32xf16>) outs(%sz : tensor<?x?x?x?xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %0 = arith.mulf %a32, %b32 : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x?x?xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<?x?x?x?xf32>) outs(%se : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %oe = tensor.empty(%B, %H, %M) : tensor<?x?x?x32xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<?x?x?x32xf32>) -> tensor<?x?x?x32xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<?x?x?x?xf32>, tensor<?x?x?x32xf16>) outs(%oz : tensor<?x?x?x32xf32>) {
  ^bb0(%a: f32, %b: f16, %acc: f32):
    %b32 = arith.extf %b : f16 to f32
    %0 = arith.mulf %a, %b32 : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x?x32xf32>
  %he = tensor.empty(%B, %H, %M) : tensor<?x?x?x32xf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o : tensor<?x?x?x32xf32>) outs(%he : tensor<?x?x?x32xf16>) {
  ^bb0(%x: f32, %out: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<?x?x?x32xf16>
  return %h : tensor<?x?x?x32xf16>
}

// CHECK-LABEL: func @two_in_a_row
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
// CHECK-NEXT: %[[U:.*]] = vcattn.attention %[[O]], %[[K]], %[[V]]
// CHECK-NEXT: return %[[U]]
func.func @two_in_a_row(%q: tensor<2x4x64x64xf32>, %k: tensor<2x4x64x64xf32>, %v: tensor<2x4x64x64xf32>)
    -> tensor<2x4x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x64xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%sz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x64xf32>) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %oe = tensor.empty() : tensor<2x4x64x64xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%oz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %use = tensor.empty() : tensor<2x4x64x64xf32>
  %usz = linalg.fill ins(%zero : f32) outs(%use : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %us = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%o, %k : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%usz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %up = linalg.softmax dimension(3)
      ins(%us : tensor<2x4x64x64xf32>) outs(%use : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %uoe = tensor.empty() : tensor<2x4x64x64xf32>
  %uoz = linalg.fill ins(%zero : f32) outs(%uoe : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %uo = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%up, %v : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
      outs(%uoz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  return %uo : tensor<2x4x64x64xf32>
}
