//===- Method.cpp - From any attention to the method ----------------------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Pipelines/Method.h"
#include "mlir/Transforms/Passes.h"
#include "vcattn/Conversion/Passes.h"

using namespace mlir;
using namespace vcattn;

void vcattn::buildMethodPipeline(OpPassManager &pm,
                                 const MethodConfig &config) {
  pm.addPass(createSplitSequences());
  pm.addPass(createRaiseAttention());
  if (config.center || config.rotate) {
    SmoothKeysOptions options;
    options.center = config.center;
    options.rotate = config.rotate;
    pm.addPass(createSmoothKeys(options));
  }
  if (config.smoothValues) {
    SmoothValuesOptions options;
    options.clusters = config.clusters;
    options.iterations = config.iterations;
    pm.addPass(createSmoothValues(options));
  }
  if (config.scores != ScoreFormat::None || config.values) {
    QuantizeOptions options;
    options.scores = config.scores;
    options.values = config.values;
    pm.addPass(createQuantize(options));
  }
  if (config.cast != SoftmaxCast::Exact) {
    ExpCastOptions options;
    options.cast = config.cast;
    pm.addPass(createExpCast(options));
  }
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void vcattn::registerMethodPipeline() {
  PassPipelineRegistration<MethodOptions>(
      "vcattn-method",
      "Raise attention and apply every step of the method, each of which an "
      "option can switch off",
      [](OpPassManager &pm, const MethodOptions &options) {
        buildMethodPipeline(pm, MethodConfig(options));
      });
}
