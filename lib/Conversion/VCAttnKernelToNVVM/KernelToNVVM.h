//===- KernelToNVVM.h - Lowering kernel ops to NVVM -------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the pattern files of this folder share. A fragment becomes a struct of
// the registers that one thread holds; a tile its address in shared memory in
// units of 16 bytes, as matrix descriptors count.
//
// A consumer is a warpgroup with 64 rows. In a fragment of 32-bit results a
// thread has rows r and r + 8, r = 16 * warp + lane / 4, and of these columns
// 8 i + 2 q and 8 i + 2 q + 1 for all i, q = lane mod 4: registers 4 i .. 4 i +
// 3 are (r, 0), (r, 1), (r + 8, 0), (r + 8, 1) (PTX ISA, wgmma, matrix D).
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_VCATTNKERNELTONVVM_KERNELTONVVM_H
#define VCATTN_LIB_CONVERSION_VCATTNKERNELTONVVM_KERNELTONVVM_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Target/Schedules.h"
#include "llvm/ADT/DenseMap.h"

namespace vcattn {

inline constexpr unsigned kSharedSpace = 3;
inline constexpr unsigned kGlobalSpace = 1;
/// Bytes in which a tile's address is counted.
inline constexpr int64_t kTileUnit = 16;
/// Rows of one consumer, and the rows that one thread has of them.
inline constexpr int64_t kConsumerRows = 64;
inline constexpr unsigned kThreadRows = 2;

/// Registers of the accumulator that hold row sums: the last 8 columns.
inline constexpr int64_t kSumRegisters = kRowSumColumns / 2;

/// Where shared tiles and pipelines of a module's kernels lie, in bytes from
/// the start of the kernel's dynamic shared memory: tiles first, each on a
/// swizzle period, then the barriers.
class SharedMemoryLayout {
public:
  struct Range {
    int64_t data = 0, barriers = 0;
  };

  /// Lays out one kernel and returns how many bytes it needs.
  int64_t add(mlir::Operation *kernel);

  Range lookup(mlir::Operation *op) const { return ranges.lookup(op); }

private:
  llvm::DenseMap<mlir::Operation *, Range> ranges;
};

/// The struct of registers that a fragment becomes.
mlir::LLVM::LLVMStructType getRegisters(FragmentType type);

/// Builds the code of one pattern.
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  mlir::Value i32(int64_t value);
  mlir::Value f32(double value);

  /// The elements of a struct, and a struct of elements.
  llvm::SmallVector<mlir::Value> unpack(mlir::Value registers);
  mlir::Value pack(mlir::ValueRange values);

  /// `pointer` + `bytes`, in shared memory.
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value offset(mlir::Value pointer, int64_t bytes);

  /// threadIdx.x and what follows from it for a consumer's thread.
  mlir::Value thread();
  mlir::Value lane();
  /// lane mod 4: which columns of a fragment the thread has.
  mlir::Value quadLane();
  /// The first of the two rows (8 apart) that the thread has.
  mlir::Value row();
  /// True in one thread of each consumer.
  mlir::Value isLeader();

  /// One instruction as inline assembly. Its results, one per `tied` input,
  /// come first among the operands of `text` ($0, $1, ...), then those inputs,
  /// which are in the same registers, then `inputs`.
  llvm::SmallVector<mlir::Value> assembly(llvm::StringRef text,
                                          mlir::ValueRange tied,
                                          mlir::ValueRange inputs = {});

  /// The value of the lane whose number differs in the bits of `mask`.
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);
  /// Combines the values of the four threads that share a row.
  mlir::Value
  reduceQuad(mlir::Value value,
             llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  mlir::Value exp2(mlir::Value value);

  /// For a thread's element `column` of row `row` (0 or 1), counted along its
  /// own columns: whether `keep`, a word per row, has it.
  mlir::Value isKept(mlir::ValueRange keep, unsigned row, int64_t column);

  /// The address of `memref[indices]` in global memory, computed in 64 bits
  /// from whatever strides it has.
  mlir::Value address(mlir::Value memref, mlir::ValueRange indices);
};

/// Waits until the phase of that parity of an mbarrier is over, unless `isOver`
/// says so; a thread traps that waits for seconds, if the wait `isBounded`.
void emitWait(KernelBuilder &b, mlir::Value barrier, mlir::Value parity,
              bool isBounded, mlir::Value isOver = {});

/// A stage of a pipeline, for one use of it.
struct Stage {
  mlir::Value data, full, empty;
  /// The same as `data`, as a tile.
  mlir::Value tile;
  /// Which of its uses this is, modulo 2.
  mlir::Value parity;

  Stage(KernelBuilder &b, PipelineType type, mlir::Value pipeline,
        mlir::Value index);
};

void populatePipelinePatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns,
                              const SharedMemoryLayout &layout,
                              bool debugWaits);
void populateCopyPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
void populateMmaPatterns(const mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns);
void populateMaskPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
void populateRowPatterns(const mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns);
void populateCastPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
void populateAccumulatorPatterns(const mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
void populateEpiloguePatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_VCATTNKERNELTONVVM_KERNELTONVVM_H
