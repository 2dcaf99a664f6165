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
// Every 8 tiles the row sums leave the accumulator, and the means of those
// tiles are restored along with the next step's values; every `promotion` tiles
// the accumulator is added to its FP32 copy. Both sit between inner loops of up
// to 8 steps, whose body has no branch but the one for a raised maximum. Only
// the first and the last tile are masked, outside the loops.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

/// Tiles whose row sums the accumulator holds side by side.
static constexpr int64_t kGroupTiles = kRowSumColumns;

namespace {
/// What a row carries from tile to tile.
struct State {
  Value accumulator;
  /// Probabilities of the last tile, whose values are yet to be multiplied.
  Value probabilities;
  Value maximum;
  /// Denominators, and what brings the FP32 copy to the current maximum.
  Value sum, promoted;

  static State get(ValueRange v) { return {v[0], v[1], v[2], v[3], v[4]}; }
  SmallVector<Value> values() const {
    return {accumulator, probabilities, maximum, sum, promoted};
  }
};

/// Builds the code of one work item.
class ConsumerBuilder {
public:
  ConsumerBuilder(TileBuilder &b, const KernelContext &context, Value consumer)
      : context(context), config(context.config), p(context.pipelines),
        consumer(consumer) {
    MLIRContext *ctx = b.getContext();
    int64_t rows = config.schedule.getTileQ() / config.schedule.getConsumers();
    int64_t keys = config.schedule.getTileK();
    auto fragment = [&](ArrayRef<int64_t> shape, Type element,
                        FragmentRole role) {
      return FragmentType::get(ctx, shape, element, role);
    };
    Type f32 = b.getF32Type();
    Type score = config.code.isInteger(8) ? Type(b.getI32Type()) : f32;
    scoresType = fragment({rows, keys}, score, FragmentRole::Scores);
    codesType = fragment({rows, keys}, b.getI16Type(), FragmentRole::Codes);
    probabilitiesType = fragment({rows, keys}, b.getType<Float8E4M3FNType>(),
                                 FragmentRole::Probabilities);
    accumulatorType = fragment({rows, config.valueDim + kRowSumColumns}, f32,
                               FragmentRole::Accumulator);
    rowsType = fragment({rows}, f32, FragmentRole::Rows);
    multipliersType = fragment({rows, 4}, f32, FragmentRole::Multipliers);
    rowSumsType =
        fragment({rows, kRowSumColumns}, b.getF16Type(), FragmentRole::RowSums);
    totals =
        TileRowsOp::create(b, TileType::get(ctx, {rows, config.valueDim}, f32),
                           p.totals, consumer);
  }

  /// Computes `item`; `uses` are this role's counters of the pipelines of
  /// queries, of keys and values, and of means.
  void build(TileBuilder &b, const WorkItem &item, ValueRange uses);

private:
  TileType tileOf(Value pipeline) const {
    return cast<PipelineType>(pipeline.getType()).getTile();
  }
  Value wait(TileBuilder &b, Value pipeline, Value use) {
    return WaitTileOp::create(b, tileOf(pipeline), pipeline, use);
  }
  Value use(TileBuilder &b, Value tile) { return b.add(firstUse, tile); }
  Value fill(TileBuilder &b, FragmentType type, double value) {
    return FillOp::create(b, type, APFloat(static_cast<float>(value)));
  }
  Value settle(TileBuilder &b, Value running, int64_t outstanding) {
    return MmaWaitOp::create(
        b, cast<InFlightType>(running.getType()).getFragment(), running,
        outstanding);
  }
  InFlightType running(FragmentType type) {
    return InFlightType::get(type.getContext(), type);
  }

  /// Starts the product of queries and keys of a tile.
  Value startScores(TileBuilder &b, Value tile);
  /// Starts accumulating a tile's values.
  Value startValues(TileBuilder &b, Value accumulator, const State &state,
                    Value tile);
  /// Starts restoring the means of the 8 tiles of `group`.
  Value startMeans(TileBuilder &b, Value accumulator, Value sums, Value group);
  /// The 16-tile stage of means that `group` is in, released after its upper
  /// half.
  Value meanUse(TileBuilder &b, Value group) {
    return b.add(firstMeanUse, b.div(group, 2));
  }
  Value isUpper(TileBuilder &b, Value group) {
    return b.compare(arith::CmpIPredicate::eq, b.rem(group, 2), b.i32(1));
  }

