//===- BufferizableOpInterfaceImpl.h - Bufferization ------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DIALECT_VCATTN_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define VCATTN_DIALECT_VCATTN_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
}

namespace vcattn {

/// Lets one-shot-bufferize rewrite the dialect's ops that live on buffers.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace vcattn

#endif // VCATTN_DIALECT_VCATTN_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
