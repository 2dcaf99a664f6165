// RUN: vcattn-opt %s --vcattn-protect-arguments | FileCheck %s

// CHECK-LABEL: func.func @entry
//  CHECK-SAME: (%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: index, %{{.*}}: tensor<4xf32> {bufferization.writable = true})
func.func @entry(%x: tensor<4xf32>, %n: index,
                 %y: tensor<4xf32> {bufferization.writable = true}) {
  return
}

// CHECK-LABEL: func.func private @helper
//   CHECK-NOT: writable
func.func private @helper(%x: tensor<4xf32>) {
  return
}
