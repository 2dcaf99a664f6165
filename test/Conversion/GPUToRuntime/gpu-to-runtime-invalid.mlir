// RUN: vcattn-opt %s --convert-gpu-to-vcattn-runtime --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op has no workspace yet; run vcattn-plan-workspace}}
func.func @unplanned(%x: memref<4xf32>) { return }

// -----

func.func @load(%x: memref<4xf32>, %w: memref<?xi8> {vcattn.workspace}, %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'memref.load' op reads or writes memory of the device on the host; it must be in a kernel}}
  %0 = memref.load %x[%c0] : memref<4xf32>
  return
}

// -----

func.func @alloc(%w: memref<?xi8> {vcattn.workspace}, %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
  // expected-error @+1 {{'memref.alloca' op is memory of the host, which kernels cannot reach}}
  %0 = memref.alloca() : memref<4xf32>
  return
}

// -----

func.func @strided(%x: memref<4xf32, strided<[2]>>, %y: memref<4xf32>, %w: memref<?xi8> {vcattn.workspace}, %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
  // expected-error @+1 {{'memref.copy' op is strided; vcattn-forall-to-gpu-launch makes it a kernel}}
  memref.copy %x, %y : memref<4xf32, strided<[2]>> to memref<4xf32>
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @one() kernel { gpu.return }
  }
  func.func @not_compiled(%w: memref<?xi8> {vcattn.workspace}, %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'gpu.launch_func' op launches a kernel that is not compiled yet; run vcattn-serialize-kernels}}
    gpu.launch_func @kernels::@one blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

// expected-error @+1 {{'func.func' op takes a 'f32'; an entry function takes strided memrefs of numbers}}
func.func @scalar(%x: f32, %w: memref<?xi8> {vcattn.workspace}, %s: !llvm.ptr {vcattn.stream}) attributes {vcattn.entry} {
  return
}
func.func @scalar_workspace_size(%x: f32) -> i64 {
  %0 = arith.constant 0 : i64
  return %0 : i64
}
