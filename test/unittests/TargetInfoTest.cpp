//===- TargetInfoTest.cpp - The table of targets --------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Target/TargetInfo.h"
#include "gtest/gtest.h"

using namespace vcattn;

TEST(TargetInfo, KnowsEveryTargetByName) {
  for (const TargetInfo &info : getTargets())
    EXPECT_EQ(lookupTarget(info.chip), &info);
}

TEST(TargetInfo, RefusesUnknownChips) {
  EXPECT_EQ(lookupTarget("sm_90"), nullptr);
  EXPECT_EQ(lookupTarget("sm_90a "), nullptr);
  EXPECT_EQ(lookupTarget(""), nullptr);
}

TEST(TargetInfo, HopperHasWgmmaAndIntegerScores) {
  const TargetInfo *hopper = lookupTarget("sm_90a");
  ASSERT_NE(hopper, nullptr);
  EXPECT_EQ(hopper->matrixUnit, MatrixUnit::Wgmma);
  EXPECT_TRUE(hopper->hasIntegerScores);
  EXPECT_EQ(hopper->tensorMemoryColumns, 0);
}

TEST(TargetInfo, BlackwellUltraLostIntegerScores) {
  EXPECT_FALSE(lookupTarget("sm_103a")->hasIntegerScores);
}
