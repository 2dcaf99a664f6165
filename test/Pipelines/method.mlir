// RUN: vcattn-opt %s --vcattn-method | FileCheck %s --check-prefixes=CHECK,FULL,HYBRID
// RUN: vcattn-opt %s --vcattn-method="center=false rotate=false smooth-values=false scores=f8E4M3FN cast=exact" | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: vcattn-opt %s --vcattn-method="cast=expcast" | FileCheck %s --check-prefixes=CHECK,FULL,EXPCAST
// RUN: vcattn-opt %s --vcattn-method="cast=hybrid" | FileCheck %s --check-prefixes=CHECK,FULL,HYBRID
// RUN: vcattn-opt %s --vcattn-method="clusters=0 scores=none" | FileCheck %s --check-prefixes=CHECK,VALUES
// RUN: not vcattn-opt %s --vcattn-method="scores=i4" 2>&1 | FileCheck %s --check-prefix=TYPO

// CHECK-LABEL: func @attention
// FULL: vcattn.center_keys
// FULL-COUNT-2: vcattn.hadamard
// FULL: vcattn.cluster {{.*}}clusters = 64 : i64{{.*}}iterations = 4 : i64
// FULL-COUNT-2: vcattn.gather_tokens
// FULL: vcattn.block_residual
// FULL-COUNT-3: vcattn.quantize
// FULL: vcattn.quantized_attention
// EXPCAST-SAME: cast = #vcattn.cast<expcast>
// HYBRID-SAME: cast = #vcattn.cast<hybrid>
// FULL-SAME: tensor<1x4x200x128xi8>

// PLAIN-NOT: vcattn.{{center_keys|hadamard|cluster|gather_tokens|block_residual}}
// PLAIN-COUNT-3: vcattn.quantize
// PLAIN: vcattn.quantized_attention {{.*}}cast = #vcattn.cast<exact>
// PLAIN-SAME: tensor<1x4x200x128xf8E4M3FN>

// VALUES-NOT: vcattn.cluster
// VALUES: vcattn.block_residual
// VALUES: vcattn.quantize
// VALUES-NOT: vcattn.quantize{{ }}
// VALUES: vcattn.quantized_attention

// TYPO: for the --scores option: Cannot find option named 'i4'!
func.func @attention(%q: tensor<1x4x200x128xbf16>, %k: tensor<1x4x300x128xbf16>, %v: tensor<1x4x300x128xbf16>)
    -> tensor<1x4x200x128xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.5 : f64}
      : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x128xbf16> -> tensor<1x4x200x128xbf16>
  return %o : tensor<1x4x200x128xbf16>
}
