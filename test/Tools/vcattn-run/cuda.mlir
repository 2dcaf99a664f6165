// --device=cuda compiles a library, loads it, puts tensors and workspace into
// device memory and calls it. A driver that only takes notes stands in for the
// GPU: results are what device memory held, so nothing is compared.
//
// REQUIRES: ptxas
// RUN: mkdir -p %t
// RUN: env VCATTN_LIBCUDA=%fake_cuda FAKE_CUDA_DEVICES=1 FAKE_CUDA_CAPABILITY=90 vcattn-run %s --device=cuda --rows=0 --repeat=2 --out=0=%t/o.npy | FileCheck %s
// CHECK: @attention of {{.*}}cuda.mlir, compiled for GPU (a fake GPU) in
// CHECK-NEXT: attention of 100 queries to 300 keys, 4 heads (2 for keys and values), head dimension 128, bf16
// CHECK: keys and values tokens sorted into 64 clusters
// CHECK: gaussian - {{.*}}s
// CHECK: Wrote result 0 to {{.*}}o.npy

// RUN: env VCATTN_LIBCUDA=%fake_cuda FAKE_CUDA_DEVICES=1 FAKE_CUDA_CAPABILITY=80 not vcattn-run %s --device=cuda 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: --device=cuda compiles for Hopper (compute capability 9.0), but this GPU is a fake GPU

// RUN: env VCATTN_LIBCUDA=%fake_cuda not vcattn-run %s --device=cuda 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: cuInit: {{.*}} (CUDA driver, error 100)

// RUN: env VCATTN_LIBCUDA=%fake_cuda FAKE_CUDA_DEVICES=1 FAKE_CUDA_CAPABILITY=90 not vcattn-run %s --device=cuda --scores=none 2>&1 | FileCheck %s --check-prefix=SCORES
// SCORES: cuda.mlir:[[#@LINE+5]]:{{[0-9]+}}: error:
// SCORES: error: @attention was not compiled

func.func @attention(%q: tensor<1x4x100x128xbf16>, %k: tensor<1x2x300x128xbf16>, %v: tensor<1x2x300x128xbf16>)
    -> tensor<1x4x100x128xbf16> {
  %o = vcattn.attention %q, %k, %v {scale = 0.125 : f64}
      : tensor<1x4x100x128xbf16>, tensor<1x2x300x128xbf16>, tensor<1x2x300x128xbf16> -> tensor<1x4x100x128xbf16>
  return %o : tensor<1x4x100x128xbf16>
}
