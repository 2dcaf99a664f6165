//===- VCAttnDialect.cpp - The dialect, its attributes and types ----------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Target/Schedules.h"
#include "vcattn/Target/TargetInfo.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace vcattn;

#include "vcattn/Dialect/VCAttn/IR/VCAttnDialect.cpp.inc"
#include "vcattn/Dialect/VCAttn/IR/VCAttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "vcattn/Dialect/VCAttn/IR/VCAttnAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "vcattn/Dialect/VCAttn/IR/VCAttnTypes.cpp.inc"

#define GET_OP_CLASSES
#include "vcattn/Dialect/VCAttn/IR/VCAttnOps.cpp.inc"

void VCAttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "vcattn/Dialect/VCAttn/IR/VCAttnAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "vcattn/Dialect/VCAttn/IR/VCAttnTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "vcattn/Dialect/VCAttn/IR/VCAttnOps.cpp.inc"
      >();
}

LogicalResult
VCAttnDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  if (attribute.getName() == kEntryAttrName &&
      (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attribute.getValue())))
    return op->emitOpError("'")
           << kEntryAttrName << "' must be a unit attribute of a function";
  return success();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef chip) {
  if (lookupTarget(chip))
    return success();
  InFlightDiagnostic diag = emitError() << "unknown target '" << chip
                                        << "', expected one of ";
  llvm::interleaveComma(getTargets(), diag,
                        [&](const TargetInfo &info) { diag << info.chip; });
  return diag;
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t left, int64_t right) {
  // Positions are 32-bit numbers in kernels.
  for (int64_t bound : {left, right})
    if (bound < -1 || bound > std::numeric_limits<int32_t>::max())
      return emitError()
             << "a window's bound is -1, for none, or in [0, 2^31), "
                "got "
             << bound;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t tileQ, int64_t tileK, int64_t stages,
                                   int64_t consumers, int64_t producerRegisters,
                                   int64_t consumerRegisters, bool pingPong,
                                   int64_t promotion) {
  // Maxima are checked by tiles, so that results depend on their size.
  if (tileK != kTileKeys)
    return emitError() << "tile_k must be " << kTileKeys << ", got " << tileK;
  if (consumers < 1 || tileQ <= 0 || tileQ % consumers != 0)
    return emitError() << "tile_q (" << tileQ
                       << ") must be a positive multiple of consumers ("
                       << consumers << ")";
  if (stages < 2)
    return emitError() << "stages must be at least 2, got " << stages;
  for (int64_t registers : {producerRegisters, consumerRegisters})
    // The range and step that setmaxnreg takes (PTX ISA, setmaxnreg).
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitError() << "registers per thread must be a multiple of 8 in "
                            "[24, 256], got "
                         << registers;
  if (pingPong && consumers != 2)
    return emitError() << "ping_pong needs 2 consumers, got " << consumers;
  if (promotion <= 0 || promotion % kGroupTiles != 0)
    return emitError() << "promotion must be a positive multiple of "
                       << kGroupTiles << ", got " << promotion;
  return success();
}
