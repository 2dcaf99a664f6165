//===- KernelBuilder.cpp - Registers, lanes and addresses -----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "vcattn/Target/Schedules.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace vcattn;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

int64_t SharedMemoryLayout::add(Operation *kernel) {
  int64_t bytes = 0;
  auto place = [&](Operation *op, int64_t size) {
    bytes = llvm::alignTo(bytes, kTileAlignment);
    ranges[op].data = bytes;
    bytes += size;
  };
  kernel->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](SharedTileOp tile) {
          place(op, tile.getResult().getType().getBytes());
        })
        .Case([&](CreatePipelineOp pipeline) {
          PipelineType type = pipeline.getResult().getType();
          place(op, type.getStages() * type.getTile().getBytes());
        });
  });
  bytes = llvm::alignTo(bytes, kBarrierBytes);
  kernel->walk([&](CreatePipelineOp pipeline) {
    ranges[pipeline].barriers = bytes;
    bytes += 2 * pipeline.getResult().getType().getStages() * kBarrierBytes;
  });
  return bytes;
}

LLVM::LLVMStructType vcattn::getRegisters(FragmentType type) {
  MLIRContext *context = type.getContext();
  Type i32 = IntegerType::get(context, 32);
  Type f32 = Float32Type::get(context);
  int64_t perThread = type.getRows() * type.getColumns() / kWarpgroupThreads;
  auto repeat = [&](int64_t count, Type element) {
    return LLVM::LLVMStructType::getLiteral(context,
                                            SmallVector<Type>(count, element));
  };
  switch (type.getRole()) {
  case FragmentRole::Scores:
    return repeat(perThread, type.getElementType());
  case FragmentRole::Added:
  case FragmentRole::Accumulator:
  case FragmentRole::Multipliers: // the key group of the thread's lane
    return repeat(perThread, f32);
  case FragmentRole::Rows: // all four threads of a row have it
    return repeat(kThreadRows, f32);
  case FragmentRole::Maxima: // and what the casts' addends are made of
    return repeat(3 * kThreadRows, f32);
  case FragmentRole::Keep: // a row's columns, one bit each
    return repeat(kThreadRows, i32);
  case FragmentRole::Levels: // those of two neighbours
    return repeat(perThread / 2, i32);
  case FragmentRole::RowSums: // two per register
    return repeat(perThread / 2, i32);
  case FragmentRole::Probabilities: // four per register
    return repeat(perThread / 4, i32);
  }
  llvm_unreachable("all roles are handled");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value KernelBuilder::i32(int64_t value) {
  return LLVM::ConstantOp::create(*this, getI32Type(),
                                  getI32IntegerAttr(value));
}

Value KernelBuilder::f32(double value) {
  return LLVM::ConstantOp::create(*this, getF32Type(), getF32FloatAttr(value));
}

SmallVector<Value> KernelBuilder::unpack(Value registers) {
  SmallVector<Value> values;
  auto type = cast<LLVM::LLVMStructType>(registers.getType());
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    values.push_back(LLVM::ExtractValueOp::create(*this, registers, i));
  return values;
}

Value KernelBuilder::pack(ValueRange values) {
  auto type = LLVM::LLVMStructType::getLiteral(
      getContext(), llvm::to_vector(values.getTypes()));
  Value result = LLVM::PoisonOp::create(*this, type);
  for (auto [i, value] : llvm::enumerate(values))
    result = LLVM::InsertValueOp::create(*this, result, value, i);
  return result;
}

Value KernelBuilder::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value KernelBuilder::offset(Value pointer, int64_t bytes) {
  return LLVM::GEPOp::create(
      *this, pointer.getType(), getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value KernelBuilder::thread() {
  return NVVM::ThreadIdXOp::create(*this, getI32Type());
}

Value KernelBuilder::lane() {
  return LLVM::AndOp::create(*this, thread(), i32(31));
}

Value KernelBuilder::quadLane() {
  return LLVM::AndOp::create(*this, thread(), i32(3));
}

Value KernelBuilder::row() {
  // 16 * (warp mod 4) + lane / 4, from the thread number's bits.
  Value warps = LLVM::AndOp::create(*this, thread(), i32(96));
  Value lanes = LLVM::LShrOp::create(*this, lane(), i32(2));
  return LLVM::AddOp::create(*this, LLVM::LShrOp::create(*this, warps, i32(1)),
                             lanes);
}

Value KernelBuilder::isLeader() {
  Value inGroup =
      LLVM::AndOp::create(*this, thread(), i32(kWarpgroupThreads - 1));
  return LLVM::ICmpOp::create(*this, LLVM::ICmpPredicate::eq, inGroup, i32(0));
}

SmallVector<Value> KernelBuilder::assembly(StringRef text, ValueRange tied,
                                           ValueRange inputs) {
  auto letter = [](Type type) -> StringRef {
    if (type.isF32())
      return "f";
    if (type.isInteger(1))
      return "b";
    return type.isInteger(64) ? "l" : "r";
  };
  SmallVector<std::string> constraints;
  for (Value value : tied)
    constraints.push_back(("=" + letter(value.getType())).str());
  for (size_t i = 0, e = tied.size(); i < e; ++i)
    constraints.push_back(std::to_string(i));
  for (Value value : inputs)
    constraints.push_back(letter(value.getType()).str());

  Type result;
  if (tied.size() == 1)
    result = tied.front().getType();
  else if (!tied.empty())
    result = LLVM::LLVMStructType::getLiteral(getContext(),
                                              llvm::to_vector(tied.getTypes()));
  SmallVector<Value> operands(tied);
  llvm::append_range(operands, inputs);
  auto op = LLVM::InlineAsmOp::create(
      *this, result, operands, text, llvm::join(constraints, ","),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  if (tied.size() == 1)
    return {op.getResult(0)};
  return tied.empty() ? SmallVector<Value>() : unpack(op.getResult(0));
}

Value KernelBuilder::shuffleXor(Value value, int64_t mask) {
  return NVVM::ShflOp::create(*this, value.getType(), i32(-1), value, i32(mask),
                              i32(31), NVVM::ShflKind::bfly, UnitAttr());
}

Value KernelBuilder::reduceQuad(Value value,
                                function_ref<Value(Value, Value)> combine) {
  for (int64_t mask : {1, 2})
    value = combine(value, shuffleXor(value, mask));
  return value;
}

Value KernelBuilder::exp2(Value value) {
  return LLVM::CallIntrinsicOp::create(
             *this, getF32Type(), getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"),
             ValueRange(value))
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

Value KernelBuilder::address(Value memref, ValueRange indices) {
  auto metadata = memref::ExtractStridedMetadataOp::create(*this, memref);
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  Value linear = getValueOrCreateConstantIndexOp(
      *this, getLoc(), metadata.getConstifiedMixedOffset());
  for (auto [index, stride] : llvm::zip_equal(indices, strides)) {
    Value step = getValueOrCreateConstantIndexOp(*this, getLoc(), stride);
    linear = arith::AddIOp::create(*this, linear,
                                   arith::MulIOp::create(*this, index, step));
  }
  // An i1 has a byte of its own.
  int64_t width = llvm::divideCeil(
      cast<MemRefType>(memref.getType()).getElementTypeBitWidth(), 8);
  Value bytes = arith::MulIOp::create(
      *this, linear, arith::ConstantIndexOp::create(*this, width));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(*this, memref);
  Value sum = arith::IndexCastOp::create(
      *this, getI64Type(), arith::AddIOp::create(*this, base, bytes));
  return LLVM::IntToPtrOp::create(
      *this, LLVM::LLVMPointerType::get(getContext(), kGlobalSpace), sum);
}
