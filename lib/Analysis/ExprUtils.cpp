//===- ExprUtils.cpp - Questions about expressions ------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExprUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace vcattn;

/// Deeper expressions are not attention; a bound keeps comparing them cheap.
static constexpr int kMaxDepth = 64;

bool vcattn::isAttentionFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type>(type);
}

Expr ExprUtils::strip(const Term &term, Axis reduced, OpSet *passed) const {
  Expr expr = frontend.expand(term, reduced);
  if (passed)
    passed->insert(expr.through.begin(), expr.through.end());
  while (expr.kind == ExprKind::Cast) {
    expr = frontend.expand(expr.operands[0], reduced);
    if (passed)
      passed->insert(expr.through.begin(), expr.through.end());
  }
  return expr;
}

static std::optional<double> evaluateImpl(const ExprFrontend &frontend,
                                          const Term &term, int depth) {
  Expr expr = frontend.expand(term, kUnitAxis);
  if (expr.kind == ExprKind::Constant)
    return expr.constant;
  SmallVector<double> x;
  switch (expr.kind) {
  case ExprKind::Cast:
  case ExprKind::Sqrt:
  case ExprKind::Rsqrt:
  case ExprKind::Add:
  case ExprKind::Sub:
  case ExprKind::Mul:
  case ExprKind::Div:
    break;
  default:
    return std::nullopt;
  }
  if (depth == kMaxDepth)
    return std::nullopt;
  for (const Term &operand : expr.operands) {
    std::optional<double> value = evaluateImpl(frontend, operand, depth + 1);
    if (!value)
      return std::nullopt;
    x.push_back(*value);
  }
  switch (expr.kind) {
  case ExprKind::Cast:
    return x[0];
  case ExprKind::Sqrt:
    return std::sqrt(x[0]);
  case ExprKind::Rsqrt:
    return 1.0 / std::sqrt(x[0]);
  case ExprKind::Add:
    return x[0] + x[1];
  case ExprKind::Sub:
    return x[0] - x[1];
  case ExprKind::Mul:
    return x[0] * x[1];
  default:
    return x[0] / x[1];
  }
}

std::optional<double> ExprUtils::evaluate(const Term &term) const {
  return evaluateImpl(frontend, term, 0);
}

/// True if two elements of one tensor are the same element: axes of dimensions
/// of size 1 do not matter.
static bool isSameElement(const Term &a, const Term &b) {
  if (!a || !b || a.value != b.value)
    return false;
  if (a.axes == b.axes)
    return true;
  auto type = dyn_cast<RankedTensorType>(a.value.getType());
  return type &&
         llvm::all_of(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t i) {
           return a.axes[i] == b.axes[i] || type.getDimSize(i) == 1;
         });
}

static bool equalImpl(const ExprUtils &utils, const Term &a, const Term &b,
                      Axis reduced, OpSet &passed, int depth) {
  if (isSameElement(a, b))
    return true;
  Expr x = utils.strip(a, reduced, &passed);
  Expr y = utils.strip(b, reduced, &passed);
  if (x.kind != y.kind)
    return false;
  if (isSameElement(x.tensor, y.tensor) && x.op == y.op)
    return true;
  if (x.kind == ExprKind::Constant)
    return x.constant == y.constant;
  if (x.kind == ExprKind::Index)
    return x.axis == y.axis;
  if (x.kind == ExprKind::Leaf || x.kind == ExprKind::Unknown)
    return false;
  return depth < kMaxDepth && x.axis == y.axis && x.predicate == y.predicate &&
         x.operands.size() == y.operands.size() &&
         llvm::all_of(
             llvm::zip_equal(x.operands, y.operands),
             [&](auto pair) {
               return equalImpl(utils, std::get<0>(pair), std::get<1>(pair),
                                reduced, passed, depth + 1);
             });
}

bool ExprUtils::equal(const Term &a, const Term &b, Axis reduced,
                      OpSet &passed) const {
  return equalImpl(*this, a, b, reduced, passed, 0);
}

Term ExprUtils::findTensor(const Term &term, double *scale) const {
  Term found;
  double collected = 1.0;
  Term next = term;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    Expr expr = frontend.expand(next, kUnitAxis);
    // A tensor that was rounded to fewer bits on the way is taken rounded.
    auto widthOf = [](const Term &tensor) {
      return getElementTypeOrSelf(tensor.value.getType())
          .getIntOrFloatBitWidth();
    };
    if (expr.tensor &&
        isAttentionFloat(getElementTypeOrSelf(expr.tensor.value.getType())) &&
        (!found || widthOf(expr.tensor) <= widthOf(found))) {
      found = expr.tensor;
      if (scale)
        *scale = collected;
    }
    if (expr.kind == ExprKind::Cast) {
      next = expr.operands[0];
      continue;
    }
    if (!scale || (expr.kind != ExprKind::Mul && expr.kind != ExprKind::Div))
      break;
    std::optional<double> lhs = evaluate(expr.operands[0]);
    std::optional<double> rhs = evaluate(expr.operands[1]);
    if (rhs) {
      collected =
          expr.kind == ExprKind::Mul ? collected * *rhs : collected / *rhs;
      next = expr.operands[0];
    } else if (lhs && expr.kind == ExprKind::Mul) {
      collected *= *lhs;
      next = expr.operands[1];
    } else {
      break;
    }
  }
  return found;
}
