// What vcattn-run refuses, and in which words. Each refusal exits with 1 and
// names the option, the file or the function.

// RUN: not vcattn-run 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: no INPUT.mlir is given; --help explains

// RUN: not vcattn-run %t.none.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}.none.mlir: No such file or directory

// RUN: not vcattn-run %s --inptu=all 2>&1 | FileCheck %s --check-prefix=TYPO
// TYPO: Unknown command line argument '--inptu=all'
// TYPO: Did you mean '--input=all'?

// RUN: not vcattn-run %s --entry=f --input=normal 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: --input=normal is none of gaussian, clustered, outliers, constant and all

// RUN: not vcattn-run %s --entry=f --device=gpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: for the --device option: Cannot find option named 'gpu'!

// RUN: not vcattn-run %s --entry=f --scores=i4 2>&1 | FileCheck %s --check-prefix=SCORES
// SCORES: for the --scores option: Cannot find option named 'i4'!

// RUN: not vcattn-run %s --entry=attention --clusters=-3 2>&1 | FileCheck %s --check-prefix=CLUSTERS
// CLUSTERS: error: vcattn-smooth-values: clusters and iterations must not be negative
// CLUSTERS: error: @attention was not compiled

// RUN: not vcattn-run %s --entry=f --input=all --arg x.npy 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: --arg and --input exclude each other

// RUN: not vcattn-run %s --entry=f --sizes=N=3 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: error: --sizes: 'N=3' is not NAME=NUMBER with a name among B, Hq, Hkv, Nq, Nk, D and Dv

// RUN: not vcattn-run %s --entry=f --out=result.npy 2>&1 | FileCheck %s --check-prefix=OUT
// OUT: error: --out: 'result.npy' does not start with a result's number and '='

// RUN: not vcattn-run %s --entry=f --out=2=result.npy 2>&1 | FileCheck %s --check-prefix=OUTNUMBER
// OUTNUMBER: error: --out 2: @f has 1 results

// RUN: not vcattn-run %s --entry=f --result-shape=0=2xb 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: error: --result-shape: '2xb' is no shape like 2x3x4

// RUN: not vcattn-run %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: the module has several functions (@f, @attention, @open, @odd); choose one with --entry

// RUN: not vcattn-run %s --entry=g 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: there is no function @g; the module has @f, @attention, @open, @odd

// RUN: not vcattn-run %s --entry=odd 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: @odd: argument 1 has type f32; vcattn-run passes ranked tensors of

// RUN: not vcattn-run %s --entry=f --input=gaussian 2>&1 | FileCheck %s --check-prefix=NOATTENTION
// NOATTENTION: error: @f: inputs are generated for a function that is one attention of its arguments, but it holds no attention that could be raised; give every argument with --arg

// RUN: not vcattn-run %s --entry=f --arg x.npy --arg y.npy 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: @f takes 1 arguments, but 2 are given with --arg

// RUN: not vcattn-run %s --entry=f --arg %s 2>&1 | FileCheck %s --check-prefix=GARBAGE
// GARBAGE: error: {{.*}}errors.mlir: not a .npy file

// RUN: not vcattn-run %s --entry=open 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: Nk is dynamic: give it with --sizes=Nk=NUMBER

// RUN: not vcattn-run %s --entry=open --sizes=Nk=16,Nq=9 2>&1 | FileCheck %s --check-prefix=CONTRADICTION
// CONTRADICTION: error: --sizes=Nq=9: the function says 8

func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}

func.func @attention(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x8x16xf32>, %v: tensor<1x1x8x16xf32>)
    -> tensor<1x1x8x16xf32> {
  %o = vcattn.attention %q, %k, %v {scale = 0.25 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

func.func @open(%q: tensor<1x1x8x16xf32>, %k: tensor<1x1x?x16xf32>, %v: tensor<1x1x?x16xf32>)
    -> tensor<1x1x8x16xf32> {
  %o = vcattn.attention %q, %k, %v {scale = 0.25 : f64}
      : tensor<1x1x8x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32> -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}

func.func @odd(%x: tensor<2x3xf32>, %y: f32) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
