//===- AttentionMatcher.cpp - Find attention in expressions ---------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the outside in: the product with the values, the softmax, the scores
// with their masks and scales, the product of queries and keys. Every function
// returns failure after noting the reason.
//
//===----------------------------------------------------------------------===//

#include "vcattn/Analysis/AttentionMatcher.h"
#include "ExprUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include <cfloat>

using namespace mlir;
using namespace vcattn;

/// A score of this or less has probability 0 next to any real one.
static constexpr double kVeryLow = -1.0e4;
static constexpr double kLn2 = 0.693147180559945309417;

static bool contains(ArrayRef<Axis> axes, Axis axis) {
  return llvm::is_contained(axes, axis);
}

namespace {
class Matcher {
public:
  Matcher(const ExprFrontend &frontend, Refusal &refusal)
      : frontend(frontend), utils(frontend), refusal(refusal) {}

  FailureOr<AttentionMatch> match(Operation *root);

private:
  /// Keys that a query sees, by comparison of their indices.
  struct CausalBound {
    Axis query;
    /// key <= query + offset.
    int64_t offset;
  };

  LogicalResult refuse(Operation *op, const Twine &reason) {
    refusal = {op ? op : m.root, reason.str()};
    return failure();
  }

  LogicalResult matchSoftmax(const Term &probability, Term &scores);
  LogicalResult matchNormalized(const Expr &expr, Term &exponential);
  LogicalResult matchDivisor(const Term &divisor, const Term &exponential);
  LogicalResult matchMaximum(Operation *user, const Term &maximum,
                             const Term &scores);
  LogicalResult matchScores(Term scores);
  LogicalResult matchSelect(const Expr &select, Term &scores);
  LogicalResult matchAdditiveMask(Operation *user, const Term &term);
  LogicalResult matchCondition(Operation *user, const Term &condition,
                               bool keeps);
  LogicalResult setMask(Operation *user, const Term &mask, bool drops);
  LogicalResult matchScoreProduct(const Expr &product);
  LogicalResult assignRoles(Operation *product);
  LogicalResult checkUses();

  std::optional<CausalBound> getBound(const Expr &compare, bool keeps) const;
  std::optional<std::pair<Axis, int64_t>> getIndex(const Term &term) const;
  bool leadsToScores(const Term &term, int depth = 0) const;
  bool isExponential(const Expr &expr) const {
    return expr.kind == ExprKind::Exp || expr.kind == ExprKind::Exp2;
  }

  const ExprFrontend &frontend;
  ExprUtils utils;
  Refusal &refusal;
  AttentionMatch m;
  /// Sizes of the root's result and of the key axis.
  SmallVector<int64_t> sizes;
};
} // namespace

FailureOr<AttentionMatch> Matcher::match(Operation *root) {
  auto type = dyn_cast<RankedTensorType>(root->getResult(0).getType());
  if (!type)
    return failure();
  m.root = root;
  int rank = type.getRank();
  m.keyAxis = rank;
  m.headAxis = rank + 1;
  m.nextAxis = rank + 2;
  llvm::append_range(m.resultAxes, llvm::seq<Axis>(0, rank));
  llvm::append_range(sizes, type.getShape());
  Expr product = frontend.expand({root->getResult(0), m.resultAxes}, m.keyAxis);
  if (product.kind != ExprKind::Contract || product.op != root)
    return failure();

  for (unsigned i : {0, 1}) {
    const Term &probability = product.operands[i];
    Term scores;
    if (failed(matchSoftmax(probability, scores))) {
      if (refusal.op)
        return failure();
      continue;
    }
    m.value = utils.findTensor(product.operands[1 - i], nullptr);
    if (!m.value)
      return refuse(root, "values are no tensor of f16, bf16 or f32");
    auto values = cast<RankedTensorType>(m.value.value.getType());
    sizes.push_back(ShapedType::kDynamic);
    for (auto [axis, size] : llvm::zip_equal(m.value.axes, values.getShape()))
      if (axis == m.keyAxis)
        sizes.back() = size;
    if (!isAttentionFloat(type.getElementType()))
      return refuse(root, "the result is not of f16, bf16 or f32");
    if (utils.evaluate(product.operands[2]) != 0.0)
      return refuse(root, "the product with the values does not start from "
                          "zero");
    if (failed(matchScores(scores)) || failed(checkUses()))
      return failure();
    return m;
  }
  return failure();
}

