//===- Reference.cpp - Exact attention in FP64 ----------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that read the same key head go through the keys together, sixteen at a
// time: the inner loops then run over rows or channels, which the C++ compiler
// vectorizes without reordering any sum.
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/AttentionProblem.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace vcattn;

static constexpr int64_t kRows = 16;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Decodes the tokens of one head into [tokens][dim].
static std::vector<double> decodeHead(const AttentionProblem &problem,
                                      const HostTensor &tensor, int64_t b,
                                      int64_t h, int64_t heads, int64_t tokens,
                                      int64_t dim) {
  std::vector<double> head(tokens * dim);
  for (int64_t t = 0; t < tokens; ++t) {
    int64_t row = problem.getRow(b, h, t, heads, tokens, dim);
    for (int64_t d = 0; d < dim; ++d)
      head[t * dim + d] = tensor.load(row + d);
  }
  return head;
}

/// Adds a float mask to `score`, or hides the key of a boolean one.
static double applyMask(const HostTensor &mask, const RowIndex &row, int64_t j,
                        double score) {
  int64_t at[] = {row.batch, row.head, row.query, j}, index = 0;
  for (int i = 0; i < 4; ++i)
    index = index * mask.shape[i] + (mask.shape[i] == 1 ? 0 : at[i]);
  double entry = mask.load(index);
  if (mask.element != Element::I1)
    return score + entry;
  return entry != 0 ? score : -kInfinity;
}

namespace {
/// Exact attention of up to kRows rows of one key head.
struct RowBlock {
  const AttentionProblem &problem;
  const HostTensor *mask;
  const std::vector<double> &keys, &values;

  /// Scores s[j][r], scaled, masked, -inf where a row does not see a key.
  std::vector<double> computeScores(const HostTensor &query,
                                    llvm::ArrayRef<RowIndex> rows) const;
  void run(const HostTensor &query, llvm::ArrayRef<RowIndex> rows,
           ReferenceRows &out, int64_t firstOut) const;
};
} // namespace

std::vector<double>
RowBlock::computeScores(const HostTensor &query,
                        llvm::ArrayRef<RowIndex> rows) const {
  int64_t dim = problem.dim, n = problem.keys;
  std::vector<double> transposed(dim * kRows), scores(n * kRows);
  for (size_t r = 0; r < rows.size(); ++r) {
    int64_t at = problem.getRow(rows[r].batch, rows[r].head, rows[r].query,
                                problem.queryHeads, problem.queries, dim);
    for (int64_t d = 0; d < dim; ++d)
      transposed[d * kRows + r] = query.load(at + d);
  }
  for (int64_t j = 0; j < n; ++j) {
    double sum[kRows] = {};
    for (int64_t d = 0; d < dim; ++d) {
      double k = keys[j * dim + d];
      for (int64_t r = 0; r < kRows; ++r)
        sum[r] += k * transposed[d * kRows + r];
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      double score = problem.scale * sum[r];
      if (mask)
        score = applyMask(*mask, rows[r], j, score);
      if (j >= problem.countVisibleKeys(rows[r].query))
        score = -kInfinity;
      scores[j * kRows + r] = score;
    }
  }
  return scores;
}

