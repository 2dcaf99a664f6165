//===- AttentionLimits.cpp - Tiles that not every query sees wholly -------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Causality, windows and lengths leave each query tile a range of key tiles, of
// which only those at its ends are masked; they are stepped through one by one
// around the loops that dense attention has, which know of no mask. A mask or a
// block mask may be about any tile, and then all steps are of that kind.
//
// Tiles keep their numbers: where a range starts decides nothing about which
// column a tile's row sum lands in or which means belong to it.
//
//===----------------------------------------------------------------------===//

#include "ConsumerBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

using namespace mlir;
using namespace vcattn;

//===----------------------------------------------------------------------===//
// Which tiles
//===----------------------------------------------------------------------===//

static Value loadFlag(TileBuilder &b, Value memref, ValueRange indices) {
  return memref::LoadOp::create(b, memref, indices);
}

Value KernelContext::isInBlocks(TileBuilder &b, const WorkItem &item,
                                Value tile) const {
  Value queryTile = b.div(item.query, config.schedule.getTileQ());
  return loadFlag(b, arguments.blocks,
                  ValueRange{item.batch, item.head, queryTile,
                             b.toIndex(b.div(tile, kBlockTiles))});
}

/// The first tile of `range` that the block mask has; its first one if there is
/// none, of which then no key counts.
static void skipToBlock(TileBuilder &b, const KernelContext &context,
                        const WorkItem &item, KeyRange &range) {
  auto loop = scf::WhileOp::create(
      b, TypeRange(b.getI32Type()), ValueRange(range.begin),
      [&](OpBuilder &nested, Location loc, ValueRange tile) {
        TileBuilder b(loc, nested);
        Value inside = b.compare(arith::CmpIPredicate::slt, tile[0], range.end);
        auto isUnset = scf::IfOp::create(
            b, inside,
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              Value isSet = context.isInBlocks(b, item, tile[0]);
              Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
              scf::YieldOp::create(
                  b, arith::XOrIOp::create(b, isSet, yes).getResult());
            },
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
              scf::YieldOp::create(b, no);
            });
        scf::ConditionOp::create(b, isUnset.getResult(0), tile);
      },
      [&](OpBuilder &nested, Location loc, ValueRange tile) {
        TileBuilder b(loc, nested);
        scf::YieldOp::create(b, b.add(tile[0], b.i32(1)));
      });
  Value found = loop.getResult(0);
  Value isNone = b.compare(arith::CmpIPredicate::sge, found, range.end);
  range.begin = b.select(isNone, range.begin, found);
  range.keys = b.select(isNone, b.i32(0), range.keys);
}

