//===- Method.cpp - What the compiler made of attention -------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Method.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace vcattn;
using namespace vcattn::run;

namespace {
/// What is known of the method's ops, over all attentions of a module.
struct Findings {
  bool centered = false, rotated = false, means = false, mask = false;
  int64_t clusters = 0, iterations = 0;
  unsigned exact = 0;
  SmallVector<QuantizedAttentionOp> quantized;
};
} // namespace

static Findings collect(Operation *root) {
  Findings found;
  root->walk([&](Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case([&](CenterKeysOp) { found.centered = true; })
        .Case([&](HadamardOp) { found.rotated = true; })
        .Case([&](BlockResidualOp) { found.means = true; })
        .Case([&](ClusterOp cluster) {
          found.clusters = cluster.getClusters();
          found.iterations = cluster.getIterations();
        })
        .Case([&](AttentionOp) { ++found.exact; })
        .Case([&](QuantizedAttentionOp op) { found.quantized.push_back(op); });
  });
  return found;
}

static std::string typeName(Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(value.getType());
  return text;
}

static std::string describeFormat(StringRef type) {
  if (type == "i8")
    return "8-bit integers";
  if (type == "f8E4M3FN")
    return "8-bit floats (E4M3)";
  return (type + ", not quantized").str();
}

static std::string describeCast(SoftmaxCast cast) {
  switch (cast) {
  case SoftmaxCast::ExpCast:
    return "8-bit probabilities by ExpCast: one multiply-add and one rounding, "
           "no exponential";
  case SoftmaxCast::Exact:
    return "exponentials, then rounded to 8-bit probabilities";
  case SoftmaxCast::Hybrid:
    return ("8-bit probabilities: exponentials, then rounded, for " +
            Twine(kExactCastGroups * kCastGroupKeys) + " of " +
            Twine(kTileKeys) + " keys, ExpCast for the others")
        .str();
  }
  llvm_unreachable("all casts are handled");
}

/// Steps and formats of the first quantized attention; a module's attentions
/// all went through the same pipeline.
static void addQuantized(QuantizedAttentionOp op, MethodSummary &summary) {
  std::string scores = typeName(op.getQuery()),
              values = typeName(op.getValue());
  std::string perScale = op.hasQuantizedScores()
                             ? ", one scale per query and four per 128 keys"
                             : "";
  summary.steps.push_back({"scores", describeFormat(scores) + perScale});
  summary.steps.push_back(
      {"values", describeFormat(values) +
                     (op.getValueScale() ? ", one scale per channel" : "")});
  summary.steps.push_back({"softmax", describeCast(op.getCast())});
  summary.json["scores"] = scores;
  summary.json["values"] = values;
  summary.json["cast"] = stringifySoftmaxCast(op.getCast()).str();
}

MethodSummary vcattn::run::summarizeMethod(Operation *root) {
  Findings found = collect(root);
  MethodSummary summary;
  auto add = [&](StringRef operand, const Twine &text) {
    summary.steps.push_back({operand.str(), text.str()});
  };
  if (found.centered)
    add("keys",
        "mean over all tokens subtracted (the softmax does not see it)");
  if (found.rotated)
    add("queries and keys", "rotated by a Hadamard matrix, which spreads "
                            "outliers over all channels");
  if (found.clusters)
    add("keys and values", "tokens sorted into " + Twine(found.clusters) +
                               " clusters of like values (k-means, " +
                               Twine(found.iterations) + " rounds)");
  if (found.means)
    add("values",
        "mean of each block of 128 taken out, added back after the product");
  if (!found.quantized.empty())
    addQuantized(found.quantized.front(), summary);
  if (found.exact)
    add("attention", "exact, on floats");
  if (summary.isEmpty())
    return summary;
  summary.json["center_keys"] = found.centered;
  summary.json["hadamard"] = found.rotated;
  summary.json["clusters"] = found.clusters;
  summary.json["iterations"] = found.iterations;
  summary.json["block_means"] = found.means;
  summary.json["attentions"] = found.quantized.size() + found.exact;
  return summary;
}

namespace {
class MethodWatcher : public PassInstrumentation {
public:
  explicit MethodWatcher(MethodSummary &summary) : summary(summary) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    StringRef argument = pass->getArgument();
    if (!summary.isEmpty() || (argument != "convert-vcattn-to-loops" &&
                               argument != "vcattn-pack-operands"))
      return;
    summary = summarizeMethod(op);
  }

private:
  MethodSummary &summary;
};
} // namespace

void vcattn::run::watchMethod(PassManager &passes, MethodSummary &summary) {
  passes.addInstrumentation(std::make_unique<MethodWatcher>(summary));
}
