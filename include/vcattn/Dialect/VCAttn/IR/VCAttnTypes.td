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

#endif // VCATTN_TYPES_TD
