//===- ConvertVCAttnToGPU.cpp - Packed attention as a kernel launch -------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/VCAttnShapes.h"
#include "vcattn/Target/Schedules.h"
#include "vcattn/Target/TargetInfo.h"

namespace vcattn {
#define GEN_PASS_DEF_CONVERTVCATTNTOGPU
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;
using namespace vcattn;

/// Dimension of packed values in which a tile's rows lie.
static constexpr unsigned kValueRowsDim = 3;

static MemRefType typeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

/// Reports what the kernel cannot take.
static LogicalResult checkSupport(PackedAttentionOp op) {
  for (Value operand : op->getOperands())
    if (!isa<MemRefType>(operand.getType()))
      return op.emitOpError("must be bufferized before it becomes a kernel");
  const TargetInfo *target = lookupTarget(op.getTarget().getChip());
  if (target->matrixUnit != MatrixUnit::Wgmma)
    return op.emitOpError("has no kernel for ") << target->chip;
  ScheduleAttr schedule = op.getSchedule();
  if (schedule.getTileQ() != 64 * schedule.getConsumers())
    return op.emitOpError("has a kernel for tiles of 64 queries per consumer, "
                          "not ")
           << schedule.getTileQ() << " for " << schedule.getConsumers()
           << " consumers";
  if (op.getBlockMask() && schedule.getTileQ() != kBlockTokens)
    return op.emitOpError("has a block mask, of tiles of 128 queries, and a "
                          "schedule with tiles of ")
           << schedule.getTileQ();
  double scale = op.getScale().convertToDouble();
  if (!(scale >= 0) || std::isinf(scale))
    return op.emitOpError("needs a scale that is finite and not negative");
  for (Value out : op.getOuts())
    if (op.getSplitKeys() != 0 && !typeOf(out).getLayout().isIdentity())
      return op.emitOpError("needs the outputs of shards of keys to be "
                            "contiguous, got ")
             << out.getType();
  // One copy takes a group of means, whose four inner dimensions are one piece.
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(typeOf(op.getMeans()).getStridesAndOffset(strides, offset)) ||
      ArrayRef(strides).take_back(4) != ArrayRef<int64_t>{128, 64, 8, 1})
    return op.emitOpError("needs groups of means to be contiguous, got ")
           << op.getMeans().getType();
  if (failed(typeOf(op.getKeyScale()).getStridesAndOffset(strides, offset)) ||
      ArrayRef(strides).take_back(2) != ArrayRef<int64_t>{kKeyScaleGroups, 1})
    return op.emitOpError("needs a head's key scales to be contiguous, got ")
           << op.getKeyScale().getType();
  return success();
}

/// Shards of keys and batch, the two dimensions which the kernel takes as one.
static SmallVector<ReassociationIndices> getOutputDims(MemRefType type) {
  SmallVector<ReassociationIndices> dims = {{0, 1}};
  for (int64_t i = 2; i < type.getRank(); ++i)
    dims.push_back({i});
  return dims;
}

/// `type`, of an output, as the kernel sees it.
static MemRefType getOutputType(PackedAttentionOp op, MemRefType type) {
  if (op.getSplitKeys() == 0)
    return type;
  return memref::CollapseShapeOp::computeCollapsedType(type,
                                                       getOutputDims(type));
}

