//===- LoopBuilder.cpp - Loops over slices of tensors ---------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include <numeric>

using namespace mlir;
using namespace vcattn;

LogicalResult vcattn::checkStaticDim(Operation *op, Value tensor,
                                     StringRef name) {
  if (!cast<ShapedType>(tensor.getType()).isDynamicDim(kChannelDim))
    return success();
  return op->emitOpError("cannot be lowered to loops: the last dimension of ")
         << name << " must be static, got " << tensor.getType();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value LoopBuilder::dim(Value tensor, int64_t dim) {
  return createOrFold<tensor::DimOp>(tensor, dim);
}

TokenSizes LoopBuilder::sizes(Value tensor, Layout layout) {
  return {dim(tensor, kBatchDim), dim(tensor, getHeadsDim(layout)),
          dim(tensor, getTokensDim(layout)),
          cast<ShapedType>(tensor.getType()).getDimSize(kChannelDim)};
}

Value LoopBuilder::empty(ArrayRef<Value> sizes, Type element) {
  return tensor::EmptyOp::create(*this, getAsOpFoldResult(sizes), element);
}

Value LoopBuilder::emptyRows(ArrayRef<Value> sizes, int64_t dim, Type element) {
  constexpr int64_t kRowAlignment = 16;
  int64_t pitch = llvm::alignTo(dim, kRowAlignment);
  if (pitch == dim)
    return empty(sizes, element);
  SmallVector<Value> padded(sizes);
  padded.back() = index(pitch);
  SmallVector<OpFoldResult> offsets(sizes.size(), getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), getIndexAttr(1));
  return tensor::ExtractSliceOp::create(*this, empty(padded, element), offsets,
                                        getAsOpFoldResult(sizes), strides);
}

Value LoopBuilder::emptyLike(Value like, Type element) {
  return tensor::EmptyOp::create(
      *this, tensor::getMixedSizes(*this, getLoc(), like), element);
}

Value LoopBuilder::countedTokens(Value lengths, Value batch, Value tokens) {
  if (!lengths)
    return tokens;
  Value length = arith::IndexCastOp::create(*this, getIndexType(),
                                            extract(lengths, {batch}));
  return minS(maxS(length, index(0)), tokens);
}

std::pair<Value, Value> LoopBuilder::tokensOfPart(Value part, int64_t size,
                                                  Value tokens) {
  Value first = mul(part, index(size));
  return {first, minS(add(first, index(size)), tokens)};
}

Value LoopBuilder::broadcastIndex(Value tensor, int64_t dim, Value index) {
  auto type = cast<ShapedType>(tensor.getType());
  Value zero = this->index(0);
  if (type.getDimSize(dim) == 1)
    return zero;
  if (!type.isDynamicDim(dim))
    return index;
  Value isOne =
      cmpI(arith::CmpIPredicate::eq, this->dim(tensor, dim), this->index(1));
  return select(isOne, zero, index);
}

Value LoopBuilder::extract(Value tensor, ArrayRef<Value> indices) {
  return tensor::ExtractOp::create(*this, tensor, indices);
}

Value LoopBuilder::insert(Value scalar, Value tensor, ArrayRef<Value> indices) {
  return tensor::InsertOp::create(*this, scalar, tensor, indices);
}

Value LoopBuilder::read(Value tensor, ArrayRef<Value> indices, int64_t lanes) {
  auto type = cast<ShapedType>(tensor.getType());
  return vector::TransferReadOp::create(
      *this, VectorType::get({lanes}, type.getElementType()), tensor, indices,
      /*padding=*/std::nullopt, ArrayRef<bool>{true});
}

Value LoopBuilder::write(Value vector, Value tensor, ArrayRef<Value> indices) {
  return vector::TransferWriteOp::create(*this, vector, tensor, indices,
                                         ArrayRef<bool>{true})
      .getResult();
}

SmallVector<Value> LoopBuilder::readF32(Value tensor, ArrayRef<Value> indices,
                                        int64_t width, int64_t lanes) {
  SmallVector<Value> at(indices), vectors;
  for (int64_t offset = 0; offset < width; offset += lanes) {
    at.back() = add(indices.back(), index(offset));
    vectors.push_back(emitF32From(*this, read(tensor, at, lanes)));
  }
  return vectors;
}

