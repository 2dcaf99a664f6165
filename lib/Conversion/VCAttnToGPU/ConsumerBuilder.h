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

  mlir::Value wait(TileBuilder &b, mlir::Value pipeline, mlir::Value use,
                   mlir::Value full = {});
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
  mlir::Value startScores(TileBuilder &b, mlir::Value keys);
  mlir::Value startValues(TileBuilder &b, mlir::Value accumulator,
                          const RowState &state, mlir::Value values);
  /// Restores the means of the 8 blocks of keys of `group`.
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
  mlir::Value pack(TileBuilder &b, CastScoresOp cast);
  /// Raises the maxima of rows that overflow, waits for the `running` product,
  /// if there is one, to rescale what was accumulated, and casts again.
  RowState raise(TileBuilder &b, const Scores &x, RowState state,
                 mlir::Value running);
  /// Casts while `accumulator` is in flight; if rows overflow, raises their
  /// maxima and rescales what was accumulated.
  RowState castTile(TileBuilder &b, const Scores &x, RowState state,
                    mlir::Value accumulator);

  // Steps.
  /// The first tile, before any values can be multiplied.
  RowState first(TileBuilder &b, mlir::Value tile);
  /// What one step does besides its tile.
  struct StepOptions {
    /// Only so many keys of the tile count; null if all do.
    mlir::Value valid;
    /// Whether rows differ in the keys that they see.
    bool isLimited = false;
  };
  /// The tile is `use` of the pipelines.
  RowState step(TileBuilder &b, RowState state, mlir::Value tile,
                mlir::Value use, const StepOptions &options);

  // Between steps.
  /// The rounds whose steps are all from tile `from` to before `to`: the first
  /// one, and the one after the last. Round r has the steps of tiles 1 to
  /// kRoundTiles after r * kRoundTiles.
  std::pair<mlir::Value, mlir::Value>
  getWholeRounds(TileBuilder &b, mlir::Value from, mlir::Value to);
  /// The steps of rounds of which every query sees every key.
  RowState wholeRounds(TileBuilder &b, RowState state, mlir::Value begin,
                       mlir::Value end);
  mlir::Value isPositive(TileBuilder &b, mlir::Value x);
  /// The steps of a work item without limits, from the first to the last.
  RowState allTiles(TileBuilder &b);
  /// If the values of `done` tiles are whole groups: takes the last one's row
  /// sums out, restores its means, and promotes if that is due.
  RowState closeGroupIf(TileBuilder &b, RowState state, mlir::Value done);
  /// Lets go of uses of keys and values that hold no tile.
  void releaseRest(TileBuilder &b, mlir::Value from, mlir::Value to);
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
  FragmentType scoresType, levelsType, probabilitiesType, accumulatorType,
      rowsType, maximaType, multipliersType, rowSumsType;

  // Of the current work item.
  WorkItem item;
  mlir::Value queries, rowScales, firstRow, firstRound, firstUse, firstMeanUse;
  /// Number of the last tile.
  mlir::Value last;
  // In a kernel with limits: the item's tiles and the last step's one.
  KeyRange range;
  mlir::Value before;
};

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_VCATTNTOGPU_CONSUMERBUILDER_H
