//===- InitAll.h - Register everything --------------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tool or another compiler calls to have the dialect, the passes and
// the pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_INITALL_H
#define VCATTN_INITALL_H

#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/Transforms/BufferizableOpInterfaceImpl.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include "vcattn/Pipelines/Method.h"
#include "vcattn/Pipelines/Pipelines.h"

namespace vcattn {

/// Registers the dialect and the external models that its passes rely on.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<VCAttnDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

/// Registers the passes and the pipelines with the global pass registry.
inline void registerAllPasses() {
  registerVCAttnTransformsPasses();
  registerVCAttnConversionPasses();
  registerMethodPipeline();
  registerToCPUPipeline();
  registerToNVVMPipeline();
}

} // namespace vcattn

#endif // VCATTN_INITALL_H
