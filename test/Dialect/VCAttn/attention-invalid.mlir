// RUN: vcattn-opt %s -split-input-file -verify-diagnostics

func.func @scale_infinite(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op scale must be finite}}
  %0 = vcattn.attention %q, %k, %v {scale = 0x7FF0000000000000 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @scale_nan(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op scale must be finite}}
  %0 = vcattn.attention %q, %k, %v {scale = 0x7FF8000000000000 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @scale_missing(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op requires attribute 'scale'}}
  %0 = vcattn.attention %q, %k, %v {}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @batch(%q: tensor<1x4x8x16xf32>, %k: tensor<2x2x12x16xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op batch sizes of query, key and value differ: 1, 2, 1}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<2x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @batch_of_value(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<3x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op batch sizes of query, key and value differ: 1, 1, 3}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<3x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @batch_behind_dynamic(%q: tensor<?x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<2x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op batch sizes of query, key and value differ: ?, 1, 2}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<?x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<2x2x12x24xf32> -> tensor<?x4x8x24xf32>
  return
}

// -----

func.func @head_dim(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x32xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op head dimensions of query (16) and key (32) differ}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x32xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @key_and_value_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x4x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op key has 2 heads, value has 4}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x4x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @key_and_value_tokens(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x13x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op key has 12 tokens, value has 13}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x13x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @query_heads(%q: tensor<1x5x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op query heads (5) must be a multiple of key heads (2)}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x5x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x5x8x24xf32>
  return
}

// -----

func.func @no_key_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x0x12x16xf32>, %v: tensor<1x0x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op query heads (4) must be a multiple of key heads (0)}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x0x12x16xf32>, tensor<1x0x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @result_shape(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op result has shape 1x4x8x16, expected 1x4x8x24}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @result_in_other_layout(%q: tensor<1x8x4x16xf32>, %k: tensor<1x12x2x16xf32>, %v: tensor<1x12x2x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op result has shape 1x4x8x24, expected 1x8x4x24}}
  %0 = vcattn.attention %q, %k, %v {scale = 1.0 : f64, layout = #vcattn.layout<bthd>}
      : tensor<1x8x4x16xf32>, tensor<1x12x2x16xf32>, tensor<1x12x2x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @lse_shape(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op lse has shape 1x8x4, expected 1x4x8}}
  %0:2 = vcattn.attention %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>, tensor<1x8x4xf32>
  return
}

// -----

