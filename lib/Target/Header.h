//===- Header.h - The C header of an artefact -------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_LIB_TARGET_HEADER_H
#define VCATTN_LIB_TARGET_HEADER_H

#include "vcattn/Target/Compile.h"

namespace vcattn {

/// The header of an object or library with `functions` for `target`.
std::string emitHeader(llvm::ArrayRef<FunctionInfo> functions,
                       llvm::StringRef target);

/// True if `name` can be declared in C.
bool isCIdentifier(llvm::StringRef name);

} // namespace vcattn

#endif // VCATTN_LIB_TARGET_HEADER_H
