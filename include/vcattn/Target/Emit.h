//===- Emit.h - From LLVM dialect to PTX, cubin, object, library -*- C++
//-*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps after the last pass, each a function on text or bytes. They emit a
// diagnostic where they fail.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TARGET_EMIT_H
#define VCATTN_TARGET_EMIT_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace vcattn {

/// Registers the translations to LLVM IR that the functions below need.
void registerTranslations(mlir::DialectRegistry &registry);

/// Translates `op`, a builtin.module or gpu.module in the LLVM and NVVM
/// dialects, to LLVM IR.
mlir::FailureOr<std::unique_ptr<llvm::Module>>
translateToLLVMIR(mlir::Operation *op, llvm::LLVMContext &context);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Refuses calls of functions that `module` does not define: they would only
/// fail when the kernels are loaded.
mlir::LogicalResult verifyKernels(mlir::gpu::GPUModuleOp module);

/// Prepares `module` for `chip`: data layout, triple, and convergent inline
/// assembly, which MLIR cannot say.
mlir::LogicalResult prepareKernels(llvm::Module &module, llvm::StringRef chip,
                                   mlir::Location loc);

/// Compiles prepared kernels to PTX without contracting or reordering any
/// floating-point operation.
mlir::FailureOr<std::string> emitPTX(llvm::Module &module, llvm::StringRef chip,
                                     mlir::Location loc);

/// What ptxas says about one kernel.
struct KernelResources {
  std::string name;
  int64_t registers = 0;
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
};

struct Cubin {
  std::string bytes;
  std::vector<KernelResources> kernels;
};

/// The ptxas to run: `path` if it is not empty, or else from PATH, CUDA_HOME,
/// CUDA_PATH, CUDA_ROOT or /usr/local/cuda.
mlir::FailureOr<std::string> findPtxas(llvm::StringRef path,
                                       mlir::Location loc);

/// Assembles PTX. That ptxas serializes wgmma (C75xx), which costs a kernel
/// most of its speed, is an error here.
mlir::FailureOr<Cubin> assemblePTX(llvm::StringRef ptx, llvm::StringRef chip,
                                   llvm::StringRef ptxas, mlir::Location loc);

/// Kernels in a form that the driver loads.
struct KernelImage {
  std::string bytes;
  bool isCubin = false;
  std::vector<KernelResources> kernels; // of a cubin
};

/// All of the above: from a gpu.module in the LLVM and NVVM dialects to a cubin
/// or PTX.
mlir::FailureOr<KernelImage> compileKernels(mlir::gpu::GPUModuleOp module,
                                            llvm::StringRef chip, bool toCubin,
                                            llvm::StringRef ptxas);

/// Puts a gpu.binary with `image` in the place of `module`.
void embedKernels(mlir::gpu::GPUModuleOp module, llvm::StringRef chip,
                  const KernelImage &image);

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

/// Compiles `module` to a position-independent object file for this machine's
/// architecture. `cpu` is a CPU name as clang's -mcpu takes it, or "native".
/// `optimize` runs LLVM's -O3; no floating-point operation is contracted.
mlir::LogicalResult prepareHost(llvm::Module &module, llvm::StringRef cpu,
                                bool optimize, mlir::Location loc);
mlir::FailureOr<std::string> emitObject(llvm::Module &module,
                                        llvm::StringRef cpu, bool optimize,
                                        mlir::Location loc);

/// Links `object` and the runtime to a shared library with the system's C
/// compiler: `compiler` if it is not empty, or else the first of clang-22,
/// clang, cc and gcc in PATH.
mlir::FailureOr<std::string> linkSharedLibrary(llvm::StringRef object,
                                               llvm::StringRef compiler,
                                               mlir::Location loc);

} // namespace vcattn

#endif // VCATTN_TARGET_EMIT_H
