// RUN: vcattn-opt %s | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -mlir-print-op-generic | vcattn-opt | FileCheck %s
// RUN: vcattn-opt %s -emit-bytecode | vcattn-opt | FileCheck %s

// CHECK-LABEL: func @center_keys(
// CHECK: vcattn.center_keys %{{.*}} : (tensor<2x4x300x64xbf16>) -> (tensor<2x4x300x64xf32>, tensor<2x4x64xf32>)
// CHECK: vcattn.center_keys %{{.*}} {layout = #vcattn.layout<bthd>} : (tensor<?x?x4x64xf16>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64xf32>)
func.func @center_keys(%x: tensor<2x4x300x64xbf16>, %y: tensor<?x?x4x64xf16>) {
  %0:2 = vcattn.center_keys %x : (tensor<2x4x300x64xbf16>) -> (tensor<2x4x300x64xf32>, tensor<2x4x64xf32>)
  %1:2 = vcattn.center_keys %y {layout = #vcattn.layout<bthd>}
      : (tensor<?x?x4x64xf16>) -> (tensor<?x?x4x64xf32>, tensor<?x4x64xf32>)
  return
}

// CHECK-LABEL: func @correct_lse(
// CHECK: vcattn.correct_lse %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64} : (tensor<2x8x300x64xbf16>, tensor<2x2x64xf32>, tensor<2x8x300xf32>) -> tensor<2x8x300xf32>
// CHECK: vcattn.correct_lse %{{.*}}, %{{.*}}, %{{.*}} {layout = #vcattn.layout<bthd>, scale = 1.000000e+00 : f64} : (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
func.func @correct_lse(%q: tensor<2x8x300x64xbf16>, %m: tensor<2x2x64xf32>, %l: tensor<2x8x300xf32>,
                       %qd: tensor<?x?x?x?xf32>, %md: tensor<?x?x?xf32>, %ld: tensor<?x?x?xf32>) {
  %0 = vcattn.correct_lse %q, %m, %l {scale = 0.5 : f64}
      : (tensor<2x8x300x64xbf16>, tensor<2x2x64xf32>, tensor<2x8x300xf32>) -> tensor<2x8x300xf32>
  %1 = vcattn.correct_lse %qd, %md, %ld {scale = 1.0 : f64, layout = #vcattn.layout<bthd>}
      : (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: func @compensate_means(
// CHECK: vcattn.compensate_means %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x2x3x64xf32>, tensor<1x2x300x64xf8E4M3FN>, tensor<1x2x64xf32>) -> tensor<1x2x3x64xf32>
// CHECK: vcattn.compensate_means %{{.*}}, %{{.*}}, %{{.*}} {layout = #vcattn.layout<bthd>} : (tensor<?x?x?x64xf32>, tensor<?x?x?x64xf8E4M3FN>, tensor<?x?x64xf32>) -> tensor<?x?x?x64xf32>
func.func @compensate_means(%m: tensor<1x2x3x64xf32>, %v: tensor<1x2x300x64xf8E4M3FN>, %s: tensor<1x2x64xf32>,
                            %md: tensor<?x?x?x64xf32>, %vd: tensor<?x?x?x64xf8E4M3FN>, %sd: tensor<?x?x64xf32>) {
  %0 = vcattn.compensate_means %m, %v, %s
      : (tensor<1x2x3x64xf32>, tensor<1x2x300x64xf8E4M3FN>, tensor<1x2x64xf32>) -> tensor<1x2x3x64xf32>
  %1 = vcattn.compensate_means %md, %vd, %sd {layout = #vcattn.layout<bthd>}
      : (tensor<?x?x?x64xf32>, tensor<?x?x?x64xf8E4M3FN>, tensor<?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return
}

// CHECK-LABEL: func @hadamard(
// CHECK: vcattn.hadamard %{{.*}} : (tensor<?x4x?x128xbf16>) -> tensor<?x4x?x128xf32>
// CHECK: vcattn.hadamard %{{.*}} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
func.func @hadamard(%x: tensor<?x4x?x128xbf16>, %one: tensor<1x1x1x1xf32>) {
  %0 = vcattn.hadamard %x : (tensor<?x4x?x128xbf16>) -> tensor<?x4x?x128xf32>
  %1 = vcattn.hadamard %one : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return
}

// CHECK-LABEL: func @cluster(
// CHECK: vcattn.cluster %{{.*}} {clusters = 64 : i64, iterations = 4 : i64} : (tensor<2x4x300x80xbf16>) -> (tensor<2x4x300xi32>, tensor<2x4x64x80xf32>)
// CHECK: vcattn.cluster %{{.*}} {clusters = 1 : i64, iterations = 0 : i64, layout = #vcattn.layout<bthd>} : (tensor<?x?x4x80xf32>) -> (tensor<?x4x?xi32>, tensor<?x4x1x80xf32>)
func.func @cluster(%x: tensor<2x4x300x80xbf16>, %y: tensor<?x?x4x80xf32>) {
  %0:2 = vcattn.cluster %x {clusters = 64 : i64, iterations = 4 : i64}
      : (tensor<2x4x300x80xbf16>) -> (tensor<2x4x300xi32>, tensor<2x4x64x80xf32>)
  %1:2 = vcattn.cluster %y {clusters = 1 : i64, iterations = 0 : i64, layout = #vcattn.layout<bthd>}
      : (tensor<?x?x4x80xf32>) -> (tensor<?x4x?xi32>, tensor<?x4x1x80xf32>)
  return
}

// CHECK-LABEL: func @gather_tokens(
// CHECK: vcattn.gather_tokens %{{.*}}, %{{.*}} : (tensor<2x4x300x80xbf16>, tensor<2x4x300xi32>) -> tensor<2x4x300x80xbf16>
// CHECK: vcattn.gather_tokens %{{.*}}, %{{.*}} {layout = #vcattn.layout<bthd>} : (tensor<?x?x4x80xf32>, tensor<?x4x?xi32>) -> tensor<?x?x4x80xf32>
func.func @gather_tokens(%x: tensor<2x4x300x80xbf16>, %p: tensor<2x4x300xi32>, %y: tensor<?x?x4x80xf32>,
                         %r: tensor<?x4x?xi32>) {
  %0 = vcattn.gather_tokens %x, %p : (tensor<2x4x300x80xbf16>, tensor<2x4x300xi32>) -> tensor<2x4x300x80xbf16>
  %1 = vcattn.gather_tokens %y, %r {layout = #vcattn.layout<bthd>}
      : (tensor<?x?x4x80xf32>, tensor<?x4x?xi32>) -> tensor<?x?x4x80xf32>
  return
}

// CHECK-LABEL: func @gather_mask(
// CHECK: vcattn.gather_mask %{{.*}}, %{{.*}} {group = 4 : i64} : (tensor<1x1x64x96xi1>, tensor<2x2x96xi32>) -> tensor<2x8x64x96xi1>
// CHECK: vcattn.gather_mask %{{.*}}, %{{.*}} {group = 1 : i64} : (tensor<?x?x1x?xf16>, tensor<?x?x?xi32>) -> tensor<?x?x1x?xf16>
func.func @gather_mask(%m: tensor<1x1x64x96xi1>, %p: tensor<2x2x96xi32>, %n: tensor<?x?x1x?xf16>, %r: tensor<?x?x?xi32>) {
  %0 = vcattn.gather_mask %m, %p {group = 4 : i64}
      : (tensor<1x1x64x96xi1>, tensor<2x2x96xi32>) -> tensor<2x8x64x96xi1>
  %1 = vcattn.gather_mask %n, %r {group = 1 : i64} : (tensor<?x?x1x?xf16>, tensor<?x?x?xi32>) -> tensor<?x?x1x?xf16>
  return
}

// CHECK-LABEL: func @block_residual(
// CHECK: vcattn.block_residual %{{.*}} : (tensor<2x4x300x80xbf16>) -> (tensor<2x4x300x80xf32>, tensor<2x4x3x80xf32>)
// CHECK: vcattn.block_residual %{{.*}} {layout = #vcattn.layout<bthd>} : (tensor<?x?x4x80xf32>) -> (tensor<?x?x4x80xf32>, tensor<?x4x?x80xf32>)
func.func @block_residual(%x: tensor<2x4x300x80xbf16>, %y: tensor<?x?x4x80xf32>) {
  %0:2 = vcattn.block_residual %x : (tensor<2x4x300x80xbf16>) -> (tensor<2x4x300x80xf32>, tensor<2x4x3x80xf32>)
  %1:2 = vcattn.block_residual %y {layout = #vcattn.layout<bthd>}
      : (tensor<?x?x4x80xf32>) -> (tensor<?x?x4x80xf32>, tensor<?x4x?x80xf32>)
  return
}

// CHECK-LABEL: func @quantize(
// CHECK: vcattn.quantize %{{.*}} {format = #vcattn.format<i8>, granularity = #vcattn.granularity<tensor>} : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4xf32>)
// CHECK: vcattn.quantize %{{.*}} {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>} : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x300xf32>)
// CHECK: vcattn.quantize %{{.*}} {block_size = 64 : i64, format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<block>, groups = 4 : i64} : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xf8E4M3FN>, tensor<2x4x5x4xf32>)
// CHECK: vcattn.quantize %{{.*}} bound %{{.*}} {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>} : (tensor<2x4x300x80xf32>, tensor<2x4x3x80xf32>) -> (tensor<2x4x300x80xf8E4M3FN>, tensor<2x4x80xf32>)
// CHECK: vcattn.quantize %{{.*}} {format = #vcattn.format<f4E2M1FN>, granularity = #vcattn.granularity<token>, layout = #vcattn.layout<bthd>} : (tensor<?x?x4x80xf32>) -> (tensor<?x?x4x40xi8>, tensor<?x4x?xf32>, tensor<?x?x4x5xf8E4M3FN>)
func.func @quantize(%x: tensor<2x4x300x80xf32>, %m: tensor<2x4x3x80xf32>, %y: tensor<?x?x4x80xf32>) {
  %0:2 = vcattn.quantize %x {format = #vcattn.format<i8>, granularity = #vcattn.granularity<tensor>}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4xf32>)
  %1:2 = vcattn.quantize %x {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x300xf32>)
  %2:2 = vcattn.quantize %x {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<block>,
                             block_size = 64 : i64, groups = 4 : i64}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xf8E4M3FN>, tensor<2x4x5x4xf32>)
  %3:2 = vcattn.quantize %x bound %m {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<channel>}
      : (tensor<2x4x300x80xf32>, tensor<2x4x3x80xf32>) -> (tensor<2x4x300x80xf8E4M3FN>, tensor<2x4x80xf32>)
  %4:3 = vcattn.quantize %y {format = #vcattn.format<f4E2M1FN>, granularity = #vcattn.granularity<token>,
                             layout = #vcattn.layout<bthd>}
      : (tensor<?x?x4x80xf32>) -> (tensor<?x?x4x40xi8>, tensor<?x4x?xf32>, tensor<?x?x4x5xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @merge_attention(
// CHECK: vcattn.merge_attention %{{.*}}, %{{.*}} : (tensor<3x2x4x300x80xf32>, tensor<3x2x4x300xf32>) -> tensor<2x4x300x80xbf16>
// CHECK: vcattn.merge_attention %{{.*}}, %{{.*}} {layout = #vcattn.layout<bthd>} : (tensor<?x2x?x4x80xf16>, tensor<?x2x4x?xf32>) -> (tensor<2x?x4x80xf16>, tensor<2x4x?xf32>)
func.func @merge_attention(%x: tensor<3x2x4x300x80xf32>, %l: tensor<3x2x4x300xf32>,
                           %y: tensor<?x2x?x4x80xf16>, %m: tensor<?x2x4x?xf32>) {
  %0 = vcattn.merge_attention %x, %l
      : (tensor<3x2x4x300x80xf32>, tensor<3x2x4x300xf32>) -> tensor<2x4x300x80xbf16>
  %1:2 = vcattn.merge_attention %y, %m {layout = #vcattn.layout<bthd>}
      : (tensor<?x2x?x4x80xf16>, tensor<?x2x4x?xf32>) -> (tensor<2x?x4x80xf16>, tensor<2x4x?xf32>)
  return
}
