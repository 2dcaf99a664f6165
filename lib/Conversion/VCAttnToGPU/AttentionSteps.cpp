//===- AttentionSteps.cpp - One key tile of a consumer --------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step starts a tile's products and casts its scores; what the loops around
// it do is in AttentionConsumer.cpp.
//
//===----------------------------------------------------------------------===//

#include "ConsumerBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

using namespace mlir;
using namespace vcattn;

ConsumerBuilder::ConsumerBuilder(TileBuilder &b, const KernelContext &context,
                                 Value consumer)
    : context(context), config(context.config), p(context.pipelines),
      consumer(consumer), isUnderValues(castsUnderValues(
                              config.schedule, config.valueDim, config.cast)) {
  int64_t rows = config.schedule.getTileQ() / config.schedule.getConsumers();
  int64_t keys = config.schedule.getTileK();
  auto fragment = [&](ArrayRef<int64_t> shape, Type element,
                      FragmentRole role) {
    return FragmentType::get(b.getContext(), shape, element, role);
  };
  Type f32 = b.getF32Type();
  Type score = config.code.isInteger(8) ? Type(b.getI32Type()) : f32;
  scoresType = fragment({rows, keys}, score, FragmentRole::Scores);
  Type level = config.cast == SoftmaxCast::ExpCast ? Type(b.getI16Type()) : f32;
  levelsType = fragment({rows, keys}, level, FragmentRole::Levels);
  probabilitiesType = fragment({rows, keys}, b.getType<Float8E4M3FNType>(),
                               FragmentRole::Probabilities);
  int64_t channels = getValueChannels(config.valueDim);
  accumulatorType = fragment({rows, channels + kRowSumColumns}, f32,
                             FragmentRole::Accumulator);
  rowsType = fragment({rows}, f32, FragmentRole::Rows);
  multipliersType =
      fragment({rows, kKeyScaleGroups}, f32, FragmentRole::Multipliers);
  rowSumsType =
      fragment({rows, kRowSumColumns}, b.getF16Type(), FragmentRole::RowSums);
  totals = context.arguments.totals;
  if (p.totals) {
    auto mine = TileType::get(b.getContext(), {rows, channels}, f32);
    totals = TileRowsOp::create(b, mine, p.totals, consumer);
  }
}

Value ConsumerBuilder::wait(TileBuilder &b, Value pipeline, Value use) {
  TileType tile = cast<PipelineType>(pipeline.getType()).getTile();
  return WaitTileOp::create(b, tile, pipeline, use);
}

Value ConsumerBuilder::isUpper(TileBuilder &b, Value group) {
  return b.compare(arith::CmpIPredicate::eq, b.rem(group, 2), b.i32(1));
}