Value LoopBuilder::writeAll(ArrayRef<Value> vectors, Value tensor,
                            ArrayRef<Value> indices) {
  SmallVector<Value> at(indices);
  int64_t offset = 0;
  for (Value vector : vectors) {
    at.back() = add(indices.back(), index(offset));
    tensor = write(vector, tensor, at);
    offset += cast<VectorType>(vector.getType()).getNumElements();
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Cutting the channels
//===----------------------------------------------------------------------===//

int64_t LoopBuilder::width(int64_t dim) const {
  if (options.vectorWidth <= 0)
    return dim;
  return std::gcd(options.vectorWidth, dim);
}

int64_t LoopBuilder::lanes(int64_t width) { return std::gcd(kLanes, width); }

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LoopBuilder::Slice LoopBuilder::slice(Value tensor, ArrayRef<Value> offsets,
                                      ArrayRef<OpFoldResult> wantedSizes,
                                      int64_t keptDims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  // Sizes that are known belong into the type, whoever computed them.
  SmallVector<OpFoldResult> sizes;
  for (OpFoldResult size : wantedSizes) {
    auto value = dyn_cast<Value>(size);
    sizes.push_back(value ? getAsOpFoldResult(value) : size);
  }
  auto asStatic = [](OpFoldResult size) {
    return getConstantIntValue(size).value_or(ShapedType::kDynamic);
  };
  SmallVector<int64_t> shape{asStatic(sizes.back())};
  for (OpFoldResult size : llvm::reverse(ArrayRef(sizes).drop_back()))
    if (!isConstantIntValue(size, 1))
      shape.insert(shape.begin(), asStatic(size));
  // A kept dimension may turn out to have size 1.
  while (static_cast<int64_t>(shape.size()) < keptDims)
    shape.insert(shape.begin(), 1);
  SmallVector<OpFoldResult> at = getAsOpFoldResult(ValueRange(offsets));
  SmallVector<OpFoldResult> steps(at.size(), getIndexAttr(1));
  Value result = tensor::ExtractSliceOp::create(
      *this, RankedTensorType::get(shape, type.getElementType()), tensor, at,
      sizes, steps);
  return {result, at, sizes};
}

LoopBuilder::Slice LoopBuilder::row(Value tensor, ArrayRef<Value> offsets,
                                    int64_t width) {
  SmallVector<OpFoldResult> sizes(offsets.size(), getIndexAttr(1));
  sizes.back() = getIndexAttr(width);
  return slice(tensor, offsets, sizes, /*keptDims=*/1);
}

SmallVector<Value> LoopBuilder::forall(
    ArrayRef<Value> bounds, ArrayRef<Value> outputs,
    function_ref<SmallVector<Slice>(ArrayRef<Value>, ArrayRef<Value>)> body) {
  auto loop = scf::ForallOp::create(*this, getAsOpFoldResult(bounds), outputs,
                                    /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices = loop.getInductionVars();
  SmallVector<Value> shared(loop.getRegionIterArgs());
  SmallVector<Slice> slices = body(indices, shared);
  setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [slice, output] : llvm::zip_equal(slices, shared)) {
    SmallVector<OpFoldResult> steps(slice.offsets.size(), getIndexAttr(1));
    tensor::ParallelInsertSliceOp::create(*this, slice.tensor, output,
                                          slice.offsets, slice.sizes, steps);
  }
  return loop.getResults();
}

SmallVector<Value>
LoopBuilder::loop(Value lower, Value upper, ArrayRef<Value> inits,
                  function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> body,
                  int64_t step) {
  auto loop = scf::ForOp::create(*this, lower, upper, index(step), inits);
  OpBuilder::InsertionGuard guard(*this);
  // Without carried values the builder has made the terminator already.
  setInsertionPointToStart(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  SmallVector<Value> next = body(loop.getInductionVar(), carried);
  if (!inits.empty())
    scf::YieldOp::create(*this, next);
  return loop.getResults();
}

SmallVector<Value> LoopBuilder::steps(
    int64_t bound, int64_t step, ArrayRef<Value> inits,
    function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> body,
    int64_t maxUnrolled) {
  if (bound > maxUnrolled * step)
    return loop(index(0), index(bound), inits, body, step);
  SmallVector<Value> carried(inits);
  for (int64_t offset = 0; offset < bound; offset += step)
    carried = body(index(offset), carried);
  return carried;
}

SmallVector<Value>
LoopBuilder::branch(Value condition,
                    function_ref<SmallVector<Value>()> thenBody,
                    function_ref<SmallVector<Value>()> elseBody) {
  // The bodies insert through this builder, not through the one they are given.
  auto into = [&](function_ref<SmallVector<Value>()> body) {
    return [this, body](OpBuilder &nested, Location loc) {
      OpBuilder::InsertionGuard guard(*this);
      restoreInsertionPoint(nested.saveInsertionPoint());
      SmallVector<Value> results = body();
      scf::YieldOp::create(*this, results);
    };
  };
  auto thenBuilder = into(thenBody), elseBuilder = into(elseBody);
  return scf::IfOp::create(*this, condition, thenBuilder, elseBuilder)
      .getResults();
}

//===----------------------------------------------------------------------===//
// Horizontal reductions
//===----------------------------------------------------------------------===//

Value LoopBuilder::combine(ArrayRef<Value> vectors, Combine combine) {
  SmallVector<Value> level(vectors);
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

Value LoopBuilder::element(Value vector, int64_t lane) {
  return vector::ExtractOp::create(*this, vector, lane);
}

Value LoopBuilder::reduce(Value vector, Combine combine) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  // An odd number of lanes cannot be halved; the last ones go one by one.
  while (lanes > 1 && lanes % 2 == 0) {
    lanes /= 2;
    auto half = [&](int64_t offset) -> Value {
      return vector::ExtractStridedSliceOp::create(
          *this, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{lanes},
          ArrayRef<int64_t>{1});
    };
    vector = combine(half(0), half(lanes));
  }
  Value result = element(vector, 0);
  for (int64_t i = 1; i < lanes; ++i)
    result = combine(result, element(vector, i));
  return result;
}
