//===- Entry.cpp - The function that runs ---------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace vcattn;
using namespace vcattn::run;

static llvm::Error makeError(const Twine &text) {
  return llvm::createStringError(text);
}

static llvm::Error addTypes(TypeRange types, StringRef what,
                            std::vector<HostType> &out) {
  for (auto [i, type] : llvm::enumerate(types)) {
    std::string printed;
    llvm::raw_string_ostream(printed) << type;
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<Element> element =
        tensor ? getElement(tensor.getElementType()) : std::nullopt;
    if (!element)
      return makeError(what + " " + Twine(i) + " has type " + printed +
                       "; vcattn-run passes ranked tensors of i1, i8, i32, "
                       "i64, index, f8E4M3FN, f16, bf16, f32 and f64");
    out.push_back({*element, SmallVector<int64_t>(tensor.getShape())});
  }
  return llvm::Error::success();
}

llvm::Expected<Entry> vcattn::run::findEntry(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> candidates;
  std::vector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    if (name.empty() ? function.isPublic() : function.getName() == name)
      candidates.push_back(function);
    names.push_back(("@" + function.getName()).str());
  }
  if (names.empty())
    return makeError("the module defines no function");
  std::string list = llvm::join(names, ", ");
  if (candidates.empty())
    return makeError(name.empty() ? "the module has no public function, only " +
                                        list + "; name one with --entry"
                                  : "there is no function @" + name +
                                        "; the module has " + list);
  if (candidates.size() > 1)
    return makeError("the module has several functions (" + list +
                     "); choose one with --entry");
  func::FuncOp function = candidates.front();
  Entry entry;
  entry.name = function.getName().str();
  FunctionType type = function.getFunctionType();
  std::string where = "@" + entry.name + ": ";
  if (auto error =
          addTypes(type.getInputs(), where + "argument", entry.arguments))
    return std::move(error);
  if (auto error = addTypes(type.getResults(), where + "result", entry.results))
    return std::move(error);
  return entry;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Looks through what changes a value's shape and no element of it.
static Value stripReshapes(Value value, bool &reshaped) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      break;
    reshaped |= !isa<tensor::CastOp>(op);
    value = op->getOperand(0);
  }
  return value;
}

static std::optional<unsigned> getArgument(Value value, bool &reshaped) {
  auto argument = dyn_cast<BlockArgument>(stripReshapes(value, reshaped));
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return argument.getArgNumber();
}

static std::optional<AttentionRole>
getRole(AttentionOp attention, func::FuncOp function, std::string &why) {
  AttentionRole role;
  bool maskReshaped = false, resultReshaped = false;
  auto query = getArgument(attention.getQuery(), role.reshaped);
  auto key = getArgument(attention.getKey(), role.reshaped);
  auto value = getArgument(attention.getValue(), role.reshaped);
  if (!query || !key || !value) {
    why = "its queries, keys or values are computed inside the function";
    return std::nullopt;
  }
  if (attention.getMask()) {
    role.mask = getArgument(attention.getMask(), maskReshaped);
    if (!role.mask || maskReshaped) {
      why = "its mask is computed inside the function";
      return std::nullopt;
    }
  }
  if (attention.getMeans()) {
    why = "its values come with means";
    return std::nullopt;
  }
  if (attention.getWindow() || attention.getLengths() ||
      attention.getBlockMask()) {
    why = "it has a window, lengths or a block mask";
    return std::nullopt;
  }
  auto terminator = cast<func::ReturnOp>(function.front().getTerminator());
  std::optional<unsigned> result;
  for (auto [i, operand] : llvm::enumerate(terminator.getOperands())) {
    Value source = stripReshapes(operand, resultReshaped);
    if (source == attention.getResult())
      result = i;
    if (attention.getLse() && source == attention.getLse())
      role.logSumExp = i;
  }
  if (!result) {
    why = "its result is not what the function returns";
    return std::nullopt;
  }
  role.query = *query;
  role.key = *key;
  role.value = *value;
  role.result = *result;
  role.problem = AttentionProblem::get(attention);
  const AttentionProblem &problem = role.problem;
  bool open = llvm::any_of(ArrayRef<int64_t>{problem.batch, problem.queryHeads,
                                             problem.keyHeads, problem.queries,
                                             problem.keys, problem.dim,
                                             problem.valueDim},
                           ShapedType::isDynamic);
  if (role.reshaped && open) {
    why = "it works on reshaped arguments of dynamic sizes";
    return std::nullopt;
  }
  return role;
}

std::optional<AttentionRole> vcattn::run::findAttention(ModuleOp module,
                                                        const Entry &entry,
                                                        std::string &why) {
  // What cannot be raised is reported when the function is compiled.
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createRaiseAttention());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*copy))) {
    why = "raising it failed";
    return std::nullopt;
  }
  auto function = copy->lookupSymbol<func::FuncOp>(entry.name);
  SmallVector<AttentionOp> attentions;
  function.walk([&](AttentionOp op) { attentions.push_back(op); });
  if (attentions.size() != 1) {
    why = attentions.empty() ? "it holds no attention that could be raised"
                             : "it holds more than one attention";
    return std::nullopt;
  }
  return getRole(attentions.front(), function, why);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

llvm::Error vcattn::run::takeSizes(AttentionRole &role,
                                   ArrayRef<HostTensor> arguments) {
  if (role.reshaped)
    return llvm::Error::success(); // all static
  std::map<std::string, int64_t> sizes;
  auto take = [&](unsigned argument, ArrayRef<StringRef> names) -> llvm::Error {
    ArrayRef<int64_t> shape = arguments[argument].shape;
    unsigned heads = getHeadsDim(role.problem.layout),
             tokens = getTokensDim(role.problem.layout);
    int64_t given[] = {shape[0], shape[heads], shape[tokens], shape[3]};
    for (auto [name, size] : llvm::zip_equal(names, given)) {
      auto [it, isNew] = sizes.try_emplace(name.str(), size);
      if (!isNew && it->second != size)
        return makeError("arguments disagree: argument " + Twine(argument) +
                         " has " + name + " = " + Twine(size) +
                         ", another one " + Twine(it->second));
    }
    return llvm::Error::success();
  };
  if (auto error = take(role.query, {"B", "Hq", "Nq", "D"}))
    return error;
  if (auto error = take(role.key, {"B", "Hkv", "Nk", "D"}))
    return error;
  if (auto error = take(role.value, {"B", "Hkv", "Nk", "Dv"}))
    return error;
  return applySizes(role.problem, sizes, "--sizes");
}
