//===- Passes.td - Passes into and out of the dialect -------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_CONVERSION_PASSES_TD
#define VCATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"
include "vcattn/Conversion/CPUPasses.td"
include "vcattn/Conversion/GPUPasses.td"

def RaiseAttention : Pass<"vcattn-raise-attention"> {
  let summary = "Find attention in linalg and make it one op (changes rounding)";
  let description = [{
    Replaces a product, a softmax and a product, in whatever linalg named and
    generic ops they are written, by `vcattn.attention`. Casts, the order of
    scale and mask, transposes and reshapes do not matter: only which element
    meets which does. Intermediate roundings, to f16 or bf16, are not kept.

    ```mlir
    %kt = linalg.transpose ins(%k : ...) outs(%0 : ...) permutation = [0, 1, 3, 2]
    %s = linalg.generic ... // batched product of %q and %kt
    %t = linalg.mul ins(%s, %scale : ...) outs(%1 : ...) -> ...
    %p = linalg.softmax dimension(3) ins(%t : ...) outs(%2 : ...) -> ...
    %o = linalg.generic ... // batched product of %p and %v
    ```

    becomes

    ```mlir
    %o = vcattn.attention %q, %k, %v {scale = 0.088 : f64} : ...
    ```

    - No scale in the source is scale 1.
    - Masks that compare indices become causality, i1 conditions and added
      floats a mask. Scores of -10000 or less in place of dropped ones count as
      -inf, also in rows that have no others: they give 0.
    - Rank 3 becomes [1, B, T, D], rank 2 [1, 1, T, D], by reshapes; a collapsed
      [B * H, T, D] is taken as it was before the collapse. Operands transposed
      from [B, T, H, D] are taken untransposed, in layout `bthd`.
    - Repeated key and value heads are taken unrepeated.

    What looks like attention and is not raised stays as it is; with `remarks`,
    the op that is to blame says why: a softmax over another axis, scores or
    probabilities with other uses, sums that do not start from zero, and so on.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::vcattn::VCAttnDialect"];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Say why what looks like attention is not raised">,
  ];
  let statistics = [
    Statistic<"raised", "raised", "Attentions raised">,
    Statistic<"refused", "refused",
              "Products that looked like attention and were not raised">,
  ];
}


def ConvertVCAttnToLoops : Pass<"convert-vcattn-to-loops"> {
  let summary = "Lower the method and attention ops to parallel loops";
  let description = [{
    Each op on tensors becomes `scf.forall` loops with independent iterations,
    every iteration writing one slice of each output, and vector arithmetic
    inside. Bufferization turns them into loops that write in place. The
    arithmetic is that of docs/Numerics.md, operation by operation, so that
    results do not depend on the options.

    With `target=gpu` iterations are meant to be threads: attention ops stay,
    no iteration allocates memory, and clustering trades work for parallelism.

    Batch, heads and tokens may be dynamic; the last dimension may not.

    ```mlir
    %0 = vcattn.gather_tokens %x, %p
        : (tensor<1x4x?x64xf32>, tensor<1x4x?xi32>) -> tensor<1x4x?x64xf32>
    ```

    becomes

    ```mlir
    %0 = scf.forall (%b, %h, %t, %c) in (1, 4, %n, 1)
        shared_outs(%out = %empty) -> (tensor<1x4x?x64xf32>) {
      %i = tensor.extract %p[%b, %h, %t] : tensor<1x4x?xi32>
      ...
      %v = vector.transfer_read %x[%b, %h, %from, %c0], %pad
          : tensor<1x4x?x64xf32>, vector<16xf32>
      ...
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %row into %out[%b, %h, %t, 0]
            [1, 1, 1, 64] [1, 1, 1, 1] : tensor<64xf32> into tensor<1x4x?x64xf32>
      }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"vectorWidth", "vector-width", "int64_t", "0",
           "Channels that one iteration handles, where it can; 0: all of them">,
    Option<"target", "target", "std::string", "\"cpu\"",
           "What iterations are meant for: cpu or gpu">,
  ];
  let statistics = [
    Statistic<"numLowered", "lowered", "Ops lowered to loops">,
  ];
}

#endif // VCATTN_CONVERSION_PASSES_TD
