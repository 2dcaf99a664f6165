//===- TargetInfo.h - What each target has ----------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table behind #vcattn.target: resources and matrix formats per chip, from
// the CUDA programming guide (compute capabilities) and the PTX ISA.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TARGET_TARGETINFO_H
#define VCATTN_TARGET_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace vcattn {

/// How a target multiplies tiles.
enum class MatrixUnit { Wgmma, Tcgen05, MmaSync };

struct TargetInfo {
  llvm::StringRef chip;
  MatrixUnit matrixUnit;
  /// Multiprocessors of its largest card: the blocks of a persistent kernel.
  int64_t multiprocessors;
  /// Bytes of shared memory that one block may use.
  int64_t sharedMemoryPerBlock;
  /// 32-bit registers of one multiprocessor, and the most one thread may have.
  int64_t registersPerMultiprocessor;
  int64_t maxRegistersPerThread;
  /// Columns of tensor memory; 0 without.
  int64_t tensorMemoryColumns;
  /// Whether 8-bit integer scores have a matrix instruction.
  bool hasIntegerScores;
};

/// The row of `chip`, or null if the project does not know it.
const TargetInfo *lookupTarget(llvm::StringRef chip);

/// All rows, for messages and help.
llvm::ArrayRef<TargetInfo> getTargets();

} // namespace vcattn

#endif // VCATTN_TARGET_TARGETINFO_H
