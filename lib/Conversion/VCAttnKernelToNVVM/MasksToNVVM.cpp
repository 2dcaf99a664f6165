//===- MasksToNVVM.cpp - Which keys rows see, and what is added -----------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread has 32 columns of each of its two rows: a word per row tells which
// of them are seen, bit 2 i + c being column 8 i + 2 (lane mod 4) + c.
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace vcattn;

/// Columns of one row that a thread has, one of a quad.
static constexpr int64_t kThreadColumns = kTileKeys / 4;
/// Code units per natural unit of a score: 8 log2(e).
static constexpr double kCodeUnits = 8.0 * 1.4426950408889634;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value KernelBuilder::isKept(ValueRange keep, unsigned row, int64_t column) {
  Value bit = LLVM::AndOp::create(*this, keep[row],
                                  i32(static_cast<int32_t>(1u << column)));
  return LLVM::ICmpOp::create(*this, LLVM::ICmpPredicate::ne, bit, i32(0));
}

/// The word of the columns below `end`, which counts from the thread's first.
static Value getBitsBelow(KernelBuilder &b, Value end) {
  Value inside = LLVM::SMinOp::create(b, LLVM::SMaxOp::create(b, end, b.i32(0)),
                                      b.i32(kTileKeys));
  // Of every 8 columns the first two are the thread's.
  Value whole = LLVM::LShrOp::create(b, inside, b.i32(2));
  Value pairs = LLVM::AndOp::create(b, whole, b.i32(~1));
  Value rest = LLVM::SMinOp::create(b, LLVM::AndOp::create(b, inside, b.i32(7)),
                                    b.i32(2));
  Value count = LLVM::AddOp::create(b, pairs, rest);
  Value power = LLVM::ShlOp::create(b, b.i32(1), count);
  return LLVM::SubOp::create(b, power, b.i32(1));
}

namespace {
struct KeepKeysPattern : OpConversionPattern<KeepKeysOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(KeepKeysOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    // Key numbers relative to the thread's first column.
    Value origin = LLVM::AddOp::create(
        b, adaptor.getKey(), LLVM::ShlOp::create(b, b.quadLane(), b.i32(1)));
    auto relative = [&](Value key) -> Value {
      return LLVM::SubOp::create(b, key, origin);
    };
    Value query = LLVM::AddOp::create(b, adaptor.getFirst(), b.row());
    Value position = LLVM::AddOp::create(b, query, adaptor.getDiagonal());
    Value counted = getBitsBelow(b, relative(adaptor.getEnd()));
    SmallVector<Value> words;
    for (unsigned r = 0; r < kThreadRows; ++r) {
      Value mine = LLVM::AddOp::create(b, position, b.i32(8 * r));
      Value word = counted;
      if (static_cast<int64_t>(op.getRight()) >= 0) {
        Value end = LLVM::AddOp::create(b, mine, b.i32(op.getRight() + 1));
        word = LLVM::AndOp::create(b, word, getBitsBelow(b, relative(end)));
      }
      if (static_cast<int64_t>(op.getLeft()) >= 0) {
        Value start = LLVM::SubOp::create(b, mine, b.i32(op.getLeft()));
        Value before = getBitsBelow(b, relative(start));
        word = LLVM::AndOp::create(b, word,
                                   LLVM::XOrOp::create(b, before, b.i32(-1)));
      }
      words.push_back(word);
    }
    rewriter.replaceOp(op, b.pack(words));
    return success();
  }
};

