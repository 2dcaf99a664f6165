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

/// What one kernel is built for; equal configurations share a kernel.
struct KernelConfig {
  /// Element type of query and key codes.
  mlir::Type code;
  /// Types of query_scale, key_scale, value_scale, means, the output and, if it
  /// is wanted, the log-sum-exp, in this order. Sizes are dynamic.
  llvm::SmallVector<mlir::MemRefType> buffers;
  bool hasLse;
  SoftmaxCast cast;
  Layout layout;
  int64_t headDim, valueDim;
  ScheduleAttr schedule;
  /// Keys of a work item, or 0 for all of them.
  int64_t splitKeys;

  bool operator==(const KernelConfig &other) const {
    return code == other.code && buffers == other.buffers &&
           hasLse == other.hasLse && cast == other.cast &&
           layout == other.layout && headDim == other.headDim &&
           valueDim == other.valueDim && schedule == other.schedule &&
           splitKeys == other.splitKeys;
  }
};

/// A kernel's arguments, in their order.
struct KernelArguments {
  mlir::Value queryMap, keyMap, valueMap;
  mlir::Value queryScale, keyScale, valueScale, means, out;
  mlir::Value lse; // null without
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
  /// FP32 copy of the consumers' accumulators.
  mlir::Value totals;
};

/// One unit of work: a tile of queries of one head, and all keys or a shard.
struct WorkItem {
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
  /// Queries, query heads, work items, and query heads per key head.
  mlir::Value queryTiles, heads, work, ratio;
  /// Batch entries of the operands.
  mlir::Value batches;

  /// Loops over this block's work items with i32 counters of which `body`
  /// returns the next values; they start at 0.
  void forEachWorkItem(TileBuilder &b, unsigned counters,
                       llvm::function_ref<llvm::SmallVector<mlir::Value>(
                           TileBuilder &, const WorkItem &, mlir::ValueRange)>
                           body) const;

private:
  /// Sets what `item` says about keys, and its batch entries.
  void setKeys(TileBuilder &b, WorkItem &item) const;
};

/// Uses that one work item makes of the pipeline of means.
mlir::Value getMeanTiles(TileBuilder &b, const WorkItem &item);
/// A key tile's number among all, from that among the item's.
mlir::Value getKeyTile(TileBuilder &b, const WorkItem &item, mlir::Value tile);

void buildProducer(TileBuilder &b, const KernelContext &context);
void buildConsumer(TileBuilder &b, const KernelContext &context,
                   mlir::Value consumer);

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_VCATTNTOGPU_ATTENTIONKERNEL_H
