//===- RowStores.cpp - Results to memory, 16 bytes at a time --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four threads of a row have two neighbouring columns each of every eight.
// Of 16-bit elements, four such eights are exchanged between them, so that each
// thread has one of its own: 16 bytes, which is what a store should write.
//
//===----------------------------------------------------------------------===//

#include "RowStores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace vcattn;

static constexpr int64_t kQuad = 4, kStoreBytes = 16;

static Value i64(KernelBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI64Type(),
                                  b.getI64IntegerAttr(value));
}

bool vcattn::canStoreWide(MemRefType type, int64_t columns) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.getElementTypeBitWidth() == 16 && columns % (8 * kQuad) == 0 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         (strides.back() == 1 || ShapedType::isDynamic(strides.back()));
}

Value vcattn::isWideStorePossible(KernelBuilder &b, Value out,
                                  ValueRange firstRow, int64_t channelDim,
                                  int64_t tokenDim) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, out);
  auto toI64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  };
  Value start =
      LLVM::PtrToIntOp::create(b, b.getI64Type(), b.address(out, firstRow));
  Value pitch =
      LLVM::ShlOp::create(b, toI64(metadata.getStrides()[tokenDim]), i64(b, 1));
  Value odd = LLVM::AndOp::create(b, LLVM::OrOp::create(b, start, pitch),
                                  i64(b, kStoreBytes - 1));
  Value isAligned =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, odd, i64(b, 0));
  Value isDense =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq,
                           toI64(metadata.getStrides()[channelDim]), i64(b, 1));
  return LLVM::AndOp::create(b, isAligned, isDense);
}

/// Of each thread's four registers, number q goes to thread q of the quad.
static void transposeQuad(KernelBuilder &b, MutableArrayRef<Value> x) {
  Value lane = b.quadLane();
  for (int64_t distance : {1, 2}) {
    Value isUpper = LLVM::ICmpOp::create(
        b, LLVM::ICmpPredicate::ne,
        LLVM::AndOp::create(b, lane, b.i32(distance)), b.i32(0));
    for (int64_t i = 0; i < kQuad; ++i) {
      if (i & distance)
        continue;
      Value &lower = x[i], &upper = x[i + distance];
      Value sent = LLVM::SelectOp::create(b, isUpper, lower, upper);
      Value received = b.shuffleXor(sent, distance);
      lower = LLVM::SelectOp::create(b, isUpper, received, lower);
      upper = LLVM::SelectOp::create(b, isUpper, upper, received);
    }
  }
}

SmallVector<Value> vcattn::packRow(KernelBuilder &b, ValueRange values,
                                   unsigned row, Type element) {
  SmallVector<Value> pairs;
  auto floats = VectorType::get({2}, b.getF32Type());
  auto narrow = VectorType::get({2}, element);
  for (size_t i = 0; i < values.size(); i += 4) {
    Value pair = LLVM::PoisonOp::create(b, floats);
    for (unsigned c : {0, 1})
      pair = LLVM::InsertElementOp::create(b, pair, values[i + 2 * row + c],
                                           b.i32(c));
    pairs.push_back(LLVM::BitcastOp::create(
        b, b.getI32Type(), LLVM::FPTruncOp::create(b, narrow, pair)));
  }
  for (size_t i = 0; i < pairs.size(); i += kQuad)
    transposeQuad(b, MutableArrayRef<Value>(pairs).slice(i, kQuad));
  return pairs;
}

void vcattn::storeRow(KernelBuilder &b, Value start, ValueRange packed) {
  // Thread q has the q-th eight columns of every 32.
  Value mine =
      b.offset(start, LLVM::MulOp::create(b, b.quadLane(), b.i32(kStoreBytes)));
  auto type = VectorType::get({kQuad}, b.getI32Type());
  for (size_t i = 0; i < packed.size(); i += kQuad) {
    Value vector = LLVM::PoisonOp::create(b, type);
    for (int64_t k = 0; k < kQuad; ++k)
      vector =
          LLVM::InsertElementOp::create(b, vector, packed[i + k], b.i32(k));
    LLVM::StoreOp::create(b, vector, b.offset(mine, i * kStoreBytes),
                          kStoreBytes);
  }
}
