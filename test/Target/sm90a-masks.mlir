// The kernels with masks, of either kind, down to the machine: no serialized
// product (which would be an error), and hardly any spills.

// REQUIRES: ptxas
// RUN: sed -e 's/tile_q = 192/tile_q = 128/' -e 's/consumers = 3/consumers = 2/' -e 's/consumer_registers = 160/consumer_registers = 240/' -e 's/cast<expcast>/cast<expcast>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s
// RUN: sed -e 's/tile_q = 192/tile_q = 128/' -e 's/consumers = 3/consumers = 2/' -e 's/consumer_registers = 160/consumer_registers = 240/' -e 's/cast<expcast>/cast<hybrid>/' %s | vcattn-opt - --pass-pipeline='builtin.module(convert-vcattn-to-gpu,canonicalize,cse,vcattn-merge-kernels, \
// RUN:   gpu.module(convert-vcattn-kernel-to-nvvm,canonicalize,cse,convert-scf-to-cf,vcattn-lower-kernels, \
// RUN:     canonicalize,cse,reconcile-unrealized-casts,convert-nvvm-to-llvm,vcattn-pass-tensor-maps-by-value), \
// RUN:   vcattn-serialize-kernels{report=true ptxas=%ptxas})' 2>&1 | FileCheck %s

// CHECK-NOT: error:
// CHECK-COUNT-2: remark: attention_i8{{.*}}: {{[0-9]+}} registers, {{[0-9]+}} bytes of stack, {{[0-9]|[1-9][0-9]}} bytes spilled

#schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, stages = 4, consumers = 3, producer_registers = 24,
                             consumer_registers = 160, ping_pong = false, promotion = 32>

func.func @mask(%q: memref<1x4x?x128xi8>, %qs: memref<1x4x?xf32>, %k: memref<1x4x?x128xi8>,
    %ks: memref<1x4x?x4xf32>, %v: memref<1x4x?x136x128xf8E4M3FN>, %vs: memref<1x4x128xf32>, %m: memref<1x4x?x16x2x8x8xf16>,
    %out: memref<1x4x?x128xbf16>, %x: memref<1x1x?x?xi1>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x?x128xi8>, memref<1x4x?xf32>, memref<1x4x?x128xi8>, memref<1x4x?x4xf32>,
          memref<1x4x?x136x128xf8E4M3FN>, memref<1x4x128xf32>, memref<1x4x?x16x2x8x8xf16>)
      mask(%x : memref<1x1x?x?xi1>) outs(%out : memref<1x4x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">, schedule = #schedule}
  return
}

func.func @float_mask(%q: memref<1x4x?x128xi8>, %qs: memref<1x4x?xf32>, %k: memref<1x4x?x128xi8>,
    %ks: memref<1x4x?x4xf32>, %v: memref<1x4x?x136x128xf8E4M3FN>, %vs: memref<1x4x128xf32>, %m: memref<1x4x?x16x2x8x8xf16>,
    %out: memref<1x4x?x128xbf16>, %x: memref<1x1x?x?xf16>) {
  vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : memref<1x4x?x128xi8>, memref<1x4x?xf32>, memref<1x4x?x128xi8>, memref<1x4x?x4xf32>,
          memref<1x4x?x136x128xf8E4M3FN>, memref<1x4x128xf32>, memref<1x4x?x16x2x8x8xf16>)
      mask(%x : memref<1x1x?x?xf16>) outs(%out : memref<1x4x?x128xbf16>)
      {scale = 0.088 : f64, cast = #vcattn.cast<expcast>, target = #vcattn.target<"sm_90a">, schedule = #schedule}
  return
}
