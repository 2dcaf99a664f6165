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

/// Inner dimensions of packed means that make up one group.
static constexpr unsigned kGroupDims = 4;

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

/// Means that a caller packed are copied in groups, so theirs have to be
/// contiguous: the argument's type says so, and the call checks it.
static void constrainMeans(func::FuncOp entry) {
  entry.walk([&](vcattn::PackedAttentionOp op) {
    auto means = dyn_cast<BlockArgument>(op.getMeans());
    auto type = dyn_cast<RankedTensorType>(op.getMeans().getType());
    if (!means || !type || means.getOwner() != &entry.getBody().front() ||
        llvm::any_of(type.getShape().take_back(kGroupDims),
                     ShapedType::isDynamic))
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(means.getOwner());
    means.setType(makeContiguous(getStridedType(type), kGroupDims));
    auto tensor = bufferization::ToTensorOp::create(builder, op.getLoc(), type,
                                                    means, /*restrict=*/true);
    means.replaceAllUsesExcept(tensor, tensor);
    entry.setType(builder.getFunctionType(
        entry.getBody().front().getArgumentTypes(), entry.getResultTypes()));
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
    constrainMeans(entry);
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
