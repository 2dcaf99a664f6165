// Attention as frameworks write it: bf16 in and out, scores and softmax in f32.
//
//   vcattn-opt examples/attention.mlir --vcattn-raise-attention
//
// finds that the function below is one `vcattn.attention`.

#batched_qk_q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#batched_qk_k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#batched_pv_p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#batched_pv_v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#scores = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#result = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>

func.func @attention(%q: tensor<1x4x2048x128xbf16>, %k: tensor<1x4x2048x128xbf16>,
                     %v: tensor<1x4x2048x128xbf16>) -> tensor<1x4x2048x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.08838834764831845 : f32  // 1 / sqrt(128)

  // S = scale * Q * K^T
  %s_empty = tensor.empty() : tensor<1x4x2048x2048xf32>
  %s_zero = linalg.fill ins(%zero : f32) outs(%s_empty : tensor<1x4x2048x2048xf32>) -> tensor<1x4x2048x2048xf32>
  %qk = linalg.generic {
      indexing_maps = [#batched_qk_q, #batched_qk_k, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<1x4x2048x128xbf16>, tensor<1x4x2048x128xbf16>)
      outs(%s_zero : tensor<1x4x2048x2048xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %product = arith.mulf %a32, %b32 : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<1x4x2048x2048xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<1x4x2048x2048xf32>) outs(%s_empty : tensor<1x4x2048x2048xf32>) {
  ^bb0(%x: f32, %out: f32):
    %scaled = arith.mulf %x, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<1x4x2048x2048xf32>

  // P = softmax(S), rounded to bf16
  %p32 = linalg.softmax dimension(3) ins(%s : tensor<1x4x2048x2048xf32>)
      outs(%s_empty : tensor<1x4x2048x2048xf32>) -> tensor<1x4x2048x2048xf32>
  %p_empty = tensor.empty() : tensor<1x4x2048x2048xbf16>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p32 : tensor<1x4x2048x2048xf32>) outs(%p_empty : tensor<1x4x2048x2048xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %rounded = arith.truncf %x : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<1x4x2048x2048xbf16>

  // O = P * V, rounded to bf16
  %o_empty = tensor.empty() : tensor<1x4x2048x128xf32>
  %o_zero = linalg.fill ins(%zero : f32) outs(%o_empty : tensor<1x4x2048x128xf32>) -> tensor<1x4x2048x128xf32>
  %o32 = linalg.generic {
      indexing_maps = [#batched_pv_p, #batched_pv_v, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<1x4x2048x2048xbf16>, tensor<1x4x2048x128xbf16>)
      outs(%o_zero : tensor<1x4x2048x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %product = arith.mulf %a32, %b32 : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  } -> tensor<1x4x2048x128xf32>
  %out_empty = tensor.empty() : tensor<1x4x2048x128xbf16>
  %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%o32 : tensor<1x4x2048x128xf32>) outs(%out_empty : tensor<1x4x2048x128xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %rounded = arith.truncf %x : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<1x4x2048x128xbf16>
  return %o : tensor<1x4x2048x128xbf16>
}
