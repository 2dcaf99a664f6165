//===- AttentionProblem.h - One attention on host tensors -------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a function that is one attention computes: its sizes, scale, causality
// and mask; generators of queries, keys and values for it; and exact attention
// in FP64, against which results are measured.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_SUPPORT_ATTENTIONPROBLEM_H
#define VCATTN_SUPPORT_ATTENTIONPROBLEM_H

#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Support/HostTensor.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace vcattn {

/// Sizes and meaning of one attention; see vcattn.attention.
struct AttentionProblem {
  int64_t batch = 1, queryHeads = 1, keyHeads = 1;
  int64_t queries = 0, keys = 0, dim = 0, valueDim = 0;
  double scale = 1.0;
  Causality causal = Causality::None;
  Layout layout = Layout::BHTD;

  /// Of an op; sizes that no operand's type tells are dynamic.
  static AttentionProblem get(AttentionOp op);

  /// The rank-4 shapes of query, key and value in `layout`.
  llvm::SmallVector<int64_t> getQueryShape() const;
  llvm::SmallVector<int64_t> getKeyShape() const;
  llvm::SmallVector<int64_t> getValueShape() const;
  /// Index of the first channel of token t of head h in a tensor with `heads`
  /// heads and `tokens` tokens of `dim` channels.
  int64_t getRow(int64_t b, int64_t h, int64_t t, int64_t heads, int64_t tokens,
                 int64_t dim) const;
  /// How many keys query i may see.
  int64_t countVisibleKeys(int64_t i) const;
};

/// Takes a size by its name (B, Hq, Hkv, Nq, Nk, D or Dv) from `NAME=NUMBER`.
/// Errors name the command line's `option`, here and below.
llvm::Error parseSize(std::map<std::string, int64_t> &sizes,
                      llvm::StringRef text, llvm::StringRef option);

/// Fills the problem's open sizes from `sizes`.
llvm::Error applySizes(AttentionProblem &problem,
                       const std::map<std::string, int64_t> &sizes,
                       llvm::StringRef option);

/// Kinds of generated inputs.
enum class InputKind { Gaussian, Clustered, Outliers, Constant };

llvm::ArrayRef<InputKind> getInputKinds();
llvm::StringRef getName(InputKind kind);
std::optional<InputKind> parseInputKind(llvm::StringRef name);
/// One line that says what the kind is for.
llvm::StringRef describe(InputKind kind);

struct AttentionInputs {
  HostTensor query, key, value;
};

/// Generates inputs in float format `element`. The same seed gives the same
/// bits on every platform, and the same attention in either layout.
AttentionInputs generateInputs(const AttentionProblem &problem, InputKind kind,
                               Element element, uint64_t seed);

/// One row of attention's result.
struct RowIndex {
  int64_t batch, head, query;
};

/// All rows if there are at most `limit`, else about `limit` of them, the same
/// number from each head, evenly spaced from the first to the last.
std::vector<RowIndex> sampleRows(const AttentionProblem &problem,
                                 int64_t limit);

struct ReferenceRows {
  /// Row r's result is values[r * valueDim ...].
  std::vector<double> values;
  std::vector<double> logSumExp;
};

/// Exact attention of `rows` in FP64. `mask`, or null, has the dimensions
/// [batch, heads, queries, keys], each full or 1.
ReferenceRows computeReference(const AttentionProblem &problem,
                               const HostTensor &query, const HostTensor &key,
                               const HostTensor &value, const HostTensor *mask,
                               llvm::ArrayRef<RowIndex> rows);

/// How far a result is from the reference.
struct ErrorSummary {
  /// ||result - reference|| / ||reference|| over the rows; 0 / 0 is 0.
  double relativeL2 = 0.0;
  double largestDifference = 0.0;
  /// Elements that are NaN or infinite in one and not in the other; they take
  /// no part in the other figures.
  int64_t nonFiniteMismatches = 0;
};

ErrorSummary compareRows(const AttentionProblem &problem,
                         const HostTensor &result,
                         const ReferenceRows &reference,
                         llvm::ArrayRef<RowIndex> rows);

/// Largest absolute difference of a [batch, heads, queries] log-sum-exp;
/// infinite if one is infinite where the other is not.
double compareLogSumExp(const AttentionProblem &problem,
                        const HostTensor &result,
                        const ReferenceRows &reference,
                        llvm::ArrayRef<RowIndex> rows);

} // namespace vcattn

#endif // VCATTN_SUPPORT_ATTENTIONPROBLEM_H
