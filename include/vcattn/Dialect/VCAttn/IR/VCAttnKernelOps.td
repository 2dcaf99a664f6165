//===- VCAttnKernelOps.td - Level 3: one kernel over tiles --*- tablegen -*-===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VCATTN_KERNELOPS_TD
#define VCATTN_KERNELOPS_TD

include "vcattn/Dialect/VCAttn/IR/VCAttnAttributes.td"
include "vcattn/Dialect/VCAttn/IR/VCAttnTypes.td"

#endif // VCATTN_KERNELOPS_TD
