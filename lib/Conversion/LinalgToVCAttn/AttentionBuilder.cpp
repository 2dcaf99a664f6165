//===- AttentionBuilder.cpp - From a match to vcattn.attention ------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionBuilder.h"
#include "Labeled.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace vcattn;

static int64_t getSize(const Term &term, Axis axis) {
  auto type = cast<RankedTensorType>(term.value.getType());
  return type.getDimSize(llvm::find(term.axes, axis) - term.axes.begin());
}

static bool areKnownEqual(int64_t a, int64_t b) {
  return a == b && !ShapedType::isDynamic(a);
}

namespace {
class AttentionBuilder {
public:
  AttentionBuilder(const AttentionMatch &match, const ExprFrontend &frontend,
                   RewriterBase &rewriter, Refusal &refusal)
      : m(match), frontend(frontend), rewriter(rewriter), refusal(refusal),
        loc(match.root->getLoc()), query(match.query), key(match.key),
        value(match.value), mask(match.mask), nextAxis(match.nextAxis) {}

  LogicalResult build();

private:
  LogicalResult refuse(const Twine &reason) {
    refusal = {m.root, reason.str()};
    return failure();
  }

  LogicalResult nameRoles();
  void splitBatch();
  void dropRepeats();
  std::optional<Term> undoCollapse(const Term &term, Axis axis,
                                   ArrayRef<Axis> parts) const;
  bool dropRepeat(Term &term, Axis head, Axis newHead, int64_t &count) const;

  Labeled label(const Term &term) const;
  Layout chooseLayout() const;
  FailureOr<Value> buildMask(Layout layout);
  Value invert(Value mask);
  void replaceResult(Value result, Roles resultRoles, Value attention,
                     Layout layout);

  const AttentionMatch &m;
  const ExprFrontend &frontend;
  RewriterBase &rewriter;
  Refusal &refusal;
  Location loc;
  Term query, key, value, mask;
  Axis nextAxis;
  llvm::DenseMap<Axis, Role> roles;
  /// The single batch axis that was found to be a collapsed pair.
  std::optional<Axis> pair;
  Axis pairBatch = kUnitAxis, pairHead = kUnitAxis;
  bool hasGroup = false;
};
} // namespace

LogicalResult AttentionBuilder::nameRoles() {
  roles[kUnitAxis] = Role::Unit;
  roles[m.headAxis] = roles[m.valueAxis] = Role::Channel;
  roles[m.keyAxis] = Role::Token;
  if (!m.batchAxes.empty())
    roles[m.batchAxes.back()] = Role::Head;
  if (m.batchAxes.size() == 2)
    roles[m.batchAxes.front()] = Role::Batch;
  hasGroup = m.queryAxes.size() == 2;
  if (!hasGroup) {
    roles[m.queryAxes[0]] = Role::Token;
    return success();
  }
  // The dimension after the key head's is the group; without key heads, the
  // one that comes first.
  SmallVector<Axis> ordered =
      llvm::to_vector(llvm::make_filter_range(query.axes, [&](Axis axis) {
        return llvm::is_contained(m.queryAxes, axis);
      }));
  Axis group = ordered[0];
  if (!m.batchAxes.empty()) {
    auto *head = llvm::find(query.axes, m.batchAxes.back());
    if (head + 1 != query.axes.end() &&
        llvm::is_contained(m.queryAxes, *(head + 1)))
      group = *(head + 1);
  }
  if (m.causalAxis == group)
    return refuse("causality is about heads");
  for (Axis axis : m.queryAxes)
    roles[axis] = axis == group ? Role::Group : Role::Token;
  return success();
}

/// `term` before a collapse_shape that made `axis` of dimensions `parts`, and
/// before whatever only renamed dimensions ahead of it.
std::optional<Term> AttentionBuilder::undoCollapse(const Term &term, Axis axis,
                                                   ArrayRef<Axis> parts) const {
  auto collapse = term.value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return std::nullopt;
  Term source{collapse.getSrc(), {}};
  for (auto [group, name] :
       llvm::zip_equal(collapse.getReassociationIndices(), term.axes)) {
    if (name == axis && group.size() == parts.size())
      llvm::append_range(source.axes, parts);
    else if (name != axis && group.size() == 1)
      source.axes.push_back(name);
    else
      return std::nullopt;
  }
  return frontend.expand(source, kUnitAxis).tensor;
}

