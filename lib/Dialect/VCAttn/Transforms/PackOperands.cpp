//===- PackOperands.cpp - Put operands in their kernel's order ------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From an attention on codes to one launch of the Hopper kernel. Everything
// that the kernel does not take is refused here, with the attention's location.
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include "vcattn/Target/Schedules.h"
#include "vcattn/Target/TargetInfo.h"

namespace vcattn {
#define GEN_PASS_DEF_PACKOPERANDS
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Reports the first thing about `op` that the target's kernel does not take.
static LogicalResult checkKernelTakes(QuantizedAttentionOp op) {
  StringRef chip = op.getTarget()->getChip();
  auto refuse = [&]() -> InFlightDiagnostic {
    return op.emitError("the kernel for ") << chip << " takes ";
  };
  if (lookupTarget(chip)->matrixUnit != MatrixUnit::Wgmma)
    return op.emitError("no kernel is known for target ") << chip;
  if (!op.getSchedule())
    return op.emitError("has a target but no schedule: run vcattn-schedule");
  if (!op.hasQuantizedScores())
    return refuse() << "queries and keys as codes, not as "
                    << getElementTypeOrSelf(op.getQuery().getType())
                    << ": run vcattn-quantize";
  if (!op.getValueScale())
    return refuse() << "values as codes, not as "
                    << getElementTypeOrSelf(op.getValue().getType())
                    << ": run vcattn-quantize";
  if (op.getScale().isNegative())
    return refuse() << "a scale that is not negative";
  return success();
}

namespace {
/// Builds what replaces one attention.
class Packer {
public:
  Packer(QuantizedAttentionOp op, IRRewriter &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()) {}

  void run() {
    rewriter.setInsertionPoint(op);
    Value value =
        PackValuesOp::create(rewriter, loc, op.getValue(), op.getLayout());
    Value means = PackMeansOp::create(
        rewriter, loc, op.getMeans() ? op.getMeans() : zeroMeans(),
        op.getValueScale());
    SmallVector<Value> outs{emptyResult()};
    if (op.getLse())
      outs.push_back(emptyLse());
    SmallVector<int64_t> totals = getTotals();
    if (!totals.empty())
      outs.push_back(tensor::EmptyOp::create(rewriter, loc, totals,
                                             rewriter.getF32Type()));
    auto packed = PackedAttentionOp::create(
        rewriter, loc, TypeRange(ValueRange(outs)), op.getQuery(),
        op.getQueryScale(), op.getKey(), op.getKeyScale(), value,
        op.getValueScale(), means, op.getMask(), op.getLengths(),
        op.getBlockMask(), outs, op.getScale(), op.getCast(), op.getCausal(),
        op.getWindowAttr(), op.getLayout(), *op.getTarget(), *op.getSchedule(),
        /*split_keys=*/0);
    packed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, packed.getResults().take_front(op->getNumResults()));
  }

private:
  OpFoldResult sizeOf(Value value, unsigned dim) {
    return tensor::getMixedSize(rewriter, loc, value, dim);
  }

  /// An empty tensor of `sizes` and the type of `like`.
  Value emptyOf(ArrayRef<OpFoldResult> sizes, Type like) {
    Value result = tensor::EmptyOp::create(rewriter, loc, sizes,
                                           getElementTypeOrSelf(like));
    // An attention's result may say less, or more, than its operands.
    if (result.getType() != like)
      result = tensor::CastOp::create(rewriter, loc, like, result);
    return result;
  }

  /// A place for the result, of the query's shape with the value's dimension.
  Value emptyResult() {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, op.getQuery());
    sizes[kChannelDim] = sizeOf(op.getValue(), kChannelDim);
    return emptyOf(sizes, op.getResult().getType());
  }

  Value emptyLse() {
    Value query = op.getQuery();
    return emptyOf({sizeOf(query, kBatchDim),
                    sizeOf(query, getHeadsDim(op.getLayout())),
                    sizeOf(query, getTokensDim(op.getLayout()))},
                   op.getLse().getType());
  }

  /// The shape of the room that the kernel needs for totals; empty if none.
  SmallVector<int64_t> getTotals() {
    auto channels = [](Value value) {
      return cast<ShapedType>(value.getType()).getDimSize(kChannelDim);
    };
    return getTotalsShape(*lookupTarget(op.getTarget()->getChip()),
                          *op.getSchedule(), channels(op.getQuery()),
                          channels(op.getValue()));
  }

  /// Means of values that were not split.
  Value zeroMeans() {
    Value scales = op.getValueScale();
    // Key scales have as many blocks as there are means.
    Value empty = tensor::EmptyOp::create(rewriter, loc,
                                          {sizeOf(scales, 0), sizeOf(scales, 1),
                                           sizeOf(op.getKeyScale(), 2),
                                           sizeOf(scales, 2)},
                                          rewriter.getF32Type());
    Value zero = arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getF32FloatAttr(0.0f));
    return linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  }

  QuantizedAttentionOp op;
  IRRewriter &rewriter;
  Location loc;
};

class PackOperands : public vcattn::impl::PackOperandsBase<PackOperands> {
public:
  using PackOperandsBase::PackOperandsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto op : collect<QuantizedAttentionOp>(getOperation())) {
      if (!op.getTarget())
        continue;
      if (failed(checkKernelTakes(op))) {
        ++refused;
        signalPassFailure();
        continue;
      }
      Packer(op, rewriter).run();
      ++packed;
    }
  }
};
} // namespace