/// Fails without a reason if `probability` does not look like a softmax at all.
LogicalResult Matcher::matchSoftmax(const Term &probability, Term &scores) {
  OpSet passed;
  Expr expr = utils.strip(probability, m.keyAxis, &passed);
  if (expr.kind == ExprKind::Softmax) {
    m.interior.insert(passed.begin(), passed.end());
    if (expr.axis != m.keyAxis)
      return refuse(expr.op, "softmax does not run over the axis that the "
                             "values are summed over");
    scores = expr.operands[0];
    return success();
  }
  Term exponential;
  if (failed(matchNormalized(expr, exponential)))
    return failure();
  m.interior.insert(passed.begin(), passed.end());
  Expr exp = utils.strip(exponential, m.keyAxis, &m.interior);
  if (exp.kind == ExprKind::Exp2)
    m.scale = kLn2;
  Expr shifted = utils.strip(exp.operands[0], m.keyAxis, &m.interior);
  if (shifted.kind != ExprKind::Sub) {
    scores = exp.operands[0];
    return success();
  }
  scores = shifted.operands[0];
  return matchMaximum(shifted.op, shifted.operands[1], scores);
}

/// exp / sum or exp * (1 / sum).
LogicalResult Matcher::matchNormalized(const Expr &expr, Term &exponential) {
  if (expr.kind == ExprKind::Div) {
    if (!isExponential(utils.strip(expr.operands[0], m.keyAxis)))
      return failure();
    exponential = expr.operands[0];
    return matchDivisor(expr.operands[1], exponential);
  }
  if (isExponential(expr))
    return refuse(expr.op, "probabilities are not divided by their sum");
  if (expr.kind != ExprKind::Mul)
    return failure();
  for (unsigned i : {0, 1}) {
    if (!isExponential(utils.strip(expr.operands[i], m.keyAxis)))
      continue;
    Expr inverse = utils.strip(expr.operands[1 - i], m.keyAxis, &m.interior);
    if (inverse.kind != ExprKind::Div ||
        utils.evaluate(inverse.operands[0]) != 1.0)
      return refuse(expr.op, "exponentials are multiplied by something that is "
                             "not the inverse of their sum");
    exponential = expr.operands[i];
    return matchDivisor(inverse.operands[1], exponential);
  }
  return failure();
}

LogicalResult Matcher::matchDivisor(const Term &divisor,
                                    const Term &exponential) {
  Expr sum = utils.strip(divisor, m.keyAxis, &m.interior);
  if (sum.kind != ExprKind::ReduceSum)
    return refuse(sum.op, "exponentials are not divided by a sum");
  if (utils.evaluate(sum.operands[1]) != 0.0)
    return refuse(sum.op, "the sum of exponentials does not start from zero");
  if (!utils.equal(sum.operands[0], exponential, m.keyAxis, m.interior))
    return refuse(sum.op, "the divisor sums something else than the "
                          "exponentials, or over another axis");
  return success();
}

/// True if a maximum may start from `number` or be guarded by it.
static bool isLowest(std::optional<double> number) {
  return number && (*number == -HUGE_VAL || *number <= -FLT_MAX ||
                    *number == -65504.0 || std::isnan(*number));
}

