//===- VCAttnKernelOps.td - Level 3: one kernel over tiles --*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attention kernel as a program over tiles: who moves and who computes, in
// which order, on what. No op here is an instruction of some target; a target
// says how fragments lie in registers and which instructions move and multiply
// them. Control flow is scf and arith, memory outside the block is memrefs.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_KERNELOPS_TD
#define VCATTN_KERNELOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnAttributes.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnTypes.td"

// Barriers, copies and asynchronous products stay where they are written, in
// their order; ops on settled fragments are pure.
defvar VCAttn_Ordered = MemoryEffects<[MemRead, MemWrite]>;

//===----------------------------------------------------------------------===//
// The block: shared memory, roles of its threads
//===----------------------------------------------------------------------===//

def VCAttn_SharedTileOp : VCAttn_Op<"shared_tile", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A tile of the block's shared memory";
  let description = [{
    Undefined contents. Shared memory is laid out when the kernel is lowered, in
    the order of these ops and of `vcattn.create_pipeline`; all of them stand at
    the top of the kernel.

    ```mlir
    %totals = vcattn.shared_tile : !vcattn.tile<128x128xf32>
    ```
  }];
  let results = (outs VCAttn_TileType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def VCAttn_CreatePipelineOp : VCAttn_Op<"create_pipeline", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A ring of shared tiles with its barriers";
  let description = [{
    All stages start empty. A stage is empty again once each of `consumers`
    consumers has released it.

    ```mlir
    %keys = vcattn.create_pipeline consumers 2
        : !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$consumers);
  let results = (outs VCAttn_PipelineType:$result);
  let assemblyFormat = "`consumers` $consumers attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def VCAttn_WarpSpecializeOp : VCAttn_Op<"warp_specialize", [
    NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "One producer moves tiles, consumers compute on them";
  let description = [{
    The first region is run by one thread of the producer, the second by every
    thread of each consumer, which gets the consumer's number, an i32. The budgets are registers per thread: the
    producer gives up what consumers take (PTX ISA, setmaxnreg).

    ```mlir
    vcattn.warp_specialize producer registers 24 {
      ...
    } consumers 2 registers 240 {
    ^bb0(%consumer: i32):
      ...
    }
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntPositive]>:$producer_registers,
    ConfinedAttr<I64Attr, [IntPositive]>:$consumers,
    ConfinedAttr<I64Attr, [IntPositive]>:$consumer_registers);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `producer` `registers` $producer_registers $producer
    `consumers` $consumers `registers` $consumer_registers $consumer attr-dict
  }];
  let hasVerifier = 1;
}

def VCAttn_RecomputeOp : VCAttn_Op<"recompute", [
    VCAttn_Ordered, AllTypesMatch<["input", "result"]>]> {
  let summary = "The same number, as if it were another";
  let description = [{
    No pass sees that the result is the input. What is computed from it is
    therefore computed again, where it is wanted, instead of being held in
    registers from an earlier computation on.
  }];
  let arguments = (ins I32:$input);
  let results = (outs I32:$result);
  let assemblyFormat = "$input attr-dict";
}

//===----------------------------------------------------------------------===//
// Moving tiles
//===----------------------------------------------------------------------===//

def VCAttn_AcquireOp : VCAttn_Op<"acquire", [VCAttn_Ordered]> {
  let summary = "Wait until a stage is empty, for filling it";
  let description = [{
    Use `index` of the pipeline, which one `vcattn.load_tile` or
    `vcattn.load_bytes` then fills.
  }];
  let arguments = (ins VCAttn_PipelineType:$pipeline, I32:$index);
  let assemblyFormat = "$pipeline `[` $index `]` attr-dict `:` type($pipeline)";
}

def VCAttn_LoadTileOp : VCAttn_Op<"load_tile", [VCAttn_Ordered]> {
  let summary = "Fill an acquired stage through a tensor map";
  let description = [{
    Asynchronously copies the box at `coordinates` (in the map's dimension
    order, outermost first) to use `index` of the pipeline, which becomes full
    when the copy is done. Elements outside the tensor read zero. A tile of
    several panels takes a copy of the map's box for each, along the last
    dimension, one of more than 256 rows several along the dimension before it.

    ```mlir
    vcattn.load_tile %map[%b, %h, %row, %c0] to %keys[%n]
        : !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>
    ```
  }];
  let arguments = (ins
    VCAttn_TensorMapType:$map, Variadic<I32>:$coordinates,
    VCAttn_PipelineType:$pipeline, I32:$index);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $pipeline `[` $index `]` attr-dict `:` type($pipeline)
  }];
  let hasVerifier = 1;
}

