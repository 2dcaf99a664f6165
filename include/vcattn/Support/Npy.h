//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes version 1 to 3 of the format, C order, little endian. NumPy
// has no bf16 and no 8-bit floats: their bits travel as uint16 and uint8, or as
// the void types of the same size that ml_dtypes writes.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_SUPPORT_NPY_H
#define VCATTN_SUPPORT_NPY_H

#include "vcattn/Support/HostTensor.h"
#include "llvm/Support/Error.h"

namespace vcattn {

/// Reads `path`, whose elements must be such as `element` is stored in and
/// whose shape must fit `shape` (negative sizes fit all). Any difference, a
/// missing byte and one too many are errors that name the file.
llvm::Expected<HostTensor> readNpy(llvm::StringRef path, Element element,
                                   llvm::ArrayRef<int64_t> shape);

/// Writes `tensor` to `path`: bf16 as uint16, f8E4M3FN as uint8.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

} // namespace vcattn

#endif // VCATTN_SUPPORT_NPY_H