/// True if some dimension of `term` was collapsed from `count` dimensions.
static bool isCollapseOf(const Term &term, size_t count) {
  auto collapse = term.value.getDefiningOp<tensor::CollapseShapeOp>();
  return collapse && llvm::any_of(collapse.getReassociationIndices(),
                                  [&](const ReassociationIndices &group) {
                                    return group.size() == count;
                                  });
}

/// One batch dimension that is a collapsed [batch, heads] on all operands, and
/// perhaps [batch, key heads, repeats] on keys and values, is taken apart.
void AttentionBuilder::splitBatch() {
  if (m.batchAxes.size() != 1 || hasGroup)
    return;
  Axis batch = nextAxis, head = nextAxis + 1, repeat = nextAxis + 2;
  Axis axis = m.batchAxes[0];
  std::optional<Term> q = undoCollapse(query, axis, {batch, head});
  if (!q)
    return;
  auto split = [&](const Term &term) -> std::optional<Term> {
    if (auto split = undoCollapse(term, axis, {batch, head}))
      return split;
    auto split = undoCollapse(term, axis, {batch, head, repeat});
    if (!split || llvm::is_contained(split->axes, repeat))
      return std::nullopt;
    return split;
  };
  std::optional<Term> k = split(key), v = split(value);
  if (!k || !v)
    return;
  for (const Term *term : {&*q, &*k, &*v})
    for (Axis part : {batch, head})
      if (llvm::count(term->axes, part) != 1)
        return;
  // Equal products of equal batches have equal heads; repeats, which are
  // dropped from both keys and values, only lessen them.
  if (!areKnownEqual(getSize(*q, batch), getSize(*k, batch)) ||
      !areKnownEqual(getSize(*q, batch), getSize(*v, batch)))
    return;
  if (getSize(*k, head) != getSize(*v, head) ||
      isCollapseOf(key, 2) != isCollapseOf(value, 2))
    return;
  if (llvm::is_contained(mask.axes, axis)) {
    std::optional<Term> split = undoCollapse(mask, axis, {batch, head});
    if (!split)
      return;
    mask = *split;
  }
  query = *q;
  key = *k;
  value = *v;
  pair = axis;
  pairBatch = batch;
  pairHead = head;
  roles[batch] = Role::Batch;
  roles[head] = Role::Head;
  nextAxis += 3;
}

/// Takes `term` before its heads were repeated `count` times each.
bool AttentionBuilder::dropRepeat(Term &term, Axis head, Axis newHead,
                                  int64_t &count) const {
  Axis repeat = newHead + 1;
  auto collapse = term.value.getDefiningOp<tensor::CollapseShapeOp>();
  std::optional<Term> source = undoCollapse(term, head, {newHead, repeat});
  if (!source || llvm::is_contained(source->axes, repeat) ||
      llvm::count(source->axes, newHead) != 1)
    return false;
  unsigned dim = llvm::find(term.axes, head) - term.axes.begin();
  count = collapse.getSrcType().getDimSize(
      collapse.getReassociationIndices()[dim].back());
  term = *source;
  return true;
}

/// Keys and values whose heads are repeated alike are taken unrepeated.
void AttentionBuilder::dropRepeats() {
  if (hasGroup || m.batchAxes.empty())
    return;
  Axis head = pair ? pairHead : m.batchAxes.back();
  Term k = key, v = value;
  int64_t keyCount = 0, valueCount = 0;
  if (!dropRepeat(k, head, nextAxis, keyCount) ||
      !dropRepeat(v, head, nextAxis, valueCount) ||
      !areKnownEqual(keyCount, valueCount))
    return;
  key = k;
  value = v;
  roles[nextAxis] = Role::Head;
  nextAxis += 2;
}

Labeled AttentionBuilder::label(const Term &term) const {
  Labeled labeled{term.value, {}};
  for (Axis axis : term.axes)
    labeled.roles.push_back(roles.lookup(axis));
  return labeled;
}

