// RUN: vcattn-opt %s --vcattn-forall-to-gpu-launch --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{'scf.forall' op still works on tensors; bufferize before launching it}}
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    %one = tensor.empty() : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}

// -----

func.func @allocates(%x: memref<4xf32>) {
  scf.forall (%i) in (4) {
    // expected-error @+1 {{'memref.alloc' op cannot allocate in a kernel's thread; allocate outside the parallel loop or use memref.alloca}}
    %0 = memref.alloc() : memref<4xf32>
    memref.copy %0, %x : memref<4xf32> to memref<4xf32>
  }
  return
}

// -----

func.func @too_many(%x: memref<4xf32>) {
  // expected-error @+1 {{'scf.forall' op has at least 1099511627776 iterations; a grid of 128 threads per block has room for 274877906816}}
  scf.forall (%i, %j) in (1048576, 1048576) {
  }
  return
}
