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
  if (batch * heads * llvm::divideCeil(queries, 64) <= info->multiprocessors)
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
    // Twice as many blocks, each with one consumer.
    {SizeClass::Few, 128, 128, "tile_q=64"},
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

ScheduleAttr vcattn::getDefaultSchedule(TargetAttr target, int64_t headDim,
                                        int64_t valueDim) {
  const TargetInfo *info = lookupTarget(target.getChip());
  if (!info || info->matrixUnit != MatrixUnit::Wgmma || headDim != 128 ||
      valueDim != 128)
    return {};
  return ScheduleAttr::get(
      target.getContext(), /*tile_q=*/128, /*tile_k=*/128, /*stages=*/4,
      /*consumers=*/2, /*producer_registers=*/24, /*consumer_registers=*/240,
      /*ping_pong=*/true, /*promotion=*/16);
}

int64_t vcattn::getConsumerRegisters(int64_t consumers) {
  // What a multiprocessor's 65536 registers leave beside the producer's 24 per
  // thread, in steps of 8; one consumer has no use for more than two have.
  return consumers <= 2 ? 240 : 160;
}

int64_t vcattn::getSharedMemoryBytes(ScheduleAttr schedule, int64_t headDim,
                                     int64_t valueDim) {
  constexpr int64_t kBarrierBytes = 8, kFloatBytes = 4, kHalfBytes = 2;
  int64_t queries = schedule.getTileQ() * headDim;
  int64_t keys = schedule.getTileK() * headDim;
  int64_t values = (valueDim + kRowSumColumns) * schedule.getTileK();
  int64_t means = kMeanTiles * valueDim * kHalfBytes;
  int64_t promoted = schedule.getTileQ() * valueDim * kFloatBytes;
  // A full and an empty barrier per stage of queries, keys, values and means.
  int64_t barriers = 2 * (1 + 2 * schedule.getStages() + kMeanStages);
  return queries + schedule.getStages() * (keys + values) +
         kMeanStages * means + promoted + barriers * kBarrierBytes;
}

int64_t vcattn::getBlockThreads(ScheduleAttr schedule) {
  return (1 + schedule.getConsumers()) * kWarpgroupThreads;
}

/// Registers without which a consumer's thread cannot keep its fragments: an
/// accumulator, scores, probabilities (four to a register), and the least of
/// addresses and row values beside them that assemblers get along with.
static int64_t getNeededRegisters(ScheduleAttr schedule, int64_t valueDim) {
  constexpr int64_t kOthers = 24;
  int64_t rows = schedule.getTileQ() / schedule.getConsumers();
  int64_t columns =
      valueDim + kRowSumColumns + schedule.getTileK() + schedule.getTileK() / 4;
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

  int64_t bytes = getSharedMemoryBytes(schedule, headDim, valueDim);
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