/// The layout in which fewer operands have to be transposed.
Layout AttentionBuilder::chooseLayout() const {
  int balance = 0;
  for (const Term *term : {&query, &key, &value}) {
    Roles x = label(*term).roles;
    balance += isInOrder(x, Layout::BTHD) - isInOrder(x, Layout::BHTD);
  }
  return balance > 0 ? Layout::BTHD : Layout::BHTD;
}

/// A mask that keeps where `mask` drops.
Value AttentionBuilder::invert(Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  Value init = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, mask),
      type.getElementType());
  SmallVector<AffineMap> maps(2,
                              rewriter.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto body = [](OpBuilder &builder, Location loc, ValueRange arguments) {
    Value yes =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    Value no = arith::XOrIOp::create(builder, loc, arguments[0], yes);
    linalg::YieldOp::create(builder, loc, no);
  };
  return linalg::GenericOp::create(rewriter, loc, TypeRange(type), mask, init,
                                   maps, iterators, body)
      .getResult(0);
}

FailureOr<Value> AttentionBuilder::buildMask(Layout layout) {
  if (!mask)
    return Value();
  // Masks are [B, H, N, K] in either layout: their keys are channels here.
  auto savedRole = roles.lookup(m.keyAxis);
  roles[m.keyAxis] = Role::Channel;
  Labeled labeled = label(mask);
  roles[m.keyAxis] = savedRole;
  bool hasHead = llvm::is_contained(labeled.roles, Role::Head);
  bool masksGroup = llvm::is_contained(labeled.roles, Role::Group);
  if (hasGroup && !m.batchAxes.empty() && hasHead != masksGroup)
    return refuse("a mask differs over some of a query's head dimensions only");
  Value result = toLayout(labeled, Layout::BHTD, rewriter, loc);
  return m.maskDrops ? invert(result) : result;
}

/// If `user` only reorders the dimensions of `operand`, and rounds to fewer
/// bits if it `rounds`, the roles of its result's dimensions.
static std::optional<Roles> readReorder(Operation *user, Value operand,
                                        ArrayRef<Role> roles, bool rounds) {
  auto op = dyn_cast<linalg::LinalgOp>(user);
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getDpsInputOperand(0)->get() != operand ||
      op.getDpsInitOperand(0)->get() == operand ||
      op.getNumParallelLoops() != op.getNumLoops())
    return std::nullopt;
  AffineMap in = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  if (rounds) {
    auto cast = yielded.getDefiningOp<arith::TruncFOp>();
    if (!cast)
      return std::nullopt;
    yielded = cast.getIn();
  }
  if (!in.isPermutation() || !out.isPermutation() ||
      yielded != op.getBlock()->getArgument(0))
    return std::nullopt;
  Roles result;
  for (AffineExpr expr : out.getResults())
    result.push_back(roles[*in.getResultPosition(expr)]);
  return result;
}

static void replaceWith(Value from, Value to, RewriterBase &rewriter,
                        Location loc) {
  if (from.getType() != to.getType())
    to = tensor::CastOp::create(rewriter, loc, from.getType(), to);
  rewriter.replaceAllUsesWith(from, to);
}

/// True if nothing comes of `op`, or of what is computed from it.
static bool isUnused(Operation *op) {
  return wouldOpBeTriviallyDead(op) && llvm::all_of(op->getUsers(), isUnused);
}

