//===- LoopBuilder.h - Loops over slices of tensors -------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the lowerings of this conversion share. Each op becomes scf.forall loops
// whose iterations are independent: an iteration reads what it likes and writes
// one slice of each output, which bufferization turns into writes in place. On
// a GPU one iteration is one thread, so iterations neither share memory nor
// allocate any (the attention ops, which are lowered for the CPU only, do).
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_VCATTNTOLOOPS_LOOPBUILDER_H
#define VCATTN_CONVERSION_VCATTNTOLOOPS_LOOPBUILDER_H

#include "vcattn/Conversion/NumericBuilder.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

namespace vcattn {

/// How much one iteration does, and which of two equal formulations is emitted.
struct LoopOptions {
  /// Channels that one iteration handles; 0 means all of them.
  int64_t vectorWidth = 0;
  /// Trade work for more independent iterations.
  bool forGPU = false;
};

/// Lanes of the vectors that long rows are cut into.
inline constexpr int64_t kLanes = 16;

/// A place in a tensor [B, H, tokens, D] of either layout, or of any tensor
/// whose first two dimensions are batch and heads.
struct TokenIndex {
  mlir::Value batch, head, token, channel;

  /// The indices in the order of a rank-4 tensor of `layout`.
  llvm::SmallVector<mlir::Value> in(Layout layout) const {
    if (layout == Layout::BHTD)
      return {batch, head, token, channel};
    return {batch, token, head, channel};
  }
};

/// The sizes of a rank-4 tensor by meaning, as values.
struct TokenSizes {
  mlir::Value batch, heads, tokens;
  int64_t dim;
};

class LoopBuilder : public NumericBuilder {
public:
  LoopBuilder(mlir::Location loc, mlir::Operation *before, LoopOptions options)
      : NumericBuilder(loc, before), options(options) {}

  const LoopOptions options;

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  Value dim(Value tensor, int64_t dim);
  TokenSizes sizes(Value tensor, Layout layout);
  /// An uninitialized tensor.
  Value empty(mlir::ArrayRef<Value> sizes, mlir::Type element);
  /// An uninitialized tensor of 8-bit elements whose rows, of `dim` of them,
  /// start 16 bytes or a multiple of it apart, as tensor maps want them.
  Value emptyRows(mlir::ArrayRef<Value> sizes, int64_t dim, mlir::Type element);
  /// An uninitialized tensor with the sizes of `like`.
  Value emptyLike(Value like, mlir::Type element);
  /// How many of `tokens` count in `batch`; all without `lengths`.
  Value countedTokens(Value lengths, Value batch, Value tokens);
  /// Tokens of part `part` when cut into parts of `size`: [first, second).
  std::pair<Value, Value> tokensOfPart(Value part, int64_t size, Value tokens);
  /// `index`, or 0 where `tensor` has 1 in dimension `dim`: it broadcasts.
  Value broadcastIndex(Value tensor, int64_t dim, Value index);
  /// The element at `indices`.
  Value extract(Value tensor, mlir::ArrayRef<Value> indices);
  Value insert(Value scalar, Value tensor, mlir::ArrayRef<Value> indices);
  /// `lanes` elements along the last dimension.
  Value read(Value tensor, mlir::ArrayRef<Value> indices, int64_t lanes);
  Value write(Value vector, Value tensor, mlir::ArrayRef<Value> indices);
  /// `width` elements along the last dimension as vectors of `lanes`, in FP32.
  llvm::SmallVector<Value> readF32(Value tensor, mlir::ArrayRef<Value> indices,
                                   int64_t width, int64_t lanes);
  /// Writes vectors one after the other along the last dimension.
  Value writeAll(mlir::ArrayRef<Value> vectors, Value tensor,
                 mlir::ArrayRef<Value> indices);

  //===--------------------------------------------------------------------===//
  // Cutting the channels
  //===--------------------------------------------------------------------===//

