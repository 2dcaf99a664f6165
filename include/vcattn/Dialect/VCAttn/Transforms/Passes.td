//===- Passes.td - Passes on the dialect --------------------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TRANSFORMS_PASSES_TD
#define VCATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // VCATTN_TRANSFORMS_PASSES_TD
