//===- AttentionProblem.cpp - Sizes of one attention ----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/AttentionProblem.h"
#include <algorithm>

using namespace vcattn;

static llvm::SmallVector<int64_t> getShape(Layout layout, int64_t batch,
                                           int64_t heads, int64_t tokens,
                                           int64_t dim) {
  if (layout == Layout::BHTD)
    return {batch, heads, tokens, dim};
  return {batch, tokens, heads, dim};
}

llvm::SmallVector<int64_t> AttentionProblem::getQueryShape() const {
  return getShape(layout, batch, queryHeads, queries, dim);
}
llvm::SmallVector<int64_t> AttentionProblem::getKeyShape() const {
  return getShape(layout, batch, keyHeads, keys, dim);
}
llvm::SmallVector<int64_t> AttentionProblem::getValueShape() const {
  return getShape(layout, batch, keyHeads, keys, valueDim);
}

int64_t AttentionProblem::getRow(int64_t b, int64_t h, int64_t t, int64_t heads,
                                 int64_t tokens, int64_t channels) const {
  int64_t row = layout == Layout::BHTD ? (b * heads + h) * tokens + t
                                       : (b * tokens + t) * heads + h;
  return row * channels;
}

int64_t AttentionProblem::countVisibleKeys(int64_t i) const {
  switch (causal) {
  case Causality::None:
    return keys;
  case Causality::TopLeft:
    return std::min(i + 1, keys);
  case Causality::BottomRight:
    return std::clamp<int64_t>(i + 1 + keys - queries, 0, keys);
  }
  llvm_unreachable("all causalities are listed");
}

std::vector<RowIndex> vcattn::sampleRows(const AttentionProblem &problem,
                                         int64_t limit) {
  int64_t heads = problem.batch * problem.queryHeads, n = problem.queries;
  int64_t perHead = n;
  if (heads > 0 && heads * n > limit)
    perHead = std::max<int64_t>(1, std::min(n, limit / heads));
  std::vector<RowIndex> rows;
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t h = 0; h < problem.queryHeads; ++h)
      for (int64_t i = 0; i < perHead; ++i)
        rows.push_back(
            {b, h, perHead > 1 ? i * (n - 1) / (perHead - 1) : n / 2});
  return rows;
}
