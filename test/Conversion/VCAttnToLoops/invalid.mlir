// RUN: vcattn-opt %s --convert-vcattn-to-loops --split-input-file --verify-diagnostics

func.func @dynamic_dim(%k: tensor<1x2x8x?xf32>) -> tensor<1x2x8x?xf32> {
  // expected-error @+1 {{'vcattn.center_keys' op cannot be lowered to loops: the last dimension of key must be static, got 'tensor<1x2x8x?xf32>'}}
  %0, %1 = vcattn.center_keys %k
      : (tensor<1x2x8x?xf32>) -> (tensor<1x2x8x?xf32>, tensor<1x2x?xf32>)
  return %0 : tensor<1x2x8x?xf32>
}
