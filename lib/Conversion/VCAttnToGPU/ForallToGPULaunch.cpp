//===- ForallToGPULaunch.cpp - Parallel loops to kernel launches ----------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread per iteration of each outermost scf.forall. What an iteration does
// stays sequential, so that a kernel's sums have the order that the loops
// gave them.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Transforms/RegionUtils.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Dialect/VCAttn/IR/EntryFunctions.h"

namespace vcattn {
#define GEN_PASS_DEF_VCATTNFORALLTOGPULAUNCH
#include "vcattn/Conversion/Passes.h.inc"
} // namespace vcattn

using namespace mlir;

/// Blocks that a grid may have in x.
static constexpr int64_t kMaxBlocks = (int64_t(1) << 31) - 1;
/// Threads that a block may have.
static constexpr int64_t kMaxBlockSize = 1024;

static bool isStridedCopy(memref::CopyOp copy) {
  auto isIdentity = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && type.getLayout().isIdentity();
  };
  return !isIdentity(copy.getSource()) || !isIdentity(copy.getTarget());
}

/// Turns `copy` into a parallel loop over its elements.
static FailureOr<scf::ForallOp> copyToForall(RewriterBase &rewriter,
                                             memref::CopyOp copy) {
  auto type = dyn_cast<MemRefType>(copy.getSource().getType());
  if (!type || !isa<MemRefType>(copy.getTarget().getType()))
    return copy.emitOpError("cannot copy unranked memrefs on a GPU");
  Location loc = copy.getLoc();
  rewriter.setInsertionPoint(copy);
  SmallVector<OpFoldResult> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(memref::getMixedSize(rewriter, loc, copy.getSource(), i));
  // A loop needs a dimension; a memref of rank 0 has one element.
  if (sizes.empty())
    sizes.push_back(rewriter.getIndexAttr(1));
  auto forall = scf::ForallOp::create(
      rewriter, loc, sizes, ValueRange(), std::nullopt,
      [&](OpBuilder &builder, Location loc, ValueRange ivs) {
        ValueRange indices = ivs.take_front(type.getRank());
        Value element =
            memref::LoadOp::create(builder, loc, copy.getSource(), indices);
        memref::StoreOp::create(builder, loc, element, copy.getTarget(),
                                indices);
        scf::InParallelOp::create(builder, loc);
      });
  rewriter.eraseOp(copy);
  return forall;
}

/// Turns `parallel`, as it comes from linalg, into scf.forall.
static FailureOr<scf::ForallOp> parallelToForall(RewriterBase &rewriter,
                                                 scf::ParallelOp parallel) {
  if (parallel.getNumReductions() != 0)
    return parallel.emitOpError("reduces among iterations, whose order is not "
                                "fixed; make the reduction a loop");
  rewriter.setInsertionPoint(parallel);
  auto forall = scf::ForallOp::create(
      rewriter, parallel.getLoc(), getAsOpFoldResult(parallel.getLowerBound()),
      getAsOpFoldResult(parallel.getUpperBound()),
      getAsOpFoldResult(parallel.getStep()), ValueRange(), std::nullopt);
  rewriter.eraseOp(parallel.getBody()->getTerminator());
  rewriter.inlineBlockBefore(parallel.getBody(), forall.getTerminator(),
                             forall.getInductionVars());
  rewriter.eraseOp(parallel);
  return forall;
}

/// max(0, ceil((upper - lower) / step)).
static Value tripCount(OpBuilder &builder, Location loc, OpFoldResult lower,
                       OpFoldResult upper, OpFoldResult step) {
  std::optional<int64_t> lb = getConstantIntValue(lower),
                         ub = getConstantIntValue(upper),
                         by = getConstantIntValue(step);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  if (lb && ub && by)
    return constant(*ub > *lb ? llvm::divideCeil(*ub - *lb, *by) : 0);
  Value count = getValueOrCreateConstantIndexOp(builder, loc, upper);
  if (lb != 0)
    count = arith::SubIOp::create(
        builder, loc, count,
        getValueOrCreateConstantIndexOp(builder, loc, lower));
  count = arith::MaxSIOp::create(builder, loc, count, constant(0));
  if (by == 1)
    return count;
  Value stepValue = getValueOrCreateConstantIndexOp(builder, loc, step);
  Value last = arith::SubIOp::create(builder, loc, stepValue, constant(1));
  return arith::DivUIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, count, last),
      stepValue);
}

