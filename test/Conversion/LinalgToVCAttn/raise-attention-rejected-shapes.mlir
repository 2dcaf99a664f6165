// RUN: vcattn-opt %s -vcattn-raise-attention=remarks=true -verify-diagnostics | FileCheck %s

// Types and dimensions that do not fit; one function each.
// CHECK-NOT: vcattn.attention

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#o = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
#mn = affine_map<(b, h, m, n) -> (m, n)>
#bhn = affine_map<(b, h, m, n) -> (b, h, n)>
#x = affine_map<(b, h, m, n, d) -> (b, h, m, n, d)>
#kh = affine_map<(b, h, m, n, d) -> (b, n, d)>
#v2 = affine_map<(b, h, m, d, e, n) -> (b, h, n, d, e)>
#p2 = affine_map<(b, h, m, d, e, n) -> (b, h, m, n)>
#o2 = affine_map<(b, h, m, d, e, n) -> (b, h, m, d, e)>
#q0 = affine_map<(b, h, n, d) -> (b, h, d)>
#k0 = affine_map<(b, h, n, d) -> (b, h, n, d)>
#s0 = affine_map<(b, h, n, d) -> (b, h, n)>
#p0 = affine_map<(b, h, d, n) -> (b, h, n)>
#v0 = affine_map<(b, h, d, n) -> (b, h, n, d)>
#o0 = affine_map<(b, h, d, n) -> (b, h, d)>
#id5 = affine_map<(b, h, g, m, n) -> (b, h, g, m, n)>
#mg = affine_map<(b, h, g, m, n) -> (b, h, m, n)>
#qg = affine_map<(b, h, g, m, n, d) -> (b, h, g, m, d)>
#kg = affine_map<(b, h, g, m, n, d) -> (b, h, n, d)>
#kb = affine_map<(b, h, g, m, n, d) -> (b, h, g, n, d)>
#k1 = affine_map<(b, h, g, m, n, d) -> (b, n, d)>
#sg = affine_map<(b, h, g, m, n, d) -> (b, h, g, m, n)>
#pg = affine_map<(b, h, g, m, d, n) -> (b, h, g, m, n)>
#vg = affine_map<(b, h, g, m, d, n) -> (b, h, n, d)>
#vb = affine_map<(b, h, g, m, d, n) -> (b, h, g, n, d)>
#v1 = affine_map<(b, h, g, m, d, n) -> (b, n, d)>
#og = affine_map<(b, h, g, m, d, n) -> (b, h, g, m, d)>

func.func @values_of_f64(%q: tensor<2x4x64x32xf64>, %k: tensor<2x4x96x32xf64>, %v: tensor<2x4x96x48xf64>)
    -> tensor<2x4x64x48xf64> {
  %zero = arith.constant 0.0 : f64
  %se = tensor.empty() : tensor<2x4x64x96xf64>
  %sz = linalg.fill ins(%zero : f64) outs(%se : tensor<2x4x64x96xf64>) -> tensor<2x4x64x96xf64>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf64>, tensor<2x4x96x32xf64>)
      outs(%sz : tensor<2x4x64x96xf64>) -> tensor<2x4x64x96xf64>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf64>) outs(%se : tensor<2x4x64x96xf64>) -> tensor<2x4x64x96xf64>
  %oe = tensor.empty() : tensor<2x4x64x48xf64>
  %oz = linalg.fill ins(%zero : f64) outs(%oe : tensor<2x4x64x48xf64>) -> tensor<2x4x64x48xf64>
  // expected-remark @+1 {{attention is not raised: values are no tensor of f16, bf16 or f32}}
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf64>, tensor<2x4x96x48xf64>)
      outs(%oz : tensor<2x4x64x48xf64>) -> tensor<2x4x64x48xf64>
  return %o : tensor<2x4x64x48xf64>
}

