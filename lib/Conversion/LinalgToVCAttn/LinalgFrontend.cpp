//===- LinalgFrontend.cpp - linalg on tensors as expressions --------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgFrontend.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace vcattn;
using linalg::LinalgOp;

/// A loop that no result dimension names.
static constexpr Axis kUnnamed = -2;

/// The axes of `op`'s loops when result `number` is read at `axes`; a reduction
/// loop runs over `reduced`. Nothing if a loop stays without a name.
static std::optional<SmallVector<Axis>>
nameLoops(LinalgOp op, unsigned number, ArrayRef<Axis> axes, Axis reduced) {
  SmallVector<Axis> loops(op.getNumLoops(), kUnnamed);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
  for (auto [expr, axis] : llvm::zip_equal(map.getResults(), axes)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = axis;
    else if (!isa<AffineConstantExpr>(expr))
      return std::nullopt;
  }
  for (auto [loop, iterator] :
       llvm::zip_equal(loops, op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      loop = reduced;
  if (llvm::is_contained(loops, kUnnamed))
    return std::nullopt;
  return loops;
}

/// What `op` reads of `operand` in an iteration named by `loops`.
static std::optional<Term> readOperand(LinalgOp op, OpOperand *operand,
                                       ArrayRef<Axis> loops) {
  Term term{operand->get(), {}};
  if (!isa<ShapedType>(term.value.getType()))
    return term;
  ArrayRef<int64_t> shape = cast<ShapedType>(term.value.getType()).getShape();
  AffineMap map = op.getMatchingIndexingMap(operand);
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), shape)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      term.axes.push_back(loops[dim.getPosition()]);
    else if (isa<AffineConstantExpr>(expr) && size == 1)
      term.axes.push_back(kUnitAxis);
    else
      return std::nullopt;
  }
  return term;
}

/// Axes of a reshape's source, if the reshape only adds or drops dimensions of
/// size 1. `groups` are over the dimensions of the larger side.
static std::optional<SmallVector<Axis>>
readExpanded(ArrayRef<ReassociationIndices> groups, RankedTensorType expanded,
             ArrayRef<Axis> axes) {
  SmallVector<Axis> source;
  for (const ReassociationIndices &group : groups) {
    Axis axis = kUnitAxis;
    for (int64_t dim : group) {
      if (axes[dim] == kUnitAxis)
        continue;
      // Two named dimensions in one, even if one has a single element: which
      // is which would be lost.
      if (axis != kUnitAxis)
        return std::nullopt;
      axis = axes[dim];
    }
    source.push_back(axis);
  }
  return source;
}

static std::optional<SmallVector<Axis>>
readCollapsed(ArrayRef<ReassociationIndices> groups, RankedTensorType expanded,
              ArrayRef<Axis> axes) {
  SmallVector<Axis> source(expanded.getRank(), kUnitAxis);
  for (auto [group, axis] : llvm::zip_equal(groups, axes)) {
    std::optional<int64_t> only;
    for (int64_t dim : group) {
      if (expanded.getDimSize(dim) == 1)
        continue;
      if (only)
        return std::nullopt;
      only = dim;
    }
    if (axis != kUnitAxis)
      source[only.value_or(group.front())] = axis;
    else if (only && expanded.getDimSize(*only) != 1)
      return std::nullopt;
  }
  return source;
}

/// One step through an op that only renames dimensions.
static std::optional<Term> readReshape(Operation *op, ArrayRef<Axis> axes) {
  std::optional<SmallVector<Axis>> source;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    source = readExpanded(expand.getReassociationIndices(),
                          expand.getResultType(), axes);
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    source = readCollapsed(collapse.getReassociationIndices(),
                           collapse.getSrcType(), axes);
  else if (isa<tensor::CastOp>(op))
    source = llvm::to_vector(axes);
  if (!source)
    return std::nullopt;
  return Term{op->getOperand(0), *source};
}

/// The kinds of scalar ops that are read as what they are; constants, indices,
/// comparisons and Not need more than a name.
static ExprKind getKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, ExprKind>(op)
      .Case<arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(
          [](auto) { return ExprKind::Cast; })
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return ExprKind::Add; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return ExprKind::Sub; })
      .Case<arith::MulFOp>([](auto) { return ExprKind::Mul; })
      .Case<arith::DivFOp>([](auto) { return ExprKind::Div; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [](auto) { return ExprKind::Max; })
      .Case<arith::SelectOp>([](auto) { return ExprKind::Select; })
      .Case<arith::CmpIOp>([](auto) { return ExprKind::Compare; })
      .Case<math::ExpOp>([](auto) { return ExprKind::Exp; })
      .Case<math::Exp2Op>([](auto) { return ExprKind::Exp2; })
      .Case<math::SqrtOp>([](auto) { return ExprKind::Sqrt; })
      .Case<math::RsqrtOp>([](auto) { return ExprKind::Rsqrt; })
      .Default([](Operation *) { return ExprKind::Unknown; });
}

/// Reads a constant: a number, or a tensor that holds one number.
static std::optional<double> readConstant(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return boolean.getValue() ? 1.0 : 0.0;
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return static_cast<double>(number.getValue().getSExtValue());
  return std::nullopt;
}

