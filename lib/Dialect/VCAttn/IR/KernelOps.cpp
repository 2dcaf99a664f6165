//===- KernelOps.cpp - Verifiers of the kernel ops ------------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes that have to fit together, and that a stage is filled by as many
// bytes as it has.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttn.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Target/Schedules.h"

using namespace mlir;
using namespace vcattn;

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// Shared memory is laid out once, so it is named where a kernel starts.
static LogicalResult verifyAtTop(Operation *op) {
  if (!isa<FunctionOpInterface>(op->getParentOp()))
    return op->emitOpError("must stand at the top of the kernel");
  return success();
}

LogicalResult SharedTileOp::verify() { return verifyAtTop(*this); }
LogicalResult CreatePipelineOp::verify() { return verifyAtTop(*this); }

LogicalResult WarpSpecializeOp::verify() {
  Block &consumer = getConsumer().front();
  if (!getProducer().front().getArguments().empty())
    return emitOpError("producer takes no argument");
  if (consumer.getNumArguments() != 1 ||
      !consumer.getArgument(0).getType().isInteger(32))
    return emitOpError("consumer takes its number, an i32");
  // The range and step that the register budgets have (PTX ISA, setmaxnreg).
  for (int64_t registers : {getProducerRegisters(), getConsumerRegisters()})
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitOpError("registers per thread must be a multiple of 8 in "
                         "[24, 256], got ")
             << registers;
  return success();
}

//===----------------------------------------------------------------------===//
// Moving tiles
//===----------------------------------------------------------------------===//

LogicalResult WaitTileOp::verify() {
  TileType tile = getPipeline().getType().getTile();
  if (tile != getTile().getType())
    return emitOpError("gives ")
           << getTile().getType() << ", the pipeline has " << tile;
  return success();
}

LogicalResult LoadTileOp::verify() {
  if (getCoordinates().empty() || getCoordinates().size() > 5)
    return emitOpError("a tensor map has 1 to 5 coordinates, got ")
           << getCoordinates().size();
  TileType tile = getPipeline().getType().getTile();
  int64_t rows = tile.getShape()[0];
  if (rows % tile.getCopyRows() != 0)
    return emitOpError("cannot cut ")
           << rows << " rows into copies of whole groups of 8 rows";
  if (rows > tile.getCopyRows() && getCoordinates().size() < 2)
    return emitOpError("a tile of ")
           << rows << " rows needs a coordinate for rows";
  return success();
}

LogicalResult LoadBytesOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  if (static_cast<int64_t>(getIndices().size()) != source.getRank())
    return emitOpError("takes ")
           << source.getRank() << " indices, got " << getIndices().size();
  TileType tile = getPipeline().getType().getTile();
  if (source.getElementType() != tile.getElementType())
    return emitOpError("copies ") << source.getElementType() << " to a tile of "
                                  << tile.getElementType();
  return success();
}

