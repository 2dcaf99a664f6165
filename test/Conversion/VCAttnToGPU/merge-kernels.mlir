// RUN: vcattn-opt %s --vcattn-merge-kernels --split-input-file | FileCheck %s
// RUN: vcattn-opt %s --vcattn-merge-kernels=name=all --split-input-file | FileCheck %s --check-prefix=NAME

// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @vcattn_kernels::@f
// CHECK: gpu.launch_func @vcattn_kernels::@f_1
// CHECK: gpu.launch_func @vcattn_kernels::@f_0
// CHECK: gpu.module @vcattn_kernels {
// CHECK-NEXT: gpu.func @f()
// CHECK: memref.global "private" @table
// CHECK: gpu.func @f_1()
// CHECK: memref.get_global @table_0
// CHECK: gpu.func @f_0()
// CHECK: memref.global "private" @table_0
// CHECK-NOT: gpu.module
// NAME: gpu.launch_func @all::@f
// NAME: gpu.module @all
module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @a::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @b::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @b::@f_0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @a {
    gpu.func @f() kernel { gpu.return }
    memref.global "private" @table : memref<4xf32>
  }
  gpu.module @b {
    gpu.func @f() kernel {
      %0 = memref.get_global @table : memref<4xf32>
      gpu.return
    }
    gpu.func @f_0() kernel { gpu.return }
    memref.global "private" @table : memref<4xf32>
  }
}

// -----

// CHECK-LABEL: func.func @nothing_to_merge
// CHECK-NOT: gpu.module
func.func @nothing_to_merge() { return }
