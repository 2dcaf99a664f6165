// RUN: vcattn-opt %s --vcattn-expand-narrow-floats --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @from_bf16
//       CHECK: arith.bitcast %{{.*}} : bf16 to i16
//       CHECK: arith.shli
//   CHECK-NOT: arith.extf
func.func @from_bf16(%x: bf16) -> f32 {
  %0 = arith.extf %x : bf16 to f32
  return %0 : f32
}

// -----

// CHECK-LABEL: func.func @to_f8
//   CHECK-NOT: arith.truncf
//       CHECK: arith.bitcast %{{.*}} : vector<4xi8> to vector<4xf8E4M3FN>
func.func @to_f8(%x: vector<4xf16>) -> vector<4xf8E4M3FN> {
  %0 = arith.truncf %x : vector<4xf16> to vector<4xf8E4M3FN>
  return %0 : vector<4xf8E4M3FN>
}

// -----

func.func @left_over(%x: bf16) -> bf16 {
  // expected-error @+1 {{'arith.addf' op computes on 'bf16', for which the CPU has no arithmetic}}
  %0 = arith.addf %x, %x : bf16
  return %0 : bf16
}

// -----

func.func @twice_rounded(%x: f64) -> bf16 {
  // expected-error @+1 {{'arith.truncf' op computes on 'bf16', for which the CPU has no arithmetic}}
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}
