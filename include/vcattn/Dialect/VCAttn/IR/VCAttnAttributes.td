//===- VCAttnAttributes.td - Attributes of the dialect ------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_ATTRIBUTES_TD
#define VCATTN_ATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnDialect.td"

class VCAttn_Attr<string name, string mnem> : AttrDef<VCAttn_Dialect, name> {
  let mnemonic = mnem;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class VCAttn_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::vcattn";
  let genSpecializedAttr = 0;
}

class VCAttn_EnumAttr<EnumAttrInfo info, string mnemonic, string text>
    : EnumAttr<VCAttn_Dialect, info, mnemonic> {
  let description = text;
  let assemblyFormat = "`<` $value `>`";
}

def VCAttn_Layout : VCAttn_Enum<"Layout", "Order of a rank-4 tensor's dimensions", [
  I32EnumAttrCase<"BHTD", 0, "bhtd">,
  I32EnumAttrCase<"BTHD", 1, "bthd">
]>;
def VCAttn_LayoutAttr : VCAttn_EnumAttr<VCAttn_Layout, "layout", [{
  `bhtd`: batch, heads, tokens, dim. `bthd`: batch, tokens, heads, dim.
}]>;

def VCAttn_Causality : VCAttn_Enum<"Causality", "Which keys a query may see", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"TopLeft", 1, "top_left">,
  I32EnumAttrCase<"BottomRight", 2, "bottom_right">
]>;
def VCAttn_CausalityAttr : VCAttn_EnumAttr<VCAttn_Causality, "causality", [{
  `none`: every key. `top_left`: query i sees keys j <= i. `bottom_right`:
  query i sees keys j <= i + (keys - queries), so that the last query sees the
  last key; with more queries than keys the first ones see nothing. Where an
  attention has `lengths`, its number of keys is the batch's length.
}]>;

def VCAttn_WindowAttr : VCAttn_Attr<"Window", "window"> {
  let summary = "How far from its own position a query sees keys";
  let description = [{
    Query i stands at key d: i, or i + (keys - queries) under causality
    `bottom_right`. It sees keys from d - `left` to d + `right`, both included;
    -1, the default of either, sets no bound. Causality bounds the right as well:
    whichever is less.

    ```mlir
    #vcattn.window<left = 1024, right = 0>
    #vcattn.window<left = 1024>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "-1">:$left,
    DefaultValuedParameter<"int64_t", "-1">:$right);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def VCAttn_SoftmaxCast : VCAttn_Enum<"SoftmaxCast", "How scores become 8-bit probabilities", [
  I32EnumAttrCase<"Exact", 0, "exact">,
  I32EnumAttrCase<"ExpCast", 1, "expcast">,
  I32EnumAttrCase<"Hybrid", 2, "hybrid">
]>;
def VCAttn_SoftmaxCastAttr : VCAttn_EnumAttr<VCAttn_SoftmaxCast, "cast", [{
  `exact`: the exponential in FP32, then one rounding to E4M3. `expcast`: one
  fused multiply-add whose rounded result is the E4M3 code itself. `hybrid`: of
  the 8 groups of 8 keys in a tile the first ones as `exact`, the others as
  `expcast`.
}]>;

def VCAttn_Format : VCAttn_Enum<"Format", "Storage format of quantized values", [
  I32EnumAttrCase<"I8", 0, "i8">,
  I32EnumAttrCase<"E4M3", 1, "f8E4M3FN">,
  I32EnumAttrCase<"E2M1", 2, "f4E2M1FN">
]>;
def VCAttn_FormatAttr : VCAttn_EnumAttr<VCAttn_Format, "format", [{
  `i8`: integers in [-127, 127]. `f8E4M3FN`: E4M3, largest value 448.
  `f4E2M1FN`: E2M1, largest value 6, with one E4M3 scale per 16 values.
}]>;

def VCAttn_Granularity : VCAttn_Enum<"Granularity", "Which values share one scale", [
  I32EnumAttrCase<"Tensor", 0, "tensor">,
  I32EnumAttrCase<"Token", 1, "token">,
  I32EnumAttrCase<"Block", 2, "block">,
  I32EnumAttrCase<"Channel", 3, "channel">
]>;
def VCAttn_GranularityAttr : VCAttn_EnumAttr<VCAttn_Granularity, "granularity", [{
  Within one batch and head: `tensor`: all values; `token`: those of a token;
  `block`: those of a block of tokens (or of one of its groups); `channel`:
  those of a channel.
}]>;

//===----------------------------------------------------------------------===//
// Target and schedule
//===----------------------------------------------------------------------===//

def VCAttn_TargetAttr : VCAttn_Attr<"Target", "target"> {
  let summary = "The machine a kernel is compiled for";
  let description = [{
    A chip that the project knows, with what it has (shared memory, registers,
    tensor memory, matrix formats): `sm_90a`, `sm_100a`, `sm_103a`, `sm_120a`.

    ```mlir
    #vcattn.target<"sm_90a">
    ```
  }];
  let parameters = (ins StringRefParameter<"chip name">:$chip);
  let assemblyFormat = "`<` $chip `>`";
  let genVerifyDecl = 1;
}

def VCAttn_ScheduleAttr : VCAttn_Attr<"Schedule", "schedule"> {
  let summary = "How one attention kernel is laid out on a multiprocessor";
  let description = [{
    Tile sizes in queries and keys, stages of the key/value pipeline, warpgroups
    that consume tiles (each takes `tile_q / consumers` queries), registers per
    thread of producer and consumer, whether consumers take turns in issuing
    matrix operations, and after how many key tiles the FP8 accumulator is
    promoted to FP32 (a multiple of 8; PTX's FP8 accumulation on Hopper keeps
    about 14 bits).

    ```mlir
    #vcattn.schedule<tile_q = 128, tile_k = 128, stages = 4, consumers = 2,
                     producer_registers = 24, consumer_registers = 240,
                     ping_pong = true, promotion = 16>
    ```

    The attribute alone is checked for sense; an op that carries it together
    with a target checks that the target has the room.
  }];
  let parameters = (ins
    "int64_t":$tile_q, "int64_t":$tile_k, "int64_t":$stages,
    "int64_t":$consumers, "int64_t":$producer_registers,
    "int64_t":$consumer_registers, "bool":$ping_pong, "int64_t":$promotion);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // VCATTN_ATTRIBUTES_TD