/// Replaces `result`, whose dimensions are `resultRoles`, by what is to be made
/// of `attention`; where that is undone by a user, the user.
void AttentionBuilder::replaceResult(Value result, Roles resultRoles,
                                     Value attention, Layout layout) {
  Roles wanted = getOrder(layout);
  llvm::erase(wanted, Role::Group);
  if (resultRoles == wanted) {
    replaceWith(result, attention, rewriter, loc);
    return;
  }
  for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
    if (auto reordered = readReorder(user, result, resultRoles, false)) {
      if (*reordered == wanted)
        replaceWith(user->getResult(0), attention, rewriter, loc);
      continue;
    }
    auto expand = dyn_cast<tensor::ExpandShapeOp>(user);
    if (!expand || llvm::is_contained(resultRoles, Role::Batch))
      continue;
    // It gets batch and heads apart, or a batch of 1 where there is none.
    int64_t batch = pair ? getSize(query, pairBatch) : 1;
    Roles expanded;
    bool undoes = true;
    for (auto [group, role] :
         llvm::zip_equal(expand.getReassociationIndices(), resultRoles)) {
      if (role == Role::Head && group.size() == 2 &&
          expand.getResultType().getDimSize(group[0]) == batch)
        expanded.append({Role::Batch, Role::Head});
      else if (role != Role::Head && group.size() == 1)
        expanded.push_back(role);
      else
        undoes = false;
    }
    if (undoes) {
      rewriter.setInsertionPoint(expand);
      replaceResult(expand.getResult(), expanded, attention, layout);
    }
  }
  if (llvm::all_of(result.getUsers(), isUnused))
    return;
  bool isPair = pair && !llvm::is_contained(resultRoles, Role::Batch);
  rewriter.setInsertionPointAfterValue(attention);
  SmallVector<OpFoldResult> headSizes;
  Roles target;
  for (Role role : resultRoles) {
    if (isPair && role == Role::Head)
      target.push_back(Role::Batch);
    target.push_back(role);
  }
  if (hasGroup)
    for (Role role : {Role::Head, Role::Group}) {
      Roles x = label(query).roles;
      if (llvm::is_contained(x, role))
        headSizes.push_back(tensor::getMixedSize(
            rewriter, loc, query.value, llvm::find(x, role) - x.begin()));
    }
  Value back = fromLayout(attention, layout, target, headSizes, rewriter, loc);
  if (isPair) {
    SmallVector<ReassociationIndices> groups;
    for (auto [i, role] : llvm::enumerate(target)) {
      if (role != Role::Head)
        groups.emplace_back();
      groups.back().push_back(i);
    }
    back = tensor::CollapseShapeOp::create(rewriter, loc, back, groups);
  }
  replaceWith(result, back, rewriter, loc);
}

LogicalResult AttentionBuilder::build() {
  rewriter.setInsertionPoint(m.root);
  if (failed(nameRoles()))
    return failure();
  splitBatch();
  dropRepeats();
  Layout layout = chooseLayout();
  FailureOr<Value> maskValue = buildMask(layout);
  if (failed(maskValue))
    return failure();

  Value q = toLayout(label(query), layout, rewriter, loc);
  Value k = toLayout(label(key), layout, rewriter, loc);
  Value v = toLayout(label(value), layout, rewriter, loc);

  // One rounding of the result is attention's own.
  Value result = m.root->getResult(0);
  Term resultTerm{result, m.resultAxes};
  Roles resultRoles = label(resultTerm).roles;
  if (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    auto rounded = readReorder(user, result, resultRoles, /*rounds=*/true);
    Type type =
        rounded ? getElementTypeOrSelf(user->getResult(0).getType()) : Type();
    if (type && (type.isF16() || type.isBF16())) {
      result = user->getResult(0);
      resultRoles = *rounded;
    }
  }
  SmallVector<int64_t> shape(cast<RankedTensorType>(q.getType()).getShape());
  shape[kChannelDim] =
      cast<RankedTensorType>(v.getType()).getDimSize(kChannelDim);
  auto type =
      RankedTensorType::get(shape, getElementTypeOrSelf(result.getType()));
  auto attention = AttentionOp::create(
      rewriter, loc, type, /*lse=*/Type(), q, k, v, *maskValue,
      /*means=*/Value(), /*lengths=*/Value(), /*block_mask=*/Value(),
      APFloat(m.scale), m.causal, /*window=*/WindowAttr(), layout);
  replaceResult(result, resultRoles, attention.getResult(), layout);
  return success();
}

LogicalResult vcattn::buildAttention(const AttentionMatch &match,
                                     const ExprFrontend &frontend,
                                     RewriterBase &rewriter, Refusal &refusal) {
  return AttentionBuilder(match, frontend, rewriter, refusal).build();
}
