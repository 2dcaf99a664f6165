//===- TuningCase.cpp - One attention, taken apart for timing -------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningCase.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"
#include "vcattn/Pipelines/Method.h"

using namespace mlir;
using namespace vcattn;

static func::FuncOp getOnlyFunction(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

func::FuncOp TuningCase::getPack() { return getOnlyFunction(*pack); }
func::FuncOp TuningCase::getKernel() { return getOnlyFunction(*kernel); }
PackedAttentionOp TuningCase::getAttention() {
  return *getKernel().getOps<PackedAttentionOp>().begin();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// A module of one function, @attention, that is `op` with static sizes.
static OwningOpRef<ModuleOp> makeStatic(AttentionOp op,
                                        const AttentionProblem &problem) {
  OpBuilder b(op.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
  b.setInsertionPointToStart(module->getBody());
  auto type = [](ArrayRef<int64_t> shape, Value like) -> Type {
    return RankedTensorType::get(
        shape, cast<ShapedType>(like.getType()).getElementType());
  };
  SmallVector<int64_t> outShape = problem.getQueryShape();
  outShape[kChannelDim] = problem.valueDim;
  SmallVector<Type> inputs = {type(problem.getQueryShape(), op.getQuery()),
                              type(problem.getKeyShape(), op.getKey()),
                              type(problem.getValueShape(), op.getValue())};
  SmallVector<Type> results = {type(outShape, op.getResult())};
  if (op.getLse())
    results.push_back(type({problem.batch, problem.queryHeads, problem.queries},
                           op.getLse()));
  auto function = func::FuncOp::create(b, op.getLoc(), "attention",
                                       b.getFunctionType(inputs, results));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(op.getQuery(), body->getArgument(0));
  mapping.map(op.getKey(), body->getArgument(1));
  mapping.map(op.getValue(), body->getArgument(2));
  Operation *clone = b.clone(*op, mapping);
  for (auto [result, type] : llvm::zip_equal(clone->getResults(), results))
    result.setType(type);
  func::ReturnOp::create(b, op.getLoc(), clone->getResults());
  return module;
}

/// @kernel: a function of the packed operands that is `op`.
static OwningOpRef<ModuleOp> makeKernel(PackedAttentionOp op,
                                        ValueRange operands) {
  OpBuilder b(op.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(op.getLoc());
  b.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(
      b, op.getLoc(), "kernel",
      b.getFunctionType(operands.getTypes(), op->getResultTypes()));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(operands, body->getArguments());
  for (Value out : op.getOuts()) {
    auto type = cast<RankedTensorType>(out.getType());
    mapping.map(out, tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                             type.getElementType()));
  }
  Operation *clone = b.clone(*op, mapping);
  func::ReturnOp::create(b, op.getLoc(), clone->getResults());
  return module;
}

/// Splits what the method makes of an attention into @pack and @kernel.
static LogicalResult split(TuningCase &x, OwningOpRef<ModuleOp> module) {
  func::FuncOp function = getOnlyFunction(*module);
  auto attentions = llvm::to_vector(function.getOps<PackedAttentionOp>());
  if (attentions.size() != 1)
    return emitError(x.loc, "has no kernel to tune: the method's steps make no "
                            "quantized attention of it");
  PackedAttentionOp op = attentions.front();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!llvm::is_contained(op.getOuts(), operand))
      operands.push_back(operand);
  x.schedule = op.getSchedule();
  x.kernel = makeKernel(op, operands);
  auto terminator = cast<func::ReturnOp>(function.front().getTerminator());
  terminator->setOperands(operands);
  function.setType(FunctionType::get(
      op.getContext(), function.getArgumentTypes(), ValueRange(operands)));
  function.setSymName("pack");
  op.erase();
  x.pack = std::move(module);
  return success();
}

static FailureOr<TuningCase> makeCase(AttentionOp op,
                                      const TuneOptions &options) {
  if (op->getNumOperands() != 3)
    return op.emitError("only attention of a query, a key and a value is "
                        "tuned, without masks");
  AttentionProblem problem = AttentionProblem::get(op);
  bool isOpen = llvm::any_of(op->getOperandTypes(), [](Type type) {
    return !cast<ShapedType>(type).hasStaticShape();
  });
  if (llvm::Error error = applySizes(problem, options.sizes, "--tune-sizes")) {
    std::string text = llvm::toString(std::move(error));
    return op.emitError(text);
  }
  Type element = cast<ShapedType>(op.getQuery().getType()).getElementType();
  TuningCase x{op.getLoc(), problem, element, {}, {}, {}, {}};
  OwningOpRef<ModuleOp> module = makeStatic(op, problem);

  PassManager method(op.getContext());
  if (options.compile.runMethod)
    buildMethodPipeline(method, options.compile.method);
  if (failed(method.run(*module)))
    return failure();
  module->walk([&](QuantizedAttentionOp quantized) {
    x.key = ScheduleKey::of(quantized, options.compile.target);
    if (isOpen)
      x.key.sizes = SizeClass::Open;
  });

  PassManager schedule(op.getContext());
  ScheduleOptions scheduleOptions;
  scheduleOptions.target = options.compile.target;
  scheduleOptions.choices = options.compile.schedule;
  schedule.addPass(createSchedule(scheduleOptions));
  schedule.addPass(createPackOperands());
  schedule.addPass(createCSEPass());
  if (failed(schedule.run(*module)) || failed(split(x, std::move(module))))
    return failure();
  return std::move(x);
}

FailureOr<std::vector<TuningCase>>
vcattn::collectTuningCases(ModuleOp module, const TuneOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createRaiseAttention());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*copy)))
    return failure();
  SmallVector<AttentionOp> attentions;
  copy->walk([&](AttentionOp op) { attentions.push_back(op); });
  if (attentions.empty())
    return emitError(module.getLoc(), "holds no attention that could be tuned");
  std::vector<TuningCase> cases;
  for (AttentionOp op : attentions) {
    auto x = makeCase(op, options);
    if (failed(x))
      return failure();
    if (llvm::none_of(cases,
                      [&](TuningCase &known) { return known.key == x->key; }))
      cases.push_back(std::move(*x));
  }
  return std::move(cases);
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

FailureOr<std::vector<ScheduleAttr>>
vcattn::getCandidates(TuningCase &x, const TuneOptions &options) {
  auto chosen = ScheduleChoices::parse(options.compile.schedule);
  if (!chosen)
    return emitError(x.loc, llvm::toString(chosen.takeError()));
  PackedAttentionOp op = x.getAttention();
  // What does not fit is no candidate, and no error.
  ScopedDiagnosticHandler quiet(op.getContext(),
                                [](Diagnostic &) { return success(); });
  std::vector<ScheduleAttr> candidates = {x.schedule};
  for (StringRef tile : {"64", "128", "192"})
    for (StringRef stages : {"3", "4", "6", "8"})
      for (StringRef turns : {"true", "false"}) {
        ScheduleChoices choices;
        for (auto [name, value] :
             {std::pair<StringRef, StringRef>{"tile_q", tile},
              {"stages", stages},
              {"ping_pong", turns}})
          llvm::cantFail(choices.set(name, value));
        auto report = [&] { return op.emitError(); };
        ScheduleAttr schedule = choices.apply(report, x.schedule);
        if (schedule)
          schedule = chosen->apply(report, schedule);
        if (schedule && !llvm::is_contained(candidates, schedule) &&
            succeeded(verifySchedule(op, op.getTarget(), schedule,
                                     x.problem.dim, x.problem.valueDim)))
          candidates.push_back(schedule);
      }
  return candidates;
}
