//===- DecomposeForBufferization.cpp - Ops that loops cannot be made of ---===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNDECOMPOSEFORBUFFERIZATION
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

namespace {
class DecomposeForBufferization
    : public vcattn::impl::VCAttnDecomposeForBufferizationBase<
          DecomposeForBufferization> {
public:
  void runOnOperation() override {
    SmallVector<linalg::AggregatedOpInterface> aggregates;
    getOperation()->walk([&](linalg::AggregatedOpInterface op) {
      // Those on memrefs have no results to replace.
      if (op->getNumResults() > 0)
        aggregates.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::AggregatedOpInterface op : aggregates) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
      if (failed(results)) {
        op->emitOpError("cannot be decomposed into ops that have loops");
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *results);
      ++numDecomposed;
    }

    SmallVector<tensor::ConcatOp> concats;
    getOperation()->walk([&](tensor::ConcatOp op) { concats.push_back(op); });
    numDecomposed += concats.size();
    RewritePatternSet patterns(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
