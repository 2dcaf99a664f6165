//===- RowStores.h - Results to memory, 16 bytes at a time ------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_VCATTNKERNELTONVVM_ROWSTORES_H
#define VCATTN_LIB_CONVERSION_VCATTNKERNELTONVVM_ROWSTORES_H

#include "KernelToNVVM.h"

namespace vcattn {

/// Whether rows of `columns` elements of `type` are made of whole exchanges,
/// and may have their elements side by side.
bool canStoreWide(mlir::MemRefType type, int64_t columns);

/// Whether every row of a head, of which `firstRow` are the indices of token 0
/// and channel 0, starts on a boundary of 16 bytes and has its elements side by
/// side. The same in all threads of a block.
mlir::Value isWideStorePossible(KernelBuilder &b, mlir::Value out,
                                mlir::ValueRange firstRow, int64_t channelDim,
                                int64_t tokenDim);

/// Converts the values of the thread's row 0 or 1, of a fragment without row
/// sums, and exchanges them within the quad: all of a warp's threads take part.
llvm::SmallVector<mlir::Value> packRow(KernelBuilder &b,
                                       mlir::ValueRange values, unsigned row,
                                       mlir::Type element);

/// Stores what packRow() gave to the row that starts at `start`.
void storeRow(KernelBuilder &b, mlir::Value start, mlir::ValueRange packed);

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_VCATTNKERNELTONVVM_ROWSTORES_H