/// The type with all sizes dynamic, by which one kernel serves all shapes. An
/// identity layout stays one; of another, as many innermost strides stay known.
static MemRefType getKernelType(MemRefType type, ArrayRef<int64_t> innerSizes,
                                size_t innerStrides = 1) {
  SmallVector<int64_t> shape(type.getRank() - innerSizes.size(),
                             ShapedType::kDynamic);
  llvm::append_range(shape, innerSizes);
  if (type.getLayout().isIdentity())
    return MemRefType::get(shape, type.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  for (int64_t &stride :
       MutableArrayRef<int64_t>(strides).drop_back(innerStrides))
    stride = ShapedType::kDynamic;
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(shape, type.getElementType(), layout);
}

/// The type in which a kernel gets a mask: any strides, 0 where it broadcasts.
static MemRefType getMaskType(Value mask) {
  if (!mask)
    return {};
  MLIRContext *context = mask.getContext();
  SmallVector<int64_t> dynamic(4, ShapedType::kDynamic);
  return MemRefType::get(
      dynamic, typeOf(mask).getElementType(),
      StridedLayoutAttr::get(context, ShapedType::kDynamic, dynamic));
}

static KeyLimits getLimits(PackedAttentionOp op) {
  KeyLimits limits;
  if (std::optional<WindowAttr> window = op.getWindow()) {
    limits.left = window->getLeft();
    limits.right = window->getRight();
  }
  if (op.getCausal() != Causality::None)
    limits.right = 0;
  limits.bottomRight = op.getCausal() == Causality::BottomRight;
  limits.mask = getMaskType(op.getMask());
  limits.blocks = getMaskType(op.getBlockMask());
  if (op.getLengths())
    limits.lengths = getKernelType(typeOf(op.getLengths()), {});
  return limits;
}

static KernelConfig getConfig(PackedAttentionOp op) {
  KernelConfig config;
  config.code = typeOf(op.getQuery()).getElementType();
  config.hasLse = op.getLseOut() != nullptr;
  config.hasTotals = op.getTotalsOut() != nullptr;
  config.cast = op.getCast();
  config.layout = op.getLayout();
  config.headDim = typeOf(op.getQuery()).getDimSize(kChannelDim);
  config.valueDim = typeOf(op.getOuts()[0]).getShape().back();
  config.schedule = op.getSchedule();
  config.splitKeys = op.getSplitKeys();
  config.limits = getLimits(op);
  config.sharedMemory =
      getSharedMemoryBytes(*lookupTarget(op.getTarget().getChip()),
                           config.schedule, config.headDim, config.valueDim);
  auto addType = [&](MemRefType type, ArrayRef<int64_t> innerSizes,
                     size_t innerStrides = 1) {
    config.buffers.push_back(getKernelType(type, innerSizes, innerStrides));
  };
  auto add = [&](Value buffer, ArrayRef<int64_t> innerSizes,
                 size_t innerStrides = 1) {
    addType(typeOf(buffer), innerSizes, innerStrides);
  };
  add(op.getQueryScale(), {});
  add(op.getKeyScale(), {kKeyScaleGroups}, /*innerStrides=*/2);
  add(op.getValueScale(), {config.valueDim});
  add(op.getMeans(), typeOf(op.getMeans()).getShape().take_back(4),
      /*innerStrides=*/4);
  addType(getOutputType(op, typeOf(op.getOuts()[0])), {config.valueDim});
  if (config.hasLse)
    addType(getOutputType(op, typeOf(op.getLseOut())), {});
  if (config.hasTotals)
    add(op.getTotalsOut(), {});
  return config;
}

namespace {
/// The kernels of one module.
class KernelCache {
public:
  explicit KernelCache(ModuleOp module) : module(module), symbols(module) {}

  /// The kernel for `config`, built on first need.
  gpu::GPUFuncOp get(Location loc, const KernelConfig &config);
  unsigned size() const { return kernels.size(); }

private:
  ModuleOp module;
  SymbolTable symbols;
  SmallVector<std::pair<KernelConfig, gpu::GPUFuncOp>> kernels;
};
} // namespace

gpu::GPUFuncOp KernelCache::get(Location loc, const KernelConfig &config) {
  for (auto &[known, kernel] : kernels)
    if (known == config)
      return kernel;
  ImplicitLocOpBuilder b(loc, module.getContext());
  StringRef scores = config.code.isInteger(8) ? "i8" : "e4m3";
  auto container =
      gpu::GPUModuleOp::create(b, ("vcattn_attention_" + scores).str());
  symbols.insert(container, module.getBody()->end());
  b.setInsertionPointToStart(container.getBody());
  gpu::GPUFuncOp kernel =
      buildAttentionKernel(b, ("attention_" + scores).str(), config);
  kernels.emplace_back(config, kernel);
  return kernel;
}

/// `mask` with the given sizes, of which it has 1 where it broadcasts.
static Value broadcast(ImplicitLocOpBuilder &b, Value mask,
                       ArrayRef<Value> sizes, MemRefType type) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, mask);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<OpFoldResult> strides;
  for (auto [i, stride] : llvm::enumerate(metadata.getStrides())) {
    Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        memref::DimOp::create(b, mask, i), one);
    strides.push_back(
        arith::SelectOp::create(b, isOne, zero, stride).getResult());
  }
  return memref::ReinterpretCastOp::create(b, type, metadata.getBaseBuffer(),
                                           OpFoldResult(metadata.getOffset()),
                                           getAsOpFoldResult(sizes), strides);
}

