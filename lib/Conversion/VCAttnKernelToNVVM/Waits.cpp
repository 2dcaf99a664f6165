//===- Waits.cpp - Waiting at an mbarrier, for ever or not ----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace vcattn;

/// Clock cycles after which a bounded wait gives up: some seconds.
static constexpr int64_t kMostCycles = int64_t(1) << 33;

static Value readClock(KernelBuilder &b) {
  return NVVM::Clock64Op::create(b, b.getI64Type());
}

void vcattn::emitWait(KernelBuilder &b, Value barrier, Value parity,
                      bool isBounded, Value isOver) {
  OpBuilder::InsertionGuard guard(b);
  if (isOver) {
    auto known = scf::IfOp::create(b, isOver, /*withElseRegion=*/true);
    b.setInsertionPointToStart(&known.getElseRegion().front());
  }
  Value start = isBounded ? readClock(b) : Value();
  auto wait = scf::WhileOp::create(b, TypeRange(), ValueRange());
  b.createBlock(&wait.getBefore());
  // Without a time limit: with one, ptxas puts the thread to sleep, from which
  // it wakes late.
  Value done = NVVM::MBarrierTryWaitOp::create(b, b.getI1Type(), barrier,
                                               parity, /*ticks=*/Value());
  Value isPending = LLVM::XOrOp::create(
      b, done, LLVM::ConstantOp::create(b, b.getI1Type(), b.getBoolAttr(true)));
  scf::ConditionOp::create(b, isPending, ValueRange());

  b.createBlock(&wait.getAfter());
  if (!isBounded) {
    scf::YieldOp::create(b);
    return;
  }
  Value cycles = LLVM::SubOp::create(b, readClock(b), start);
  Value most = LLVM::ConstantOp::create(b, b.getI64Type(),
                                        b.getI64IntegerAttr(kMostCycles));
  Value isTooLong =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ugt, cycles, most);
  auto end = scf::IfOp::create(b, isTooLong, /*withElseRegion=*/false);
  scf::YieldOp::create(b);
  b.setInsertionPointToStart(&end.getThenRegion().front());
  LLVM::Trap::create(b);
}
