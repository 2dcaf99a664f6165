// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-values -verify-diagnostics | FileCheck %s
// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-values="clusters=0" | FileCheck %s --check-prefix=MEANS
// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-values="clusters=8 iterations=2" | FileCheck %s --check-prefix=OPTIONS
// RUN: vcattn-opt %s -split-input-file -vcattn-smooth-values -vcattn-smooth-values | FileCheck %s
// RUN: not vcattn-opt %s -vcattn-smooth-values=clusters=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not vcattn-opt %s -vcattn-smooth-values=iterations=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: vcattn-smooth-values: clusters and iterations must not be negative

// CHECK-LABEL: func @plain
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>, %[[V:.*]]: tensor<1x4x300x64xbf16>
// CHECK-NEXT: %[[P:.*]], %{{.*}} = vcattn.cluster %[[V]] {clusters = 64 : i64, iterations = 4 : i64} : (tensor<1x4x300x64xbf16>) -> (tensor<1x4x300xi32>, tensor<1x4x64x64xf32>)
// CHECK-NEXT: %[[KG:.*]] = vcattn.gather_tokens %[[K]], %[[P]]
// CHECK-NEXT: %[[VG:.*]] = vcattn.gather_tokens %[[V]], %[[P]]
// CHECK-NEXT: %[[R:.*]], %[[M:.*]] = vcattn.block_residual %[[VG]] : (tensor<1x4x300x64xbf16>) -> (tensor<1x4x300x64xf32>, tensor<1x4x3x64xf32>)
// CHECK-NEXT: %[[O:.*]] = vcattn.attention %[[Q]], %[[KG]], %[[R]] means %[[M]] : tensor<1x4x3x64xf32> {scale = 5.000000e-01 : f64} : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x64xf32> -> tensor<1x4x200x64xbf16>
// CHECK-NEXT: return %[[O]]

// MEANS-LABEL: func @plain
// MEANS-SAME: %[[Q:.*]]: tensor<1x4x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>, %[[V:.*]]: tensor<1x4x300x64xbf16>
// MEANS-NEXT: %[[R:.*]], %[[M:.*]] = vcattn.block_residual %[[V]]
// MEANS-NEXT: vcattn.attention %[[Q]], %[[K]], %[[R]] means %[[M]]

// OPTIONS-LABEL: func @plain
// OPTIONS: vcattn.cluster %{{.*}} {clusters = 8 : i64, iterations = 2 : i64}
func.func @plain(%q: tensor<1x4x200x128xbf16>, %k: tensor<1x4x300x128xbf16>, %v: tensor<1x4x300x64xbf16>)
    -> tensor<1x4x200x64xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.5 : f64}
      : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x64xbf16> -> tensor<1x4x200x64xbf16>
  return %o : tensor<1x4x200x64xbf16>
}

// -----

// The mask's keys move with keys and values, for every query head of a key head.
// CHECK-LABEL: func @mask_gqa_lse
// CHECK-SAME: %[[M:[^ ]*]]: tensor<1x1x1x?xf16>
// CHECK: %[[P:.*]], %{{.*}} = vcattn.cluster %{{.*}} : (tensor<?x2x?x128xbf16>) -> (tensor<?x2x?xi32>, tensor<?x2x64x128xf32>)
// CHECK: %[[MG:.*]] = vcattn.gather_mask %[[M]], %[[P]] {group = 4 : i64} : (tensor<1x1x1x?xf16>, tensor<?x2x?xi32>) -> tensor<?x8x1x?xf16>
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[MG]] : tensor<?x8x1x?xf16> means %{{.*}} : tensor<?x2x?x128xf32> {scale = 1.000000e+00 : f64}
// CHECK-SAME: -> tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>
func.func @mask_gqa_lse(%q: tensor<?x8x?x128xbf16>, %k: tensor<?x2x?x128xbf16>, %v: tensor<?x2x?x128xbf16>,
                        %m: tensor<1x1x1x?xf16>) -> (tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>) {
  %o:2 = vcattn.attention %q, %k, %v mask %m : tensor<1x1x1x?xf16> {scale = 1.0 : f64}
      : tensor<?x8x?x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16> -> tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>
  return %o#0, %o#1 : tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>
}

// -----

