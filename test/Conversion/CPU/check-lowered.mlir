// RUN: vcattn-opt %s --vcattn-check-lowered --split-input-file --verify-diagnostics --allow-unregistered-dialect

llvm.func @fine(%x: i32) -> i32 {
  %0 = llvm.add %x, %x : i32
  llvm.return %0 : i32
}

// -----

llvm.func @left(%x: i32) -> i32 {
  // expected-error @+1 {{'unknown.op' op has no lowering to the CPU}}
  %0 = "unknown.op"(%x) : (i32) -> i32
  llvm.return %0 : i32
}
