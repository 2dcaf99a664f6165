//===- Generators.cpp - Seeded queries, keys and values -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs on which the method's error is quoted:
//
// - gaussian: independent normals, nothing to exploit;
// - clustered: 64 value clusters hold 80 % of the energy, keys carry their
//   cluster's offset;
// - outliers: one element in a thousand has ten times the spread added;
// - constant: values 1 + 0.1 normal, whose mean is everything.
//
// std::mt19937_64 is specified to the bit, but neither std::normal_distribution
// nor std::log is: normals come from the polar Box-Muller method with a
// logarithm made of +, -, * and / (this library is built without contraction).
//
//===----------------------------------------------------------------------===//

#include "vcattn/Support/AttentionProblem.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <random>

using namespace vcattn;

static constexpr int64_t kClusters = 64;

static const struct {
  InputKind kind;
  llvm::StringRef name, description;
} kKinds[] = {
    {InputKind::Gaussian, "gaussian", "independent normals"},
    {InputKind::Clustered, "clustered",
     "64 clusters hold 80 % of the values' energy"},
    {InputKind::Outliers, "outliers", "0.1 % of the elements 10 times larger"},
    {InputKind::Constant, "constant", "values 1 + 0.1 normal"},
};

llvm::ArrayRef<InputKind> vcattn::getInputKinds() {
  static const InputKind kAll[] = {InputKind::Gaussian, InputKind::Clustered,
                                   InputKind::Outliers, InputKind::Constant};
  return kAll;
}

llvm::StringRef vcattn::getName(InputKind kind) {
  return llvm::find_if(kKinds, [&](auto &row) { return row.kind == kind; })
      ->name;
}

llvm::StringRef vcattn::describe(InputKind kind) {
  return llvm::find_if(kKinds, [&](auto &row) { return row.kind == kind; })
      ->description;
}

std::optional<InputKind> vcattn::parseInputKind(llvm::StringRef name) {
  for (auto &row : kKinds)
    if (row.name == name)
      return row.kind;
  return std::nullopt;
}

/// Natural logarithm of a normal positive number, to about 1e-15.
static double portableLog(double x) {
  int exponent;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh(z), |z| < 0.172.
  double z = (m - 1) / (m + 1), square = z * z, sum = 0;
  for (int k = 21; k >= 1; k -= 2)
    sum = sum * square + 1.0 / k;
  return 2 * z * sum + exponent * 0.69314718055994531;
}

namespace {
/// A stream of random numbers: one per tensor, so that kinds share what they
/// have in common.
class Stream {
public:
  Stream(uint64_t seed, uint64_t number)
      : engine(seed * 0x9e3779b97f4a7c15 + number) {}

  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(engine() >> 11) * 0x1p-53; }

  double normal() {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    while (true) {
      double x = 2 * uniform() - 1, y = 2 * uniform() - 1;
      double s = x * x + y * y;
      if (s >= 1 || s == 0)
        continue;
      double factor = std::sqrt(-2 * portableLog(s) / s);
      spare = y * factor;
      hasSpare = true;
      return x * factor;
    }
  }

private:
  std::mt19937_64 engine;
  double spare = 0;
  bool hasSpare = false;
};

enum StreamNumber : uint64_t {
  kQuery,
  kKey,
  kValue,
  kLabels,
  kKeyCenters,
  kValueCenters,
  kOutliers // and the two after it
};
} // namespace

/// Calls `make(b, h, t, d)` for every element in the order batch, head, token,
/// channel, whatever the layout.
static HostTensor
fill(const AttentionProblem &problem, llvm::ArrayRef<int64_t> shape,
     int64_t heads, int64_t tokens, Element element,
     llvm::function_ref<double(int64_t, int64_t, int64_t, int64_t)> make) {
  HostTensor tensor(element, shape);
  int64_t dim = shape.back();
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < tokens; ++t) {
        int64_t row = problem.getRow(b, h, t, heads, tokens, dim);
        for (int64_t d = 0; d < dim; ++d)
          tensor.store(row + d, make(b, h, t, d));
      }
  return tensor;
}

AttentionInputs vcattn::generateInputs(const AttentionProblem &problem,
                                       InputKind kind, Element element,
                                       uint64_t seed) {
  int64_t kvHeads = problem.batch * problem.keyHeads;
  std::vector<uint8_t> labels;
  std::vector<double> keyCenters, valueCenters;
  if (kind == InputKind::Clustered) {
    Stream label(seed, kLabels), forKeys(seed, kKeyCenters),
        forValues(seed, kValueCenters);
    for (int64_t i = 0; i < kvHeads * problem.keys; ++i)
      labels.push_back(static_cast<uint8_t>(label.uniform() * kClusters));
    for (int64_t i = 0; i < kvHeads * kClusters * problem.dim; ++i)
      keyCenters.push_back(forKeys.normal());
    for (int64_t i = 0; i < kvHeads * kClusters * problem.valueDim; ++i)
      valueCenters.push_back(forValues.normal());
  }
  auto center = [&](llvm::ArrayRef<double> centers, int64_t dim, int64_t b,
                    int64_t h, int64_t t, int64_t d) {
    int64_t head = b * problem.keyHeads + h;
    return centers[(head * kClusters + labels[head * problem.keys + t]) * dim +
                   d];
  };
  auto make = [&](StreamNumber number, int64_t b, int64_t h, int64_t t,
                  int64_t d, Stream &base, Stream &outliers) {
    double x = base.normal();
    switch (kind) {
    case InputKind::Gaussian:
      return x;
    case InputKind::Clustered:
      if (number == kKey)
        x += 0.7 * center(keyCenters, problem.dim, b, h, t, d);
      if (number == kValue)
        x = std::sqrt(0.2) * x +
            std::sqrt(0.8) * center(valueCenters, problem.valueDim, b, h, t, d);
      return x;
    case InputKind::Outliers:
      return outliers.uniform() < 1e-3 ? x + 10 * outliers.normal() : x;
    case InputKind::Constant:
      return number == kValue ? 1 + 0.1 * x : x;
    }
    llvm_unreachable("all kinds are listed");
  };
  auto generate = [&](StreamNumber number, llvm::ArrayRef<int64_t> shape,
                      int64_t heads, int64_t tokens) {
    Stream base(seed, number), outliers(seed, kOutliers + number);
    return fill(problem, shape, heads, tokens, element,
                [&](int64_t b, int64_t h, int64_t t, int64_t d) {
                  return make(number, b, h, t, d, base, outliers);
                });
  };
  return {generate(kQuery, problem.getQueryShape(), problem.queryHeads,
                   problem.queries),
          generate(kKey, problem.getKeyShape(), problem.keyHeads, problem.keys),
          generate(kValue, problem.getValueShape(), problem.keyHeads,
                   problem.keys)};
}