LogicalResult Matcher::matchMaximum(Operation *user, const Term &maximum,
                                    const Term &scores) {
  Expr expr = utils.strip(maximum, m.keyAxis, &m.interior);
  if (expr.kind == ExprKind::Max)
    for (unsigned i : {0, 1})
      if (isLowest(utils.evaluate(expr.operands[i]))) {
        expr = utils.strip(expr.operands[1 - i], m.keyAxis, &m.interior);
        break;
      }
  if (expr.kind != ExprKind::ReduceMax)
    return refuse(user, "what is subtracted from the scores is not their "
                        "maximum");
  if (!isLowest(utils.evaluate(expr.operands[1])))
    return refuse(expr.op, "the maximum does not start from the lowest number");
  if (!utils.equal(expr.operands[0], scores, m.keyAxis, m.interior))
    return refuse(expr.op, "the maximum is one of something else than the "
                           "scores, or over another axis");
  return success();
}

bool Matcher::leadsToScores(const Term &term, int depth) const {
  Expr expr = utils.strip(term, m.headAxis);
  switch (expr.kind) {
  case ExprKind::Contract:
    return true;
  case ExprKind::Add:
  case ExprKind::Mul:
  case ExprKind::Div:
  case ExprKind::Select:
    return depth < 8 && llvm::any_of(
                            expr.operands,
                            [&](const Term &operand) {
                              return leadsToScores(operand, depth + 1);
                            });
  default:
    return false;
  }
}

LogicalResult Matcher::matchScores(Term scores) {
  while (true) {
    Expr expr = utils.strip(scores, m.headAxis, &m.interior);
    switch (expr.kind) {
    case ExprKind::Contract:
      return matchScoreProduct(expr);
    case ExprKind::Add: {
      unsigned i = leadsToScores(expr.operands[0]) ? 0 : 1;
      if (failed(matchAdditiveMask(expr.op, expr.operands[1 - i])))
        return failure();
      scores = expr.operands[i];
      break;
    }
    case ExprKind::Mul:
    case ExprKind::Div: {
      unsigned i = leadsToScores(expr.operands[0]) ? 0 : 1;
      std::optional<double> factor = utils.evaluate(expr.operands[1 - i]);
      if (!factor || (expr.kind == ExprKind::Div && i == 1))
        return refuse(expr.op, "scores are scaled by something that is not a "
                               "constant");
      m.scale =
          expr.kind == ExprKind::Mul ? m.scale * *factor : m.scale / *factor;
      scores = expr.operands[i];
      break;
    }
    case ExprKind::Select:
      if (failed(matchSelect(expr, scores)))
        return failure();
      break;
    case ExprKind::Leaf:
      return refuse(expr.op, "scores are not computed from queries and keys");
    default:
      return refuse(expr.op, "scores pass through " +
                                 (expr.op ? expr.op->getName().getStringRef()
                                          : StringRef("something unknown")));
    }
  }
}

LogicalResult Matcher::matchSelect(const Expr &select, Term &scores) {
  for (unsigned i : {1, 2}) {
    std::optional<double> low = utils.evaluate(select.operands[i]);
    if (!low)
      continue;
    if (!(*low <= kVeryLow))
      return refuse(select.op, "dropped scores are replaced by a number that "
                               "still counts");
    scores = select.operands[3 - i];
    return matchCondition(select.op, select.operands[0], /*keeps=*/i == 2);
  }
  return refuse(select.op, "scores are selected against something that is not "
                           "a constant");
}

LogicalResult Matcher::matchAdditiveMask(Operation *user, const Term &term) {
  Expr expr = utils.strip(term, m.headAxis);
  if (std::optional<double> number = utils.evaluate(term))
    return *number == 0.0 ? success()
                          : refuse(user, "a constant is added to the scores");
  if (expr.kind == ExprKind::Select) {
    std::optional<double> yes = utils.evaluate(expr.operands[1]);
    std::optional<double> no = utils.evaluate(expr.operands[2]);
    bool keeps = yes == 0.0 && no && *no <= kVeryLow;
    bool drops = no == 0.0 && yes && *yes <= kVeryLow;
    if ((keeps || drops) &&
        succeeded(matchCondition(expr.op, expr.operands[0], keeps)))
      return success();
    refusal = {};
  }
  Term mask = utils.findTensor(term, nullptr);
  if (!mask)
    return refuse(user, "what is added to the scores is no tensor of f16, "
                        "bf16 or f32");
  // exp2's factor is a scale as well.
  if (m.scale != 1.0)
    return refuse(user, "a mask is added before the scores are scaled");
  return setMask(user, mask, /*drops=*/false);
}

