//===- Labeled.cpp - Tensors whose dimensions have roles ------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Labeled.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace vcattn;

Roles vcattn::getOrder(Layout layout) {
  if (layout == Layout::BHTD)
    return {Role::Batch, Role::Head, Role::Group, Role::Token, Role::Channel};
  return {Role::Batch, Role::Token, Role::Head, Role::Group, Role::Channel};
}

/// Those of `all` that `roles` has, in the order of `all`.
static Roles keepPresent(ArrayRef<Role> all, ArrayRef<Role> roles) {
  return llvm::to_vector(llvm::make_filter_range(
      all, [&](Role role) { return llvm::is_contained(roles, role); }));
}

static Roles dropUnits(ArrayRef<Role> roles) {
  return llvm::to_vector(llvm::make_filter_range(
      roles, [](Role role) { return role != Role::Unit; }));
}

bool vcattn::isInOrder(ArrayRef<Role> roles, Layout layout) {
  return dropUnits(roles) == keepPresent(getOrder(layout), roles);
}

static RankedTensorType getType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

static Value collapse(Value tensor, ArrayRef<ReassociationIndices> groups,
                      OpBuilder &builder, Location loc) {
  if (static_cast<int64_t>(groups.size()) == getType(tensor).getRank())
    return tensor;
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

static Value expand(Value tensor, ArrayRef<int64_t> shape,
                    ArrayRef<ReassociationIndices> groups, OpBuilder &builder,
                    Location loc) {
  if (static_cast<int64_t>(shape.size()) == getType(tensor).getRank())
    return tensor;
  return tensor::ExpandShapeOp::create(
      builder, loc, getType(tensor).clone(shape), tensor, groups);
}

/// Groups that put each dimension that is not kept to the one before it, or to
/// the first one that is kept.
static SmallVector<ReassociationIndices> mergeDropped(ArrayRef<bool> kept) {
  SmallVector<ReassociationIndices> groups;
  if (llvm::none_of(kept, [](bool keep) { return keep; }))
    return groups;
  bool hasKept = false;
  for (auto [i, keep] : llvm::enumerate(kept)) {
    if (groups.empty() || (keep && hasKept))
      groups.emplace_back();
    groups.back().push_back(i);
    hasKept |= keep;
  }
  return groups;
}

static Labeled transpose(Labeled x, ArrayRef<Role> order, OpBuilder &builder,
                         Location loc) {
  if (ArrayRef<Role>(x.roles) == order)
    return x;
  SmallVector<int64_t> permutation;
  SmallVector<OpFoldResult> sizes;
  SmallVector<OpFoldResult> from =
      tensor::getMixedSizes(builder, loc, x.tensor);
  for (Role role : order) {
    permutation.push_back(llvm::find(x.roles, role) - x.roles.begin());
    sizes.push_back(from[permutation.back()]);
  }
  Value init = tensor::EmptyOp::create(builder, loc, sizes,
                                       getType(x.tensor).getElementType());
  auto transposed =
      linalg::TransposeOp::create(builder, loc, x.tensor, init, permutation);
  return {transposed->getResult(0), llvm::to_vector(order)};
}

Value vcattn::toLayout(Labeled x, Layout layout, OpBuilder &builder,
                       Location loc) {
  Roles order = getOrder(layout);
  Roles dims = order;
  llvm::erase(dims, Role::Group);
  // Often enough it is what it should be.
  if (x.roles.size() == dims.size() &&
      llvm::all_of(llvm::zip_equal(x.roles, dims), [](auto pair) {
        auto [role, dim] = pair;
        return role == dim || role == Role::Unit;
      }))
    return x.tensor;

  SmallVector<bool> kept;
  for (Role role : x.roles)
    kept.push_back(role != Role::Unit);
  x.tensor = collapse(x.tensor, mergeDropped(kept), builder, loc);
  x.roles = dropUnits(x.roles);
  x = transpose(x, keepPresent(order, x.roles), builder, loc);

  // Merge Head and Group; either alone is the heads.
  SmallVector<ReassociationIndices> groups;
  Roles merged;
  for (auto [i, role] : llvm::enumerate(x.roles)) {
    Role dim = role == Role::Group ? Role::Head : role;
    if (merged.empty() || merged.back() != dim) {
      merged.push_back(dim);
      groups.emplace_back();
    }
    groups.back().push_back(i);
  }
  x = {collapse(x.tensor, groups, builder, loc), merged};

  // Put in what is missing.
  SmallVector<int64_t> shape;
  SmallVector<bool> present;
  ArrayRef<int64_t> sizes = getType(x.tensor).getShape();
  for (Role dim : dims) {
    const auto *found = llvm::find(x.roles, dim);
    present.push_back(found != x.roles.end());
    shape.push_back(present.back() ? sizes[found - x.roles.begin()] : 1);
  }
  return expand(x.tensor, shape, mergeDropped(present), builder, loc);
}

Value vcattn::fromLayout(Value tensor, Layout layout, ArrayRef<Role> roles,
                         ArrayRef<OpFoldResult> headSizes, OpBuilder &builder,
                         Location loc) {
  Roles present = keepPresent(getOrder(layout), roles);
  bool hasGroup = llvm::is_contained(roles, Role::Group);
  bool hasHead = llvm::is_contained(roles, Role::Head);
  Roles dims = getOrder(layout);
  llvm::erase(dims, Role::Group);

  SmallVector<bool> kept;
  for (Role dim : dims)
    kept.push_back(llvm::is_contained(roles, dim) ||
                   (dim == Role::Head && hasGroup));
  tensor = collapse(tensor, mergeDropped(kept), builder, loc);

  if (hasGroup && hasHead) {
    SmallVector<ReassociationIndices> groups;
    SmallVector<OpFoldResult> sizes;
    SmallVector<OpFoldResult> from =
        tensor::getMixedSizes(builder, loc, tensor);
    unsigned source = 0;
    for (auto [i, role] : llvm::enumerate(present)) {
      if (role == Role::Group) {
        groups.back().push_back(i);
        sizes.push_back(headSizes[1]);
        continue;
      }
      groups.push_back({static_cast<int64_t>(i)});
      sizes.push_back(role == Role::Head ? headSizes[0] : from[source]);
      ++source;
    }
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    tensor = tensor::ExpandShapeOp::create(
        builder, loc, getType(tensor).clone(shape), tensor, groups, sizes);
  }
  return transpose({tensor, present}, roles, builder, loc).tensor;
}
