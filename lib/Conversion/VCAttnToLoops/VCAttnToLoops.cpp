//===- VCAttnToLoops.cpp - Method and attention ops as loops --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass: finds the ops and replaces each by what its lowering (one file per
// family) returns.
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "vcattn/Conversion/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace vcattn {
#define GEN_PASS_DEF_CONVERTVCATTNTOLOOPS
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// The results of `op` as loops before it; null if it is left as it is.
static std::optional<Lowered> lower(LoopBuilder &b, Operation *op,
                                    bool attention) {
  using Result = std::optional<Lowered>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](CenterKeysOp op) { return Result(lowerCenterKeys(b, op)); })
      .Case([&](HadamardOp op) { return Result(lowerHadamard(b, op)); })
      .Case([&](GatherTokensOp op) { return Result(lowerGatherTokens(b, op)); })
      .Case([&](GatherMaskOp op) { return Result(lowerGatherMask(b, op)); })
      .Case(
          [&](BlockResidualOp op) { return Result(lowerBlockResidual(b, op)); })
      .Case([&](QuantizeOp op) { return Result(lowerQuantize(b, op)); })
      .Case([&](ClusterOp op) { return Result(lowerCluster(b, op)); })
      .Case([&](PackValuesOp op) { return Result(lowerPackValues(b, op)); })
      .Case([&](PackMeansOp op) { return Result(lowerPackMeans(b, op)); })
      .Case([&](CompensateMeansOp op) {
        return Result(lowerCompensateMeans(b, op));
      })
      .Case([&](CorrectLseOp op) { return Result(lowerCorrectLse(b, op)); })
      .Case([&](MergeAttentionOp op) {
        return Result(lowerMergeAttention(b, op));
      })
      .Case([&](AttentionOp op) {
        return attention ? Result(lowerAttention(b, op)) : std::nullopt;
      })
      .Case([&](QuantizedAttentionOp op) {
        return attention ? Result(lowerQuantizedAttention(b, op))
                         : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

namespace {
class ConvertVCAttnToLoops
    : public vcattn::impl::ConvertVCAttnToLoopsBase<ConvertVCAttnToLoops> {
public:
  using ConvertVCAttnToLoopsBase::ConvertVCAttnToLoopsBase;

  void runOnOperation() override {
    if (target != "cpu" && target != "gpu") {
      getOperation()->emitError("convert-vcattn-to-loops: target must be cpu "
                                "or gpu, got '")
          << target << "'";
      return signalPassFailure();
    }
    if (vectorWidth < 0) {
      getOperation()->emitError("convert-vcattn-to-loops: vector-width must "
                                "not be negative, got ")
          << vectorWidth.getValue();
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<VCAttnDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(convert(op)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(Operation *op) {
    LoopBuilder b(op->getLoc(), op, {vectorWidth, target == "gpu"});
    std::optional<Lowered> lowered = lower(b, op, target == "cpu");
    if (!lowered)
      return success();
    if (failed(*lowered))
      return failure();
    // Static sizes that only one side knows.
    SmallVector<Value> results;
    for (auto [value, result] : llvm::zip_equal(**lowered, op->getResults()))
      results.push_back(
          value.getType() == result.getType()
              ? value
              : tensor::CastOp::create(b, result.getType(), value).getResult());
    op->replaceAllUsesWith(results);
    op->erase();
    ++numLowered;
    return success();
  }
};
} // namespace
