//===- ToCPU.cpp - The pipeline to a function for the CPU -----------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Pipelines/Pipelines.h"

using namespace mlir;
using namespace vcattn;

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Tensors to buffers, results to out-params where shapes allow it.
static void addBufferization(OpPassManager &pm) {
  pm.addPass(createVCAttnDecomposeForBufferization());
  // Elementwise arith and math ops on tensors, which may stand beside
  // attention.
  pm.addPass(createConvertElementwiseToLinalgPass());
  addCleanup(pm);
  pm.addPass(createVCAttnProtectArguments());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  // A slice that was written in place is inserted where it is: CSE sees that
  // the two are one, canonicalization then drops the copy.
  addCleanup(pm);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createVCAttnCPUInterface());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
}

/// Narrow floats to f32 and integers; nothing may be left.
static void addNarrowFloats(OpPassManager &pm) {
  math::MathExtendToSupportedTypesOptions extend;
  extend.extraTypeStrs = {"f16"};
  pm.addPass(math::createMathExtendToSupportedTypes(extend));
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f8E4M3FN", "f8E5M2"};
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addPass(createVCAttnExpandNarrowFloats());
  pm.addPass(arith::createArithExpandOpsPass());
}

static void addLLVM(OpPassManager &pm) {
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  addCleanup(pm);
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  addCleanup(pm);
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createVCAttnCheckLowered());
}

void vcattn::buildToCPUPipeline(OpPassManager &pm,
                                const ToCPUOptions &options) {
  pm.addPass(createSplitSequences());
  if (options.method)
    buildMethodPipeline(pm, MethodConfig(options));
  ConvertVCAttnToLoopsOptions loops;
  loops.vectorWidth = options.vectorWidth;
  pm.addPass(createConvertVCAttnToLoops(loops));
  addBufferization(pm);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createForallToForLoopPass());
  addNarrowFloats(pm);
  addLLVM(pm);
}

void vcattn::registerToCPUPipeline() {
  PassPipelineRegistration<ToCPUOptions>(
      "vcattn-to-cpu",
      "From tensors at any level to the LLVM dialect for the CPU",
      buildToCPUPipeline);
}