func.func @queries_of_f64(%q: tensor<2x4x64x32xf64>, %k: tensor<2x4x96x32xf64>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %zero64 = arith.constant 0.0 : f64
  %de = tensor.empty() : tensor<2x4x64x96xf64>
  %dz = linalg.fill ins(%zero64 : f64) outs(%de : tensor<2x4x64x96xf64>) -> tensor<2x4x64x96xf64>
  // expected-remark @+1 {{attention is not raised: queries or keys are no tensor of f16, bf16 or f32}}
  %d = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf64>, tensor<2x4x96x32xf64>)
      outs(%dz : tensor<2x4x64x96xf64>) -> tensor<2x4x64x96xf64>
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%d : tensor<2x4x64x96xf64>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f64, %out: f32):
    %0 = arith.truncf %x : f64 to f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @result_of_f64(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf64> {
  %zero = arith.constant 0.0 : f32
  %zero64 = arith.constant 0.0 : f64
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf64>
  %oz = linalg.fill ins(%zero64 : f64) outs(%oe : tensor<2x4x64x48xf64>) -> tensor<2x4x64x48xf64>
  // expected-remark @+1 {{attention is not raised: the result is not of f16, bf16 or f32}}
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf64>) -> tensor<2x4x64x48xf64>
  return %o : tensor<2x4x64x48xf64>
}

