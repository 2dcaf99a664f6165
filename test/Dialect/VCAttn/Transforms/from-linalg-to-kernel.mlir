// RUN: vcattn-opt %source_root/examples/attention.mlir -vcattn-raise-attention -vcattn-outline-attention \
// RUN:   -vcattn-smooth-keys -vcattn-smooth-values -vcattn-quantize -vcattn-expcast -vcattn-schedule -vcattn-pack-operands \
// RUN:   | FileCheck %s

// The whole method on the example, from linalg to a kernel's operands.
// CHECK: func.func @attention(%[[Q:.*]]: tensor<1x4x2048x128xbf16>, %[[K:.*]]: tensor<1x4x2048x128xbf16>, %[[V:.*]]: tensor<1x4x2048x128xbf16>)
// CHECK-SAME: attributes {vcattn.entry}
// CHECK-DAG: %[[KC:.*]], %{{.*}} = vcattn.center_keys %[[K]]
// CHECK-DAG: %[[QR:.*]] = vcattn.hadamard %[[Q]]
// CHECK-DAG: %[[KR:.*]] = vcattn.hadamard %[[KC]]
// CHECK: %[[P:.*]], %{{.*}} = vcattn.cluster %[[V]]
// CHECK: %[[KG:.*]] = vcattn.gather_tokens %[[KR]], %[[P]]
// CHECK: %[[VG:.*]] = vcattn.gather_tokens %[[V]], %[[P]]
// CHECK: %[[R:.*]], %[[M:.*]] = vcattn.block_residual %[[VG]]
// CHECK: %[[Q8:.*]], %[[QS:.*]] = vcattn.quantize %[[QR]]
// CHECK: %[[K8:.*]], %[[KS:.*]] = vcattn.quantize %[[KG]]
// CHECK: %[[V8:.*]], %[[VS:.*]] = vcattn.quantize %[[R]] bound %[[M]]
// CHECK: %[[LEFT:.*]] = vcattn.compensate_means %[[M]], %[[V8]], %[[VS]]
// CHECK: %[[VP:.*]] = vcattn.pack_values %[[V8]]
// CHECK: %[[MP:.*]] = vcattn.pack_means %[[LEFT]], %[[VS]]
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x4x2048x128xbf16>
// CHECK: %[[O:.*]] = vcattn.packed_attention ins(%[[Q8]], %[[QS]], %[[K8]], %[[KS]], %[[VP]], %[[VS]], %[[MP]] : {{.*}}) outs(%[[E]] :
// CHECK-NEXT: return %[[O]]