  /// Channels of one iteration: the option's, if it divides `dim`.
  int64_t width(int64_t dim) const;
  /// Lanes of the vectors that `width` channels are cut into.
  static int64_t lanes(int64_t width);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// What an iteration writes into one output: the elements from `offsets` on,
  /// `sizes` of them per dimension (dimensions of size 1 may be dropped).
  struct Slice {
    Value tensor;
    llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;
  };
  /// The slice [offsets, offsets + (1, .., 1, width)) of `tensor`, of rank 1.
  Slice row(Value tensor, mlir::ArrayRef<Value> offsets, int64_t width);
  /// Any slice, reduced to `keptDims` dimensions: the last one and, before it,
  /// those whose size is not the constant 1.
  Slice slice(Value tensor, mlir::ArrayRef<Value> offsets,
              mlir::ArrayRef<mlir::OpFoldResult> sizes, int64_t keptDims);

  /// Emits an scf.forall over [0, bounds) that writes `outputs`; `body` gets
  /// the indices and the outputs and returns one slice for each output.
  llvm::SmallVector<Value>
  forall(mlir::ArrayRef<Value> bounds, mlir::ArrayRef<Value> outputs,
         llvm::function_ref<llvm::SmallVector<Slice>(
             mlir::ArrayRef<Value> indices, mlir::ArrayRef<Value> outputs)>
             body);

  /// Emits an scf.for over [lower, upper) that carries values.
  llvm::SmallVector<Value> loop(Value lower, Value upper,
                                mlir::ArrayRef<Value> inits,
                                llvm::function_ref<llvm::SmallVector<Value>(
                                    Value index, mlir::ArrayRef<Value> carried)>
                                    body,
                                int64_t step = 1);

  /// Calls `body` with the offsets 0, step, 2 * step ... below `bound`:
  /// unrolled up to `maxUnrolled` times, else in an scf.for.
  llvm::SmallVector<Value>
  steps(int64_t bound, int64_t step, mlir::ArrayRef<Value> inits,
        llvm::function_ref<llvm::SmallVector<Value>(
            Value offset, mlir::ArrayRef<Value> carried)>
            body,
        int64_t maxUnrolled = 16);

  /// Emits an scf.if that yields what the branches return.
  llvm::SmallVector<Value>
  branch(Value condition,
         llvm::function_ref<llvm::SmallVector<Value>()> thenBody,
         llvm::function_ref<llvm::SmallVector<Value>()> elseBody);

  //===--------------------------------------------------------------------===//
  // Horizontal reductions, in a fixed order
  //===--------------------------------------------------------------------===//

  using Combine = llvm::function_ref<Value(Value, Value)>;
  /// One vector out of several, pairwise.
  Value combine(mlir::ArrayRef<Value> vectors, Combine combine);
  /// One lane of a vector.
  Value element(Value vector, int64_t lane);
  /// One scalar out of a vector, by halves.
  Value reduce(Value vector, Combine combine);
};

//===----------------------------------------------------------------------===//
// Lowerings: each returns the op's results, or reports why it cannot
//===----------------------------------------------------------------------===//

using Lowered = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

Lowered lowerCenterKeys(LoopBuilder &b, CenterKeysOp op);
Lowered lowerHadamard(LoopBuilder &b, HadamardOp op);
Lowered lowerGatherTokens(LoopBuilder &b, GatherTokensOp op);
Lowered lowerGatherMask(LoopBuilder &b, GatherMaskOp op);
Lowered lowerBlockResidual(LoopBuilder &b, BlockResidualOp op);
Lowered lowerQuantize(LoopBuilder &b, QuantizeOp op);
Lowered lowerCluster(LoopBuilder &b, ClusterOp op);
Lowered lowerPackValues(LoopBuilder &b, PackValuesOp op);
Lowered lowerPackMeans(LoopBuilder &b, PackMeansOp op);
Lowered lowerCompensateMeans(LoopBuilder &b, CompensateMeansOp op);
Lowered lowerCorrectLse(LoopBuilder &b, CorrectLseOp op);
Lowered lowerMergeAttention(LoopBuilder &b, MergeAttentionOp op);
Lowered lowerAttention(LoopBuilder &b, AttentionOp op);
Lowered lowerQuantizedAttention(LoopBuilder &b, QuantizedAttentionOp op);

/// Reports, unless the head dimension of `type` is static.
mlir::LogicalResult checkStaticDim(mlir::Operation *op, mlir::Value tensor,
                                   llvm::StringRef name);

} // namespace vcattn

#endif // VCATTN_CONVERSION_VCATTNTOLOOPS_LOOPBUILDER_H
