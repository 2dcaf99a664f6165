//===- Passes.td - Passes on the dialect --------------------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The method's four steps, in the order in which they are usually run, then
// what turns their result into a kernel's operands. Each works without the
// others and leaves alone what it has already done.
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TRANSFORMS_PASSES_TD
#define VCATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineAttention : Pass<"vcattn-outline-attention", "::mlir::ModuleOp"> {
  let summary = "Give each attention that has company a function of its own";
  let description = [{
    Every `vcattn.attention` of a function that holds anything else moves to a
    private function `@<function>_attention<N>` with the attribute
    `vcattn.entry`, and a call takes its place. Nothing else changes: reshapes,
    transposes and whatever a model does around attention stay in the caller.

    ```mlir
    func.func @f(%q: ..., %k: ..., %v: ...) -> ... {
      %o = vcattn.attention %q, %k, %v {scale = 0.088 : f64} : ...
      %r = linalg.exp ins(%o : ...) outs(%e : ...) -> ...
      return %r : ...
    }
    ```

    becomes

    ```mlir
    func.func @f(%q: ..., %k: ..., %v: ...) -> ... {
      %o = call @f_attention0(%q, %k, %v) : ...
      %r = linalg.exp ins(%o : ...) outs(%e : ...) -> ...
      return %r : ...
    }
    func.func private @f_attention0(%q: ..., %k: ..., %v: ...) -> ...
        attributes {vcattn.entry} {
      %o = vcattn.attention %q, %k, %v {scale = 0.088 : f64} : ...
      return %o : ...
    }
    ```

    A function that is nothing but attention already is marked with
    `vcattn.entry` and keeps its name and visibility. If a name is taken, a
    number is appended.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::vcattn::VCAttnDialect"];
  let options = [
    Option<"keepReshapes", "keep-reshapes", "bool", /*default=*/"false",
           "Mark a function that is attention and reshapes instead of taking it "
           "apart">,
  ];
  let statistics = [
    Statistic<"outlined", "outlined", "Attentions moved to a function">,
    Statistic<"marked", "marked",
              "Functions that were nothing but attention already">,
  ];
}

def SmoothKeys : Pass<"vcattn-smooth-keys"> {
  let summary = "Centre keys and rotate queries and keys (changes rounding)";
  let description = [{
    Makes the scores' operands easy to quantize, and changes the scores by
    rounding only: the keys' mean over all tokens is subtracted (a softmax does
    not see it), then queries and keys are rotated by the same Hadamard matrix.
    An attention that also returns its log-sum-exp has it corrected.

    ```mlir
    %o, %lse = vcattn.attention %q, %k, %v {scale = 0.088 : f64} : ...
    ```

    becomes

    ```mlir
    %kc, %mean = vcattn.center_keys %k : ...
    %qr = vcattn.hadamard %q : ...
    %kr = vcattn.hadamard %kc : ...
    %o, %lse0 = vcattn.attention %qr, %kr, %v {scale = 0.088 : f64} : ...
    %lse = vcattn.correct_lse %q, %mean, %lse0 {scale = 0.088 : f64} : ...
    ```

    Works on `vcattn.attention` and on `vcattn.quantized_attention` whose queries
    and keys are still floats. A head dimension that is no power of two is rotated
    in blocks of the largest one that divides it; one that is dynamic or odd is
    not rotated, which a remark says. Keys that are centred or rotated
    already, directly or before a gathering, are not centred or rotated again.
  }];
  let dependentDialects = ["::vcattn::VCAttnDialect"];
  let options = [
    Option<"center", "center", "bool", /*default=*/"true",
           "Subtract the keys' mean">,
    Option<"rotate", "rotate", "bool", /*default=*/"true",
           "Rotate queries and keys by the Hadamard matrix">,
  ];
  let statistics = [
    Statistic<"centered", "centered", "Attentions whose keys were centred">,
    Statistic<"rotated", "rotated",
              "Attentions whose queries and keys were rotated">,
    Statistic<"refused", "refused",
              "Attentions that were not rotated for their head dimension, or "
              "whose queries and keys are codes">,
  ];
}

