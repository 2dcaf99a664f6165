//===- Method.h - From any attention to the method --------------*- C++ -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of the method strung together, with one switch for each: the first
// half of every pipeline that compiles, and vcattn-method by itself.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_PIPELINES_METHOD_H
#define VCATTN_PIPELINES_METHOD_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "vcattn/Dialect/VCAttn/Transforms/Passes.h"

namespace vcattn {

/// Options of `vcattn-method`; a pipeline with options of its own inherits
/// them.
template <typename Derived>
struct MethodOptionsBase : public mlir::PassPipelineOptions<Derived> {
  template <typename T>
  using Option =
      typename mlir::PassPipelineOptions<Derived>::template Option<T>;

  Option<bool> center{*this, "center",
                      llvm::cl::desc("Subtract the keys' mean over all tokens"),
                      llvm::cl::init(true)};
  Option<bool> rotate{
      *this, "rotate",
      llvm::cl::desc("Rotate queries and keys by the Hadamard matrix"),
      llvm::cl::init(true)};
  Option<bool> smoothValues{
      *this, "smooth-values",
      llvm::cl::desc("Take block means out of the values"),
      llvm::cl::init(true)};
  Option<int64_t> clusters{
      *this, "clusters",
      llvm::cl::desc("Clusters that values are sorted by; 0 keeps their order"),
      llvm::cl::init(64)};
  Option<int64_t> iterations{*this, "iterations",
                             llvm::cl::desc("Updates of the centroids"),
                             llvm::cl::init(4)};
  Option<ScoreFormat> scores{
      *this, "scores", llvm::cl::desc("Format of queries and keys"),
      llvm::cl::init(ScoreFormat::I8),
      llvm::cl::values(
          clEnumValN(ScoreFormat::I8, "i8", "8-bit integers"),
          clEnumValN(ScoreFormat::E4M3, "f8E4M3FN", "E4M3"),
          clEnumValN(ScoreFormat::None, "none", "leave them floats"))};
  Option<bool> values{*this, "values", llvm::cl::desc("Quantize the values"),
                      llvm::cl::init(true)};
  Option<SoftmaxCast> cast{
      *this, "cast", llvm::cl::desc("How probabilities become codes"),
      llvm::cl::init(SoftmaxCast::Hybrid),
      llvm::cl::values(
          clEnumValN(SoftmaxCast::Hybrid, "hybrid",
                     "an exponential for some keys, one multiply-add for the "
                     "others"),
          clEnumValN(SoftmaxCast::ExpCast, "expcast", "one multiply-add"),
          clEnumValN(SoftmaxCast::Exact, "exact",
                     "an exponential, then rounding"))};
};

struct MethodOptions : public MethodOptionsBase<MethodOptions> {};

/// What MethodOptions says, by value, for C++ callers.
struct MethodConfig {
  bool center = true, rotate = true, smoothValues = true, values = true;
  int64_t clusters = 64, iterations = 4;
  ScoreFormat scores = ScoreFormat::I8;
  SoftmaxCast cast = SoftmaxCast::Hybrid;

  MethodConfig() = default;
  template <typename Derived>
  explicit MethodConfig(const MethodOptionsBase<Derived> &options)
      : center(options.center), rotate(options.rotate),
        smoothValues(options.smoothValues), values(options.values),
        clusters(options.clusters), iterations(options.iterations),
        scores(options.scores), cast(options.cast) {}
};

/// Sets `options` to what `config` says.
template <typename Derived>
void setOptions(MethodOptionsBase<Derived> &options,
                const MethodConfig &config) {
  options.center = config.center;
  options.rotate = config.rotate;
  options.smoothValues = config.smoothValues;
  options.clusters = config.clusters;
  options.iterations = config.iterations;
  options.scores = config.scores;
  options.values = config.values;
  options.cast = config.cast;
}

/// Raises attention and applies the steps of the method that `config` asks for.
void buildMethodPipeline(mlir::OpPassManager &pm, const MethodConfig &config);

/// Registers `vcattn-method`.
void registerMethodPipeline();

} // namespace vcattn

#endif // VCATTN_PIPELINES_METHOD_H
