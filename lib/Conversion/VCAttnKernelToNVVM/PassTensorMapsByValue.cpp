//===- PassTensorMapsByValue.cpp - Tensor maps as kernel parameters -------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "vcattn/Conversion/KernelAttributes.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNPASSTENSORMAPSBYVALUE
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Size and alignment of a tensor map (CUDA driver API, CUtensorMap).
static constexpr int64_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

namespace {
struct PassTensorMapsByValue
    : vcattn::impl::VCAttnPassTensorMapsByValueBase<PassTensorMapsByValue> {
  void runOnOperation() override {
    Builder builder(&getContext());
    auto map = LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes);
    getOperation()->walk([&](LLVM::LLVMFuncOp kernel) {
      auto maps =
          kernel->getAttrOfType<DenseI32ArrayAttr>(kTensorMapArgumentsAttrName);
      if (!maps)
        return;
      for (int32_t i : maps.asArrayRef()) {
        kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(map));
        kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(kTensorMapAlignment));
        kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                          builder.getUnitAttr());
        ++numTensorMaps;
      }
      kernel->removeAttr(kTensorMapArgumentsAttrName);
    });
  }
};
} // namespace
