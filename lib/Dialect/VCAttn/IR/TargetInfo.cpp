//===- TargetInfo.cpp - What each target has ------------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"

using namespace vcattn;

static constexpr TargetInfo kTargets[] = {
    {"sm_90a", MatrixUnit::Wgmma, 132, 227 * 1024, 65536, 255, 0, true},
    {"sm_100a", MatrixUnit::Tcgen05, 148, 227 * 1024, 65536, 255, 512, true},
    {"sm_103a", MatrixUnit::Tcgen05, 148, 227 * 1024, 65536, 255, 512, false},
    {"sm_120a", MatrixUnit::MmaSync, 188, 99 * 1024, 65536, 255, 0, true},
};

const TargetInfo *vcattn::lookupTarget(llvm::StringRef chip) {
  const auto *found = llvm::find_if(
      kTargets, [&](const TargetInfo &info) { return info.chip == chip; });
  return found == std::end(kTargets) ? nullptr : found;
}

llvm::ArrayRef<TargetInfo> vcattn::getTargets() { return kTargets; }
