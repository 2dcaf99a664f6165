// The attention kernel for Hopper, down to the machine: ptxas assembles it
// without serializing a product (which would be an error) and without spills.

// REQUIRES: ptxas
// RUN: vcattn-opt %s --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
// RUN: sed 's/cast<expcast>/cast<exact>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
// RUN: sed 's/cast<expcast>/cast<hybrid>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
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
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{format=ptx})' | FileCheck %s --check-prefix=PTX

// CHECK-DAG: remark: attention_i8: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// CHECK-DAG: remark: attention_e4m3: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled

// PTX: .extern .shared .align 1024 .b8 vcattn_shared_memory[]
// PTX: .param .align 64 .b8 attention_i8_param_0[128]
// PTX: .maxntid 512, 1, 1
// PTX-NOT: .local
// PTX-DAG: setmaxnreg.dec.sync.aligned.u32 \0924
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32 \09160
// PTX-DAG: cp.async.bulk.tensor.5d
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n136k32.f32.e4m3.e4m3
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// PTX-DAG: mbarrier.test_wait.parity
// PTX-DAG: cvt.rn.relu.f16x2.f32
// PTX-DAG: max.u16x2

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 4,
                             consumers = 3, producer_registers = 24,
                             consumer_registers = 160, ping_pong = false,
                             promotion = 32>

func.func @i8(%q: memref<?x?x?x128xi8>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x128xi8>,
              %ks: memref<?x?x?x4xf32>, %v: memref<?x?x?x136x128xf8E4M3FN>, %vs: memref<?x?x128xf32>,
              %m: memref<?x?x?x16x2x8x8xf16>, %out: memref<?x?x?x128xbf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x128xi8>, memref<?x?x?xf32>, memref<?x?x?x128xi8>,
          memref<?x?x?x4xf32>, memref<?x?x?x136x128xf8E4M3FN>, memref<?x?x128xf32>, memref<?x?x?x16x2x8x8xf16>)
      outs(%out : memref<?x?x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #target, schedule = #schedule}
  return
}

func.func @e4m3(%q: memref<?x?x?x128xf8E4M3FN>, %qs: memref<?x?x?xf32>, %k: memref<?x?x?x128xf8E4M3FN>,
                %ks: memref<?x?x?x4xf32>, %v: memref<?x?x?x136x128xf8E4M3FN>, %vs: memref<?x?x128xf32>,
                %m: memref<?x?x?x16x2x8x8xf16>, %out: memref<?x?x?x128xf16, strided<[?, ?, ?, ?], offset: ?>>,
                %lse: memref<?x?x?xf32>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<?x?x?x128xf8E4M3FN>, memref<?x?x?xf32>,
          memref<?x?x?x128xf8E4M3FN>, memref<?x?x?x4xf32>, memref<?x?x?x136x128xf8E4M3FN>, memref<?x?x128xf32>,
          memref<?x?x?x16x2x8x8xf16>)
      outs(%out, %lse : memref<?x?x?x128xf16, strided<[?, ?, ?, ?], offset: ?>>, memref<?x?x?xf32>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, layout = #vcattn.layout<bthd>, target = #target,
       schedule = #schedule}
  return
}
