//===- AttentionProducts.cpp - Tile products in registers -----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both products keep a block of 4 rows x 4 vectors in registers while they run
// over the inner dimension in order: 16 fused multiply-adds for 4 loads and 4
// broadcasts.
//
//===----------------------------------------------------------------------===//

#include "AttentionLoops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace vcattn;

/// Vectors of a register block.
static constexpr int64_t kRegisterVectors = 4;

/// One register block of `left` [rows, inner] * `right` [inner, columns], added
/// to `accumulators` (row-major): rows from `row`, `vectors` vectors of columns
/// from `column`.
static SmallVector<Value> emitBlock(LoopBuilder &b, Value left, Value right,
                                    Value row, Value column, int64_t vectors,
                                    ArrayRef<Value> accumulators,
                                    bool skipUnseen) {
  int64_t inner = cast<ShapedType>(right.getType()).getDimSize(0);
  Type i32 = b.getI32Type();
  return b.loop(
      b.index(0), b.index(inner), accumulators,
      [&](Value k, ArrayRef<Value> old) {
        SmallVector<Value> columns, next;
        for (int64_t j = 0; j < vectors; ++j)
          columns.push_back(
              b.read(right, {k, b.add(column, b.index(j * kLanes))}, kLanes));
        for (int64_t r = 0; r < kRegisterRows; ++r) {
          Value x = b.extract(left, {b.add(row, b.index(r)), k});
          Value seen;
          if (skipUnseen)
            seen = b.cmpI(arith::CmpIPredicate::ne, b.bitcast(x, i32),
                          b.intConstant(i32, int64_t(1) << 31));
          Value splat = b.splat(x, kLanes);
          for (int64_t j = 0; j < vectors; ++j) {
            Value sum = b.fma(splat, columns[j], old[r * vectors + j]);
            next.push_back(
                skipUnseen ? b.select(seen, sum, old[r * vectors + j]) : sum);
          }
        }
        return next;
      });
}

/// Calls `body` for each register block of `groups` x `columns`, carrying a
/// tensor.
static Value forBlocks(
    LoopBuilder &b, Value groups, int64_t columns, Value carried,
    function_ref<Value(Value row, Value column, int64_t vectors, Value carried)>
        body) {
  return b.loop(
      b.index(0), groups, {carried}, [&](Value group, ArrayRef<Value> carried) {
        Value row = b.mul(group, b.index(kRegisterRows));
        constexpr int64_t kWidth = kRegisterVectors * kLanes;
        Value result = b.steps(
            columns / kWidth * kWidth, kWidth, carried,
            [&](Value column, ArrayRef<Value> carried) {
              return SmallVector<Value>{
                  body(row, column, kRegisterVectors, carried[0])};
            },
            /*maxUnrolled=*/2)[0];
        if (int64_t rest = columns % kWidth)
          result = body(row, b.index(columns - rest), rest / kLanes, result);
        return SmallVector<Value>{result};
      })[0];
}

Value vcattn::emitScores(LoopBuilder &b, Value queries, Value keys,
                         Value scores, Value groups) {
  Value zero = b.floatConstant(VectorType::get({kLanes}, b.getF32Type()), 0.0);
  return forBlocks(
      b, groups, kTileKeys, scores,
      [&](Value row, Value column, int64_t vectors, Value scores) {
        SmallVector<Value> zeros(kRegisterRows * vectors, zero);
        SmallVector<Value> sums =
            emitBlock(b, queries, keys, row, column, vectors, zeros,
                      /*skipUnseen=*/false);
        for (int64_t r = 0; r < kRegisterRows; ++r)
          scores = b.writeAll(ArrayRef(sums).slice(r * vectors, vectors),
                              scores, {b.add(row, b.index(r)), column});
        return scores;
      });
}

Value vcattn::emitValues(LoopBuilder &b, Value probabilities, Value values,
                         Value means, Value factors, Value sums,
                         Value accumulator, Value groups, bool skipUnseen) {
  int64_t columns = cast<ShapedType>(values.getType()).getDimSize(1);
  return forBlocks(
      b, groups, columns, accumulator,
      [&](Value row, Value column, int64_t vectors, Value accumulator) {
        SmallVector<Value> sum;
        for (int64_t r = 0; r < kRegisterRows; ++r) {
          Value at = b.add(row, b.index(r));
          Value factor = b.splat(b.extract(factors, {at}), kLanes);
          for (Value x :
               b.readF32(accumulator, {at, column}, vectors * kLanes, kLanes))
            sum.push_back(b.mulF(x, factor));
        }
        sum = emitBlock(b, probabilities, values, row, column, vectors, sum,
                        skipUnseen);
        SmallVector<Value> mean;
        if (means)
          mean = b.readF32(means, {column}, vectors * kLanes, kLanes);
        for (int64_t r = 0; r < kRegisterRows; ++r) {
          Value at = b.add(row, b.index(r));
          auto sums4 = MutableArrayRef(sum).slice(r * vectors, vectors);
          if (means) {
            Value weight = b.splat(b.extract(sums, {at}), kLanes);
            for (auto [x, y] : llvm::zip_equal(sums4, mean))
              x = b.fma(weight, y, x);
          }
          accumulator = b.writeAll(sums4, accumulator, {at, column});
        }
        return accumulator;
      });
}
