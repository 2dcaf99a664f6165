// The method's passes in every order that makes sense, on everything that
// attention has; and each alone.
// RUN: vcattn-opt %s -vcattn-smooth-keys -vcattn-smooth-values -vcattn-quantize -vcattn-expcast | FileCheck %s --check-prefixes=CHECK,ALL,EXPCAST
// RUN: vcattn-opt %s -vcattn-smooth-values -vcattn-smooth-keys -vcattn-quantize -vcattn-expcast | FileCheck %s --check-prefixes=CHECK,ALL,EXPCAST
// RUN: vcattn-opt %s -vcattn-expcast -vcattn-smooth-keys -vcattn-smooth-values -vcattn-quantize | FileCheck %s --check-prefixes=CHECK,ALL,EXPCAST
// RUN: vcattn-opt %s -vcattn-smooth-keys -vcattn-expcast -vcattn-smooth-values -vcattn-quantize | FileCheck %s --check-prefixes=CHECK,ALL,EXPCAST
// RUN: vcattn-opt %s -vcattn-smooth-keys -vcattn-quantize=values=false -vcattn-smooth-values=clusters=0 -vcattn-quantize -vcattn-expcast | FileCheck %s --check-prefixes=CHECK,ALL,EXPCAST
// RUN: vcattn-opt %s -vcattn-smooth-values -vcattn-quantize=scores=none -vcattn-smooth-keys -vcattn-quantize -vcattn-expcast | FileCheck %s --check-prefixes=CHECK,ALL,EXPCAST
// RUN: vcattn-opt %s -vcattn-smooth-keys -vcattn-smooth-values -vcattn-quantize | FileCheck %s --check-prefixes=CHECK,ALL,EXACT
// RUN: vcattn-opt %s -vcattn-quantize -vcattn-expcast | FileCheck %s --check-prefixes=CHECK,EXPCAST
// RUN: vcattn-opt %s -vcattn-quantize -canonicalize -cse | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: vcattn-opt %s -pass-pipeline="builtin.module(func.func(vcattn-smooth-keys,vcattn-smooth-values,vcattn-quantize,vcattn-expcast))" | FileCheck %s --check-prefixes=CHECK,ALL,EXPCAST

// CHECK-LABEL: func @mask_gqa_lse(
// ALL-DAG: %[[KC:.*]], %[[MEAN:.*]] = vcattn.center_keys
// ALL-DAG: vcattn.hadamard
// ALL-DAG: vcattn.hadamard
// ALL-DAG: %[[R:.*]], %[[MEANS:.*]] = vcattn.block_residual
// CHECK-DAG: vcattn.quantize %{{.*}} {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>} : {{.*}} -> (tensor<?x8x?x128xi8>, tensor<?x8x?xf32>)
// CHECK-DAG: vcattn.quantize %{{.*}} {format = #vcattn.format<i8>, granularity = #vcattn.granularity<block>, groups = 4 : i64}
// ALL-DAG: %[[V8:.*]], %[[VS:.*]] = vcattn.quantize %[[R]] bound %[[MEANS]] {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>}
// ALL-DAG: %[[LEFT:.*]] = vcattn.compensate_means %[[MEANS]], %[[V8]], %[[VS]]
// CHECK: %[[O:.*]], %[[LSE:.*]] = vcattn.quantized_attention
// CHECK-SAME: mask %
// ALL-SAME: means %[[LEFT]]
// EXPCAST-SAME: cast = #vcattn.cast<expcast>
// EXACT-SAME: cast = #vcattn.cast<exact>
// CHECK-SAME: -> (tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>)
// ALL: vcattn.correct_lse %{{.*}}, %[[MEAN]], %[[LSE]]
func.func @mask_gqa_lse(%q: tensor<?x8x?x128xbf16>, %k: tensor<?x2x?x128xbf16>, %v: tensor<?x2x?x128xbf16>,
                        %m: tensor<1x1x1x?xf16>) -> (tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>) {
  %o:2 = vcattn.attention %q, %k, %v mask %m : tensor<1x1x1x?xf16> {scale = 1.0 : f64}
      : tensor<?x8x?x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16> -> tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>
  return %o#0, %o#1 : tensor<?x8x?x128xbf16>, tensor<?x8x?xf32>
}

// CHECK-LABEL: func @bthd(
// CHECK: vcattn.quantized_attention {{.*}} layout = #vcattn.layout<bthd>
// CHECK-SAME: -> tensor<1x300x8x64xf16>
func.func @bthd(%q: tensor<1x300x8x64xf16>, %k: tensor<1x300x8x64xf16>, %v: tensor<1x300x8x64xf16>) -> tensor<1x300x8x64xf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.125 : f64, layout = #vcattn.layout<bthd>}
      : tensor<1x300x8x64xf16>, tensor<1x300x8x64xf16>, tensor<1x300x8x64xf16> -> tensor<1x300x8x64xf16>
  return %o : tensor<1x300x8x64xf16>
}

// What is not attention stays.
// CHECK-LABEL: func @others(
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: return
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}
