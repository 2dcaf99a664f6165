// RUN: vcattn-opt %s --vcattn-isolate-entries --split-input-file --verify-diagnostics

// expected-error @+1 {{holds no attention that could be compiled}}
module {
  func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
