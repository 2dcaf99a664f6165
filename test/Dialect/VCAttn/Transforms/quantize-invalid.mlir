// RUN: vcattn-opt %s -vcattn-quantize -verify-diagnostics

func.func @no_integer_scores(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x8x16xf32>, %v: tensor<1x1x8x16xf32>)
    -> tensor<1x1x8x16xf32> {
  // expected-error @+1 {{cannot quantize scores to i8: target sm_103a has no matrix instruction for it}}
  %o = vcattn.quantized_attention %q, %k, %v
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64, target = #vcattn.target<"sm_103a">}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}
