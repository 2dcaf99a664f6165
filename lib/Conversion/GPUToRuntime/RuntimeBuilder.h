//===- RuntimeBuilder.h - Calls of the runtime as IR ------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The LLVM dialect's side of vcattn_runtime.h.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_GPUTORUNTIME_RUNTIMEBUILDER_H
#define VCATTN_LIB_CONVERSION_GPUTORUNTIME_RUNTIMEBUILDER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace vcattn {

class RuntimeBuilder {
public:
  explicit RuntimeBuilder(mlir::ModuleOp module);

  mlir::Type getPointerType() const { return pointer; }
  mlir::Type getI64() const { return i64; }
  mlir::Type getI32() const { return i32; }

  /// Calls the runtime's function `vcattn_rt_<name>`; returns its result, if it
  /// has one.
  mlir::Value call(mlir::OpBuilder &builder, mlir::Location loc,
                   llvm::StringRef name, mlir::ValueRange arguments,
                   mlir::Type result = nullptr);

  mlir::Value constant32(mlir::OpBuilder &builder, mlir::Location loc,
                         int64_t value);
  mlir::Value constant64(mlir::OpBuilder &builder, mlir::Location loc,
                         int64_t value);

  /// The address of a constant that is made once per value.
  mlir::Value string(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::StringRef text);
  mlir::Value array(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<int64_t> values);

  /// Uninitialized bytes on the stack of the function around the builder's
  /// position, taken once per call of the function.
  mlir::Value stackSlot(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Type type, int64_t count = 1,
                        int64_t alignment = 0);

  /// The address of the vcattn_kernel of `binary`::`kernel`.
  mlir::Value kernel(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::gpu::BinaryOp binary, llvm::StringRef kernel);

private:
  mlir::Value addressOf(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::StringAttr global);
  mlir::StringAttr makeBytes(mlir::Location loc, llvm::StringRef name,
                             llvm::StringRef bytes, int64_t alignment);
  /// A writable global struct of `fields`.
  mlir::StringAttr makeStruct(
      mlir::Location loc, llvm::StringRef name,
      llvm::ArrayRef<mlir::Type> types,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &)>
          fields);
  mlir::StringAttr getModuleStruct(mlir::gpu::BinaryOp binary);
  std::string uniqueName(llvm::StringRef name);

  mlir::ModuleOp module;
  mlir::Type pointer, i64, i32, i8;
  llvm::StringMap<mlir::StringAttr> strings, kernels, modules;
  std::map<std::vector<int64_t>, mlir::StringAttr> arrays;
};

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_GPUTORUNTIME_RUNTIMEBUILDER_H