def VCAttn_LoadBytesOp : VCAttn_Op<"load_bytes", [VCAttn_Ordered]> {
  let summary = "Fill an acquired stage from contiguous memory";
  let description = [{
    As `vcattn.load_tile`, from the contiguous elements that follow
    `source[indices]`, as many as the tile has.
  }];
  let arguments = (ins
    Arg<AnyMemRef, "the buffer">:$source, Variadic<Index>:$indices,
    VCAttn_PipelineType:$pipeline, I32:$index);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $pipeline `[` $index `]` attr-dict
    `:` type($source) `,` type($pipeline)
  }];
  let hasVerifier = 1;
}

def VCAttn_TestTileOp : VCAttn_Op<"test_tile", [VCAttn_Ordered]> {
  let summary = "Ask, without waiting, whether a stage is full";
  let description = [{
    For the `wait_tile` of the same use, which then need not ask: a question takes
    as long as an access to shared memory, and asked early it is answered by then.
    The use before of the same stage must have been waited for.

    ```mlir
    %there = vcattn.test_tile %keys[%n] : !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>
    ```
  }];
  let arguments = (ins VCAttn_PipelineType:$pipeline, I32:$index);
  let results = (outs I1:$full);
  let assemblyFormat = "$pipeline `[` $index `]` attr-dict `:` type($pipeline)";
}

def VCAttn_WaitTileOp : VCAttn_Op<"wait_tile", [VCAttn_Ordered]> {
  let summary = "Wait until a stage is full, for reading it";
  let arguments = (ins VCAttn_PipelineType:$pipeline, I32:$index, Optional<I1>:$full);
  let results = (outs VCAttn_TileType:$tile);
  let assemblyFormat = "$pipeline `[` $index `]` (`unless` $full^)? attr-dict `:` type($pipeline) `->` type($tile)";
  let hasVerifier = 1;
  let description = [{
    Use `index` of the pipeline. Every thread of the consumer waits, unless a
    `test_tile` has said that the stage is full.

    ```mlir
    %k = vcattn.wait_tile %keys[%n]
        : !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>> -> !vcattn.tile<128x128xi8>
    ```
  }];
}

def VCAttn_ReleaseOp : VCAttn_Op<"release", [VCAttn_Ordered]> {
  let summary = "This consumer has read a stage";
  let description = [{
    Products that read the tile must have been waited for. With `if`, only where
    the condition (the same in all threads of the consumer) holds.
  }];
  let arguments = (ins VCAttn_PipelineType:$pipeline, I32:$index, Optional<I1>:$condition);
  let assemblyFormat = "$pipeline `[` $index `]` (`if` $condition^)? attr-dict `:` type($pipeline)";
}

