// RUN: vcattn-opt %s -vcattn-raise-attention | FileCheck %s

// Masks that are added or selected by.

#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, d, n) -> (b, h, m, n)>
#v = affine_map<(b, h, m, d, n) -> (b, h, n, d)>
#o = affine_map<(b, h, m, d, n) -> (b, h, m, d)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
#pad = affine_map<(b, h, m, n) -> (b, 0, 0, n)>
#one = affine_map<(b, h, m, n) -> (0, 0, 0, 0)>
#mn = affine_map<(b, h, m, n) -> (m, n)>
#nbm = affine_map<(b, h, m, n) -> (n, b, m)>
#id2 = affine_map<(m, n) -> (m, n)>
#q3 = affine_map<(b, m, n, d) -> (b, m, d)>
#k3 = affine_map<(b, m, n, d) -> (b, n, d)>
#s3 = affine_map<(b, m, n, d) -> (b, m, n)>

// CHECK-LABEL: func @added_padding
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<2x1x1x96xf32>
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] : tensor<2x1x1x96xf32> {scale = 1.000000e+00 : f64}
func.func @added_padding(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x1x1x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #pad, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<2x1x1x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @added_of_queries_and_keys
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<64x96xf32>
// CHECK: %[[M4:.*]] = tensor.expand_shape %[[M]] {{\[\[}}0, 1, 2], [3]] output_shape [1, 1, 64, 96]
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M4]] : tensor<1x1x64x96xf32> {scale = 1.000000e+00 : f64}
func.func @added_of_queries_and_keys(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<64x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #mn, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @added_number
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<1x1x1x1xf32>
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] : tensor<1x1x1x1xf32> {scale = 1.000000e+00 : f64}
func.func @added_number(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<1x1x1x1xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<1x1x1x1xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @added_transposed
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<96x2x64xf32>
// CHECK: %[[MT:.*]] = linalg.transpose ins(%[[M]] : tensor<96x2x64xf32>) outs(%{{.*}} : tensor<2x64x96xf32>) permutation = [1, 2, 0]
// CHECK: %[[M4:.*]] = tensor.expand_shape %[[MT]] {{\[\[}}0, 1], [2], [3]] output_shape [2, 1, 64, 96]
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M4]] : tensor<2x1x64x96xf32> {scale = 1.000000e+00 : f64}
func.func @added_transposed(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<96x2x64xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #nbm, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<96x2x64xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @added_narrow_after_scaling
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<2x4x64x96xf16>
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] : tensor<2x4x64x96xf16> {scale = 2.500000e-01 : f64}
func.func @added_narrow_after_scaling(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x4x64x96xf16>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.mulf %x, %scale : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %u = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t, %m : tensor<2x4x64x96xf32>, tensor<2x4x64x96xf16>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f16, %out: f32):
    %w = arith.extf %y : f16 to f32
    %0 = arith.addf %w, %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%u : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @added_by_broadcast_op
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[M4:.*]] = tensor.expand_shape
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M4]] : tensor<1x1x64x96xf32> {scale = 1.000000e+00 : f64}
func.func @added_by_broadcast_op(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<64x96xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %mb = linalg.broadcast ins(%m : tensor<64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) dimensions = [0, 1]
  %t = linalg.add
      ins(%mb, %s : tensor<2x4x64x96xf32>, tensor<2x4x64x96xf32>)
      outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @added_zero
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] {scale = 1.000000e+00 : f64}
func.func @added_zero(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = arith.addf %x, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @selected
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<2x1x1x96xi1>
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] : tensor<2x1x1x96xi1> {scale = 1.000000e+00 : f64}
func.func @selected(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x1x1x96xi1>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #pad, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<2x1x1x96xi1>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: i1, %out: f32):
    %0 = arith.select %y, %x, %low : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @selected_very_low
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<2x1x1x96xi1>
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] : tensor<2x1x1x96xi1> {scale = 1.000000e+00 : f64}
func.func @selected_very_low(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x1x1x96xi1>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -2.38197633E+38 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #pad, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<2x1x1x96xi1>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: i1, %out: f32):
    %0 = arith.select %y, %x, %low : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// True drops here, keeps in the op.
// CHECK-LABEL: func @dropped
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<2x1x1x96xi1>
// CHECK: %[[N:.*]] = linalg.generic
// CHECK-SAME: ins(%[[M]] : tensor<2x1x1x96xi1>
// CHECK: arith.xori
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[N]] : tensor<2x1x1x96xi1> {scale = 1.000000e+00 : f64}
func.func @dropped(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x1x1x96xi1>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #pad, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<2x1x1x96xi1>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: i1, %out: f32):
    %0 = arith.select %y, %low, %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @dropped_unless_not
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<2x1x1x96xi1>
// CHECK-NOT: linalg
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] : tensor<2x1x1x96xi1> {scale = 1.000000e+00 : f64}
func.func @dropped_unless_not(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<2x1x1x96xi1>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %yes = arith.constant true
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #pad, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x4x64x96xf32>, tensor<2x1x1x96xi1>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: i1, %out: f32):
    %n = arith.xori %y, %yes : i1
    %0 = arith.select %n, %low, %x : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// A boolean mask that became floats before it was added.
// CHECK-LABEL: func @selected_then_added
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK-SAME: , %[[M:.*]]: tensor<64x96xi1>
// CHECK: %[[M4:.*]] = tensor.expand_shape %[[M]]
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[M4]] : tensor<1x1x64x96xi1> {scale = 1.000000e+00 : f64}
func.func @selected_then_added(%q: tensor<2x4x64x32xf32>,
    %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>, %m: tensor<64x96xi1>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %me = tensor.empty() : tensor<64x96xf32>
  %mf = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<64x96xi1>) outs(%me : tensor<64x96xf32>) {
  ^bb0(%y: i1, %out: f32):
    %0 = arith.select %y, %zero, %low : f32
    linalg.yield %0 : f32
  } -> tensor<64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #mn, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %mf : tensor<2x4x64x96xf32>, tensor<64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// No causality, but a tensor all the same.
