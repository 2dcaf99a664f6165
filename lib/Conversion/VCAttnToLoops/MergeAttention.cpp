//===- MergeAttention.cpp - merge_attention as loops ----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop merges results, another, if it is wanted, the log-sum-exp; each
// works out the weights it needs.
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include <limits>

using namespace mlir;
using namespace vcattn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
class Merging {
public:
  Merging(LoopBuilder &b, Value lses)
      : b(b), lses(lses), shards(b.dim(lses, 0)) {}

  /// The largest log-sum-exp of a query; NaN counts as nothing here.
  Value top(ArrayRef<Value> query) {
    return b.loop(b.index(0), shards, {constant(-kInfinity)},
                  [&](Value shard, ArrayRef<Value> top) {
                    Value lse = b.extract(lses, at(shard, query));
                    return SmallVector<Value>{b.maxNum(top[0], lse)};
                  })[0];
  }

  /// How much a shard weighs for a query.
  Value weight(Value shard, ArrayRef<Value> query, Value top) {
    Value lse = b.extract(lses, at(shard, query));
    Value octaves = b.mulF(b.subF(lse, top), constant(kLog2E));
    return b.select(isNothing(lse), constant(0.0), b.exp2F32(octaves));
  }

  Value isNothing(Value lse) {
    return b.cmpF(arith::CmpFPredicate::OEQ, lse, constant(-kInfinity));
  }
  Value constant(double value) {
    return b.floatConstant(b.getF32Type(), static_cast<float>(value));
  }
  static SmallVector<Value> at(Value shard, ArrayRef<Value> indices) {
    SmallVector<Value> all{shard};
    llvm::append_range(all, indices);
    return all;
  }

  static constexpr double kLog2E = 1.4426950408889634,
                          kLn2 = 0.6931471805599453;

  LoopBuilder &b;
  Value lses, shards;
};
} // namespace

static Value mergeResults(LoopBuilder &b, MergeAttentionOp op, Merging &m,
                          const TokenSizes &n) {
  Layout layout = op.getLayout();
  Type element = getElementTypeOrSelf(op.getResult().getType());
  int64_t width = b.width(n.dim), lanes = LoopBuilder::lanes(width);
  int64_t vectors = width / lanes;
  TokenIndex shape{n.batch, n.heads, n.tokens, b.index(n.dim)};
  Value result = b.empty(shape.in(layout), element);
  return b.forall(
      {n.batch, n.heads, n.tokens, b.index(n.dim / width)}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        ArrayRef<Value> query = i.take_front(3);
        TokenIndex place{i[0], i[1], i[2], b.mul(i[3], b.index(width))};
        Value top = m.top(query);
        auto vector = VectorType::get({lanes}, b.getF32Type());
        // The weights' sum, then the channels.
        SmallVector<Value> sums(1 + vectors, b.floatConstant(vector, 0.0));
        sums[0] = m.constant(0.0);
        sums = b.loop(
            b.index(0), m.shards, sums, [&](Value shard, ArrayRef<Value> old) {
              SmallVector<Value> sums(old);
              Value weight = m.weight(shard, query, top);
              sums[0] = b.addF(sums[0], weight);
              SmallVector<Value> x =
                  b.readF32(op.getPartial(),
                            Merging::at(shard, place.in(layout)), width, lanes);
              for (int64_t v = 0; v < vectors; ++v)
                sums[1 + v] = b.fma(b.splat(weight, lanes), x[v], sums[1 + v]);
              return sums;
            });
        Value isEmpty =
            b.cmpF(arith::CmpFPredicate::OEQ, sums[0], m.constant(0.0));
        SmallVector<Value> row;
        for (Value sum : ArrayRef(sums).drop_front()) {
          Value x = b.divF(sum, b.splat(sums[0], lanes));
          x = b.select(isEmpty, b.floatConstant(vector, 0.0), x);
          row.push_back(emitFromF32(b, x, element));
        }
        LoopBuilder::Slice slice = b.row(out[0], place.in(layout), width);
        slice.tensor = b.writeAll(row, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

static Value mergeLses(LoopBuilder &b, Merging &m, const TokenSizes &n) {
  Value result = b.empty({n.batch, n.heads, n.tokens}, b.getF32Type());
  return b.forall(
      {n.batch, n.heads, n.tokens}, {result},
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value top = m.top(i);
        Value sum = b.loop(b.index(0), m.shards, {m.constant(0.0)},
                           [&](Value shard, ArrayRef<Value> sum) {
                             Value weight = m.weight(shard, i, top);
                             return SmallVector<Value>{b.addF(sum[0], weight)};
                           })[0];
        Value log =
            b.mulF(math::Log2Op::create(b, sum), m.constant(Merging::kLn2));
        Value isEmpty = b.cmpF(arith::CmpFPredicate::OEQ, sum, m.constant(0.0));
        Value lse = b.select(isEmpty, m.constant(-kInfinity), b.addF(top, log));
        LoopBuilder::Slice slice = b.row(out[0], i, 1);
        slice.tensor = b.insert(lse, slice.tensor, {b.index(0)});
        return SmallVector<LoopBuilder::Slice>{slice};
      })[0];
}

Lowered vcattn::lowerMergeAttention(LoopBuilder &b, MergeAttentionOp op) {
  Value partial = op.getPartial();
  auto type = cast<ShapedType>(partial.getType());
  auto sizeOf = [&](unsigned dim) { return b.dim(partial, 1 + dim); };
  TokenSizes n{sizeOf(kBatchDim), sizeOf(getHeadsDim(op.getLayout())),
               sizeOf(getTokensDim(op.getLayout())),
               type.getDimSize(1 + kChannelDim)};
  if (ShapedType::isDynamic(n.dim))
    return op.emitOpError("cannot be lowered to loops: the last dimension of "
                          "partial must be static, got ")
           << type;
  Merging m(b, op.getPartialLse());
  SmallVector<Value> results{mergeResults(b, op, m, n)};
  if (op.getLse())
    results.push_back(mergeLses(b, m, n));
  return results;
}
