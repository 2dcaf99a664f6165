//===- AttentionKernel.h - The attention kernel as a composition *- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the one attention kernel that all targets share, in kernel ops: a
// producer that moves tiles, consumers that multiply, cast, accumulate and
// restore means. What differs between configurations are types and schedule.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_VCATTNTOGPU_ATTENTIONKERNEL_H
#define VCATTN_LIB_CONVERSION_VCATTNTOGPU_ATTENTIONKERNEL_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {

/// What limits the keys that a query sees. Buffers are of the limits' types and
/// follow a kernel's others.
struct KeyLimits {
  /// Keys before and after a query's position that it sees; -1: all.
  int64_t left = -1, right = -1;
  /// Whether the last query stands at the last key, not the first at the first.
  bool bottomRight = false;
  /// [B, Hq, Nq, Nk], [B] and [B, Hq, query tiles, key tiles]; null without.
  mlir::MemRefType mask, lengths, blocks;

  /// Whether positions, or lengths, leave a range of keys.
  bool isRange() const { return left >= 0 || right >= 0 || lengths; }
  /// Whether any tile may have keys that are not seen, or not be seen at all.
  bool isEverywhere() const { return mask || blocks; }
  bool any() const { return isRange() || isEverywhere(); }

  bool operator==(const KeyLimits &other) const {
    return left == other.left && right == other.right &&
           bottomRight == other.bottomRight && mask == other.mask &&
           lengths == other.lengths && blocks == other.blocks;
  }
};

/// What one kernel is built for; equal configurations share a kernel.
struct KernelConfig {
  /// Element type of query and key codes.
  mlir::Type code;
  /// Types of query_scale, key_scale, value_scale, means, the output and, if
  /// there are any, the log-sum-exp and the room for totals, in this order.
  /// Sizes are dynamic.
  llvm::SmallVector<mlir::MemRefType> buffers;
  bool hasLse, hasTotals;
  SoftmaxCast cast;
  Layout layout;
  int64_t headDim, valueDim;
  ScheduleAttr schedule;
  /// Bytes of shared memory to launch it with.
  int64_t sharedMemory;
  /// Keys of a work item, or 0 for all of them.
  int64_t splitKeys;
  /// What limits the keys that a query sees.
  KeyLimits limits;

  bool operator==(const KernelConfig &other) const {
    return code == other.code && buffers == other.buffers &&
           hasLse == other.hasLse && hasTotals == other.hasTotals &&
           cast == other.cast && layout == other.layout &&
           headDim == other.headDim && valueDim == other.valueDim &&
           schedule == other.schedule && sharedMemory == other.sharedMemory &&
           splitKeys == other.splitKeys && limits == other.limits;
  }
};

/// A kernel's arguments, in their order.
struct KernelArguments {
  mlir::Value queryMap, keyMap, valueMap;
  mlir::Value queryScale, keyScale, valueScale, means, out;
  mlir::Value lse, totals;           // null without
  mlir::Value mask, lengths, blocks; // null without
  /// Number of keys, an index.
  mlir::Value keys;
  /// What each query scale is multiplied by, an f32.
  mlir::Value factor;
};

/// Builds `name` at the builder's insertion point, in a gpu.module.
mlir::gpu::GPUFuncOp buildAttentionKernel(mlir::ImplicitLocOpBuilder &b,
                                          llvm::StringRef name,
                                          const KernelConfig &config);

//===----------------------------------------------------------------------===//
// Parts, shared by the files that build the kernel
//===----------------------------------------------------------------------===//

/// Tiles in shared memory, as one block has them.
struct KernelPipelines {
  mlir::Value queries, keys, values, means;
  /// FP32 copy of the consumers' accumulators; null if it is in global memory.
  mlir::Value totals;
};

/// One unit of work: a tile of queries of one head, and all keys or a shard.
struct WorkItem {
  /// Its number, an i32, from which the others follow.
  mlir::Value number;
  mlir::Value batch, head, keyHead;
  /// Batch entry of the outputs; another one than `batch` in a later shard.
  mlir::Value outBatch;
  /// First query of the tile.
  mlir::Value query;
  /// First key tile, an i32; null if keys are not split.
  mlir::Value firstTile;
  /// Key tiles, an i32, and keys from the first tile on, an index.
  mlir::Value tiles, keys;
};

