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
      consumer(consumer) {
  int64_t rows = config.schedule.getTileQ() / config.schedule.getConsumers();
  int64_t keys = kTileKeys;
  auto fragment = [&](ArrayRef<int64_t> shape, Type element,
                      FragmentRole role) {
    return FragmentType::get(b.getContext(), shape, element, role);
  };
  Type f32 = b.getF32Type();
  Type score = config.code.isInteger(8) ? Type(b.getI32Type()) : f32;
  scoresType = fragment({rows, keys}, score, FragmentRole::Scores);
  levelsType = fragment({rows, keys}, b.getI16Type(), FragmentRole::Levels);
  probabilitiesType = fragment({rows, keys}, b.getType<Float8E4M3FNType>(),
                               FragmentRole::Probabilities);
  int64_t channels = getValueChannels(config.valueDim);
  accumulatorType = fragment({rows, channels + kRowSumColumns}, f32,
                             FragmentRole::Accumulator);
  rowsType = fragment({rows}, f32, FragmentRole::Rows);
  maximaType = fragment({rows}, f32, FragmentRole::Maxima);
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

Value ConsumerBuilder::wait(TileBuilder &b, Value pipeline, Value use,
                            Value full) {
  TileType tile = cast<PipelineType>(pipeline.getType()).getTile();
  return WaitTileOp::create(b, tile, pipeline, use, full);
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

Value ConsumerBuilder::startScores(TileBuilder &b, Value keys) {
  Value scores = MmaScoresOp::create(
      b, InFlightType::get(b.getContext(), scoresType), queries, keys);
  MmaCommitOp::create(b);
  return scores;
}

Value ConsumerBuilder::startValues(TileBuilder &b, Value accumulator,
                                   const RowState &state, Value values) {
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

Value ConsumerBuilder::pack(TileBuilder &b, CastScoresOp cast) {
  return PackProbabilitiesOp::create(b, probabilitiesType, cast.getLevels(),
                                     config.cast);
}

Value ConsumerBuilder::loadMultipliers(TileBuilder &b, Value tile) {
  return LoadMultipliersOp::create(
      b, multipliersType, rowScales, context.arguments.keyScale, item.batch,
      item.keyHead, b.toIndex(b.div(getKeyTile(b, item, tile), kBlockTiles)));
}

RowState ConsumerBuilder::raise(TileBuilder &b, const Scores &x, RowState state,
                                Value running) {
  // What a mask adds is too much to keep: it is read again.
  Scores again = x;
  if (x.added)
    limit(b, again);
  auto raised = RaiseMaximumOp::create(b, maximaType, rowsType, x.scores,
                                       x.multipliers, state.maximum, x.valid,
                                       again.keep, again.added, config.cast);
  state.maximum = raised.getNewMaximum();
  if (running) {
    state.accumulator = settle(b, running, 0);
    for (Value *value : {&state.accumulator, &state.sum, &state.promoted})
      *value = RescaleOp::create(b, *value, raised.getFactor());
  }
  state.probabilities =
      pack(b, castScores(b, again, state.maximum, /*saturate=*/true));
  return state;
}

RowState ConsumerBuilder::castTile(TileBuilder &b, const Scores &x,
                                   RowState state, Value accumulator) {
  // ExpCast's levels cost less than finding the largest score; where a mask
  // adds to scores, that one tells nothing.
  bool isCastFirst = config.cast == SoftmaxCast::ExpCast || x.added;
  CastScoresOp cast;
  Value overflow;
  if (isCastFirst) {
    cast = castScores(b, x, state.maximum);
    overflow = cast.getOverflow();
  } else {
    overflow =
        CheckMaximumOp::create(b, b.getI1Type(), x.scores, x.multipliers,
                               state.maximum, x.valid, x.keep, config.cast);
  }
  // The product is waited for behind the branch: ptxas moves a wait up, before
  // exponentials that it should overlap with, as far as it can.
  auto branch = scf::IfOp::create(
      b, overflow,
      [&](OpBuilder &nested, Location loc) {
        TileBuilder b(loc, nested);
        scf::YieldOp::create(b, raise(b, x, state, accumulator).values());
      },
      [&](OpBuilder &nested, Location loc) {
        TileBuilder b(loc, nested);
        if (!isCastFirst)
          cast = castScores(b, x, state.maximum);
        RowState kept = state;
        kept.accumulator = settle(b, accumulator, 0);
        kept.probabilities = pack(b, cast);
        scf::YieldOp::create(b, kept.values());
      });
  return RowState::get(branch.getResults());
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
    x.valid = b.toI32(arith::MinUIOp::create(b, item.keys, b.index(kTileKeys)));
  Value current = use(b, tile);
  x.scores = settle(b, startScores(b, wait(b, p.keys, current)), 0);
  ReleaseOp::create(b, p.keys, current, Value());

  RowState state;
  state.accumulator = fill(b, accumulatorType, 0);
  state.maximum = fill(b, maximaType, -std::numeric_limits<float>::infinity());
  state.sum = fill(b, rowsType, 0);
  state.promoted = fill(b, rowsType, 1);
  // Against a maximum of -inf every row overflows.
  return raise(b, x, state, Value());
}

RowState ConsumerBuilder::step(TileBuilder &b, RowState state, Value tile,
                               Value use, const StepOptions &options) {
  bool takesTurns = config.schedule.getPingPong();
  Value before = b.sub(use, b.i32(1));
  Scores x;
  x.tile = tile;
  x.valid = options.valid;
  if (options.isLimited)
    limit(b, x);
  // Asked together: the answers take as long as one.
  Value hasKeys = TestTileOp::create(b, p.keys, use);
  Value hasValues = TestTileOp::create(b, p.values, before);
  x.multipliers = loadMultipliers(b, tile);
  if (takesTurns)
    TakeTurnOp::create(b, consumer);
  Value scores = startScores(b, wait(b, p.keys, use, hasKeys));
  Value values = wait(b, p.values, before, hasValues);
  Value accumulator = startValues(b, state.accumulator, state, values);
  if (takesTurns)
    PassTurnOp::create(b, consumer);

  x.scores = settle(b, scores, 1);
  ReleaseOp::create(b, p.keys, use, Value());
  state = castTile(b, x, state, accumulator);
  ReleaseOp::create(b, p.values, before, Value());
  return state;
}
