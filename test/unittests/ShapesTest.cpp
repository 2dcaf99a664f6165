//===- ShapesTest.cpp - Dimensions of attention tensors -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "gtest/gtest.h"

using namespace vcattn;

TEST(Shapes, LayoutSaysWhereHeadsAndTokensAre) {
  mlir::MLIRContext context;
  auto type = mlir::RankedTensorType::get({2, 3, 5, 7},
                                          mlir::Float32Type::get(&context));
  TokenShape bhtd = TokenShape::get(type, Layout::BHTD);
  EXPECT_EQ(bhtd.batch, 2);
  EXPECT_EQ(bhtd.heads, 3);
  EXPECT_EQ(bhtd.tokens, 5);
  EXPECT_EQ(bhtd.dim, 7);
  TokenShape bthd = TokenShape::get(type, Layout::BTHD);
  EXPECT_EQ(bthd.heads, 5);
  EXPECT_EQ(bthd.tokens, 3);
}

TEST(Shapes, BlocksRoundUpAndStayDynamic) {
  EXPECT_EQ(ceilDivSize(0, kBlockTokens), 0);
  EXPECT_EQ(ceilDivSize(1, kBlockTokens), 1);
  EXPECT_EQ(ceilDivSize(128, kBlockTokens), 1);
  EXPECT_EQ(ceilDivSize(129, kBlockTokens), 2);
  EXPECT_TRUE(mlir::ShapedType::isDynamic(
      ceilDivSize(mlir::ShapedType::kDynamic, kBlockTokens)));
}
