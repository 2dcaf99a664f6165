func.func @prepare(%q: tensor<1x2x?x128xbf16>) -> (tensor<1x2x?x128xi8>, tensor<1x2x?xf32>) {
  %r = vcattn.hadamard %q : (tensor<1x2x?x128xbf16>) -> tensor<1x2x?x128xf32>
  %q8, %qs = vcattn.quantize %r {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<1x2x?x128xf32>) -> (tensor<1x2x?x128xi8>, tensor<1x2x?xf32>)
  return %q8, %qs : tensor<1x2x?x128xi8>, tensor<1x2x?xf32>
}
