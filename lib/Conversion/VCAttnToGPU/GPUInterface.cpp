//===- GPUInterface.cpp - Results become out-parameters -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Done on tensors, before bufferization, so that kernels write where the caller
// wants the result and nothing has to be copied.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNGPUINTERFACE
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

/// Inner dimensions of packed means that make up one group, and of key scales
/// that make up a head.
static constexpr unsigned kGroupDims = 4, kScaleDims = 2;

/// A memref of `type`'s shape with any strides and offset.
static MemRefType getStridedType(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

/// Makes the last `dims` dimensions of a strided type contiguous.
static MemRefType makeContiguous(MemRefType type, unsigned dims) {
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t stride = 1;
  for (unsigned i = 0; i < dims; ++i) {
    unsigned dim = type.getRank() - 1 - i;
    strides[dim] = stride;
    stride *= type.getDimSize(dim);
  }
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, strides));
}

/// Makes the last `dims` dimensions of `operand` contiguous if the caller gives
/// it: the argument's type says so then, and the call checks it.
static void constrain(func::FuncOp entry, Value operand, unsigned dims) {
  auto argument = dyn_cast<BlockArgument>(operand);
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!argument || !type || argument.getOwner() != &entry.getBody().front() ||
      llvm::any_of(type.getShape().take_back(dims - 1), ShapedType::isDynamic))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  argument.setType(makeContiguous(getStridedType(type), dims));
  auto tensor = bufferization::ToTensorOp::create(
      builder, operand.getLoc(), type, argument, /*restrict=*/true);
  argument.replaceAllUsesExcept(tensor, tensor);
  entry.setType(builder.getFunctionType(
      entry.getBody().front().getArgumentTypes(), entry.getResultTypes()));
}

/// What a caller packed: means are copied in groups, and key scales found by
/// counting tiles.
static void constrainPacked(func::FuncOp entry) {
  entry.walk([&](vcattn::PackedAttentionOp op) {
    constrain(entry, op.getMeans(), kGroupDims);
    constrain(entry, op.getKeyScale(), kScaleDims);
  });
}

/// Asserts that `out` has the sizes of `result` that its type leaves open.
static void assertSizes(OpBuilder &builder, Location loc, Value result,
                        Value out, int64_t number) {
  auto type = cast<RankedTensorType>(result.getType());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i))
      continue;
    Value size = tensor::DimOp::create(builder, loc, result, i);
    Value given = memref::DimOp::create(builder, loc, out, i);
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       size, given);
    cf::AssertOp::create(builder, loc, same,
                         ("result " + Twine(number) + ": size of dimension " +
                          Twine(i) + " is wrong")
                             .str());
  }
}

namespace {
struct GPUInterface
    : public vcattn::impl::VCAttnGPUInterfaceBase<GPUInterface> {
  void runOnOperation() override {
    for (func::FuncOp entry : vcattn::getEntryFunctions(getOperation()))
      if (failed(addOutParameters(entry)))
        return signalPassFailure();
  }

private:
  LogicalResult addOutParameters(func::FuncOp entry) {
    if (!entry.getBody().hasOneBlock())
      return entry.emitOpError("is an entry function with unstructured control "
                               "flow, which is not supported");
    for (Type type : entry.getArgumentTypes())
      if (!isa<RankedTensorType, MemRefType>(type))
        return entry.emitOpError("takes a ")
               << type << "; an entry function takes and gives ranked tensors";
    for (Type type : entry.getResultTypes())
      if (!isa<RankedTensorType>(type))
        return entry.emitOpError("gives a ")
               << type << "; an entry function takes and gives ranked tensors";
    auto result = entry.walk([](Operation *op) -> WalkResult {
      if (isa_and_nonnull<vcattn::VCAttnDialect>(op->getDialect()) &&
          !isa<vcattn::PackedAttentionOp>(op))
        return op->emitOpError("has no kernel on the GPU; vcattn-method and "
                               "vcattn-pack-operands turn attention into what "
                               "has");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    constrainPacked(entry);
    auto terminator =
        cast<func::ReturnOp>(entry.getBody().front().getTerminator());
    OpBuilder builder(terminator);
    for (auto [number, result] : llvm::enumerate(terminator.getOperands())) {
      Location loc = terminator.getLoc();
      auto type = getStridedType(cast<RankedTensorType>(result.getType()));
      auto mark = builder.getDictionaryAttr(builder.getNamedAttr(
          vcattn::kResultAttrName, builder.getI64IntegerAttr(number)));
      unsigned position = entry.getNumArguments();
      if (failed(entry.insertArgument(position, type, mark, loc)))
        return failure();
      Value out = entry.getArgument(position);
      assertSizes(builder, loc, result, out, number);
      bufferization::MaterializeInDestinationOp::create(
          builder, loc, /*result=*/Type(), result, out, /*restrict=*/true,
          /*writable=*/true);
      ++numResults;
    }
    terminator->setOperands({});
    BitVector all(entry.getNumResults(), true);
    return entry.eraseResults(all);
  }
};
} // namespace
