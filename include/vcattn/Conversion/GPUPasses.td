//===- GPUPasses.td - From loops and tiles to GPU kernels -*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_GPUPASSES_TD
#define VCATTN_CONVERSION_GPUPASSES_TD

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
    give a grid of 0 blocks, which the runtime does not launch. `scf.parallel`
    without reductions, as linalg lowers to, is taken alike.

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

def VCAttnGPUInterface : Pass<"vcattn-gpu-interface", "::mlir::ModuleOp"> {
  let summary = "Turn entry functions' results into strided out-parameters";
  let description = [{
    Each result of an entry function (one with the attribute `vcattn.entry`, or,
    if no function has it, a public one) becomes a memref argument of any strides
    and offset that the caller provides, marked with the result's number. What
    sizes the result has is asserted, so that a wrong out-parameter is an error
    of the call. Comes after `convert-vcattn-to-loops`: an op of vcattn that is
    neither loops by now nor packed attention has no kernel, which is an error.

    ```mlir
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> attributes {vcattn.entry} {
      ...
      return %r : tensor<?xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%x: tensor<?xf32>,
                 %o: memref<?xf32, strided<[?], offset: ?>> {vcattn.result = 0 : i64})
        attributes {vcattn.entry} {
      ...
      cf.assert %same, "result 0: size of dimension 0 is wrong"
      bufferization.materialize_in_destination %r in restrict writable %o : ...
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numResults", "results", "Results that became out-parameters">,
  ];
}

def VCAttnIsolateEntries : Pass<"vcattn-isolate-entries", "::mlir::ModuleOp"> {
  let summary = "Move entry functions to a module of their own";
  let description = [{
    So that a pipeline can lower them to a kernel and its launch while the rest
    of the module stays untouched. Entry functions are those with the attribute
    `vcattn.entry`, or, if no function has it, the public ones that hold an op of
    vcattn. A function that stays and calls an entry finds a declaration in its
    place. A remark says of each function that stays that it does.

    ```mlir
    module {
      func.func @model(%x: ...) -> ... {
        %0 = call @model_attention0(%x, %x, %x) : ...
        ...
      }
      func.func private @model_attention0(...) -> ... attributes {vcattn.entry} { ... }
    }
    ```

    becomes

    ```mlir
    module {
      func.func @model(%x: ...) -> ... {
        %0 = call @model_attention0(%x, %x, %x) : ...
        ...
      }
      func.func private @model_attention0(...) -> ...
      module @vcattn_entries {
        func.func @model_attention0(...) -> ... attributes {vcattn.entry} { ... }
      }
    }
    ```

    With `undo`, a module `@vcattn_entries` that is alone is dissolved again.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let options = [
    Option<"undo", "undo", "bool", "false",
           "Dissolve the entries' module if nothing else is left">,
  ];
  let statistics = [
    Statistic<"numEntries", "entries", "Functions moved">,
    Statistic<"numLeft", "left", "Functions left">,
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

def VCAttnUnrollTransfers : Pass<"vcattn-unroll-transfers"> {
  let summary = "Move vectors to and from memory element by element";
  let description = [{
    `vector.transfer_read` and `vector.transfer_write` of rank 1, in bounds,
    along a memref's last dimension become accesses of single elements, of
    whatever stride, so that vectors stay in registers. Others are left.

    ```mlir
    %0 = vector.transfer_read %x[%i], %pad {in_bounds = [true]}
        : memref<?xf32, strided<[?], offset: ?>>, vector<2xf32>
    ```

    becomes

    ```mlir
    %1 = memref.load %x[%i] : memref<?xf32, strided<[?], offset: ?>>
    %2 = arith.addi %i, %c1 : index
    %3 = memref.load %x[%2] : memref<?xf32, strided<[?], offset: ?>>
    %0 = vector.from_elements %1, %3 : vector<2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numUnrolled", "unrolled", "Transfers unrolled">,
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

def ConvertGPUToVCAttnRuntime
    : Pass<"convert-gpu-to-vcattn-runtime", "::mlir::ModuleOp"> {
  let summary = "Lower entry functions to calls of the runtime";
  let description = [{
    An entry function after `vcattn-plan-workspace`, whose kernels are
    `gpu.binary` ops and whose structured control flow is gone, becomes a C
    function `int32_t NAME(inputs*..., results*..., void *workspace, size_t size,
    void *stream)` of the LLVM dialect, with pointers to memref descriptors. It
    checks the descriptors against the function's types and the workspace, and
    returns an error code; include/vcattn/Runtime/vcattn_runtime.h has the rest.
    `int64_t NAME_workspace_size(inputs*..., results*...)` gives the workspace's
    size, or -1 after an error.

    Launches, `vcattn.encode_tensor_map`, contiguous `memref.copy` and
    `cf.assert` become calls of the runtime; assertions come first. A launch passes memrefs as the
    members of their descriptors, as `gpu.func` takes them, and tensor maps by
    value. Accesses to memory on the host are refused. Functions that are no
    entries stay as they are.

    ```mlir
    gpu.binary @vcattn_kernels [...]
    func.func @f(%x: memref<4xf32>, %w: memref<?xi8> {vcattn.workspace},
                 %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
      gpu.launch_func @vcattn_kernels::@f_0 blocks in (...) threads in (...)
          args(%x : memref<4xf32>)
      return
    }
    ```

    becomes

    ```mlir
    llvm.func @f(%x: !llvm.ptr, %w: !llvm.ptr, %size: i64, %s: !llvm.ptr) -> i32 {
      ... llvm.call @vcattn_rt_check_memref(...)
      ... llvm.call @f.body(...)
    }
    llvm.func internal @f.body(...) {
      ... llvm.call @vcattn_rt_launch(%call, %kernel, ..., %parameters)
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::ub::UBDialect"];
  let statistics = [
    Statistic<"numEntries", "entries", "Entry functions lowered">,
    Statistic<"numLaunches", "launches", "Launches lowered">,
  ];
}

def ConvertVCAttnToGPU : Pass<"convert-vcattn-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Turn packed attention on memrefs into a kernel and its launch";
  let description = [{
    Each `vcattn.packed_attention` on memrefs becomes tensor maps of queries,
    keys and values, made on the host, and a launch of a kernel in kernel ops
    (docs/Dialect.md), which `convert-vcattn-kernel-to-nvvm` lowers. Attentions
    that differ in nothing but sizes, strides and scale share one kernel.

    Where sizes are not static, a launch is skipped that has nothing to compute,
    and attention to no keys is written as zeros by a parallel loop.

    ```mlir
    vcattn.packed_attention ins(%q, %qs, %k, %ks, %v, %vs, %m : ...)
        outs(%out : ...) {scale = 0.088 : f64, ...}
    ```

    becomes

    ```mlir
    %qmap = vcattn.encode_tensor_map %q box [1, 1, 128, 128] : ...
    ...
    gpu.launch_func @vcattn_attention_i8::@attention_i8
        blocks in (%blocks, %c1, %c1) threads in (%c384, %c1, %c1)
        dynamic_shared_memory_size %c225456
        args(%qmap : !vcattn.tensor_map, %kmap : ..., %vmap : ...,
             %qs : ..., %ks : ..., %vs : ..., %m : ..., %out : ...,
             %keys : index, %factor : f32)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels built">,
    Statistic<"numLaunches", "launches", "Attentions launched">,
  ];
}

def ConvertVCAttnKernelToNVVM
    : Pass<"convert-vcattn-kernel-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower the kernel ops of a gpu.module to Hopper's instructions";
  let description = [{
    Fragments become structs of the registers that a thread holds, tiles
    pointers to shared memory, pipelines mbarriers and TMA copies, products
    wgmma (docs/Numerics.md says which instruction rounds where). Control flow
    stays scf, addresses in global memory arith and memref: `convert-scf-to-cf`,
    `vcattn-lower-kernels`, `vcattn-pass-tensor-maps-by-value` and
    `convert-nvvm-to-llvm` take it from there.

    ```mlir
    %s = vcattn.mma_wait %running outstanding 1
        : !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>
          -> !vcattn.fragment<64x128xi32, scores>
    ```

    becomes

    ```mlir
    %0 = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;",
        "=r,...,0,..." %r0, ... : (i32, ...) -> !llvm.struct<(i32, ...)>
    ```

    With `debug-waits`, a thread that has waited for 2^33 clock cycles (some
    seconds) at an mbarrier traps, which ends the kernel with an error. It says
    nothing first: a call in a kernel makes ptxas serialize its products. Turns,
    which consumers take by named barriers, cannot be bounded; a consumer waits
    there for the other one only, which is at an mbarrier or traps.
  }];
  let options = [
    Option<"debugWaits", "debug-waits", "bool", "false",
           "Trap in waits that take seconds">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels lowered">,
  ];
}

def VCAttnPassTensorMapsByValue : Pass<"vcattn-pass-tensor-maps-by-value"> {
  let summary = "Make kernels receive their tensor maps by value";
  let description = [{
    The conversion of gpu.func forgets how a pointer argument is passed. The copy
    unit needs a tensor map in parameter memory, aligned to 64 bytes, and no
    local copy of it; this pass says so on the arguments that
    `convert-vcattn-kernel-to-nvvm` has noted.

    ```mlir
    llvm.func @kernel(%map: !llvm.ptr) attributes
        {nvvm.kernel, vcattn.tensor_map_arguments = array<i32: 0>}
    ```

    becomes

    ```mlir
    llvm.func @kernel(%map: !llvm.ptr {llvm.align = 64 : i64,
        llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
        attributes {nvvm.kernel}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
  let statistics = [
    Statistic<"numTensorMaps", "tensor-maps", "Arguments passed by value">,
  ];
}

#endif // VCATTN_CONVERSION_GPUPASSES_TD
