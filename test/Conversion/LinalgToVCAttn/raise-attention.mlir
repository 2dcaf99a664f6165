// RUN: vcattn-opt %s -vcattn-raise-attention | FileCheck %s
// RUN: vcattn-opt %s -vcattn-raise-attention -vcattn-raise-attention | FileCheck %s
// RUN: vcattn-opt %s -vcattn-raise-attention=remarks=true -verify-diagnostics
// RUN: vcattn-opt %source_root/examples/attention.mlir -vcattn-raise-attention | FileCheck %s --check-prefix=EXAMPLE

// Whole attentions as frontends write them; the other files here vary one thing
// at a time.

// EXAMPLE: func.func @attention(%[[Q:.*]]: tensor<1x4x2048x128xbf16>, %[[K:.*]]: tensor<1x4x2048x128xbf16>, %[[V:.*]]: tensor<1x4x2048x128xbf16>)
// EXAMPLE-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 0.08838{{[0-9]*}} : f64} : tensor<1x4x2048x128xbf16>, tensor<1x4x2048x128xbf16>, tensor<1x4x2048x128xbf16> -> tensor<1x4x2048x128xbf16>
// EXAMPLE-NEXT: return %[[O]]

#id3   = affine_map<(b, m, n) -> (b, m, n)>
#row3  = affine_map<(b, m, n) -> (b, m)>
#keep3 = affine_map<(b, m, n) -> (b, m, 0)>
#perm3 = affine_map<(b, m, n) -> (b, n, m)>