/// Reads an op of arith or math, on scalars or elementwise on tensors.
static void readScalarOp(Operation *op, ArrayRef<Axis> axes, Expr &expr) {
  expr.op = op;
  expr.kind = getKind(op);
  for (Value operand : op->getOperands())
    expr.operands.push_back({operand, llvm::to_vector(axes)});
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    expr.predicate = compare.getPredicate();
  auto invert = dyn_cast<arith::XOrIOp>(op);
  if (invert && getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) &&
      readConstant(invert.getRhs()).value_or(0.0) != 0.0) {
    expr.kind = ExprKind::Not;
    expr.operands.pop_back();
  }
}

/// True if `value`, inside `op`'s body, is computed from a result's running
/// value.
static bool readsAccumulator(LinalgOp op, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == op.getBlock() &&
           op.isDpsInit(op.getMatchingOpOperand(argument));
  Operation *def = value.getDefiningOp();
  return def->getBlock() == op.getBlock() &&
         llvm::any_of(def->getOperands(), [&](Value operand) {
           return readsAccumulator(op, operand);
         });
}

/// Reads a reduction over one loop by its body: a maximum, a sum, or a sum of
/// products.
static void readReduction(LinalgOp op, unsigned number, ArrayRef<Axis> axes,
                          ArrayRef<Axis> loops, Axis reduced, Expr &expr) {
  expr.op = op;
  expr.axis = reduced;
  expr.through.push_back(op);
  Value accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(number));
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner ||
      !isa<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    return;
  Value reducedValue;
  for (unsigned i : {0, 1})
    if (combiner->getOperand(i) == accumulator)
      reducedValue = combiner->getOperand(1 - i);
  if (!reducedValue || readsAccumulator(op, reducedValue))
    return;
  Term init{op.getDpsInitOperand(number)->get(), llvm::to_vector(axes)};
  SmallVector<Axis> inner = llvm::to_vector(loops);

  Value product = reducedValue;
  while (auto cast = product.getDefiningOp<arith::ExtFOp>())
    product = cast.getIn();
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (isa<arith::AddFOp>(combiner) && mul && mul->getBlock() == op.getBlock()) {
    expr.kind = ExprKind::Contract;
    expr.operands = {{mul.getLhs(), inner}, {mul.getRhs(), inner}, init};
    return;
  }
  expr.kind =
      isa<arith::AddFOp>(combiner) ? ExprKind::ReduceSum : ExprKind::ReduceMax;
  expr.operands = {{reducedValue, inner}, init};
}

Expr LinalgFrontend::expand(Term term, Axis reduced) const {
  Expr expr;
  auto leaf = [&]() {
    expr.kind = ExprKind::Leaf;
    expr.op = term.value.getDefiningOp();
    return expr;
  };
  while (true) {
    bool isTensor = isa<RankedTensorType>(term.value.getType());
    if (isTensor)
      expr.tensor = term;
    if (std::optional<double> constant = readConstant(term.value)) {
      expr.kind = ExprKind::Constant;
      expr.constant = *constant;
      expr.op = term.value.getDefiningOp();
      return expr;
    }
    if (auto argument = dyn_cast<BlockArgument>(term.value)) {
      auto op =
          dyn_cast_if_present<LinalgOp>(argument.getOwner()->getParentOp());
      if (!op || op->getNumRegions() != 1)
        return leaf();
      std::optional<Term> next =
          readOperand(op, op.getMatchingOpOperand(argument), term.axes);
      if (!next) {
        expr.op = op;
        return expr;
      }
      term = *next;
      continue;
    }

    Operation *op = term.value.getDefiningOp();
    unsigned number = cast<OpResult>(term.value).getResultNumber();
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
      expr.kind = ExprKind::Softmax;
      expr.op = op;
      expr.axis = term.axes[softmax.getDimension()];
      expr.operands = {{softmax.getInput(), term.axes}};
      expr.through.push_back(op);
      return expr;
    }
    if (auto linalgOp = dyn_cast<LinalgOp>(op)) {
      if (!linalgOp.hasPureTensorSemantics())
        return leaf();
      std::optional<SmallVector<Axis>> loops =
          nameLoops(linalgOp, number, term.axes, reduced);
      unsigned reductions = linalgOp.getNumReductionLoops();
      if (!loops || reductions > 1 ||
          linalgOp.getNumParallelLoops() + reductions != linalgOp.getNumLoops())
        return leaf();
      if (reductions == 1) {
        readReduction(linalgOp, number, term.axes, *loops, reduced, expr);
        return expr;
      }
      expr.through.push_back(op);
      term = {linalgOp.getBlock()->getTerminator()->getOperand(number), *loops};
      continue;
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      expr.kind = ExprKind::Index;
      expr.op = op;
      expr.axis = term.axes[index.getDim()];
      return expr;
    }
    if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
      term = {splat.getInput(), {}};
      continue;
    }
    if (std::optional<Term> next = readReshape(op, term.axes)) {
      expr.through.push_back(op);
      term = *next;
      continue;
    }
    bool isScalarOp =
        isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
    if (!isScalarOp)
      return leaf();
    if (isTensor)
      expr.through.push_back(op);
    readScalarOp(op, term.axes, expr);
    return expr;
  }
}
