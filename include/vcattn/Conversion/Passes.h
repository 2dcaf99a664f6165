//===- Passes.h - Passes into and out of the dialect ---------- -*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_PASSES_H
#define VCATTN_CONVERSION_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {

#define GEN_PASS_DECL
#include "vcattn/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "vcattn/Conversion/Passes.h.inc"

} // namespace vcattn

#endif // VCATTN_CONVERSION_PASSES_H
