// RUN: vcattn-opt %s -vcattn-expcast | FileCheck %s -DCAST=expcast
// RUN: vcattn-opt %s -vcattn-expcast -vcattn-expcast | FileCheck %s -DCAST=expcast
// RUN: vcattn-opt %s -vcattn-expcast=cast=hybrid | FileCheck %s -DCAST=hybrid
// RUN: vcattn-opt %s -vcattn-expcast -vcattn-expcast=cast=hybrid | FileCheck %s -DCAST=hybrid
// RUN: vcattn-opt %s -vcattn-expcast=cast=hybrid -vcattn-expcast=cast=expcast | FileCheck %s -DCAST=expcast
// RUN: not vcattn-opt %s -vcattn-expcast=cast=exact 2>&1 | FileCheck %s --check-prefix=TYPO
// TYPO: Cannot find option named 'exact'!

// CHECK-LABEL: func @plain
// CHECK-SAME: %[[Q:.*]]: tensor<1x8x200x128xbf16>, %[[K:.*]]: tensor<1x4x300x128xbf16>, %[[V:.*]]: tensor<1x4x300x64xbf16>
// CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = vcattn.quantized_attention %[[Q]], %[[K]], %[[V]] {cast = #vcattn.cast<[[CAST]]>, causal = #vcattn.causality<top_left>, scale = 5.000000e-01 : f64} : (tensor<1x8x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x64xbf16>) -> (tensor<1x8x200x64xbf16>, tensor<1x8x200xf32>)
// CHECK-NEXT: return %[[O]], %[[LSE]]
func.func @plain(%q: tensor<1x8x200x128xbf16>, %k: tensor<1x4x300x128xbf16>, %v: tensor<1x4x300x64xbf16>)
    -> (tensor<1x8x200x64xbf16>, tensor<1x8x200xf32>) {
  %o:2 = vcattn.attention %q, %k, %v {scale = 0.5 : f64, causal = #vcattn.causality<top_left>}
      : tensor<1x8x200x128xbf16>, tensor<1x4x300x128xbf16>, tensor<1x4x300x64xbf16> -> tensor<1x8x200x64xbf16>, tensor<1x8x200xf32>
  return %o#0, %o#1 : tensor<1x8x200x64xbf16>, tensor<1x8x200xf32>
}

// CHECK-LABEL: func @mask_and_means_bthd
// CHECK: vcattn.quantized_attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} means %{{.*}} {cast = #vcattn.cast<[[CAST]]>, layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64, test.note}
func.func @mask_and_means_bthd(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>,
                               %m: tensor<?x?x?x?xf32>, %means: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %o = vcattn.attention %q, %k, %v mask %m : tensor<?x?x?x?xf32> means %means : tensor<?x?x?x?xf32>
      {scale = 1.0 : f64, layout = #vcattn.layout<bthd>, test.note}
      : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32> -> tensor<?x?x?x?xf32>
  return %o : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func @codes
// CHECK-NEXT: vcattn.quantized_attention %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} {cast = #vcattn.cast<[[CAST]]>
func.func @codes(%q: tensor<1x1x8x16xi8>, %qs: tensor<1x1x8xf32>, %k: tensor<1x1x8x16xi8>, %ks: tensor<1x1x1x4xf32>,
                 %v: tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32> {
  %o = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v {cast = #vcattn.cast<exact>, scale = 1.0 : f64}
      : (tensor<1x1x8x16xi8>, tensor<1x1x8xf32>, tensor<1x1x8x16xi8>, tensor<1x1x1x4xf32>, tensor<1x1x8x16xf32>)
        -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}
