//===- MmaToNVVM.cpp - Products as wgmma ----------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scores read both operands from shared memory; values and means take the left
// one from registers, which no op of the nvvm dialect offers. Fences and waits
// are tied to the registers they are about, so that nothing moves across them.
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "vcattn/Target/Schedules.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace vcattn;

/// The number whose bits are 1.5 * 2^23: an i32 accumulator that starts with
/// it reads as the float 12582912 + score, since |score| <= 127^2 * 128 < 2^22.
static constexpr int64_t kScoreBias = 0x4B400000;

/// A wgmma matrix descriptor (PTX ISA, "Matrix-descriptor"): address and the
/// byte offsets between core matrices, all divided by 16.
static Value getDescriptor(KernelBuilder &b, Value tile, int64_t leading,
                           int64_t stride, int64_t swizzle) {
  // Added, not or-ed, so that it becomes one constant with a stage's distance.
  Value low = LLVM::AddOp::create(b, tile, b.i32((leading / kTileUnit) << 16));
  Value wide = LLVM::ZExtOp::create(b, b.getI64Type(), low);
  uint64_t high = static_cast<uint64_t>(stride / kTileUnit) << 32 |
                  static_cast<uint64_t>(swizzle) << 62;
  Value constant = LLVM::ConstantOp::create(
      b, b.getI64Type(), b.getI64IntegerAttr(static_cast<int64_t>(high)));
  return LLVM::OrOp::create(b, wide, constant);
}

/// The first panel of a tile of `type`: rows of as many bytes as the swizzle
/// spans, in groups of 8.
static Value getSwizzledDescriptor(KernelBuilder &b, TileType type,
                                   Value tile) {
  int64_t bytes = type.getPanelColumns();
  int64_t swizzle = bytes == 128 ? 1 : bytes == 64 ? 2 : 3;
  return getDescriptor(b, tile, /*leading=*/16, /*stride=*/8 * bytes, swizzle);
}

/// Bytes of 8 channels of packed means.
static constexpr int64_t kCoreRowBytes = 256;

/// Packed means: cores of 8 channels x 8 blocks; the upper 8 blocks follow the
/// lower ones, then come the next 8 channels.
static Value getCoreDescriptor(KernelBuilder &b, Value tile) {
  return getDescriptor(b, tile, /*leading=*/128, kCoreRowBytes, /*swizzle=*/0);
}

/// The parts, as first column and number of columns, in which products give an
/// accumulator: one product gives at most 256 columns. All products cut it
/// alike, so that its registers need not move between them.
static SmallVector<std::pair<int64_t, int64_t>> getParts(int64_t columns) {
  constexpr int64_t kMost = 256, kFirst = 128;
  if (columns <= kMost)
    return {{0, columns}};
  return {{0, kFirst}, {kFirst, columns - kFirst}};
}

/// The descriptor of what lies `bytes` further.
static Value advance(KernelBuilder &b, Value descriptor, int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  Value distance = LLVM::ConstantOp::create(
      b, b.getI64Type(), b.getI64IntegerAttr(bytes / kTileUnit));
  return LLVM::AddOp::create(b, descriptor, distance);
}

/// Steps of 32 bytes that the rows of a tile have.
static int64_t getSteps(TileType type) {
  return llvm::divideCeil(type.getShape()[1], kStepBytes);
}

/// The descriptor of the step-th 32 bytes of each row.
static Value getStep(KernelBuilder &b, TileType type, Value descriptor,
                     int64_t step) {
  int64_t column = step * kStepBytes, panel = column / type.getPanelColumns();
  return advance(b, descriptor,
                 panel * type.getPanelBytes() +
                     column % type.getPanelColumns());
}

/// `wgmma.mma_async` with `operands` (registers and descriptors) after the
/// accumulator; `suffix` are its trailing immediates.
static SmallVector<Value> emitWgmma(KernelBuilder &b, StringRef shape,
                                    StringRef suffix, ValueRange accumulator,
                                    ValueRange registers,
                                    ValueRange descriptors) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "wgmma.mma_async.sync.aligned." << shape << " {";
  unsigned count = accumulator.size();
  llvm::interleave(
      llvm::seq<unsigned>(0, count), os, [&](unsigned i) { os << "$" << i; },
      ", ");
  os << "}";
  // Inputs are numbered after the results and the inputs tied to them.
  unsigned next = 2 * count;
  if (!registers.empty()) {
    os << ", {";
    llvm::interleave(registers, os, [&](Value) { os << "$" << next++; }, ", ");
    os << "}";
  }
  for (size_t i = 0; i < descriptors.size(); ++i)
    os << ", $" << next++;
  os << suffix << ";";
  SmallVector<Value> inputs(registers);
  llvm::append_range(inputs, descriptors);
  return b.assembly(text, accumulator, inputs);
}

/// Orders earlier writes to `registers` before the products that follow.
static SmallVector<Value> emitFence(KernelBuilder &b, ValueRange registers) {
  if (!registers.empty())
    return b.assembly("wgmma.fence.sync.aligned;", registers);
  NVVM::WgmmaFenceAlignedOp::create(b);
  return {};
}

/// The accumulator's registers, fenced with the left operand's; those of a
/// product in flight may not be touched.
static void fenceOperands(KernelBuilder &b, bool inFlight,
                          SmallVectorImpl<Value> &accumulator,
                          SmallVectorImpl<Value> &left) {
  size_t split = inFlight ? 0 : accumulator.size();
  SmallVector<Value> all;
  if (!inFlight)
    llvm::append_range(all, accumulator);
  llvm::append_range(all, left);
  all = emitFence(b, all);
  if (!inFlight)
    accumulator.assign(all.begin(), all.begin() + split);
  left.assign(all.begin() + split, all.end());
}

