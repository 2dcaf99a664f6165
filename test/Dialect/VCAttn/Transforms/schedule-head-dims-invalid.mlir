// RUN: vcattn-opt %s -vcattn-schedule -verify-diagnostics -split-input-file

func.func @head_dim(%q: tensor<1x1x8x320xf32>, %v: tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{no schedule is known for target sm_90a with head dimension 320 and value dimension 128}}
  %o = vcattn.quantized_attention %q, %q, %v {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x320xf32>, tensor<1x1x8x320xf32>, tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}

// -----

func.func @dynamic_dims(%q: tensor<1x1x8x?xf32>) -> tensor<1x1x8x?xf32> {
  // expected-error @+1 {{no schedule is known for target sm_90a with head dimension ? and value dimension ?}}
  %o = vcattn.quantized_attention %q, %q, %q {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x?xf32>, tensor<1x1x8x?xf32>, tensor<1x1x8x?xf32>) -> tensor<1x1x8x?xf32>
  return %o : tensor<1x1x8x?xf32>
}

// -----

// An attention keeps the target that it has.
func.func @other_target(%q: tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{no schedule is known for target sm_120a with head dimension 128 and value dimension 128}}
  %o = vcattn.quantized_attention %q, %q, %q
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64, target = #vcattn.target<"sm_120a">}
      : (tensor<1x1x8x128xf32>, tensor<1x1x8x128xf32>, tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}
