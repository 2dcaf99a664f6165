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
#include "vcattn/Target/ScheduleChoices.h"
#include "vcattn/Target/ScheduleFile.h"
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

/// Whether there is neither a mask nor a limit.
static bool seesAllKeys(QuantizedAttentionOp op) {
  return op.getCausal() == Causality::None && !op.getWindow() &&
         !op.getMask() && !op.getLengths() && !op.getBlockMask();
}

static std::string printSize(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

namespace {
class Schedule : public vcattn::impl::ScheduleBase<Schedule> {
public:
  using ScheduleBase::ScheduleBase;

  LogicalResult initialize(MLIRContext *context) override {
    auto parsed = ScheduleChoices::parse(choices);
    if (!parsed)
      return emitError(UnknownLoc::get(context), "vcattn-schedule: ")
             << llvm::toString(parsed.takeError());
    chosen = *parsed;
    if (file.empty())
      return success();
    auto read = ScheduleFile::read(file);
    if (!read)
      return emitError(UnknownLoc::get(context), "schedule file ")
             << llvm::toString(read.takeError());
    tuned = std::move(*read);
    return success();
  }

  void runOnOperation() override {
    for (auto op : collect<QuantizedAttentionOp>(getOperation()))
      if (failed(schedule(op))) {
        ++refused;
        signalPassFailure();
      }
  }

private:
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
    // With fewer queries to a tile consumers have the registers that masks
    // take; and a block mask is made of tiles of 128 queries.
    bool isMasked = op.getMask() || op.getBlockMask();
    ScheduleAttr base = getDefaultSchedule(targetAttr, headDim, valueDim,
                                           isMasked ? kBlockTokens : 0);
    if (!base)
      return op.emitError("no schedule is known for target ")
             << chip << " with head dimension " << printSize(headDim)
             << " and value dimension " << printSize(valueDim);
    auto report = [&] { return op.emitError(); };
    ScheduleKey key = ScheduleKey::of(op, chip);
    if (op.getSchedule())
      base = *op.getSchedule();
    else if (const TunedSchedule *known = tuned.lookup(key))
      base = known->choices.apply(report, base);
    else if (seesAllKeys(op))
      base = llvm::cantFail(ScheduleChoices::parse(getChoicesBySize(
                                key.sizes, key.headDim, key.valueDim)))
                 .apply(report, base);
    ScheduleAttr attr = base ? chosen.apply(report, base) : base;
    if (!attr ||
        failed(verifySchedule(op, targetAttr, attr, headDim, valueDim)))
      return failure();
    op.setTargetAttr(targetAttr);
    op.setScheduleAttr(attr);
    ++scheduled;
    if (this->report)
      op.emitRemark("schedule: ") << ScheduleChoices::of(attr).print();
    return success();
  }

  ScheduleChoices chosen;
  ScheduleFile tuned;
};
} // namespace
