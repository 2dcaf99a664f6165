// RUN: vcattn-opt %s --convert-vcattn-to-loops --split-input-file --verify-diagnostics

func.func @dynamic_dim(%k: tensor<1x2x8x?xf32>) -> tensor<1x2x8x?xf32> {
  // expected-error @+1 {{'vcattn.center_keys' op cannot be lowered to loops: the last dimension of key must be static, got 'tensor<1x2x8x?xf32>'}}
  %0, %1 = vcattn.center_keys %k
      : (tensor<1x2x8x?xf32>) -> (tensor<1x2x8x?xf32>, tensor<1x2x?xf32>)
  return %0 : tensor<1x2x8x?xf32>
}

// -----

func.func @too_wide(%q: tensor<1x1x8x320xi8>, %qs: tensor<1x1x8xf32>,
                    %ks: tensor<1x1x1x4xf32>, %v: tensor<1x1x8x64xf32>)
    -> tensor<1x1x8x64xf32> {
  // expected-error @+1 {{'vcattn.quantized_attention' op cannot be lowered to loops: integer scores are exact up to head dimension 260, got 320}}
  %0 = vcattn.quantized_attention %q scale %qs, %q scale %ks, %v
      {cast = #vcattn.cast<expcast>, scale = 0.125 : f64}
      : (tensor<1x1x8x320xi8>, tensor<1x1x8xf32>, tensor<1x1x8x320xi8>,
         tensor<1x1x1x4xf32>, tensor<1x1x8x64xf32>) -> tensor<1x1x8x64xf32>
  return %0 : tensor<1x1x8x64xf32>
}

// -----

func.func @e2m1_channel(%x: tensor<1x1x8x32xf32>) -> tensor<1x1x32xf32> {
  // expected-error @+1 {{f4E2M1FN shares micro scales between channels}}
  %0:3 = vcattn.quantize %x {format = #vcattn.format<f4E2M1FN>,
      granularity = #vcattn.granularity<channel>} : (tensor<1x1x8x32xf32>)
      -> (tensor<1x1x8x16xi8>, tensor<1x1x32xf32>, tensor<1x1x8x2xf8E4M3FN>)
  return %0#1 : tensor<1x1x32xf32>
}