// K transposed by a generic, scale multiplied on the scores, max.dim left as a
// two-result generic (max, argmax), keepdim through expand_shape and a (b,m,0)
// map, sum written straight into a keepdim buffer, divide.
// CHECK-LABEL: func @sdpa_f16_f32softmax
// CHECK-SAME: %[[Q:.*]]: tensor<4x64x32xf16>, %[[K:.*]]: tensor<4x96x32xf16>, %[[V:.*]]: tensor<4x96x32xf16>
// CHECK: %[[Q4:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0, 1], [2], [3]] output_shape [1, 4, 64, 32]
// CHECK: %[[K4:.*]] = tensor.expand_shape %[[K]]
// CHECK: %[[V4:.*]] = tensor.expand_shape %[[V]]
// CHECK: %[[O4:.*]] = vcattn.attention %[[Q4]], %[[K4]], %[[V4]] {scale = 0.17677{{[0-9]*}} : f64} : tensor<1x4x64x32xf16>, tensor<1x4x96x32xf16>, tensor<1x4x96x32xf16> -> tensor<1x4x64x32xf16>
// CHECK: %[[O:.*]] = tensor.collapse_shape %[[O4]] {{\[\[}}0, 1], [2], [3]]
// CHECK-NEXT: return %[[O]]
func.func @sdpa_f16_f32softmax(%q: tensor<4x64x32xf16>, %k: tensor<4x96x32xf16>,
                               %v: tensor<4x96x32xf16>) -> tensor<4x64x32xf16> {
  %zero16 = arith.constant 0.000000e+00 : f16
  %zero = arith.constant 0.000000e+00 : f32
  %neginf = arith.constant 0xFF800000 : f32
  %i0 = arith.constant 0 : i64
  %scale = arith.constant 0.17677669529663687 : f32
  %ktinit = tensor.empty() : tensor<4x32x96xf16>
  %kt = linalg.generic {indexing_maps = [#perm3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k : tensor<4x96x32xf16>) outs(%ktinit : tensor<4x32x96xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<4x32x96xf16>
  %s16init = tensor.empty() : tensor<4x64x96xf16>
  %s16fill = linalg.fill ins(%zero16 : f16) outs(%s16init : tensor<4x64x96xf16>) -> tensor<4x64x96xf16>
  %s16 = linalg.batch_matmul ins(%q, %kt : tensor<4x64x32xf16>, tensor<4x32x96xf16>)
      outs(%s16fill : tensor<4x64x96xf16>) -> tensor<4x64x96xf16>
  %sinit = tensor.empty() : tensor<4x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s16 : tensor<4x64x96xf16>) outs(%sinit : tensor<4x64x96xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    %1 = arith.mulf %0, %scale : f32
    linalg.yield %1 : f32
  } -> tensor<4x64x96xf32>
  %rinit = tensor.empty() : tensor<4x64xf32>
  %rfill = linalg.fill ins(%neginf : f32) outs(%rinit : tensor<4x64xf32>) -> tensor<4x64xf32>
  %iinit = tensor.empty() : tensor<4x64xi64>
  %ifill = linalg.fill ins(%i0 : i64) outs(%iinit : tensor<4x64xi64>) -> tensor<4x64xi64>
  %max:2 = linalg.generic {indexing_maps = [#id3, #row3, #row3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<4x64x96xf32>) outs(%rfill, %ifill : tensor<4x64xf32>, tensor<4x64xi64>) {
  ^bb0(%in: f32, %acc: f32, %idx: i64):
    %0 = linalg.index 2 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %in, %acc : f32
    %3 = arith.cmpf ogt, %in, %acc : f32
    %4 = arith.select %3, %1, %idx : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor<4x64xf32>, tensor<4x64xi64>)
  %maxk = tensor.expand_shape %max#0 [[0], [1, 2]] output_shape [4, 64, 1] : tensor<4x64xf32> into tensor<4x64x1xf32>
  %sub = linalg.generic {indexing_maps = [#id3, #keep3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %maxk : tensor<4x64x96xf32>, tensor<4x64x1xf32>) outs(%sinit : tensor<4x64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x64x96xf32>
  %exp = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sub : tensor<4x64x96xf32>) outs(%sinit : tensor<4x64x96xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x64x96xf32>
  %kinit = tensor.empty() : tensor<4x64x1xf32>
  %kfill = linalg.fill ins(%zero : f32) outs(%kinit : tensor<4x64x1xf32>) -> tensor<4x64x1xf32>
  %sum = linalg.generic {indexing_maps = [#id3, #keep3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<4x64x96xf32>) outs(%kfill : tensor<4x64x1xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = arith.addf %a, %acc : f32
    linalg.yield %0 : f32
  } -> tensor<4x64x1xf32>
  %p = linalg.generic {indexing_maps = [#id3, #keep3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x64x96xf32>, tensor<4x64x1xf32>) outs(%s16init : tensor<4x64x96xf16>) {
  ^bb0(%a: f32, %b: f32, %out: f16):
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<4x64x96xf16>
  %oinit = tensor.empty() : tensor<4x64x32xf16>
  %ofill = linalg.fill ins(%zero16 : f16) outs(%oinit : tensor<4x64x32xf16>) -> tensor<4x64x32xf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x64x96xf16>, tensor<4x96x32xf16>)
      outs(%ofill : tensor<4x64x32xf16>) -> tensor<4x64x32xf16>
  return %o : tensor<4x64x32xf16>
}

// Named ops:
// linalg.transpose + batch_matmul + scale as a filled tensor and linalg.mul +
// linalg.softmax + batch_matmul; causal mask by linalg.index compare (sge).
// CHECK-LABEL: func @sdpa_named_causal
// CHECK-SAME: %[[Q:.*]]: tensor<4x64x32xf32>, %[[K:.*]]: tensor<4x64x32xf32>, %[[V:.*]]: tensor<4x64x32xf32>
// CHECK-NOT: linalg
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} {causal = #vcattn.causality<top_left>, scale = 0.17677{{[0-9]*}} : f64} : tensor<1x4x64x32xf32>
// CHECK-NOT: linalg
func.func @sdpa_named_causal(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>,
                             %v: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %neginf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.17677669529663687 : f32
  %kti = tensor.empty() : tensor<4x32x64xf32>
  %kt = linalg.transpose ins(%k : tensor<4x64x32xf32>) outs(%kti : tensor<4x32x64xf32>) permutation = [0, 2, 1]
  %si = tensor.empty() : tensor<4x64x64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<4x64x32xf32>, tensor<4x32x64xf32>) outs(%sf : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %cf = linalg.fill ins(%scale : f32) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %ss = linalg.mul ins(%s, %cf : tensor<4x64x64xf32>, tensor<4x64x64xf32>) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %mf = linalg.fill ins(%zero : f32) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %mask = linalg.generic {indexing_maps = [#id3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%mf : tensor<4x64x64xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c = arith.cmpi sge, %i, %j : index
    %x = arith.select %c, %zero, %neginf : f32
    linalg.yield %x : f32
  } -> tensor<4x64x64xf32>
  %sm = linalg.add ins(%ss, %mask : tensor<4x64x64xf32>, tensor<4x64x64xf32>) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %p = linalg.softmax dimension(2) ins(%sm : tensor<4x64x64xf32>) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %oi = tensor.empty() : tensor<4x64x32xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oi : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x64x64xf32>, tensor<4x64x32xf32>) outs(%of : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %o : tensor<4x64x32xf32>
}

// Softmax over the query axis of a square score matrix.  Shapes alone
// cannot tell it from attention; must not be raised.
// CHECK-LABEL: func @not_attention_softmax_over_queries
// CHECK-NOT: vcattn.attention
func.func @not_attention_softmax_over_queries(%q: tensor<4x64x32xf32>, %kt: tensor<4x32x64xf32>,
                                              %v: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %si = tensor.empty() : tensor<4x64x64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<4x64x32xf32>, tensor<4x32x64xf32>) outs(%sf : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  // expected-remark @+1 {{attention is not raised: softmax does not run over the axis that the values are summed over}}
  %p = linalg.softmax dimension(1) ins(%s : tensor<4x64x64xf32>) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %oi = tensor.empty() : tensor<4x64x32xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oi : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x64x64xf32>, tensor<4x64x32xf32>) outs(%of : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %o : tensor<4x64x32xf32>
}

// The probabilities escape (a second use), so the score matrix must
// still be materialised; raising must not drop the other use.
// CHECK-LABEL: func @not_dead_probs
// CHECK-NOT: vcattn.attention
func.func @not_dead_probs(%q: tensor<4x64x32xf32>, %kt: tensor<4x32x64xf32>,
                          %v: tensor<4x64x32xf32>) -> (tensor<4x64x32xf32>, tensor<4x64x64xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %si = tensor.empty() : tensor<4x64x64xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<4x64x32xf32>, tensor<4x32x64xf32>) outs(%sf : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  // expected-remark @+1 {{attention is not raised: scores or probabilities are used outside of the attention}}
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x64x64xf32>) outs(%si : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %oi = tensor.empty() : tensor<4x64x32xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oi : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x64x64xf32>, tensor<4x64x32xf32>) outs(%of : tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %o, %p : tensor<4x64x32xf32>, tensor<4x64x64xf32>
}