void RowBlock::run(const HostTensor &query, llvm::ArrayRef<RowIndex> rows,
                   ReferenceRows &out, int64_t firstOut) const {
  int64_t n = problem.keys, dim = problem.valueDim;
  std::vector<double> scores = computeScores(query, rows);
  for (size_t r = 0; r < rows.size(); ++r) {
    double largest = -kInfinity, sum = 0;
    bool isNaN = false;
    for (int64_t j = 0; j < n; ++j) {
      isNaN |= std::isnan(scores[j * kRows + r]);
      largest = std::max(largest, scores[j * kRows + r]);
    }
    double *row = &out.values[(firstOut + r) * dim];
    if (isNaN || largest == -kInfinity) { // or no key is seen
      std::fill(row, row + dim, isNaN ? std::nan("") : 0.0);
      out.logSumExp[firstOut + r] = isNaN ? std::nan("") : -kInfinity;
      continue;
    }
    for (int64_t j = 0; j < n; ++j) {
      double p = std::exp(scores[j * kRows + r] - largest);
      if (scores[j * kRows + r] == -kInfinity)
        continue; // a NaN among values that are not seen stays unseen
      sum += p;
      for (int64_t d = 0; d < dim; ++d)
        row[d] += p * values[j * dim + d];
    }
    for (int64_t d = 0; d < dim; ++d)
      row[d] /= sum;
    out.logSumExp[firstOut + r] = largest + std::log(sum);
  }
}

ReferenceRows vcattn::computeReference(const AttentionProblem &problem,
                                       const HostTensor &query,
                                       const HostTensor &key,
                                       const HostTensor &value,
                                       const HostTensor *mask,
                                       llvm::ArrayRef<RowIndex> rows) {
  ReferenceRows out;
  out.values.assign(rows.size() * problem.valueDim, 0.0);
  out.logSumExp.assign(rows.size(), 0.0);
  int64_t group = problem.queryHeads / problem.keyHeads;
  std::vector<double> keys, values;
  for (size_t begin = 0, end; begin < rows.size(); begin = end) {
    int64_t b = rows[begin].batch, kvHead = rows[begin].head / group;
    auto sharesHead = [&](const RowIndex &row) {
      return row.batch == b && row.head / group == kvHead;
    };
    keys = decodeHead(problem, key, b, kvHead, problem.keyHeads, problem.keys,
                      problem.dim);
    values = decodeHead(problem, value, b, kvHead, problem.keyHeads,
                        problem.keys, problem.valueDim);
    RowBlock block{problem, mask, keys, values};
    for (end = begin; end < rows.size() && sharesHead(rows[end]);) {
      size_t last = end;
      while (last < rows.size() && last < end + kRows && sharesHead(rows[last]))
        ++last;
      block.run(query, rows.slice(end, last - end), out, end);
      end = last;
    }
  }
  return out;
}

ErrorSummary vcattn::compareRows(const AttentionProblem &problem,
                                 const HostTensor &result,
                                 const ReferenceRows &reference,
                                 llvm::ArrayRef<RowIndex> rows) {
  ErrorSummary summary;
  double difference = 0, norm = 0;
  int64_t dim = problem.valueDim;
  for (size_t r = 0; r < rows.size(); ++r) {
    int64_t at = problem.getRow(rows[r].batch, rows[r].head, rows[r].query,
                                problem.queryHeads, problem.queries, dim);
    for (int64_t d = 0; d < dim; ++d) {
      double got = result.load(at + d), want = reference.values[r * dim + d];
      if (!std::isfinite(got) || !std::isfinite(want)) {
        bool same = std::isnan(got) ? std::isnan(want) : got == want;
        summary.nonFiniteMismatches += !same;
        continue;
      }
      double error = std::fabs(got - want);
      difference += error * error;
      norm += want * want;
      summary.largestDifference = std::max(summary.largestDifference, error);
    }
  }
  if (difference > 0)
    summary.relativeL2 = std::sqrt(difference / norm);
  return summary;
}

double vcattn::compareLogSumExp(const AttentionProblem &problem,
                                const HostTensor &result,
                                const ReferenceRows &reference,
                                llvm::ArrayRef<RowIndex> rows) {
  double largest = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    int64_t at =
        (rows[r].batch * problem.queryHeads + rows[r].head) * problem.queries +
        rows[r].query;
    double got = result.load(at), want = reference.logSumExp[r];
    if (got == want || (std::isnan(got) && std::isnan(want)))
      continue;
    double error = std::fabs(got - want);
    largest = std::isnan(error) ? kInfinity : std::max(largest, error);
  }
  return largest;
}