KeyRange KernelContext::getKeyRange(TileBuilder &b,
                                    const WorkItem &item) const {
  const KeyLimits &limits = config.limits;
  Value zero = b.i32(0), one = b.i32(1);
  KeyRange range;
  range.keys = b.toI32(arguments.keys);
  if (arguments.lengths) {
    Value length = memref::LoadOp::create(b, arguments.lengths, item.batch);
    range.keys = b.min(b.max(length, zero), range.keys);
  }
  Value queries =
      b.toI32(memref::DimOp::create(b, arguments.queryScale, 2).getResult());
  range.diagonal = limits.bottomRight ? b.sub(range.keys, queries) : zero;

  // Positions of the item's first and last query, and the keys that both, or
  // either, see.
  Value first = b.toI32(item.query);
  Value end = b.min(b.add(first, b.i32(config.schedule.getTileQ())), queries);
  first = b.add(first, range.diagonal);
  Value last = b.add(b.sub(end, one), range.diagonal);
  auto clamp = [&](Value key) { return b.min(b.max(key, zero), range.keys); };
  auto startOf = [&](Value position) {
    return clamp(b.sub(position, b.i32(limits.left)));
  };
  auto endOf = [&](Value position) {
    return clamp(b.add(b.add(position, b.i32(limits.right)), one));
  };
  auto tilesUpTo = [&](Value key) {
    return b.div(b.add(key, b.i32(kTileKeys - 1)), kTileKeys);
  };
  bool hasLeft = limits.left >= 0, hasRight = limits.right >= 0;
  range.begin = hasLeft ? b.div(startOf(first), kTileKeys) : zero;
  range.wholeBegin = hasLeft ? tilesUpTo(startOf(last)) : zero;
  range.end = tilesUpTo(hasRight ? endOf(last) : range.keys);
  range.wholeEnd = b.div(hasRight ? endOf(first) : range.keys, kTileKeys);
  // One of the item's tiles at least.
  Value start = item.firstTile ? item.firstTile : zero;
  Value stop = b.add(start, item.tiles);
  range.begin = b.min(b.max(range.begin, start), b.sub(stop, one));
  range.end = b.max(b.min(range.end, stop), b.add(range.begin, one));
  if (arguments.blocks)
    skipToBlock(b, *this, item, range);
  return range;
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

std::pair<Value, Value> vcattn::produceLimited(TileBuilder &b,
                                               const KernelContext &context,
                                               const WorkItem &item,
                                               Value round, Value meanUse) {
  KeyRange range = context.getKeyRange(b, item);
  // Uses, and the group of means that was loaded last.
  SmallVector<Value> init{b.mul(round, b.i32(kRoundTiles)), meanUse, b.i32(-1)};
  auto loadNext = [&](TileBuilder &b, Value tile, ValueRange carried) {
    Value nextMean = carried[1], group = b.div(tile, kMeanTiles);
    loadTile(b, context, item, tile, carried[0], [&](TileBuilder &b) {
      Value isNew = b.compare(arith::CmpIPredicate::ne, group, carried[2]);
      auto loaded = scf::IfOp::create(
          b, isNew,
          [&](OpBuilder &nested, Location loc) {
            TileBuilder b(loc, nested);
            loadMeans(b, context, item, tile, carried[1]);
            scf::YieldOp::create(b, b.add(carried[1], b.i32(1)));
          },
          [&](OpBuilder &nested, Location loc) {
            scf::YieldOp::create(nested, loc, carried[1]);
          });
      nextMean = loaded.getResult(0);
    });
    return SmallVector<Value>{b.add(carried[0], b.i32(1)), nextMean, group};
  };
  auto loop = scf::ForOp::create(
      b, range.begin, range.end, b.i32(1), init,
      [&](OpBuilder &nested, Location loc, Value tile, ValueRange carried) {
        TileBuilder b(loc, nested);
        if (!context.arguments.blocks) {
          scf::YieldOp::create(b, loadNext(b, tile, carried));
          return;
        }
        Value isSet = context.isInBlocks(b, item, tile);
        Value isFirst = b.compare(arith::CmpIPredicate::eq, tile, range.begin);
        auto visit = scf::IfOp::create(
            b, arith::OrIOp::create(b, isSet, isFirst),
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              scf::YieldOp::create(b, loadNext(b, tile, carried));
            },
            [&](OpBuilder &nested, Location loc) {
              scf::YieldOp::create(nested, loc, carried);
            });
        scf::YieldOp::create(b, visit.getResults());
      });
  Value end = loop.getResult(0);
  return {fillRound(b, context, item, range.end, end), loop.getResult(1)};
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

void ConsumerBuilder::limit(TileBuilder &b, Scores &x) {
  auto type = FragmentType::get(b.getContext(), levelsType.getShape(),
                                b.getI1Type(), FragmentRole::Keep);
  Value key = b.mul(x.tile, b.i32(kTileKeys));
  x.keep =
      KeepKeysOp::create(b, type, b.toI32(firstRow), range.diagonal, key,
                         range.keys, config.limits.left, config.limits.right);
  if (!context.arguments.mask)
    return;
  FragmentType added;
  if (isa<FloatType>(config.limits.mask.getElementType()))
    added = FragmentType::get(b.getContext(), levelsType.getShape(),
                              b.getF32Type(), FragmentRole::Added);
  auto mask =
      LoadMaskOp::create(b, type, added, x.keep, context.arguments.mask,
                         item.batch, item.head, firstRow, b.toIndex(key));
  x.keep = mask.getKept();
  x.added = mask.getAdded();
}

RowState ConsumerBuilder::limitedStep(TileBuilder &b, RowState state,
                                      Value tile) {
  auto differ = [&](TileBuilder &b, int64_t size) {
    return b.compare(arith::CmpIPredicate::ne, b.div(tile, size),
                     b.div(before, size));
  };
  if (context.arguments.blocks)
    // Tiles in between were not loaded.
    firstUse = b.sub(b.add(firstUse, before), b.sub(tile, b.i32(1)));
  StepOptions options;
  options.isLimited = true;
  state = step(b, state, tile, use(b, tile), options);

  // With the values of the step before, the sums of its group are complete if
  // this step's tile is in another one.
  state = runIf(
      b, differ(b, kGroupTiles), state, [&](TileBuilder &b, RowState state) {
        Value group = b.div(before, kGroupTiles);
        state = takeAndRestore(b, state, group, differ(b, kMeanTiles));
        return promoteIf(b, differ(b, config.schedule.getPromotion()), state);
      });
  if (context.arguments.blocks) {
    Value skipped = b.sub(
        b.sub(b.div(tile, kMeanTiles), b.div(before, kMeanTiles)), b.i32(1));
    firstMeanUse = b.sub(firstMeanUse, b.max(skipped, b.i32(0)));
  }
  before = tile;
  return state;
}

RowState ConsumerBuilder::limitedSteps(TileBuilder &b, RowState state,
                                       Value from, Value to) {
  constexpr size_t kCursor = 3;
  SmallVector<Value> init = state.values();
  llvm::append_values(init, before, firstUse, firstMeanUse);
  auto setCursor = [&](ValueRange values) {
    before = values[0];
    firstUse = values[1];
    firstMeanUse = values[2];
  };
  auto next = [&](TileBuilder &b, Value tile, ValueRange values) {
    setCursor(values.take_back(kCursor));
    RowState state = limitedStep(b, RowState::get(values), tile);
    SmallVector<Value> result = state.values();
    llvm::append_values(result, before, firstUse, firstMeanUse);
    return result;
  };
  auto loop = scf::ForOp::create(
      b, from, to, b.i32(1), init,
      [&](OpBuilder &nested, Location loc, Value tile, ValueRange values) {
        TileBuilder b(loc, nested);
        if (!context.arguments.blocks) {
          scf::YieldOp::create(b, next(b, tile, values));
          return;
        }
        auto visit = scf::IfOp::create(
            b, context.isInBlocks(b, item, tile),
            [&](OpBuilder &nested, Location loc) {
              TileBuilder b(loc, nested);
              scf::YieldOp::create(b, next(b, tile, values));
            },
            [&](OpBuilder &nested, Location loc) {
              scf::YieldOp::create(nested, loc, values);
            });
        scf::YieldOp::create(b, visit.getResults());
      });
  setCursor(loop.getResults().take_back(kCursor));
  return RowState::get(loop.getResults());
}

RowState ConsumerBuilder::limitedTiles(TileBuilder &b) {
  range = context.getKeyRange(b, item);
  // Tiles are counted from the first of all.
  item.firstTile = Value();
  before = range.begin;
  firstUse = b.sub(firstUse, range.begin);
  firstRound = b.sub(firstRound, b.div(range.begin, kRoundTiles));
  firstMeanUse = b.sub(firstMeanUse, b.div(range.begin, kMeanTiles));
  RowState state = first(b, range.begin);
  Value from = b.add(range.begin, b.i32(1));
  if (config.limits.isEverywhere()) {
    state = limitedSteps(b, state, from, range.end);
    last = before;
    return state;
  }
  Value wholeBegin = b.min(b.max(range.wholeBegin, from), range.end);
  Value wholeEnd = b.min(b.max(range.wholeEnd, wholeBegin), range.end);
  auto [begin, end] = getWholeRounds(b, wholeBegin, wholeEnd);
  Value size = b.i32(kRoundTiles), one = b.i32(1);
  auto startOf = [&](Value round) {
    return b.min(b.add(b.mul(round, size), one), range.end);
  };
  Value start = startOf(begin), stop = startOf(end);
  state = limitedSteps(b, state, from, start);
  state = wholeRounds(b, state, begin, end);
  before = b.sub(stop, one);
  state = limitedSteps(b, state, stop, range.end);
  last = b.sub(range.end, b.i32(1));
  return state;
}
