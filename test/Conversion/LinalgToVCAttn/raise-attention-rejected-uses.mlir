// RUN: vcattn-opt %s -vcattn-raise-attention=remarks=true -verify-diagnostics | FileCheck %s

// Values with other uses, and sums that start from something.
// CHECK-NOT: vcattn.attention

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#o = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
#row = affine_map<(b, h, m, n) -> (b, h, m)>

func.func @probabilities_escape(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> (tensor<2x4x64x48xf32>, tensor<2x4x64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  // expected-remark @+1 {{attention is not raised: scores or probabilities are used outside of the attention}}
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o, %p : tensor<2x4x64x48xf32>, tensor<2x4x64x96xf32>
}

func.func @scores_escape(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> (tensor<2x4x64x48xf32>, tensor<2x4x64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  // expected-remark @+1 {{attention is not raised: scores or probabilities are used outside of the attention}}
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o, %s : tensor<2x4x64x48xf32>, tensor<2x4x64x96xf32>
}

func.func @argmax_escapes(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> (tensor<2x4x64x48xf32>, tensor<2x4x64xi64>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %i0 = arith.constant 0 : i64
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %maxe = tensor.empty() : tensor<2x4x64xf32>
  %maxz = linalg.fill ins(%lowest : f32) outs(%maxe : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %ie = tensor.empty() : tensor<2x4x64xi64>
  %iz = linalg.fill ins(%i0 : i64) outs(%ie : tensor<2x4x64xi64>) -> tensor<2x4x64xi64>
  // expected-remark @+1 {{attention is not raised: scores or probabilities are used outside of the attention}}
  %max:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%maxz, %iz : tensor<2x4x64xf32>, tensor<2x4x64xi64>) {
  ^bb0(%x: f32, %out: f32, %arg: i64):
    %0 = linalg.index 3 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %x, %out : f32
    %3 = arith.cmpf ogt, %x, %out : f32
    %4 = arith.select %3, %1, %arg : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor<2x4x64xf32>, tensor<2x4x64xi64>)
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %max#0 : tensor<2x4x64x96xf32>, tensor<2x4x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
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
  return %o, %max#1 : tensor<2x4x64x48xf32>, tensor<2x4x64xi64>
}

func.func @scores_add_to_something(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x4x64x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  // expected-remark @+1 {{attention is not raised: the product of queries and keys does not start from zero}}
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%m : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

func.func @result_adds_to_something(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x4x64x48xf32>)
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
  // expected-remark @+1 {{attention is not raised: the product with the values does not start from zero}}
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%m : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}
