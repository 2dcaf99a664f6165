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
