//===- EpilogueToNVVM.cpp - From accumulators to memory -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalization, conversion and the stores of results and log-sum-exps, to
// memory of any strides.
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "RowStores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Conversion/LogSumExp.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

using namespace mlir;
using namespace vcattn;

namespace {
struct NormalizeAndStorePattern : OpConversionPattern<NormalizeAndStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(NormalizeAndStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = b.unpack(adaptor.getAccumulator());
    SmallVector<Value> sums = b.unpack(adaptor.getSum());
    SmallVector<Value> maximum = b.unpack(adaptor.getMaximum());
    SmallVector<Value> inverses, isEmptyRow;
    for (Value &sum : sums) {
      sum = b.reduceQuad(sum, [&](Value x, Value y) -> Value {
        return LLVM::FAddOp::create(b, x, y);
      });
      Value isEmpty =
          LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::oeq, sum, b.f32(0));
      isEmptyRow.push_back(isEmpty);
      Value inverse = LLVM::FDivOp::create(b, b.f32(1), sum);
      inverses.push_back(LLVM::SelectOp::create(b, isEmpty, b.f32(0), inverse));
    }
    scaleChannels(b, op, adaptor, values, inverses);
    if (op.getMasked())
      for (size_t i = 0; i < values.size() - kSumRegisters; ++i)
        values[i] = LLVM::SelectOp::create(b, isEmptyRow[i / 2 % kThreadRows],
                                           b.f32(0), values[i]);

