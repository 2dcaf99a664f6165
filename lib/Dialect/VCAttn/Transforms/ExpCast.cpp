//===- ExpCast.cpp - Choose the cast that computes codes directly ---------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"

namespace vcattn {
#define GEN_PASS_DEF_EXPCAST
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

namespace {
class ExpCast : public vcattn::impl::ExpCastBase<ExpCast> {
public:
  using ExpCastBase::ExpCastBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto op : collect<QuantizedAttentionOp>(getOperation())) {
      if (op.getCast() == cast) {
        ++refused;
        continue;
      }
      rewriter.modifyOpInPlace(op, [&] { op.setCast(cast); });
      ++converted;
    }
    for (AttentionOp op : collect<AttentionOp>(getOperation())) {
      toQuantizedAttention(op, cast, rewriter);
      ++converted;
    }
  }
};
} // namespace