// A mask that does not tell keys apart needs no gathering.
// CHECK-LABEL: func @mask_of_queries_bthd
// CHECK-SAME: %[[M:[^ ]*]]: tensor<1x1x200x1xi1>
// CHECK: vcattn.cluster %{{.*}} {clusters = 64 : i64, iterations = 4 : i64, layout = #vcattn.layout<bthd>} : (tensor<1x300x4x64xf32>) -> (tensor<1x4x300xi32>, tensor<1x4x64x64xf32>)
// CHECK: vcattn.gather_tokens %{{.*}} {layout = #vcattn.layout<bthd>}
// CHECK: vcattn.block_residual %{{.*}} {layout = #vcattn.layout<bthd>}
// CHECK-NOT: gather_mask
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[M]] : tensor<1x1x200x1xi1> means
func.func @mask_of_queries_bthd(%q: tensor<1x200x4x64xf32>, %k: tensor<1x300x4x64xf32>, %v: tensor<1x300x4x64xf32>,
                                %m: tensor<1x1x200x1xi1>) -> tensor<1x200x4x64xf32> {
  %o = vcattn.attention %q, %k, %v mask %m : tensor<1x1x200x1xi1> {scale = 1.0 : f64, layout = #vcattn.layout<bthd>}
      : tensor<1x200x4x64xf32>, tensor<1x300x4x64xf32>, tensor<1x300x4x64xf32> -> tensor<1x200x4x64xf32>
  return %o : tensor<1x200x4x64xf32>
}

// -----

// CHECK-LABEL: func @causal
// CHECK-NOT: vcattn.cluster
// CHECK: %[[R:.*]], %[[M:.*]] = vcattn.block_residual
// CHECK: vcattn.attention %{{.*}}, %{{.*}}, %[[R]] means %[[M]] : tensor<1x1x2x64xf32> {causal = #vcattn.causality<top_left>
func.func @causal(%q: tensor<1x1x200x64xf32>, %k: tensor<1x1x200x64xf32>, %v: tensor<1x1x200x64xf32>)
    -> tensor<1x1x200x64xf32> {
  // expected-remark @+1 {{keys stay in sequence order: causality is about their positions}}
  %o = vcattn.attention %q, %k, %v {scale = 1.0 : f64, causal = #vcattn.causality<top_left>}
      : tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32> -> tensor<1x1x200x64xf32>
  return %o : tensor<1x1x200x64xf32>
}

// -----

// CHECK-LABEL: func @mask_dynamic_heads
// CHECK-NOT: vcattn.cluster
// CHECK: vcattn.block_residual
func.func @mask_dynamic_heads(%q: tensor<1x?x200x64xf32>, %k: tensor<1x2x200x64xf32>, %v: tensor<1x2x200x64xf32>,
                              %m: tensor<1x1x1x200xi1>) -> tensor<1x?x200x64xf32> {
  // expected-remark @+1 {{keys stay in sequence order: a mask needs a static number of query heads per key head}}
  %o = vcattn.attention %q, %k, %v mask %m : tensor<1x1x1x200xi1> {scale = 1.0 : f64}
      : tensor<1x?x200x64xf32>, tensor<1x2x200x64xf32>, tensor<1x2x200x64xf32> -> tensor<1x?x200x64xf32>
  return %o : tensor<1x?x200x64xf32>
}

// -----

// CHECK-LABEL: func @key_codes
// CHECK-NOT: vcattn.cluster
// CHECK: %[[R:.*]], %[[M:.*]] = vcattn.block_residual
// CHECK: vcattn.quantized_attention %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %[[R]] means %[[M]]
func.func @key_codes(%q: tensor<1x1x8x16xi8>, %qs: tensor<1x1x8xf32>, %k: tensor<1x1x8x16xi8>, %ks: tensor<1x1x1x4xf32>,
                     %v: tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32> {
  // expected-remark @+1 {{keys stay in sequence order: they are codes already}}
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xi8>, tensor<1x1x8xf32>, tensor<1x1x8x16xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x16xf32>)
        -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

// -----

// CHECK-LABEL: func @value_codes
// CHECK-NEXT: vcattn.quantized_attention
func.func @value_codes(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x8x16xf32>, %v: tensor<1x1x8x16xf8E4M3FN>,
                       %vs: tensor<1x1x16xf32>) -> tensor<1x1x8x16xf32> {
  // expected-remark @+1 {{values are not smoothed: they are codes already}}
  %o = vcattn.quantized_attention %q, %k, %v scale %vs {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf8E4M3FN>, tensor<1x1x16xf32>)
        -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

// -----

// Tokens stay where positions, or tiles, are about them.
// CHECK-LABEL: func @window
// CHECK-NOT: vcattn.cluster
// CHECK: vcattn.block_residual
// CHECK: vcattn.attention
// CHECK-NOT: vcattn.cluster
// CHECK: vcattn.block_residual
// CHECK: vcattn.attention
func.func @window(%x: tensor<1x1x200x64xf32>, %b: tensor<1x1x2x2xi1>) -> (tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32>) {
  // expected-remark @+1 {{keys stay in sequence order: a window is about their positions}}
  %o = vcattn.attention %x, %x, %x {scale = 1.0 : f64, window = #vcattn.window<left = 3>}
      : tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32> -> tensor<1x1x200x64xf32>
  // expected-remark @+1 {{keys stay in sequence order: a block mask is about their tiles}}
  %p = vcattn.attention %x, %x, %x blocks %b : tensor<1x1x2x2xi1> {scale = 1.0 : f64}
      : tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32> -> tensor<1x1x200x64xf32>
  return %o, %p : tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32>
}

// -----

// Of padding, no step knows anything.
// CHECK-LABEL: func @lengths
// CHECK-SAME: %[[N:[^ ]*]]: tensor<2xi32>
// CHECK: vcattn.cluster %{{.*}}, %[[N]] {
// CHECK: vcattn.block_residual %{{.*}}, %[[N]] :
// CHECK: vcattn.attention %{{.*}} means %{{.*}} lengths %[[N]] : tensor<2xi32>
func.func @lengths(%x: tensor<2x1x200x64xf32>, %n: tensor<2xi32>) -> tensor<2x1x200x64xf32> {
  %o = vcattn.attention %x, %x, %x lengths %n : tensor<2xi32> {scale = 1.0 : f64}
      : tensor<2x1x200x64xf32>, tensor<2x1x200x64xf32>, tensor<2x1x200x64xf32> -> tensor<2x1x200x64xf32>
  return %o : tensor<2x1x200x64xf32>
}

// -----

// A window without bounds is none.
// CHECK-LABEL: func @unbounded
// CHECK: vcattn.cluster
func.func @unbounded(%x: tensor<1x1x200x64xf32>) -> tensor<1x1x200x64xf32> {
  %o = vcattn.attention %x, %x, %x {scale = 1.0 : f64, window = #vcattn.window<>}
      : tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32>, tensor<1x1x200x64xf32> -> tensor<1x1x200x64xf32>
  return %o : tensor<1x1x200x64xf32>
}
