// A module that does not parse is an error at the place, not a crash.
// RUN: not vcattn-run %s 2>&1 | FileCheck %s
// CHECK: broken-module.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: use of undeclared SSA value name
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %y : tensor<2xf32>
}