/// Launches the kernel on `op`'s operands.
static void launch(ImplicitLocOpBuilder &b, PackedAttentionOp op,
                   const KernelConfig &config, gpu::GPUFuncOp kernel) {
  ScheduleAttr schedule = op.getSchedule();
  SmallVector<Value> arguments;
  // A box is what one copy to a tile of `rows` and `columns` brings.
  auto addMap = [&](Value buffer, int64_t rowsDim, int64_t rows,
                    int64_t columns) {
    MemRefType type = typeOf(buffer);
    auto tile =
        TileType::get(b.getContext(), {rows, columns}, type.getElementType());
    SmallVector<int64_t> box(type.getRank(), 1);
    box[rowsDim] = tile.getCopyRows();
    box.back() = tile.getPanelColumns();
    arguments.push_back(EncodeTensorMapOp::create(
        b, b.getType<TensorMapType>(), buffer, b.getDenseI64ArrayAttr(box)));
  };
  int64_t keyColumns = getKeyColumns(config.headDim);
  addMap(op.getQuery(), getTokensDim(op.getLayout()),
         schedule.getTileQ() / schedule.getConsumers(), keyColumns);
  addMap(op.getKey(), getTokensDim(op.getLayout()), schedule.getTileK(),
         keyColumns);
  addMap(op.getValue(), kValueRowsDim, getValueRows(config.valueDim),
         schedule.getTileK());
  SmallVector<Value> buffers = {op.getQueryScale(), op.getKeyScale(),
                                op.getValueScale(), op.getMeans()};
  for (Value out : op.getOuts())
    buffers.push_back(op.getSplitKeys() == 0 || out == op.getTotalsOut()
                          ? out
                          : memref::CollapseShapeOp::create(
                                b, out, getOutputDims(typeOf(out))));
  for (auto [buffer, type] : llvm::zip_equal(buffers, config.buffers))
    arguments.push_back(memref::CastOp::create(b, type, buffer));

  auto dim = [&](Value buffer, int64_t i) -> Value {
    return memref::DimOp::create(b, buffer, i);
  };
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value batches = dim(op.getQueryScale(), 0),
        heads = dim(op.getQueryScale(), 1);
  Value queries = dim(op.getQueryScale(), 2);
  Value keys = dim(op.getKey(), getTokensDim(op.getLayout()));
  const KeyLimits &limits = config.limits;
  if (limits.mask)
    arguments.push_back(broadcast(
        b, op.getMask(), {batches, heads, queries, keys}, limits.mask));
  if (limits.lengths)
    arguments.push_back(
        memref::CastOp::create(b, limits.lengths, op.getLengths()));
  if (limits.blocks)
    arguments.push_back(broadcast(
        b, op.getBlockMask(),
        {batches, heads, dim(op.getBlockMask(), 2), dim(op.getBlockMask(), 3)},
        limits.blocks));
  arguments.push_back(keys);
  // Scores come out in code units, 8 per octave, as f16 subnormals' values.
  double factor =
      op.getScale().convertToDouble() * llvm::numbers::log2e * 8 * 0x1p-24;
  arguments.push_back(arith::ConstantOp::create(
      b, b.getF32FloatAttr(static_cast<float>(factor))));

  // A block per tile of queries and head, up to one per multiprocessor.
  Value tileQ = index(schedule.getTileQ());
  Value tiles = arith::CeilDivUIOp::create(b, queries, tileQ);
  Value work = arith::MulIOp::create(
      b, arith::MulIOp::create(b, dim(buffers[4], kBatchDim), heads), tiles);
  const TargetInfo *target = lookupTarget(op.getTarget().getChip());
  Value blocks =
      arith::MinUIOp::create(b, work, index(target->multiprocessors));
  Value one = index(1);
  Value shared =
      arith::ConstantOp::create(b, b.getI32IntegerAttr(config.sharedMemory));
  gpu::LaunchFuncOp::create(
      b, kernel, gpu::KernelDim3{blocks, one, one},
      gpu::KernelDim3{index(getBlockThreads(schedule)), one, one}, shared,
      arguments);
}