namespace {
struct MmaScoresPattern : OpConversionPattern<MmaScoresOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MmaScoresOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getResult().getType().getFragment();
    KernelBuilder b(op.getLoc(), rewriter);
    bool isInteger = type.getElementType().isInteger();
    int64_t count = getRegisters(type).getBody().size();
    // An f32 accumulator is ignored by the first product.
    SmallVector<Value> scores(
        count, isInteger ? b.i32(kScoreBias)
                         : Value(LLVM::UndefOp::create(b, b.getF32Type())));
    if (isInteger)
      scores = emitFence(b, scores);
    else
      emitFence(b, {});
    TileType queryTile = op.getQueries().getType();
    TileType keyTile = op.getKeys().getType();
    Value queries = getSwizzledDescriptor(b, queryTile, adaptor.getQueries());
    Value keys = getSwizzledDescriptor(b, keyTile, adaptor.getKeys());
    std::string shape =
        llvm::formatv("m64n{0}k32.{1}", type.getColumns(),
                      isInteger ? "s32.s8.s8" : "f32.e4m3.e4m3");
    for (int64_t step = 0; step < getSteps(keyTile); ++step)
      scores = emitWgmma(b, shape,
                         isInteger   ? ", 1"
                         : step == 0 ? ", 0, 1, 1"
                                     : ", 1, 1, 1",
                         scores, {},
                         {getStep(b, queryTile, queries, step),
                          getStep(b, keyTile, keys, step)});
    rewriter.replaceOp(op, b.pack(scores));
    return success();
  }
};

struct MmaValuesPattern : OpConversionPattern<MmaValuesOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MmaValuesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> accumulator = b.unpack(adaptor.getAccumulator());
    SmallVector<Value> left = b.unpack(adaptor.getProbabilities());
    fenceOperands(b, isa<InFlightType>(op.getAccumulator().getType()),
                  accumulator, left);
    TileType tile = op.getValues().getType();
    Value values = getSwizzledDescriptor(b, tile, adaptor.getValues());
    for (int64_t step = 0; step < getSteps(tile); ++step)
      emitStep(b, accumulator, ArrayRef(left).slice(4 * step, 4),
               getStep(b, tile, values, step), tile.getPanelColumns());
    rewriter.replaceOp(op, b.pack(accumulator));
    return success();
  }

private:
  /// One step of 32 keys; each channel is a row of `rowBytes`.
  static void emitStep(KernelBuilder &b, MutableArrayRef<Value> accumulator,
                       ArrayRef<Value> left, Value values, int64_t rowBytes) {
    for (auto [first, count] : getParts(2 * accumulator.size())) {
      MutableArrayRef<Value> part = accumulator.slice(first / 2, count / 2);
      std::string shape = llvm::formatv("m64n{0}k32.f32.e4m3.e4m3", count);
      llvm::copy(emitWgmma(b, shape, ", 1, 1, 1", part, left,
                           advance(b, values, first * rowBytes)),
                 part.begin());
    }
  }
};

struct MmaMeansPattern : OpConversionPattern<MmaMeansOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MmaMeansOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getResult().getType().getFragment();
    KernelBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> accumulator = b.unpack(adaptor.getAccumulator());
    // The A fragment's registers are columns 0-7 of both rows, then 8-15; the
    // half that is not meant is zero.
    SmallVector<Value> sums = b.unpack(adaptor.getRowSums()), left;
    for (bool upper : {false, true})
      for (Value sum : sums)
        left.push_back(LLVM::SelectOp::create(b, adaptor.getUpper(),
                                              upper ? sum : b.i32(0),
                                              upper ? b.i32(0) : sum));
    fenceOperands(b, isa<InFlightType>(op.getAccumulator().getType()),
                  accumulator, left);
    int64_t channels = type.getColumns() - kRowSumColumns;
    Value means = getCoreDescriptor(b, adaptor.getMeans());
    for (auto [first, columns] : getParts(type.getColumns())) {
      int64_t count = std::min(columns, channels - first);
      MutableArrayRef<Value> part =
          MutableArrayRef<Value>(accumulator).slice(first / 2, count / 2);
      std::string shape = llvm::formatv("m64n{0}k16.f32.f16.f16", count);
      llvm::copy(emitWgmma(b, shape, ", 1, 1, 1, 0", part, left,
                           advance(b, means, first / 8 * kCoreRowBytes)),
                 part.begin());
    }
    rewriter.replaceOp(op, b.pack(accumulator));
    return success();
  }
};

struct MmaCommitPattern : OpConversionPattern<MmaCommitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MmaCommitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::WgmmaGroupSyncAlignedOp>(op);
    return success();
  }
};

struct MmaWaitPattern : OpConversionPattern<MmaWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MmaWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    std::string text = llvm::formatv("wgmma.wait_group.sync.aligned {0};",
                                     op.getOutstanding());
    rewriter.replaceOp(op,
                       b.pack(b.assembly(text, b.unpack(adaptor.getValue()))));
    return success();
  }
};
} // namespace

void vcattn::populateMmaPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns) {
  patterns.add<MmaScoresPattern, MmaValuesPattern, MmaMeansPattern,
               MmaCommitPattern, MmaWaitPattern>(converter,
                                                 patterns.getContext());
}
