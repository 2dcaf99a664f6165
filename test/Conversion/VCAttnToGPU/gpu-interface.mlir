// RUN: vcattn-opt %s --vcattn-gpu-interface --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[O:.*]]: memref<?x8xf32, strided<[?, ?], offset: ?>> {vcattn.result = 0 : i64}, %[[P:.*]]: memref<4xi8, strided<[?], offset: ?>> {vcattn.result = 1 : i64}) attributes {vcattn.entry}
// CHECK: %[[HAS:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x8xf32>
// CHECK: %[[GIVEN:.*]] = memref.dim %[[O]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[HAS]], %[[GIVEN]]
// CHECK: cf.assert %[[SAME]], "result 0: size of dimension 0 is wrong"
// CHECK: bufferization.materialize_in_destination %[[X]] in restrict writable %[[O]]
// CHECK-NOT: cf.assert
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[P]]
// CHECK: return
func.func @f(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<4xi8>) attributes {vcattn.entry} {
  %0 = tensor.empty() : tensor<4xi8>
  return %x, %0 : tensor<?x8xf32>, tensor<4xi8>
}

// CHECK-LABEL: func.func @other(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Means that the caller packed have to be contiguous within a group, key scales
// within a head; batches and heads may be anywhere.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[KS:[a-z0-9]*]]: memref<1x2x1x4xf32, strided<[?, ?, 4, 1], offset: ?>>, %{{.*}}: tensor
// CHECK-SAME: %[[M:[a-z0-9]*]]: memref<1x2x?x16x2x8x8xf16, strided<[?, ?, ?, 128, 64, 8, 1], offset: ?>>, %{{.*}}: memref
// CHECK-DAG: %[[T:.*]] = bufferization.to_tensor %[[M]] restrict
// CHECK-DAG: %[[S:.*]] = bufferization.to_tensor %[[KS]] restrict
// CHECK: vcattn.packed_attention ins(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %[[S]], {{.*}}, %[[T]] :
func.func @packed(%q: tensor<1x2x64x128xi8>, %qs: tensor<1x2x64xf32>, %ks: tensor<1x2x1x4xf32>,
                  %v: tensor<1x2x1x136x128xf8E4M3FN>, %vs: tensor<1x2x128xf32>,
                  %m: tensor<1x2x?x16x2x8x8xf16>) -> tensor<1x2x64x128xbf16> {
  %e = tensor.empty() : tensor<1x2x64x128xbf16>
  %o = vcattn.packed_attention
      ins(%q, %qs, %q, %ks, %v, %vs, %m : tensor<1x2x64x128xi8>, tensor<1x2x64xf32>, tensor<1x2x64x128xi8>,
          tensor<1x2x1x4xf32>, tensor<1x2x1x136x128xf8E4M3FN>, tensor<1x2x128xf32>, tensor<1x2x?x16x2x8x8xf16>)
      outs(%e : tensor<1x2x64x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24,
           consumer_registers = 240, ping_pong = true, promotion = 32>} -> tensor<1x2x64x128xbf16>
  return %o : tensor<1x2x64x128xbf16>
}

// -----

// expected-error @+1 {{'func.func' op takes a 'f32'; an entry function takes and gives ranked tensors}}
func.func @scalar(%x: f32) { return }

// -----

// expected-error @+1 {{'func.func' op gives a 'index'; an entry function takes and gives ranked tensors}}
func.func @index() -> index {
  %0 = arith.constant 0 : index
  return %0 : index
}

// -----

// expected-error @+1 {{'func.func' op is an entry function with unstructured control flow, which is not supported}}
func.func @blocks() {
  cf.br ^next
^next:
  return
}

// -----

func.func @exact(%x: tensor<1x1x8x128xf32>) -> tensor<1x1x8x128xf32> {
  // expected-error @+1 {{'vcattn.attention' op has no kernel on the GPU; vcattn-method and vcattn-pack-operands turn attention into what has}}
  %o = vcattn.attention %x, %x, %x {scale = 1.0 : f64}
      : tensor<1x1x8x128xf32>, tensor<1x1x8x128xf32>, tensor<1x1x8x128xf32> -> tensor<1x1x8x128xf32>
  return %o : tensor<1x1x8x128xf32>
}
