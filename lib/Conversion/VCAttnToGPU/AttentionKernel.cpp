//===- AttentionKernel.cpp - The attention kernel as a composition --------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel's frame: arguments, shared memory, roles, and the loop over work
// items that both roles run. Blocks are persistent: block i of n takes items
// i, i + n, ...; neighbours share a head, and so its keys and values in cache.
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Conversion/KernelAttributes.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value constantLike(TileBuilder &b, Value x, int64_t value) {
  return x.getType().isIndex() ? b.index(value) : b.i32(value);
}

Value TileBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}
Value TileBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}
Value TileBuilder::toI32(Value value) {
  return arith::IndexCastOp::create(*this, getI32Type(), value);
}
Value TileBuilder::toIndex(Value value) {
  return arith::IndexCastOp::create(*this, getIndexType(), value);
}
Value TileBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(*this, x, y);
}
Value TileBuilder::sub(Value x, Value y) {
  return arith::SubIOp::create(*this, x, y);
}
Value TileBuilder::mul(Value x, Value y) {
  return arith::MulIOp::create(*this, x, y);
}
Value TileBuilder::div(Value x, int64_t y) {
  return arith::DivUIOp::create(*this, x, constantLike(*this, x, y));
}
Value TileBuilder::rem(Value x, int64_t y) {
  return arith::RemUIOp::create(*this, x, constantLike(*this, x, y));
}
Value TileBuilder::min(Value x, Value y) {
  return arith::MinSIOp::create(*this, x, y);
}
Value TileBuilder::max(Value x, Value y) {
  return arith::MaxSIOp::create(*this, x, y);
}
Value TileBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(*this, condition, x, y);
}
Value TileBuilder::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(*this, predicate, x, y);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// The number of the work item that comes `item`-th to a block, where late
/// query tiles see more keys than early ones. Blocks take the tiles of all
/// heads from the longest to the shortest; every other time the blocks take
/// turns in the opposite order, so that none always gets the longer ones.
static Value getBalancedItem(TileBuilder &b, Value item, Value work,
                             Value blocks) {
  Value round = arith::DivUIOp::create(b, item, blocks);
  Value start = b.mul(round, blocks);
  Value next = b.add(start, blocks);
  Value isOdd = b.compare(arith::CmpIPredicate::eq, b.rem(round, 2), b.i32(1));
  Value isWhole = b.compare(arith::CmpIPredicate::ule, next, work);
  Value mirrored = b.sub(b.sub(next, b.i32(1)), b.sub(item, start));
  return b.select(arith::AndIOp::create(b, isOdd, isWhole), mirrored, item);
}

/// An i32 that is not negative as an index, whose upper half is known to be 0.
static Value widen(TileBuilder &b, Value x) {
  return arith::IndexCastUIOp::create(b, b.getIndexType(), x);
}

WorkItem KernelContext::getWorkItem(TileBuilder &b, Value number) const {
  auto quotient = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, x, y);
  };
  auto rest = [&](Value x, Value y) -> Value {
    return arith::RemUIOp::create(b, x, y);
  };
  Value tile, row;
  if (config.limits.right >= 0) {
    Value balanced = getBalancedItem(b, number, work, b.toI32(blocks));
    Value rows = quotient(work, queryTiles);
    row = rest(balanced, rows);
    tile = b.sub(b.sub(queryTiles, b.i32(1)), quotient(balanced, rows));
  } else {
    tile = rest(number, queryTiles);
    row = quotient(number, queryTiles);
  }
  Value head = rest(row, heads);
  WorkItem x;
  x.number = number;
  x.head = widen(b, head);
  setKeys(b, x, quotient(row, heads));
  x.keyHead = widen(b, quotient(head, ratio));
  x.query = widen(b, b.mul(tile, b.i32(config.schedule.getTileQ())));
  return x;
}

