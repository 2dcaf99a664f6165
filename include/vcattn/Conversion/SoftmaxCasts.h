//===- SoftmaxCasts.h - What the casts differ in ----------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers of docs/Numerics.md, "Quantized attention", step 3, that CPU and GPU
// share: which keys of a tile are cast how, and against which top code.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_SOFTMAXCASTS_H
#define VCATTN_CONVERSION_SOFTMAXCASTS_H

#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"

namespace vcattn {

/// How many keys of a tile, from its first on, get the code that is nearest to
/// their exponential; the others' codes come from one multiply-add.
inline int64_t getExactKeys(SoftmaxCast cast) {
  switch (cast) {
  case SoftmaxCast::Exact:
    return kTileKeys;
  case SoftmaxCast::Hybrid:
    return kExactCastGroups * kCastGroupKeys;
  case SoftmaxCast::ExpCast:
    return 0;
  }
  llvm_unreachable("all casts are handled");
}

/// The code, before it is rounded, that the multiply-add gives a score equal to
/// the reference maximum.
inline float getTopCode(SoftmaxCast cast) {
  switch (cast) {
  case SoftmaxCast::ExpCast:
    return 119.65f;
  case SoftmaxCast::Hybrid: // beside exact codes, the mean must be theirs
    return 119.535f;
  case SoftmaxCast::Exact:
    break;
  }
  llvm_unreachable("the exact cast has no multiply-add");
}

} // namespace vcattn

#endif // VCATTN_CONVERSION_SOFTMAXCASTS_H