def SplitSequences : Pass<"vcattn-split-sequences"> {
  let summary = "Attention of packed sequences as a loop over them";
  let description = [{
    ```mlir
    %o = vcattn.varlen_attention %q, %k, %v sequences %cu_q, %cu_k {...} : ...
    ```

    becomes

    ```mlir
    %o = scf.for %s = %c0 to %sequences step %c1 iter_args(%out = %zeros) {
      // From cu_q[s] to cu_q[s + 1], and from cu_k[s] to cu_k[s + 1].
      %qs = tensor.extract_slice %q[0, 0, %q0, 0] [1, 8, %queries, 128] ...
      %ks = tensor.extract_slice %k ...
      %vs = tensor.extract_slice %v ...
      %os = vcattn.attention %qs, %ks, %vs {...} : ...
      %next = tensor.insert_slice %os into %out ...
      scf.yield %next
    }
    ```

    to each of whose attentions the method's steps then apply. The loop runs on
    the host, which has to read the boundaries: with `readable=false`, as for a
    GPU, such an attention is an error.
  }];
  let dependentDialects = ["::vcattn::VCAttnDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"readable", "readable", "bool", /*default=*/"true",
           "Whether the host can read the boundaries">,
  ];
  let statistics = [
    Statistic<"split", "split", "Attentions that became loops over sequences">,
  ];
}

def SmoothValues : Pass<"vcattn-smooth-values"> {
  let summary = "Sort keys by their values' cluster and split values into block "
                "means and residuals (changes rounding)";
  let description = [{
    Makes the values small: tokens are put in the order of their values'
    clusters, so that the 128 values of a block are alike, and each block's mean
    is taken out, to be added back in proportion to the block's probability.
    The attention stays exact up to rounding: keys, values and mask are
    permuted alike.

    ```mlir
    %o = vcattn.attention %q, %k, %v {scale = 0.088 : f64} : ...
    ```

    becomes

    ```mlir
    %perm, %centroids = vcattn.cluster %v {clusters = 64, iterations = 4} : ...
    %kg = vcattn.gather_tokens %k, %perm : ...
    %vg = vcattn.gather_tokens %v, %perm : ...
    %r, %means = vcattn.block_residual %vg : ...
    %o = vcattn.attention %q, %kg, %r means %means {scale = 0.088 : f64} : ...
    ```

    With `clusters=0` the blocks are taken in sequence order. So they are, with a
    remark, where a permutation would be wrong or cannot be written down: with
    causality, a window or a block mask (which are about positions), with keys
    that are codes already, and with a mask of one head when the number of query
    heads per key head is dynamic. Tokens past an attention's `lengths` are left
    out of clusters and means.
    Works on `vcattn.attention` and on `vcattn.quantized_attention` whose values
    are still floats; one that has means is left alone.
  }];
  let dependentDialects = ["::vcattn::VCAttnDialect"];
  let options = [
    Option<"clusters", "clusters", "int64_t", /*default=*/"64",
           "Clusters per head; 0 takes blocks in sequence order">,
    Option<"iterations", "iterations", "int64_t", /*default=*/"4",
           "Updates of the centroids">,
  ];
  let statistics = [
    Statistic<"clustered", "clustered",
              "Attentions whose keys and values were sorted by cluster">,
    Statistic<"centered", "centered",
              "Attentions whose values were split into means and residuals">,
    Statistic<"refused", "refused",
              "Attentions that kept their sequence order against the options, "
              "or whose values are codes">,
  ];
}

