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
  /// queries, of keys and values, and of means. Returns the next work item's.
  llvm::SmallVector<mlir::Value> build(TileBuilder &b, const WorkItem &work,
                                       mlir::ValueRange uses);

private:
  /// The scores of a tile with what it takes to cast them.
  struct Scores {
    mlir::Value scores, multipliers;
    /// Keys of the tile that count; null if all do.
    mlir::Value valid;
    /// Which keys each row sees, and what a mask adds; null if all, and
    /// nothing.
    mlir::Value keep, added;
    mlir::Value tile;
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

  // Masks (AttentionLimits.cpp).
  /// Which keys of `x`'s tile rows see.
  void limit(TileBuilder &b, Scores &x);
  /// Steps over the tiles from `from` to before `to`, any of which may have
  /// keys that are not seen.
  RowState limitedSteps(TileBuilder &b, RowState state, mlir::Value from,
                        mlir::Value to);
  /// One of them, and what is due after it, `before` being the step before.
  RowState limitedStep(TileBuilder &b, RowState state, mlir::Value tile);
  /// The steps of a work item with limits, from the first to the last.
  RowState limitedTiles(TileBuilder &b);

  // Softmax.
  mlir::Value loadMultipliers(TileBuilder &b, mlir::Value tile);
  CastScoresOp castScores(TileBuilder &b, const Scores &x, mlir::Value maximum,
                          bool saturate = false);
  /// Makes probabilities of the levels that `state` has in their place.
  RowState pack(TileBuilder &b, RowState state);
  /// Raises the maxima of rows that overflow and casts again; returns the
  /// factor of what was accumulated so far.
  mlir::Value raise(TileBuilder &b, const Scores &x, RowState &state);
  /// The same with everything that `state` has, and packs, if `overflow`; if
  /// not, does what `otherwise` does.
  RowState
  raiseIf(TileBuilder &b, mlir::Value overflow, const Scores &x, RowState state,
          llvm::function_ref<RowState(TileBuilder &, RowState)> otherwise);
  /// Casts while `accumulator` is in flight, or once it has settled, which
  /// takes fewer registers.
  RowState castTile(TileBuilder &b, const Scores &x, RowState state,
                    mlir::Value accumulator);

  // Steps.
  /// The first tile, before any values can be multiplied.
  RowState first(TileBuilder &b, mlir::Value tile);
  /// What one step does besides its tile.
  struct StepOptions {
    /// Row sums with which the means of `group` are restored; they may be zeros
    /// that stand for none, unless `isRestored`, null if they never are.
    mlir::Value sums, group, isRestored;
    /// Only so many keys of the tile count; null if all do.
    mlir::Value valid;
    /// Whether rows differ in the keys that they see.
    bool isLimited = false;
  };
  RowState step(TileBuilder &b, RowState state, mlir::Value tile,
                const StepOptions &options);

  // Between steps.
  /// The steps from tile `from` to before `to`, in groups of 8, of which the
  /// first and last may be parts. Row sums whose means are still to be
  /// restored, or zeros, come second.
  std::pair<RowState, mlir::Value> groups(TileBuilder &b, RowState state,
                                          mlir::Value from, mlir::Value to);
  /// The same, and the means restored.
  RowState wholeGroups(TileBuilder &b, RowState state, mlir::Value from,
                       mlir::Value to);
  /// Whether the step of `tile` is the one after which a group is complete.
  mlir::Value endsGroup(TileBuilder &b, mlir::Value tile);
  mlir::Value isPositive(TileBuilder &b, mlir::Value x);
  /// The steps of a work item without limits, from the first to the last.
  RowState allTiles(TileBuilder &b);
  /// Takes the row sums of a full group out, and promotes if that is due after
  /// `done` tiles. Returns the state's values and the row sums.
  llvm::SmallVector<mlir::Value> closeGroup(TileBuilder &b, RowState state,
                                            mlir::Value done);
  /// Promotes if `isDue`.
  RowState promoteIf(TileBuilder &b, mlir::Value isDue, RowState state);
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
  /// Whether scores are cast while the product with values runs.
  bool isUnderValues;
  FragmentType scoresType, levelsType, probabilitiesType, accumulatorType,
      rowsType, multipliersType, rowSumsType;

  // Of the current work item.
  WorkItem item;
  mlir::Value queries, rowScales, firstRow, firstUse, firstMeanUse;
  /// Number of the last tile.
  mlir::Value last;
  // In a kernel with limits: the item's tiles and the last step's one.
  KeyRange range;
  mlir::Value before;
};

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_VCATTNTOGPU_CONSUMERBUILDER_H