  /// The scores of a tile with what it takes to cast them.
  struct Scores {
    Value scores, multipliers;
    /// Keys of the tile that count; null if all do.
    Value valid;
  };
  Value loadMultipliers(TileBuilder &b, Value tile);
  ExpCastOp expcast(TileBuilder &b, const Scores &x, Value maximum) {
    return ExpCastOp::create(b, codesType, b.getI1Type(), x.scores,
                             x.multipliers, maximum, x.valid);
  }
  /// Raises the maxima of rows whose codes overflow and casts again; returns
  /// the factor of what was accumulated so far, and sets `codes`.
  Value raise(TileBuilder &b, const Scores &x, Value &maximum, Value &codes);
  /// The same with everything that `state` has, if any row of the warp needs
  /// it; the codes become the state's probabilities.
  State raiseIfNeeded(TileBuilder &b, const Scores &x, State state,
                      ExpCastOp cast);
  Value pack(TileBuilder &b, Value codes) {
    return PackProbabilitiesOp::create(b, probabilitiesType, codes);
  }

  /// The first tile, before any values can be multiplied.
  State first(TileBuilder &b);
  /// One step. With `sums`, the means of `group` are restored in it; with
  /// `valid`, only so many keys of the tile count.
  State step(TileBuilder &b, State state, Value tile, Value sums, Value group,
             Value valid);
  /// The steps between the first and the last tile, in groups of 8. Row sums
  /// whose means are still to be restored, or zeros, come second.
  std::pair<State, Value> groups(TileBuilder &b, State state);
  /// Restores the means of `group` on the spot.
  State restore(TileBuilder &b, State state, Value sums, Value group,
                Value isReleased);
  /// Takes the row sums of `group` out and restores its means.
  State takeAndRestore(TileBuilder &b, State state, Value group,
                       Value isReleased);
  /// `then(state)` if `condition`, else `state`.
  State runIf(TileBuilder &b, Value condition, State state,
              function_ref<State(TileBuilder &, State)> then);

  const KernelContext &context;
  const KernelConfig &config;
  const KernelPipelines &p;
  Value consumer, totals;
  FragmentType scoresType, codesType, probabilitiesType, accumulatorType,
      rowsType, multipliersType, rowSumsType;

  // Of the current work item.
  WorkItem item;
  Value queries, rowScales, firstUse, firstMeanUse, last;
};
} // namespace

Value ConsumerBuilder::startScores(TileBuilder &b, Value tile) {
  Value keys = wait(b, p.keys, use(b, tile));
  Value scores = MmaScoresOp::create(b, running(scoresType), queries, keys);
  MmaCommitOp::create(b);
  return scores;
}

Value ConsumerBuilder::startValues(TileBuilder &b, Value accumulator,
                                   const State &state, Value tile) {
  Value values = wait(b, p.values, use(b, tile));
  Value result = MmaValuesOp::create(b, running(accumulatorType), accumulator,
                                     state.probabilities, values);
  MmaCommitOp::create(b);
  return result;
}

Value ConsumerBuilder::startMeans(TileBuilder &b, Value accumulator, Value sums,
                                  Value group) {
  Value means = wait(b, p.means, meanUse(b, group));
  return MmaMeansOp::create(b, running(accumulatorType), accumulator, sums,
                            means, isUpper(b, group));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

Value ConsumerBuilder::loadMultipliers(TileBuilder &b, Value tile) {
  return LoadMultipliersOp::create(b, multipliersType, rowScales,
                                   context.arguments.keyScale, item.batch,
                                   item.keyHead, b.toIndex(tile));
}

Value ConsumerBuilder::raise(TileBuilder &b, const Scores &x, Value &maximum,
                             Value &codes) {
  auto raised = RaiseMaximumOp::create(b, rowsType, rowsType, x.scores,
                                       x.multipliers, maximum, codes, x.valid);
  maximum = raised.getNewMaximum();
  codes = expcast(b, x, maximum).getCodes();
  return raised.getFactor();
}

State ConsumerBuilder::raiseIfNeeded(TileBuilder &b, const Scores &x,
                                     State state, ExpCastOp cast) {
  auto raised = scf::IfOp::create(
      b, cast.getOverflow(),
      [&](OpBuilder &nested, Location loc) {
        TileBuilder b(loc, nested);
        Value maximum = state.maximum, codes = cast.getCodes();
        Value factor = raise(b, x, maximum, codes);
        auto rescale = [&](Value value) -> Value {
          return RescaleOp::create(b, value, factor);
        };
        scf::YieldOp::create(b, ValueRange{rescale(state.accumulator), codes,
                                           maximum, rescale(state.sum),
                                           rescale(state.promoted)});
      },
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc,
                             ValueRange{state.accumulator, cast.getCodes(),
                                        state.maximum, state.sum,
                                        state.promoted});
      });
  State result = State::get(raised.getResults());
  result.probabilities = pack(b, result.probabilities);
  return result;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

