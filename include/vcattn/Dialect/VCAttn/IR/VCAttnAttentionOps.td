//===- VCAttnAttentionOps.td - Attention, exact and low-bit -*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_ATTENTIONOPS_TD
#define VCATTN_ATTENTIONOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnAttributes.td"

/// A rank-4 tensor of queries, keys, values or attention's result.
def VCAttn_FloatTensor : 4DTensorOf<[F16, BF16, F32]>;
/// The same, or codes that stand for it.
def VCAttn_CodeTensor : 4DTensorOf<[F16, BF16, F32, I8, F8E4M3FN]>;
/// A boolean mask (true keeps) or a mask that is added to the scaled scores.
def VCAttn_MaskTensor : 4DTensorOf<[I1, F16, BF16, F32]>;
/// Per batch, how many keys count.
def VCAttn_LengthsTensor : 1DTensorOf<[I32]>;
/// Per block of 128 queries and block of 128 keys, whether the one sees the other.
def VCAttn_BlockMaskTensor : 4DTensorOf<[I1]>;
/// Block means of the values: [batch, kv heads, ceil(keys / 128), value dim].
def VCAttn_MeansTensor : 4DTensorOf<[F32]>;
/// Log-sum-exp: [batch, query heads, queries].
def VCAttn_LseTensor : 3DTensorOf<[F32]>;

