//===- Labeled.h - Tensors whose dimensions have roles ----------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shape work of raising: bring a tensor whose dimensions are known by role
// to rank 4 in a layout, and back.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_CONVERSION_LINALGTOVCATTN_LABELED_H
#define VCATTN_LIB_CONVERSION_LINALGTOVCATTN_LABELED_H

#include "mlir/IR/PatternMatch.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {

/// What a dimension is. Group: query heads of one key head. Unit: size 1 and
/// nothing else.
enum class Role { Batch, Head, Group, Token, Channel, Unit };
using Roles = llvm::SmallVector<Role>;

struct Labeled {
  mlir::Value tensor;
  Roles roles;
};

/// All roles but Unit in the order of `layout`.
Roles getOrder(Layout layout);

/// True if the roles of `x`, without Unit, are in the order of `layout`.
bool isInOrder(llvm::ArrayRef<Role> roles, Layout layout);

/// `x` as a tensor of rank 4 in `layout`: Head and Group in one dimension, 1
/// where a role is missing.
mlir::Value toLayout(Labeled x, Layout layout, mlir::OpBuilder &builder,
                     mlir::Location loc);

/// The way back: from rank 4 in `layout` to dimensions of `roles`, which has no
/// Unit. `headSizes` are the sizes of Head and Group, if there is a Group.
mlir::Value fromLayout(mlir::Value tensor, Layout layout,
                       llvm::ArrayRef<Role> roles,
                       llvm::ArrayRef<mlir::OpFoldResult> headSizes,
                       mlir::OpBuilder &builder, mlir::Location loc);

} // namespace vcattn

#endif // VCATTN_LIB_CONVERSION_LINALGTOVCATTN_LABELED_H
