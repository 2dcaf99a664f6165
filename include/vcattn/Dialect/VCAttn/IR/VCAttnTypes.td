//===- VCAttnTypes.td - Types of the dialect ----------------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_TYPES_TD
#define VCATTN_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnDialect.td"

class VCAttn_Type<string name, string mnem> : TypeDef<VCAttn_Dialect, name> {
  let mnemonic = mnem;
}

def VCAttn_TensorMapType : VCAttn_Type<"TensorMap", "tensor_map"> {
  let summary = "A tensor map of the TMA unit, made on the host";
  let description = [{
    The opaque 128 bytes by which a kernel's bulk tensor copies find their
    source (PTX ISA, "Tensor-map"). On the host it is a pointer to them; a
    kernel receives them by value.
  }];
}

//===----------------------------------------------------------------------===//
// Level 3: what a kernel's ops work on
//===----------------------------------------------------------------------===//

def VCAttn_FragmentRole : I32EnumAttr<"FragmentRole", "What a register tile holds", [
  I32EnumAttrCase<"Scores", 0, "scores">,
  I32EnumAttrCase<"Multipliers", 1, "multipliers">,
  I32EnumAttrCase<"Levels", 2, "levels">,
  I32EnumAttrCase<"Probabilities", 3, "probabilities">,
  I32EnumAttrCase<"Accumulator", 4, "accumulator">,
  I32EnumAttrCase<"RowSums", 5, "row_sums">,
  I32EnumAttrCase<"Rows", 6, "rows">,
  I32EnumAttrCase<"Keep", 7, "keep">,
  I32EnumAttrCase<"Added", 8, "added">,
  I32EnumAttrCase<"Maxima", 9, "maxima">
]> {
  let cppNamespace = "::vcattn";
  let genSpecializedAttr = 0;
}

def VCAttn_TileType : VCAttn_Type<"Tile", "tile"> {
  let summary = "A tile in shared memory";
  let description = [{
    Rows and columns of one element type, laid out as the target's matrix unit
    wants to read them; all threads of the block see it. A tile that came out of
    a pipeline is only to be read between `vcattn.wait_tile` and
    `vcattn.release`.

    8-bit tiles lie in panels of 128, 64 or 32 columns, one after the other, each
    with all rows: 32 if that is enough, else 64 or 128, whichever pads less
    (128 if both pad as much). The last panel may be wider than what is left.

    ```mlir
    !vcattn.tile<128x128xi8>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of shared memory.
    int64_t getBytes() const;
    /// Columns of one panel, and panels; tiles of wider elements have one.
    int64_t getPanelColumns() const;
    int64_t getPanels() const;
    /// Bytes of one panel.
    int64_t getPanelBytes() const;
    /// Rows that one copy brings: all, or the largest even share of whole
    /// groups of 8 that is not above 256, the tensor maps' limit.
    int64_t getCopyRows() const;
  }];
}

def VCAttn_PipelineType : VCAttn_Type<"Pipeline", "pipeline"> {
  let summary = "A ring of tiles between one producer and some consumers";
  let description = [{
    Each stage is a tile with two barriers: the producer waits until all
    consumers have released the stage, fills it, and the consumers wait until
    it is full. Use number n of a pipeline (counted from 0 over the kernel's
    whole life) runs in stage n mod stages.

    ```mlir
    !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>
    ```
  }];
  let parameters = (ins "int64_t":$stages, "TileType":$tile);
  let assemblyFormat = "`<` $stages `x` qualified($tile) `>`";
  let genVerifyDecl = 1;
}

def VCAttn_FragmentType : VCAttn_Type<"Fragment", "fragment"> {
  let summary = "A tile in the registers of one consumer";
  let description = [{
    A value of one consumer, spread over its threads in the way that the target
    gives the role:

    | role | shape | holds |
    |---|---|---|
    | `scores` | queries x keys, i32 or f32 | products of query and key codes |
    | `multipliers` | queries x 4, f32 | scale of a row's scores, per key group |
    | `levels` | queries x keys | i16: E4M3 codes, or numbers above 126; f32: exponentials |
    | `probabilities` | queries x keys, f8E4M3FN | A operand of the value product |
    | `accumulator` | queries x (value dim + 8), f32 | sum of probability times value; the last 8 columns are row sums of 8 blocks of keys |
    | `row_sums` | queries x 8, f16 | A operand of the product that restores means |
    | `rows` | queries, f32 | one number per query |
    | `keep` | queries x keys, i1 | whether a query sees a key |
    | `added` | queries x keys, f32 | what a mask adds to the scores, in code units |

    ```mlir
    !vcattn.fragment<64x128xi32, scores>
    !vcattn.fragment<64xf32, rows>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
    "FragmentRole":$role);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape().front(); }
    int64_t getColumns() const { return getShape().size() > 1 ? getShape()[1] : 1; }
  }];
}

def VCAttn_InFlightType : VCAttn_Type<"InFlight", "in_flight"> {
  let summary = "A fragment that the matrix unit is still writing";
  let description = [{
    The result of an asynchronous matrix product. Only another product may
    accumulate onto it; anything else has to `vcattn.mma_wait` first.

    ```mlir
    !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>
    ```
  }];
  let parameters = (ins "FragmentType":$fragment);
  let assemblyFormat = "`<` qualified($fragment) `>`";
}

/// A fragment of one role.
class VCAttn_FragmentOf<string role> : Type<
    CPred<"::llvm::isa<::vcattn::FragmentType>($_self) && "
          "::llvm::cast<::vcattn::FragmentType>($_self).getRole() == "
          "::vcattn::FragmentRole::" # role>,
    "fragment of " # role, "::vcattn::FragmentType">;

def VCAttn_Scores : VCAttn_FragmentOf<"Scores">;
def VCAttn_Multipliers : VCAttn_FragmentOf<"Multipliers">;
def VCAttn_Levels : VCAttn_FragmentOf<"Levels">;
def VCAttn_Probabilities : VCAttn_FragmentOf<"Probabilities">;
def VCAttn_Accumulator : VCAttn_FragmentOf<"Accumulator">;
def VCAttn_RowSums : VCAttn_FragmentOf<"RowSums">;
def VCAttn_Rows : VCAttn_FragmentOf<"Rows">;
def VCAttn_Keep : VCAttn_FragmentOf<"Keep">;
def VCAttn_Added : VCAttn_FragmentOf<"Added">;
def VCAttn_Maxima : VCAttn_FragmentOf<"Maxima">;

#endif // VCATTN_TYPES_TD
