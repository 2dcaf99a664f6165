//===- RowsToNVVM.cpp - Numbers that rows have ----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants, scales of rows, and scales of a tile's scores.
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace vcattn;

namespace {
struct FillPattern : OpConversionPattern<FillOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(FillOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    auto type = getRegisters(op.getResult().getType());
    Type element = type.getBody().front();
    Value value =
        element.isF32() ? b.f32(op.getValue().convertToDouble()) : b.i32(0);
    SmallVector<Value> values(type.getBody().size(), value);
    // What maxima of -inf contribute to addends is +inf.
    if (op.getResult().getType().getRole() == FragmentRole::Maxima)
      llvm::fill(MutableArrayRef(values).drop_front(kThreadRows),
                 b.f32(-op.getValue().convertToDouble()));
    rewriter.replaceOp(op, b.pack(values));
    return success();
  }
};

struct LoadRowsPattern : OpConversionPattern<LoadRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Value source = adaptor.getSource();
    Value end = memref::DimOp::create(b, source, 2);
    Value mine = arith::IndexCastOp::create(b, b.getIndexType(), b.row());
    Value first = arith::AddIOp::create(b, adaptor.getFirst(), mine);
    SmallVector<Value> rows;
    for (unsigned i = 0; i < kThreadRows; ++i) {
      Value row = arith::AddIOp::create(
          b, first, arith::ConstantIndexOp::create(b, 8 * i));
      Value inside =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, end);
      auto load = scf::IfOp::create(
          b, inside,
          [&](OpBuilder &nested, Location loc) {
            KernelBuilder inner(loc, nested);
            Value x = memref::LoadOp::create(
                inner, source,
                ValueRange{adaptor.getBatch(), adaptor.getHead(), row});
            Value scaled = LLVM::FMulOp::create(inner, x, adaptor.getFactor());
            scf::YieldOp::create(inner, scaled);
          },
          [&](OpBuilder &nested, Location loc) {
            KernelBuilder inner(loc, nested);
            scf::YieldOp::create(inner, inner.f32(0));
          });
      rows.push_back(load.getResult(0));
    }
    rewriter.replaceOp(op, b.pack(rows));
    return success();
  }
};

struct LoadMultipliersPattern : OpConversionPattern<LoadMultipliersOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadMultipliersOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    KernelBuilder b(op.getLoc(), rewriter);
    Value group = arith::IndexCastOp::create(b, b.getIndexType(), b.quadLane());
    Value address = b.address(
        adaptor.getKeyScales(),
        {adaptor.getBatch(), adaptor.getHead(), adaptor.getTile(), group});
    Value scale = LLVM::LoadOp::create(
        b, b.getF32Type(), address, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/true);
    SmallVector<Value> rows = b.unpack(adaptor.getRows());
    for (Value &row : rows)
      row = LLVM::FMulOp::create(b, row, scale);
    rewriter.replaceOp(op, b.pack(rows));
    return success();
  }
};
} // namespace

void vcattn::populateRowPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns) {
  patterns.add<FillPattern, LoadRowsPattern, LoadMultipliersPattern>(
      converter, patterns.getContext());
}
