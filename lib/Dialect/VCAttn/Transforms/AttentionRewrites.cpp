//===- AttentionRewrites.cpp - Shared by the method's passes --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRewrites.h"

using namespace mlir;
using namespace vcattn;

QuantizedAttentionOp vcattn::toQuantizedAttention(AttentionOp op,
                                                  SoftmaxCast cast,
                                                  RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  auto quantized = QuantizedAttentionOp::create(
      rewriter, op.getLoc(), op.getResult().getType(),
      op.getLse() ? op.getLse().getType() : Type(), op.getQuery(),
      /*query_scale=*/Value(), op.getKey(), /*key_scale=*/Value(),
      op.getValue(), /*value_scale=*/Value(), op.getMask(), op.getMeans(),
      op.getLengths(), op.getBlockMask(), op.getScale(), cast, op.getCausal(),
      op.getWindowAttr(), op.getLayout(),
      /*target=*/TargetAttr(), /*schedule=*/ScheduleAttr());
  quantized->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, quantized);
  return quantized;
}
