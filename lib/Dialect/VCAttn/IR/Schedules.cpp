//===- Schedules.cpp - How kernels are laid out on targets ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Target/Schedules.h"
#include "vcattn/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace vcattn;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kSizeClasses[] = {
    "few", "decode", "short", "medium", "long", "open"};

llvm::StringRef vcattn::getName(SizeClass sizes) {
  return kSizeClasses[static_cast<unsigned>(sizes)];
}

std::optional<SizeClass> vcattn::parseSizeClass(llvm::StringRef name) {
  for (auto [i, known] : llvm::enumerate(kSizeClasses))
    if (name == known)
      return static_cast<SizeClass>(i);
  return std::nullopt;
}

SizeClass vcattn::getSizeClass(int64_t batch, int64_t heads, int64_t queries,
                               int64_t keys, llvm::StringRef chip) {
  const TargetInfo *info = lookupTarget(chip);
  int64_t sizes[] = {batch, heads, queries, keys};
  if (!info || ShapedType::isDynamicShape(sizes))
    return SizeClass::Open;
  if (batch * heads * llvm::divideCeilSigned(queries, 64) <=
      info->multiprocessors)
    return keys <= 2048 ? SizeClass::Few : SizeClass::Decode;
  if (keys <= 2048)
    return SizeClass::Short;
  return keys <= 16384 ? SizeClass::Medium : SizeClass::Long;
}

namespace {
struct ChoicesBySize {
  SizeClass sizes;
  int64_t headDim, valueDim;
  llvm::StringLiteral choices;
};
} // namespace

/// What was measured to win over the default schedules (docs/Benchmarks.md).
/// None changes a result's bits.
static constexpr ChoicesBySize kChoicesBySize[] = {
    // More blocks, each with one consumer.
    {SizeClass::Few, 128, 128, "tile_q=64"},
    // The same, and loads that run further ahead.
    {SizeClass::Decode, 128, 128, "tile_q=64,stages=8"},
};

