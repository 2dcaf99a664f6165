//===- HostTensor.h - Tensors in host memory --------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tools move between files, generators, the compiled function and the
// reference: a shape, an element format and row-major bytes.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_SUPPORT_HOSTTENSOR_H
#define VCATTN_SUPPORT_HOSTTENSOR_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vcattn {

/// Element formats that a function's arguments may have.
enum class Element { I1, I8, I32, I64, F8E4M3FN, F16, BF16, F32, F64 };

/// Bytes of one element; an i1 takes a whole one.
size_t getSize(Element element);

/// Its name in MLIR's spelling.
llvm::StringRef getName(Element element);

/// The format of an MLIR element type; none if the tools cannot hold it.
std::optional<Element> getElement(mlir::Type type);

/// The value of the element at `data`. Every format's value is a double but
/// for the largest i64.
double loadElement(Element element, const char *data);

/// Stores `value`, rounded to FP32 first and then, to nearest even, to the
/// format, which is one of F16, BF16, F32 and F64 (not rounded twice).
void storeElement(Element element, double value, char *data);

struct HostTensor {
  Element element = Element::F32;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> bytes;

  HostTensor() = default;
  HostTensor(Element element, llvm::ArrayRef<int64_t> shape);

  int64_t getNumElements() const;
  double load(int64_t index) const {
    return loadElement(element, bytes.data() + index * getSize(element));
  }
  void store(int64_t index, double value) {
    storeElement(element, value, bytes.data() + index * getSize(element));
  }
  /// "1x4x2048x128xbf16".
  std::string getTypeName() const;
  /// How many elements are NaN or infinite.
  int64_t countNonFinite() const;
};

} // namespace vcattn

#endif // VCATTN_SUPPORT_HOSTTENSOR_H
