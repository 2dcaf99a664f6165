// RUN: vcattn-opt %s -split-input-file -vcattn-quantize | FileCheck %s
// RUN: vcattn-opt %s -split-input-file -vcattn-quantize -vcattn-quantize | FileCheck %s
// RUN: vcattn-opt %s -split-input-file -vcattn-quantize=scores=f8E4M3FN | FileCheck %s --check-prefix=E4M3
// RUN: vcattn-opt %s -split-input-file -vcattn-quantize=scores=none | FileCheck %s --check-prefix=VALUES
// RUN: vcattn-opt %s -split-input-file -vcattn-quantize=scores=f8E4M3FN -vcattn-quantize=values=false | FileCheck %s --check-prefix=E4M3
// RUN: vcattn-opt %s -split-input-file -vcattn-quantize="scores=none values=false" | FileCheck %s --check-prefix=NOTHING

// CHECK-LABEL: func @plain
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>, %[[V:.*]]: tensor<1x4x300x64xbf16>
// CHECK-DAG: %[[Q8:.*]], %[[QS:.*]] = vcattn.quantize %[[Q]] {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>} : (tensor<1x4x200x128xbf16>) -> (tensor<1x4x200x128xi8>, tensor<1x4x200xf32>)
// CHECK-DAG: %[[K8:.*]], %[[KS:.*]] = vcattn.quantize %[[K]] {format = #vcattn.format<i8>, granularity = #vcattn.granularity<block>, groups = 4 : i64} : (tensor<1x4x300x128xbf16>) -> (tensor<1x4x300x128xi8>, tensor<1x4x3x4xf32>)
// CHECK-DAG: %[[V8:.*]], %[[VS:.*]] = vcattn.quantize %[[V]] {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>} : (tensor<1x4x300x64xbf16>) -> (tensor<1x4x300x64xf8E4M3FN>, tensor<1x4x64xf32>)
// CHECK: %[[O:.*]] = vcattn.quantized_attention %[[Q8]] scale %[[QS]], %[[K8]] scale %[[KS]], %[[V8]] scale %[[VS]] {cast = #vcattn.cast<exact>, scale = 5.000000e-01 : f64}
// CHECK-SAME: -> tensor<1x4x200x64xbf16>
// CHECK-NEXT: return %[[O]]

// E4M3-LABEL: func @plain
// E4M3: vcattn.quantize %{{.*}} {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<token>}
// E4M3: vcattn.quantize %{{.*}} {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<block>, groups = 4 : i64}
// E4M3: vcattn.quantize %{{.*}} {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>}
// E4M3-NOT: vcattn.quantize %
// E4M3-LABEL: func @everything

// VALUES-LABEL: func @plain
// VALUES-SAME: %[[Q:.*]]: tensor<1x4x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>
// VALUES-NEXT: %[[V8:.*]], %[[VS:.*]] = vcattn.quantize
// VALUES-NEXT: vcattn.quantized_attention %[[Q]], %[[K]], %[[V8]] scale %[[VS]] {cast = #vcattn.cast<exact>

// NOTHING-LABEL: func @plain
// NOTHING-NEXT: vcattn.attention
func.func @plain(%q: tensor<1x4x200x128xbf16>, %k: tensor<1x4x300x128xbf16>, %v: tensor<1x4x300x64xbf16>)
    -> tensor<1x4x200x64xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.5 : f64}
      : tensor<1x4x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x64xbf16> -> tensor<1x4x200x64xbf16>
  return %o : tensor<1x4x200x64xbf16>
}

// -----