Value ConsumerBuilder::fill(TileBuilder &b, FragmentType type, float value) {
  return FillOp::create(b, type, APFloat(value));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value ConsumerBuilder::startScores(TileBuilder &b, Value tile) {
  Value keys = wait(b, p.keys, use(b, tile));
  Value scores = MmaScoresOp::create(
      b, InFlightType::get(b.getContext(), scoresType), queries, keys);
  MmaCommitOp::create(b);
  return scores;
}

Value ConsumerBuilder::startValues(TileBuilder &b, Value accumulator,
                                   const RowState &state, Value tile) {
  Value values = wait(b, p.values, use(b, tile));
  Value result =
      MmaValuesOp::create(b, InFlightType::get(b.getContext(), accumulatorType),
                          accumulator, state.probabilities, values);
  MmaCommitOp::create(b);
  return result;
}

Value ConsumerBuilder::startMeans(TileBuilder &b, Value accumulator, Value sums,
                                  Value group) {
  Value means = wait(b, p.means, meanUse(b, group));
  return MmaMeansOp::create(b,
                            InFlightType::get(b.getContext(), accumulatorType),
                            accumulator, sums, means, isUpper(b, group));
}

Value ConsumerBuilder::settle(TileBuilder &b, Value running,
                              int64_t outstanding) {
  FragmentType type = cast<InFlightType>(running.getType()).getFragment();
  return MmaWaitOp::create(b, type, running, outstanding);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

CastScoresOp ConsumerBuilder::castScores(TileBuilder &b, const Scores &x,
                                         Value maximum, bool saturate) {
  return CastScoresOp::create(b, levelsType, b.getI1Type(), x.scores,
                              x.multipliers, maximum, x.valid, x.keep, x.added,
                              config.cast, saturate);
}

RowState ConsumerBuilder::pack(TileBuilder &b, RowState state) {
  state.probabilities =
      PackProbabilitiesOp::create(b, probabilitiesType, state.probabilities);
  return state;
}

Value ConsumerBuilder::loadMultipliers(TileBuilder &b, Value tile) {
  return LoadMultipliersOp::create(
      b, multipliersType, rowScales, context.arguments.keyScale, item.batch,
      item.keyHead, b.toIndex(getKeyTile(b, item, tile)));
}

Value ConsumerBuilder::raise(TileBuilder &b, const Scores &x, RowState &state) {
  // What a mask adds is too much to keep: it is read again.
  Scores again = x;
  if (x.added)
    limit(b, again);
  auto raised = RaiseMaximumOp::create(b, rowsType, rowsType, x.scores,
                                       x.multipliers, state.maximum, x.valid,
                                       again.keep, again.added, config.cast);
  state.maximum = raised.getNewMaximum();
  // Levels, until they are packed.
  state.probabilities =
      castScores(b, again, state.maximum, /*saturate=*/true).getLevels();
  return raised.getFactor();
}

RowState ConsumerBuilder::raiseIf(
    TileBuilder &b, Value overflow, const Scores &x, RowState state,
    function_ref<RowState(TileBuilder &, RowState)> otherwise) {
  auto branch = scf::IfOp::create(
      b, overflow,
      [&](OpBuilder &nested, Location loc) {
        TileBuilder b(loc, nested);
        RowState raised = state;
        Value factor = raise(b, x, raised);
        for (Value *value :
             {&raised.accumulator, &raised.sum, &raised.promoted})
          *value = RescaleOp::create(b, *value, factor);
        scf::YieldOp::create(b, pack(b, raised).values());
      },
      [&](OpBuilder &nested, Location loc) {
        TileBuilder b(loc, nested);
        scf::YieldOp::create(b, otherwise(b, state).values());
      });
  return RowState::get(branch.getResults());
}

RowState ConsumerBuilder::castTile(TileBuilder &b, const Scores &x,
                                   RowState state, Value accumulator) {
  // Where rows differ in their keys, the largest score does not tell the
  // largest level: all levels are made first.
  if (isUnderValues || x.keep) {
    if (!isUnderValues)
      state.accumulator = settle(b, accumulator, 0);
    CastScoresOp cast = castScores(b, x, state.maximum);
    if (isUnderValues)
      state.accumulator = settle(b, accumulator, 0);
    // Packed before the branch, so that no levels are held across it.
    state.probabilities = cast.getLevels();
    return raiseIf(b, cast.getOverflow(), x, pack(b, state),
                   [](TileBuilder &, RowState state) { return state; });
  }
  state.accumulator = settle(b, accumulator, 0);
  Value overflow =
      CheckMaximumOp::create(b, b.getI1Type(), x.scores, x.multipliers,
                             state.maximum, x.valid, config.cast);
  return raiseIf(b, overflow, x, state, [&](TileBuilder &b, RowState state) {
    state.probabilities = castScores(b, x, state.maximum).getLevels();
    return pack(b, state);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

RowState ConsumerBuilder::first(TileBuilder &b, Value tile) {
  Scores x;
  x.tile = tile;
  x.multipliers = loadMultipliers(b, tile);
  if (config.limits.any())
    limit(b, x);
  else
    x.valid = b.toI32(arith::MinUIOp::create(
        b, item.keys, b.index(config.schedule.getTileK())));
  x.scores = settle(b, startScores(b, tile), 0);
  ReleaseOp::create(b, p.keys, use(b, tile), Value());

  RowState state;
  state.accumulator = fill(b, accumulatorType, 0);
  state.maximum = fill(b, rowsType, -std::numeric_limits<float>::infinity());
  state.sum = fill(b, rowsType, 0);
  state.promoted = fill(b, rowsType, 1);
  // Against a maximum of -inf every row overflows.
  raise(b, x, state);
  return pack(b, state);
}

RowState ConsumerBuilder::step(TileBuilder &b, RowState state, Value tile,
                               const StepOptions &options) {
  bool takesTurns = config.schedule.getPingPong();
  Value before = b.sub(tile, b.i32(1));
  Scores x;
  x.tile = tile;
  x.valid = options.valid;
  if (options.isLimited)
    limit(b, x);
  x.multipliers = loadMultipliers(b, tile);
  if (takesTurns)
    TakeTurnOp::create(b, consumer);
  Value scores = startScores(b, tile), accumulator = state.accumulator;
  if (options.sums)
    accumulator = startMeans(b, accumulator, options.sums, options.group);
  accumulator = startValues(b, accumulator, state, before);
  if (takesTurns)
    PassTurnOp::create(b, consumer);

  x.scores = settle(b, scores, 1);
  ReleaseOp::create(b, p.keys, use(b, tile), Value());
  state = castTile(b, x, state, accumulator);
  ReleaseOp::create(b, p.values, use(b, before), Value());
  if (options.sums) {
    Value isReleased = isUpper(b, options.group);
    if (options.isRestored)
      isReleased = arith::AndIOp::create(b, isReleased, options.isRestored);
    ReleaseOp::create(b, p.means, meanUse(b, options.group), isReleased);
  }
  return state;
}
