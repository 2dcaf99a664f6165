// RUN: vcattn-opt %s -split-input-file -verify-diagnostics

func.func @center_keys_type(%x: tensor<2x4x8x16xf32>) {
  // expected-error @+2 {{'vcattn.center_keys' op inferred type(s) 'tensor<2x4x8x16xf32>', 'tensor<2x4x16xf32>' are incompatible with return type(s) of operation 'tensor<2x4x8x16xf32>', 'tensor<2x8x16xf32>'}}
  // expected-error @+1 {{'vcattn.center_keys' op failed to infer returned types}}
  %0:2 = vcattn.center_keys %x : (tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x8x16xf32>)
  return
}

// -----

func.func @correct_lse_scale(%q: tensor<2x4x8x16xf32>, %m: tensor<2x2x16xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @+1 {{'vcattn.correct_lse' op scale must be finite}}
  %0 = vcattn.correct_lse %q, %m, %l {scale = 0x7FF0000000000000 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x2x16xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @correct_lse_lse(%q: tensor<2x4x8x16xf32>, %m: tensor<2x2x16xf32>, %l: tensor<2x8x4xf32>) {
  // expected-error @+1 {{'vcattn.correct_lse' op lse has shape 2x8x4, expected 2x4x8}}
  %0 = vcattn.correct_lse %q, %m, %l {scale = 1.0 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x2x16xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @correct_lse_mean(%q: tensor<2x4x8x16xf32>, %m: tensor<2x2x8xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @+1 {{'vcattn.correct_lse' op mean has shape 2x2x8, expected 2x2x16}}
  %0 = vcattn.correct_lse %q, %m, %l {scale = 1.0 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x2x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @correct_lse_heads(%q: tensor<2x4x8x16xf32>, %m: tensor<2x3x16xf32>, %l: tensor<2x4x8xf32>) {
  // expected-error @+1 {{'vcattn.correct_lse' op query heads (4) must be a multiple of the mean's heads (3)}}
  %0 = vcattn.correct_lse %q, %m, %l {scale = 1.0 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x3x16xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @hadamard_dynamic(%x: tensor<1x1x1x?xf32>) {
  // expected-error @+1 {{'vcattn.hadamard' op head dimension must be static}}
  %0 = vcattn.hadamard %x : (tensor<1x1x1x?xf32>) -> tensor<1x1x1x?xf32>
  return
}

// -----

func.func @hadamard_type(%x: tensor<1x1x1x64xbf16>) {
  // expected-error @+1 {{'vcattn.hadamard' op result #0 must be 4D tensor of 32-bit float values, but got 'tensor<1x1x1x64xbf16>'}}
  %0 = vcattn.hadamard %x : (tensor<1x1x1x64xbf16>) -> tensor<1x1x1x64xbf16>
  return
}

// -----

func.func @cluster_count(%x: tensor<2x4x8x16xf32>) {
  // expected-error @+1 {{'vcattn.cluster' op attribute 'clusters' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0:2 = vcattn.cluster %x {clusters = 0 : i64, iterations = 4 : i64}
      : (tensor<2x4x8x16xf32>) -> (tensor<2x4x8xi32>, tensor<2x4x0x16xf32>)
  return
}

// -----

func.func @cluster_iterations(%x: tensor<2x4x8x16xf32>) {
  // expected-error @+1 {{'vcattn.cluster' op attribute 'iterations' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0:2 = vcattn.cluster %x {clusters = 1 : i64, iterations = -1 : i64}
      : (tensor<2x4x8x16xf32>) -> (tensor<2x4x8xi32>, tensor<2x4x1x16xf32>)
  return
}

// -----

func.func @cluster_type(%x: tensor<2x4x8x16xf32>) {
  // expected-error @+2 {{'vcattn.cluster' op inferred type(s) 'tensor<2x8x4xi32>', 'tensor<2x8x3x16xf32>' are incompatible with return type(s) of operation 'tensor<2x4x8xi32>', 'tensor<2x4x3x16xf32>'}}
  // expected-error @+1 {{'vcattn.cluster' op failed to infer returned types}}
  %0:2 = vcattn.cluster %x {clusters = 3 : i64, iterations = 1 : i64, layout = #vcattn.layout<bthd>}
      : (tensor<2x4x8x16xf32>) -> (tensor<2x4x8xi32>, tensor<2x4x3x16xf32>)
  return
}

// -----

func.func @gather_tokens_permutation(%x: tensor<2x4x8x16xf32>, %p: tensor<2x8x4xi32>) {
  // expected-error @+1 {{'vcattn.gather_tokens' op permutation has shape 2x8x4, expected 2x4x8}}
  %0 = vcattn.gather_tokens %x, %p : (tensor<2x4x8x16xf32>, tensor<2x8x4xi32>) -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @gather_mask_heads(%m: tensor<2x4x8x16xi1>, %p: tensor<2x4x16xi32>) {
  // expected-error @+1 {{'vcattn.gather_mask' op mask dimension 1 is 4, expected 1 or 8}}
  %0 = vcattn.gather_mask %m, %p {group = 2 : i64}
      : (tensor<2x4x8x16xi1>, tensor<2x4x16xi32>) -> tensor<2x8x8x16xi1>
  return
}

// -----

func.func @gather_mask_keys(%m: tensor<2x4x8x8xi1>, %p: tensor<2x4x16xi32>) {
  // expected-error @+1 {{'vcattn.gather_mask' op mask dimension 3 is 8, expected 1 or 16}}
  %0 = vcattn.gather_mask %m, %p {group = 1 : i64}
      : (tensor<2x4x8x8xi1>, tensor<2x4x16xi32>) -> tensor<2x4x8x16xi1>
  return
}

// -----

func.func @gather_mask_batch(%m: tensor<3x4x8x16xi1>, %p: tensor<2x4x16xi32>) {
  // expected-error @+1 {{'vcattn.gather_mask' op mask dimension 0 is 3, expected 1 or 2}}
  %0 = vcattn.gather_mask %m, %p {group = 1 : i64}
      : (tensor<3x4x8x16xi1>, tensor<2x4x16xi32>) -> tensor<2x4x8x16xi1>
  return
}

// -----

func.func @gather_mask_group(%m: tensor<1x1x8x16xi1>, %p: tensor<2x4x16xi32>) {
  // expected-error @+1 {{'vcattn.gather_mask' op attribute 'group' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = vcattn.gather_mask %m, %p {group = 0 : i64}
      : (tensor<1x1x8x16xi1>, tensor<2x4x16xi32>) -> tensor<2x0x8x16xi1>
  return
}

// -----

func.func @block_residual_means(%x: tensor<2x4x8x16xf32>) {
  // expected-error @+2 {{'vcattn.block_residual' op inferred type(s) 'tensor<2x4x8x16xf32>', 'tensor<2x4x1x16xf32>' are incompatible with return type(s) of operation 'tensor<2x4x8x16xf32>', 'tensor<2x4x8x16xf32>'}}
  // expected-error @+1 {{'vcattn.block_residual' op failed to infer returned types}}
  %0:2 = vcattn.block_residual %x : (tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return
}

// -----

func.func @quantize_e2m1_dim(%x: tensor<2x4x300x24xf32>) {
  // expected-error @+1 {{'vcattn.quantize' op f4E2M1FN needs a static dimension that is a multiple of 16, got 'tensor<2x4x300x24xf32>'}}
  %0:3 = vcattn.quantize %x {format = #vcattn.format<f4E2M1FN>, granularity = #vcattn.granularity<token>}
      : (tensor<2x4x300x24xf32>) -> (tensor<2x4x300x12xi8>, tensor<2x4x300xf32>, tensor<2x4x300x1xf8E4M3FN>)
  return
}

// -----

func.func @quantize_e2m1_dynamic(%x: tensor<2x4x300x?xf32>) {
  // expected-error @+1 {{'vcattn.quantize' op f4E2M1FN needs a static dimension that is a multiple of 16, got 'tensor<2x4x300x?xf32>'}}
  %0:3 = vcattn.quantize %x {format = #vcattn.format<f4E2M1FN>, granularity = #vcattn.granularity<token>}
      : (tensor<2x4x300x?xf32>) -> (tensor<2x4x300x?xi8>, tensor<2x4x300xf32>, tensor<2x4x300x?xf8E4M3FN>)
  return
}

// -----

func.func @quantize_groups(%x: tensor<2x4x300x80xf32>) {
  // expected-error @+1 {{'vcattn.quantize' op groups are for granularity block}}
  %0:2 = vcattn.quantize %x {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>, groups = 2 : i64}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x300xf32>)
  return
}

// -----

func.func @quantize_block_size(%x: tensor<2x4x300x80xf32>) {
  // expected-error @+1 {{'vcattn.quantize' op block_size (100) must be a multiple of 2 * groups (8)}}
  %0:2 = vcattn.quantize %x {format = #vcattn.format<i8>, granularity = #vcattn.granularity<block>, block_size = 100 : i64, groups = 4 : i64}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x3x4xf32>)
  return
}

// -----

func.func @quantize_block_size_zero(%x: tensor<2x4x300x80xf32>) {
  // expected-error @+1 {{'vcattn.quantize' op attribute 'block_size' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0:2 = vcattn.quantize %x {format = #vcattn.format<i8>, granularity = #vcattn.granularity<block>, block_size = 0 : i64}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x3x1xf32>)
  return
}

// -----

func.func @quantize_bound_granularity(%x: tensor<2x4x300x80xf32>, %m: tensor<2x4x3x80xf32>) {
  // expected-error @+1 {{'vcattn.quantize' op bound is for granularity channel}}
  %0:2 = vcattn.quantize %x bound %m {format = #vcattn.format<i8>, granularity = #vcattn.granularity<token>}
      : (tensor<2x4x300x80xf32>, tensor<2x4x3x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x300xf32>)
  return
}

// -----

func.func @quantize_bound_shape(%x: tensor<2x4x300x80xf32>, %m: tensor<2x4x3x64xf32>) {
  // expected-error @+1 {{'vcattn.quantize' op bound has shape 2x4x3x64, expected 2x4x3x80}}
  %0:2 = vcattn.quantize %x bound %m {format = #vcattn.format<i8>, granularity = #vcattn.granularity<channel>}
      : (tensor<2x4x300x80xf32>, tensor<2x4x3x64xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x80xf32>)
  return
}

// -----

func.func @quantize_codes(%x: tensor<2x4x300x80xf32>) {
  // expected-error @+2 {{'vcattn.quantize' op inferred type(s) 'tensor<2x4x300x80xf8E4M3FN>', 'tensor<2x4x300xf32>' are incompatible with return type(s) of operation 'tensor<2x4x300x80xi8>', 'tensor<2x4x300xf32>'}}
  // expected-error @+1 {{'vcattn.quantize' op failed to infer returned types}}
  %0:2 = vcattn.quantize %x {format = #vcattn.format<f8E4M3FN>, granularity = #vcattn.granularity<token>}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x80xi8>, tensor<2x4x300xf32>)
  return
}

// -----

func.func @quantize_micro_scales(%x: tensor<2x4x300x80xf32>) {
  // expected-error @+2 {{'vcattn.quantize' op inferred type(s) 'tensor<2x4x300x40xi8>', 'tensor<2x4x300xf32>', 'tensor<2x4x300x5xf8E4M3FN>' are incompatible with return type(s) of operation 'tensor<2x4x300x40xi8>', 'tensor<2x4x300xf32>'}}
  // expected-error @+1 {{'vcattn.quantize' op failed to infer returned types}}
  %0:2 = vcattn.quantize %x {format = #vcattn.format<f4E2M1FN>, granularity = #vcattn.granularity<token>}
      : (tensor<2x4x300x80xf32>) -> (tensor<2x4x300x40xi8>, tensor<2x4x300xf32>)
  return
}

// -----

func.func @merge_attention_lses(%x: tensor<3x2x4x8x16xf32>, %l: tensor<3x2x8x4xf32>) {
  // expected-error @+1 {{'vcattn.merge_attention' op partial lse has shape 3x2x8x4, expected 3x2x4x8}}
  %0 = vcattn.merge_attention %x, %l : (tensor<3x2x4x8x16xf32>, tensor<3x2x8x4xf32>) -> tensor<2x4x8x16xf32>
  return
}

// -----

func.func @merge_attention_result(%x: tensor<3x2x4x8x16xf32>, %l: tensor<3x2x8x4xf32>) {
  // expected-error @+1 {{'vcattn.merge_attention' op result has shape 2x8x4x16, expected 2x4x8x16}}
  %0 = vcattn.merge_attention %x, %l {layout = #vcattn.layout<bthd>}
      : (tensor<3x2x4x8x16xf32>, tensor<3x2x8x4xf32>) -> tensor<2x8x4x16xf32>
  return
}

// -----

func.func @merge_attention_lse(%x: tensor<3x2x4x8x16xf32>, %l: tensor<3x2x4x8xf32>) {
  // expected-error @+1 {{'vcattn.merge_attention' op lse has shape 2x4x9, expected 2x4x8}}
  %0:2 = vcattn.merge_attention %x, %l
      : (tensor<3x2x4x8x16xf32>, tensor<3x2x4x8xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x9xf32>)
  return
}

// -----

func.func @compensate_means_blocks(%m: tensor<1x2x2x64xf32>, %v: tensor<1x2x300x64xf8E4M3FN>, %s: tensor<1x2x64xf32>) {
  // expected-error @+1 {{'vcattn.compensate_means' op means has shape 1x2x2x64, expected 1x2x3x64}}
  %0 = vcattn.compensate_means %m, %v, %s
      : (tensor<1x2x2x64xf32>, tensor<1x2x300x64xf8E4M3FN>, tensor<1x2x64xf32>) -> tensor<1x2x2x64xf32>
  return
}

// -----

func.func @compensate_means_scale(%m: tensor<1x2x3x64xf32>, %v: tensor<1x2x300x64xf8E4M3FN>, %s: tensor<1x4x64xf32>) {
  // expected-error @+1 {{'vcattn.compensate_means' op value_scale has shape 1x4x64, expected 1x2x64}}
  %0 = vcattn.compensate_means %m, %v, %s
      : (tensor<1x2x3x64xf32>, tensor<1x2x300x64xf8E4M3FN>, tensor<1x4x64xf32>) -> tensor<1x2x3x64xf32>
  return
}