/// The key tiles of one work item, as i32.
struct KeyRange {
  /// Tiles from `begin` to before `end`: at least one, of which the item may
  /// see nothing.
  mlir::Value begin, end;
  /// Among these, the ones of which every query sees every key.
  mlir::Value wholeBegin, wholeEnd;
  /// Keys that count, and the distance from a query's number to its position.
  mlir::Value keys, diagonal;
};

/// Arithmetic on i32, in which tiles are counted, and index.
class TileBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  mlir::Value i32(int64_t value);
  mlir::Value index(int64_t value);
  mlir::Value toI32(mlir::Value value);
  mlir::Value toIndex(mlir::Value value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// Unsigned; all counts are.
  mlir::Value div(mlir::Value x, int64_t y);
  mlir::Value rem(mlir::Value x, int64_t y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y);
};

/// What both roles of a kernel are built from.
struct KernelContext {
  explicit KernelContext(const KernelConfig &config) : config(config) {}

  const KernelConfig &config;
  KernelArguments arguments;
  KernelPipelines pipelines;
  /// Key tiles, an i32.
  mlir::Value tiles;
  /// Query tiles, query heads, work items, and query heads per key head, i32s.
  mlir::Value queryTiles, heads, work, ratio;
  /// Batch entries of the operands, an i32, and blocks of the grid, an index.
  mlir::Value batches, blocks;

  /// Loops over this block's work items with i32 counters of which `body`
  /// returns the next values; they start at 0.
  void forEachWorkItem(TileBuilder &b, unsigned counters,
                       llvm::function_ref<llvm::SmallVector<mlir::Value>(
                           TileBuilder &, const WorkItem &, mlir::ValueRange)>
                           body) const;
  /// The key tiles of `item`, in a kernel with limits.
  KeyRange getKeyRange(TileBuilder &b, const WorkItem &item) const;
  /// Whether the block mask has `tile` set, an i1.
  mlir::Value isInBlocks(TileBuilder &b, const WorkItem &item,
                         mlir::Value tile) const;
  /// Uses that one work item makes of the pipeline of means.
  mlir::Value getMeanUses(TileBuilder &b, const WorkItem &item) const;
  /// The work item of a number.
  WorkItem getWorkItem(TileBuilder &b, mlir::Value number) const;

private:
  /// Sets what `item` says about keys, and its batch entries.
  void setKeys(TileBuilder &b, WorkItem &item, mlir::Value outBatch) const;
};

/// Tiles of a round: the stages of key and value tiles are counted anew with
/// each work item and, where they are a divisor or multiple of this, constants
/// in the steps of a round.
inline constexpr int64_t kRoundTiles = 4;
/// Rounds that hold so many uses of the pipelines of keys and values.
mlir::Value getRounds(TileBuilder &b, mlir::Value uses);
/// A key tile's number among all, from that among the item's.
mlir::Value getKeyTile(TileBuilder &b, const WorkItem &item, mlir::Value tile);

void buildProducer(TileBuilder &b, const KernelContext &context);
/// The key and value tiles that `item` sees, from the given round and use of
/// the pipeline of means on; returns those after them.
std::pair<mlir::Value, mlir::Value>
produceLimited(TileBuilder &b, const KernelContext &context,
               const WorkItem &item, mlir::Value round, mlir::Value meanUse);
/// Completes a round of which `use` is the first use that is left, with tiles
/// that nothing is made of; returns the next round.
mlir::Value fillRound(TileBuilder &b, const KernelContext &context,
                      const WorkItem &item, mlir::Value tile, mlir::Value use);
/// Loads `tile`'s keys and values as `use` of their pipelines, in between what
/// `between` loads.
void loadTile(TileBuilder &b, const KernelContext &context,
              const WorkItem &item, mlir::Value tile, mlir::Value use,
              llvm::function_ref<void(TileBuilder &)> between = {});
/// Loads the means of the group of tiles that `tile` is in.
void loadMeans(TileBuilder &b, const KernelContext &context,
               const WorkItem &item, mlir::Value tile, mlir::Value use);
void buildConsumer(TileBuilder &b, const KernelContext &context,
                   mlir::Value consumer);

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_VCATTNTOGPU_ATTENTIONKERNEL_H
