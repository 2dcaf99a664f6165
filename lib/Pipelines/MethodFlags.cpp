//===- MethodFlags.cpp - The method's switches on a command line ----------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vcattn/Pipelines/MethodFlags.h"

using namespace vcattn;
namespace cl = llvm::cl;

MethodFlags::MethodFlags()
    : category("The method (each part can be switched off to see what it "
               "does)"),
      scores("scores", cl::desc("Format of queries and keys:"),
             cl::init(ScoreFormat::I8),
             cl::values(
                 clEnumValN(ScoreFormat::I8, "i8", "8-bit integers (default)"),
                 clEnumValN(ScoreFormat::E4M3, "f8E4M3FN", "8-bit floats"),
                 clEnumValN(ScoreFormat::None, "none", "leave them floats")),
             cl::cat(category)),
      cast("cast", cl::desc("How 8-bit probabilities are made:"),
           cl::init(SoftmaxCast::Hybrid),
           cl::values(clEnumValN(SoftmaxCast::Hybrid, "hybrid",
                                 "by an exponential for some keys, by one "
                                 "multiply-add for the others (default)"),
                      clEnumValN(SoftmaxCast::ExpCast, "expcast",
                                 "by one multiply-add, which is fastest"),
                      clEnumValN(SoftmaxCast::Exact, "exact",
                                 "by an exponential, then rounding")),
           cl::cat(category)),
      clusters("clusters", cl::init(64), cl::value_desc("n"),
               cl::desc("Clusters of the values (default: 64; 0: do not sort)"),
               cl::cat(category)),
      iterations("iterations", cl::init(4), cl::value_desc("n"),
                 cl::desc("Rounds of k-means (default: 4)"), cl::cat(category)),
      noSmoothKeys("no-smooth-keys",
                   cl::desc("Neither centre nor rotate the keys"),
                   cl::cat(category)),
      noCenter("no-center", cl::desc("Do not centre the keys"),
               cl::cat(category)),
      noRotate("no-rotate", cl::desc("Do not rotate queries and keys"),
               cl::cat(category)),
      noSmoothValues("no-smooth-values",
                     cl::desc("Leave the values' means in them"),
                     cl::cat(category)),
      noQuantizeValues("no-quantize-values",
                       cl::desc("Leave the values floats"), cl::cat(category)),
      noMethod("no-method",
               cl::desc("Compile the module's ops as they are, "
                        "vcattn.attention as exact attention"),
               cl::cat(category)) {}

MethodConfig MethodFlags::getConfig() const {
  MethodConfig config;
  config.center = !noSmoothKeys && !noCenter;
  config.rotate = !noSmoothKeys && !noRotate;
  config.smoothValues = !noSmoothValues;
  config.values = !noQuantizeValues;
  config.clusters = clusters;
  config.iterations = iterations;
  config.scores = scores;
  config.cast = cast;
  return config;
}