def VCAttn_TileRowsOp : VCAttn_Op<"tile_rows", [Pure]> {
  let summary = "Some rows of a tile";
  let description = [{
    Rows `part * r` to `part * r + r - 1`, r being the result's rows: the share
    of one consumer. Whole groups of 8 rows, so that the layout is kept.
  }];
  let arguments = (ins VCAttn_TileType:$tile, I32:$part);
  let results = (outs VCAttn_TileType:$result);
  let assemblyFormat = "$tile `[` $part `]` attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Taking turns
//===----------------------------------------------------------------------===//

class VCAttn_TurnOp<string mnemonic> : VCAttn_Op<mnemonic, [VCAttn_Ordered]> {
  let arguments = (ins I32:$consumer);
  let assemblyFormat = "$consumer attr-dict";
}

def VCAttn_TakeTurnOp : VCAttn_TurnOp<"take_turn"> {
  let summary = "Wait for this consumer's turn to issue products";
  let description = [{
    Two consumers alternate, so that one casts while the other's products run
    (ping-pong). Consumer 1 passes the turn once at the start, which gives
    consumer 0 the first one.
  }];
}

def VCAttn_PassTurnOp : VCAttn_TurnOp<"pass_turn"> {
  let summary = "Give the turn to the other consumer";
  let description = "See `vcattn.take_turn`. Does not wait.";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def VCAttn_MmaScoresOp : VCAttn_Op<"mma_scores", [VCAttn_Ordered]> {
  let summary = "Start scores = queries * keys^T";
  let description = [{
    Codes times codes: i8 gives exact i32, f8E4M3FN gives f32 as the matrix unit
    adds it. Asynchronous; `vcattn.mma_commit` closes the group it belongs to.
  }];
  let arguments = (ins VCAttn_TileType:$queries, VCAttn_TileType:$keys);
  let results = (outs VCAttn_InFlightType:$result);
  let assemblyFormat = "$queries `,` $keys attr-dict `:` type($queries) `,` type($keys) `->` type($result)";
  let hasVerifier = 1;
}

def VCAttn_MmaValuesOp : VCAttn_Op<"mma_values", [VCAttn_Ordered]> {
  let summary = "Start accumulator += probabilities * values";
  let description = [{
    `values` is a tile of `vcattn.pack_values`: one row per channel, keys in the
    order in which the scores hand out probabilities, and 8 rows of which one is
    ones, so that the sums of this tile's probabilities land in one of the last
    8 columns. Asynchronous.
  }];
  let arguments = (ins
    AnyTypeOf<[VCAttn_Accumulator, VCAttn_InFlightType]>:$accumulator,
    VCAttn_Probabilities:$probabilities, VCAttn_TileType:$values);
  let results = (outs VCAttn_InFlightType:$result);
  let assemblyFormat = [{
    $accumulator `,` $probabilities `,` $values attr-dict
    `:` type($accumulator) `,` type($probabilities) `,` type($values) `->` type($result)
  }];
  let hasVerifier = 1;
}

def VCAttn_MmaMeansOp : VCAttn_Op<"mma_means", [VCAttn_Ordered]> {
  let summary = "Start accumulator += row sums of 8 blocks * their means";
  let description = [{
    Restores what was taken out of the values: `means` is a tile of
    `vcattn.pack_means`, of 16 blocks of keys, of which `row_sums` belong to the first 8,
    or to the last 8 where `upper`. Asynchronous.
  }];
  let arguments = (ins
    AnyTypeOf<[VCAttn_Accumulator, VCAttn_InFlightType]>:$accumulator,
    VCAttn_RowSums:$row_sums, VCAttn_TileType:$means, I1:$upper);
  let results = (outs VCAttn_InFlightType:$result);
  let assemblyFormat = [{
    $accumulator `,` $row_sums `,` $means `upper` $upper attr-dict
    `:` type($accumulator) `,` type($row_sums) `,` type($means) `->` type($result)
  }];
  let hasVerifier = 1;
}

def VCAttn_MmaCommitOp : VCAttn_Op<"mma_commit", [VCAttn_Ordered]> {
  let summary = "Close a group of products";
  let description = "The products started since the last commit are one group.";
  let assemblyFormat = "attr-dict";
}

def VCAttn_MmaWaitOp : VCAttn_Op<"mma_wait", [VCAttn_Ordered]> {
  let summary = "Wait for products and settle their result";
  let description = [{
    Waits until at most the last `outstanding` groups are still running; the
    group that makes `value` must be an earlier one.

    ```mlir
    %s = vcattn.mma_wait %running outstanding 1
        : !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>
    ```
  }];
  let arguments = (ins VCAttn_InFlightType:$value,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$outstanding);
  let results = (outs VCAttn_FragmentType:$result);
  let assemblyFormat = "$value `outstanding` $outstanding attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Accumulating
//===----------------------------------------------------------------------===//

def VCAttn_TakeRowSumsOp : VCAttn_Op<"take_row_sums", [
    Pure, AllTypesMatch<["accumulator", "rest"]>, AllTypesMatch<["sum", "new_sum"]>]> {
  let summary = "Move the row sums of up to 8 blocks out of the accumulator";
  let description = [{
    The last 8 columns are added to `sum` (each thread keeps a part of a row's
    sum), converted to f16 as an operand for `vcattn.mma_means`, and cleared. An
    FP8 accumulator adds with few bits: sums must not grow in it.
  }];
  let arguments = (ins VCAttn_Accumulator:$accumulator, VCAttn_Rows:$sum);
  let results = (outs VCAttn_Accumulator:$rest, VCAttn_Rows:$new_sum, VCAttn_RowSums:$row_sums);
  let assemblyFormat = "$accumulator `,` $sum attr-dict `:` type($accumulator) `,` type($sum) `->` type($row_sums)";
}

/// Where the FP32 copy of a consumer's accumulator is: its rows of a tile in
/// shared memory, or its share of this block's row of a buffer.
def VCAttn_Totals : AnyTypeOf<[VCAttn_TileType, MemRefRankOf<[F32], [2]>]>;

class VCAttn_PromotionOp<string mnemonic, list<Trait> traits = []>
    : VCAttn_Op<mnemonic, [VCAttn_Ordered, AllTypesMatch<["accumulator", "result"]>] # traits> {
  let arguments = (ins
    VCAttn_Accumulator:$accumulator, VCAttn_Totals:$total, VCAttn_Rows:$factor);
  let results = (outs VCAttn_Accumulator:$result);
  let assemblyFormat = "$accumulator `,` $total `times` $factor attr-dict `:` type($accumulator) `,` type($total) `,` type($factor)";
}

def VCAttn_PromoteOp : VCAttn_PromotionOp<"promote"> {
  let summary = "Add the accumulator to its FP32 copy and clear it";
  let description = [{
    total = total * factor + accumulator, in FP32, without the row-sum columns,
    which stay. `factor` brings the copy to the current maximum. `total` is this
    consumer's rows of a shared tile, where each thread keeps its own elements,
    or a buffer [blocks, elements] in global memory, where each consumer of a
    block has its share of the block's row.
  }];
}

def VCAttn_MergeOp : VCAttn_PromotionOp<"merge"> {
  let summary = "Bring the FP32 copy back into the accumulator";
  let description = "accumulator + total * factor; see `vcattn.promote`.";
}

def VCAttn_ClearTotalOp : VCAttn_Op<"clear_total", [VCAttn_Ordered]> {
  let summary = "Zero the elements that this thread keeps of the FP32 copy";
  let description = [{
    `columns` of each of the consumer's rows; see `vcattn.promote`.
  }];
  let arguments = (ins VCAttn_Totals:$total,
                       ConfinedAttr<I64Attr, [IntPositive]>:$columns);
  let assemblyFormat = "$total `columns` $columns attr-dict `:` type($total)";
  let hasVerifier = 1;
}

def VCAttn_NormalizeAndStoreOp : VCAttn_Op<"normalize_and_store", [VCAttn_Ordered]> {
  let summary = "Divide by the row sums and write the result";
  let description = [{
    out[batch, head, first + r, c] = accumulator[r, c] / sum[r] *
    value_scale[value_batch, value_head, c], rounded to nearest even, for rows inside
    `out`, whose dimensions are in `layout`; 0 where the sum is 0. `sum` is
    first added up over the threads that share a row. With `lse`:
    lse[batch, head, first + r] = ln 2 * (maximum / 8 + log2(sum) - 8 - bias),
    where the bias is that of codes made by `cast` (docs/Numerics.md). With
    `masked`, rows may have seen nothing: theirs is 0 even if a scale is NaN.
  }];
  let arguments = (ins
    VCAttn_Accumulator:$accumulator, VCAttn_Rows:$sum, VCAttn_Maxima:$maximum,
    Arg<MemRefRankOf<[F32], [3]>, "[batch, value heads, channels]">:$value_scale,
    Arg<MemRefRankOf<[F16, BF16, F32], [4]>, "the result">:$out,
    Optional<MemRefRankOf<[F32], [3]>>:$lse,
    Index:$batch, Index:$head, Index:$value_batch, Index:$value_head, Index:$first,
    UnitAttr:$masked,
    DefaultValuedAttr<VCAttn_SoftmaxCastAttr, "SoftmaxCast::ExpCast">:$cast,
    DefaultValuedAttr<VCAttn_LayoutAttr, "Layout::BHTD">:$layout);
  let assemblyFormat = [{
    $accumulator `,` $sum `,` $maximum `,` $value_scale `[` $value_batch `,` $value_head `]` `to`
    $out `[` $batch `,` $head `,` $first `]` (`lse` $lse^)? attr-dict
    `:` type($accumulator) `,` type($sum) `,` type($maximum) `,`
    type($value_scale) `,` type($out) (`,` type($lse)^)?
  }];
  let hasVerifier = 1;
}

#endif // VCATTN_KERNELOPS_TD
