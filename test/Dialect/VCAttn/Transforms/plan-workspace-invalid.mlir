// RUN: vcattn-opt %s --vcattn-plan-workspace --split-input-file --verify-diagnostics

func.func @in_loop(%n: index) {
  scf.forall (%i) in (4) {
    // expected-error @+1 {{'memref.alloc' op allocates in a loop or branch; only the top level of an entry function may allocate}}
    %a = memref.alloc() : memref<100xf32>
  }
  return
}

// -----

func.func @strided() {
  // expected-error @+1 {{'memref.alloc' op cannot be placed in a workspace: its layout or memory space is not the default}}
  %a = memref.alloc() : memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @alignment() {
  // expected-error @+1 {{'memref.alloc' op wants an alignment of 1024, a workspace gives 256}}
  %a = memref.alloc() {alignment = 1024 : i64} : memref<4xf32>
  return
}

// -----

func.func @huge() {
  // expected-error @+1 {{'memref.alloc' op is larger than 64 bits can count}}
  %a = memref.alloc() : memref<4294967296x4294967296xf32>
  return
}

// -----

func.func @data_decides(%x: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'memref.load' op decides a buffer's size, but cannot be computed before the first kernel runs}}
  %n = memref.load %x[%c0] : memref<1xindex>
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op is an entry function with results; they must be out-parameters}}
func.func @results() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op is an entry function and cannot be called from its own module}}
func.func @called() attributes {vcattn.entry} { return }
func.func @caller() {
  call @called() : () -> ()
  return
}

// -----

func.func @taken() attributes {vcattn.entry} { return }
// expected-error @+1 {{has the name of the function that computes the workspace's size of @taken}}
func.func private @taken_workspace_size()

// -----

// expected-error @+1 {{'func.func' op cannot plan the workspace of a function with unstructured control flow}}
func.func @blocks() {
  cf.br ^next
^next:
  return
}
