//===- Cuda.cpp - Compile for the GPU and call ----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "Function.h"

using namespace vcattn;
using namespace vcattn::run;

llvm::Expected<std::unique_ptr<Function>>
vcattn::run::compileForCuda(mlir::ModuleOp, const Entry &, const MethodConfig &,
                            MethodSummary &) {
  auto driver = CudaDriver::load();
  if (!driver)
    return driver.takeError();
  return llvm::createStringError("--device=cuda is not built in");
}
