//===- EntryWrapper.cpp - The C functions callers see ---------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wrapper checks every descriptor before anything is read through it, then
// passes descriptors member by member, as func.func on memrefs becomes in the
// LLVM dialect.
//
//===----------------------------------------------------------------------===//

#include "EntryWrapper.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"

using namespace mlir;
using namespace vcattn;

/// VCATTN_RUNTIME_ABI, and vcattn_call in 64-bit words, of vcattn_runtime.h.
static constexpr int64_t kAbi = 1;
static constexpr int64_t kCallWords = 8;

static int64_t getElementBytes(MemRefType type) {
  Type element = type.getElementType();
  return element.isIndex()
             ? 8
             : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// How messages name an argument.
static std::string getArgumentName(func::FuncOp entry, unsigned index) {
  if (auto result = entry.getArgAttrOfType<IntegerAttr>(index, kResultAttrName))
    return ("result " + Twine(result.getInt())).str();
  return ("argument " + Twine(index)).str();
}

static LogicalResult verifyPair(EntryPair pair) {
  func::FuncOp entry = pair.entry;
  unsigned count = entry.getNumArguments();
  if (count < 2 || !entry.getArgAttr(count - 2, kWorkspaceAttrName) ||
      !entry.getArgAttr(count - 1, kStreamAttrName) || !pair.size)
    return entry.emitOpError("has no workspace yet; run vcattn-plan-workspace");
  for (Type type : entry.getArgumentTypes().drop_back(2)) {
    auto memref = dyn_cast<MemRefType>(type);
    int64_t offset;
    SmallVector<int64_t> strides;
    if (!memref || failed(memref.getStridesAndOffset(strides, offset)) ||
        !memref.getElementType().isIntOrIndexOrFloat())
      return entry.emitOpError("takes a ")
             << type << "; an entry function takes strided memrefs of numbers";
  }
  return success();
}

/// Checks the descriptors that `pointers` point to.
static void checkArguments(OpBuilder &builder, func::FuncOp entry,
                           RuntimeBuilder &runtime, Value call,
                           ValueRange pointers) {
  Location loc = entry.getLoc();
  for (auto [i, pointer] : llvm::enumerate(pointers)) {
    auto type = cast<MemRefType>(entry.getArgumentTypes()[i]);
    auto [strides, offset] = type.getStridesAndOffset();
    runtime.call(builder, loc, "check_memref",
                 {call, runtime.string(builder, loc, getArgumentName(entry, i)),
                  pointer, runtime.constant32(builder, loc, type.getRank()),
                  runtime.constant32(builder, loc, getElementBytes(type)),
                  runtime.array(builder, loc, type.getShape()),
                  runtime.array(builder, loc, strides),
                  runtime.constant64(builder, loc, offset)});
  }
}

/// Starts `wrapper`: checks the descriptors its first arguments point to and
/// leaves for `exit`, with `failed` or else the status, if one is wrong.
/// Returns the call's state; the builder is where all is well.
static Value emitPrologue(OpBuilder &builder, func::FuncOp entry,
                          LLVM::LLVMFuncOp wrapper, StringRef name,
                          unsigned numPointers, Value stream, Block *exit,
                          std::optional<int64_t> failed,
                          RuntimeBuilder &runtime) {
  Location loc = entry.getLoc();
  Value call = runtime.stackSlot(builder, loc, runtime.getI64(), kCallWords);
  runtime.call(builder, loc, "begin",
               {call, runtime.constant32(builder, loc, kAbi),
                runtime.string(builder, loc, name), stream});
  checkArguments(builder, entry, runtime, call,
                 wrapper.getArguments().take_front(numPointers));
  Value status = runtime.call(builder, loc, "status", {call}, runtime.getI32());
  Value isFine =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status,
                           runtime.constant32(builder, loc, 0));
  Value result = failed ? runtime.constant64(builder, loc, *failed) : status;
  Block *fine = new Block();
  wrapper.getBody().getBlocks().insert(Region::iterator(exit), fine);
  LLVM::CondBrOp::create(builder, loc, isFine, fine, ValueRange(), exit,
                         ValueRange(result));
  builder.setInsertionPointToStart(fine);
  return call;
}