def VCAttn_AttentionOp : VCAttn_Op<"attention", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "Exact attention: softmax(scale * Q * K^T + mask) * V";
  let description = [{
    For each batch, query head and query, with s_j = scale * <q, k_j> plus the
    mask's entry: out = sum_j exp(s_j) v_j / sum_j exp(s_j), and optionally
    lse = log(sum_j exp(s_j)). A query that sees no key gives 0 and -inf; a NaN
    among what it sees gives NaN.

    Shapes, in the `bhtd` layout: query [B, Hq, Nq, D], key [B, Hkv, Nk, D],
    value [B, Hkv, Nk, Dv], result [B, Hq, Nq, Dv], lse [B, Hq, Nq]. Hq is a
    multiple of Hkv (grouped-query attention): query head h reads key head
    h / (Hq / Hkv). Sizes may be dynamic, and zero.

    `mask` has dimensions [B, Hq, Nq, Nk] whatever the layout; each is its full
    size or 1, which broadcasts. An i1 mask keeps where it is true. A float mask
    is added to the scaled scores, in natural-logarithm units. `causal` and
    `window` limit keys by position, and compose with all that follows.

    `lengths` [B]: keys of batch b at and past lengths[b] do not count, whatever
    they hold, NaN included; less than 0 is 0, more than Nk is Nk.

    `blocks` has dimensions [B, Hq, ceil(Nq / 128), ceil(Nk / 128)] whatever the
    layout, of which the first two may be 1: a query block sees no key of a key
    block whose entry is false, and a kernel does not touch it. Blocks are those of
    this op's own keys, in their order: whoever sorts keys by cluster, so that a
    block mask says something about values too, gathers them first
    (docs/Rationale.md).

    `means`, if present, are block means that were taken out of `value` by
    `vcattn.block_residual`: key j's value is then value_j + means_(j / 128).

    ```mlir
    %out = vcattn.attention %q, %k, %v {scale = 0.088 : f64}
        : tensor<1x4x2048x128xbf16>, tensor<1x4x2048x128xbf16>,
          tensor<1x4x2048x128xbf16> -> tensor<1x4x2048x128xbf16>
    %o, %lse = vcattn.attention %q, %k, %v mask %m : tensor<1x1x64x96xi1>
        {scale = 1.0 : f64, causal = #vcattn.causality<bottom_right>}
        : tensor<2x8x64x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x80xf16>
          -> tensor<2x8x64x80xf16>, tensor<2x8x64xf32>
    %w = vcattn.attention %q, %k, %v lengths %n : tensor<2xi32>
        {scale = 1.0 : f64, window = #vcattn.window<left = 16>}
        : tensor<2x8x64x64xf16>, tensor<2x2x96x64xf16>, tensor<2x2x96x80xf16>
          -> tensor<2x8x64x80xf16>
    ```
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "queries">:$query,
    Arg<VCAttn_FloatTensor, "keys">:$key,
    Arg<VCAttn_FloatTensor, "values, or their residuals if means are given">:$value,
    Arg<Optional<VCAttn_MaskTensor>, "which keys count, or what is added to their scores">:$mask,
    Arg<Optional<VCAttn_MeansTensor>, "block means to add back to the values">:$means,
    Arg<Optional<VCAttn_LengthsTensor>, "how many keys count, per batch">:$lengths,
    Arg<Optional<VCAttn_BlockMaskTensor>, "which key blocks a query block sees">:$block_mask,
    F64Attr:$scale,
    DefaultValuedAttr<VCAttn_CausalityAttr, "Causality::None">:$causal,
    OptionalAttr<VCAttn_WindowAttr>:$window,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<VCAttn_FloatTensor, "the attention's result">:$result,
    Res<Optional<VCAttn_LseTensor>, "its log-sum-exp, if asked for">:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^ `:` type($mask))?
    (`means` $means^ `:` type($means))?
    (`lengths` $lengths^ `:` type($lengths))?
    (`blocks` $block_mask^ `:` type($block_mask))? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($result)
    (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def VCAttn_QuantizedAttentionOp : VCAttn_Op<"quantized_attention", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "Attention on codes, with 8-bit probabilities";
  let description = [{
    Attention whose probabilities are E4M3 codes, made by `cast`, and whose
    denominator sums the decoded codes. docs/Numerics.md gives the recurrence
    over tiles of 64 keys that every implementation follows.

    Queries and keys are codes of one format, i8 or f8E4M3FN (the format of the
    scores), or floats; values are f8E4M3FN codes or floats. Codes come with
    their scales, floats with none:

    - `query_scale` [B, Hq, Nq]: per token;
    - `key_scale` [B, Hkv, ceil(Nk / 128), 4]: per block of 128 tokens, token t
      of a block using scale (t mod 8) / 2;
    - `value_scale` [B, Hkv, Dv]: per channel.

    `means` [B, Hkv, ceil(Nk / 128), Dv] are added back in proportion to each
    tile's row sum. Everything else is as in `vcattn.attention`. The kernel
    runs under `schedule` on `target` once `vcattn-schedule` has set them; a
    schedule needs a target, and the target must have a matrix instruction for
    the scores' format (sm_103a has none for i8).

    ```mlir
    %out = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
        means %m {cast = #vcattn.cast<expcast>, scale = 0.088 : f64} :
        (tensor<1x4x2048x128xi8>, tensor<1x4x2048xf32>, tensor<1x4x2048x128xi8>,
         tensor<1x4x16x4xf32>, tensor<1x4x2048x128xf8E4M3FN>,
         tensor<1x4x128xf32>, tensor<1x4x16x128xf32>)
        -> tensor<1x4x2048x128xbf16>
    ```
  }];
  let arguments = (ins
    Arg<VCAttn_CodeTensor, "queries, or their codes">:$query,
    Arg<Optional<3DTensorOf<[F32]>>, "one scale per query">:$query_scale,
    Arg<VCAttn_CodeTensor, "keys, or their codes">:$key,
    Arg<Optional<4DTensorOf<[F32]>>, "four scales per key block">:$key_scale,
    Arg<VCAttn_CodeTensor, "values or residuals, or their codes">:$value,
    Arg<Optional<3DTensorOf<[F32]>>, "one scale per value channel">:$value_scale,
    Arg<Optional<VCAttn_MaskTensor>, "which keys count, or what is added to their scores">:$mask,
    Arg<Optional<VCAttn_MeansTensor>, "block means to add back to the values">:$means,
    Arg<Optional<VCAttn_LengthsTensor>, "how many keys count, per batch">:$lengths,
    Arg<Optional<VCAttn_BlockMaskTensor>, "which key blocks a query block sees">:$block_mask,
    F64Attr:$scale,
    VCAttn_SoftmaxCastAttr:$cast,
    DefaultValuedAttr<VCAttn_CausalityAttr, "Causality::None">:$causal,
    OptionalAttr<VCAttn_WindowAttr>:$window,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout,
    OptionalAttr<VCAttn_TargetAttr>:$target,
    OptionalAttr<VCAttn_ScheduleAttr>:$schedule);
  let results = (outs
    Res<VCAttn_FloatTensor, "the attention's result">:$result,
    Res<Optional<VCAttn_LseTensor>, "its log-sum-exp, if asked for">:$lse);
  let assemblyFormat = [{
    $query (`scale` $query_scale^)? `,` $key (`scale` $key_scale^)? `,`
    $value (`scale` $value_scale^)? (`mask` $mask^)? (`means` $means^)?
    (`lengths` $lengths^)? (`blocks` $block_mask^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// True if the scores are products of codes (i8 or f8E4M3FN).
    bool hasQuantizedScores() { return static_cast<bool>(getQueryScale()); }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def VCAttn_VarlenAttentionOp : VCAttn_Op<"varlen_attention", [Pure]> {
  let summary = "Exact attention of sequences of different lengths, packed";
  let description = [{
    Sequence s has the queries from cu_queries[s] to before cu_queries[s + 1],
    and the keys from cu_keys[s] to before cu_keys[s + 1], and attends to itself
    alone: each is a `vcattn.attention` of its own, positions counted within it.
    Batch is 1. Boundaries do not decrease; ones out of range are taken as the
    nearest that is possible. A query in no sequence gives 0 and -inf.

    `vcattn-split-sequences` makes a loop of it, so that clusters, scales and
    blocks never straddle sequences.

    ```mlir
    %out = vcattn.varlen_attention %q, %k, %v sequences %cu, %cu
        {scale = 0.088 : f64, causal = #vcattn.causality<top_left>}
        : (tensor<1x8x?x128xbf16>, tensor<1x2x?x128xbf16>,
           tensor<1x2x?x128xbf16>, tensor<?xi32>, tensor<?xi32>)
        -> tensor<1x8x?x128xbf16>
    ```
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "queries, in `layout`">:$query,
    Arg<VCAttn_FloatTensor, "keys, in `layout`">:$key,
    Arg<VCAttn_FloatTensor, "values, in `layout`">:$value,
    Arg<VCAttn_LengthsTensor, "where sequences begin among queries, and the last ends">:$cu_queries,
    Arg<VCAttn_LengthsTensor, "the same among keys">:$cu_keys,
    F64Attr:$scale,
    DefaultValuedAttr<VCAttn_CausalityAttr, "Causality::None">:$causal,
    OptionalAttr<VCAttn_WindowAttr>:$window,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<VCAttn_FloatTensor, "the attentions' results">:$result,
    Res<Optional<VCAttn_LseTensor>, "their log-sum-exps, if asked for">:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value `sequences` $cu_queries `,` $cu_keys attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // VCATTN_ATTENTIONOPS_TD