def Quantize : Pass<"vcattn-quantize"> {
  let summary = "Quantize attention's operands to 8 bits (changes numerics)";
  let description = [{
    Queries and keys become i8 or E4M3 codes with a scale per query and four per
    block of 128 keys, values E4M3 codes with a scale per channel, and the
    attention one on codes. Its probabilities are E4M3 from then on, rounded from
    the exact exponential; `vcattn-expcast` changes that.

    ```mlir
    %o = vcattn.attention %q, %k, %v {scale = 0.088 : f64} : ...
    ```

    becomes

    ```mlir
    %q8, %qs = vcattn.quantize %q {format = #vcattn.format<i8>,
        granularity = #vcattn.granularity<token>} : ...
    %k8, %ks = vcattn.quantize %k {format = #vcattn.format<i8>, groups = 4 : i64,
        granularity = #vcattn.granularity<block>} : ...
    %v8, %vs = vcattn.quantize %v {format = #vcattn.format<f8E4M3FN>,
        granularity = #vcattn.granularity<channel>} : ...
    %o = vcattn.quantized_attention %q8 scale %qs, %k8 scale %ks, %v8 scale %vs
        {cast = #vcattn.cast<exact>, scale = 0.088 : f64} : ...
    ```

    Means that `vcattn-smooth-values` took out bound the values' scales, and get
    what quantization puts into the mean of the codes
    (`vcattn.compensate_means`). Operands that are codes already stay as they
    are.
  }];
  let dependentDialects = ["::vcattn::VCAttnDialect"];
  let options = [
    Option<"scores", "scores", "::vcattn::ScoreFormat",
           /*default=*/"::vcattn::ScoreFormat::I8",
           "Format of queries and keys",
           [{::llvm::cl::values(
               clEnumValN(::vcattn::ScoreFormat::I8, "i8", "8-bit integers"),
               clEnumValN(::vcattn::ScoreFormat::E4M3, "f8E4M3FN", "E4M3"),
               clEnumValN(::vcattn::ScoreFormat::None, "none",
                          "leave them floats"))}]>,
    Option<"values", "values", "bool", /*default=*/"true",
           "Quantize the values">,
  ];
  let statistics = [
    Statistic<"scoresQuantized", "scores-quantized",
              "Attentions whose queries and keys were quantized">,
    Statistic<"valuesQuantized", "values-quantized",
              "Attentions whose values were quantized">,
    Statistic<"refused", "refused",
              "Attentions with nothing left to quantize">,
  ];
}

def ExpCast : Pass<"vcattn-expcast"> {
  let summary = "Compute probabilities' codes by one multiply-add and a "
                "conversion (changes numerics)";
  let description = [{
    The softmax cast of quantized attentions becomes `expcast`: the bits of the
    E4M3 code are an affine function of the score, so that no exponential is
    computed; docs/Numerics.md bounds the error. With `cast=hybrid` it becomes
    `hybrid`, which does that for a part of each tile's keys only.

    ```mlir
    %o = vcattn.quantized_attention %q8 scale %qs, %k8 scale %ks, %v8 scale %vs
        {cast = #vcattn.cast<exact>, scale = 0.088 : f64} : ...
    ```

    becomes

    ```mlir
    %o = vcattn.quantized_attention %q8 scale %qs, %k8 scale %ks, %v8 scale %vs
        {cast = #vcattn.cast<expcast>, scale = 0.088 : f64} : ...
    ```

    A plain `vcattn.attention` becomes a `vcattn.quantized_attention` with float
    operands: only its probabilities are codes then.
  }];
  let dependentDialects = ["::vcattn::VCAttnDialect"];
  let options = [
    Option<"cast", "cast", "::vcattn::SoftmaxCast",
           /*default=*/"::vcattn::SoftmaxCast::ExpCast",
           "The cast to choose",
           [{::llvm::cl::values(
               clEnumValN(::vcattn::SoftmaxCast::ExpCast, "expcast",
                          "for every key"),
               clEnumValN(::vcattn::SoftmaxCast::Hybrid, "hybrid",
                          "for some keys, exponentials for the others"))}]>,
  ];
  let statistics = [
    Statistic<"converted", "converted", "Attentions whose cast was changed">,
    Statistic<"refused", "refused", "Attentions that had this cast already">,
  ];
}