struct LoadMaskPattern : OpConversionPattern<LoadMaskOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadMaskOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> words = b.unpack(adaptor.getKeep());
    SmallVector<Value> added(2 * kThreadColumns);
    Entries entries(b, adaptor);
    for (unsigned r = 0; r < kThreadRows; ++r) {
      Value row = entries.rowStart(r);
      Value bits = b.i32(0);
      for (int64_t column = 0; column < kThreadColumns; ++column) {
        Value entry = entries.load(row, column), keeps;
        if (op.getAdded()) {
          Value &mine = added[4 * (column / 2) + 2 * r + column % 2];
          mine = LLVM::FMulOp::create(b, entry, b.f32(kCodeUnits));
          keeps = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::une, mine,
                                       b.f32(-kInfinity));
        } else {
          keeps = LLVM::ICmpOp::create(
              b, LLVM::ICmpPredicate::ne, entry,
              LLVM::ConstantOp::create(b, b.getI8Type(),
                                       b.getI8IntegerAttr(0)));
        }
        Value bit = LLVM::SelectOp::create(
            b, keeps, b.i32(static_cast<int32_t>(1u << column)), b.i32(0));
        bits = LLVM::OrOp::create(b, bits, bit);
      }
      words[r] = LLVM::AndOp::create(b, words[r], bits);
    }
    SmallVector<Value> results{b.pack(words)};
    if (op.getAdded())
      results.push_back(b.pack(added));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// Reads a thread's entries. Those past the mask's end read the last one.
  class Entries {
  public:
    Entries(KernelBuilder &b, OpAdaptor adaptor) : b(b), adaptor(adaptor) {
      auto type = cast<MemRefType>(adaptor.getMask().getType());
      element = type.getElementType();
      auto metadata =
          memref::ExtractStridedMetadataOp::create(b, adaptor.getMask());
      stride = arith::IndexCastOp::create(b, b.getI64Type(),
                                          metadata.getStrides()[3]);
      Value lane = LLVM::ShlOp::create(b, b.quadLane(), b.i32(1));
      Value key = toI32(adaptor.getKey());
      firstKey = LLVM::AddOp::create(b, key, lane);
      lastKey = LLVM::SubOp::create(b, size(3), b.i32(1));
      zero = arith::ConstantIndexOp::create(b, 0);
    }

    /// The address of the thread's row `r` at key 0.
    Value rowStart(unsigned r) {
      Value row =
          LLVM::AddOp::create(b, toI32(adaptor.getFirst()),
                              LLVM::AddOp::create(b, b.row(), b.i32(8 * r)));
      row = LLVM::SMinOp::create(b, row,
                                 LLVM::SubOp::create(b, size(2), b.i32(1)));
      Value index = arith::IndexCastOp::create(b, b.getIndexType(), row);
      return b.address(adaptor.getMask(),
                       {adaptor.getBatch(), adaptor.getHead(), index, zero});
    }

    /// The entry of the thread's column: an i8, or an f32.
    Value load(Value row, int64_t column) {
      Value key = LLVM::AddOp::create(b, firstKey,
                                      b.i32(8 * (column / 2) + column % 2));
      key = LLVM::SMinOp::create(b, key, lastKey);
      Value distance = LLVM::MulOp::create(
          b, stride, LLVM::SExtOp::create(b, b.getI64Type(), key));
      bool isFloat = isa<FloatType>(element);
      Type stored = isFloat ? element : Type(b.getI8Type());
      Value pointer = LLVM::GEPOp::create(b, row.getType(), stored, row,
                                          ArrayRef<LLVM::GEPArg>{distance});
      Value entry = LLVM::LoadOp::create(
          b, stored, pointer, /*alignment=*/stored.getIntOrFloatBitWidth() / 8,
          /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/true);
      if (!isFloat || element.isF32())
        return entry;
      return LLVM::FPExtOp::create(b, b.getF32Type(), entry);
    }

  private:
    Value toI32(Value index) {
      return arith::IndexCastOp::create(b, b.getI32Type(), index);
    }
    Value size(int64_t dim) {
      return toI32(memref::DimOp::create(b, adaptor.getMask(), dim));
    }

    KernelBuilder &b;
    OpAdaptor adaptor;
    Type element;
    Value stride, firstKey, lastKey, zero;
  };
};
} // namespace

void vcattn::populateMaskPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<KeepKeysPattern, LoadMaskPattern>(converter,
                                                 patterns.getContext());
}
