//===- AttentionProblemTest.cpp - Generators and the FP64 reference -------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/AttentionProblem.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace vcattn;

static AttentionProblem makeProblem(Layout layout = Layout::BHTD) {
  AttentionProblem problem;
  problem.batch = 2;
  problem.queryHeads = 4;
  problem.keyHeads = 2;
  problem.queries = 37;
  problem.keys = 150;
  problem.dim = 16;
  problem.valueDim = 24;
  problem.scale = 0.25;
  problem.layout = layout;
  return problem;
}

static uint64_t hash(const HostTensor &tensor) {
  uint64_t sum = 0xcbf29ce484222325;
  for (unsigned char byte : tensor.bytes)
    sum = (sum ^ byte) * 0x100000001b3;
  return sum;
}

TEST(Generators, KeepTheirBits) {
  // The errors in docs/Benchmarks.md refer to these inputs.
  AttentionProblem problem = makeProblem();
  uint64_t want[] = {3638120240165272953u, 15818668461422618903u,
                     6963531475042362147u, 14671171618575669409u};
  for (auto [i, kind] : llvm::enumerate(getInputKinds())) {
    AttentionInputs inputs = generateInputs(problem, kind, Element::BF16, 1);
    EXPECT_EQ(hash(inputs.query) ^ hash(inputs.key) << 1 ^
                  hash(inputs.value) << 2,
              want[i])
        << getName(kind).str();
  }
}

TEST(Generators, AreDeterministicAndSeeded) {
  AttentionProblem problem = makeProblem();
  auto once = generateInputs(problem, InputKind::Outliers, Element::F16, 3);
  auto again = generateInputs(problem, InputKind::Outliers, Element::F16, 3);
  auto other = generateInputs(problem, InputKind::Outliers, Element::F16, 4);
  EXPECT_EQ(once.value.bytes, again.value.bytes);
  EXPECT_NE(once.value.bytes, other.value.bytes);
  EXPECT_NE(once.query.bytes, once.key.bytes);
}

TEST(Generators, LayoutsHoldTheSameAttention) {
  AttentionProblem bhtd = makeProblem(), bthd = makeProblem(Layout::BTHD);
  auto a = generateInputs(bhtd, InputKind::Clustered, Element::F32, 5);
  auto b = generateInputs(bthd, InputKind::Clustered, Element::F32, 5);
  EXPECT_EQ(b.key.shape, (llvm::SmallVector<int64_t>{2, 150, 2, 16}));
  for (int64_t t : {0, 1, 149})
    EXPECT_EQ(a.key.load(bhtd.getRow(1, 1, t, 2, 150, 16) + 3),
              b.key.load(bthd.getRow(1, 1, t, 2, 150, 16) + 3));
}

TEST(Generators, NormalsAreNormal) {
  AttentionProblem problem;
  problem.queries = problem.keys = 4096;
  problem.dim = problem.valueDim = 64;
  auto x = generateInputs(problem, InputKind::Gaussian, Element::F32, 1).query;
  double n = x.getNumElements(), sum = 0, square = 0, fourth = 0;
  for (int64_t i = 0; i < x.getNumElements(); ++i) {
    double v = x.load(i);
    sum += v;
    square += v * v;
    fourth += v * v * v * v;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.015);
  EXPECT_NEAR(fourth / n, 3, 0.1);
}

TEST(Generators, KindsAreWhatTheySay) {
  AttentionProblem problem;
  problem.queries = problem.keys = 2048;
  problem.dim = problem.valueDim = 64;
  auto variance = [&](const HostTensor &x, double mean) {
    double sum = 0;
    for (int64_t i = 0; i < x.getNumElements(); ++i)
      sum += (x.load(i) - mean) * (x.load(i) - mean);
    return sum / x.getNumElements();
  };
  auto make = [&](InputKind kind) {
    return generateInputs(problem, kind, Element::F32, 2);
  };
  EXPECT_NEAR(variance(make(InputKind::Clustered).value, 0), 1, 0.1);
  EXPECT_NEAR(variance(make(InputKind::Clustered).key, 0), 1.49, 0.1);
  EXPECT_NEAR(variance(make(InputKind::Outliers).value, 0), 1.1, 0.05);
  EXPECT_NEAR(variance(make(InputKind::Constant).value, 1), 0.01, 0.001);
  EXPECT_EQ(make(InputKind::Constant).query.bytes,
            make(InputKind::Gaussian).query.bytes);
  for (InputKind kind : getInputKinds())
    EXPECT_EQ(parseInputKind(getName(kind)), kind);
  EXPECT_EQ(parseInputKind("normal"), std::nullopt);
}

TEST(Rows, SampleIsSpreadOverHeads) {
  AttentionProblem problem = makeProblem();
  EXPECT_EQ(sampleRows(problem, 1000).size(), 2u * 4 * 37);
  std::vector<RowIndex> rows = sampleRows(problem, 40);
  ASSERT_EQ(rows.size(), 40u);
  EXPECT_EQ(rows.front().query, 0);
  EXPECT_EQ(rows.back().query, 36);
  EXPECT_EQ(rows.back().head, 3);
  problem.queries = 0;
  EXPECT_TRUE(sampleRows(problem, 40).empty());
}