def Schedule : Pass<"vcattn-schedule"> {
  let summary = "Choose target and schedule of quantized attentions";
  let description = [{
    Sets `target` and `schedule`: the one that an attention has already, or else
    the one that `file` has for its target, head dimensions, formats, causality
    and sizes, or else the target's default one for its head dimensions and
    sizes; each with the fields that `choices` names replaced.
    `choices` is a list of `field=value` with the names that
    `#vcattn.schedule` prints, for example `stages=3,ping_pong=false`; choosing
    `tile_q` alone also brings `consumers`, their registers and `ping_pong`. A
    field that there is not, a value that it cannot have and a schedule that the
    target has no room for are errors before any code exists.

    ```mlir
    %o = vcattn.quantized_attention ... {cast = #vcattn.cast<expcast>,
        scale = 0.088 : f64} : ...
    ```

    becomes

    ```mlir
    %o = vcattn.quantized_attention ... {cast = #vcattn.cast<expcast>,
        scale = 0.088 : f64, target = #vcattn.target<"sm_90a">,
        schedule = #vcattn.schedule<tile_q = 192, tile_k = 64, ...>} : ...
    ```

    A target that an attention has already is kept unless the `target` option is
    given.
  }];
  let dependentDialects = ["::vcattn::VCAttnDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "Chip, for example sm_90a (the default where an attention has none)">,
    Option<"choices", "choices", "std::string", /*default=*/"",
           "Fields of the schedule to choose, as stages=3,promotion=32">,
    Option<"file", "file", "std::string", /*default=*/"",
           "Schedules that vcattn-compile --tune-file has stored">,
    Option<"report", "report", "bool", /*default=*/"false",
           "Remark on the schedule of each attention">,
  ];
  let statistics = [
    Statistic<"scheduled", "scheduled", "Attentions that have a schedule now">,
    Statistic<"refused", "refused", "Attentions that their target cannot run">,
  ];
}

def PackOperands : Pass<"vcattn-pack-operands"> {
  let summary = "Put scheduled attentions' operands in their kernel's order";
  let description = [{
    Turns each `vcattn.quantized_attention` that has a target into a
    `vcattn.packed_attention`, one launch of the target's kernel, on packed
    values and means.

    ```mlir
    %o = vcattn.quantized_attention %q8 scale %qs, %k8 scale %ks, %v8 scale %vs
        means %m {cast = #vcattn.cast<expcast>, scale = 0.088 : f64,
                  target = #vcattn.target<"sm_90a">, schedule = ...} : ...
    ```

    becomes

    ```mlir
    %vp = vcattn.pack_values %v8 : ...
    %mp = vcattn.pack_means %m, %vs : ...
    %e = tensor.empty() : tensor<1x4x2048x128xbf16>
    %o = vcattn.packed_attention ins(%q8, %qs, %k8, %ks, %vp, %vs, %mp : ...)
        outs(%e : ...) {scale = 0.088 : f64, ...} -> ...
    ```

    Without means, zeros are packed. What the kernel does not take is an error
    that names it: float operands, the exact cast, a negative scale, a target
    without a kernel. Where shared memory has no room for the FP32 copies of the
    accumulators (large value dimensions), the kernel gets it in global memory,
    as one more output. Attentions without a target are left to the CPU.
  }];
  let dependentDialects = ["::vcattn::VCAttnDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"packed", "packed", "Attentions that became kernel launches">,
    Statistic<"refused", "refused", "Attentions that the kernel does not take">,
  ];
}

