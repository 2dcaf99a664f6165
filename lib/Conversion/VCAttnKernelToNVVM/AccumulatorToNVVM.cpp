//===- AccumulatorToNVVM.cpp - Rescaling, row sums and promotion ----------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What happens to an accumulator outside the matrix unit.
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

/// The accumulator travels to its copy four registers at a time.
static constexpr int64_t kVector = 4, kVectorBytes = 16;

/// Row (0 or 1) of the thread that a register of an accumulator belongs to.
static unsigned getRow(size_t registerIndex) {
  return registerIndex / 2 % kThreadRows;
}

/// The start of a consumer's FP32 copy of `vectors` vectors per thread.
static Value getCopy(KernelBuilder &b, Value total, int64_t vectors) {
  if (!isa<MemRefType>(total.getType())) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
    Value bytes = LLVM::MulOp::create(b, total, b.i32(kTileUnit));
    return LLVM::IntToPtrOp::create(b, pointer, bytes);
  }
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  // Computed anew each time, not held in registers in between.
  Value thread = b.assembly("", b.thread())[0];
  Value group = LLVM::LShrOp::create(b, thread, b.i32(7));
  Value consumer = LLVM::SubOp::create(b, group, b.i32(1));
  Value first = LLVM::MulOp::create(
      b, consumer, b.i32(vectors * kVector * kWarpgroupThreads));
  Value block = NVVM::BlockIdXOp::create(b, b.getI32Type());
  return b.address(total, {toIndex(block), toIndex(first)});
}

/// Where the thread keeps its i-th vector in a consumer's copy: neighbouring
/// threads have neighbouring vectors, which avoids bank conflicts.
static Value getSlot(KernelBuilder &b, Value copy, int64_t i) {
  Value thread =
      LLVM::AndOp::create(b, b.thread(), b.i32(kWarpgroupThreads - 1));
  Value mine =
      b.offset(copy, LLVM::MulOp::create(b, thread, b.i32(kVectorBytes)));
  return b.offset(mine, i * kWarpgroupThreads * kVectorBytes);
}

/// Whether a copy is in global memory. Accesses to it are volatile, so that
/// they stay in their order: ptxas would start all loads at once, into more
/// registers than there are.
static bool isGlobal(Value slot) {
  return cast<LLVM::LLVMPointerType>(slot.getType()).getAddressSpace() ==
         kGlobalSpace;
}

static SmallVector<Value> loadSlot(KernelBuilder &b, Value slot) {
  auto type = VectorType::get({kVector}, b.getF32Type());
  Value vector = LLVM::LoadOp::create(b, type, slot, kVectorBytes,
                                      /*isVolatile=*/isGlobal(slot));
  SmallVector<Value> values;
  for (int64_t i = 0; i < kVector; ++i)
    values.push_back(LLVM::ExtractElementOp::create(b, vector, b.i32(i)));
  return values;
}

static void storeSlot(KernelBuilder &b, Value slot, ValueRange values) {
  auto type = VectorType::get({kVector}, b.getF32Type());
  Value vector = LLVM::PoisonOp::create(b, type);
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(b, vector, value, b.i32(i));
  LLVM::StoreOp::create(b, vector, slot, kVectorBytes,
                        /*isVolatile=*/isGlobal(slot));
}

namespace {
struct RescalePattern : OpConversionPattern<RescaleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RescaleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = b.unpack(adaptor.getInput());
    SmallVector<Value> factors = b.unpack(adaptor.getFactor());
    bool isRows = cast<FragmentType>(op.getInput().getType()).getRole() ==
                  FragmentRole::Rows;
    for (auto [i, value] : llvm::enumerate(values))
      value = LLVM::FMulOp::create(b, value, factors[isRows ? i : getRow(i)]);
    rewriter.replaceOp(op, b.pack(values));
    return success();
  }
};

struct TakeRowSumsPattern : OpConversionPattern<TakeRowSumsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TakeRowSumsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = b.unpack(adaptor.getAccumulator());
    SmallVector<Value> sums = b.unpack(adaptor.getSum());
    MutableArrayRef<Value> columns =
        MutableArrayRef<Value>(values).take_back(kSumRegisters);
    auto halves = VectorType::get({2}, b.getF16Type());
    SmallVector<Value> packed;
    for (unsigned r = 0; r < kThreadRows; ++r) {
      Value lo = columns[2 * r], hi = columns[2 * r + 1];
      sums[r] =
          LLVM::FAddOp::create(b, sums[r], LLVM::FAddOp::create(b, lo, hi));
      Value pair = NVVM::ConvertF32x2ToF16x2Op::create(
          b, halves, /*src_hi=*/hi, /*src_lo=*/lo, /*random_bits=*/Value(),
          NVVM::FPRoundingMode::RN);
      packed.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), pair));
    }
    for (Value &column : columns)
      column = b.f32(0);
    rewriter.replaceOp(op, {b.pack(values), b.pack(sums), b.pack(packed)});
    return success();
  }
};

struct ClearTotalPattern : OpConversionPattern<ClearTotalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ClearTotalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    int64_t elements = kConsumerRows * op.getColumns();
    int64_t vectors = elements / (kWarpgroupThreads * kVector);
    Value copy = getCopy(b, adaptor.getTotal(), vectors);
    SmallVector<Value> zeros(kVector, b.f32(0));
    for (int64_t i = 0; i < vectors; ++i)
      storeSlot(b, getSlot(b, copy, i), zeros);
    rewriter.eraseOp(op);
    return success();
  }
};

/// total * factor + accumulator; into the copy, or into the accumulator.
template <typename Op>
struct PromotionPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = b.unpack(adaptor.getAccumulator());
    SmallVector<Value> factors = b.unpack(adaptor.getFactor());
    int64_t vectors = (values.size() - kSumRegisters) / kVector;
    Value copy = getCopy(b, adaptor.getTotal(), vectors);
    for (int64_t first = 0; first < vectors; first += kBatch) {
      auto batch = llvm::seq(first, std::min(first + kBatch, vectors));
      SmallVector<SmallVector<Value>> totals;
      for (int64_t i : batch)
        totals.push_back(loadSlot(b, getSlot(b, copy, i)));
      for (auto [i, total] : llvm::zip_equal(batch, totals))
        add(b, total, getSlot(b, copy, i), factors,
            MutableArrayRef<Value>(values).slice(kVector * i, kVector));
    }
    rewriter.replaceOp(op, b.pack(values));
    return success();
  }

private:
  /// Vectors that are on their way at a time.
  static constexpr int64_t kBatch = 8;

  static void add(KernelBuilder &b, MutableArrayRef<Value> total, Value slot,
                  ValueRange factors, MutableArrayRef<Value> mine) {
    for (int64_t k = 0; k < kVector; ++k)
      total[k] = LLVM::FMAOp::create(b, total[k], factors[getRow(k)], mine[k]);
    if constexpr (std::is_same_v<Op, PromoteOp>) {
      storeSlot(b, slot, total);
      llvm::fill(mine, b.f32(0));
    } else {
      llvm::copy(total, mine.begin());
    }
  }
};
} // namespace

void vcattn::populateAccumulatorPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<RescalePattern, TakeRowSumsPattern, ClearTotalPattern,
               PromotionPattern<PromoteOp>, PromotionPattern<MergeOp>>(
      converter, patterns.getContext());
}