    Value mine = arith::IndexCastOp::create(b, b.getIndexType(), b.row());
    Value first = arith::AddIOp::create(b, adaptor.getFirst(), mine);
    Value end = memref::DimOp::create(b, adaptor.getOut(),
                                      getTokensDim(op.getLayout()));
    auto forEachRow =
        [&](KernelBuilder &b,
            function_ref<void(KernelBuilder &, unsigned, Value)> body) {
          for (unsigned r = 0; r < kThreadRows; ++r) {
            Value row = arith::AddIOp::create(
                b, first, arith::ConstantIndexOp::create(b, 8 * r));
            Value inside =
                arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, end);
            auto store = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
            OpBuilder::InsertionGuard guard(b);
            b.setInsertionPointToStart(&store.getThenRegion().front());
            body(b, r, row);
          }
        };
    auto storeNarrow = [&](KernelBuilder &b) {
      forEachRow(b, [&](KernelBuilder &b, unsigned r, Value row) {
        storeRow(b, op, adaptor, values, r, row);
      });
    };
    auto type = cast<MemRefType>(op.getOut().getType());
    ValueRange result = ValueRange(values).drop_back(kSumRegisters);
    if (isPartial(op, result.size() - 4) ||
        !canStoreWide(type, result.size() * 2)) {
      storeNarrow(b);
    } else {
      Value zero = arith::ConstantIndexOp::create(b, 0);
      Value isWide = isWideStorePossible(
          b, adaptor.getOut(), getIndices(op, adaptor, zero, zero), kChannelDim,
          getTokensDim(op.getLayout()));
      auto either = scf::IfOp::create(b, isWide, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&either.getThenRegion().front());
      SmallVector<Value> packed[kThreadRows];
      for (unsigned r = 0; r < kThreadRows; ++r)
        packed[r] = packRow(b, result, r, type.getElementType());
      forEachRow(b, [&](KernelBuilder &b, unsigned r, Value row) {
        vcattn::storeRow(
            b, b.address(adaptor.getOut(), getIndices(op, adaptor, row, zero)),
            packed[r]);
      });
      b.setInsertionPointToStart(&either.getElseRegion().front());
      storeNarrow(b);
    }
    if (op.getLse())
      forEachRow(b, [&](KernelBuilder &b, unsigned r, Value row) {
        storeLogSumExp(b, op, adaptor, sums[r], maximum[r], row);
      });
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Indices of an element of the result.
  static SmallVector<Value> getIndices(NormalizeAndStoreOp op,
                                       OpAdaptor adaptor, Value row,
                                       Value channel) {
    SmallVector<Value> indices(4);
    indices[kBatchDim] = adaptor.getBatch();
    indices[getHeadsDim(op.getLayout())] = adaptor.getHead();
    indices[getTokensDim(op.getLayout())] = row;
    indices[kChannelDim] = channel;
    return indices;
  }

  static int64_t getChannels(NormalizeAndStoreOp op) {
    return cast<MemRefType>(op.getOut().getType()).getDimSize(kChannelDim);
  }

  /// Whether not all 8 columns of registers `i` to `i` + 3 are channels.
  static bool isPartial(NormalizeAndStoreOp op, size_t i) {
    return static_cast<int64_t>(2 * i + 8) > getChannels(op);
  }

  /// What is added to the lane's first channel, less where that leads past the
  /// last channel: what comes of it is not stored.
  static Value getLastChannels(KernelBuilder &b, NormalizeAndStoreOp op,
                               Value added) {
    Value lane = LLVM::ZExtOp::create(
        b, b.getI64Type(), LLVM::ShlOp::create(b, b.quadLane(), b.i32(1)));
    Value most = LLVM::ConstantOp::create(
        b, b.getI64Type(), b.getI64IntegerAttr(getChannels(op) - 1));
    return LLVM::SMinOp::create(b, added, LLVM::SubOp::create(b, most, lane));
  }

  /// Multiplies by the inverse row sums and by each channel's scale.
  static void scaleChannels(KernelBuilder &b, NormalizeAndStoreOp op,
                            OpAdaptor adaptor, MutableArrayRef<Value> values,
                            ValueRange inverses) {
    Value lane = arith::IndexCastOp::create(
        b, b.getIndexType(), LLVM::ShlOp::create(b, b.quadLane(), b.i32(1)));
    Value scales = adaptor.getValueScale();
    Value start = b.address(
        scales, {adaptor.getValueBatch(), adaptor.getValueHead(), lane});
    Value stride = arith::IndexCastOp::create(
        b, b.getI64Type(),
        memref::ExtractStridedMetadataOp::create(b, scales)
            .getStrides()
            .back());
    // Some scales at a time if all at once would take too many registers; an
    // empty instruction that products go through holds the next loads back.
    constexpr size_t kAtOnce = 32, kMost = 64;
    size_t count = values.size() - kSumRegisters;
    for (size_t i = 0; i < count; i += 4) {
      for (unsigned c : {0, 1}) {
        Value channel = LLVM::ConstantOp::create(
            b, b.getI64Type(), b.getI64IntegerAttr(2 * i + c));
        if (isPartial(op, i))
          channel = getLastChannels(b, op, channel);
        Value distance = LLVM::MulOp::create(b, stride, channel);
        Value address =
            LLVM::GEPOp::create(b, start.getType(), b.getF32Type(), start,
                                ArrayRef<LLVM::GEPArg>{distance});
        // Invariant: the loads need not wait for the last product.
        Value scale = LLVM::LoadOp::create(
            b, b.getF32Type(), address, /*alignment=*/4, /*isVolatile=*/false,
            /*isNonTemporal=*/false, /*isInvariant=*/count <= kMost);
        for (unsigned r = 0; r < kThreadRows; ++r) {
          Value &value = values[i + 2 * r + c];
          value = LLVM::FMulOp::create(b, value, inverses[r]);
          value = LLVM::FMulOp::create(b, value, scale);
        }
      }
      if (count > kMost && (i + 4) % kAtOnce == 0 && i + 4 < count)
        llvm::copy(b.assembly("", values.slice(i + 4 - kAtOnce, kAtOnce)),
                   values.begin() + (i + 4 - kAtOnce));
    }
  }

  /// Stores a row's column pairs at once where the row starts on a pair's
  /// boundary and its elements are neighbours, else one by one.
  static void storeRow(KernelBuilder &b, NormalizeAndStoreOp op,
                       OpAdaptor adaptor, ValueRange values, unsigned r,
                       Value row) {
    auto type = cast<MemRefType>(op.getOut().getType());
    Type element = type.getElementType();
    int64_t width = type.getElementTypeBitWidth() / 8;
    SmallVector<int64_t> strides;
    int64_t offset;
    bool isDense = succeeded(type.getStridesAndOffset(strides, offset)) &&
                   strides[kChannelDim] == 1;

    Value lane = arith::IndexCastOp::create(
        b, b.getIndexType(), LLVM::ShlOp::create(b, b.quadLane(), b.i32(1)));
    Value start =
        b.address(adaptor.getOut(), getIndices(op, adaptor, row, lane));
    Value stride = arith::IndexCastOp::create(
        b, b.getI64Type(),
        memref::ExtractStridedMetadataOp::create(b, adaptor.getOut())
            .getStrides()[kChannelDim]);

    auto convert = [&](KernelBuilder &b, Value value) -> Value {
      return element.isF32() ? value
                             : LLVM::FPTruncOp::create(b, element, value);
    };
    auto storeElement = [&](KernelBuilder &b, size_t i, unsigned c) {
      Value distance = LLVM::MulOp::create(
          b, stride,
          LLVM::ConstantOp::create(b, b.getI64Type(),
                                   b.getI64IntegerAttr(2 * i + c)));
      // The lane's first column came through the memref's own stride.
      Value pointer = LLVM::GEPOp::create(b, start.getType(), element, start,
                                          ArrayRef<LLVM::GEPArg>{distance});
      LLVM::StoreOp::create(b, convert(b, values[i + 2 * r + c]), pointer,
                            width);
    };
    size_t count = values.size() - kSumRegisters;
    // Only the last 8 columns may be partial.
    size_t full = isPartial(op, count - 4) ? count - 4 : count;
    for (size_t i = full; i < count; i += 4)
      for (unsigned c : {0, 1}) {
        Value isChannel = arith::CmpIOp::create(
            b, arith::CmpIPredicate::ult, lane,
            arith::ConstantIndexOp::create(b, getChannels(op) - 2 * i - c));
        scf::IfOp::create(b, isChannel, [&](OpBuilder &nested, Location loc) {
          KernelBuilder inner(loc, nested);
          storeElement(inner, i, c);
          scf::YieldOp::create(inner);
        });
      }
    auto storeElements = [&](KernelBuilder &b) {
      for (size_t i = 0; i < full; i += 4)
        for (unsigned c : {0, 1})
          storeElement(b, i, c);
    };
    if (!isDense)
      return storeElements(b);

    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), start);
    Value misaligned = LLVM::AndOp::create(
        b, address,
        LLVM::ConstantOp::create(b, b.getI64Type(),
                                 b.getI64IntegerAttr(2 * width - 1)));
    Value isAligned = LLVM::ICmpOp::create(
        b, LLVM::ICmpPredicate::eq, misaligned,
        LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(0)));
    auto either = scf::IfOp::create(b, isAligned, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&either.getThenRegion().front());
      auto pair = VectorType::get({2}, element);
      for (size_t i = 0; i < full; i += 4) {
        Value both = LLVM::PoisonOp::create(b, pair);
        for (unsigned c : {0, 1})
          both = LLVM::InsertElementOp::create(
              b, both, convert(b, values[i + 2 * r + c]), b.i32(c));
        LLVM::StoreOp::create(b, both, b.offset(start, 2 * i * width),
                              2 * width);
      }
      b.setInsertionPointToStart(&either.getElseRegion().front());
      storeElements(b);
    }
  }

  static void storeLogSumExp(KernelBuilder &b, NormalizeAndStoreOp op,
                             OpAdaptor adaptor, Value sum, Value maximum,
                             Value row) {
    Value isFirst = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq,
                                         b.quadLane(), b.i32(0));
    auto store = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&store.getThenRegion().front());
    Value octaves = LLVM::FMulOp::create(b, maximum, b.f32(0.125));
    Value log =
        LLVM::CallIntrinsicOp::create(
            b, b.getF32Type(), b.getStringAttr("llvm.nvvm.lg2.approx.ftz.f"),
            ValueRange(sum))
            .getResult(0);
    Value total = LLVM::FAddOp::create(b, octaves, log);
    total = LLVM::FSubOp::create(b, total, b.f32(getLseOffset(op.getCast())));
    Value lse = LLVM::FMulOp::create(b, total, b.f32(0.69314718055994530942));
    memref::StoreOp::create(
        b, lse, adaptor.getLse(),
        ValueRange{adaptor.getBatch(), adaptor.getHead(), row});
  }
};
} // namespace

void vcattn::populateEpiloguePatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<NormalizeAndStorePattern>(converter, patterns.getContext());
}
