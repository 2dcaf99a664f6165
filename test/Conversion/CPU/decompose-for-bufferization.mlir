// RUN: vcattn-opt %s --vcattn-decompose-for-bufferization | FileCheck %s

// CHECK-LABEL: func.func @softmax
//   CHECK-NOT: linalg.softmax
//       CHECK: arith.maxnumf
//       CHECK: math.exp
//       CHECK: arith.divf
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %init = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1)
      ins(%x : tensor<4x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @concat
//   CHECK-NOT: tensor.concat
// CHECK-COUNT-2: tensor.insert_slice
func.func @concat(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %0 = tensor.concat dim(0) %x, %y
      : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
