//===- Descriptor.h - Memref descriptors ------------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout by which MLIR passes a memref: pointers to the allocation and to
// its aligned part, an offset in elements, sizes, strides.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DEVICE_DESCRIPTOR_H
#define VCATTN_DEVICE_DESCRIPTOR_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace vcattn {

class Descriptor {
public:
  /// One of undefined contents, to be filled by a call.
  explicit Descriptor(size_t rank) : rank(rank), words(3 + 2 * rank) {}

  /// A row-major one.
  Descriptor(void *data, llvm::ArrayRef<int64_t> shape)
      : Descriptor(shape.size()) {
    words[0] = words[1] = reinterpret_cast<intptr_t>(data);
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
      words[3 + i] = shape[i];
      words[3 + rank + i] = stride;
      stride *= shape[i];
    }
  }

  void *get() { return words.data(); }
  void *getAllocation() const { return reinterpret_cast<void *>(words[0]); }
  char *getData(size_t elementSize) const {
    return reinterpret_cast<char *>(words[1]) + words[2] * elementSize;
  }
  llvm::ArrayRef<int64_t> getShape() const {
    return llvm::ArrayRef(words).slice(3, rank);
  }
  llvm::ArrayRef<int64_t> getStrides() const {
    return llvm::ArrayRef(words).slice(3 + rank, rank);
  }
  static size_t getNumWords(size_t rank) { return 3 + 2 * rank; }
  int64_t *getWords() { return words.data(); }

private:
  size_t rank;
  std::vector<int64_t> words;
};

} // namespace vcattn

#endif // VCATTN_DEVICE_DESCRIPTOR_H
