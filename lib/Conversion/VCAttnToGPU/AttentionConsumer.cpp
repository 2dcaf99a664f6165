//===- AttentionConsumer.cpp - The threads that compute -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A consumer takes its rows of a query tile through all key tiles. In step j
// the product of tile j's scores runs together with that of tile j - 1's
// values; while the values' is still running, tile j's scores are cast. An
// accumulator that leaves no registers for that settles first
// (castsUnderValues); means are then restored at once.
//
// Every 8 tiles the row sums leave the accumulator, and the means of those
// tiles are restored along with the next step's values; every `promotion` tiles
// the accumulator is added to its FP32 copy. Both sit between inner loops of up
// to 8 steps, whose body has no branch but the one for a raised maximum. Only
// the first and the last tile are masked, outside the loops.
//
//===----------------------------------------------------------------------===//

#include "ConsumerBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace vcattn;

//===----------------------------------------------------------------------===//
// Row sums and means
//===----------------------------------------------------------------------===//

RowState
ConsumerBuilder::runIf(TileBuilder &b, Value condition, RowState state,
                       function_ref<RowState(TileBuilder &, RowState)> then) {
  auto branch = scf::IfOp::create(
      b, condition,
      [&](OpBuilder &nested, Location loc) {
        TileBuilder b(loc, nested);
        scf::YieldOp::create(b, then(b, state).values());
      },
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, state.values());
      });
  return RowState::get(branch.getResults());
}

RowState ConsumerBuilder::restore(TileBuilder &b, RowState state, Value sums,
                                  Value group, Value isReleased) {
  Value accumulator = startMeans(b, state.accumulator, sums, group);
  MmaCommitOp::create(b);
  state.accumulator = settle(b, accumulator, 0);
  ReleaseOp::create(b, p.means, meanUse(b, group), isReleased);
  return state;
}

Value ConsumerBuilder::takeRowSums(TileBuilder &b, RowState &state) {
  auto take = TakeRowSumsOp::create(b, accumulatorType, rowsType, rowSumsType,
                                    state.accumulator, state.sum);
  state.accumulator = take.getRest();
  state.sum = take.getNewSum();
  return take.getRowSums();
}

RowState ConsumerBuilder::takeAndRestore(TileBuilder &b, RowState state,
                                         Value group, Value isReleased) {
  Value sums = takeRowSums(b, state);
  return restore(b, state, sums, group, isReleased);
}

RowState ConsumerBuilder::promoteIf(TileBuilder &b, Value isDue,
                                    RowState state) {
  return runIf(b, isDue, state, [&](TileBuilder &b, RowState state) {
    state.accumulator =
        PromoteOp::create(b, state.accumulator, totals, state.promoted);
    state.promoted = fill(b, rowsType, 1);
    return state;
  });
}

SmallVector<Value> ConsumerBuilder::closeGroup(TileBuilder &b, RowState state,
                                               Value done) {
  Value sums = takeRowSums(b, state);
  Value isDue =
      b.compare(arith::CmpIPredicate::eq,
                b.rem(done, config.schedule.getPromotion()), b.i32(0));
  state = promoteIf(b, isDue, state);
  if (!isUnderValues) {
    Value group = b.sub(b.div(done, kGroupTiles), b.i32(1));
    state = restore(b, state, sums, group, isUpper(b, group));
    sums = fill(b, rowSumsType, 0);
  }
  SmallVector<Value> values = state.values();
  values.push_back(sums);
  return values;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::pair<RowState, Value>
ConsumerBuilder::groups(TileBuilder &b, RowState state, Value from, Value to) {
  SmallVector<Value> init = state.values();
  init.push_back(fill(b, rowSumsType, 0));
  Value size = b.i32(kGroupTiles), one = b.i32(1);
  bool isLimited = config.limits.any();
  // A group's steps start with that which multiplies its first values. With
  // limits, `from` may be in the middle of them.
  Value begin = from, firstGroup;
  if (isLimited) {
    firstGroup = b.div(b.sub(from, one), kGroupTiles);
    begin = b.add(b.mul(firstGroup, size), one);
    Value isEmpty = b.compare(arith::CmpIPredicate::sge, from, to);
    begin = b.select(isEmpty, to, begin);
  }
  auto loop = scf::ForOp::create(
      b, begin, to, size, init,
      [&](OpBuilder &nested, Location loc, Value start, ValueRange values) {
        TileBuilder b(loc, nested);
        // The means to be restored are those of the group before, or none:
        // zeros.
        Value group = b.div(start, kGroupTiles), firstTile = start;
        StepOptions options;
        if (isUnderValues)
          options.sums = values.back();
        options.group =
            b.max(b.sub(group, b.i32(1)), isLimited ? firstGroup : b.i32(0));
        if (isLimited) {
          options.isRestored =
              b.compare(arith::CmpIPredicate::sgt, group, firstGroup);
          firstTile = b.max(start, from);
        }
        RowState state = step(b, RowState::get(values), firstTile, options);
        Value next = b.add(start, size), end = b.min(next, to);
        auto steps = scf::ForOp::create(
            b, b.add(firstTile, b.i32(1)), end, b.i32(1), state.values(),
            [&](OpBuilder &nested, Location loc, Value tile,
                ValueRange values) {
              TileBuilder b(loc, nested);
              RowState state = step(b, RowState::get(values), tile, {});
              scf::YieldOp::create(b, state.values());
            });
        state = RowState::get(steps.getResults());

        Value isFull = b.compare(arith::CmpIPredicate::eq, end, next);
        auto closed = scf::IfOp::create(
            b, isFull,
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              Value done = b.sub(next, b.i32(1));
              scf::YieldOp::create(b, closeGroup(b, state, done));
            },
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              SmallVector<Value> values = state.values();
              values.push_back(fill(b, rowSumsType, 0));
              scf::YieldOp::create(b, values);
            });
        scf::YieldOp::create(b, closed.getResults());
      });
  return {RowState::get(loop.getResults()), loop.getResults().back()};
}

