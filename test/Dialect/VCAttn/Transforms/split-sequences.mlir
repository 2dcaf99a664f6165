// RUN: vcattn-opt %s -vcattn-split-sequences -canonicalize | FileCheck %s
// RUN: not vcattn-opt %s -vcattn-split-sequences=readable=false 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not vcattn-opt %s -vcattn-to-nvvm 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: vcattn-opt %s -vcattn-method | FileCheck %s --check-prefix=METHOD

// GPU: split-sequences.mlir:{{[0-9]+}}:{{[0-9]+}}: error: a loop over sequences runs on the host, which cannot read where they begin on a GPU: pad them to one length and use vcattn.attention with lengths

// CHECK-LABEL: func @sequences
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x200x64xf32>, %[[K:.*]]: tensor<1x2x?x64xf32>, %[[V:.*]]: tensor<1x2x?x32xf32>, %[[CQ:.*]]: tensor<5xi32>, %[[CK:.*]]: tensor<5xi32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[INFINITY:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[OUT:.*]] = linalg.fill ins(%[[ZERO]]
// CHECK: %[[LSE:.*]] = linalg.fill ins(%[[INFINITY]]
// CHECK: scf.for %[[S:.*]] = %c0 to %c4 step %c1 iter_args(%[[O:.*]] = %[[OUT]], %[[L:.*]] = %[[LSE]])
// A boundary is not before the one before it, nor past the end.
// CHECK: %[[BEGIN:.*]] = tensor.extract %[[CQ]][%[[S]]]
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[BEGIN]]
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[FIRST]], %c0
// CHECK: %[[Q0:.*]] = arith.minsi %[[LEAST]], %c200
// CHECK: %[[NEXT:.*]] = arith.addi %[[S]], %c1
// CHECK: tensor.extract %[[CQ]][%[[NEXT]]]
// CHECK: arith.maxsi %{{.*}}, %[[Q0]]
// CHECK: %[[N:.*]] = arith.subi %{{.*}}, %[[Q0]]
// CHECK: tensor.extract %[[CK]][%[[S]]]
// CHECK: tensor.extract_slice %[[Q]][0, 0, %[[Q0]], 0] [1, 4, %[[N]], 64] [1, 1, 1, 1] : tensor<1x4x200x64xf32> to tensor<1x4x?x64xf32>
// CHECK: tensor.extract_slice %[[K]]
// CHECK: tensor.extract_slice %[[V]]
// CHECK: %[[R:.*]], %[[RL:.*]] = vcattn.attention {{.*}} {causal = #vcattn.causality<bottom_right>, scale = 1.000000e+00 : f64, test.note, window = #vcattn.window<left = 8>} : tensor<1x4x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32> -> tensor<1x4x?x32xf32>, tensor<1x4x?xf32>
// CHECK: tensor.insert_slice %[[R]] into %[[O]][0, 0, %[[Q0]], 0] [1, 4, %[[N]], 32]
// CHECK: tensor.insert_slice %[[RL]] into %[[L]][0, 0, %[[Q0]]] [1, 4, %[[N]]]
// CHECK: scf.yield

// METHOD: scf.for
// METHOD: vcattn.center_keys
// METHOD: vcattn.quantized_attention
func.func @sequences(%q: tensor<1x4x200x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x32xf32>, %cq: tensor<5xi32>, %ck: tensor<5xi32>)
    -> (tensor<1x4x200x32xf32>, tensor<1x4x200xf32>) {
  %o, %l = vcattn.varlen_attention %q, %k, %v sequences %cq, %ck
      {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>, window = #vcattn.window<left = 8>, test.note}
      : (tensor<1x4x200x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x32xf32>, tensor<5xi32>, tensor<5xi32>) -> (tensor<1x4x200x32xf32>, tensor<1x4x200xf32>)
  return %o, %l : tensor<1x4x200x32xf32>, tensor<1x4x200xf32>
}
