//===- RaiseAttention.cpp - Find attention in linalg ----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is matched and what is refused stands in AttentionMatcher.h, what
// becomes of shapes in AttentionBuilder.h.
//
//===----------------------------------------------------------------------===//

#include "AttentionBuilder.h"
#include "LinalgFrontend.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "vcattn/Conversion/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_RAISEATTENTION
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Sums of products over one loop: what can be the product with the values.
static SmallVector<Operation *> collectProducts(Operation *root) {
  SmallVector<Operation *> products;
  root->walk([&](linalg::LinalgOp op) {
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(op);
    if (succeeded(dims) && dims->k.size() == 1 && op.hasPureTensorSemantics() &&
        op->getNumResults() == 1)
      products.push_back(op);
  });
  return products;
}

/// Erases `op` and what only it used.
static void eraseDead(Operation *op, DenseSet<Operation *> &erased,
                      RewriterBase &rewriter) {
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (erased.contains(next) || !isOpTriviallyDead(next))
      continue;
    // Bodies use constants from outside.
    next->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && !next->isAncestor(def))
          worklist.push_back(def);
    });
    erased.insert(next);
    rewriter.eraseOp(next);
  }
}

namespace {
class RaiseAttention : public vcattn::impl::RaiseAttentionBase<RaiseAttention> {
public:
  using RaiseAttentionBase::RaiseAttentionBase;

  void runOnOperation() override {
    LinalgFrontend frontend;
    IRRewriter rewriter(&getContext());
    DenseSet<Operation *> erased;
    // From the last one, so that a product of queries and keys is erased with
    // its attention before it is looked at.
    SmallVector<Operation *> products = collectProducts(getOperation());
    for (Operation *product : llvm::reverse(products)) {
      if (erased.contains(product))
        continue;
      Refusal refusal;
      FailureOr<AttentionMatch> match =
          matchAttention(product, frontend, refusal);
      if (succeeded(match) &&
          succeeded(buildAttention(*match, frontend, rewriter, refusal))) {
        eraseRaised(*match, erased, rewriter);
        ++raised;
        continue;
      }
      if (!refusal.op)
        continue;
      ++refused;
      if (remarks)
        refusal.op->emitRemark("attention is not raised: ") << refusal.reason;
    }
  }

private:
  void eraseRaised(const AttentionMatch &match, DenseSet<Operation *> &erased,
                   RewriterBase &rewriter) {
    // All that still uses the root was replaced with it.
    SetVector<Operation *> dead;
    dead.insert(match.root);
    for (unsigned i = 0; i < dead.size(); ++i)
      dead.insert_range(dead[i]->getUsers());
    SmallVector<Operation *> lastFirst(llvm::reverse(dead.getArrayRef()));
    llvm::append_range(lastFirst, match.interior);
    for (Operation *op : lastFirst)
      eraseDead(op, erased, rewriter);
  }
};
} // namespace
