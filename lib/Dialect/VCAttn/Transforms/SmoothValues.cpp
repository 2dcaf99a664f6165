//===- SmoothValues.cpp - Sort keys by cluster, take out block means ------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A permutation of the tokens that keys, values and mask share leaves attention
// as it is; one that puts alike values side by side makes what remains of them
// after subtracting block means small.
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_SMOOTHVALUES
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

static int64_t getHeads(Value value, Layout layout) {
  return TokenShape::get(cast<ShapedType>(value.getType()), layout).heads;
}

/// The mask if it tells keys apart and so must be permuted with them.
template <typename OpTy>
static Value getKeyMask(OpTy op) {
  Value mask = op.getMask();
  return mask && cast<ShapedType>(mask.getType()).getDimSize(3) != 1 ? mask
                                                                     : Value();
}

/// Query heads per key head, if both are known.
template <typename OpTy>
static std::optional<int64_t> getGroup(OpTy op) {
  int64_t query = getHeads(op.getQuery(), op.getLayout());
  int64_t key = getHeads(op.getKey(), op.getLayout());
  if (ShapedType::isDynamic(query) || ShapedType::isDynamic(key) || key == 0)
    return std::nullopt;
  return query / key;
}

static bool isBounded(std::optional<WindowAttr> window) {
  return window && (window->getLeft() >= 0 || window->getRight() >= 0);
}

/// Remarks and fails where tokens have to stay in sequence order.
template <typename OpTy>
static LogicalResult checkPermutable(OpTy op) {
  const char *why = nullptr;
  if (op.getCausal() != Causality::None)
    why = "causality is about their positions";
  else if (isBounded(op.getWindow()))
    why = "a window is about their positions";
  else if (op.getBlockMask())
    why = "a block mask is about their tiles";
  else if (isa<IntegerType, Float8E4M3FNType>(
               getElementTypeOrSelf(op.getKey().getType())))
    why = "they are codes already";
  else if (getKeyMask(op) && !getGroup(op))
    why = "a mask needs a static number of query heads per key head";
  if (!why)
    return success();
  return op.emitRemark("keys stay in sequence order: ") << why;
}

/// Puts keys, values and mask in the order of the values' clusters.
template <typename OpTy>
static void sortByCluster(OpTy op, int64_t clusters, int64_t iterations,
                          IRRewriter &rewriter) {
  Location loc = op.getLoc();
  Layout layout = op.getLayout();
  Value permutation =
      ClusterOp::create(rewriter, loc, op.getValue(), op.getLengths(), clusters,
                        iterations, layout)
          .getPermutation();
  Value key =
      GatherTokensOp::create(rewriter, loc, op.getKey(), permutation, layout);
  Value value =
      GatherTokensOp::create(rewriter, loc, op.getValue(), permutation, layout);
  Value mask;
  if (Value keyMask = getKeyMask(op))
    mask = GatherMaskOp::create(rewriter, loc, keyMask, permutation,
                                *getGroup(op));
  rewriter.modifyOpInPlace(op, [&] {
    op.getKeyMutable().assign(key);
    op.getValueMutable().assign(value);
    if (mask)
      op.getMaskMutable().assign(mask);
  });
}

/// Takes the means of blocks of tokens out of the values.
template <typename OpTy>
static void takeOutMeans(OpTy op, IRRewriter &rewriter) {
  auto split = BlockResidualOp::create(rewriter, op.getLoc(), op.getValue(),
                                       op.getLengths(), op.getLayout());
  rewriter.modifyOpInPlace(op, [&] {
    op.getValueMutable().assign(split.getResidual());
    op.getMeansMutable().assign(split.getMeans());
  });
}

namespace {
class SmoothValues : public vcattn::impl::SmoothValuesBase<SmoothValues> {
public:
  using SmoothValuesBase::SmoothValuesBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (clusters < 0 || iterations < 0)
      return emitError(UnknownLoc::get(context),
                       "vcattn-smooth-values: clusters and iterations must not "
                       "be negative");
    return success();
  }

  void runOnOperation() override {
    for (AttentionOp op : collect<AttentionOp>(getOperation()))
      smooth(op);
    for (auto op : collect<QuantizedAttentionOp>(getOperation())) {
      if (op.getValueScale()) {
        op.emitRemark("values are not smoothed: they are codes already");
        ++refused;
        continue;
      }
      smooth(op);
    }
  }

private:
  template <typename OpTy>
  void smooth(OpTy op) {
    if (op.getMeans())
      return;
    IRRewriter rewriter(op);
    if (clusters > 0) {
      if (succeeded(checkPermutable(op))) {
        sortByCluster(op, clusters, iterations, rewriter);
        ++clustered;
      } else {
        ++refused;
      }
    }
    takeOutMeans(op, rewriter);
    ++centered;
  }
};
} // namespace