/// What attention to no key gives: zeros, and -inf as log-sum-exp.
static void fillEmpty(ImplicitLocOpBuilder &b, PackedAttentionOp op) {
  for (Value out : op.getOuts()) {
    if (out == op.getTotalsOut())
      continue;
    auto type = typeOf(out);
    auto element = cast<FloatType>(type.getElementType());
    APFloat value =
        out == op.getOuts()[0]
            ? APFloat::getZero(element.getFloatSemantics())
            : APFloat::getInf(element.getFloatSemantics(), /*Negative=*/true);
    SmallVector<OpFoldResult> bounds =
        memref::getMixedSizes(b, b.getLoc(), out);
    scf::ForallOp::create(
        b, bounds, ValueRange(), std::nullopt,
        [&](OpBuilder &nested, Location loc, ValueRange indices) {
          Value x = arith::ConstantOp::create(nested, loc,
                                              FloatAttr::get(element, value));
          memref::StoreOp::create(nested, loc, x, out, indices);
          scf::InParallelOp::create(nested, loc);
        });
  }
}

namespace {
struct ConvertVCAttnToGPU
    : vcattn::impl::ConvertVCAttnToGPUBase<ConvertVCAttnToGPU> {
  void runOnOperation() override {
    SmallVector<PackedAttentionOp> ops;
    getOperation().walk([&](PackedAttentionOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    for (PackedAttentionOp op : ops)
      if (failed(checkSupport(op)))
        return signalPassFailure();
    KernelCache cache(getOperation());
    for (PackedAttentionOp op : ops)
      convert(op, cache);
    numKernels += cache.size();
    getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                            UnitAttr::get(&getContext()));
  }

  void convert(PackedAttentionOp op, KernelCache &cache) {
    KernelConfig config = getConfig(op);
    gpu::GPUFuncOp kernel = cache.get(op.getLoc(), config);
    ImplicitLocOpBuilder b(op.getLoc(), op);
    ++numLaunches;

    // No tensor map has a dimension of 0, and without keys no kernel is needed.
    Value isEmpty = getSizeIsZero(b, op.getKey());
    if (!isEmpty) {
      launch(b, op, config, kernel);
    } else {
      auto either = scf::IfOp::create(b, isEmpty, /*withElseRegion=*/true);
      b.setInsertionPointToStart(&either.getThenRegion().front());
      fillEmpty(b, op);
      b.setInsertionPointToStart(&either.getElseRegion().front());
      if (Value noQueries = getSizeIsZero(b, op.getQuery())) {
        Value some = arith::XOrIOp::create(
            b, noQueries, arith::ConstantOp::create(b, b.getBoolAttr(true)));
        auto guarded = scf::IfOp::create(b, some, /*withElseRegion=*/false);
        b.setInsertionPointToStart(&guarded.getThenRegion().front());
        launch(b, op, config, kernel);
      } else {
        launch(b, op, config, kernel);
      }
    }
    op.erase();
  }

  /// Whether a buffer has no element; null if its type shows that it has some.
  static Value getSizeIsZero(ImplicitLocOpBuilder &b, Value buffer) {
    MemRefType type = typeOf(buffer);
    Value result, zero;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i) && type.getDimSize(i) != 0)
        continue;
      if (!zero)
        zero = arith::ConstantIndexOp::create(b, 0);
      Value isZero =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                memref::DimOp::create(b, buffer, i), zero);
      result =
          result ? arith::OrIOp::create(b, result, isZero).getResult() : isZero;
    }
    return result;
  }
};
} // namespace
