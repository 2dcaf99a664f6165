//===- UnrollTransfers.cpp - Vector transfers as element accesses ---------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream lowers a transfer of unknown stride to a loop that indexes the
// vector by its counter. A GPU's registers cannot be indexed: the vector would
// live in local memory.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNUNROLLTRANSFERS
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

/// Whether `op` moves whole vectors of rank 1 along a memref's last dimension.
static LogicalResult isSupported(VectorTransferOpInterface op,
                                 PatternRewriter &rewriter) {
  if (!isa<MemRefType>(op.getShapedType()))
    return rewriter.notifyMatchFailure(op, "not on a memref");
  if (op.getVectorType().getRank() != 1 || op.getVectorType().isScalable())
    return rewriter.notifyMatchFailure(op, "not a vector of rank 1");
  if (!op.getPermutationMap().isMinorIdentity())
    return rewriter.notifyMatchFailure(op, "not along the last dimension");
  if (op.hasOutOfBoundsDim() || op.getMask())
    return rewriter.notifyMatchFailure(op, "may leave elements out");
  return success();
}

/// The indices of element `i` of the vector that `op` moves.
static SmallVector<Value> getIndices(OpBuilder &builder,
                                     VectorTransferOpInterface op, int64_t i) {
  SmallVector<Value> indices(op.getIndices());
  if (i != 0)
    indices.back() = arith::AddIOp::create(
        builder, op.getLoc(), indices.back(),
        arith::ConstantIndexOp::create(builder, op.getLoc(), i));
  return indices;
}

namespace {
struct UnrollRead : public OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(isSupported(op, rewriter)))
      return failure();
    SmallVector<Value> elements;
    for (int64_t i = 0; i < op.getVectorType().getNumElements(); ++i)
      elements.push_back(memref::LoadOp::create(
          rewriter, op.getLoc(), op.getBase(), getIndices(rewriter, op, i)));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, op.getVectorType(),
                                                        elements);
    return success();
  }
};

struct UnrollWrite : public OpRewritePattern<vector::TransferWriteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransferWriteOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(isSupported(op, rewriter)))
      return failure();
    for (int64_t i = 0; i < op.getVectorType().getNumElements(); ++i) {
      Value element =
          vector::ExtractOp::create(rewriter, op.getLoc(), op.getVector(), i);
      memref::StoreOp::create(rewriter, op.getLoc(), element, op.getBase(),
                              getIndices(rewriter, op, i));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct UnrollTransfers
    : public vcattn::impl::VCAttnUnrollTransfersBase<UnrollTransfers> {
  void runOnOperation() override {
    auto count = [&] {
      int64_t transfers = 0;
      getOperation()->walk([&](VectorTransferOpInterface) { ++transfers; });
      return transfers;
    };
    int64_t before = count();
    RewritePatternSet patterns(&getContext());
    patterns.add<UnrollRead, UnrollWrite>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    numUnrolled += before - count();
  }
};
} // namespace
