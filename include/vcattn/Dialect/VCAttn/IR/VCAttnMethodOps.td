//===- VCAttnMethodOps.td - Level 2: the steps of the method -*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_METHODOPS_TD
#define VCATTN_METHODOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnAttentionOps.td"

class VCAttn_MethodOp<string mnemonic, list<Trait> traits = []>
    : VCAttn_Op<mnemonic, traits # [Pure, InferTypeOpAdaptor]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def VCAttn_CenterKeysOp : VCAttn_MethodOp<"center_keys"> {
  let summary = "Subtract from each key the mean over all tokens";
  let description = [{
    mean_d = (sum over tokens of key_td) / tokens, result_td = key_td - mean_d,
    per batch and head, in FP32. The softmax does not see the difference; the
    log-sum-exp does, by scale * <query, mean>. The sum runs over blocks of 128
    tokens in order, each summed in order (docs/Numerics.md). With no tokens the
    mean is NaN and nothing is there to subtract it from.

    With `lengths`, tokens of batch b at and past lengths[b] are no tokens,
    whatever they hold: their result is 0, and a mean of none is 0.
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "keys, in `layout`">:$key,
    Arg<Optional<VCAttn_LengthsTensor>, "[B], how many tokens count">:$lengths,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<4DTensorOf<[F32]>, "centred keys, in the operand's layout">:$result,
    Res<3DTensorOf<[F32]>, "[B, H, D]">:$mean);
  let hasVerifier = 1;
}

