//===- ConsumerBuilder.h - What a consumer is built from --------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps are in AttentionSteps.cpp, the loops around them and what happens
// between in AttentionConsumer.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_VCATTNTOGPU_CONSUMERBUILDER_H
#define VCATTN_LIB_CONVERSION_VCATTNTOGPU_CONSUMERBUILDER_H

#include "AttentionKernel.h"
#include "vcattn/Target/Schedules.h"

namespace vcattn {

/// Tiles whose row sums the accumulator holds side by side.
inline constexpr int64_t kGroupTiles = kRowSumColumns;

/// What rows carry from tile to tile.
struct RowState {
  mlir::Value accumulator;
  /// Probabilities of the last tile, whose values are yet to be multiplied.
  mlir::Value probabilities;
  mlir::Value maximum;
  /// Denominators, and what brings the FP32 copy to the current maximum.
  mlir::Value sum, promoted;

  static RowState get(mlir::ValueRange v) {
    return {v[0], v[1], v[2], v[3], v[4]};
  }
  llvm::SmallVector<mlir::Value> values() const {
    return {accumulator, probabilities, maximum, sum, promoted};
  }
};

/// Builds the code of a consumer.
class ConsumerBuilder {
public:
  ConsumerBuilder(TileBuilder &b, const KernelContext &context,
                  mlir::Value consumer);

  /// Computes `work`; `uses` are this role's counters of the pipelines of
  /// queries, of keys and values, and of means.
  void build(TileBuilder &b, const WorkItem &work, mlir::ValueRange uses);

private:
  /// The scores of a tile with what it takes to cast them.
  struct Scores {
    mlir::Value scores, multipliers;
    /// Keys of the tile that count; null if all do.
    mlir::Value valid;
  };

  mlir::Value wait(TileBuilder &b, mlir::Value pipeline, mlir::Value use);
  /// Use of the pipelines of keys and values that `tile` is.
  mlir::Value use(TileBuilder &b, mlir::Value tile) {
    return b.add(firstUse, tile);
  }
  /// The stage of means, of two groups, that `group` is in, and which half.
  mlir::Value meanUse(TileBuilder &b, mlir::Value group) {
    return b.add(firstMeanUse, b.div(group, 2));
  }
  mlir::Value isUpper(TileBuilder &b, mlir::Value group);
  mlir::Value fill(TileBuilder &b, FragmentType type, float value);

  // Products.
  mlir::Value startScores(TileBuilder &b, mlir::Value tile);
  mlir::Value startValues(TileBuilder &b, mlir::Value accumulator,
                          const RowState &state, mlir::Value tile);
  /// Restores the means of the 8 tiles of `group`.
  mlir::Value startMeans(TileBuilder &b, mlir::Value accumulator,
                         mlir::Value sums, mlir::Value group);
  mlir::Value settle(TileBuilder &b, mlir::Value running, int64_t outstanding);

  // Softmax.
  mlir::Value loadMultipliers(TileBuilder &b, mlir::Value tile);
  ExpCastOp expcast(TileBuilder &b, const Scores &x, mlir::Value maximum,
                    bool saturate = false);
  /// Raises the maxima of rows whose codes overflow and casts again; returns
  /// the factor of what was accumulated so far.
  mlir::Value raise(TileBuilder &b, const Scores &x, mlir::Value &maximum,
                    mlir::Value &codes);
  /// The same with everything that `state` has, if any row of the warp needs
  /// it; the codes become the state's probabilities.
  RowState raiseIfNeeded(TileBuilder &b, const Scores &x, RowState state,
                         ExpCastOp cast);
  mlir::Value pack(TileBuilder &b, mlir::Value codes);

  // Steps.
  /// The first tile, before any values can be multiplied.
  RowState first(TileBuilder &b);
  /// One step. With `sums`, the means of `group` are restored in it; with
  /// `valid`, only so many keys of the tile count.
  RowState step(TileBuilder &b, RowState state, mlir::Value tile,
                mlir::Value sums, mlir::Value group, mlir::Value valid);

  // Between steps.
  /// The steps between the first and the last tile, in groups of 8. Row sums
  /// whose means are still to be restored, or zeros, come second.
  std::pair<RowState, mlir::Value> groups(TileBuilder &b, RowState state);
  /// Takes the row sums of a full group out, and promotes if that is due after
  /// `done` tiles. Returns the state's values and the row sums.
  llvm::SmallVector<mlir::Value> closeGroup(TileBuilder &b, RowState state,
                                            mlir::Value done);
  /// Takes row sums out of the accumulator.
  mlir::Value takeRowSums(TileBuilder &b, RowState &state);
  /// Restores the means of `group` on the spot.
  RowState restore(TileBuilder &b, RowState state, mlir::Value sums,
                   mlir::Value group, mlir::Value isReleased);
  /// Takes the row sums of `group` out and restores its means.
  RowState takeAndRestore(TileBuilder &b, RowState state, mlir::Value group,
                          mlir::Value isReleased);
  /// `then(state)` if `condition`, else `state`.
  RowState runIf(TileBuilder &b, mlir::Value condition, RowState state,
                 llvm::function_ref<RowState(TileBuilder &, RowState)> then);

  const KernelContext &context;
  const KernelConfig &config;
  const KernelPipelines &p;
  mlir::Value consumer, totals;
  FragmentType scoresType, codesType, probabilitiesType, accumulatorType,
      rowsType, multipliersType, rowSumsType;

  // Of the current work item.
  WorkItem item;
  mlir::Value queries, rowScales, firstUse, firstMeanUse;
  /// Number of the last tile.
  mlir::Value last;
};

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_VCATTNTOGPU_CONSUMERBUILDER_H