// Means bound the scales and take the mean of what quantization changed; mask, causality, layout, log-sum-exp and attributes of
// other dialects stay.
// CHECK-LABEL: func @everything
// CHECK: vcattn.quantize %{{.*}} {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>, layout = #vcattn.layout<bthd>} : (tensor<?x?x8x64xf16>) -> (tensor<?x?x8x64xi8>, tensor<?x8x?xf32>)
// CHECK: vcattn.quantize %{{.*}} {format = #vcattn.format<i8>, granularity = #vcattn.granularity<block>, groups = 4 : i64, layout = #vcattn.layout<bthd>} : (tensor<?x?x2x64xf16>) -> (tensor<?x?x2x64xi8>, tensor<?x2x?x4xf32>)
// CHECK: %[[V8:.*]], %[[VS:.*]] = vcattn.quantize %{{.*}} bound %[[MEANS:.*]] {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>, layout = #vcattn.layout<bthd>} : (tensor<?x?x2x64xf32>, tensor<?x2x?x64xf32>) -> (tensor<?x?x2x64xf8E4M3FN>, tensor<?x2x64xf32>)
// CHECK: %[[LEFT:.*]] = vcattn.compensate_means %[[MEANS]], %[[V8]], %[[VS]] {layout = #vcattn.layout<bthd>}
// CHECK: vcattn.quantized_attention {{.*}} mask %{{.*}} means %[[LEFT]] {cast = #vcattn.cast<exact>, causal = #vcattn.causality<bottom_right>, layout = #vcattn.layout<bthd>, scale = 1.250000e-01 : f64, test.note}
// CHECK-SAME: -> (tensor<?x?x8x64xf16>, tensor<?x8x?xf32>)
func.func @everything(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf32>,
                      %means: tensor<?x2x?x64xf32>, %m: tensor<?x1x?x?xi1>) -> (tensor<?x?x8x64xf16>, tensor<?x8x?xf32>) {
  %o:2 = vcattn.attention %q, %k, %v mask %m : tensor<?x1x?x?xi1> means %means : tensor<?x2x?x64xf32>
      {scale = 0.125 : f64, causal = #vcattn.causality<bottom_right>, layout = #vcattn.layout<bthd>, test.note}
      : tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf16>, tensor<?x8x?xf32>
  return %o#0, %o#1 : tensor<?x?x8x64xf16>, tensor<?x8x?xf32>
}

// -----

// After vcattn-expcast the cast stays.
// CHECK-LABEL: func @after_expcast
// CHECK: vcattn.quantized_attention %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}} {cast = #vcattn.cast<expcast>
func.func @after_expcast(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x8x16xf32>, %v: tensor<1x1x8x16xf32>)
    -> tensor<1x1x8x16xf32> {
  %o = vcattn.quantized_attention %q, %k, %v {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

// -----

// Limits stay; padding has no part in the scales of keys and values.
// CHECK-LABEL: func @limits
// CHECK-SAME: %[[N:[^ ]*]]: tensor<2xi32>, %[[B:[^ ]*]]: tensor<1x1x2x2xi1>
// CHECK: vcattn.quantize %{{.*}} {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
// CHECK: vcattn.quantize %{{.*}} lengths %[[N]] {format = #vcattn.format<i8>, granularity = #vcattn.granularity<block>
// CHECK: vcattn.quantize %{{.*}} lengths %[[N]] {format = #vcattn.format<f8E4M3FN>
// CHECK: vcattn.quantized_attention {{.*}} lengths %[[N]] blocks %[[B]] {cast = #vcattn.cast<exact>, causal = #vcattn.causality<top_left>, scale = 1.000000e+00 : f64, window = #vcattn.window<left = 3>}
// E4M3-LABEL: func @limits
// VALUES-LABEL: func @limits
// NOTHING-LABEL: func @limits
func.func @limits(%x: tensor<2x1x200x64xf32>, %n: tensor<2xi32>, %b: tensor<1x1x2x2xi1>) -> tensor<2x1x200x64xf32> {
  %o = vcattn.attention %x, %x, %x lengths %n : tensor<2xi32> blocks %b : tensor<1x1x2x2xi1>
      {scale = 1.0 : f64, causal = #vcattn.causality<top_left>, window = #vcattn.window<left = 3>}
      : tensor<2x1x200x64xf32>, tensor<2x1x200x64xf32>, tensor<2x1x200x64xf32> -> tensor<2x1x200x64xf32>
  return %o : tensor<2x1x200x64xf32>
}
