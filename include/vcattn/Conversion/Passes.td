//===- Passes.td - Passes into and out of the dialect-------------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_PASSES_TD
#define VCATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def VCAttnForallToGPULaunch
    : Pass<"vcattn-forall-to-gpu-launch", "::mlir::ModuleOp"> {
  let summary = "Launch every parallel loop of an entry function on the GPU";
  let description = [{
    Each outermost `scf.forall` on memrefs in an entry function (one with the
    attribute `vcattn.entry`, or, if no function has it, a public one) becomes
    one `gpu.launch` of ceil(iterations / 128) blocks of 128 threads, one thread
    per iteration, the last dimension fastest; indices are computed in 64 bits.
    The body stays as it is, inner `scf.forall`s become loops. No iterations
    give a grid of 0 blocks, which the runtime does not launch.

    A `memref.copy` between layouts of which one is not the identity becomes a
    launch with one thread per element; the others are left to the runtime.

    ```mlir
    scf.forall (%i, %j) in (%n, 64) {
      %0 = memref.load %x[%i, %j] : memref<?x64xf32>
      memref.store %0, %y[%j, %i] : memref<64x?xf32>
    }
    ```

    becomes

    ```mlir
    gpu.launch blocks(%bx, ...) in (%gx = %blocks, ...)
               threads(%tx, ...) in (%sx = %c128, ...)
               module(@f_kernels) function(@f_0) {
      %block = arith.muli %bx, %c128 : index
      %linear = arith.addi %block, %tx : index
      %inside = arith.cmpi ult, %linear, %total : index
      scf.if %inside {
        %j = arith.remui %linear, %c64 : index
        %i = arith.divui %linear, %c64 : index
        %0 = memref.load %x[%i, %j] : memref<?x64xf32>
        memref.store %0, %y[%j, %i] : memref<64x?xf32>
      }
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"blockSize", "block-size", "int64_t", "128",
           "Threads per block">,
  ];
  let statistics = [
    Statistic<"numLaunches", "launches", "Parallel loops launched">,
    Statistic<"numCopies", "copies", "Strided copies launched">,
  ];
}

#endif // VCATTN_CONVERSION_PASSES_TD
