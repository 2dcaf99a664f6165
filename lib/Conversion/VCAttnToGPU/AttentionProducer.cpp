//===- AttentionProducer.cpp - The thread that moves tiles ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Per work item the query tile, then keys and values tile by tile, and with
// each 16th tile the means of the next 16.
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

void vcattn::buildProducer(TileBuilder &b, const KernelContext &context) {
  const KernelConfig &config = context.config;
  const KernelArguments &a = context.arguments;
  const KernelPipelines &p = context.pipelines;
  auto load = [](TileBuilder &b, Value map, ValueRange coordinates,
                 Value pipeline, Value use) {
    AcquireOp::create(b, pipeline, use);
    LoadTileOp::create(b, map, coordinates, pipeline, use);
  };

  // Counters: uses of the pipelines of queries, of keys and values, of means.
  context.forEachWorkItem(
      b, 3, [&](TileBuilder &b, const WorkItem &item, ValueRange uses) {
        Value batch = b.toI32(item.batch), keyHead = b.toI32(item.keyHead);
        load(b, a.queryMap,
             getCoordinates(b, config.layout, batch, b.toI32(item.head),
                            b.toI32(item.query)),
             p.queries, uses[0]);
        scf::ForOp::create(
            b, b.i32(0), item.tiles, b.i32(1), ValueRange(),
            [&](OpBuilder &nested, Location loc, Value counter, ValueRange) {
              TileBuilder b(loc, nested);
              Value use = b.add(uses[1], counter);
              Value tile = getKeyTile(b, item, counter);
              Value token = b.mul(tile, b.i32(config.schedule.getTileK()));
              load(b, a.keyMap,
                   getCoordinates(b, config.layout, batch, keyHead, token),
                   p.keys, use);
              Value startsGroup = b.compare(arith::CmpIPredicate::eq,
                                            b.rem(tile, kMeanTiles), b.i32(0));
              scf::IfOp::create(
                  b, startsGroup, [&](OpBuilder &nested, Location loc) {
                    TileBuilder b(loc, nested);
                    Value group = b.div(tile, kMeanTiles);
                    Value mean = b.add(uses[2], b.div(counter, kMeanTiles));
                    Value zero = b.index(0);
                    AcquireOp::create(b, p.means, mean);
                    LoadBytesOp::create(b, a.means,
                                        ValueRange{item.batch, item.keyHead,
                                                   b.toIndex(group), zero, zero,
                                                   zero, zero},
                                        p.means, mean);
                    scf::YieldOp::create(b);
                  });
              Value zero = b.i32(0);
              load(b, a.valueMap, {batch, keyHead, tile, zero, zero}, p.values,
                   use);
              scf::YieldOp::create(b);
            });
        return SmallVector<Value>{b.add(uses[0], b.i32(1)),
                                  b.add(uses[1], item.tiles),
                                  b.add(uses[2], getMeanTiles(b, item))};
      });
}
