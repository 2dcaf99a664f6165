//===- VCAttnOps.td - All ops of the dialect ----------------*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_OPS_TD
#define VCATTN_OPS_TD

include "vcattn/Dialect/VCAttn/IR/VCAttnAttentionOps.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnMethodOps.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnPackingOps.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnKernelOps.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnSoftmaxOps.td"

#endif // VCATTN_OPS_TD