/// An index that is an axis plus a constant.
std::optional<std::pair<Axis, int64_t>>
Matcher::getIndex(const Term &term) const {
  Expr expr = utils.strip(term, m.headAxis);
  if (expr.kind == ExprKind::Index)
    return std::pair(expr.axis, int64_t(0));
  if (expr.kind != ExprKind::Add && expr.kind != ExprKind::Sub)
    return std::nullopt;
  Expr index = utils.strip(expr.operands[0], m.headAxis);
  std::optional<double> offset = utils.evaluate(expr.operands[1]);
  if (index.kind != ExprKind::Index && expr.kind == ExprKind::Add) {
    index = utils.strip(expr.operands[1], m.headAxis);
    offset = utils.evaluate(expr.operands[0]);
  }
  if (index.kind != ExprKind::Index || !offset)
    return std::nullopt;
  int64_t sign = expr.kind == ExprKind::Add ? 1 : -1;
  return std::pair(index.axis, sign * static_cast<int64_t>(*offset));
}

std::optional<Matcher::CausalBound> Matcher::getBound(const Expr &compare,
                                                      bool keeps) const {
  if (compare.kind != ExprKind::Compare)
    return std::nullopt;
  auto lhs = getIndex(compare.operands[0]), rhs = getIndex(compare.operands[1]);
  if (!lhs || !rhs)
    return std::nullopt;
  arith::CmpIPredicate predicate =
      keeps ? compare.predicate : arith::invertPredicate(compare.predicate);
  // Bring it to: query + a >= key + b, or > with one less.
  bool isStrict = false, keyFirst = false;
  switch (predicate) {
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    break;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    isStrict = true;
    break;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    keyFirst = true;
    break;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    isStrict = keyFirst = true;
    break;
  default:
    return std::nullopt;
  }
  auto [query, a] = keyFirst ? *rhs : *lhs;
  auto [key, b] = keyFirst ? *lhs : *rhs;
  if (key != m.keyAxis || query < 0 || query >= m.keyAxis)
    return std::nullopt;
  return CausalBound{query, a - b - (isStrict ? 1 : 0)};
}

LogicalResult Matcher::matchCondition(Operation *user, const Term &condition,
                                      bool keeps) {
  // Whatever scales the scores from outside must leave low what is low.
  Expr expr = frontend.expand(condition, m.headAxis);
  if (!(m.scale > 0.0))
    return refuse(expr.op ? expr.op : user,
                  "masked scores are scaled by a number that is not "
                  "positive");
  while (expr.kind == ExprKind::Not) {
    keeps = !keeps;
    expr = frontend.expand(expr.operands[0], m.headAxis);
  }
  if (std::optional<CausalBound> bound = getBound(expr, keeps)) {
    int64_t queries = sizes[bound->query], keys = sizes[m.keyAxis];
    bool areStatic =
        !ShapedType::isDynamic(queries) && !ShapedType::isDynamic(keys);
    Causality causal = bound->offset == 0 ? Causality::TopLeft
                       : areStatic && bound->offset == keys - queries
                           ? Causality::BottomRight
                           : Causality::None;
    if (causal != Causality::None) {
      if (m.causal != Causality::None)
        return refuse(expr.op ? expr.op : user,
                      "scores are masked causally twice");
      m.causal = causal;
      m.causalAxis = bound->query;
      return success();
    }
  }
  if (!expr.tensor ||
      !getElementTypeOrSelf(expr.tensor.value.getType()).isInteger(1))
    return refuse(expr.op ? expr.op : user,
                  "a condition on scores is neither causal nor a "
                  "tensor of i1");
  return setMask(user, expr.tensor, !keeps);
}

