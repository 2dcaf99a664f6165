//===- Passes.h - Passes on the dialect ----------------------- -*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DIALECT_VCATTN_TRANSFORMS_PASSES_H
#define VCATTN_DIALECT_VCATTN_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {

/// What `vcattn-quantize` makes of queries and keys.
enum class ScoreFormat { I8, E4M3, None };

#define GEN_PASS_DECL
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"

} // namespace vcattn

#endif // VCATTN_DIALECT_VCATTN_TRANSFORMS_PASSES_H
