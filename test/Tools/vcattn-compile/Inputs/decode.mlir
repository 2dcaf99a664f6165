func.func @decode(%q: tensor<1x2x1x128xi8>, %qs: tensor<1x2x1xf32>, %k: tensor<1x2x20000x128xi8>, %ks: tensor<1x2x157x4xf32>,
                  %v: tensor<1x2x20000x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>) -> tensor<1x2x1x128xbf16> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 0.088 : f64}
      : (tensor<1x2x1x128xi8>, tensor<1x2x1xf32>, tensor<1x2x20000x128xi8>, tensor<1x2x157x4xf32>,
         tensor<1x2x20000x128xf8E4M3FN>, tensor<1x2x128xf32>) -> tensor<1x2x1x128xbf16>
  return %o : tensor<1x2x1x128xbf16>
}