def SplitKeys : Pass<"vcattn-split-keys"> {
  let summary = "Cut the keys of packed attentions with few queries into shards";
  let description = [{
    A kernel's unit of work is a tile of queries of one head; with few of them
    most of the chip idles. This pass makes units of shards of the keys: each
    `vcattn.packed_attention` that gains gets `split_keys`, FP32 results and
    log-sum-exps per shard, and a `vcattn.merge_attention` behind it.

    ```mlir
    %o = vcattn.packed_attention ins(...) outs(%e : tensor<1x8x16x128xbf16>)
        {...} -> tensor<1x8x16x128xbf16>
    ```

    becomes, with 65,536 keys and `keys=16384`,

    ```mlir
    %p, %l = vcattn.packed_attention ins(...)
        outs(%e0, %e1 : tensor<4x1x8x16x128xf32>, tensor<4x1x8x16xf32>)
        {split_keys = 16384 : i64, ...}
        -> tensor<4x1x8x16x128xf32>, tensor<4x1x8x16xf32>
    %o = vcattn.merge_attention %p, %l : ... -> tensor<1x8x16x128xbf16>
    ```

    By default the shards' size follows from the shapes, if they are static
    (docs/Rationale.md); `keys` says it for every attention, -1 splits none.
    A row's probability codes depend on where its keys are cut, though not on
    other rows.
  }];
  let options = [
    Option<"keys", "keys", "int64_t", "0",
           "Keys of a shard, a multiple of 2048; 0: as the shapes suggest; -1: "
           "all of them">,
  ];
  let dependentDialects = ["::vcattn::VCAttnDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"split", "split", "Attentions whose keys were split">,
  ];
}

def AssertSizes : Pass<"vcattn-assert-sizes"> {
  let summary = "Assert that the sizes which attention's types leave open agree";
  let description = [{
    An attention on tensors of dynamic sizes takes for granted that its operands
    belong together; code that is compiled from it would read past their ends if
    they do not. For each pair of sizes that have to be equal and are not both
    static this pass adds a `cf.assert`, and one that query heads are a multiple
    of key heads.

    ```mlir
    %o = vcattn.attention %q, %k, %v {scale = 0.088 : f64}
        : tensor<1x4x?x128xbf16>, tensor<1x4x?x128xbf16>, tensor<1x4x?x128xbf16> -> ...
    ```

    becomes

    ```mlir
    %n = tensor.dim %k, %c2 : tensor<1x4x?x128xbf16>
    %m = tensor.dim %v, %c2 : tensor<1x4x?x128xbf16>
    %same = arith.cmpi eq, %n, %m : index
    cf.assert %same, "attention: keys and values differ in number"
    %o = vcattn.attention ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numAssertions", "assertions", "Assertions added">,
  ];
}

def PlanWorkspace : Pass<"vcattn-plan-workspace", "::mlir::ModuleOp"> {
  let summary = "Place all buffers of an entry function in one workspace";
  let description = [{
    Each `memref.alloc` of an entry function (one with the attribute
    `vcattn.entry`, or, if no function has it, a public one) becomes a view, at a
    multiple of 256 bytes, of an argument that the caller gives; `memref.dealloc`
    goes away. Buffers that are not alive at the same time share bytes. A
    function beside it computes the workspace's size from the same arguments.

    ```mlir
    func.func @f(%x: memref<?xf32>) attributes {vcattn.entry} {
      %n = memref.dim %x, %c0 : memref<?xf32>
      %a = memref.alloc(%n) : memref<?xf32>
      ...
      memref.dealloc %a : memref<?xf32>
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%x: memref<?xf32>, %w: memref<?xi8> {vcattn.workspace},
                 %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
      %n = memref.dim %x, %c0 : memref<?xf32>
      %a = memref.view %w[%c0][%n] : memref<?xi8> to memref<?xf32>
      ...
      return
    }
    func.func @f_workspace_size(%x: memref<?xf32>) -> i64 { ... }
    ```

    Sizes have to be computable from the arguments' sizes. An entry function has
    no results (they are out-parameters) and is called by nobody in its module.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
  let options = [
    Option<"reuse", "reuse", "bool", /*default=*/"true",
           "Let buffers share bytes">,
  ];
  let statistics = [
    Statistic<"numBuffers", "buffers", "Buffers placed">,
    Statistic<"numStaticBytes", "static-bytes",
              "Bytes of workspace for buffers of static size">,
  ];
}

#endif // VCATTN_TRANSFORMS_PASSES_TD
