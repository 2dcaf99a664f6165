//===- AttentionProblem.cpp - Sizes of one attention ----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/AttentionProblem.h"
#include "mlir/IR/BuiltinTypes.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "llvm/Support/Error.h"
#include <algorithm>

using namespace vcattn;

AttentionProblem AttentionProblem::get(AttentionOp op) {
  auto shapeOf = [&](mlir::Value value) {
    return TokenShape::get(llvm::cast<mlir::ShapedType>(value.getType()),
                           op.getLayout());
  };
  auto known = [](int64_t a, int64_t b) {
    return mlir::ShapedType::isDynamic(a) ? b : a;
  };
  TokenShape q = shapeOf(op.getQuery()), k = shapeOf(op.getKey()),
             v = shapeOf(op.getValue());
  AttentionProblem problem;
  problem.layout = op.getLayout();
  problem.causal = op.getCausal();
  problem.scale = op.getScale().convertToDouble();
  problem.batch = known(q.batch, known(k.batch, v.batch));
  problem.queryHeads = q.heads;
  problem.keyHeads = known(k.heads, v.heads);
  problem.queries = q.tokens;
  problem.keys = known(k.tokens, v.tokens);
  problem.dim = known(q.dim, k.dim);
  problem.valueDim = v.dim;
  return problem;
}

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

using NamedSize = std::pair<llvm::StringRef, int64_t AttentionProblem::*>;
static const NamedSize kSizes[] = {
    {"B", &AttentionProblem::batch},      {"Hq", &AttentionProblem::queryHeads},
    {"Hkv", &AttentionProblem::keyHeads}, {"Nq", &AttentionProblem::queries},
    {"Nk", &AttentionProblem::keys},      {"D", &AttentionProblem::dim},
    {"Dv", &AttentionProblem::valueDim}};

llvm::Error vcattn::parseSize(std::map<std::string, int64_t> &sizes,
                              llvm::StringRef text, llvm::StringRef option) {
  auto [name, number] = text.split('=');
  int64_t size;
  if (llvm::none_of(kSizes,
                    [&, name = name](const NamedSize &known) {
                      return known.first == name;
                    }) ||
      number.getAsInteger(10, size) || size < 0)
    return llvm::createStringError(option + ": '" + text +
                                   "' is not NAME=NUMBER with a name among B, "
                                   "Hq, Hkv, Nq, Nk, D and Dv");
  sizes[name.str()] = size;
  return llvm::Error::success();
}

llvm::Error vcattn::applySizes(AttentionProblem &problem,
                               const std::map<std::string, int64_t> &sizes,
                               llvm::StringRef option) {
  for (auto [name, member] : kSizes) {
    int64_t &size = problem.*member;
    auto given = sizes.find(name.str());
    if (given == sizes.end()) {
      if (mlir::ShapedType::isDynamic(size))
        return llvm::createStringError(name + " is dynamic: give it with " +
                                       option + "=" + name + "=NUMBER");
      continue;
    }
    if (!mlir::ShapedType::isDynamic(size) && size != given->second)
      return llvm::createStringError(
          option + "=" + name + "=" + llvm::Twine(given->second) +
          ": the function says " + llvm::Twine(size));
    size = given->second;
  }
  if (problem.keyHeads ? problem.queryHeads % problem.keyHeads
                       : problem.queryHeads)
    return llvm::createStringError(llvm::Twine(problem.queryHeads) +
                                   " query heads are no multiple "
                                   "of " +
                                   llvm::Twine(problem.keyHeads) +
                                   " key heads");
  return llvm::Error::success();
}
