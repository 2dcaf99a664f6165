//===- AttentionExpr.h - Tensor programs as scalar expressions --*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the attention matcher sees of a frontend's IR: for one element of a
// tensor, named by axes, the scalar expression that computes it. Transposes,
// broadcasts and unit dimensions only rename axes, so that they never show; in
// which op of how many a computation is written does not either.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_ANALYSIS_ATTENTIONEXPR_H
#define VCATTN_ANALYSIS_ATTENTIONEXPR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace vcattn {

/// A free index of an expression: batch, head, query, key and so on.
using Axis = int;
/// The axis of a dimension that is read at 0 only.
inline constexpr Axis kUnitAxis = -1;

/// A scalar: the element of a tensor at `axes`, one per dimension; or a scalar
/// value inside a frontend op whose loops run over `axes`.
struct Term {
  mlir::Value value;
  llvm::SmallVector<Axis> axes;

  explicit operator bool() const { return static_cast<bool>(value); }
};

enum class ExprKind {
  /// A tensor (or an outer scalar) that the frontend does not look into.
  Leaf,
  Constant,
  /// The value of an axis.
  Index,
  Cast,
  Add,
  Sub,
  Mul,
  Div,
  Exp,
  Exp2,
  Sqrt,
  Rsqrt,
  Max,
  Not,
  /// Integer comparison of two operands.
  Compare,
  /// condition, value if true, value if false.
  Select,
  /// exp(x - max x) / sum exp(x - max x) along `axis`.
  Softmax,
  /// Operands: what is reduced, the initial value.
  ReduceMax,
  ReduceSum,
  /// A sum of products; operands: the factors, the initial value.
  Contract,
  /// Computed by an op that the frontend does not know.
  Unknown
};

struct Expr {
  ExprKind kind = ExprKind::Unknown;
  /// The op that computes it; null for an argument.
  mlir::Operation *op = nullptr;
  /// The tensor whose element this is, after all renaming; null for a scalar
  /// that no tensor holds.
  Term tensor;
  llvm::SmallVector<Term> operands;
  double constant = 0.0;
  Axis axis = kUnitAxis;
  mlir::arith::CmpIPredicate predicate = mlir::arith::CmpIPredicate::eq;
  /// The tensor ops that were looked through or into.
  llvm::SmallVector<mlir::Operation *> through;
};

/// How one dialect's tensor programs read as expressions.
class ExprFrontend {
public:
  virtual ~ExprFrontend() = default;

  /// The expression of `term`. Should it be a reduction, its reduced index is
  /// called `reduced`.
  virtual Expr expand(Term term, Axis reduced) const = 0;
};

} // namespace vcattn

#endif // VCATTN_ANALYSIS_ATTENTIONEXPR_H
