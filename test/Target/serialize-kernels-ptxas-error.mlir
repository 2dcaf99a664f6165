// REQUIRES: ptxas
// RUN: not vcattn-opt %s --vcattn-serialize-kernels=ptxas=%ptxas 2>&1 | FileCheck %s

// What ptxas says comes through, and nothing is left behind.
// CHECK: error: {{.*}}ptxas failed:
// CHECK: Not a name of any known instruction
gpu.module @kernels {
  llvm.func @f() attributes {gpu.kernel, nvvm.kernel} {
    llvm.inline_asm has_side_effects "no.such.instruction;", "" : () -> ()
    llvm.return
  }
}
