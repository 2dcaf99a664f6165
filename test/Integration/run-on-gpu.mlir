// On a Hopper GPU, from bf16 to bf16: the error of the method, and the CPU path's result.
// REQUIRES: cuda-sm90, ptxas, python

// RUN: vcattn-run %s --entry=grouped --device=cuda --input=gaussian --out=0=%t.grouped.cuda.npy | FileCheck %s
// RUN: vcattn-run %s --entry=grouped --device=cpu --input=gaussian --out=0=%t.grouped.cpu.npy | FileCheck %s
// RUN: %python %S/Inputs/compare_bf16.py %t.grouped.cuda.npy %t.grouped.cpu.npy 4e-3
// RUN: vcattn-run %s --entry=tokens_first --device=cuda --input=gaussian --out=0=%t.tokens.cuda.npy | FileCheck %s
// RUN: vcattn-run %s --entry=tokens_first --device=cpu --input=gaussian --out=0=%t.tokens.cpu.npy | FileCheck %s
// RUN: %python %S/Inputs/compare_bf16.py %t.tokens.cuda.npy %t.tokens.cpu.npy 4e-3

// CHECK: gaussian 0.0{{[34]}}

func.func @grouped(%q: tensor<1x8x300x128xbf16>, %k: tensor<1x2x1000x128xbf16>,
                   %v: tensor<1x2x1000x128xbf16>) -> tensor<1x8x300x128xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.08838834764831845 : f64}
      : tensor<1x8x300x128xbf16>, tensor<1x2x1000x128xbf16>, tensor<1x2x1000x128xbf16>
        -> tensor<1x8x300x128xbf16>
  return %o : tensor<1x8x300x128xbf16>
}

func.func @tokens_first(%q: tensor<1x513x3x128xbf16>, %k: tensor<1x513x3x128xbf16>,
                        %v: tensor<1x513x3x128xbf16>) -> tensor<1x513x3x128xbf16> {
  %o = vcattn.attention %q, %k, %v
      {scale = 0.08838834764831845 : f64, layout = #vcattn.layout<bthd>}
      : tensor<1x513x3x128xbf16>, tensor<1x513x3x128xbf16>, tensor<1x513x3x128xbf16>
        -> tensor<1x513x3x128xbf16>
  return %o : tensor<1x513x3x128xbf16>
}
