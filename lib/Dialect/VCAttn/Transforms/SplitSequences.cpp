//===- SplitSequences.cpp - Packed sequences as a loop --------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each sequence becomes an attention of its own, on slices of dynamic size.
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_SPLITSEQUENCES
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

namespace {
/// Some tokens: where they start, and how many they are.
struct Tokens {
  Value first, count;
};

/// Builds the loop that replaces one attention.
class SequenceLoop {
public:
  SequenceLoop(VarlenAttentionOp op, IRRewriter &rewriter)
      : op(op), rewriter(rewriter), b(op.getLoc(), rewriter),
        tokensDim(getTokensDim(op.getLayout())) {}

  void run() {
    b.setInsertionPoint(op);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, b.getLoc(), op.getQuery());
    SmallVector<OpFoldResult> lse{
        sizes[kBatchDim], sizes[getHeadsDim(op.getLayout())], sizes[tokensDim]};
    sizes[kChannelDim] =
        tensor::getMixedSize(b, b.getLoc(), op.getValue(), kChannelDim);
    SmallVector<Value> outs{filled(sizes, op.getResult(), 0.0)};
    if (op.getLse())
      outs.push_back(
          filled(lse, op.getLse(), -std::numeric_limits<double>::infinity()));
    Value one = index(1);
    Value boundaries = b.createOrFold<tensor::DimOp>(op.getCuQueries(), 0);
    Value count = arith::SubIOp::create(b, boundaries, one);
    auto loop = scf::ForOp::create(
        b, index(0), count, one, outs,
        [&](OpBuilder &nested, Location, Value s, ValueRange outs) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(nested.getInsertionBlock());
          scf::YieldOp::create(b, attend(s, outs));
        });
    SmallVector<Value> results;
    for (auto [value, result] :
         llvm::zip_equal(loop.getResults(), op->getResults()))
      results.push_back(cast(value, result.getType()));
    rewriter.replaceOp(op, results);
  }

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  Value cast(Value value, Type type) {
    if (value.getType() == type)
      return value;
    return tensor::CastOp::create(b, type, value);
  }

  /// What queries in no sequence get, in the sizes and type of `like`.
  Value filled(ArrayRef<OpFoldResult> sizes, Value like, double value) {
    Type element = getElementTypeOrSelf(like.getType());
    Value empty = tensor::EmptyOp::create(b, sizes, element);
    Value constant =
        arith::ConstantOp::create(b, b.getFloatAttr(element, value));
    return linalg::FillOp::create(b, constant, empty).getResult(0);
  }

  /// Tokens of sequence `s` of `tensor`.
  Tokens tokensOf(Value boundaries, Value s, Value tensor) {
    Value all = b.createOrFold<tensor::DimOp>(tensor, tokensDim);
    auto boundary = [&](Value i, Value least) -> Value {
      Value entry = tensor::ExtractOp::create(b, boundaries, i);
      Value token = arith::IndexCastOp::create(b, b.getIndexType(), entry);
      token = arith::MaxSIOp::create(b, token, least);
      return arith::MinSIOp::create(b, token, all);
    };
    Value first = boundary(s, index(0));
    Value next = arith::AddIOp::create(b, s, index(1));
    Value end = boundary(next, first);
    return {first, arith::SubIOp::create(b, end, first)};
  }

  /// Offsets and sizes of `tokens` of all heads of a tensor like `tensor`, in
  /// which they are dimension `dim`.
  void getSlice(Value tensor, unsigned dim, Tokens tokens,
                SmallVectorImpl<OpFoldResult> &offsets,
                SmallVectorImpl<OpFoldResult> &sizes) {
    sizes = tensor::getMixedSizes(b, b.getLoc(), tensor);
    offsets.assign(sizes.size(), b.getIndexAttr(0));
    offsets[dim] = tokens.first;
    sizes[dim] = tokens.count;
  }

  Value extract(Value tensor, Tokens tokens) {
    SmallVector<OpFoldResult> offsets, sizes;
    getSlice(tensor, tokensDim, tokens, offsets, sizes);
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(b, tensor, offsets, sizes, strides);
  }

  Value insert(Value part, Value tensor, unsigned dim, Tokens tokens) {
    SmallVector<OpFoldResult> offsets, sizes;
    getSlice(tensor, dim, tokens, offsets, sizes);
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    return tensor::InsertSliceOp::create(b, part, tensor, offsets, sizes,
                                         strides);
  }

  /// `outs` with the results of sequence `s`.
  SmallVector<Value> attend(Value s, ValueRange outs) {
    Tokens queries = tokensOf(op.getCuQueries(), s, op.getQuery());
    Tokens keys = tokensOf(op.getCuKeys(), s, op.getKey());
    auto partType = [&](Value out, unsigned dim) {
      auto type = ::cast<RankedTensorType>(out.getType());
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = ShapedType::kDynamic;
      return type.clone(shape);
    };
    constexpr unsigned kLseTokens = 2;
    auto attention = AttentionOp::create(
        b, partType(outs[0], tokensDim),
        op.getLse() ? Type(partType(outs[1], kLseTokens)) : Type(),
        extract(op.getQuery(), queries), extract(op.getKey(), keys),
        extract(op.getValue(), keys), /*mask=*/Value(), /*means=*/Value(),
        /*lengths=*/Value(), /*block_mask=*/Value(), op.getScaleAttr(),
        op.getCausalAttr(), op.getWindowAttr(), op.getLayoutAttr());
    attention->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    SmallVector<Value> results{
        insert(attention.getResult(), outs[0], tokensDim, queries)};
    if (op.getLse())
      results.push_back(
          insert(attention.getLse(), outs[1], kLseTokens, queries));
    return results;
  }

  VarlenAttentionOp op;
  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  unsigned tokensDim;
};

class SplitSequences : public vcattn::impl::SplitSequencesBase<SplitSequences> {
public:
  using SplitSequencesBase::SplitSequencesBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto op : collect<VarlenAttentionOp>(getOperation())) {
      if (!readable) {
        op.emitError("a loop over sequences runs on the host, which cannot "
                     "read where they begin on a GPU: pad them to one length "
                     "and use vcattn.attention with lengths");
        return signalPassFailure();
      }
      SequenceLoop(op, rewriter).run();
      ++split;
    }
  }
};
} // namespace
