//===- Schedules.h - How kernels are laid out on targets --------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule that each target is known to run well under, what a schedule
// needs, and the check of the one against what the target has.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TARGET_SCHEDULES_H
#define VCATTN_TARGET_SCHEDULES_H

#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include <optional>

namespace vcattn {

struct TargetInfo;

/// Largest head and value dimension of a kernel.
inline constexpr int64_t kMostChannels = 256;
/// Threads of a warpgroup, the unit in which a schedule counts consumers.
inline constexpr int64_t kWarpgroupThreads = 128;
/// Columns that a value tile adds to the accumulator for the row sums.
inline constexpr int64_t kRowSumColumns = 8;
/// Blocks of keys whose means one tile of packed means holds.
inline constexpr int64_t kMeanBlocks = 16;
/// Key tiles of a block; of a group of blocks, whose row sums the accumulator
/// holds side by side; and of a tile of packed means.
inline constexpr int64_t kBlockTiles = kBlockTokens / kTileKeys;
inline constexpr int64_t kGroupTiles = kRowSumColumns * kBlockTiles;
inline constexpr int64_t kMeanTiles = kMeanBlocks * kBlockTiles;
/// Keys of a tile of packed means: where one starts, shards of keys may.
inline constexpr int64_t kMeanKeys = kMeanBlocks * kBlockTokens;
/// Edge of a core matrix of packed means, in channels and in blocks.
inline constexpr int64_t kCoreEdge = 8;
/// Tiles of means in flight.
inline constexpr int64_t kMeanStages = 2;
/// Bytes of a row of codes that one step of an 8-bit product reads.
inline constexpr int64_t kStepBytes = 32;
/// Bytes from whose multiples tiles start: the 128-byte swizzle repeats every 8
/// rows (PTX ISA, swizzling modes).
inline constexpr int64_t kTileAlignment = 1024;
/// Bytes of one mbarrier.
inline constexpr int64_t kBarrierBytes = 8;

/// Columns of a tile of queries or keys: the head dimension in whole steps.
int64_t getKeyColumns(int64_t headDim);
/// Channels of an accumulator: the value dimension in whole core matrices.
int64_t getValueChannels(int64_t valueDim);
/// Rows of a packed value tile: the channels and the rows of the row sums.
int64_t getValueRows(int64_t valueDim);

/// How much work an attention is, as far as it matters for its schedule.
enum class SizeClass {
  /// At most one tile of 64 queries per multiprocessor, with up to 2,048 keys,
  /// or with more, which are then cut into shards.
  Few,
  Decode,
  /// Up to 2,048 keys, up to 16,384, and more.
  Short,
  Medium,
  Long,
  /// Sizes are not known when the attention is compiled.
  Open
};

llvm::StringRef getName(SizeClass sizes);
std::optional<SizeClass> parseSizeClass(llvm::StringRef name);

/// The class of an attention on `chip`, from its sizes, which may be dynamic.
SizeClass getSizeClass(int64_t batch, int64_t heads, int64_t queries,
                       int64_t keys, llvm::StringRef chip);

/// The schedule to use on `target` for the given head dimensions; null if the
/// project has no kernel for them there. With `tileQ`, one for tiles of that
/// many queries.
ScheduleAttr getDefaultSchedule(TargetAttr target, int64_t headDim,
                                int64_t valueDim, int64_t tileQ = 0);

/// Fields, as ScheduleChoices reads them, in which a schedule is better than
/// the default one for attention of these sizes that sees all keys.
llvm::StringRef getChoicesBySize(SizeClass sizes, int64_t headDim,
                                 int64_t valueDim);

/// Registers per thread of each of so many consumers, beside a producer.
int64_t getConsumerRegisters(int64_t consumers);

/// Whether the FP32 copies of the accumulators are in shared memory, which they
/// are if four stages of keys and values fit beside them; otherwise they are in
/// global memory.
bool keepsTotalsInShared(const TargetInfo &target, ScheduleAttr schedule,
                         int64_t headDim, int64_t valueDim);

/// The shape of the room for FP32 copies in global memory, [blocks, elements];
/// empty if they are in shared memory.
llvm::SmallVector<int64_t> getTotalsShape(const TargetInfo &target,
                                          ScheduleAttr schedule,
                                          int64_t headDim, int64_t valueDim);

/// Bytes of shared memory that one block of the attention kernel takes: a query
/// tile per consumer, the key and value pipelines, two tiles of means, the FP32
/// copies if they are there, and the barriers.
int64_t getSharedMemoryBytes(const TargetInfo &target, ScheduleAttr schedule,
                             int64_t headDim, int64_t valueDim);

/// Threads of one block: a producer warpgroup and the consumers.
int64_t getBlockThreads(ScheduleAttr schedule);

/// Reports at `op` what `schedule` needs and `target` does not have.
mlir::LogicalResult verifySchedule(mlir::Operation *op, TargetAttr target,
                                   ScheduleAttr schedule, int64_t headDim,
                                   int64_t valueDim);

} // namespace vcattn

#endif // VCATTN_TARGET_SCHEDULES_H
