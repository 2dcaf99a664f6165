// REQUIRES: ptxas
// RUN: vcattn-opt %s --vcattn-to-nvvm 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: vcattn-opt %s --vcattn-to-nvvm 2>/dev/null \
// RUN:   | vcattn-opt --pass-pipeline='builtin.module(builtin.module(vcattn-to-runtime{report=true}))' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PTXAS

// The attention of @model is compiled, @model itself is left.
// REMARK: remark: @model is not compiled
// CHECK-LABEL: func.func @model(
// CHECK: call @model_attention0
// CHECK: linalg.exp
// CHECK: func.func private @model_attention0(
// CHECK: module @vcattn_entries

// Sizes are checked, then everything is launched: preprocessing, attention.
// CHECK-LABEL: func.func @attention(
// CHECK: cf.assert %{{.*}}, "attention: keys and values differ in number"
// CHECK: gpu.launch_func @vcattn_kernels::@attention_0
// CHECK: vcattn.encode_tensor_map
// CHECK: gpu.launch_func @vcattn_kernels::@attention_i8
// CHECK-NOT: vcattn.attention

// Nothing is spilled, nothing lives in local memory.
// PTXAS-NOT: {{[1-9][0-9]*}} bytes
// PTXAS: remark: attention_i8: 128 registers, 0 bytes of stack, 0 bytes spilled
// PTXAS-NOT: {{[1-9][0-9]*}} bytes
func.func @attention(%q: tensor<1x8x?x128xbf16>, %k: tensor<1x2x?x128xbf16>, %v: tensor<1x2x?x128xbf16>)
    -> tensor<1x8x?x128xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.088 : f64}
      : tensor<1x8x?x128xbf16>, tensor<1x2x?x128xbf16>, tensor<1x2x?x128xbf16> -> tensor<1x8x?x128xbf16>
  return %o : tensor<1x8x?x128xbf16>
}

func.func @model(%x: tensor<1x2x256x128xf16>) -> tensor<1x2x256x128xf16> {
  %o = vcattn.attention %x, %x, %x {scale = 0.088 : f64}
      : tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16>, tensor<1x2x256x128xf16> -> tensor<1x2x256x128xf16>
  %e = tensor.empty() : tensor<1x2x256x128xf16>
  %r = linalg.exp ins(%o : tensor<1x2x256x128xf16>) outs(%e : tensor<1x2x256x128xf16>) -> tensor<1x2x256x128xf16>
  return %r : tensor<1x2x256x128xf16>
}