def VCAttn_CompensateMeansOp : VCAttn_MethodOp<"compensate_means"> {
  let summary = "Give to block means what quantization put into the codes' mean";
  let description = [{
    result[b, h, j, d] = mean - m * value_scale[b, h, d], with m the mean of the
    codes of block j and channel d, decoded: their sum over tokens in order from
    0, divided by how many there are. Residuals have mean zero; their codes have
    not quite, and probabilities, which are positive, add that up. With
    `lengths`, tokens of batch b at and past lengths[b] are no tokens.

    ```mlir
    %means1 = vcattn.compensate_means %means, %codes, %scale
        : (tensor<1x4x16x128xf32>, tensor<1x4x2048x128xf8E4M3FN>,
           tensor<1x4x128xf32>) -> tensor<1x4x16x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<VCAttn_MeansTensor, "block means">:$means,
    Arg<4DTensorOf<[F8E4M3FN]>, "codes of the residuals, in `layout`">:$codes,
    Arg<3DTensorOf<[F32]>, "the codes' scales, [B, H, D]">:$value_scale,
    Arg<Optional<VCAttn_LengthsTensor>, "[B], how many tokens count">:$lengths,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs Res<VCAttn_MeansTensor, "means of value - code * scale">:$result);
  let hasVerifier = 1;
}

def VCAttn_CorrectLseOp : VCAttn_MethodOp<"correct_lse"> {
  let summary = "Give back to the log-sum-exp what centring the keys took away";
  let description = [{
    result[b, h, i] = lse[b, h, i] + f32(scale) * <query_i, mean>, with the mean
    of key head h / (Hq / Hkv): centring lowers every score of a query by the
    same amount. The dot product is a chain of fused multiply-adds over the
    channels in order, from 0. An lse of -inf (a query that saw no key) stays.

    ```mlir
    %lse1 = vcattn.correct_lse %q, %mean, %lse0 {scale = 0.088 : f64}
        : (tensor<1x8x64x128xbf16>, tensor<1x2x128xf32>, tensor<1x8x64xf32>)
        -> tensor<1x8x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "queries, in `layout`">:$query,
    Arg<3DTensorOf<[F32]>, "`vcattn.center_keys`' [B, Hkv, D]">:$mean,
    Arg<VCAttn_LseTensor, "of the attention on centred keys">:$lse,
    F64Attr:$scale,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<VCAttn_LseTensor, "of the attention on the keys as they were">:$result);
  let hasVerifier = 1;
}

def VCAttn_MergeAttentionOp : VCAttn_Op<"merge_attention", [Pure]> {
  let summary = "Attention to all keys from attention to shards of them";
  let description = [{
    Merges the results of n attentions of the same queries to n disjoint shards
    of keys and values, by their log-sum-exps: with top the largest lse_s of a
    query and w_s = exp(lse_s - top),

    result = sum_s w_s partial_s / sum_s w_s, lse = top + log(sum_s w_s),

    in FP32, sums over s in order from 0 (docs/Numerics.md). Shards come
    stacked along a first dimension. A shard in which a query saw no key (an lse
    of -inf) weighs nothing; if all are such, the result is 0 and -inf.

    Log-sum-exps have to be those of scores that all shards share: where keys
    were centred shard by shard, after `vcattn.correct_lse`.

    ```mlir
    %out, %lse = vcattn.merge_attention %partial, %lses
        : (tensor<4x1x8x64x128xf32>, tensor<4x1x8x64xf32>)
        -> (tensor<1x8x64x128xbf16>, tensor<1x8x64xf32>)
    ```
  }];
  let arguments = (ins
    Arg<TensorRankOf<[F16, BF16, F32], [5]>, "the shards' results, each in `layout`">:$partial,
    Arg<4DTensorOf<[F32]>, "[shards, B, H, queries]">:$partial_lse,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<VCAttn_FloatTensor, "attention to all keys, in `layout`">:$result,
    Res<Optional<VCAttn_LseTensor>, "its log-sum-exp, if asked for">:$lse);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def VCAttn_HadamardOp : VCAttn_MethodOp<"hadamard", [
    SameOperandsAndResultShape]> {
  let summary = "Rotate the head dimension by the normalized Hadamard matrix";
  let description = [{
    result = x * H / sqrt(R) over each R neighbouring channels of the last
    dimension, R the largest power of two that divides it (the whole dimension
    if that is one), H the Sylvester matrix, computed in FP32 by log2(R)
    butterfly stages, then one multiplication. Applied to queries and keys it
    leaves the scores as they are and spreads the few large channels over their
    R neighbours. Two rotations in a row are the identity up to rounding only,
    so they do not fold.
  }];
  let arguments = (ins Arg<VCAttn_FloatTensor, "queries or keys, of either layout">:$input);
  let results = (outs Res<4DTensorOf<[F32]>, "rotated">:$result);
  let hasVerifier = 1;
}

def VCAttn_ClusterOp : VCAttn_MethodOp<"cluster"> {
  let summary = "Order the tokens of each head by the k-means cluster of their values";
  let description = [{
    Per batch and head, k-means with `clusters` centroids over the rows of
    `value`, started from evenly spaced rows, `iterations` updates; then the
    stable argsort of the labels: token permutation[p] comes p-th. Ties go to
    the lower cluster, an empty cluster keeps its centroid, sums have a fixed
    order: the result is a function of the input alone. The permutation is an
    ordinary tensor, so that a caller can keep it and gather with it again.

    With `lengths`, only the first lengths[b] tokens of batch b are clustered; the
    others, whatever they hold, come after them, in the order they had.
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "values, in `layout`">:$value,
    Arg<Optional<VCAttn_LengthsTensor>, "[B], how many tokens count">:$lengths,
    ConfinedAttr<I64Attr, [IntPositive]>:$clusters,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$iterations,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<3DTensorOf<[I32]>, "[B, H, tokens]">:$permutation,
    Res<4DTensorOf<[F32]>, "[B, H, clusters, D]">:$centroids);
  let hasVerifier = 1;
}

def VCAttn_GatherTokensOp : VCAttn_MethodOp<"gather_tokens"> {
  let summary = "Reorder the tokens of each head by a permutation";
  let description = [{
    result[b, h, p, :] = input[b, h, permutation[b, h, p], :]. An entry outside
    [0, tokens) reads the nearest token inside. A constant permutation that
    moves nothing folds away.
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "keys or values, in `layout`">:$input,
    Arg<3DTensorOf<[I32]>, "[B, H, tokens]">:$permutation,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<VCAttn_FloatTensor, "reordered, of the operand's type">:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def VCAttn_GatherMaskOp : VCAttn_MethodOp<"gather_mask"> {
  let summary = "Reorder a mask's keys by the permutation of keys and values";
  let description = [{
    result[b, h, i, p] = mask[b, h, i, permutation[b, h / group, p]], where a
    dimension of the mask that is 1 is read at 0. Heads are query heads, of which
    `group` share a key head, so the result has full batch, head and key
    dimensions; the query dimension stays 1 if it is.

    ```mlir
    %r = vcattn.gather_mask %mask, %permutation {group = 4}
        : (tensor<1x1x64x96xi1>, tensor<2x2x96xi32>) -> tensor<2x8x64x96xi1>
    ```
  }];
  let arguments = (ins
    Arg<VCAttn_MaskTensor, "an attention's mask">:$mask,
    Arg<3DTensorOf<[I32]>, "[B, Hkv, Nk]">:$permutation,
    ConfinedAttr<I64Attr, [IntPositive]>:$group);
  let results = (outs
    Res<VCAttn_MaskTensor, "[B, Hkv * group, 1 or Nq, Nk]">:$result);
  let hasVerifier = 1;
}

def VCAttn_BlockResidualOp : VCAttn_MethodOp<"block_residual"> {
  let summary = "Split values into the means of blocks of 128 tokens and residuals";
  let description = [{
    means[b, h, j, :] = mean of tokens 128 j .. 128 j + 127 (fewer in the last
    block), residual = value - its block's mean, in FP32. With `lengths`, tokens
    of batch b at and past lengths[b] are no tokens, whatever they hold: their
    residual is 0, and so is the mean of a block without tokens.
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "values, in `layout`">:$value,
    Arg<Optional<VCAttn_LengthsTensor>, "[B], how many tokens count">:$lengths,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<4DTensorOf<[F32]>, "residuals, in the operand's layout">:$residual,
    Res<VCAttn_MeansTensor, "[B, H, ceil(tokens / 128), D]">:$means);
  let hasVerifier = 1;
}

def VCAttn_QuantizeOp : VCAttn_MethodOp<"quantize", [AttrSizedOperandSegments]> {
  let summary = "Divide by a scale and round to a low-bit format";
  let description = [{
    scale = max |x| over the values that share it / largest code, and
    code = round(x / scale), to nearest even, saturating; docs/Numerics.md says
    to the bit how. A NaN makes its scale NaN.

    | granularity | scales |
    |---|---|
    | `tensor` | [B, H] |
    | `token` | [B, H, tokens] |
    | `block` | [B, H, ceil(tokens / block_size), groups] |
    | `channel` | [B, H, D] |

    With `groups` above 1, token t of a block uses scale
    (t mod (2 groups)) / 2: with 4, the tokens whose scores one lane of a quad
    holds in a tensor-core accumulator.

    `bound` are block means [B, H, blocks, D] that will be divided by the same
    scales and stored as f16: it keeps each channel's scale at least
    max |mean| / 32768. Only for granularity `channel`.

    With `lengths`, tokens of batch b at and past lengths[b] count as zeros,
    whatever they hold.

    Codes are in the operand's layout; E2M1 codes are packed two per byte along
    the last dimension, the even channel in the low nibble, and come with
    `micro_scales` in E4M3, one per 16 channels.
  }];
  let arguments = (ins
    Arg<VCAttn_FloatTensor, "what to quantize, in `layout`">:$input,
    Arg<Optional<VCAttn_MeansTensor>, "means that share the channels' scales">:$bound,
    Arg<Optional<VCAttn_LengthsTensor>, "[B], how many tokens count">:$lengths,
    VCAttn_FormatAttr:$format,
    VCAttn_GranularityAttr:$granularity,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "128">:$block_size,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$groups,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<4DTensorOf<[I8, F8E4M3FN]>, "codes">:$codes,
    Res<RankedTensorOf<[F32]>, "scales">:$scales,
    Res<Optional<4DTensorOf<[F8E4M3FN]>>, "E2M1 only: [.., D / 16]">:$micro_scales);
  let assemblyFormat = [{
    $input (`bound` $bound^)? (`lengths` $lengths^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // VCATTN_METHODOPS_TD
