// RUN: vcattn-opt %s --vcattn-isolate-entries --split-input-file --verify-diagnostics | FileCheck %s
// RUN: vcattn-opt %s --vcattn-isolate-entries --vcattn-isolate-entries=undo=true --split-input-file 2>/dev/null | FileCheck %s --check-prefix=UNDO

// Who calls an entry finds a declaration.
// CHECK: func.func @model(
// CHECK: call @model_attention0
// CHECK: func.func private @model_attention0(tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT: {
// CHECK: module @vcattn_entries {
// CHECK-NEXT: func.func @model_attention0(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> attributes {vcattn.entry} {
// UNDO: func.func @model(
// UNDO: module @vcattn_entries {
// expected-remark @+1 {{@model is not compiled: it is no entry function, or holds more than attention}}
func.func @model(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @model_attention0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @model_attention0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {vcattn.entry} {
  return %x : tensor<4xf32>
}

// -----

// Without a mark, what holds ops of vcattn is an entry.
// CHECK: module @vcattn_entries {
// CHECK-NEXT: func.func @rotate({{.*}} attributes {vcattn.entry}
// UNDO-NOT: vcattn_entries
// UNDO: func.func @rotate({{.*}} attributes {vcattn.entry}
func.func @rotate(%x: tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> {
  %0 = vcattn.hadamard %x : (tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  return %0 : tensor<1x1x4x8xf32>
}
