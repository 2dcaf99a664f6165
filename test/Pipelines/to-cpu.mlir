// RUN: vcattn-opt %s --vcattn-to-cpu | FileCheck %s
// RUN: vcattn-opt %s --vcattn-to-cpu="method=true scores=f8E4M3FN" --mlir-print-ir-after=convert-vcattn-to-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=METHOD

// Static results are arguments, dynamic ones are returned; what is allocated on
// the way is released; other ops are lowered too.
// CHECK-LABEL: llvm.func @method
//   CHECK-NOT: unrealized_conversion_cast
//       CHECK: llvm.call @free
//       CHECK: llvm.return{{$}}
// CHECK-LABEL: llvm.func @_mlir_ciface_method(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
func.func @method(%k: tensor<1x2x40x16xbf16>)
    -> (tensor<1x2x40x16xi8>, tensor<1x2x40xf32>) {
  %0, %1 = vcattn.center_keys %k : (tensor<1x2x40x16xbf16>)
      -> (tensor<1x2x40x16xf32>, tensor<1x2x16xf32>)
  %2 = vcattn.hadamard %0 : (tensor<1x2x40x16xf32>) -> tensor<1x2x40x16xf32>
  %3:2 = vcattn.quantize %2
      {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<1x2x40x16xf32>) -> (tensor<1x2x40x16xi8>, tensor<1x2x40xf32>)
  return %3#0, %3#1 : tensor<1x2x40x16xi8>, tensor<1x2x40xf32>
}

// CHECK-LABEL: llvm.func @foreign
// CHECK-LABEL: llvm.func @_mlir_ciface_foreign(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
func.func @foreign(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xbf16>
  %init = tensor.empty(%n) : tensor<?x8xbf16>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xbf16>) outs(%init : tensor<?x8xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %1 = arith.addf %in, %in : bf16
    %2 = math.exp %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// Attention alone stays what it is; with the method it becomes the method's.
// CHECK-LABEL: llvm.func @attention
//       CHECK: llvm.intr.fma
// CHECK-LABEL: llvm.func @_mlir_ciface_attention
// METHOD-LABEL: func.func @attention
//       METHOD: arith.bitcast {{.*}} to vector<16xf8E4M3FN>
//   METHOD-NOT: vcattn.
func.func @attention(%q: tensor<1x2x40x16xbf16>, %k: tensor<1x2x40x16xbf16>,
                     %v: tensor<1x2x40x16xbf16>) -> tensor<1x2x40x16xbf16> {
  %0 = vcattn.attention %q, %k, %v {scale = 0.25 : f64}
      : tensor<1x2x40x16xbf16>, tensor<1x2x40x16xbf16>, tensor<1x2x40x16xbf16>
      -> tensor<1x2x40x16xbf16>
  return %0 : tensor<1x2x40x16xbf16>
}

// Ops that need taking apart first.
// CHECK-LABEL: llvm.func @apart
func.func @apart(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %init = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1)
      ins(%x : tensor<4x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = tensor.concat dim(0) %0, %y
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