State ConsumerBuilder::first(TileBuilder &b) {
  Value tile = b.i32(0);
  Scores x;
  x.multipliers = loadMultipliers(b, tile);
  x.valid = b.toI32(arith::MinUIOp::create(
      b, context.arguments.keys, b.index(config.schedule.getTileK())));
  x.scores = settle(b, startScores(b, tile), 0);
  ReleaseOp::create(b, p.keys, use(b, tile), Value());

  State state;
  state.accumulator = fill(b, accumulatorType, 0);
  state.maximum = fill(b, rowsType, -std::numeric_limits<float>::infinity());
  state.sum = fill(b, rowsType, 0);
  state.promoted = fill(b, rowsType, 1);
  // Against a maximum of -inf every row overflows.
  Value codes = expcast(b, x, state.maximum).getCodes();
  raise(b, x, state.maximum, codes);
  state.probabilities = pack(b, codes);
  return state;
}

State ConsumerBuilder::step(TileBuilder &b, State state, Value tile, Value sums,
                            Value group, Value valid) {
  bool takesTurns = config.schedule.getPingPong();
  Value before = b.sub(tile, b.i32(1));
  Scores x;
  x.valid = valid;
  x.multipliers = loadMultipliers(b, tile);
  if (takesTurns)
    TakeTurnOp::create(b, consumer);
  Value scores = startScores(b, tile), accumulator = state.accumulator;
  if (sums)
    accumulator = startMeans(b, accumulator, sums, group);
  accumulator = startValues(b, accumulator, state, before);
  if (takesTurns)
    PassTurnOp::create(b, consumer);

  x.scores = settle(b, scores, 1);
  ReleaseOp::create(b, p.keys, use(b, tile), Value());
  // The cast runs under the values' product.
  ExpCastOp cast = expcast(b, x, state.maximum);
  state.accumulator = settle(b, accumulator, 0);
  ReleaseOp::create(b, p.values, use(b, before), Value());
  if (sums)
    ReleaseOp::create(b, p.means, meanUse(b, group), isUpper(b, group));
  return raiseIfNeeded(b, x, state, cast);
}

State ConsumerBuilder::runIf(TileBuilder &b, Value condition, State state,
                             function_ref<State(TileBuilder &, State)> then) {
  auto branch = scf::IfOp::create(
      b, condition,
      [&](OpBuilder &nested, Location loc) {
        TileBuilder b(loc, nested);
        scf::YieldOp::create(b, then(b, state).values());
      },
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, state.values());
      });
  return State::get(branch.getResults());
}

State ConsumerBuilder::restore(TileBuilder &b, State state, Value sums,
                               Value group, Value isReleased) {
  Value accumulator = startMeans(b, state.accumulator, sums, group);
  MmaCommitOp::create(b);
  state.accumulator = settle(b, accumulator, 0);
  ReleaseOp::create(b, p.means, meanUse(b, group), isReleased);
  return state;
}

State ConsumerBuilder::takeAndRestore(TileBuilder &b, State state, Value group,
                                      Value isReleased) {
  auto take = TakeRowSumsOp::create(b, accumulatorType, rowsType, rowSumsType,
                                    state.accumulator, state.sum);
  state.accumulator = take.getRest();
  state.sum = take.getNewSum();
  return restore(b, state, take.getRowSums(), group, isReleased);
}

