//===- KernelTypes.cpp - Tiles, pipelines, fragments ----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Syntax and constraints of the types at level 3.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace vcattn;

/// Parses `128x128xi8`.
static ParseResult parseShaped(AsmParser &parser,
                               SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(element));
}

static void printShaped(AsmPrinter &printer, ArrayRef<int64_t> shape,
                        Type element) {
  printer.printDimensionList(shape);
  printer << "x" << element;
}

//===----------------------------------------------------------------------===//
// Tiles and pipelines
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parseShaped(parser, shape, element) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(parser.getContext(), ArrayRef(shape),
                                     element);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  printShaped(printer, getShape(), getElementType());
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type element) {
  if (shape.size() != 2 || shape[0] <= 0 || shape[1] <= 0)
    return emitError() << "a tile has rows and columns";
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "a tile's elements are whole bytes, got " << element;
  return success();
}

int64_t TileType::getPanelColumns() const {
  int64_t columns = getShape()[1];
  if (getElementType().getIntOrFloatBitWidth() != 8)
    return columns;
  // What the swizzles span (PTX ISA, swizzling modes).
  constexpr int64_t kNarrow = 32, kMiddle = 64, kWide = 128;
  if (columns <= kNarrow)
    return kNarrow;
  return llvm::alignTo(columns, kMiddle) % kWide == 0 ? kWide : kMiddle;
}

int64_t TileType::getPanels() const {
  return llvm::divideCeil(getShape()[1], getPanelColumns());
}

int64_t TileType::getPanelBytes() const {
  return getShape()[0] * getPanelColumns() *
         getElementType().getIntOrFloatBitWidth() / 8;
}

int64_t TileType::getBytes() const { return getPanels() * getPanelBytes(); }

int64_t TileType::getCopyRows() const {
  constexpr int64_t kMost = 256, kGroup = 8;
  int64_t rows = getShape()[0];
  if (rows <= kMost)
    return rows;
  int64_t most = kMost;
  while (most > kGroup && rows % most != 0)
    most -= kGroup;
  return most;
}

LogicalResult PipelineType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t stages, TileType) {
  if (stages < 1)
    return emitError() << "a pipeline has at least 1 stage, got " << stages;
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  StringRef keyword;
  SMLoc loc;
  if (parser.parseLess() || parseShaped(parser, shape, element) ||
      parser.parseComma() || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&keyword))
    return {};
  std::optional<FragmentRole> role = symbolizeFragmentRole(keyword);
  if (!role) {
    parser.emitError(loc, "unknown fragment role '") << keyword << "'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(parser.getContext(), ArrayRef(shape),
                                         element, *role);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << "<";
  printShaped(printer, getShape(), getElementType());
  printer << ", " << stringifyFragmentRole(getRole()) << ">";
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type element,
                                   FragmentRole role) {
  StringRef name = stringifyFragmentRole(role);
  bool isOfRows = role == FragmentRole::Rows || role == FragmentRole::Maxima;
  size_t rank = isOfRows ? 1 : 2;
  if (shape.size() != rank)
    return emitError() << "a fragment of " << name << " has rank " << rank
                       << ", got " << shape.size();
  auto wants = [&](bool holds, StringRef what) -> LogicalResult {
    if (holds)
      return success();
    return emitError() << "a fragment of " << name << " holds " << what
                       << ", got " << element;
  };
  switch (role) {
  case FragmentRole::Scores:
    return wants(element.isInteger(32) || element.isF32(), "i32 or f32");
  case FragmentRole::Levels:
    return wants(element.isInteger(16), "i16");
  case FragmentRole::Probabilities:
    return wants(isa<Float8E4M3FNType>(element), "f8E4M3FN");
  case FragmentRole::RowSums:
    return wants(element.isF16(), "f16");
  case FragmentRole::Keep:
    return wants(element.isInteger(1), "i1");
  case FragmentRole::Multipliers:
  case FragmentRole::Accumulator:
  case FragmentRole::Rows:
  case FragmentRole::Added:
  case FragmentRole::Maxima:
    return wants(element.isF32(), "f32");
  }
  llvm_unreachable("all roles are handled");
}