func.func @queries_know_keys(%q: tensor<2x4x64x96x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  // expected-remark @+1 {{attention is not raised: scores are not a product of one tensor with queries and one with keys}}
  %s = linalg.contract indexing_maps = [#x, #k, #s]
      ins(%q, %k : tensor<2x4x64x96x32xf32>, tensor<2x4x96x32xf32>)
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

func.func @three_batch_dimensions(%q: tensor<2x2x2x64x32xf32>,
    %k: tensor<2x2x2x96x32xf32>, %v: tensor<2x2x2x96x48xf32>)
    -> tensor<2x2x2x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x2x2x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  // expected-remark @+1 {{attention is not raised: more than two batch dimensions}}
  %s = linalg.contract indexing_maps = [#qg, #kb, #sg]
      ins(%q, %k : tensor<2x2x2x64x32xf32>, tensor<2x2x2x96x32xf32>)
      outs(%sz : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %p = linalg.softmax dimension(4)
      ins(%s : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %oe = tensor.empty() : tensor<2x2x2x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  %o = linalg.contract indexing_maps = [#pg, #vb, #og]
      ins(%p, %v : tensor<2x2x2x64x96xf32>, tensor<2x2x2x96x48xf32>)
      outs(%oz : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  return %o : tensor<2x2x2x64x48xf32>
}

func.func @three_query_dimensions(%q: tensor<2x2x2x64x32xf32>, %k: tensor<2x96x32xf32>, %v: tensor<2x96x48xf32>)
    -> tensor<2x2x2x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x2x2x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  // expected-remark @+1 {{attention is not raised: no or too many query dimensions}}
  %s = linalg.contract indexing_maps = [#qg, #k1, #sg]
      ins(%q, %k : tensor<2x2x2x64x32xf32>, tensor<2x96x32xf32>)
      outs(%sz : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %p = linalg.softmax dimension(4)
      ins(%s : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %oe = tensor.empty() : tensor<2x2x2x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  %o = linalg.contract indexing_maps = [#pg, #v1, #og]
      ins(%p, %v : tensor<2x2x2x64x96xf32>, tensor<2x96x48xf32>)
      outs(%oz : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  return %o : tensor<2x2x2x64x48xf32>
}

func.func @no_query_dimension(%q: tensor<2x4x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x96xf32>) -> tensor<2x4x96xf32>
  // expected-remark @+1 {{attention is not raised: no or too many query dimensions}}
  %s = linalg.contract indexing_maps = [#q0, #k0, #s0]
      ins(%q, %k : tensor<2x4x32xf32>, tensor<2x4x96x32xf32>) outs(%sz : tensor<2x4x96xf32>) -> tensor<2x4x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x4x96xf32>) outs(%se : tensor<2x4x96xf32>) -> tensor<2x4x96xf32>
  %oe = tensor.empty() : tensor<2x4x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x48xf32>) -> tensor<2x4x48xf32>
  %o = linalg.contract indexing_maps = [#p0, #v0, #o0]
      ins(%p, %v : tensor<2x4x96xf32>, tensor<2x4x96x48xf32>) outs(%oz : tensor<2x4x48xf32>) -> tensor<2x4x48xf32>
  return %o : tensor<2x4x48xf32>
}

func.func @two_value_dimensions(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x6x8xf32>)
    -> tensor<2x4x64x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x6x8xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x6x8xf32>) -> tensor<2x4x64x6x8xf32>
  // expected-remark @+1 {{attention is not raised: values do not have one dimension of their own}}
  %o = linalg.contract indexing_maps = [#p2, #v2, #o2]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x6x8xf32>)
      outs(%oz : tensor<2x4x64x6x8xf32>) -> tensor<2x4x64x6x8xf32>
  return %o : tensor<2x4x64x6x8xf32>
}

func.func @queries_without_queries(%q: tensor<2x4x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<64x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %s0e = tensor.empty() : tensor<2x4x96xf32>
  %s0z = linalg.fill ins(%zero : f32) outs(%s0e : tensor<2x4x96xf32>) -> tensor<2x4x96xf32>
  // expected-remark @+1 {{attention is not raised: dimensions of the queries do not fit the result}}
  %s0 = linalg.contract indexing_maps = [#q0, #k0, #s0]
      ins(%q, %k : tensor<2x4x32xf32>, tensor<2x4x96x32xf32>) outs(%s0z : tensor<2x4x96xf32>) -> tensor<2x4x96xf32>
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %s = linalg.generic {indexing_maps = [#bhn, #mn, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s0, %m : tensor<2x4x96xf32>, tensor<64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// Values have heads, keys do not.
func.func @keys_without_heads(%q: tensor<2x4x64x32xf32>, %k: tensor<2x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  // expected-remark @+1 {{attention is not raised: dimensions of the keys do not fit the values}}
  %s = linalg.contract indexing_maps = [#q, #kh, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x96x32xf32>)
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

func.func @grouped_mask_of_key_heads(%q: tensor<2x2x2x64x32xf32>,
    %k: tensor<2x2x96x32xf32>, %v: tensor<2x2x96x48xf32>, %m: tensor<2x2x64x96xf32>)
    -> tensor<2x2x2x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x2x2x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %s = linalg.contract indexing_maps = [#qg, #kg, #sg]
      ins(%q, %k : tensor<2x2x2x64x32xf32>, tensor<2x2x96x32xf32>)
      outs(%sz : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id5, #mg, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x2x2x64x96xf32>, tensor<2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x2x2x64x96xf32>
  %p = linalg.softmax dimension(4)
      ins(%t : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %oe = tensor.empty() : tensor<2x2x2x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  // expected-remark @+1 {{attention is not raised: a mask differs over some of a query's head dimensions only}}
  %o = linalg.contract indexing_maps = [#pg, #vg, #og]
      ins(%p, %v : tensor<2x2x2x64x96xf32>, tensor<2x2x96x48xf32>)
      outs(%oz : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  return %o : tensor<2x2x2x64x48xf32>
}

func.func @grouped_causal_over_heads(%q: tensor<2x2x2x64x32xf32>,
    %k: tensor<2x2x96x32xf32>, %v: tensor<2x2x96x48xf32>)
    -> tensor<2x2x2x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x2x2x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %s = linalg.contract indexing_maps = [#qg, #kg, #sg]
      ins(%q, %k : tensor<2x2x2x64x32xf32>, tensor<2x2x96x32xf32>)
      outs(%sz : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %t = linalg.generic {indexing_maps = [#id5, #id5],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 4 : index
    %c = arith.cmpi sge, %i, %j : index
    %0 = arith.select %c, %x, %lowest : f32
    linalg.yield %0 : f32
  } -> tensor<2x2x2x64x96xf32>
  %p = linalg.softmax dimension(4)
      ins(%t : tensor<2x2x2x64x96xf32>) outs(%se : tensor<2x2x2x64x96xf32>) -> tensor<2x2x2x64x96xf32>
  %oe = tensor.empty() : tensor<2x2x2x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  // expected-remark @+1 {{attention is not raised: causality is about heads}}
  %o = linalg.contract indexing_maps = [#pg, #vg, #og]
      ins(%p, %v : tensor<2x2x2x64x96xf32>, tensor<2x2x96x48xf32>)
      outs(%oz : tensor<2x2x2x64x48xf32>) -> tensor<2x2x2x64x48xf32>
  return %o : tensor<2x2x2x64x48xf32>
}
