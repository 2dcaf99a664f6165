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

def VCAttnMergeKernels : Pass<"vcattn-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Move all kernels into one gpu.module";
  let description = [{
    So that there is one image to compile and to load. Kernels whose names
    collide get a number, and `gpu.launch_func` follows.

    ```mlir
    gpu.module @a { gpu.func @f() kernel { gpu.return } }
    gpu.module @b { gpu.func @g() kernel { gpu.return } }
    ```

    becomes

    ```mlir
    gpu.module @vcattn_kernels {
      gpu.func @f() kernel { gpu.return }
      gpu.func @g() kernel { gpu.return }
    }
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let options = [
    Option<"name", "name", "std::string", "\"vcattn_kernels\"",
           "Name of the module">,
  ];
  let statistics = [
    Statistic<"numModules", "modules", "Modules merged">,
  ];
}

def VCAttnLowerKernels : Pass<"vcattn-lower-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower a gpu.module to the NVVM and LLVM dialects";
  let description = [{
    Converts what is left of a kernel once structured control flow and the
    kernel ops of vcattn are gone (arith, cf, func, gpu, math, memref, vector),
    with 64-bit indices. Floating-point operations become instructions one by
    one, contracted nowhere: `math.fma` is fma.rn, `arith.divf` div.rn,
    `arith.maximumf` max.NaN; `math.exp2` and `math.log2` are ex2.approx and
    lg2.approx, f32 only. Mathematics without an instruction is refused.

    ```mlir
    gpu.func @f_0(%x: memref<?xf32>) kernel {
      %i = gpu.block_id x
      ...
      %1 = math.fma %0, %0, %0 : f32
    ```

    becomes

    ```mlir
    llvm.func @f_0(%p: !llvm.ptr, %q: !llvm.ptr, %offset: i64, %size: i64, %stride: i64)
        attributes {gpu.kernel, nvvm.kernel} {
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      ...
      %1 = llvm.intr.fma(%0, %0, %0) : (f32, f32, f32) -> f32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels lowered">,
  ];
}

def VCAttnSerializeKernels
    : Pass<"vcattn-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "Compile every gpu.module to PTX or to a cubin";
  let description = [{
    Translates each `gpu.module`, whose functions are in the LLVM and NVVM
    dialects, to LLVM IR and PTX, assembles it if a cubin is wanted, and puts a
    `gpu.binary` in its place. LLVM's optimizer does not run, no floating-point
    operation is contracted, and inline assembly is convergent. A call to
    anything but a function of the module is an error, and so is a message of
    ptxas that it serializes wgmma.

    ```mlir
    gpu.module @f_kernels {
      llvm.func @f_0(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} { ... }
    }
    ```

    becomes

    ```mlir
    gpu.binary @f_kernels [#gpu.object<#nvvm.target<chip = "sm_90a", ...>, bin = "...">]
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_90a\"",
           "The chip, as in #vcattn.target">,
    Option<"format", "format", "std::string", "\"cubin\"",
           "ptx, or cubin, which takes ptxas">,
    Option<"ptxas", "ptxas", "std::string", "\"\"",
           "The ptxas to run; otherwise it is looked for in PATH, CUDA_HOME, "
           "CUDA_PATH, CUDA_ROOT and /usr/local/cuda">,
    Option<"report", "report", "bool", "false",
           "Remark on each kernel's registers, stack and spills">,
  ];
  let statistics = [
    Statistic<"numModules", "modules", "Modules compiled">,
    Statistic<"numBytes", "bytes", "Bytes of PTX or cubins">,
  ];
}

#endif // VCATTN_CONVERSION_PASSES_TD
