//===- VCAttnPackingOps.td - From tensors to a kernel's operands -*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_PACKINGOPS_TD
#define VCATTN_PACKINGOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnMethodOps.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnTypes.td"

def VCAttn_PackValuesOp : VCAttn_MethodOp<"pack_values"> {
  let summary = "Store value codes as the value product's B operand reads them";
  let description = [{
    Per block of 128 keys: R rows of 128 bytes, R being D rounded up to a multiple
    of 8, row d holding channel d of the block's keys in the order in which the
    score accumulator hands out probabilities (8-bit matrix products want both
    operands key-major; PTX ISA, wgmma, register fragments), zero past the last
    key and past the last channel; then 8 rows for the row sums, row R + (block
    mod 8) of ones (0x38), the others zero.
  }];
  let arguments = (ins
    Arg<4DTensorOf<[F8E4M3FN]>, "value codes, in `layout`">:$codes,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let results = (outs
    Res<TensorRankOf<[F8E4M3FN], [5]>, "[B, H, ceil(tokens / 128), R + 8, 128]">:$result);
}

def VCAttn_PackMeansOp : VCAttn_MethodOp<"pack_means"> {
  let summary = "Store block means as the restoring product's B operand reads them";
  let description = [{
    f16(mean / value_scale), in groups of 16 blocks, zero past the last block and
    past the last channel. A group holds [channels][16 blocks] as cores of 8
    channels x 8 blocks: the result's dimensions are ceil(D / 8), 2 (blocks 0-7,
    8-15), 8 channels, 8 blocks (PTX ISA, wgmma, core matrices without swizzle).
    D is static.
  }];
  let arguments = (ins
    Arg<VCAttn_MeansTensor, "block means">:$means,
    Arg<3DTensorOf<[F32]>, "the scales of the value codes, [B, H, D]">:$value_scale);
  let results = (outs Res<RankedTensorOf<[F16]>,
    "[B, H, ceil(tiles / 16), ceil(D / 8), 2, 8, 8]">:$result);
  let hasVerifier = 1;
}

class VCAttn_TensorOrMemRefOf<list<Type> elements>
    : AnyTypeOf<[RankedTensorOf<elements>, MemRefOf<elements>]>;

def VCAttn_PackedAttentionOp : VCAttn_Op<"packed_attention", [
    DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "One launch of an attention kernel on packed operands";
  let description = [{
    `vcattn.quantized_attention` after `vcattn-pack-operands`: values and means
    are in the order that the target's matrix unit reads. Operands are tensors,
    or memrefs after bufferization; `outs` are the result, the log-sum-exp if
    asked for, and, where the schedule leaves no shared memory for them, room for
    the FP32 copies of the accumulators, [blocks, elements], f32, in which the
    kernel leaves nothing of meaning. Queries and keys are codes of one format in
    `layout`, in which the result is written too; sizes are as in
    `vcattn.quantized_attention`, as are `mask`, `lengths`, `blocks`, `causal`
    and `window`.

    With `split_keys` = n > 0, a multiple of 2048, keys are cut into
    ceil(Nk / n) shards of n, and each shard's attention is a result of its own:
    `outs` have a dimension of shards first, for `vcattn.merge_attention`.
  }];
  let arguments = (ins
    Arg<VCAttn_TensorOrMemRefOf<[I8, F8E4M3FN]>, "query codes">:$query,
    Arg<VCAttn_TensorOrMemRefOf<[F32]>, "[B, Hq, Nq]">:$query_scale,
    Arg<VCAttn_TensorOrMemRefOf<[I8, F8E4M3FN]>, "key codes">:$key,
    Arg<VCAttn_TensorOrMemRefOf<[F32]>, "[B, Hkv, blocks, 4]">:$key_scale,
    Arg<VCAttn_TensorOrMemRefOf<[F8E4M3FN]>, "of `vcattn.pack_values`">:$value,
    Arg<VCAttn_TensorOrMemRefOf<[F32]>, "[B, Hkv, Dv]">:$value_scale,
    Arg<VCAttn_TensorOrMemRefOf<[F16]>, "of `vcattn.pack_means`">:$means,
    Arg<Optional<VCAttn_TensorOrMemRefOf<[I1, F16, BF16, F32]>>, "[B, Hq, Nq, Nk], or 1">:$mask,
    Arg<Optional<VCAttn_TensorOrMemRefOf<[I32]>>, "[B]">:$lengths,
    Arg<Optional<VCAttn_TensorOrMemRefOf<[I1]>>, "[B, Hq, query tiles, key tiles]">:$block_mask,
    Arg<Variadic<VCAttn_TensorOrMemRefOf<[F16, BF16, F32]>>, "result, log-sum-exp, room for totals">:$outs,
    F64Attr:$scale,
    VCAttn_SoftmaxCastAttr:$cast,
    DefaultValuedAttr<VCAttn_CausalityAttr, "Causality::None">:$causal,
    OptionalAttr<VCAttn_WindowAttr>:$window,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout,
    VCAttn_TargetAttr:$target,
    VCAttn_ScheduleAttr:$schedule,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$split_keys);
  let results = (outs Variadic<RankedTensorOf<[F16, BF16, F32]>>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $query_scale `,` $key `,` $key_scale `,` $value `,`
    $value_scale `,` $means `:` type($query) `,` type($query_scale) `,`
    type($key) `,` type($key_scale) `,` type($value) `,` type($value_scale) `,`
    type($means) `)` (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`blocks` `(` $block_mask^ `:` type($block_mask) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// The output for the log-sum-exp and the room for totals; null without.
    ::mlir::Value getLseOut();
    ::mlir::Value getTotalsOut();
  }];
  let hasVerifier = 1;
}

def VCAttn_EncodeTensorMapOp : VCAttn_Op<"encode_tensor_map", [
    MemoryEffects<[MemAlloc]>]> {
  let summary = "Make, on the host, the tensor map of a buffer";
  let description = [{
    Describes `source` (dimensions and strides as the memref has them, 64-bit;
    the innermost stride must be 1, the others multiples of 16 bytes at run
    time) for copies of boxes of `box` elements, in `source`'s dimension order,
    into shared memory with the narrowest swizzle (32, 64 or 128 bytes) that spans
    the box's innermost dimension; elements outside read zero. A box may be larger
    than its dimension.
    An impossible map is an error of the call at run time.
  }];
  let arguments = (ins
    Arg<MemRefOf<[I8, F8E4M3FN, F16, BF16, F32]>, "the buffer">:$source,
    DenseI64ArrayAttr:$box);
  let results = (outs VCAttn_TensorMapType:$result);
  let assemblyFormat = "$source `box` $box attr-dict `:` type($source)";
  let hasVerifier = 1;
}

#endif // VCATTN_PACKINGOPS_TD
