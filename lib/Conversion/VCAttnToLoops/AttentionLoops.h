//===- AttentionLoops.h - Attention on the CPU ------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact and quantized attention share everything but the softmax: keys and
// values are decoded to FP32 once, in tiles of 64 keys (keys transposed), then
// each block of queries runs over the tiles: scores, softmax row by row,
// values. A row's arithmetic does not depend on the other rows of its block.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_VCATTNTOLOOPS_ATTENTIONLOOPS_H
#define VCATTN_CONVERSION_VCATTNTOLOOPS_ATTENTIONLOOPS_H

#include "LoopBuilder.h"
#include <optional>

namespace vcattn {

/// Queries that one iteration handles; and rows that a register block has.
inline constexpr int64_t kQueryBlock = 32;
inline constexpr int64_t kRegisterRows = 4;
/// Vectors of a tile's row.
inline constexpr int64_t kTileVectors = kTileKeys / kLanes;

/// What the two attention ops say.
struct AttentionOperands {
  mlir::Operation *op;
  mlir::Value query, key, value;
  mlir::Value queryScale, keyScale, valueScale, mask, means, lengths, blocks;
  double scale;
  Causality causal;
  /// Null without.
  WindowAttr window;
  Layout layout;
  /// None: exact attention, probabilities in FP32.
  std::optional<SoftmaxCast> cast;
  mlir::Type resultElement;
  bool wantsLse;

  mlir::Type elementOf(mlir::Value tensor) const {
    return mlir::cast<mlir::ShapedType>(tensor.getType()).getElementType();
  }
  bool hasIntegerScores() const { return elementOf(query).isInteger(8); }
  /// How many keys before and after its own position a query sees; -1: any.
  int64_t left() const { return window ? window.getLeft() : -1; }
  int64_t right() const {
    if (causal != Causality::None)
      return 0;
    return window ? window.getRight() : -1;
  }
  /// Values that may be infinite or NaN where no query looks.
  bool hasFloatValues() const { return !valueScale; }
};

/// Sizes as values, and the operands as the loops read them.
struct AttentionTiles {
  TokenSizes q, k;
  int64_t valueDim;
  /// `valueDim` rounded up to whole vectors.
  int64_t paddedDim;
  /// Query heads per key head; key tiles.
  mlir::Value group, tiles;
  /// [B, Hkv, tiles, D, 64] and [B, Hkv, tiles, 64, paddedDim], FP32, zeros
  /// past the last key (values) or its copies (keys).
  mlir::Value keys, values;
  /// [B, Hkv, tiles]: whether a tile's values are all finite; null if they are
  /// by construction.
  mlir::Value finite;
  /// [B, Hkv, blocks, paddedDim]; null without means.
  mlir::Value means;
};

/// The block of keys that a tile lies in.
inline mlir::Value blockOfTile(LoopBuilder &b, mlir::Value tile) {
  static_assert(kBlockTokens % kTileKeys == 0);
  return b.createOrFold<mlir::arith::DivUIOp>(
      tile, b.index(kBlockTokens / kTileKeys));
}

/// Emits the loops that decode keys, values and means.
AttentionTiles packTiles(LoopBuilder &b, const AttentionOperands &p);

/// Where the softmax works: one query row, one tile.
struct TileRow {
  mlir::Value batch, head, keyHead, query, tile;
  /// Keys of the tile from the one to before the other are seen; null where
  /// that is no limit.
  mlir::Value start, end;
};

/// What the softmax makes of a row of scores.
struct CastRow {
  /// Probabilities; keys that are not seen have -0.
  llvm::SmallVector<mlir::Value> probabilities;
  mlir::Value maximum, factor, sum;
};

/// Emits the softmax of one row: `scores` are kTileVectors vectors, `maximum`
/// the row's reference maximum so far.
CastRow emitSoftmaxRow(LoopBuilder &b, const AttentionOperands &p,
                       const AttentionTiles &t, const TileRow &row,
                       mlir::ArrayRef<mlir::Value> scores, mlir::Value maximum);

/// The log-sum-exp of a row from its maximum and its denominator.
mlir::Value emitLse(LoopBuilder &b, const AttentionOperands &p,
                    mlir::Value maximum, mlir::Value denominator);

/// Emits tile products: scores [32, 64] = queries [32, D] * keys [D, 64], for
/// `groups` register blocks of rows.
mlir::Value emitScores(LoopBuilder &b, mlir::Value queries, mlir::Value keys,
                       mlir::Value scores, mlir::Value groups);

/// accumulator [32, Dv] = accumulator * factor + probabilities [32, 64] *
/// values [64, Dv] + sum * means [Dv], row by row. With `skipUnseen` a
/// probability of -0 does not even meet its value.
mlir::Value emitValues(LoopBuilder &b, mlir::Value probabilities,
                       mlir::Value values, mlir::Value means,
                       mlir::Value factors, mlir::Value sums,
                       mlir::Value accumulator, mlir::Value groups,
                       bool skipUnseen);

} // namespace vcattn

#endif // VCATTN_CONVERSION_VCATTNTOLOOPS_ATTENTIONLOOPS_H