llvm::StringRef vcattn::getChoicesBySize(SizeClass sizes, int64_t headDim,
                                         int64_t valueDim) {
  for (const ChoicesBySize &row : kChoicesBySize)
    if (row.sizes == sizes && row.headDim == headDim &&
        row.valueDim == valueDim)
      return row.choices;
  return "";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {
/// A schedule for head and value dimensions up to the given ones.
struct Default {
  int64_t headDim, valueDim;
  int64_t tileQ, stages, consumers, producerRegisters, consumerRegisters;
  bool pingPong;
  int64_t promotion;
};
} // namespace

/// The first row that is large enough, and has as many queries as asked for if
/// any are, counts.
static constexpr Default kWgmmaDefaults[] = {
    // dims    queries  stages  consumers  registers  ping-pong  promotion
    {64, 64, 192, 8, 3, 24, 160, false, 32},
    {128, 128, 192, 4, 3, 24, 160, false, 32},
    {128, 128, 128, 4, 2, 24, 240, false, 32},
    {192, 128, 192, 4, 3, 24, 160, false, 32},
    {256, 256, 128, 4, 2, 24, 240, true, 32},
};

ScheduleAttr vcattn::getDefaultSchedule(TargetAttr target, int64_t headDim,
                                        int64_t valueDim, int64_t tileQ) {
  const TargetInfo *info = lookupTarget(target.getChip());
  if (!info || info->matrixUnit != MatrixUnit::Wgmma || headDim < 1 ||
      valueDim < 1)
    return {};
  for (const Default &x : kWgmmaDefaults)
    if (headDim <= x.headDim && valueDim <= x.valueDim &&
        (tileQ == 0 || tileQ == x.tileQ))
      return ScheduleAttr::get(target.getContext(), x.tileQ, kTileKeys,
                               x.stages, x.consumers, x.producerRegisters,
                               x.consumerRegisters, x.pingPong, x.promotion);
  return {};
}

int64_t vcattn::getConsumerRegisters(int64_t consumers) {
  // What a multiprocessor's 65536 registers leave beside the producer's 24 per
  // thread, in steps of 8; one consumer has no use for more than two have.
  return consumers <= 2 ? 240 : 160;
}

//===----------------------------------------------------------------------===//
// What a schedule needs
//===----------------------------------------------------------------------===//

int64_t vcattn::getKeyColumns(int64_t headDim) {
  return llvm::alignTo(headDim, kStepBytes);
}

int64_t vcattn::getValueChannels(int64_t valueDim) {
  return llvm::alignTo(valueDim, kCoreEdge);
}

int64_t vcattn::getValueRows(int64_t valueDim) {
  return getValueChannels(valueDim) + kRowSumColumns;
}

/// Bytes with the FP32 copies of the accumulators, or without.
static int64_t getSharedMemoryBytes(ScheduleAttr schedule, int64_t stages,
                                    int64_t headDim, int64_t valueDim,
                                    bool withTotals) {
  MLIRContext *context = schedule.getContext();
  auto tile = [&](int64_t count, int64_t rows, int64_t columns, Type element) {
    return llvm::alignTo(
        count * TileType::get(context, {rows, columns}, element).getBytes(),
        kTileAlignment);
  };
  Type i8 = IntegerType::get(context, 8);
  int64_t channels = getValueChannels(valueDim);
  int64_t consumers = schedule.getConsumers();
  int64_t bytes =
      tile(consumers, schedule.getTileQ() / consumers, getKeyColumns(headDim),
           i8) +
      tile(stages, schedule.getTileK(), getKeyColumns(headDim), i8) +
      tile(stages, getValueRows(valueDim), schedule.getTileK(), i8) +
      tile(kMeanStages, channels, kMeanBlocks, Float16Type::get(context));
  if (withTotals)
    bytes += tile(1, schedule.getTileQ(), channels, Float32Type::get(context));
  // A full and an empty barrier per stage of queries, keys, values and means.
  return bytes + 2 * (consumers + 2 * stages + kMeanStages) * kBarrierBytes;
}

bool vcattn::keepsTotalsInShared(const TargetInfo &target,
                                 ScheduleAttr schedule, int64_t headDim,
                                 int64_t valueDim) {
  constexpr int64_t kLeastStages = 4;
  return ::getSharedMemoryBytes(schedule, kLeastStages, headDim, valueDim,
                                /*withTotals=*/true) <=
         target.sharedMemoryPerBlock;
}

SmallVector<int64_t> vcattn::getTotalsShape(const TargetInfo &target,
                                            ScheduleAttr schedule,
                                            int64_t headDim, int64_t valueDim) {
  if (keepsTotalsInShared(target, schedule, headDim, valueDim))
    return {};
  return {target.multiprocessors,
          schedule.getTileQ() * getValueChannels(valueDim)};
}

int64_t vcattn::getSharedMemoryBytes(const TargetInfo &target,
                                     ScheduleAttr schedule, int64_t headDim,
                                     int64_t valueDim) {
  return ::getSharedMemoryBytes(
      schedule, schedule.getStages(), headDim, valueDim,
      keepsTotalsInShared(target, schedule, headDim, valueDim));
}

int64_t vcattn::getBlockThreads(ScheduleAttr schedule) {
  return (1 + schedule.getConsumers()) * kWarpgroupThreads;
}

/// Registers without which a consumer's thread cannot keep its fragments: an
/// accumulator, scores, the probabilities (four to a register) that the running
/// product reads, the levels (two to a register) that are made meanwhile, and
/// the least of addresses and row values beside them that assemblers get along
/// with.
static int64_t getNeededRegisters(ScheduleAttr schedule, int64_t valueDim) {
  constexpr int64_t kOthers = 24;
  int64_t rows = schedule.getTileQ() / schedule.getConsumers();
  int64_t columns =
      getValueRows(valueDim) + schedule.getTileK() * (4 + 1 + 2) / 4;
  return rows * columns / kWarpgroupThreads + kOthers;
}

LogicalResult vcattn::verifySchedule(Operation *op, TargetAttr target,
                                     ScheduleAttr schedule, int64_t headDim,
                                     int64_t valueDim) {
  const TargetInfo *info = lookupTarget(target.getChip());
  if (!info)
    return op->emitOpError("unknown target '") << target.getChip() << "'";
  if (ShapedType::isDynamic(headDim) || ShapedType::isDynamic(valueDim))
    return op->emitOpError("a schedule needs static head dimensions");
  for (int64_t dim : {headDim, valueDim})
    if (dim < 1 || dim > kMostChannels)
      return op->emitOpError("a schedule is for head dimensions from 1 to ")
             << kMostChannels << ", got " << headDim << " and " << valueDim;

  int64_t bytes = getSharedMemoryBytes(*info, schedule, headDim, valueDim);
  if (bytes > info->sharedMemoryPerBlock)
    return op->emitOpError("schedule needs ")
           << bytes << " bytes of shared memory, " << info->chip << " has "
           << info->sharedMemoryPerBlock;
  int64_t registers = kWarpgroupThreads * (schedule.getProducerRegisters() +
                                           schedule.getConsumers() *
                                               schedule.getConsumerRegisters());
  if (registers > info->registersPerMultiprocessor)
    return op->emitOpError("schedule needs ")
           << registers << " registers, a multiprocessor of " << info->chip
           << " has " << info->registersPerMultiprocessor;
  int64_t most = std::max(schedule.getProducerRegisters(),
                          schedule.getConsumerRegisters());
  if (most > info->maxRegistersPerThread)
    return op->emitOpError("schedule gives a thread ")
           << most << " registers, " << info->chip << " allows "
           << info->maxRegistersPerThread;
  int64_t needed = getNeededRegisters(schedule, valueDim);
  if (info->matrixUnit == MatrixUnit::Wgmma &&
      needed > schedule.getConsumerRegisters())
    return op->emitOpError("schedule gives a consumer's thread ")
           << schedule.getConsumerRegisters()
           << " registers, which needs at least " << needed;
  return success();
}
