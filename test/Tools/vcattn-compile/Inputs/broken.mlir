func.func @broken(%x: tensor<4xf32>) -> tensor<4xf32> {
  vcattn.nonsense %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
