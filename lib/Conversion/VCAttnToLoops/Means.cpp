//===- Means.cpp - center_keys and block_residual as loops ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both start from sums over blocks of 128 tokens, each in token order from 0.
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"

using namespace mlir;
using namespace vcattn;

/// What a sum of `tokens` is divided by; where lengths may leave none, their
/// mean is 0.
static Value countOf(LoopBuilder &b, Value tokens, Value lengths) {
  return b.toF32(lengths ? b.maxS(tokens, b.index(1)) : tokens);
}

/// The sums of each block of 128 tokens, [B, H, blocks, D]; divided by the
/// number of tokens in the block if `divide`.
static Value sumBlocks(LoopBuilder &b, Value input, Value lengths,
                       Layout layout, bool divide) {
  TokenSizes n = b.sizes(input, layout);
  int64_t width = b.width(n.dim), lanes = LoopBuilder::lanes(width);
  Value blocks = b.ceilDiv(n.tokens, kBlockTokens);
  Value sums =
      b.empty({n.batch, n.heads, blocks, b.index(n.dim)}, b.getF32Type());
  return b.forall(
      {n.batch, n.heads, blocks, b.index(n.dim / width)}, {sums},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[3], b.index(width));
        Value tokens = b.countedTokens(lengths, i[0], n.tokens);
        auto [first, last] = b.tokensOfPart(i[2], kBlockTokens, tokens);
        auto vector = VectorType::get({lanes}, b.getF32Type());
        SmallVector<Value> zeros(width / lanes, b.floatConstant(vector, 0.0));
        SmallVector<Value> sum =
            b.loop(first, last, zeros, [&](Value token, ArrayRef<Value> sum) {
              TokenIndex at{i[0], i[1], token, channel};
              SmallVector<Value> x =
                  b.readF32(input, at.in(layout), width, lanes);
              for (auto [value, partial] : llvm::zip_equal(x, sum))
                value = b.addF(partial, value);
              return x;
            });
        if (divide) {
          Value count = b.splat(countOf(b, b.sub(last, first), lengths), lanes);
          for (Value &value : sum)
            value = b.divF(value, count);
        }
        LoopBuilder::Slice slice =
            b.row(out[0], {i[0], i[1], i[2], channel}, width);
        slice.tensor = b.writeAll(sum, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

/// input - means: `means` is read at the indices that `meanOf` gives. 0 for
/// tokens that do not count.
static Value subtract(LoopBuilder &b, Value input, Value lengths, Layout layout,
                      Value means,
                      function_ref<SmallVector<Value>(TokenIndex)> meanOf) {
  TokenSizes n = b.sizes(input, layout);
  int64_t width = b.width(n.dim), lanes = LoopBuilder::lanes(width);
  Value result = b.emptyLike(input, b.getF32Type());
  return b.forall(
      {n.batch, n.heads, n.tokens, b.index(n.dim / width)}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        TokenIndex at{i[0], i[1], i[2], b.mul(i[3], b.index(width))};
        SmallVector<Value> x = b.readF32(input, at.in(layout), width, lanes);
        SmallVector<Value> mean = b.readF32(means, meanOf(at), width, lanes);
        for (auto [value, center] : llvm::zip_equal(x, mean))
          value = b.subF(value, center);
        if (lengths) {
          Value tokens = b.countedTokens(lengths, i[0], n.tokens);
          Value counts = b.cmpI(arith::CmpIPredicate::slt, i[2], tokens);
          for (Value &value : x)
            value =
                b.select(counts, value, b.floatConstant(value.getType(), 0.0));
        }
        LoopBuilder::Slice slice = b.row(out[0], at.in(layout), width);
        slice.tensor = b.writeAll(x, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Lowered vcattn::lowerCenterKeys(LoopBuilder &b, CenterKeysOp op) {
  if (failed(checkStaticDim(op, op.getKey(), "key")))
    return failure();
  Layout layout = op.getLayout();
  TokenSizes n = b.sizes(op.getKey(), layout);
  int64_t width = b.width(n.dim), lanes = LoopBuilder::lanes(width);
  Value lengths = op.getLengths();
  Value sums = sumBlocks(b, op.getKey(), lengths, layout, /*divide=*/false);
  Value blocks = b.dim(sums, 2);
  Value mean = b.empty({n.batch, n.heads, b.index(n.dim)}, b.getF32Type());
  mean = b.forall(
      {n.batch, n.heads, b.index(n.dim / width)}, {mean},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[2], b.index(width));
        auto vector = VectorType::get({lanes}, b.getF32Type());
        SmallVector<Value> zeros(width / lanes, b.floatConstant(vector, 0.0));
        SmallVector<Value> total = b.loop(
            b.index(0), blocks, zeros, [&](Value block, ArrayRef<Value> total) {
              SmallVector<Value> x =
                  b.readF32(sums, {i[0], i[1], block, channel}, width, lanes);
              for (auto [value, partial] : llvm::zip_equal(x, total))
                value = b.addF(partial, value);
              return x;
            });
        Value tokens = b.countedTokens(lengths, i[0], n.tokens);
        Value count = b.splat(countOf(b, tokens, lengths), lanes);
        for (Value &value : total)
          value = b.divF(value, count);
        LoopBuilder::Slice slice = b.row(out[0], {i[0], i[1], channel}, width);
        slice.tensor = b.writeAll(total, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
  Value result =
      subtract(b, op.getKey(), lengths, layout, mean, [](TokenIndex at) {
        return SmallVector<Value>{at.batch, at.head, at.channel};
      });
  return SmallVector<Value>{result, mean};
}

Lowered vcattn::lowerBlockResidual(LoopBuilder &b, BlockResidualOp op) {
  if (failed(checkStaticDim(op, op.getValue(), "value")))
    return failure();
  Layout layout = op.getLayout();
  Value lengths = op.getLengths();
  Value means = sumBlocks(b, op.getValue(), lengths, layout, /*divide=*/true);
  Value residual =
      subtract(b, op.getValue(), lengths, layout, means, [&](TokenIndex at) {
        Value block =
            arith::DivUIOp::create(b, at.token, b.index(kBlockTokens));
        return SmallVector<Value>{at.batch, at.head, block, at.channel};
      });
  return SmallVector<Value>{residual, means};
}

Lowered vcattn::lowerCompensateMeans(LoopBuilder &b, CompensateMeansOp op) {
  if (failed(checkStaticDim(op, op.getCodes(), "codes")))
    return failure();
  TokenSizes n = b.sizes(op.getCodes(), op.getLayout());
  int64_t width = b.width(n.dim), lanes = LoopBuilder::lanes(width);
  Value left = sumBlocks(b, op.getCodes(), op.getLengths(), op.getLayout(),
                         /*divide=*/true);
  Value result = b.emptyLike(op.getMeans(), b.getF32Type());
  result = b.forall(
      {n.batch, n.heads, b.dim(left, 2), b.index(n.dim / width)}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value channel = b.mul(i[3], b.index(width));
        SmallVector<Value> at{i[0], i[1], i[2], channel};
        SmallVector<Value> x = b.readF32(op.getMeans(), at, width, lanes);
        SmallVector<Value> codes = b.readF32(left, at, width, lanes);
        SmallVector<Value> scale =
            b.readF32(op.getValueScale(), {i[0], i[1], channel}, width, lanes);
        for (auto [mean, code, step] : llvm::zip_equal(x, codes, scale))
          mean = b.subF(mean, b.mulF(code, step));
        LoopBuilder::Slice slice = b.row(out[0], at, width);
        slice.tensor = b.writeAll(x, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
  return SmallVector<Value>{result};
}