func.func @mask_keys(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>, %mask: tensor<1x1x8x8xi1>) {
  // expected-error @+1 {{'vcattn.attention' op mask dimension 3 is 8, expected 1 or 12}}
  %0 = vcattn.attention %q, %k, %v mask %mask : tensor<1x1x8x8xi1> {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @mask_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>, %mask: tensor<1x2x8x12xf32>) {
  // expected-error @+1 {{'vcattn.attention' op mask dimension 1 is 2, expected 1 or 4}}
  %0 = vcattn.attention %q, %k, %v mask %mask : tensor<1x2x8x12xf32> {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @mask_queries_in_other_layout(%q: tensor<1x8x4x16xf32>, %k: tensor<1x12x2x16xf32>, %v: tensor<1x12x2x24xf32>, %mask: tensor<1x1x4x12xi1>) {
  // expected-error @+1 {{'vcattn.attention' op mask dimension 2 is 4, expected 1 or 8}}
  %0 = vcattn.attention %q, %k, %v mask %mask : tensor<1x1x4x12xi1> {scale = 1.0 : f64, layout = #vcattn.layout<bthd>}
      : tensor<1x8x4x16xf32>, tensor<1x12x2x16xf32>, tensor<1x12x2x24xf32> -> tensor<1x8x4x24xf32>
  return
}

// -----

func.func @means_blocks(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>, %means: tensor<1x2x2x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op means has shape 1x2x2x24, expected 1x2x1x24}}
  %0 = vcattn.attention %q, %k, %v means %means : tensor<1x2x2x24xf32> {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @means_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x12x16xf32>, %v: tensor<1x2x12x24xf32>, %means: tensor<1x4x1x24xf32>) {
  // expected-error @+1 {{'vcattn.attention' op means has shape 1x4x1x24, expected 1x2x1x24}}
  %0 = vcattn.attention %q, %k, %v means %means : tensor<1x4x1x24xf32> {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x2x12x16xf32>, tensor<1x2x12x24xf32> -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @element_type(%q: tensor<1x4x8x16xf64>) {
  // expected-error @+1 {{'vcattn.attention' op operand #0 must be 4D tensor of 16-bit float or bfloat16 type or 32-bit float values, but got 'tensor<1x4x8x16xf64>'}}
  %0 = vcattn.attention %q, %q, %q {scale = 1.0 : f64}
      : tensor<1x4x8x16xf64>, tensor<1x4x8x16xf64>, tensor<1x4x8x16xf64> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @mask_element_type(%q: tensor<1x4x8x16xf32>, %m: tensor<1x1x8x8xi8>) {
  // expected-error @+1 {{'vcattn.attention' op operand #3 must be 4D tensor of 1-bit signless integer or 16-bit float or bfloat16 type or 32-bit float values, but got 'tensor<1x1x8x8xi8>'}}
  %0 = vcattn.attention %q, %q, %q mask %m : tensor<1x1x8x8xi8> {scale = 1.0 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @codes_of_query_without_scale(%q: tensor<1x4x8x16xi8>, %k: tensor<1x2x200x16xi8>, %ks: tensor<1x2x2x4xf32>,
    %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op query is 'i8' and needs a scale}}
  %0 = vcattn.quantized_attention %q, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @codes_of_key_without_scale(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op key is 'i8' and needs a scale}}
  %0 = vcattn.quantized_attention %q scale %qs, %k, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @codes_of_value_without_scale(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op value is 'f8E4M3FN' and needs a scale}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @float_query_with_scale(%q: tensor<1x4x8x16xf32>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op query is 'f32' and takes no scale}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xf32>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @float_key_with_scale(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xbf16>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op key is 'bf16' and takes no scale}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xbf16>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @float_value_with_scale(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf16>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op value is 'f16' and takes no scale}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf16>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @mixed_formats(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xf8E4M3FN>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op query and key must be codes of one format, or both floats, got 'i8' and 'f8E4M3FN'}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xf8E4M3FN>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @codes_and_floats(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xf32>,
    %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op query and key must be codes of one format, or both floats, got 'i8' and 'f32'}}
  %0 = vcattn.quantized_attention %q scale %qs, %k, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @floats_and_codes(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x200x16xi8>, %ks: tensor<1x2x2x4xf32>,
    %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op query and key must be codes of one format, or both floats, got 'f32' and 'i8'}}
  %0 = vcattn.quantized_attention %q, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @integer_values(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xi8>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op value codes must be f8E4M3FN, got i8}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xi8>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @query_scale_shape(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x8x4xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op query scale has shape 1x8x4, expected 1x4x8}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x8x4xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @key_scale_groups(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x1xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op key scale has shape 1x2x2x1, expected 1x2x2x4}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x1xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @key_scale_blocks(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x1x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op key scale has shape 1x2x1x4, expected 1x2x2x4}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x1x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @value_scale_shape(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x16xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op value scale has shape 1x2x16, expected 1x2x24}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x16xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @shapes_of_attention(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op result has shape 1x4x8x16, expected 1x4x8x24}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @schedule_without_target(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op a schedule needs a target}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64, schedule = #vcattn.schedule<tile_q = 128, tile_k = 64,
       stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}

// -----

func.func @no_integer_scores(%q: tensor<1x4x8x16xi8>, %qs: tensor<1x4x8xf32>, %k: tensor<1x2x200x16xi8>,
    %ks: tensor<1x2x2x4xf32>, %v: tensor<1x2x200x24xf8E4M3FN>, %vs: tensor<1x2x24xf32>) {
  // expected-error @+1 {{'vcattn.quantized_attention' op target sm_103a has no matrix instruction for i8 scores}}
  %0 = vcattn.quantized_attention %q scale %qs, %k scale %ks, %v scale %vs
      {cast = #vcattn.cast<expcast>, scale = 1.0 : f64, target = #vcattn.target<"sm_103a">}
      : (tensor<1x4x8x16xi8>, tensor<1x4x8xf32>, tensor<1x2x200x16xi8>, tensor<1x2x2x4xf32>, tensor<1x2x200x24xf8E4M3FN>, tensor<1x2x24xf32>) -> tensor<1x4x8x24xf32>
  return
}
