// RUN: vcattn-opt %s --vcattn-assert-sizes | FileCheck %s

// Static sizes are the verifier's.
// CHECK-LABEL: func.func @static
// CHECK-NOT: cf.assert
func.func @static(%q: tensor<1x4x64x128xbf16>, %k: tensor<1x2x96x128xbf16>) -> tensor<1x4x64x128xbf16> {
  %o = vcattn.attention %q, %k, %k {scale = 1.0 : f64}
      : tensor<1x4x64x128xbf16>, tensor<1x2x96x128xbf16>, tensor<1x2x96x128xbf16> -> tensor<1x4x64x128xbf16>
  return %o : tensor<1x4x64x128xbf16>
}

// CHECK-LABEL: func.func @tokens
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x?x128xbf16>, %[[K:.*]]: tensor<1x4x?x128xbf16>, %[[V:.*]]: tensor<1x4x?x128xbf16>, %[[M:.*]]: tensor<1x1x?x?xi1>
// CHECK: %[[NK:.*]] = tensor.dim %[[K]], %{{.*}}
// CHECK: %[[NV:.*]] = tensor.dim %[[V]], %{{.*}}
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[NK]], %[[NV]]
// CHECK: cf.assert %[[SAME]], "attention: keys and values differ in number"
// CHECK-NOT: cf.assert
// CHECK: tensor.dim %[[M]]
// CHECK: cf.assert %{{.*}}, "attention: the mask's size in dimension 2 is neither 1 nor full"
// CHECK: cf.assert %{{.*}}, "attention: the mask's size in dimension 3 is neither 1 nor full"
// CHECK-NOT: cf.assert
// CHECK: vcattn.attention
func.func @tokens(%q: tensor<1x4x?x128xbf16>, %k: tensor<1x4x?x128xbf16>, %v: tensor<1x4x?x128xbf16>,
                  %m: tensor<1x1x?x?xi1>) -> tensor<1x4x?x128xbf16> {
  %o = vcattn.attention %q, %k, %v mask %m : tensor<1x1x?x?xi1> {scale = 1.0 : f64}
      : tensor<1x4x?x128xbf16>, tensor<1x4x?x128xbf16>, tensor<1x4x?x128xbf16> -> tensor<1x4x?x128xbf16>
  return %o : tensor<1x4x?x128xbf16>
}

// CHECK-LABEL: func.func @all
// CHECK: cf.assert %{{.*}}, "attention: queries and keys differ in batch size"
// CHECK: cf.assert %{{.*}}, "attention: keys and values differ in batch size"
// CHECK: arith.remui
// CHECK: cf.assert %{{.*}}, "attention: query heads are no multiple of key heads"
// CHECK: cf.assert %{{.*}}, "attention: keys and values differ in heads"
// CHECK: cf.assert %{{.*}}, "attention: keys and values differ in number"
// CHECK: cf.assert %{{.*}}, "attention: queries and keys differ in head dimension"
func.func @all(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %o = vcattn.attention %q, %k, %v {scale = 1.0 : f64, layout = #vcattn.layout<bthd>}
      : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32> -> tensor<?x?x?x?xf32>
  return %o : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @limits
// CHECK: cf.assert %{{.*}}, "attention: lengths are not one per batch"
// CHECK: cf.assert %{{.*}}, "attention: the block mask's size in dimension 0 is neither 1 nor full"
// CHECK: cf.assert %{{.*}}, "attention: the block mask's size in dimension 1 is neither 1 nor full"
// CHECK: arith.ceildivui
// CHECK: cf.assert %{{.*}}, "attention: the block mask's size in dimension 2 is not the number of query tiles"
// CHECK: cf.assert %{{.*}}, "attention: the block mask's size in dimension 3 is not the number of key tiles"
func.func @limits(%x: tensor<2x4x300x64xf32>, %n: tensor<?xi32>, %b: tensor<?x?x?x?xi1>) -> tensor<2x4x300x64xf32> {
  %o = vcattn.attention %x, %x, %x lengths %n : tensor<?xi32> blocks %b : tensor<?x?x?x?xi1> {scale = 1.0 : f64}
      : tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32>, tensor<2x4x300x64xf32> -> tensor<2x4x300x64xf32>
  return %o : tensor<2x4x300x64xf32>
}
