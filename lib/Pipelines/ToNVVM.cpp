//===- ToNVVM.cpp - The pipeline to kernels and their launches ------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "vcattn/Conversion/Passes.h"
#include "vcattn/Pipelines/Method.h"
#include "vcattn/Pipelines/Pipelines.h"

using namespace mlir;
using namespace vcattn;

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// From any attention to packed attention and loops on tensors, in the entries'
/// own module.
static void addTensorPasses(OpPassManager &pm, const ToNVVMOptions &options) {
  pm.addPass(createSplitSequences({/*readable=*/false}));
  pm.addPass(createRaiseAttention());
  addCleanup(pm);
  OutlineAttentionOptions outline;
  outline.keepReshapes = true;
  pm.addPass(createOutlineAttention(outline));
  pm.addPass(createAssertSizes());
  if (options.method)
    buildMethodPipeline(pm, MethodConfig(options));
  ScheduleOptions schedule;
  schedule.target = options.target;
  schedule.choices = options.schedule;
  schedule.file = options.scheduleFile;
  schedule.report = options.printSchedule;
  pm.addPass(createSchedule(schedule));
  pm.addPass(createPackOperands());
  SplitKeysOptions split;
  split.keys = options.splitKeys;
  pm.addPass(createSplitKeys(split));
  pm.addPass(createVCAttnIsolateEntries());
}

/// Tensors to views of the workspace, results to out-parameters.
static void addBufferization(OpPassManager &pm, const ToNVVMOptions &options) {
  ConvertVCAttnToLoopsOptions loops;
  loops.vectorWidth = options.vectorWidth;
  loops.target = "gpu";
  pm.addPass(createConvertVCAttnToLoops(loops));
  addCleanup(pm);
  pm.addPass(createVCAttnGPUInterface());
  pm.addPass(createVCAttnProtectArguments());
  addCleanup(pm);
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  addCleanup(pm);
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferHoistingPass());
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  pm.addPass(createPlanWorkspace());
  addCleanup(pm);
}

/// Every loop nest and every attention to a kernel in one gpu.module.
static void addKernels(OpPassManager &pm) {
  pm.addPass(createConvertVCAttnToGPU());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  pm.addPass(createVCAttnForallToGPULaunch());
  addCleanup(pm);
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createGpuKernelOutliningPass());
  pm.addPass(createVCAttnMergeKernels());
}

/// Kernels to the NVVM and LLVM dialects.
static void addDeviceLowering(OpPassManager &pm, const ToNVVMOptions &options) {
  auto &kernels = pm.nest<gpu::GPUModuleOp>();
  ConvertVCAttnKernelToNVVMOptions kernelOptions;
  kernelOptions.debugWaits = options.debugWaits;
  kernels.addPass(createConvertVCAttnKernelToNVVM(kernelOptions));
  kernels.addPass(createVCAttnExpandNarrowFloats());
  kernels.addPass(createVCAttnUnrollTransfers());
  kernels.addPass(createConvertVectorToSCFPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(arith::createArithExpandOpsPass());
  addCleanup(kernels);
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertVectorToLLVMPass());
  kernels.addPass(createVCAttnLowerKernels());
  addCleanup(kernels);
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createVCAttnPassTensorMapsByValue());
}

/// Host code to what convert-gpu-to-vcattn-runtime takes.
static void addHostLowering(OpPassManager &pm) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addNestedPass<func::FuncOp>(createSCFToControlFlowPass());
  addCleanup(pm);
}

void vcattn::buildToNVVMPipeline(OpPassManager &pm,
                                 const ToNVVMOptions &options) {
  addTensorPasses(pm, options);
  OpPassManager &entries = pm.nest<ModuleOp>();
  addBufferization(entries, options);
  addKernels(entries);
  addDeviceLowering(entries, options);
  addHostLowering(entries);
  pm.addPass(createVCAttnIsolateEntries({/*undo=*/true}));
}

void vcattn::buildToRuntimePipeline(OpPassManager &pm,
                                    const ToRuntimeOptions &options) {
  VCAttnSerializeKernelsOptions serialize;
  serialize.chip = options.chip;
  serialize.format = options.format;
  serialize.ptxas = options.ptxas;
  serialize.report = options.report;
  pm.addPass(createVCAttnSerializeKernels(serialize));
  pm.addPass(createConvertGPUToVCAttnRuntime());
  addCleanup(pm);
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void vcattn::registerToNVVMPipeline() {
  PassPipelineRegistration<ToNVVMOptions>(
      "vcattn-to-nvvm",
      "From tensors at any level to kernels in the NVVM dialect and functions "
      "that launch them",
      buildToNVVMPipeline);
  PassPipelineRegistration<ToRuntimeOptions>(
      "vcattn-to-runtime",
      "From what vcattn-to-nvvm gives to functions of the LLVM dialect that "
      "embed the compiled kernels",
      buildToRuntimePipeline);
}