/// What one iteration must not do, because a kernel's thread cannot.
static LogicalResult verifyBody(scf::ForallOp forall) {
  if (forall.getNumResults() != 0)
    return forall.emitOpError(
        "still works on tensors; bufferize before launching it");
  auto result = forall.getBody()->walk([](Operation *op) -> WalkResult {
    if (isa<memref::AllocOp>(op))
      return op->emitOpError("cannot allocate in a kernel's thread; allocate "
                             "outside the parallel loop or use memref.alloca");
    if (isa<memref::DeallocOp>(op))
      return op->emitOpError("cannot free in a kernel's thread");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Inside a thread, parallel loops and copies are sequential.
static LogicalResult sequentializeBody(RewriterBase &rewriter, Operation *op) {
  SmallVector<memref::CopyOp> copies;
  op->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    if (failed(copyToForall(rewriter, copy)))
      return failure();
  SmallVector<scf::ForallOp> inner;
  op->walk([&](scf::ForallOp forall) { inner.push_back(forall); });
  for (scf::ForallOp forall : inner) {
    rewriter.setInsertionPoint(forall);
    if (failed(scf::forallToForLoop(rewriter, forall)))
      return forall.emitOpError("cannot become a sequential loop");
  }
  return success();
}

/// The loop's iteration numbers from the thread's.
static SmallVector<Value> delinearize(OpBuilder &builder, Location loc,
                                      Value linear, ValueRange counts,
                                      ArrayRef<OpFoldResult> lower,
                                      ArrayRef<OpFoldResult> steps) {
  SmallVector<Value> ivs(counts.size());
  for (int64_t i = static_cast<int64_t>(counts.size()) - 1; i >= 0; --i) {
    Value index = linear;
    if (isConstantIntValue(counts[i], 1)) {
      index = arith::ConstantIndexOp::create(builder, loc, 0);
    } else if (i != 0) {
      index = arith::RemUIOp::create(builder, loc, linear, counts[i]);
      linear = arith::DivUIOp::create(builder, loc, linear, counts[i]);
    }
    if (!isConstantIntValue(steps[i], 1))
      index = arith::MulIOp::create(
          builder, loc, index,
          getValueOrCreateConstantIndexOp(builder, loc, steps[i]));
    if (!isConstantIntValue(lower[i], 0))
      index = arith::AddIOp::create(
          builder, loc, index,
          getValueOrCreateConstantIndexOp(builder, loc, lower[i]));
    ivs[i] = index;
  }
  return ivs;
}

/// Constant tables are memory of the host; a kernel that names one itself gets
/// a copy of its own when it is outlined.
static void sinkGlobals(OpBuilder &builder, gpu::LaunchOp launch) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  builder.setInsertionPointToStart(&launch.getBody().front());
  for (Value value : captured)
    if (auto global = value.getDefiningOp<memref::GetGlobalOp>())
      replaceAllUsesInRegionWith(value, builder.clone(*global)->getResult(0),
                                 launch.getBody());
}

/// Replaces `forall` by a launch of `module`::`function`.
static LogicalResult launch(RewriterBase &rewriter, scf::ForallOp forall,
                            int64_t blockSize, StringAttr module,
                            StringAttr function) {
  if (failed(verifyBody(forall)))
    return failure();
  Location loc = forall.getLoc();
  rewriter.setInsertionPoint(forall);
  SmallVector<OpFoldResult> lower = forall.getMixedLowerBound(),
                            upper = forall.getMixedUpperBound(),
                            steps = forall.getMixedStep();
  SmallVector<Value> counts;
  Value total;
  int64_t staticTotal = 1;
  for (auto [lb, ub, step] : llvm::zip_equal(lower, upper, steps)) {
    Value count = tripCount(rewriter, loc, lb, ub, step);
    std::optional<int64_t> known = getConstantIntValue(count);
    if (known && llvm::MulOverflow(staticTotal, *known, staticTotal))
      return forall.emitOpError("has more iterations than 64 bits can count");
    counts.push_back(count);
    total =
        total ? rewriter.createOrFold<arith::MulIOp>(loc, total, count) : count;
  }
  if (llvm::divideCeil(staticTotal, blockSize) > kMaxBlocks)
    return forall.emitOpError("has at least ")
           << staticTotal << " iterations; a grid of " << blockSize
           << " threads per block has room for " << kMaxBlocks * blockSize;

  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value threads = arith::ConstantIndexOp::create(rewriter, loc, blockSize);
  Value roundUp = arith::ConstantIndexOp::create(rewriter, loc, blockSize - 1);
  Value blocks = rewriter.createOrFold<arith::DivUIOp>(
      loc, rewriter.createOrFold<arith::AddIOp>(loc, total, roundUp), threads);
  auto launchOp = gpu::LaunchOp::create(
      rewriter, loc, blocks, one, one, threads, one, one,
      /*dynamicSharedMemorySize=*/nullptr, /*asyncTokenType=*/nullptr,
      /*asyncDependencies=*/ValueRange(), /*workgroupAttributions=*/TypeRange(),
      /*privateAttributions=*/TypeRange(), /*clusterSizeX=*/nullptr,
      /*clusterSizeY=*/nullptr, /*clusterSizeZ=*/nullptr,
      FlatSymbolRefAttr::get(module), FlatSymbolRefAttr::get(function));

  rewriter.setInsertionPointToStart(&launchOp.getBody().front());
  Value firstThread =
      arith::MulIOp::create(rewriter, loc, launchOp.getBlockIds().x, threads);
  Value linear = arith::AddIOp::create(rewriter, loc, firstThread,
                                       launchOp.getThreadIds().x);
  Value inside = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                       linear, total);
  auto guard = scf::IfOp::create(rewriter, loc, inside,
                                 /*withElseRegion=*/false);
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPoint(guard.thenYield());
  SmallVector<Value> ivs =
      delinearize(rewriter, loc, linear, counts, lower, steps);
  rewriter.eraseOp(forall.getTerminator());
  rewriter.inlineBlockBefore(forall.getBody(), guard.thenYield(), ivs);
  rewriter.eraseOp(forall);
  sinkGlobals(rewriter, launchOp);
  return sequentializeBody(rewriter, launchOp);
}

namespace {
struct ForallToGPULaunch
    : public vcattn::impl::VCAttnForallToGPULaunchBase<ForallToGPULaunch> {
  using VCAttnForallToGPULaunchBase::VCAttnForallToGPULaunchBase;

  void runOnOperation() override {
    if (blockSize < 1 || blockSize > kMaxBlockSize) {
      getOperation().emitError("vcattn-forall-to-gpu-launch: block-size must "
                               "be in [1, ")
          << kMaxBlockSize << "], got " << blockSize;
      return signalPassFailure();
    }
    for (func::FuncOp func : vcattn::getEntryFunctions(getOperation()))
      if (failed(launchLoops(func)))
        return signalPassFailure();
  }

private:
  LogicalResult launchLoops(func::FuncOp func) {
    IRRewriter rewriter(func.getContext());
    SmallVector<Operation *> outermost;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto copy = dyn_cast<memref::CopyOp>(op);
      if (!isa<scf::ForallOp, scf::ParallelOp>(op) &&
          !(copy && isStridedCopy(copy)))
        return isa<gpu::LaunchOp>(op) ? WalkResult::skip()
                                      : WalkResult::advance();
      outermost.push_back(op);
      return WalkResult::skip();
    });
    auto module = rewriter.getStringAttr(func.getSymName() + "_kernels");
    for (auto [number, op] : llvm::enumerate(outermost)) {
      auto copy = dyn_cast<memref::CopyOp>(op);
      FailureOr<scf::ForallOp> forall;
      if (copy)
        forall = copyToForall(rewriter, copy);
      else if (auto parallel = dyn_cast<scf::ParallelOp>(op))
        forall = parallelToForall(rewriter, parallel);
      else
        forall = cast<scf::ForallOp>(op);
      if (failed(forall))
        return failure();
      ++(copy ? numCopies : numLaunches);
      StringRef kind = copy ? "copy_" : "";
      auto function = rewriter.getStringAttr(func.getSymName() + "_" + kind +
                                             Twine(number));
      if (failed(launch(rewriter, *forall, blockSize, module, function)))
        return failure();
    }
    return success();
  }
};
} // namespace
