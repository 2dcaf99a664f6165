//===- AssertSizes.cpp - Sizes that have to agree -------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_ASSERTSIZES
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

namespace {
/// Adds assertions before one attention.
class Asserter {
public:
  explicit Asserter(Operation *op) : builder(op), loc(op->getLoc()) {}

  /// `value`'s size in dimension `dim` is `other`'s in `otherDim`.
  void equal(Value value, int64_t dim, Value other, int64_t otherDim,
             const Twine &message) {
    if (isStatic(value, dim) && isStatic(other, otherDim))
      return; // the verifier has seen them
    Value same = compare(arith::CmpIPredicate::eq, size(value, dim),
                         size(other, otherDim));
    add(same, message);
  }

  /// `value`'s size in dimension `dim` is a multiple of `other`'s.
  void multiple(Value value, Value other, int64_t dim, const Twine &message) {
    if (isStatic(value, dim) && isStatic(other, dim))
      return;
    // No key heads go with no query heads; nothing is divided by 0.
    Value heads = size(value, dim), divisor = size(other, dim);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value nonzero = arith::MaxUIOp::create(builder, loc, divisor, one);
    Value rest = arith::RemUIOp::create(builder, loc, heads, nonzero);
    Value divides = compare(arith::CmpIPredicate::eq, rest, zero);
    Value some = compare(arith::CmpIPredicate::ne, divisor, zero);
    Value none = compare(arith::CmpIPredicate::eq, heads, zero);
    Value fits = arith::OrIOp::create(
        builder, loc, none, arith::AndIOp::create(builder, loc, divides, some));
    add(fits, message);
  }

  /// `mask`'s size in dimension `dim` is 1 or `other`'s in `otherDim`.
  void broadcasts(Value mask, int64_t dim, Value other, int64_t otherDim,
                  const Twine &message) {
    auto type = cast<ShapedType>(mask.getType());
    if (type.getDimSize(dim) == 1 ||
        (isStatic(mask, dim) && isStatic(other, otherDim)))
      return;
    Value has = size(mask, dim);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value fits = arith::OrIOp::create(
        builder, loc, compare(arith::CmpIPredicate::eq, has, one),
        compare(arith::CmpIPredicate::eq, has, size(other, otherDim)));
    add(fits, message);
  }

  /// `blocks` has an entry for each tile of `other`'s dimension `otherDim`.
  void tiles(Value blocks, int64_t dim, Value other, int64_t otherDim,
             const Twine &message) {
    if (isStatic(blocks, dim) && isStatic(other, otherDim))
      return;
    Value tile = arith::ConstantIndexOp::create(builder, loc, kBlockTokens);
    Value wanted =
        arith::CeilDivUIOp::create(builder, loc, size(other, otherDim), tile);
    add(compare(arith::CmpIPredicate::eq, size(blocks, dim), wanted), message);
  }

  int64_t getCount() const { return count; }

private:
  static bool isStatic(Value value, int64_t dim) {
    return !cast<ShapedType>(value.getType()).isDynamicDim(dim);
  }
  Value size(Value value, int64_t dim) {
    return builder.createOrFold<tensor::DimOp>(loc, value, dim);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  void add(Value condition, const Twine &message) {
    cf::AssertOp::create(builder, loc, condition,
                         ("attention: " + message).str());
    ++count;
  }

  OpBuilder builder;
  Location loc;
  int64_t count = 0;
};

struct AssertSizes : public vcattn::impl::AssertSizesBase<AssertSizes> {
  void runOnOperation() override {
    getOperation()->walk([&](AttentionOp op) { assertSizes(op); });
  }

private:
  void assertSizes(AttentionOp op) {
    Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
    int64_t heads = getHeadsDim(op.getLayout()),
            tokens = getTokensDim(op.getLayout());
    Asserter asserter(op);
    asserter.equal(q, kBatchDim, k, kBatchDim,
                   "queries and keys differ in batch size");
    asserter.equal(k, kBatchDim, v, kBatchDim,
                   "keys and values differ in batch size");
    asserter.multiple(q, k, heads, "query heads are no multiple of key heads");
    asserter.equal(k, heads, v, heads, "keys and values differ in heads");
    asserter.equal(k, tokens, v, tokens, "keys and values differ in number");
    asserter.equal(q, kChannelDim, k, kChannelDim,
                   "queries and keys differ in head dimension");
    if (Value mask = op.getMask()) {
      StringRef message = "the mask's size in dimension ";
      StringRef end = " is neither 1 nor full";
      asserter.broadcasts(mask, 0, q, kBatchDim, message + "0" + end);
      asserter.broadcasts(mask, 1, q, heads, message + "1" + end);
      asserter.broadcasts(mask, 2, q, tokens, message + "2" + end);
      asserter.broadcasts(mask, 3, k, tokens, message + "3" + end);
    }
    if (Value lengths = op.getLengths())
      asserter.equal(lengths, 0, q, kBatchDim, "lengths are not one per batch");
    if (Value blocks = op.getBlockMask()) {
      StringRef message = "the block mask's size in dimension ";
      asserter.broadcasts(blocks, 0, q, kBatchDim,
                          message + "0 is neither 1 nor full");
      asserter.broadcasts(blocks, 1, q, heads,
                          message + "1 is neither 1 nor full");
      asserter.tiles(blocks, 2, q, tokens,
                     message + "2 is not the number of query tiles");
      asserter.tiles(blocks, 3, k, tokens,
                     message + "3 is not the number of key tiles");
    }
    numAssertions += asserter.getCount();
  }
};
} // namespace
