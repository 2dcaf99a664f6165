//===- BufferizableOpInterfaceImpl.cpp - Packed attention on buffers ------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vcattn.packed_attention is the one op of the dialect that outlives
// bufferization: it writes its outs, which it never reads.
//
//===----------------------------------------------------------------------===//

#include "vcattn/Dialect/VCAttn/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace vcattn;

namespace {
struct PackedAttentionModel
    : DstBufferizableOpInterfaceExternalModel<PackedAttentionModel,
                                              PackedAttentionOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return cast<DestinationStyleOpInterface>(op).isDpsInput(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto attention = cast<PackedAttentionOp>(op);
    if (attention.getNumResults() == 0)
      return success();
    SmallVector<Value> buffers;
    for (Value operand : attention->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(attention);
    PackedAttentionOp::create(rewriter, attention.getLoc(), TypeRange(),
                              buffers, attention->getAttrs());
    replaceOpWithBufferizedValues(
        rewriter, op, ArrayRef(buffers).take_back(attention.getOuts().size()));
    return success();
  }
};
} // namespace

void vcattn::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, VCAttnDialect *) {
    PackedAttentionOp::attachInterface<PackedAttentionModel>(*context);
  });
}
