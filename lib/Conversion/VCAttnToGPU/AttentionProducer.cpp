//===- AttentionProducer.cpp - The thread that moves tiles ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Per work item the query tile, then keys and values tile by tile, and with
// each 16th block of keys the means of the next 16.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

/// Coordinates of a token of a head in a tensor of the given layout.
static SmallVector<Value> getCoordinates(TileBuilder &b, Layout layout,
                                         Value batch, Value head, Value token) {
  SmallVector<Value> coordinates(4);
  coordinates[kBatchDim] = batch;
  coordinates[getHeadsDim(layout)] = head;
  coordinates[getTokensDim(layout)] = token;
  coordinates[kChannelDim] = b.i32(0);
  return coordinates;
}

/// Fills `use` of a pipeline through a tensor map.
static void load(TileBuilder &b, Value map, ValueRange coordinates,
                 Value pipeline, Value use) {
  AcquireOp::create(b, pipeline, use);
  LoadTileOp::create(b, map, coordinates, pipeline, use);
}

void vcattn::loadTile(TileBuilder &b, const KernelContext &context,
                      const WorkItem &item, Value tile, Value use,
                      function_ref<void(TileBuilder &)> between) {
  const KernelConfig &config = context.config;
  Value batch = b.toI32(item.batch), keyHead = b.toI32(item.keyHead);
  Value token = b.mul(tile, b.i32(kTileKeys));
  load(b, context.arguments.keyMap,
       getCoordinates(b, config.layout, batch, keyHead, token),
       context.pipelines.keys, use);
  if (between)
    between(b);
  // Packed values are in blocks, whose keys are columns.
  Value block = b.div(tile, kBlockTiles);
  Value column = b.mul(b.rem(tile, kBlockTiles), b.i32(kTileKeys));
  load(b, context.arguments.valueMap, {batch, keyHead, block, b.i32(0), column},
       context.pipelines.values, use);
}

void vcattn::loadMeans(TileBuilder &b, const KernelContext &context,
                       const WorkItem &item, Value tile, Value use) {
  Value group = b.div(tile, kMeanTiles);
  Value zero = b.index(0);
  AcquireOp::create(b, context.pipelines.means, use);
  LoadBytesOp::create(b, context.arguments.means,
                      ValueRange{item.batch, item.keyHead, b.toIndex(group),
                                 zero, zero, zero, zero},
                      context.pipelines.means, use);
}

/// The queries of each consumer of work item `round`.
static void loadQueries(TileBuilder &b, const KernelContext &context,
                        const WorkItem &item, Value round) {
  ScheduleAttr schedule = context.config.schedule;
  int64_t consumers = schedule.getConsumers();
  Value batch = b.toI32(item.batch), head = b.toI32(item.head);
  for (int64_t i = 0; i < consumers; ++i) {
    Value query =
        b.add(b.toI32(item.query), b.i32(i * schedule.getTileQ() / consumers));
    load(b, context.arguments.queryMap,
         getCoordinates(b, context.config.layout, batch, head, query),
         context.pipelines.queries,
         b.add(b.mul(round, b.i32(consumers)), b.i32(i)));
  }
}

Value vcattn::fillRound(TileBuilder &b, const KernelContext &context,
                        const WorkItem &item, Value tile, Value use) {
  Value rounds = getRounds(b, use);
  scf::ForOp::create(
      b, use, b.mul(rounds, b.i32(kRoundTiles)), b.i32(1), ValueRange(),
      [&](OpBuilder &nested, Location loc, Value rest, ValueRange) {
        TileBuilder b(loc, nested);
        loadTile(b, context, item, tile, rest);
        scf::YieldOp::create(b);
      });
  return rounds;
}

void vcattn::buildProducer(TileBuilder &b, const KernelContext &context) {
  const KernelConfig &config = context.config;
  // Counters: uses of the pipeline of queries, rounds of those of keys and
  // values, uses of that of means.
  context.forEachWorkItem(
      b, 3, [&](TileBuilder &b, const WorkItem &item, ValueRange uses) {
        loadQueries(b, context, item, uses[0]);
        if (config.limits.any()) {
          auto [next, nextMean] =
              produceLimited(b, context, item, uses[1], uses[2]);
          return SmallVector<Value>{b.add(uses[0], b.i32(1)), next, nextMean};
        }
        Value use = b.mul(uses[1], b.i32(kRoundTiles));
        scf::ForOp::create(
            b, b.i32(0), item.tiles, b.i32(1), ValueRange(),
            [&](OpBuilder &nested, Location loc, Value counter, ValueRange) {
              TileBuilder b(loc, nested);
              Value tile = getKeyTile(b, item, counter);
              loadTile(b, context, item, tile, b.add(use, counter),
                       [&](TileBuilder &b) {
                         Value startsGroup =
                             b.compare(arith::CmpIPredicate::eq,
                                       b.rem(tile, kMeanTiles), b.i32(0));
                         scf::IfOp::create(
                             b, startsGroup,
                             [&](OpBuilder &nested, Location loc) {
                               TileBuilder b(loc, nested);
                               Value use =
                                   b.add(uses[2], b.div(counter, kMeanTiles));
                               loadMeans(b, context, item, tile, use);
                               scf::YieldOp::create(b);
                             });
                       });
              scf::YieldOp::create(b);
            });
        Value next =
            fillRound(b, context, item, item.tiles, b.add(use, item.tiles));
        return SmallVector<Value>{b.add(uses[0], b.i32(1)), next,
                                  b.add(uses[2], context.getMeanUses(b, item))};
      });
}
