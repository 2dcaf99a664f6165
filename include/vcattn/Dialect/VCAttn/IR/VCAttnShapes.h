//===- VCAttnShapes.h - Dimensions of attention's tensors -------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where batch, heads, tokens and dim stand in a rank-4 tensor of either layout,
// and the block sizes that the method fixes.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DIALECT_VCATTN_IR_VCATTNSHAPES_H
#define VCATTN_DIALECT_VCATTN_IR_VCATTNSHAPES_H

#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {

/// Keys in one block: a block mean and a key-scale block (the paper's B_v).
inline constexpr int64_t kBlockTokens = 128;

/// Keys in one tile: so many scores are cast at once, against one maximum.
inline constexpr int64_t kTileKeys = 64;

/// The hybrid cast treats keys in groups: of the 8 groups of a tile, so many
/// are cast exactly.
inline constexpr int64_t kCastGroupKeys = 8, kExactCastGroups = 5;

/// Scales that quantized keys have per block: one per lane of a quad.
inline constexpr int64_t kKeyScaleGroups = 4;

inline constexpr unsigned kBatchDim = 0;
inline constexpr unsigned kChannelDim = 3;

inline unsigned getHeadsDim(Layout layout) {
  return layout == Layout::BHTD ? 1 : 2;
}
inline unsigned getTokensDim(Layout layout) {
  return layout == Layout::BHTD ? 2 : 1;
}

/// Channels that a rotation mixes with each other: the largest power of two
/// that divides the head dimension.
inline int64_t getRotationBlock(int64_t headDim) { return headDim & -headDim; }

/// The sizes of a rank-4 tensor by meaning; mlir::ShapedType::kDynamic where
/// a size is dynamic.
struct TokenShape {
  int64_t batch, heads, tokens, dim;

  static TokenShape get(mlir::ShapedType type, Layout layout) {
    return {type.getDimSize(kBatchDim), type.getDimSize(getHeadsDim(layout)),
            type.getDimSize(getTokensDim(layout)),
            type.getDimSize(kChannelDim)};
  }
};

/// ceil(size / block), dynamic if size is.
inline int64_t ceilDivSize(int64_t size, int64_t block) {
  return mlir::ShapedType::isDynamic(size) ? size : (size + block - 1) / block;
}

} // namespace vcattn

#endif // VCATTN_DIALECT_VCATTN_IR_VCATTNSHAPES_H