RowState ConsumerBuilder::wholeGroups(TileBuilder &b, RowState state,
                                      Value from, Value to) {
  Value sums;
  std::tie(state, sums) = groups(b, state, from, to);
  if (!isUnderValues)
    return state;
  // A group that ended with the last of these steps has its means pending.
  Value lastStep = b.sub(to, b.i32(1));
  Value isPending = endsGroup(b, lastStep);
  if (config.limits.any())
    isPending = arith::AndIOp::create(
        b, isPending, b.compare(arith::CmpIPredicate::slt, from, to));
  return runIf(b, isPending, state, [&](TileBuilder &b, RowState state) {
    Value group = b.sub(b.div(lastStep, kGroupTiles), b.i32(1));
    return restore(b, state, sums, group, isUpper(b, group));
  });
}

Value ConsumerBuilder::endsGroup(TileBuilder &b, Value tile) {
  Value aligned =
      b.compare(arith::CmpIPredicate::eq, b.rem(tile, kGroupTiles), b.i32(0));
  return arith::AndIOp::create(b, aligned, isPositive(b, tile));
}

Value ConsumerBuilder::isPositive(TileBuilder &b, Value x) {
  return b.compare(arith::CmpIPredicate::sgt, x, b.i32(0));
}

RowState ConsumerBuilder::allTiles(TileBuilder &b) {
  RowState state = first(b, b.i32(0));
  state = wholeGroups(b, state, b.i32(1), last);
  state =
      runIf(b, isPositive(b, last), state, [&](TileBuilder &b, RowState state) {
        Value done = b.mul(last, b.i32(config.schedule.getTileK()));
        StepOptions options;
        options.valid = b.sub(b.toI32(item.keys), done);
        return step(b, state, last, options);
      });
  return runIf(b, endsGroup(b, last), state,
               [&](TileBuilder &b, RowState state) {
                 Value group = b.sub(b.div(last, kGroupTiles), b.i32(1));
                 return takeAndRestore(b, state, group, isUpper(b, group));
               });
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

SmallVector<Value> ConsumerBuilder::build(TileBuilder &b, const WorkItem &work,
                                          ValueRange uses) {
  const KernelArguments &a = context.arguments;
  item = work;
  firstUse = uses[1];
  firstMeanUse = uses[2];
  bool isLimited = config.limits.any();
  if (!isLimited)
    last = b.sub(item.tiles, b.i32(1));
  int64_t rows = rowsType.getRows();
  auto getFirstRow = [&](const WorkItem &item) {
    return b.add(item.query, b.toIndex(b.mul(consumer, b.i32(rows))));
  };
  firstRow = getFirstRow(item);
  rowScales = LoadRowsOp::create(b, rowsType, a.queryScale, item.batch,
                                 item.head, firstRow, a.factor);
  // Each consumer has a stage of its own.
  Value queryUse =
      b.add(b.mul(uses[0], b.i32(config.schedule.getConsumers())), consumer);
  queries = wait(b, p.queries, queryUse);
  ClearTotalOp::create(b, totals, getValueChannels(config.valueDim));

  RowState state = isLimited ? limitedTiles(b) : allTiles(b);
  // No score is left to compute: the next queries, and the keys and values that
  // follow them, arrive while this item is finished.
  ReleaseOp::create(b, p.queries, queryUse, Value());

  // The last values, row sums and means.
  state.accumulator =
      settle(b, startValues(b, state.accumulator, state, last), 0);
  ReleaseOp::create(b, p.values, use(b, last), Value());
  state = takeAndRestore(b, state, b.div(last, kGroupTiles), Value());

  Value result = MergeOp::create(b, state.accumulator, totals, state.promoted);
  // Computed again, not held through all tiles.
  item = context.getWorkItem(b, RecomputeOp::create(b, item.number));
  NormalizeAndStoreOp::create(b, result, state.sum, state.maximum, a.valueScale,
                              a.out, a.lse, item.outBatch, item.head,
                              item.batch, item.keyHead, getFirstRow(item),
                              /*masked=*/isLimited, config.cast, config.layout);
  Value nextQuery = b.add(uses[0], b.i32(1));
  if (isLimited)
    return {nextQuery, b.add(use(b, last), b.i32(1)),
            b.add(meanUse(b, b.div(last, kGroupTiles)), b.i32(1))};
  return {nextQuery, b.add(uses[1], item.tiles),
          b.add(uses[2], getMeanTiles(b, item))};
}

void vcattn::buildConsumer(TileBuilder &b, const KernelContext &context,
                           Value consumer) {
  if (context.config.schedule.getPingPong()) {
    Value isSecond = b.compare(arith::CmpIPredicate::eq, consumer, b.i32(1));
    scf::IfOp::create(b, isSecond, [&](OpBuilder &nested, Location loc) {
      PassTurnOp::create(nested, loc, consumer);
      scf::YieldOp::create(nested, loc);
    });
  }
  ConsumerBuilder builder(b, context, consumer);
  context.forEachWorkItem(
      b, 3, [&](TileBuilder &b, const WorkItem &item, ValueRange uses) {
        return builder.build(b, item, uses);
      });
}
