//===- ShapeVerifier.h - Comparing sizes in verifiers -----------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes agree if they are equal or one of them is not known yet; messages write
// an unknown size as `?`.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_DIALECT_VCATTN_IR_SHAPEVERIFIER_H
#define VCATTN_LIB_DIALECT_VCATTN_IR_SHAPEVERIFIER_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

namespace vcattn {

/// True if two sizes are equal or one of them is not known yet.
bool agree(int64_t a, int64_t b);

/// `size` in digits, or `?`.
std::string printSize(int64_t size);

/// Reports "`what` has shape 2x?, expected 2x3" unless `type` has the rank and
/// the sizes that are wanted.
llvm::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what,
                                mlir::Type type,
                                llvm::ArrayRef<int64_t> wanted);

/// Checks the operand `lengths`, which may be null: one entry per batch.
llvm::LogicalResult verifyLengths(mlir::Operation *op, mlir::Value lengths,
                                  int64_t batch);

/// What limits the keys that an attention's queries see; any may be null.
struct MaskOperands {
  mlir::Value mask, lengths, blocks;
};

/// Checks them against the sizes of queries and keys.
llvm::LogicalResult verifyMasks(mlir::Operation *op, const MaskOperands &masks,
                                const TokenShape &query, const TokenShape &key);

} // namespace vcattn

#endif // VCATTN_LIB_DIALECT_VCATTN_IR_SHAPEVERIFIER_H