std::pair<State, Value> ConsumerBuilder::groups(TileBuilder &b, State state) {
  SmallVector<Value> init = state.values();
  init.push_back(fill(b, rowSumsType, 0));
  Value size = b.i32(kGroupTiles);
  auto loop = scf::ForOp::create(
      b, b.i32(1), last, size, init,
      [&](OpBuilder &nested, Location loc, Value start, ValueRange values) {
        TileBuilder b(loc, nested);
        // Step `start` multiplies the first values of a group; the means to be
        // restored are those of the group before, or none: zeros.
        Value next = b.add(start, size);
        Value group = b.div(start, kGroupTiles);
        Value previous =
            arith::MaxSIOp::create(b, b.sub(group, b.i32(1)), b.i32(0));
        State state = step(b, State::get(values), start, values.back(),
                           previous, Value());
        Value end = b.min(next, last);
        auto steps = scf::ForOp::create(
            b, b.add(start, b.i32(1)), end, b.i32(1), state.values(),
            [&](OpBuilder &nested, Location loc, Value tile,
                ValueRange values) {
              TileBuilder b(loc, nested);
              State state =
                  step(b, State::get(values), tile, Value(), Value(), Value());
              scf::YieldOp::create(b, state.values());
            });
        state = State::get(steps.getResults());

        Value isFull = b.compare(arith::CmpIPredicate::eq, end, next);
        auto taken = scf::IfOp::create(
            b, isFull,
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              auto take = TakeRowSumsOp::create(b, accumulatorType, rowsType,
                                                rowSumsType, state.accumulator,
                                                state.sum);
              State rest = state;
              rest.accumulator = take.getRest();
              rest.sum = take.getNewSum();
              Value done = b.sub(next, b.i32(1));
              Value isDue = b.compare(
                  arith::CmpIPredicate::eq,
                  b.rem(done, config.schedule.getPromotion()), b.i32(0));
              rest = runIf(b, isDue, rest, [&](TileBuilder &b, State state) {
                state.accumulator = PromoteOp::create(b, state.accumulator,
                                                      totals, state.promoted);
                state.promoted = fill(b, rowsType, 1);
                return state;
              });
              SmallVector<Value> yielded = rest.values();
              yielded.push_back(take.getRowSums());
              scf::YieldOp::create(b, yielded);
            },
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              SmallVector<Value> yielded = state.values();
              yielded.push_back(fill(b, rowSumsType, 0));
              scf::YieldOp::create(b, yielded);
            });
        scf::YieldOp::create(b, taken.getResults());
      });
  return {State::get(loop.getResults()), loop.getResults().back()};
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void ConsumerBuilder::build(TileBuilder &b, const WorkItem &work,
                            ValueRange uses) {
  const KernelArguments &a = context.arguments;
  item = work;
  firstUse = uses[1];
  firstMeanUse = uses[2];
  last = b.sub(context.tiles, b.i32(1));
  int64_t rows = rowsType.getRows();
  Value firstRow = b.add(item.query, b.toIndex(b.mul(consumer, b.i32(rows))));
  rowScales = LoadRowsOp::create(b, rowsType, a.queryScale, item.batch,
                                 item.head, firstRow, a.factor);
  Value tile = wait(b, p.queries, uses[0]);
  queries = TileRowsOp::create(
      b, TileType::get(b.getContext(), {rows, config.headDim}, config.code),
      tile, consumer);
  ClearTileOp::create(b, totals);

  State state = first(b);
  Value sums;
  std::tie(state, sums) = groups(b, state);
  auto isPositive = [&](Value x) {
    return b.compare(arith::CmpIPredicate::sgt, x, b.i32(0));
  };
  auto endsGroup = [&](Value x) -> Value {
    Value aligned =
        b.compare(arith::CmpIPredicate::eq, b.rem(x, kGroupTiles), b.i32(0));
    return arith::AndIOp::create(b, aligned, isPositive(x));
  };

  // A group that ended with the step before the last has its means pending.
  Value beforeLast = b.sub(last, b.i32(1));
  state =
      runIf(b, endsGroup(beforeLast), state, [&](TileBuilder &b, State state) {
        Value group = b.sub(b.div(beforeLast, kGroupTiles), b.i32(1));
        return restore(b, state, sums, group, isUpper(b, group));
      });
  state = runIf(b, isPositive(last), state, [&](TileBuilder &b, State state) {
    Value done = b.mul(last, b.i32(config.schedule.getTileK()));
    Value valid = b.sub(b.toI32(a.keys), done);
    return step(b, state, last, Value(), Value(), valid);
  });
  state = runIf(b, endsGroup(last), state, [&](TileBuilder &b, State state) {
    Value group = b.sub(b.div(last, kGroupTiles), b.i32(1));
    return takeAndRestore(b, state, group, isUpper(b, group));
  });

  // The last values, row sums and means.
  state.accumulator =
      settle(b, startValues(b, state.accumulator, state, last), 0);
  ReleaseOp::create(b, p.values, use(b, last), Value());
  ReleaseOp::create(b, p.queries, uses[0], Value());
  state = takeAndRestore(b, state, b.div(last, kGroupTiles), Value());

  Value result = MergeOp::create(b, state.accumulator, totals, state.promoted);
  NormalizeAndStoreOp::create(b, result, state.sum, state.maximum, a.valueScale,
                              a.out, a.lse, item.batch, item.head, item.keyHead,
                              firstRow, config.layout);
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
        builder.build(b, item, uses);
        return SmallVector<Value>{b.add(uses[0], b.i32(1)),
                                  b.add(uses[1], context.tiles),
                                  b.add(uses[2], context.getMeanTiles(b))};
      });
}
