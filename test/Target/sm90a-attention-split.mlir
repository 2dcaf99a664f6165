// The kernel whose units of work are shards of keys, down to the machine; and
// with bounded waits. No spills with two consumers, some at the ends of units of
// work with three.

// REQUIRES: ptxas
// RUN: vcattn-opt %s --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: sed 's/cast<expcast>/cast<exact>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: sed 's/cast<expcast>/cast<hybrid>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s --check-prefix=FEW
// And with two consumers.
// RUN: sed -e 's/tile_q = 192/tile_q = 128/' -e 's/consumers = 3/consumers = 2/' -e 's/consumer_registers = 160/consumer_registers = 240/' -e 's/cast<expcast>/cast<expcast>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
// RUN: sed -e 's/tile_q = 192/tile_q = 128/' -e 's/consumers = 3/consumers = 2/' -e 's/consumer_registers = 160/consumer_registers = 240/' -e 's/cast<expcast>/cast<hybrid>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
// RUN: vcattn-opt %s --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm{debug-waits},canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s --check-prefix=DEBUG

// FEW: remark: attention_i8: {{[0-9]+}} registers, {{[0-9]+}} bytes of stack, {{[0-9]|[1-9][0-9]|1[0-4][0-9]}} bytes spilled
// CHECK: remark: attention_i8: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// DEBUG: remark: attention_i8: {{[0-9]+}} registers, {{[0-9]+}} bytes of stack, {{[0-9]|[1-9][0-9]|1[0-4][0-9]}} bytes spilled

func.func @i8(%q: memref<?x?x?x128xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x128xi8>,
              %ks: memref<?x?x?x4xf32>, %v: memref<?x?x?x136x128xf8E4M3FN>, %vs: memref<?x?x128xf32>,
              %m: memref<?x?x?x16x2x8x8xf16>, %out: memref<?x?x?x?x128xf32>, %lse: memref<?x?x?x?xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x128xi8>, memref<?x?x?xf32>, memref<?x?x?x128xi8>,
          memref<?x?x?x4xf32>, memref<?x?x?x136x128xf8E4M3FN>, memref<?x?x128xf32>, memref<?x?x?x16x2x8x8xf16>)
      outs(%out, %lse : memref<?x?x?x?x128xf32>, memref<?x?x?x?xf32>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, split_keys = 2048 : i64,
       target = #vcattn.target<"sm_90a">,
       schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 4, consumers = 3, producer_registers = 24,
                                   consumer_registers = 160, ping_pong = false, promotion = 32>}
  return
}