/// Makes a wrapper with an entry block, in which the builder is left, and a
/// block that returns its argument.
static LLVM::LLVMFuncOp makeWrapper(OpBuilder &builder, Location loc,
                                    StringRef name, ArrayRef<Type> arguments,
                                    Type result, Block *&exit) {
  auto wrapper = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(result, arguments));
  Block *start = wrapper.addEntryBlock(builder);
  exit = builder.createBlock(&wrapper.getBody(), wrapper.getBody().end(),
                             {result}, {loc});
  LLVM::ReturnOp::create(builder, loc, exit->getArgument(0));
  builder.setInsertionPointToStart(start);
  return wrapper;
}

/// The members of the descriptors that `pointers` point to.
static SmallVector<Value> unpack(OpBuilder &builder, func::FuncOp entry,
                                 ValueRange pointers,
                                 const LLVMTypeConverter &converter) {
  SmallVector<Value> members;
  for (auto [i, pointer] : llvm::enumerate(pointers)) {
    auto type = cast<MemRefType>(entry.getArgumentTypes()[i]);
    Value descriptor = LLVM::LoadOp::create(
        builder, entry.getLoc(), converter.convertType(type), pointer);
    MemRefDescriptor::unpack(builder, entry.getLoc(), descriptor, type,
                             members);
  }
  return members;
}

static void makePrivate(func::FuncOp function, StringRef name) {
  function.setSymName(name);
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}

LogicalResult vcattn::wrapEntry(EntryPair pair, RuntimeBuilder &runtime,
                                const LLVMTypeConverter &converter) {
  if (failed(verifyPair(pair)))
    return failure();
  func::FuncOp entry = pair.entry;
  Location loc = entry.getLoc();
  std::string name = entry.getSymName().str();
  std::string sizeName = pair.size.getSymName().str();
  std::string body = name + ".body", sizeBody = sizeName + ".body";
  makePrivate(entry, body);
  makePrivate(pair.size, sizeBody);
  unsigned numPointers = entry.getNumArguments() - 2;
  Type pointer = runtime.getPointerType(), i32 = runtime.getI32(),
       i64 = runtime.getI64();
  OpBuilder builder(entry);
  Block *exit;

  SmallVector<Type> types(numPointers, pointer);
  LLVM::LLVMFuncOp size = makeWrapper(builder, loc, sizeName, types, i64, exit);
  emitPrologue(builder, entry, size, sizeName, numPointers,
               LLVM::ZeroOp::create(builder, loc, pointer), exit, -1, runtime);
  auto computed = LLVM::CallOp::create(
      builder, loc, TypeRange(i64), sizeBody,
      unpack(builder, entry, size.getArguments(), converter));
  LLVM::BrOp::create(builder, loc, computed.getResults(), exit);

  builder.setInsertionPointAfter(size);
  types.append({pointer, i64, pointer});
  LLVM::LLVMFuncOp wrapper = makeWrapper(builder, loc, name, types, i32, exit);
  ValueRange arguments = wrapper.getArguments();
  Value workspace = arguments[numPointers],
        workspaceSize = arguments[numPointers + 1],
        stream = arguments[numPointers + 2];
  Value call = emitPrologue(builder, entry, wrapper, name, numPointers, stream,
                            exit, std::nullopt, runtime);
  SmallVector<Value> members =
      unpack(builder, entry, arguments.take_front(numPointers), converter);
  auto needed =
      LLVM::CallOp::create(builder, loc, TypeRange(i64), sizeBody, members);
  runtime.call(builder, loc, "check_workspace",
               {call, workspace, workspaceSize, needed.getResult()});
  runtime.call(builder, loc, "enter", {call});
  Value zero = runtime.constant64(builder, loc, 0);
  Value one = runtime.constant64(builder, loc, 1);
  members.append({workspace, workspace, zero, workspaceSize, one, call});
  LLVM::CallOp::create(builder, loc, TypeRange(), body, members);
  Value status = runtime.call(builder, loc, "end", {call}, i32);
  LLVM::BrOp::create(builder, loc, ValueRange(status), exit);

  // LLVM's arguments know nothing of the marks.
  for (func::FuncOp function : {entry, pair.size})
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      function.setArgAttrs(i, DictionaryAttr());
  entry->removeAttr(kEntryAttrName);
  return success();
}