LogicalResult TileRowsOp::verify() {
  TileType tile = getTile().getType(), result = getResult().getType();
  if (tile.getElementType() != result.getElementType() ||
      tile.getShape()[1] != result.getShape()[1])
    return emitOpError("keeps columns and element type");
  if (tile.getShape()[0] % result.getShape()[0] != 0 ||
      result.getShape()[0] % 8 != 0)
    return emitOpError("rows of the result must be a multiple of 8 that "
                       "divides ")
           << tile.getShape()[0] << ", got " << result.getShape()[0];
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult MmaScoresOp::verify() {
  TileType queries = getQueries().getType(), keys = getKeys().getType();
  FragmentType result = getResult().getType().getFragment();
  Type element = queries.getElementType();
  if (element != keys.getElementType() ||
      queries.getShape()[1] != keys.getShape()[1])
    return emitOpError("queries and keys must have one element type and head "
                       "dimension, got ")
           << queries << " and " << keys;
  if (!element.isInteger(8) && !isa<Float8E4M3FNType>(element))
    return emitOpError("codes must be i8 or f8E4M3FN, got ") << element;
  Type scores = element.isInteger(8) ? Type(IntegerType::get(getContext(), 32))
                                     : Type(Float32Type::get(getContext()));
  auto wanted = FragmentType::get(getContext(),
                                  {queries.getShape()[0], keys.getShape()[0]},
                                  scores, FragmentRole::Scores);
  if (result != wanted)
    return emitOpError("gives ") << wanted << ", not " << result;
  return success();
}

/// The fragment that an accumulator operand is or will be.
static FragmentType getFragment(Value value) {
  if (auto flight = dyn_cast<InFlightType>(value.getType()))
    return flight.getFragment();
  return cast<FragmentType>(value.getType());
}

/// A product onto an accumulator: it stays what it is.
static LogicalResult verifyAccumulation(Operation *op, Value accumulator,
                                        InFlightType result) {
  FragmentType type = getFragment(accumulator);
  if (type.getRole() != FragmentRole::Accumulator)
    return op->emitOpError("accumulates onto a fragment of accumulator, got ")
           << type;
  if (result.getFragment() != type)
    return op->emitOpError("gives ")
           << type << ", not " << result.getFragment();
  return success();
}

LogicalResult MmaValuesOp::verify() {
  if (failed(
          verifyAccumulation(*this, getAccumulator(), getResult().getType())))
    return failure();
  FragmentType accumulator = getFragment(getAccumulator());
  FragmentType probabilities = getProbabilities().getType();
  TileType values = getValues().getType();
  if (!isa<Float8E4M3FNType>(values.getElementType()) ||
      values.getShape()[0] != accumulator.getColumns() ||
      values.getShape()[1] != probabilities.getColumns() ||
      accumulator.getRows() != probabilities.getRows())
    return emitOpError("cannot multiply ")
           << probabilities << " by " << values << " onto " << accumulator;
  return success();
}

LogicalResult MmaMeansOp::verify() {
  if (failed(
          verifyAccumulation(*this, getAccumulator(), getResult().getType())))
    return failure();
  FragmentType accumulator = getFragment(getAccumulator());
  FragmentType sums = getRowSums().getType();
  TileType means = getMeans().getType();
  if (!means.getElementType().isF16() ||
      means.getShape()[0] + kRowSumColumns != accumulator.getColumns() ||
      means.getShape()[1] != kMeanBlocks ||
      sums.getRows() != accumulator.getRows())
    return emitOpError("cannot multiply ")
           << sums << " by " << means << " onto " << accumulator;
  return success();
}

LogicalResult MmaWaitOp::verify() {
  if (getValue().getType().getFragment() != getResult().getType())
    return emitOpError("settles ") << getValue().getType().getFragment()
                                   << ", not " << getResult().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax and accumulation
//===----------------------------------------------------------------------===//

LogicalResult LoadMaskOp::verify() {
  bool isFloat =
      isa<FloatType>(cast<MemRefType>(getMask().getType()).getElementType());
  if (isFloat != static_cast<bool>(getAdded()))
    return emitOpError("of ")
           << getMask().getType()
           << (isFloat ? " adds something" : " adds nothing");
  if (getAdded() &&
      getAdded().getType().getShape() != getKeep().getType().getShape())
    return emitOpError("adds to as many scores as it keeps");
  return success();
}

LogicalResult CastScoresOp::verify() {
  FragmentType scores = getScores().getType();
  Type element = IntegerType::get(getContext(), 16);
  auto wanted = FragmentType::get(getContext(), scores.getShape(), element,
                                  FragmentRole::Levels);
  if (getLevels().getType() != wanted)
    return emitOpError("gives ") << wanted << ", not " << getLevels().getType();
  return success();
}

LogicalResult PackProbabilitiesOp::verify() {
  if (getLevels().getType().getShape() != getResult().getType().getShape())
    return emitOpError("gives as many probabilities as levels");
  return success();
}

LogicalResult ClearTotalOp::verify() {
  auto tile = dyn_cast<TileType>(getTotal().getType());
  if (tile && (!tile.getElementType().isF32() ||
               tile.getShape()[1] != static_cast<int64_t>(getColumns())))
    return emitOpError("clears tiles of f32 with ")
           << getColumns() << " columns, got " << tile;
  return success();
}

LogicalResult NormalizeAndStoreOp::verify() {
  int64_t columns = getAccumulator().getType().getColumns() - kRowSumColumns;
  int64_t dim = cast<MemRefType>(getOut().getType()).getDimSize(kChannelDim);
  if (ShapedType::isDynamic(dim))
    return emitOpError("out needs a static number of channels");
  if (getValueChannels(dim) != columns)
    return emitOpError("accumulator has ")
           << columns << " channels, out has " << dim;
  return success();
}