void KernelContext::forEachWorkItem(
    TileBuilder &b, unsigned counters,
    function_ref<SmallVector<Value>(TileBuilder &, const WorkItem &,
                                    ValueRange)>
        body) const {
  // In 32 bits: indices would take twice the registers through all tiles.
  Value first = b.toI32(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  SmallVector<Value> zeros(counters, b.i32(0));
  scf::ForOp::create(
      b, first, work, b.toI32(blocks), zeros,
      [&](OpBuilder &nested, Location loc, Value item, ValueRange state) {
        TileBuilder inner(loc, nested);
        WorkItem x = getWorkItem(inner, item);
        scf::YieldOp::create(inner, body(inner, x, state));
      });
}

void KernelContext::setKeys(TileBuilder &b, WorkItem &item,
                            Value outBatch) const {
  item.outBatch = item.batch = widen(b, outBatch);
  item.tiles = tiles;
  item.keys = arguments.keys;
  if (config.splitKeys == 0)
    return;
  item.batch = widen(b, arith::RemUIOp::create(b, outBatch, batches));
  Value shard = arith::DivUIOp::create(b, outBatch, batches);
  Value mostTiles = b.i32(config.splitKeys / kTileKeys);
  item.firstTile = b.mul(shard, mostTiles);
  item.tiles = b.min(b.sub(tiles, item.firstTile), mostTiles);
  item.keys =
      b.sub(arguments.keys, b.mul(widen(b, shard), b.index(config.splitKeys)));
}

Value KernelContext::getMeanUses(TileBuilder &b, const WorkItem &item) const {
  return b.div(b.add(item.tiles, b.i32(kMeanTiles - 1)), kMeanTiles);
}

Value vcattn::getRounds(TileBuilder &b, Value uses) {
  return b.div(b.add(uses, b.i32(kRoundTiles - 1)), kRoundTiles);
}

Value vcattn::getKeyTile(TileBuilder &b, const WorkItem &item, Value tile) {
  return item.firstTile ? b.add(item.firstTile, tile) : tile;
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

/// Declares the tiles in shared memory.
static KernelPipelines createPipelines(TileBuilder &b,
                                       const KernelConfig &config) {
  MLIRContext *context = b.getContext();
  ScheduleAttr schedule = config.schedule;
  int64_t consumers = schedule.getConsumers();
  int64_t keyColumns = getKeyColumns(config.headDim);
  int64_t channels = getValueChannels(config.valueDim);
  auto pipeline = [&](int64_t readers, int64_t stages, int64_t rows,
                      int64_t columns, Type element) -> Value {
    auto tile = TileType::get(context, {rows, columns}, element);
    auto type = PipelineType::get(context, stages, tile);
    return CreatePipelineOp::create(b, type, readers);
  };
  KernelPipelines result;
  // A stage per consumer, which alone reads it.
  result.queries = pipeline(1, consumers, schedule.getTileQ() / consumers,
                            keyColumns, config.code);
  result.keys = pipeline(consumers, schedule.getStages(), kTileKeys, keyColumns,
                         config.code);
  result.values =
      pipeline(consumers, schedule.getStages(), channels + kRowSumColumns,
               kTileKeys, b.getType<Float8E4M3FNType>());
  result.means =
      pipeline(consumers, kMeanStages, channels, kMeanBlocks, b.getF16Type());
  if (!config.hasTotals)
    result.totals = SharedTileOp::create(
        b, TileType::get(context, {schedule.getTileQ(), channels},
                         b.getF32Type()));
  return result;
}

/// Names a kernel's arguments.
static KernelArguments getArguments(gpu::GPUFuncOp kernel,
                                    const KernelConfig &config) {
  auto *next = kernel.getArguments().begin();
  KernelArguments a;
  for (Value *argument : {&a.queryMap, &a.keyMap, &a.valueMap, &a.queryScale,
                          &a.keyScale, &a.valueScale, &a.means, &a.out})
    *argument = *next++;
  if (config.hasLse)
    a.lse = *next++;
  if (config.hasTotals)
    a.totals = *next++;
  if (config.limits.mask)
    a.mask = *next++;
  if (config.limits.lengths)
    a.lengths = *next++;
  if (config.limits.blocks)
    a.blocks = *next++;
  a.keys = *next++;
  a.factor = *next++;
  return a;
}

gpu::GPUFuncOp vcattn::buildAttentionKernel(ImplicitLocOpBuilder &builder,
                                            StringRef name,
                                            const KernelConfig &config) {
  OpBuilder::InsertionGuard guard(builder);
  ScheduleAttr schedule = config.schedule;
  SmallVector<Type> types(3, builder.getType<TensorMapType>());
  llvm::append_range(types, config.buffers);
  for (MemRefType type :
       {config.limits.mask, config.limits.lengths, config.limits.blocks})
    if (type)
      types.push_back(type);
  types.push_back(builder.getIndexType());
  types.push_back(builder.getF32Type());
  auto kernel =
      gpu::GPUFuncOp::create(builder, name, builder.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  int64_t threads = getBlockThreads(schedule);
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  builder.getI32IntegerAttr(1));
  kernel->setAttr(kSharedMemoryAttrName,
                  builder.getI64IntegerAttr(config.sharedMemory));

  TileBuilder b(builder.getLoc(), builder);
  b.setInsertionPointToStart(&kernel.getBody().front());
  KernelContext context(config);
  context.arguments = getArguments(kernel, config);
  context.pipelines = createPipelines(b, config);
  const KernelArguments &a = context.arguments;
  auto sizeOf = [&](Value buffer, int64_t dim) -> Value {
    return memref::DimOp::create(b, buffer, dim);
  };
  int64_t tileQ = schedule.getTileQ();
  context.batches = b.toI32(sizeOf(a.queryScale, 0));
  context.heads = b.toI32(sizeOf(a.queryScale, 1));
  context.queryTiles =
      b.toI32(b.div(b.add(sizeOf(a.queryScale, 2), b.index(tileQ - 1)), tileQ));
  context.ratio = arith::DivUIOp::create(b, context.heads,
                                         b.toI32(sizeOf(a.valueScale, 1)));
  // With shards of keys, outputs have a batch entry for each.
  context.work = b.mul(b.mul(b.toI32(sizeOf(a.out, kBatchDim)), context.heads),
                       context.queryTiles);
  context.blocks = gpu::GridDimOp::create(b, gpu::Dimension::x);
  context.tiles =
      b.toI32(b.div(b.add(a.keys, b.index(kTileKeys - 1)), kTileKeys));

  auto roles = WarpSpecializeOp::create(b, schedule.getProducerRegisters(),
                                        schedule.getConsumers(),
                                        schedule.getConsumerRegisters());
  gpu::ReturnOp::create(b);
  b.createBlock(&roles.getProducer());
  buildProducer(b, context);
  Block *consumer =
      b.createBlock(&roles.getConsumer(), {}, b.getI32Type(), builder.getLoc());
  buildConsumer(b, context, consumer->getArgument(0));
  return kernel;
}
