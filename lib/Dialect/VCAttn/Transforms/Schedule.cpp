//===- Schedule.cpp - Choose target and schedule --------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include "vcattn/Target/Schedules.h"

namespace vcattn {
#define GEN_PASS_DEF_SCHEDULE
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Where an attention says nothing and neither does an option.
static constexpr llvm::StringLiteral kDefaultChip = "sm_90a";

static int64_t getChannels(Value value) {
  return cast<ShapedType>(value.getType()).getDimSize(kChannelDim);
}

static std::string printSize(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

namespace {
class Schedule : public vcattn::impl::ScheduleBase<Schedule> {
public:
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    for (auto op : collect<QuantizedAttentionOp>(getOperation()))
      if (failed(schedule(op))) {
        ++refused;
        signalPassFailure();
      }
  }

private:
  /// `base` with what the options say, or null after an error at `op`.
  ScheduleAttr override(QuantizedAttentionOp op, ScheduleAttr base) {
    auto pick = [](int64_t option, int64_t value) {
      return option == 0 ? value : option;
    };
    bool takeTurns = pingPong == Toggle::Default ? base.getPingPong()
                                                 : pingPong == Toggle::On;
    return ScheduleAttr::getChecked(
        [&] { return op.emitError(); }, op.getContext(),
        pick(tileQ, base.getTileQ()), pick(tileK, base.getTileK()),
        pick(stages, base.getStages()), pick(consumers, base.getConsumers()),
        pick(producerRegisters, base.getProducerRegisters()),
        pick(consumerRegisters, base.getConsumerRegisters()), takeTurns,
        pick(promotion, base.getPromotion()));
  }

  LogicalResult schedule(QuantizedAttentionOp op) {
    MLIRContext *context = op.getContext();
    StringRef chip = !target.empty()  ? StringRef(target)
                     : op.getTarget() ? op.getTarget()->getChip()
                                      : StringRef(kDefaultChip);
    auto targetAttr =
        TargetAttr::getChecked([&] { return op.emitError(); }, context, chip);
    if (!targetAttr)
      return failure();
    int64_t headDim = getChannels(op.getQuery());
    int64_t valueDim = getChannels(op.getValue());
    ScheduleAttr base = getDefaultSchedule(targetAttr, headDim, valueDim);
    if (!base)
      return op.emitError("no schedule is known for target ")
             << chip << " with head dimension " << printSize(headDim)
             << " and value dimension " << printSize(valueDim);
    ScheduleAttr attr = override(op, base);
    if (!attr ||
        failed(verifySchedule(op, targetAttr, attr, headDim, valueDim)))
      return failure();
    op.setTargetAttr(targetAttr);
    op.setScheduleAttr(attr);
    ++scheduled;
    return success();
  }
};
} // namespace