// CHECK-LABEL: func @window
// CHECK-SAME: %[[Q:[^:]*]]: {{[^,]*}}, %[[K:[^:]*]]: {{[^,]*}}, %[[V:[^:]*]]: tensor
// CHECK: %[[W:.*]] = linalg.generic
// CHECK: %[[W4:.*]] = tensor.expand_shape %[[W]]
// CHECK: vcattn.attention %[[Q]], %[[K]], %[[V]] mask %[[W4]] : tensor<1x1x64x96xf32> {scale = 1.000000e+00 : f64}
func.func @window(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x96x32xf32>, %v: tensor<2x4x96x48xf32>)
    -> tensor<2x4x64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %w = arith.constant 16 : index
  %me = tensor.empty() : tensor<64x96xf32>
  %w2 = linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]}
      outs(%me : tensor<64x96xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi slt, %d, %w : index
    %0 = arith.select %c, %zero, %low : f32
    linalg.yield %0 : f32
  } -> tensor<64x96xf32>
  %se = tensor.empty() : tensor<2x4x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x4x64x32xf32>, tensor<2x4x96x32xf32>)
      outs(%sz : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %t = linalg.generic {indexing_maps = [#id, #mn, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %w2 : tensor<2x4x64x96xf32>, tensor<64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x64x96xf32>
  %p = linalg.softmax dimension(3)
      ins(%t : tensor<2x4x64x96xf32>) outs(%se : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %oe = tensor.empty() : tensor<2x4x64x48xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o]
      ins(%p, %v : tensor<2x4x64x96xf32>, tensor<2x4x96x48xf32>)
      outs(%oz : tensor<2x4x64x48xf32>) -> tensor<2x4x64x48xf32>
  return %o : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func @rank_3
// CHECK-SAME: , %[[M:[^:]*]]: tensor<8x64x96xf32>
// CHECK: %[[M4:.*]] = tensor.expand_shape %[[M]] {{\[\[}}0, 1], [2], [3]] output_shape [1, 8, 64, 96]
// CHECK: vcattn.attention {{.*}} mask %[[M4]] : tensor<1x8x64x96xf32>
func.func @rank_3(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf32>, %m: tensor<8x64x96xf32>)
    -> tensor<8x64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<8x64x96xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %s = linalg.contract indexing_maps = [#q3, #k3, #s3]
      ins(%q, %k : tensor<8x64x32xf32>, tensor<8x96x32xf32>) outs(%sz : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %t = linalg.add
      ins(%s, %m : tensor<8x64x96xf32>, tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %p = linalg.softmax dimension(2)
      ins(%t : tensor<8x64x96xf32>) outs(%se : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
  %oe = tensor.empty() : tensor<8x64x32xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  %o = linalg.batch_matmul
      ins(%p, %v : tensor<8x64x96xf32>, tensor<8x96x32xf32>) outs(%oz : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %o : tensor<8x64x32xf32>
}
