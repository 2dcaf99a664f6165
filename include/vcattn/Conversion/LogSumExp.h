//===- LogSumExp.h - What 8-bit probabilities do to it ----------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Denominators sum decoded codes. Their mean ratio to the exponentials that
// they stand for is not 1, and its logarithm leaves the log-sum-exp
// (docs/Numerics.md derives both numbers).
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_LOGSUMEXP_H
#define VCATTN_CONVERSION_LOGSUMEXP_H

#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"

namespace vcattn {

/// What is subtracted from maximum / 8 + log2(denominator), in octaves: the 8
/// by which probabilities are scaled, and the bias of their codes.
inline double getLseOffset(SoftmaxCast cast) {
  switch (cast) {
  case SoftmaxCast::Exact:
  case SoftmaxCast::Hybrid: // its codes of ExpCast are moved to the same bias
    return 8 - 0.0010132051;
  case SoftmaxCast::ExpCast:
    return 8 + 0.0133315064;
  }
  llvm_unreachable("all casts are handled");
}

} // namespace vcattn

#endif // VCATTN_CONVERSION_LOGSUMEXP_H
