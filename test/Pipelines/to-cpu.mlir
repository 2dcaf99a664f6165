// RUN: vcattn-opt %s --vcattn-to-cpu | FileCheck %s

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
