// RUN: not vcattn-opt %s --vcattn-split-keys=keys=1000 2>&1 | FileCheck %s
// RUN: not vcattn-opt %s --vcattn-split-keys=keys=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// CHECK: error: vcattn-split-keys: keys must be a multiple of 2048, or -1, got 1000
// NEGATIVE: error: vcattn-split-keys: keys must be a multiple of 2048, or -1, got -2
module {}
