// RUN: vcattn-opt %s -vcattn-raise-attention=remarks=true -verify-diagnostics | FileCheck %s

// What scores may not pass through, and scales that are not constants.
// CHECK-NOT: vcattn.attention

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#o = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
#row = affine_map<(b, h, m, n) -> (b, h, m)>

func.func @soft_cap(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %out: f32):
    // expected-remark @+1 {{attention is not raised: scores pass through math.tanh}}
    %0 = math.tanh %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @scale_is_an_argument(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %c: f32)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %out: f32):
    // expected-remark @+1 {{attention is not raised: scores are scaled by something that is not a constant}}
    %0 = arith.mulf %x, %c : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @scale_is_a_tensor(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x4x64xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    // expected-remark @+1 {{attention is not raised: scores are scaled by something that is not a constant}}
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @scores_divide(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant 2.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %out: f32):
    // expected-remark @+1 {{attention is not raised: scores are scaled by something that is not a constant}}
    %0 = arith.divf %c, %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @scale_is_infinite(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  // expected-remark @+1 {{attention is not raised: the scale is not finite}}
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.divf %x, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @scores_are_an_argument(%s: tensor<2x4x64x96xf32>, %v: tensor<2x4x96x48xf32>) -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  // expected-remark @+1 {{attention is not raised: scores are not computed from queries and keys}}
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}
