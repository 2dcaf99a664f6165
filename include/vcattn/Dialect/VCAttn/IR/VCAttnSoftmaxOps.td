//===- VCAttnSoftmaxOps.td - Level 3: scores to probabilities -*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel does with a tile's scores: which keys count, what they are
// multiplied by, their casts, and the reference maximum that these share.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_SOFTMAXOPS_TD
#define VCATTN_SOFTMAXOPS_TD

include "vcattn/Dialect/VCAttn/IR/VCAttnKernelOps.td"

def VCAttn_FillOp : VCAttn_Op<"fill", [Pure]> {
  let summary = "A fragment of one number";
  let arguments = (ins F32Attr:$value);
  let results = (outs VCAttn_FragmentType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let description = "Every element is `value`.";
}

def VCAttn_LoadRowsOp : VCAttn_Op<"load_rows", [MemoryEffects<[MemRead]>]> {
  let summary = "Load one number per query, times a factor";
  let description = [{
    Row r gets `factor * source[batch, head, first + r]`, or 0 past the end of
    `source`.
  }];
  let arguments = (ins
    Arg<MemRefRankOf<[F32], [3]>, "[batch, heads, queries]">:$source,
    Index:$batch, Index:$head, Index:$first, F32:$factor);
  let results = (outs VCAttn_Rows:$result);
  let assemblyFormat = [{
    $source `[` $batch `,` $head `,` $first `]` `times` $factor attr-dict
    `:` type($source) `->` type($result)
  }];
}

def VCAttn_LoadMultipliersOp : VCAttn_Op<"load_multipliers", [MemoryEffects<[MemRead]>]> {
  let summary = "What a tile's scores are multiplied by";
  let description = [{
    Row r, key group g: `rows[r] * key_scales[batch, head, tile, g]`; key t of
    the tile belongs to group (t mod 8) / 2.
  }];
  let arguments = (ins
    VCAttn_Rows:$rows,
    Arg<MemRefRankOf<[F32], [4]>, "[batch, heads, tiles, 4]">:$key_scales,
    Index:$batch, Index:$head, Index:$tile);
  let results = (outs VCAttn_Multipliers:$result);
  let assemblyFormat = [{
    $rows `,` $key_scales `[` $batch `,` $head `,` $tile `]` attr-dict
    `:` type($rows) `,` type($key_scales) `->` type($result)
  }];
}

def VCAttn_KeepKeysOp : VCAttn_Op<"keep_keys", [Pure]> {
  let summary = "Which keys of a tile each row sees, by position";
  let description = [{
    Row r is query `first` + r, which stands at key d = `first` + r +
    `diagonal`. Of the keys from `key` on it sees those below `end` that are
    neither more than `left` before d nor more than `right` after it; -1 sets no
    bound.

    ```mlir
    %keep = vcattn.keep_keys rows %first diagonal %d keys %key to %end left -1 right 0
        : !vcattn.fragment<64x128xi1, keep>
    ```
  }];
  let arguments = (ins
    I32:$first, I32:$diagonal, I32:$key, I32:$end, I64Attr:$left, I64Attr:$right);
  let results = (outs VCAttn_Keep:$result);
  let assemblyFormat = [{
    `rows` $first `diagonal` $diagonal `keys` $key `to` $end `left` $left
    `right` $right attr-dict `:` type($result)
  }];
}

def VCAttn_LoadMaskOp : VCAttn_Op<"load_mask", [
    MemoryEffects<[MemRead]>, AllTypesMatch<["keep", "kept"]>]> {
  let summary = "Load a tile of an attention's mask";
  let description = [{
    Entries of the rows from `mask[batch, head, first, key]` on, where `keep`
    has a key; nothing else is read. Of an i1 mask, `kept` are those that are
    true. Of a float mask, `added` is f32(entry) * f32(8 log2(e)), and `kept` are
    those for which that is not -inf. Rows past the mask's end keep nothing.
  }];
  let arguments = (ins
    VCAttn_Keep:$keep,
    Arg<MemRefRankOf<[I1, F16, BF16, F32], [4]>, "[batch, heads, queries, keys]">:$mask,
    Index:$batch, Index:$head, Index:$first, Index:$key);
  let results = (outs VCAttn_Keep:$kept, Optional<VCAttn_Added>:$added);
  let assemblyFormat = [{
    $keep `,` $mask `[` $batch `,` $head `,` $first `,` $key `]` attr-dict
    `:` type($keep) `,` type($mask) (`->` type($added)^)?
  }];
  let hasVerifier = 1;
}

def VCAttn_CastScoresOp : VCAttn_Op<"cast_scores", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "Scores to levels, of which probabilities are made";
  let description = [{
    The probability of a score s is 2^((a * s - maximum) / 8 + 8), with the
    tile's multipliers a and the row's reference maximum, in E4M3. The
    multipliers are scaled by 2^-24 (`vcattn.load_rows`' factor) and give code
    units, 8 per octave (docs/Numerics.md). A score's level is what the cast
    computes before `vcattn.pack_probabilities`, which may only run once the
    probabilities of the tile before are multiplied.

    `expcast`, the paper's: levels are codes. With
    b = (119.65 - maximum) * 2^-24, the f16 subnormal nearest to fma(s, a, b)
    has the code as its bits; negatives give 0, NaN 0x7fff. Code 119.65 is a
    probability of 2^8.

    `exact`: exp2 of fma(s, a * 2^21, (64 - maximum) / 8), rounded to E4M3, two
    codes to a level's 16 bits.

    `hybrid`: of each 8 groups of 8 keys the first 5 as `exact`, the others as
    `expcast` with code 119.535 for 2^8, at which their mean is that of the first.

    Integer scores are read as floats with a bias that the addend takes out
    again. `added` is in code units and added after the fma.

    Scores may exceed the row's maximum a little: `overflow` tells, for all rows
    that share a warp, whether any level would round beyond 448, the largest
    finite E4M3 number, or is NaN. With `saturate`, levels beyond become 448, and
    only NaN stays above: against a raised maximum a level is too large only
    where scores are so large that the fma's rounding does it.

    With `valid`, keys at and after that position have level 0; with `keep`, keys
    that a row does not see.
  }];
  let arguments = (ins
    VCAttn_Scores:$scores, VCAttn_Multipliers:$multipliers,
    VCAttn_Maxima:$maximum, Optional<I32>:$valid, Optional<VCAttn_Keep>:$keep,
    Optional<VCAttn_Added>:$added, VCAttn_SoftmaxCastAttr:$cast,
    UnitAttr:$saturate);
  let results = (outs VCAttn_Levels:$levels, I1:$overflow);
  let assemblyFormat = [{
    $cast $scores `,` $multipliers `,` $maximum (`valid` $valid^)?
    (`keep` $keep^ `:` type($keep))? (`added` $added^ `:` type($added))?
    (`saturate` $saturate^)? attr-dict
    `:` type($scores) `,` type($multipliers) `,` type($maximum) `->` type($levels)
  }];
  let hasVerifier = 1;
}

def VCAttn_PackProbabilitiesOp : VCAttn_Op<"pack_probabilities", [Pure]> {
  let summary = "Levels as the value product's operand";
  let description = [{
    Moves bytes: no thread gives another one anything.
  }];
  let arguments = (ins VCAttn_Levels:$levels, VCAttn_SoftmaxCastAttr:$cast);
  let results = (outs VCAttn_Probabilities:$result);
  let assemblyFormat = "$cast $levels attr-dict `:` type($levels) `->` type($result)";
  let hasVerifier = 1;
}

def VCAttn_CheckMaximumOp : VCAttn_Op<"check_maximum", [
    Pure, AttrSizedOperandSegments]> {
  let summary = "Whether the largest scores overflow, before any is cast";
  let description = [{
    `overflow` as `vcattn.cast_scores` gives it, from the levels of each thread's
    and row's largest score alone: multipliers are not negative, so that no level
    is larger. So it is known before levels are made whether they will be needed.
    Keys at and after `valid`, and that `keep` has not, do not count.
  }];
  let arguments = (ins
    VCAttn_Scores:$scores, VCAttn_Multipliers:$multipliers,
    VCAttn_Maxima:$maximum, Optional<I32>:$valid, Optional<VCAttn_Keep>:$keep,
    VCAttn_SoftmaxCastAttr:$cast);
  let results = (outs I1:$overflow);
  let assemblyFormat = [{
    $cast $scores `,` $multipliers `,` $maximum (`valid` $valid^)?
    (`keep` $keep^ `:` type($keep))? attr-dict
    `:` type($scores) `,` type($multipliers) `,` type($maximum)
  }];
}

def VCAttn_RaiseMaximumOp : VCAttn_Op<"raise_maximum", [
    VCAttn_Ordered, AttrSizedOperandSegments,
    AllTypesMatch<["maximum", "new_maximum"]>,
    TypesMatchWith<"factor is for the same rows", "maximum", "factor", [{
      ::vcattn::FragmentType::get(
          $_self.getContext(), ::llvm::cast<::vcattn::FragmentType>($_self).getShape(),
          ::mlir::Float32Type::get($_self.getContext()), ::vcattn::FragmentRole::Rows)
    }]>]> {
  let summary = "Raise the reference maximum of the rows that overflow";
  let description = [{
    For each row of which `vcattn.cast_scores` makes a level that rounds beyond
    448: the new maximum is the largest of the old one and of the tile's valid
    scores times their multipliers (plus what is `added`), of keys that the row
    sees, and `factor` is 2^((old - new) / 8), or 0 if old is -inf. Other rows
    keep their maximum; their factor is 1. Decided row by row and by the cast's
    own arithmetic, so that a result depends neither on rows that share the warp
    nor on a second rounding. Threads exchange values: run by all of a warp or
    by none.
  }];
  let arguments = (ins
    VCAttn_Scores:$scores, VCAttn_Multipliers:$multipliers,
    VCAttn_Maxima:$maximum, Optional<I32>:$valid, Optional<VCAttn_Keep>:$keep,
    Optional<VCAttn_Added>:$added, VCAttn_SoftmaxCastAttr:$cast);
  let results = (outs VCAttn_Maxima:$new_maximum, VCAttn_Rows:$factor);
  let assemblyFormat = [{
    $cast $scores `,` $multipliers `,` $maximum (`valid` $valid^)?
    (`keep` $keep^ `:` type($keep))? (`added` $added^ `:` type($added))? attr-dict
    `:` type($scores) `,` type($multipliers) `,` type($maximum)
  }];
}

def VCAttn_RescaleOp : VCAttn_Op<"rescale", [
    Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Multiply each row by its factor";
  let arguments = (ins
    AnyTypeOf<[VCAttn_Accumulator, VCAttn_Rows]>:$input, VCAttn_Rows:$factor);
  let results = (outs AnyTypeOf<[VCAttn_Accumulator, VCAttn_Rows]>:$result);
  let assemblyFormat = "$input `by` $factor attr-dict `:` type($input) `,` type($factor)";
  let description = "In FP32, one rounding per element.";
}

#endif // VCATTN_SOFTMAXOPS_TD
