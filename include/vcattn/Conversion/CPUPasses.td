//===- CPUPasses.td - From loops to the CPU -*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_CPUPASSES_TD
#define VCATTN_CONVERSION_CPUPASSES_TD

include "mlir/Pass/PassBase.td"

def VCAttnCPUInterface : Pass<"vcattn-cpu-interface", "::mlir::ModuleOp"> {
  let summary = "Give entry functions on memrefs their C interface";
  let description = [{
    Entry functions (those with the attribute `vcattn.entry`, or, if none has
    it, the public ones) get `llvm.emit_c_interface`. If the shapes of all their
    results are static, results become arguments that the caller provides;
    otherwise they are returned. Copies become loops, so that none is left to
    call a runtime library for.

    ```mlir
    func.func @f(%x: memref<4xf32>) -> memref<4xf32> {
      %0 = memref.alloc() : memref<4xf32>
      ...
      return %0 : memref<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%x: memref<4xf32>, %0: memref<4xf32>)
        attributes {llvm.emit_c_interface} {
      ...
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numFunctions", "functions", "Functions with a C interface">,
    Statistic<"numCopies", "copies", "Copies that became loops">,
  ];
}

def VCAttnCheckLowered : Pass<"vcattn-check-lowered", "::mlir::ModuleOp"> {
  let summary = "Report what has not become the LLVM dialect";
  let description = [{
    The last pass on the way to the CPU: every op that is not of the LLVM
    dialect is an error where it stands, instead of one of the translation that
    names no place.

    ```mlir
    llvm.func @f(%x: i32) -> i32 {
      %0 = "unknown.op"(%x) : (i32) -> i32
      llvm.return %0 : i32
    }
    ```

    gives `error: 'unknown.op' op has no lowering to the CPU`.
  }];
  let statistics = [
    Statistic<"numLeft", "left", "Ops that were reported">,
  ];
}

def VCAttnDecomposeForBufferization
    : Pass<"vcattn-decompose-for-bufferization"> {
  let summary = "Decompose ops on tensors that cannot become loops whole";
  let description = [{
    `linalg.softmax` and the like (ops with linalg's `AggregatedOpInterface`)
    become the linalg ops they consist of, `tensor.concat` becomes insertions of
    slices. This concerns ops beside attention; what raising has recognized is
    gone by then.

    ```mlir
    %0 = tensor.concat dim(0) %x, %y
        : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    ```

    becomes

    ```mlir
    %1 = tensor.empty() : tensor<5xf32>
    %2 = tensor.insert_slice %x into %1[0] [2] [1]
        : tensor<2xf32> into tensor<5xf32>
    %0 = tensor.insert_slice %y into %2[2] [3] [1]
        : tensor<3xf32> into tensor<5xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numDecomposed", "decomposed", "Ops decomposed">,
  ];
}

def VCAttnExpandNarrowFloats : Pass<"vcattn-expand-narrow-floats"> {
  let summary = "Expand conversions of bf16 and f8E4M3FN to integer arithmetic";
  let description = [{
    `arith.extf` and `arith.truncf` from and to bf16 and f8E4M3FN become integer
    arithmetic, exact to the last bit, subnormals included (`arith.truncf` to
    f8E4M3FN gives NaN beyond 448, as its definition says). Any other arithmetic
    on bf16 or a float of 8 bits or fewer is an error: nothing below would
    compute it, or would compute it wrongly. To have it computed in f32, run
    `arith-emulate-unsupported-floats` first.

    ```mlir
    %0 = arith.extf %x : bf16 to f32
    ```

    becomes

    ```mlir
    %1 = arith.bitcast %x : bf16 to i16
    %2 = arith.extui %1 : i16 to i32
    %3 = arith.shli %2, %c16 : i32
    %0 = arith.bitcast %3 : i32 to f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numExpanded", "expanded", "Conversions expanded">,
  ];
}

def VCAttnProtectArguments
    : Pass<"vcattn-protect-arguments", "::mlir::ModuleOp"> {
  let summary = "Keep bufferization from writing to a caller's tensors";
  let description = [{
    One-shot bufferization takes a function's arguments for its own and may
    write to one that is not read again. The arguments of entry functions (those
    with the attribute `vcattn.entry`, or, if none has it, the public ones)
    belong to a caller who knows nothing of that: they are marked read-only.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    ```

    becomes

    ```mlir
    func.func @f(%x: tensor<4xf32> {bufferization.writable = false})
        -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
  let statistics = [
    Statistic<"numProtected", "protected", "Arguments marked read-only">,
  ];
}

#endif // VCATTN_CONVERSION_CPUPASSES_TD
