// RUN: vcattn-opt %s -vcattn-raise-attention=remarks=true -verify-diagnostics | FileCheck %s

// Softmaxes that are none, or of something else; one function each.
// CHECK-NOT: vcattn.attention

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#o = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
#row = affine_map<(b, h, m, n) -> (b, h, m)>
#col = affine_map<(b, h, m, n) -> (b, h, n)>

func.func @softmax_over_queries(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  // expected-remark @+1 {{attention is not raised: softmax does not run over the axis that the values are summed over}}
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// Shapes alone cannot tell.
func.func @softmax_over_queries_of_square_scores(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x64x32xf32>, %v: tensor<2x4x64x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x64xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>)
      outs(%sz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  // expected-remark @+1 {{attention is not raised: softmax does not run over the axis that the values are summed over}}
  %p = linalg.softmax dimension(2)
      ins(%s : tensor<2x4x64x64xf32>) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x64xf32>, tensor<2x4x64x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// Reduced over queries, but subtracted per query.
func.func @maximum_over_queries_of_square_scores(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x64x32xf32>, %v: tensor<2x4x64x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x64xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>)
      outs(%sz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  // expected-remark @+1 {{attention is not raised: the maximum is one of something else than the scores, or over another axis}}
  %max = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%s : tensor<2x4x64x64xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x64xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x64xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x4x64x64xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x64xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x64xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x64xf32>, tensor<2x4x64x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @sum_over_queries_of_square_scores(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x64x32xf32>, %v: tensor<2x4x64x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x64xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>)
      outs(%sz : tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x64xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x64xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x64xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  // expected-remark @+1 {{attention is not raised: the divisor sums something else than the exponentials, or over another axis}}
  %sum = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%e : tensor<2x4x64x64xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x64xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x64xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x64xf32>, tensor<2x4x64x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @maximum_of_other_scores(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x4x64x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  // expected-remark @+1 {{attention is not raised: the maximum is one of something else than the scores, or over another axis}}
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%m : tensor<2x4x64x96xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x4x64x96xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @maximum_from_zero(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%zero : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  // expected-remark @+1 {{attention is not raised: the maximum does not start from the lowest number}}
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x4x64x96xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @no_maximum_is_subtracted(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x4x64xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    // expected-remark @+1 {{attention is not raised: what is subtracted from the scores is not their maximum}}
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x4x64x96xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// A sink: one more key that has no value.
func.func @sum_from_one(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %one = arith.constant 1.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%one : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  // expected-remark @+1 {{attention is not raised: the sum of exponentials does not start from zero}}
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x4x64x96xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @sum_of_scores(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  // expected-remark @+1 {{attention is not raised: the divisor sums something else than the exponentials, or over another axis}}
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @divided_by_maximum(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  // expected-remark @+1 {{attention is not raised: exponentials are not divided by a sum}}
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x4x64x96xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @multiplied_by_sum(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %sume = tensor.empty() : tensor<2x4x64xf32>
  %sumz = linalg.fill ins(%zero : f32) outs(%sume : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<2x4x64x96xf32>) outs(%sumz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    // expected-remark @+1 {{attention is not raised: exponentials are multiplied by something that is not the inverse of their sum}}
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @not_normalized(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%maxz : tensor<2x4x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.maximumf %x, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.subf %x, %y : f32
    // expected-remark @+1 {{attention is not raised: probabilities are not divided by their sum}}
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%e, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// Two products in a row, without a softmax, do not even look like it.
func.func @two_products(%q: tensor<64x32xf32>, %k: tensor<32x96xf32>, %v: tensor<96x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<64x96xf32>) -> tensor<64x96xf32>
  %s = linalg.matmul ins(%q, %k : tensor<64x32xf32>, tensor<32x96xf32>) outs(%sz : tensor<64x96xf32>) -> tensor<64x96xf32>
  %oe = tensor.empty() : tensor<64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<64x48xf32>) -> tensor<64x48xf32>
  %o = linalg.matmul ins(%s, %v : tensor<64x96xf32>, tensor<96x48xf32>) outs(%oz : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %o : tensor<64x48xf32>
}
