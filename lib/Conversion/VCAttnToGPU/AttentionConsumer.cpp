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
// values; while the values' is still running, tile j's scores are cast.
//
// Every 8 blocks of keys the row sums leave the accumulator and the means of
// those blocks are restored; every `promotion` tiles the accumulator is added
// to its FP32 copy. Both sit at the ends of rounds of steps, whose stages of
// the pipelines are constants; a step has no branch but the one for a raised
// maximum. Only the first and the last tiles are masked, outside the rounds.
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

RowState ConsumerBuilder::closeGroupIf(TileBuilder &b, RowState state,
                                       Value done) {
  Value isDue =
      b.compare(arith::CmpIPredicate::eq, b.rem(done, kGroupTiles), b.i32(0));
  return runIf(b, isDue, state, [&](TileBuilder &b, RowState state) {
    Value group = b.sub(b.div(done, kGroupTiles), b.i32(1));
    state = takeAndRestore(b, state, group, isUpper(b, group));
    Value isPromoted =
        b.compare(arith::CmpIPredicate::eq,
                  b.rem(done, config.schedule.getPromotion()), b.i32(0));
    return promoteIf(b, isPromoted, state);
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::pair<Value, Value> ConsumerBuilder::getWholeRounds(TileBuilder &b,
                                                        Value from, Value to) {
  Value begin = b.div(b.add(from, b.i32(kRoundTiles - 2)), kRoundTiles);
  Value end = b.div(b.max(b.sub(to, b.i32(1)), b.i32(0)), kRoundTiles);
  return {begin, b.max(end, begin)};
}

RowState ConsumerBuilder::wholeRounds(TileBuilder &b, RowState state,
                                      Value begin, Value end) {
  auto loop = scf::ForOp::create(
      b, begin, end, b.i32(1), state.values(),
      [&](OpBuilder &nested, Location loc, Value round, ValueRange values) {
        TileBuilder b(loc, nested);
        RowState state = RowState::get(values);
        Value size = b.i32(kRoundTiles), start = b.mul(round, size);
        // Multiplied last, so that stages are seen to be constants. A window's
        // first tile may be in the middle of a round.
        Value startUse = config.limits.left >= 0
                             ? use(b, start)
                             : b.mul(b.add(firstRound, round), size);
        for (int64_t i = 1; i <= kRoundTiles; ++i)
          state = step(b, state, b.add(start, b.i32(i)),
                       b.add(startUse, b.i32(i)), {});
        state = closeGroupIf(b, state, b.add(start, size));
        scf::YieldOp::create(b, state.values());
      });
  return RowState::get(loop.getResults());
}

Value ConsumerBuilder::isPositive(TileBuilder &b, Value x) {
  return b.compare(arith::CmpIPredicate::sgt, x, b.i32(0));
}

RowState ConsumerBuilder::allTiles(TileBuilder &b) {
  RowState state = first(b, b.i32(0));
  auto [begin, end] = getWholeRounds(b, b.i32(1), last);
  state = wholeRounds(b, state, begin, end);
  Value next = b.add(b.mul(end, b.i32(kRoundTiles)), b.i32(1));
  auto rest = scf::ForOp::create(
      b, next, b.add(last, b.i32(1)), b.i32(1), state.values(),
      [&](OpBuilder &nested, Location loc, Value tile, ValueRange values) {
        TileBuilder b(loc, nested);
        StepOptions options;
        Value done = b.mul(tile, b.i32(kTileKeys));
        options.valid = b.sub(b.toI32(item.keys), done);
        RowState state =
            step(b, RowState::get(values), tile, use(b, tile), options);
        scf::YieldOp::create(b, state.values());
      });
  state = RowState::get(rest.getResults());
  return runIf(b, isPositive(b, last), state,
               [&](TileBuilder &b, RowState state) {
                 return closeGroupIf(b, state, last);
               });
}

void ConsumerBuilder::releaseRest(TileBuilder &b, Value from, Value to) {
  scf::ForOp::create(
      b, from, to, b.i32(1), ValueRange(),
      [&](OpBuilder &nested, Location loc, Value use, ValueRange) {
        TileBuilder b(loc, nested);
        for (Value pipeline : {p.keys, p.values}) {
          wait(b, pipeline, use);
          ReleaseOp::create(b, pipeline, use, Value());
        }
        scf::YieldOp::create(b);
      });
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

SmallVector<Value> ConsumerBuilder::build(TileBuilder &b, const WorkItem &work,
                                          ValueRange uses) {
  const KernelArguments &a = context.arguments;
  item = work;
  firstRound = uses[1];
  firstUse = b.mul(firstRound, b.i32(kRoundTiles));
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
  state.accumulator = settle(
      b,
      startValues(b, state.accumulator, state, wait(b, p.values, use(b, last))),
      0);
  ReleaseOp::create(b, p.values, use(b, last), Value());
  Value end = b.add(use(b, last), b.i32(1));
  Value rounds = getRounds(b, end);
  releaseRest(b, end, b.mul(rounds, b.i32(kRoundTiles)));
  state = takeAndRestore(b, state, b.div(last, kGroupTiles), Value());

  Value result = MergeOp::create(b, state.accumulator, totals, state.promoted);
  // Computed again, not held through all tiles.
  item = context.getWorkItem(b, RecomputeOp::create(b, item.number));
  NormalizeAndStoreOp::create(b, result, state.sum, state.maximum, a.valueScale,
                              a.out, a.lse, item.outBatch, item.head,
                              item.batch, item.keyHead, getFirstRow(item),
                              /*masked=*/isLimited, config.cast, config.layout);
  Value means = isLimited
                    ? b.add(meanUse(b, b.div(last, kGroupTiles)), b.i32(1))
                    : b.add(uses[2], context.getMeanUses(b, item));
  return {b.add(uses[0], b.i32(1)), rounds, means};
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
