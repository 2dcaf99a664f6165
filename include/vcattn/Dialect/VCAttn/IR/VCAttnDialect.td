//===- VCAttnDialect.td - The vcattn dialect ----------------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_DIALECT_TD
#define VCATTN_DIALECT_TD

include "mlir/IR/OpBase.td"

def VCAttn_Dialect : Dialect {
  let name = "vcattn";
  let cppNamespace = "::vcattn";
  let summary = "Low-bit attention by value smoothing and softmax casting";
  let description = [{
    Attention at three levels, all of them in one module if need be:

    1. `vcattn.attention` says what is computed: exact attention.
    2. The method ops say how it becomes cheap: keys are centred, queries and
       keys rotated, values clustered and split into block means and residuals,
       everything is quantized, and `vcattn.quantized_attention` consumes the
       codes with the softmax cast of its choice.
    3. The kernel ops say how one kernel runs: pipelines of tiles, matrix
       multiply-accumulates on fragments, cast, rescale, restored means and
       epilogue, without a single target instruction.

    Tensors of queries, keys and values are of rank 4; `#vcattn.layout` says
    whether heads or tokens come first, and every op keeps the layout of its
    operand. Side tensors (scales, means, permutations, log-sum-exp) always
    start with batch and heads.

    The unit attribute `vcattn.entry` on a function marks it as one that holds
    an attention and little else, for the GPU pipeline to compile;
    `vcattn-outline-attention` sets it.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class VCAttn_Op<string mnemonic, list<Trait> traits = []>
    : Op<VCAttn_Dialect, mnemonic, traits>;

#endif // VCATTN_DIALECT_TD
