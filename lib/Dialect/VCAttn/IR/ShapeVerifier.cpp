//===- ShapeVerifier.cpp - Comparing sizes in verifiers -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeVerifier.h"

using namespace mlir;

bool vcattn::agree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

std::string vcattn::printSize(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

/// Sizes as a type writes them: 2x?x128.
static std::string printShape(ArrayRef<int64_t> sizes) {
  return llvm::join(llvm::map_range(sizes, vcattn::printSize), "x");
}

LogicalResult vcattn::verifyShape(Operation *op, StringRef what, Type type,
                                  ArrayRef<int64_t> wanted) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  if (shape.size() == wanted.size() && llvm::equal(shape, wanted, agree))
    return success();
  return op->emitOpError() << what << " has shape " << printShape(shape)
                           << ", expected " << printShape(wanted);
}

LogicalResult vcattn::verifyLengths(Operation *op, Value lengths,
                                    int64_t batch) {
  return lengths ? verifyShape(op, "lengths", lengths.getType(), {batch})
                 : success();
}

/// Checks that each of the first `dims` dimensions is 1 or `full`, and that the
/// others are `full`.
static LogicalResult verifyBroadcast(Operation *op, StringRef what, Type type,
                                     ArrayRef<int64_t> full, size_t dims) {
  for (auto [i, size] : llvm::enumerate(cast<ShapedType>(type).getShape())) {
    bool broadcasts = i < dims;
    if ((broadcasts && size == 1) || vcattn::agree(size, full[i]))
      continue;
    return op->emitOpError()
           << what << " dimension " << i << " is " << size << ", expected "
           << (broadcasts ? "1 or " : "") << full[i];
  }
  return success();
}

LogicalResult vcattn::verifyMasks(Operation *op, const MaskOperands &masks,
                                  const TokenShape &query,
                                  const TokenShape &key) {
  if (failed(verifyLengths(op, masks.lengths, query.batch)))
    return failure();
  if (masks.mask &&
      failed(verifyBroadcast(
          op, "mask", masks.mask.getType(),
          {query.batch, query.heads, query.tokens, key.tokens}, 4)))
    return failure();
  if (!masks.blocks)
    return success();
  return verifyBroadcast(op, "block mask", masks.blocks.getType(),
                         {query.batch, query.heads,
                          ceilDivSize(query.tokens, kBlockTokens),
                          ceilDivSize(key.tokens, kBlockTokens)},
                         2);
}
