//===- RuntimeBuilder.cpp - Calls of the runtime as IR --------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace vcattn;

/// What images and constants are aligned to.
static constexpr int64_t kImageAlignment = 64;

RuntimeBuilder::RuntimeBuilder(ModuleOp module) : module(module) {
  MLIRContext *context = module.getContext();
  pointer = LLVM::LLVMPointerType::get(context);
  i64 = IntegerType::get(context, 64);
  i32 = IntegerType::get(context, 32);
  i8 = IntegerType::get(context, 8);
}

Value RuntimeBuilder::call(OpBuilder &builder, Location loc, StringRef name,
                           ValueRange arguments, Type result) {
  std::string symbol = ("vcattn_rt_" + name).str();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!function) {
    auto type = LLVM::LLVMFunctionType::get(
        result ? result : LLVM::LLVMVoidType::get(module.getContext()),
        llvm::to_vector(arguments.getTypes()));
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    function = LLVM::LLVMFuncOp::create(top, module.getLoc(), symbol, type);
  }
  auto call = LLVM::CallOp::create(builder, loc, function, arguments);
  return result ? call.getResult() : Value();
}

Value RuntimeBuilder::constant32(OpBuilder &builder, Location loc,
                                 int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, i32,
                                  builder.getI32IntegerAttr(value));
}

Value RuntimeBuilder::constant64(OpBuilder &builder, Location loc,
                                 int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, i64,
                                  builder.getI64IntegerAttr(value));
}

std::string RuntimeBuilder::uniqueName(StringRef name) {
  std::string unique = name.str();
  for (unsigned i = 0; module.lookupSymbol(unique); ++i)
    unique = (name + "_" + Twine(i)).str();
  return unique;
}

Value RuntimeBuilder::addressOf(OpBuilder &builder, Location loc,
                                StringAttr global) {
  return LLVM::AddressOfOp::create(builder, loc, pointer, global);
}

StringAttr RuntimeBuilder::makeBytes(Location loc, StringRef name,
                                     StringRef bytes, int64_t alignment) {
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(i8, bytes.size());
  auto global = LLVM::GlobalOp::create(
      top, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      uniqueName(name), top.getStringAttr(bytes), alignment);
  return global.getSymNameAttr();
}

Value RuntimeBuilder::string(OpBuilder &builder, Location loc, StringRef text) {
  StringAttr &global = strings[text];
  if (!global)
    global = makeBytes(loc, "vcattn_string", (text + Twine('\0')).str(), 0);
  return addressOf(builder, loc, global);
}

Value RuntimeBuilder::array(OpBuilder &builder, Location loc,
                            ArrayRef<int64_t> values) {
  StringAttr &global = arrays[values.vec()];
  if (!global) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto op = LLVM::GlobalOp::create(
        top, loc, LLVM::LLVMArrayType::get(i64, values.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        uniqueName("vcattn_sizes"), top.getI64TensorAttr(values));
    global = op.getSymNameAttr();
  }
  return addressOf(builder, loc, global);
}

Value RuntimeBuilder::stackSlot(OpBuilder &builder, Location loc, Type type,
                                int64_t count, int64_t alignment) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *function = builder.getInsertionBlock()->getParentOp();
  while (!isa<FunctionOpInterface>(function))
    function = function->getParentOp();
  builder.setInsertionPointToStart(
      &cast<FunctionOpInterface>(function).getFunctionBody().front());
  return LLVM::AllocaOp::create(builder, loc, pointer, type,
                                constant64(builder, loc, count), alignment);
}

StringAttr RuntimeBuilder::makeStruct(
    Location loc, StringRef name, ArrayRef<Type> types,
    function_ref<SmallVector<Value>(OpBuilder &)> fields) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMStructType::getLiteral(module.getContext(), types);
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                                       LLVM::Linkage::Internal,
                                       uniqueName(name), Attribute());
  builder.createBlock(&global.getInitializerRegion());
  Value value = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, field] : llvm::enumerate(fields(builder)))
    value = LLVM::InsertValueOp::create(builder, loc, value, field,
                                        static_cast<int64_t>(i));
  LLVM::ReturnOp::create(builder, loc, value);
  return global.getSymNameAttr();
}

StringAttr RuntimeBuilder::getModuleStruct(gpu::BinaryOp binary) {
  StringAttr &global = modules[binary.getName()];
  if (global)
    return global;
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  std::string image = object.getObject().getValue().str();
  int64_t size = image.size();
  // The driver reads PTX as a string.
  if (object.getFormat() == gpu::CompilationTarget::Assembly)
    image.push_back('\0');
  StringRef chip;
  if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget()))
    chip = target.getChip();
  Location loc = binary.getLoc();
  std::string name = binary.getName().str();
  StringAttr bytes = makeBytes(loc, name + "_image", image, kImageAlignment);
  global = makeStruct(loc, name + "_module", {pointer, i64, pointer, pointer},
                      [&](OpBuilder &b) -> SmallVector<Value> {
                        return {addressOf(b, loc, bytes),
                                constant64(b, loc, size), string(b, loc, chip),
                                LLVM::ZeroOp::create(b, loc, pointer)};
                      });
  return global;
}

Value RuntimeBuilder::kernel(OpBuilder &builder, Location loc,
                             gpu::BinaryOp binary, StringRef kernel) {
  StringAttr &global = kernels[(binary.getName() + "::" + kernel).str()];
  if (!global) {
    StringAttr image = getModuleStruct(binary);
    global =
        makeStruct(loc, (kernel + "_kernel").str(), {pointer, pointer, pointer},
                   [&](OpBuilder &b) -> SmallVector<Value> {
                     return {addressOf(b, loc, image), string(b, loc, kernel),
                             LLVM::ZeroOp::create(b, loc, pointer)};
                   });
  }
  return addressOf(builder, loc, global);
}
