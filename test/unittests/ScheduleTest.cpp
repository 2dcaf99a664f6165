//===- ScheduleTest.cpp - Choices, classes and files of schedules ---------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Target/ScheduleFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "gtest/gtest.h"

using namespace vcattn;
using mlir::ShapedType;

static ScheduleChoices parse(llvm::StringRef text) {
  return llvm::cantFail(ScheduleChoices::parse(text));
}

TEST(ScheduleChoices, PrintsWhatItParses) {
  EXPECT_EQ(parse("").print(), "");
  EXPECT_TRUE(parse("").empty());
  // In the attribute's order, the last of equal ones, blanks ignored.
  EXPECT_EQ(parse("promotion=64, stages = 2,stages=3,ping_pong=false").print(),
            "stages=3,ping_pong=false,promotion=64");
  EXPECT_TRUE(parse("stages=3") == parse("stages=3"));
  EXPECT_FALSE(parse("stages=3") == parse("stages=4"));
}

TEST(ScheduleChoices, DescribesEachField) {
  std::string text = describeScheduleFields();
  EXPECT_EQ(llvm::StringRef(text).count('\n'), ScheduleChoices::NumFields);
}

TEST(SizeClass, FollowsKeysUnlessThereIsLittleWork) {
  // 132 multiprocessors; tiles of 64 queries.
  EXPECT_EQ(getSizeClass(1, 132, 64, 2048, "sm_90a"), SizeClass::Few);
  EXPECT_EQ(getSizeClass(1, 132, 64, 2049, "sm_90a"), SizeClass::Decode);
  EXPECT_EQ(getSizeClass(1, 132, 65, 2048, "sm_90a"), SizeClass::Short);
  EXPECT_EQ(getSizeClass(4, 16, 1024, 2049, "sm_90a"), SizeClass::Medium);
  EXPECT_EQ(getSizeClass(1, 66, 129, 16385, "sm_90a"), SizeClass::Long);
  EXPECT_EQ(getSizeClass(1, 16, 1024, ShapedType::kDynamic, "sm_90a"),
            SizeClass::Open);
  EXPECT_EQ(getSizeClass(ShapedType::kDynamic, 16, 1, 1, "sm_90a"),
            SizeClass::Open);
  for (SizeClass sizes : {SizeClass::Few, SizeClass::Decode, SizeClass::Short,
                          SizeClass::Medium, SizeClass::Long, SizeClass::Open})
    EXPECT_EQ(parseSizeClass(getName(sizes)), sizes);
  EXPECT_EQ(parseSizeClass("huge"), std::nullopt);
}

TEST(ScheduleFile, ReadsWhatItWrote) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("schedules", "json", path));
  llvm::FileRemover remover(path);
  ScheduleKey key;
  key.target = "sm_90a";
  key.headDim = key.valueDim = 128;
  key.cast = "expcast";
  key.scores = "i8";
  key.causal = "none";
  key.sizes = SizeClass::Long;
  ScheduleKey other = key;
  other.sizes = SizeClass::Few;

  ScheduleFile file;
  file.set({key, parse("stages=3"), "a card", 2.5});
  file.set({other, parse("tile_q=64"), "a card", 1});
  file.set({key, parse("stages=2"), "another", 2.25});
  EXPECT_FALSE(llvm::errorToBool(file.write(path)));
  ScheduleFile read = llvm::cantFail(ScheduleFile::read(path));
  const TunedSchedule *found = read.lookup(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->choices.print(), "stages=2");
  EXPECT_EQ(found->device, "another");
  EXPECT_EQ(found->milliseconds, 2.25);
  ASSERT_TRUE(read.lookup(other));
  EXPECT_EQ(read.lookup(other)->choices.print(), "tile_q=64");
  other.causal = "top_left";
  EXPECT_FALSE(read.lookup(other));

  llvm::Error error = file.write("/nowhere/schedules.json");
  EXPECT_NE(llvm::toString(std::move(error))
                .find("cannot write /nowhere/schedules.json: "),
            std::string::npos);
}
