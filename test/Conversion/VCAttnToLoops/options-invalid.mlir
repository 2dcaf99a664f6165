// RUN: not vcattn-opt %s --convert-vcattn-to-loops="target=tpu" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not vcattn-opt %s --convert-vcattn-to-loops="vector-width=-1" 2>&1 | FileCheck %s --check-prefix=WIDTH

// TARGET: error: convert-vcattn-to-loops: target must be cpu or gpu, got 'tpu'
// WIDTH: error: convert-vcattn-to-loops: vector-width must not be negative, got -1
module {}