LogicalResult Matcher::setMask(Operation *user, const Term &mask, bool drops) {
  if (m.mask)
    return refuse(user, "scores have more than one mask");
  for (Axis axis : mask.axes)
    if (axis > m.keyAxis || llvm::count(mask.axes, axis) > 1)
      if (axis != kUnitAxis)
        return refuse(user, "a mask does not broadcast to the scores");
  m.mask = mask;
  m.maskDrops = drops;
  return success();
}

LogicalResult Matcher::matchScoreProduct(const Expr &product) {
  if (utils.evaluate(product.operands[2]) != 0.0)
    return refuse(product.op, "the product of queries and keys does not start "
                              "from zero");
  for (unsigned i : {0, 1}) {
    double scale = 1.0;
    Term tensor = utils.findTensor(product.operands[i], &scale);
    if (!tensor)
      return refuse(product.op, "queries or keys are no tensor of f16, bf16 or "
                                "f32");
    m.scale *= scale;
    (contains(tensor.axes, m.keyAxis) ? m.key : m.query) = tensor;
  }
  if (!m.query || !m.key)
    return refuse(product.op, "scores are not a product of one tensor with "
                              "queries and one with keys");
  if (!std::isfinite(m.scale))
    return refuse(product.op, "the scale is not finite");
  return assignRoles(product.op);
}

/// True if a tensor has each of `axes`, and nothing else but unit dimensions.
static bool hasExactly(const Term &tensor, ArrayRef<Axis> axes) {
  return llvm::all_of(
             axes,
             [&](Axis axis) { return llvm::count(tensor.axes, axis) == 1; }) &&
         llvm::all_of(tensor.axes, [&](Axis axis) {
           return axis == kUnitAxis || contains(axes, axis);
         });
}

LogicalResult Matcher::assignRoles(Operation *product) {
  SmallVector<Axis> valueAxes;
  for (Axis axis : m.query.axes)
    if (contains(m.value.axes, axis) && axis != kUnitAxis)
      m.batchAxes.push_back(axis);
  for (Axis axis : m.resultAxes) {
    if (!contains(m.value.axes, axis))
      m.queryAxes.push_back(axis);
    else if (!contains(m.batchAxes, axis))
      valueAxes.push_back(axis);
  }
  if (m.batchAxes.size() > 2)
    return refuse(product, "more than two batch dimensions");
  if (m.queryAxes.empty() || m.queryAxes.size() > 2)
    return refuse(product, "no or too many query dimensions");
  if (valueAxes.size() != 1)
    return refuse(m.root, "values do not have one dimension of their own");
  m.valueAxis = valueAxes[0];

  auto with = [&](std::initializer_list<Axis> more) {
    SmallVector<Axis> axes(m.batchAxes);
    axes.append(more);
    return axes;
  };
  SmallVector<Axis> query = with({m.headAxis});
  llvm::append_range(query, m.queryAxes);
  if (!hasExactly(m.query, query))
    return refuse(product, "dimensions of the queries do not fit the result");
  if (!hasExactly(m.key, with({m.keyAxis, m.headAxis})))
    return refuse(product, "dimensions of the keys do not fit the values");
  if (!hasExactly(m.value, with({m.keyAxis, m.valueAxis})))
    return refuse(m.root, "dimensions of the values do not fit the keys");
  return success();
}

/// Scores and probabilities must be nobody else's business.
LogicalResult Matcher::checkUses() {
  for (Operation *op : m.interior)
    for (Operation *user : op->getUsers())
      if (user != m.root && !m.interior.contains(user))
        return refuse(op, "scores or probabilities are used outside of the "
                          "attention");
  return success();
}

FailureOr<AttentionMatch> vcattn::matchAttention(Operation *root,
                                                 const ExprFrontend &frontend,
                                                 Refusal &refusal) {
  return Matcher(frontend, refusal).match(root);
}
