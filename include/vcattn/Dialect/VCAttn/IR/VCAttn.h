//===- VCAttn.h - The vcattn dialect ----------------------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the dialect, its attributes, types and ops.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DIALECT_VCATTN_IR_VCATTN_H
#define VCATTN_DIALECT_VCATTN_IR_VCATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "vcattn/Dialect/VCAttn/IR/VCAttnDialect.h.inc"
#include "vcattn/Dialect/VCAttn/IR/VCAttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "vcattn/Dialect/VCAttn/IR/VCAttnAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "vcattn/Dialect/VCAttn/IR/VCAttnTypes.h.inc"

#define GET_OP_CLASSES
#include "vcattn/Dialect/VCAttn/IR/VCAttnOps.h.inc"

#endif // VCATTN_DIALECT_VCATTN_IR_VCATTN_H
