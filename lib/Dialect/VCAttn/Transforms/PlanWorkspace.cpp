//===- PlanWorkspace.cpp - All buffers in one the caller gives ------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything an entry function launches runs in order on one stream, so two
// buffers may share bytes if the last use of one comes before the first of the
// other in the function's text. Buffers of static size are packed by first fit,
// largest first; buffers of dynamic size share a slot if their sizes are the
// same product of dynamic values.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include <tuple>

namespace vcattn {
#define GEN_PASS_DEF_PLANWORKSPACE
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

/// What kernels and tensor maps may rely on.
static constexpr int64_t kAlignment = 256;

namespace {
/// One allocation: from its first to its last use, as positions in the entry
/// block, `bytes` times the product of its dynamic sizes.
struct Buffer {
  memref::AllocOp alloc;
  int64_t first, last, bytes;
  SmallVector<Value> dynamicSizes; // in the order of their addresses
  int64_t offset = 0;              // of a static buffer
  size_t slot = 0;                 // of a dynamic one

  bool isStatic() const { return dynamicSizes.empty(); }
  bool overlaps(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Bytes that dynamic buffers share, one after the other.
struct Slot {
  SmallVector<Buffer *> buffers; // the first is the largest
};

/// Where all buffers of a function are.
struct Plan {
  std::vector<Buffer> buffers;
  int64_t staticBytes = 0;
  std::vector<Slot> slots; // after the static part
};
} // namespace

//===----------------------------------------------------------------------===//
// Finding buffers
//===----------------------------------------------------------------------===//

/// Positions of the first and last operations that use `root` or a view of it.
static LogicalResult findUses(memref::AllocOp root, Block &block,
                              const DenseMap<Operation *, int64_t> &positions,
                              Buffer &buffer) {
  buffer.first = positions.size();
  buffer.last = positions.lookup(root);
  SmallVector<Value> aliases = {root.getResult()};
  DenseSet<Value> seen(aliases.begin(), aliases.end());
  while (!aliases.empty()) {
    Value alias = aliases.pop_back_val();
    for (Operation *user : alias.getUsers()) {
      if (isa<memref::DeallocOp>(user))
        continue;
      if (isa<func::ReturnOp>(user))
        return user->emitOpError("returns a buffer that the function "
                                 "allocates; results must be out-parameters");
      Operation *outer = block.findAncestorOpInBlock(*user);
      if (!isa<memref::DimOp>(user)) {
        buffer.first = std::min(buffer.first, positions.lookup(outer));
        buffer.last = std::max(buffer.last, positions.lookup(outer));
      }
      // What comes out of a user, or of the loop around it, may be a view.
      for (Operation *op : {user, outer})
        for (Value result : op->getResults())
          if (isa<BaseMemRefType, vcattn::TensorMapType>(result.getType()) &&
              seen.insert(result).second)
            aliases.push_back(result);
      for (Region &region : user->getRegions())
        for (Block &inner : region)
          for (Value argument : inner.getArguments())
            if (isa<BaseMemRefType>(argument.getType()) &&
                seen.insert(argument).second)
              aliases.push_back(argument);
    }
  }
  return success();
}

static FailureOr<Buffer>
makeBuffer(memref::AllocOp alloc, Block &block,
           const DenseMap<Operation *, int64_t> &positions) {
  MemRefType type = alloc.getType();
  if (alloc->getBlock() != &block)
    return alloc.emitOpError("allocates in a loop or branch; only the top "
                             "level of an entry function may allocate");
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return alloc.emitOpError("cannot be placed in a workspace: its layout or "
                             "memory space is not the default");
  if (alloc.getAlignment().value_or(1) > kAlignment)
    return alloc.emitOpError("wants an alignment of ")
           << *alloc.getAlignment() << ", a workspace gives " << kAlignment;
  Type element = type.getElementType();
  if (!element.isIntOrIndexOrFloat())
    return alloc.emitOpError("has elements of unknown size, ") << element;
  Buffer buffer;
  buffer.alloc = alloc;
  buffer.bytes = element.isIndex() ? 8
                                   : llvm::PowerOf2Ceil(llvm::divideCeil(
                                         element.getIntOrFloatBitWidth(), 8));
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) &&
        llvm::MulOverflow(buffer.bytes, size, buffer.bytes))
      return alloc.emitOpError("is larger than 64 bits can count");
  llvm::append_range(buffer.dynamicSizes, alloc.getDynamicSizes());
  llvm::sort(buffer.dynamicSizes, [](Value a, Value b) {
    return a.getAsOpaquePointer() < b.getAsOpaquePointer();
  });
  if (failed(findUses(alloc, block, positions, buffer)))
    return failure();
  return buffer;
}

//===----------------------------------------------------------------------===//
// Placing them
//===----------------------------------------------------------------------===//

/// Gives a static buffer the lowest offset that no buffer placed before holds
/// at the same time.
static void placeStatic(Plan &plan, Buffer &buffer, ArrayRef<Buffer *> placed) {
  auto aligned = [](int64_t bytes) { return llvm::alignTo(bytes, kAlignment); };
  SmallVector<Buffer *> others;
  llvm::copy_if(placed, std::back_inserter(others),
                [&](Buffer *other) { return other->overlaps(buffer); });
  llvm::sort(others, [](Buffer *a, Buffer *b) {
    return std::tie(a->offset, a) < std::tie(b->offset, b);
  });
  for (Buffer *other : others) {
    if (buffer.offset + buffer.bytes <= other->offset)
      break;
    buffer.offset =
        std::max<int64_t>(buffer.offset, other->offset + aligned(other->bytes));
  }
  plan.staticBytes = std::max<int64_t>(plan.staticBytes,
                                       buffer.offset + aligned(buffer.bytes));
}

/// Gives a dynamic buffer the first slot that is large enough and free, or a
/// new one.
static void placeDynamic(Plan &plan, Buffer &buffer) {
  for (auto [number, slot] : llvm::enumerate(plan.slots)) {
    if (slot.buffers.front()->dynamicSizes != buffer.dynamicSizes ||
        llvm::any_of(slot.buffers,
                     [&](Buffer *other) { return other->overlaps(buffer); }))
      continue;
    buffer.slot = number;
    slot.buffers.push_back(&buffer);
    return;
  }
  buffer.slot = plan.slots.size();
  plan.slots.push_back({{&buffer}});
}

static FailureOr<Plan> makePlan(func::FuncOp func, bool reuse) {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("cannot plan the workspace of a function with "
                            "unstructured control flow");
  Block &block = func.getBody().front();
  DenseMap<Operation *, int64_t> positions;
  for (auto [position, op] : llvm::enumerate(block))
    positions[&op] = position;
  Plan plan;
  auto result = func.walk([&](memref::AllocOp alloc) -> WalkResult {
    FailureOr<Buffer> buffer = makeBuffer(alloc, block, positions);
    if (failed(buffer))
      return WalkResult::interrupt();
    if (!reuse) {
      buffer->first = 0;
      buffer->last = positions.size();
    }
    plan.buffers.push_back(std::move(*buffer));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  SmallVector<Buffer *> bySize, placed;
  for (Buffer &buffer : plan.buffers)
    bySize.push_back(&buffer);
  // Ties in the order of the text.
  llvm::sort(bySize, [](Buffer *a, Buffer *b) {
    return a->bytes == b->bytes ? a < b : a->bytes > b->bytes;
  });
  for (Buffer *buffer : bySize) {
    if (!buffer->isStatic()) {
      placeDynamic(plan, *buffer);
      continue;
    }
    placeStatic(plan, *buffer, placed);
    placed.push_back(buffer);
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Sizes and offsets as code
//===----------------------------------------------------------------------===//

/// Computes `value` again at the builder's position, from the function's
/// arguments alone.
static FailureOr<Value> recompute(OpBuilder &builder, Value value,
                                  IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return emitError(value.getLoc(), "a buffer's size depends on a loop");
  // The size of a buffer is an operand of its allocation.
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto alloc = dim.getSource().getDefiningOp<memref::AllocOp>();
    std::optional<int64_t> index = dim.getConstantIndex();
    if (alloc && index && alloc.getType().isDynamicDim(*index)) {
      Value size =
          alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(*index)];
      return recompute(builder, size, mapping);
    }
  }
  if (!isPure(op) || op->getNumRegions() != 0 || isa<memref::AllocOp>(op))
    return op->emitOpError("decides a buffer's size, but cannot be computed "
                           "before the first kernel runs");
  for (Value operand : op->getOperands()) {
    FailureOr<Value> again = recompute(builder, operand, mapping);
    if (failed(again))
      return failure();
    mapping.map(operand, *again);
  }
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// Offsets of the slots, followed by the size of the workspace.
static FailureOr<SmallVector<Value>> emitOffsets(OpBuilder &builder,
                                                 Location loc, const Plan &plan,
                                                 IRMapping &mapping) {
  SmallVector<Value> offsets = {constant(builder, loc, plan.staticBytes)};
  for (const Slot &slot : plan.slots) {
    const Buffer &buffer = *slot.buffers.front();
    Value bytes = constant(builder, loc, buffer.bytes);
    for (Value size : buffer.dynamicSizes) {
      FailureOr<Value> again = recompute(builder, size, mapping);
      if (failed(again))
        return failure();
      bytes = arith::MulIOp::create(builder, loc, bytes, *again);
    }
    Value up = constant(builder, loc, kAlignment - 1);
    Value down = constant(builder, loc, -kAlignment);
    bytes = arith::AndIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, bytes, up), down);
    offsets.push_back(
        arith::AddIOp::create(builder, loc, offsets.back(), bytes));
  }
  return offsets;
}

static LogicalResult emitSizeFunction(func::FuncOp func, const Plan &plan) {
  OpBuilder builder(func);
  Location loc = func.getLoc();
  std::string name = (func.getSymName() + vcattn::kWorkspaceSizeSuffix).str();
  if (Operation *taken = SymbolTable::lookupNearestSymbolFrom(
          func, builder.getStringAttr(name)))
    return taken->emitError("has the name of the function that computes the "
                            "workspace's size of @")
           << func.getSymName();
  builder.setInsertionPointAfter(func);
  auto size = func::FuncOp::create(
      builder, loc, name,
      builder.getFunctionType(func.getArgumentTypes(), builder.getI64Type()));
  Block *block = size.addEntryBlock();
  IRMapping mapping;
  mapping.map(func.getArguments(), block->getArguments());
  builder.setInsertionPointToStart(block);
  FailureOr<SmallVector<Value>> offsets =
      emitOffsets(builder, loc, plan, mapping);
  if (failed(offsets))
    return failure();
  Value total = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                           offsets->back());
  func::ReturnOp::create(builder, loc, total);
  return success();
}

static LogicalResult applyPlan(func::FuncOp func, Plan &plan) {
  Location loc = func.getLoc();
  MLIRContext *context = func.getContext();
  Block &block = func.getBody().front();
  IRMapping mapping;
  for (Value argument : func.getArguments())
    mapping.map(argument, argument);
  auto mark = [&](StringRef name) {
    return DictionaryAttr::get(
        context,
        NamedAttribute(StringAttr::get(context, name), UnitAttr::get(context)));
  };
  unsigned position = func.getNumArguments();
  auto bytes =
      MemRefType::get(ShapedType::kDynamic, IntegerType::get(context, 8));
  if (failed(func.insertArgument(position, bytes,
                                 mark(vcattn::kWorkspaceAttrName), loc)) ||
      failed(func.insertArgument(position + 1,
                                 LLVM::LLVMPointerType::get(context),
                                 mark(vcattn::kStreamAttrName), loc)))
    return failure();
  Value workspace = func.getArgument(position);

  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  FailureOr<SmallVector<Value>> offsets =
      emitOffsets(builder, loc, plan, mapping);
  if (failed(offsets))
    return failure();
  for (Buffer &buffer : plan.buffers) {
    memref::AllocOp alloc = buffer.alloc;
    builder.setInsertionPoint(alloc);
    Value offset = buffer.isStatic()
                       ? constant(builder, alloc.getLoc(), buffer.offset)
                       : (*offsets)[buffer.slot];
    Value view =
        memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(),
                               workspace, offset, alloc.getDynamicSizes());
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  return success();
}

namespace {
struct PlanWorkspace : public vcattn::impl::PlanWorkspaceBase<PlanWorkspace> {
  using PlanWorkspaceBase::PlanWorkspaceBase;

  void runOnOperation() override {
    for (func::FuncOp func : vcattn::getEntryFunctions(getOperation())) {
      if (failed(verifyEntry(func)))
        return signalPassFailure();
      FailureOr<Plan> plan = makePlan(func, reuse);
      if (failed(plan) || failed(emitSizeFunction(func, *plan)) ||
          failed(applyPlan(func, *plan)))
        return signalPassFailure();
      func->setAttr(vcattn::kEntryAttrName, UnitAttr::get(&getContext()));
      numBuffers += plan->buffers.size();
      numStaticBytes += plan->staticBytes;
    }
  }

private:
  LogicalResult verifyEntry(func::FuncOp func) {
    if (func.getNumResults() != 0)
      return func.emitOpError(
          "is an entry function with results; they must be out-parameters");
    auto uses = SymbolTable::getSymbolUses(func, getOperation());
    if (!uses || !uses->empty())
      return func.emitOpError("is an entry function and cannot be called from "
                              "its own module");
    return success();
  }
};
} // namespace