TEST(Reference, VisibleKeysFollowCausality) {
  AttentionProblem problem = makeProblem();
  EXPECT_EQ(problem.countVisibleKeys(0), 150);
  problem.causal = Causality::TopLeft;
  EXPECT_EQ(problem.countVisibleKeys(0), 1);
  EXPECT_EQ(problem.countVisibleKeys(36), 37);
  problem.causal = Causality::BottomRight;
  EXPECT_EQ(problem.countVisibleKeys(36), 150);
  EXPECT_EQ(problem.countVisibleKeys(0), 114);
  problem.keys = 5;
  EXPECT_EQ(problem.countVisibleKeys(0), 0);
}

/// Attention written down directly, one row at a time.
static std::vector<double> direct(const AttentionProblem &p,
                                  const AttentionInputs &x, RowIndex row,
                                  double &lse) {
  int64_t kvHead = row.head / (p.queryHeads / p.keyHeads);
  std::vector<double> out(p.valueDim);
  double sum = 0;
  for (int64_t j = 0; j < p.countVisibleKeys(row.query); ++j) {
    double s = 0;
    for (int64_t d = 0; d < p.dim; ++d)
      s += x.query.load(p.getRow(row.batch, row.head, row.query, p.queryHeads,
                                 p.queries, p.dim) +
                        d) *
           x.key.load(
               p.getRow(row.batch, kvHead, j, p.keyHeads, p.keys, p.dim) + d);
    double e = std::exp(p.scale * s);
    sum += e;
    for (int64_t d = 0; d < p.valueDim; ++d)
      out[d] += e * x.value.load(p.getRow(row.batch, kvHead, j, p.keyHeads,
                                          p.keys, p.valueDim) +
                                 d);
  }
  for (double &value : out)
    value /= sum;
  lse = std::log(sum);
  return out;
}

TEST(Reference, AgreesWithTheDefinition) {
  for (Layout layout : {Layout::BHTD, Layout::BTHD})
    for (Causality causal : {Causality::None, Causality::TopLeft}) {
      AttentionProblem problem = makeProblem(layout);
      problem.causal = causal;
      auto x = generateInputs(problem, InputKind::Gaussian, Element::F32, 1);
      std::vector<RowIndex> rows = sampleRows(problem, 10000);
      ReferenceRows got =
          computeReference(problem, x.query, x.key, x.value, nullptr, rows);
      for (size_t r = 0; r < rows.size(); r += 7) {
        double lse;
        std::vector<double> want = direct(problem, x, rows[r], lse);
        EXPECT_NEAR(got.logSumExp[r], lse, 1e-12);
        for (int64_t d = 0; d < problem.valueDim; ++d)
          EXPECT_NEAR(got.values[r * problem.valueDim + d], want[d], 1e-12);
      }
    }
}

TEST(Reference, EdgesAreDefined) {
  AttentionProblem problem = makeProblem();
  auto x = generateInputs(problem, InputKind::Gaussian, Element::F32, 1);
  // The mask hides every key of head 1 and key 2 of the others.
  HostTensor mask(Element::I1, {1, 4, 1, 150});
  for (int64_t h = 0; h < 4; ++h)
    for (int64_t j = 0; j < 150; ++j)
      mask.bytes[h * 150 + j] = h != 1 && j != 2;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 2; ++h)
      x.value.store(problem.getRow(b, h, 2, 2, 150, 24), std::nan(""));
  std::vector<RowIndex> rows = {{0, 0, 5}, {0, 1, 5}, {0, 2, 5}};
  ReferenceRows got =
      computeReference(problem, x.query, x.key, x.value, &mask, rows);
  EXPECT_TRUE(std::isfinite(got.values[0]));
  EXPECT_EQ(got.values[24], 0.0);
  EXPECT_EQ(got.logSumExp[1], -HUGE_VAL);
  EXPECT_TRUE(std::isfinite(got.logSumExp[2]));
  got = computeReference(problem, x.query, x.key, x.value, nullptr, rows);
  EXPECT_TRUE(std::isnan(got.values[0]));
}

TEST(Reference, ErrorIsRelative) {
  AttentionProblem problem = makeProblem();
  auto x = generateInputs(problem, InputKind::Gaussian, Element::F32, 1);
  std::vector<RowIndex> rows = sampleRows(problem, 10000);
  ReferenceRows reference =
      computeReference(problem, x.query, x.key, x.value, nullptr, rows);
  HostTensor result(Element::F64, {2, 4, 37, 24});
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t d = 0; d < 24; ++d)
      result.store(r * 24 + d, 1.01 * reference.values[r * 24 + d]);
  ErrorSummary summary = compareRows(problem, result, reference, rows);
  EXPECT_NEAR(summary.relativeL2, 0.01, 1e-9);
  EXPECT_EQ(summary.nonFiniteMismatches, 0);
  result.store(7, std::nan(""));
  EXPECT_EQ(compareRows(problem, result, reference, rows).nonFiniteMismatches,
            1);
}
