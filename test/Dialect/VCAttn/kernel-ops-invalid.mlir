// RUN: vcattn-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{a tile has rows and columns}}
func.func private @tile_rank(!vcattn.tile<128xi8>)

// -----

// expected-error@+1 {{a tile's elements are whole bytes, got 'i4'}}
func.func private @tile_element(!vcattn.tile<128x128xi4>)

// -----

// expected-error@+1 {{a pipeline has at least 1 stage, got 0}}
func.func private @stages(!vcattn.pipeline<0 x !vcattn.tile<128x128xi8>>)

// -----

// expected-error@+1 {{unknown fragment role 'words'}}
func.func private @role(!vcattn.fragment<64x128xi32, words>)

// -----

// expected-error@+1 {{a fragment of rows has rank 1, got 2}}
func.func private @fragment_rank(!vcattn.fragment<64x1xf32, rows>)

// -----

// expected-error@+1 {{a fragment of scores holds i32 or f32, got 'f16'}}
func.func private @scores(!vcattn.fragment<64x128xf16, scores>)

// -----

// expected-error@+1 {{a fragment of levels holds i16, got 'i8'}}
func.func private @levels(!vcattn.fragment<64x128xi8, levels>)

// -----

// Levels of exact casts are codes, too.
// expected-error@+1 {{a fragment of levels holds i16, got 'f32'}}
func.func private @float_levels(!vcattn.fragment<64x64xf32, levels>)

// -----

// expected-error@+1 {{a fragment of maxima has rank 1, got 2}}
func.func private @maxima_rank(!vcattn.fragment<64x1xf32, maxima>)

// -----

// expected-error@+1 {{a fragment of maxima holds f32, got 'f16'}}
func.func private @maxima(!vcattn.fragment<64xf16, maxima>)

// -----

// expected-error@+1 {{a fragment of probabilities holds f8E4M3FN, got 'f8E5M2'}}
func.func private @probabilities(!vcattn.fragment<64x128xf8E5M2, probabilities>)

// -----

// expected-error@+1 {{a fragment of row_sums holds f16, got 'f32'}}
func.func private @row_sums(!vcattn.fragment<64x8xf32, row_sums>)

// -----

// expected-error@+1 {{a fragment of accumulator holds f32, got 'f16'}}
func.func private @accumulator(!vcattn.fragment<64x136xf16, accumulator>)

// -----

func.func @not_at_top(%c: i1) {
  scf.if %c {
    // expected-error@+1 {{must stand at the top of the kernel}}
    %0 = vcattn.shared_tile : !vcattn.tile<128x128xf32>
  }
  return
}

// -----

func.func @pipeline_not_at_top(%c: i1) {
  scf.if %c {
    // expected-error@+1 {{must stand at the top of the kernel}}
    %0 = vcattn.create_pipeline consumers 2 : !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>
  }
  return
}

// -----

func.func @consumer_argument() {
  // expected-error@+1 {{consumer takes its number, an i32}}
  vcattn.warp_specialize producer registers 24 {
    vcattn.mma_commit
  } consumers 2 registers 240 {
    vcattn.mma_commit
  }
  return
}

// -----

func.func @producer_argument() {
  // expected-error@+1 {{producer takes no argument}}
  vcattn.warp_specialize producer registers 24 {
  ^bb0(%i: i32):
    vcattn.mma_commit
  } consumers 2 registers 240 {
  ^bb0(%i: i32):
    vcattn.mma_commit
  }
  return
}

// -----

func.func @registers() {
  // expected-error@+1 {{registers per thread must be a multiple of 8 in [24, 256], got 20}}
  vcattn.warp_specialize producer registers 20 {
    vcattn.mma_commit
  } consumers 2 registers 240 {
  ^bb0(%i: i32):
    vcattn.mma_commit
  }
  return
}

// -----

func.func @coordinates(%map: !vcattn.tensor_map, %p: !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>, %i: i32) {
  // expected-error@+1 {{a tensor map has 1 to 5 coordinates, got 6}}
  vcattn.load_tile %map[%i, %i, %i, %i, %i, %i] to %p[%i] : !vcattn.pipeline<4 x !vcattn.tile<128x128xi8>>
  return
}

// -----

func.func @indices(%memory: memref<?x?xf16>, %p: !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>>, %i: i32, %j: index) {
  // expected-error@+1 {{takes 2 indices, got 1}}
  vcattn.load_bytes %memory[%j] to %p[%i] : memref<?x?xf16>, !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>>
  return
}

// -----

func.func @elements(%memory: memref<?xf32>, %p: !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>>, %i: i32, %j: index) {
  // expected-error@+1 {{copies 'f32' to a tile of 'f16'}}
  vcattn.load_bytes %memory[%j] to %p[%i] : memref<?xf32>, !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>>
  return
}

// -----

func.func @stage(%p: !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>>, %i: i32) {
  // expected-error@+1 {{gives '!vcattn.tile<128x128xi8>', the pipeline has '!vcattn.tile<128x16xf16>'}}
  %0 = vcattn.wait_tile %p[%i] : !vcattn.pipeline<2 x !vcattn.tile<128x16xf16>> -> !vcattn.tile<128x128xi8>
  return
}

// -----

func.func @rows(%t: !vcattn.tile<128x128xi8>, %i: i32) {
  // expected-error@+1 {{rows of the result must be a multiple of 8 that divides 128, got 48}}
  %0 = vcattn.tile_rows %t[%i] : !vcattn.tile<128x128xi8> -> !vcattn.tile<48x128xi8>
  return
}

// -----

func.func @columns(%t: !vcattn.tile<128x128xi8>, %i: i32) {
  // expected-error@+1 {{keeps columns and element type}}
  %0 = vcattn.tile_rows %t[%i] : !vcattn.tile<128x128xi8> -> !vcattn.tile<64x64xi8>
  return
}

// -----

func.func @score_operands(%q: !vcattn.tile<64x128xi8>, %k: !vcattn.tile<128x64xi8>) {
  // expected-error@+1 {{queries and keys must have one element type and head dimension, got '!vcattn.tile<64x128xi8>' and '!vcattn.tile<128x64xi8>'}}
  %0 = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xi8>, !vcattn.tile<128x64xi8>
      -> !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>
  return
}

// -----

func.func @score_codes(%q: !vcattn.tile<64x128xf16>, %k: !vcattn.tile<128x128xf16>) {
  // expected-error@+1 {{codes must be i8 or f8E4M3FN, got 'f16'}}
  %0 = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xf16>, !vcattn.tile<128x128xf16>
      -> !vcattn.in_flight<!vcattn.fragment<64x128xf32, scores>>
  return
}

// -----

func.func @score_result(%q: !vcattn.tile<64x128xi8>, %k: !vcattn.tile<128x128xi8>) {
  // expected-error@+1 {{gives '!vcattn.fragment<64x128xi32, scores>', not '!vcattn.fragment<64x128xf32, scores>'}}
  %0 = vcattn.mma_scores %q, %k : !vcattn.tile<64x128xi8>, !vcattn.tile<128x128xi8>
      -> !vcattn.in_flight<!vcattn.fragment<64x128xf32, scores>>
  return
}

// -----

// What is in flight may only be accumulated onto.
func.func @not_settled(%s: !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>,
                       %p: !vcattn.fragment<64x128xf8E4M3FN, probabilities>, %v: !vcattn.tile<136x128xf8E4M3FN>) {
  // expected-error@+1 {{accumulates onto a fragment of accumulator, got '!vcattn.fragment<64x128xi32, scores>'}}
  %0 = vcattn.mma_values %s, %p, %v : !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>,
      !vcattn.fragment<64x128xf8E4M3FN, probabilities>, !vcattn.tile<136x128xf8E4M3FN>
      -> !vcattn.in_flight<!vcattn.fragment<64x136xf32, accumulator>>
  return
}

// -----

func.func @accumulator_result(%a: !vcattn.fragment<64x136xf32, accumulator>,
                              %p: !vcattn.fragment<64x128xf8E4M3FN, probabilities>, %v: !vcattn.tile<136x128xf8E4M3FN>) {
  // expected-error@+1 {{gives '!vcattn.fragment<64x136xf32, accumulator>', not '!vcattn.fragment<64x72xf32, accumulator>'}}
  %0 = vcattn.mma_values %a, %p, %v : !vcattn.fragment<64x136xf32, accumulator>,
      !vcattn.fragment<64x128xf8E4M3FN, probabilities>, !vcattn.tile<136x128xf8E4M3FN>
      -> !vcattn.in_flight<!vcattn.fragment<64x72xf32, accumulator>>
  return
}

// -----

func.func @values(%a: !vcattn.fragment<64x136xf32, accumulator>,
                  %p: !vcattn.fragment<64x128xf8E4M3FN, probabilities>, %v: !vcattn.tile<128x128xf8E4M3FN>) {
  // expected-error@+1 {{cannot multiply '!vcattn.fragment<64x128xf8E4M3FN, probabilities>' by '!vcattn.tile<128x128xf8E4M3FN>' onto '!vcattn.fragment<64x136xf32, accumulator>'}}
  %0 = vcattn.mma_values %a, %p, %v : !vcattn.fragment<64x136xf32, accumulator>,
      !vcattn.fragment<64x128xf8E4M3FN, probabilities>, !vcattn.tile<128x128xf8E4M3FN>
      -> !vcattn.in_flight<!vcattn.fragment<64x136xf32, accumulator>>
  return
}

// -----

func.func @means(%a: !vcattn.fragment<64x136xf32, accumulator>, %s: !vcattn.fragment<64x8xf16, row_sums>,
                 %m: !vcattn.tile<128x8xf16>, %c: i1) {
  // expected-error@+1 {{cannot multiply '!vcattn.fragment<64x8xf16, row_sums>' by '!vcattn.tile<128x8xf16>' onto '!vcattn.fragment<64x136xf32, accumulator>'}}
  %0 = vcattn.mma_means %a, %s, %m upper %c : !vcattn.fragment<64x136xf32, accumulator>,
      !vcattn.fragment<64x8xf16, row_sums>, !vcattn.tile<128x8xf16>
      -> !vcattn.in_flight<!vcattn.fragment<64x136xf32, accumulator>>
  return
}

// -----

func.func @settle(%s: !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>) {
  // expected-error@+1 {{settles '!vcattn.fragment<64x128xi32, scores>', not '!vcattn.fragment<64x128xf32, scores>'}}
  %0 = vcattn.mma_wait %s outstanding 0 : !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>
      -> !vcattn.fragment<64x128xf32, scores>
  return
}

// -----

func.func @cast_scores(%s: !vcattn.fragment<64x128xi32, scores>, %a: !vcattn.fragment<64x4xf32, multipliers>,
                       %m: !vcattn.fragment<64xf32, maxima>) {
  // expected-error@+1 {{gives '!vcattn.fragment<64x128xi16, levels>', not '!vcattn.fragment<64x64xi16, levels>'}}
  %0, %1 = vcattn.cast_scores <expcast> %s, %a, %m : !vcattn.fragment<64x128xi32, scores>, !vcattn.fragment<64x4xf32, multipliers>,
      !vcattn.fragment<64xf32, maxima> -> !vcattn.fragment<64x64xi16, levels>
  return
}

// -----

// What casts add is made of the maxima, and not in a fragment of other rows.
func.func @rows_for_maxima(%s: !vcattn.fragment<64x64xi32, scores>, %a: !vcattn.fragment<64x4xf32, multipliers>,
                           %m: !vcattn.fragment<64xf32, rows>) {
  // expected-error@+1 {{operand #2 must be fragment of Maxima, but got '!vcattn.fragment<64xf32, rows>'}}
  %0 = "vcattn.check_maximum"(%s, %a, %m) {cast = #vcattn.cast<hybrid>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
      : (!vcattn.fragment<64x64xi32, scores>, !vcattn.fragment<64x4xf32, multipliers>, !vcattn.fragment<64xf32, rows>) -> i1
  return
}

// -----

func.func @factor(%s: !vcattn.fragment<64x64xi32, scores>, %a: !vcattn.fragment<64x4xf32, multipliers>,
                  %m: !vcattn.fragment<64xf32, maxima>) {
  // expected-error@+1 {{failed to verify that factor is for the same rows}}
  %0:2 = "vcattn.raise_maximum"(%s, %a, %m) {cast = #vcattn.cast<hybrid>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
      : (!vcattn.fragment<64x64xi32, scores>, !vcattn.fragment<64x4xf32, multipliers>, !vcattn.fragment<64xf32, maxima>)
      -> (!vcattn.fragment<64xf32, maxima>, !vcattn.fragment<128xf32, rows>)
  return
}

// -----

func.func @full(%p: !vcattn.pipeline<2 x !vcattn.tile<64x128xi8>>, %i: i32) {
  // expected-note@+1 {{prior use here}}
  %full = arith.constant 1 : i32
  // expected-error@+1 {{use of value '%full' expects different type than prior uses: 'i1' vs 'i32'}}
  %0 = vcattn.wait_tile %p[%i] unless %full : !vcattn.pipeline<2 x !vcattn.tile<64x128xi8>> -> !vcattn.tile<64x128xi8>
  return
}

// -----

func.func @no_cast(%l: !vcattn.fragment<64x64xi16, levels>) {
  // expected-error@+1 {{expected '<'}}
  %0 = vcattn.pack_probabilities %l : !vcattn.fragment<64x64xi16, levels> -> !vcattn.fragment<64x64xf8E4M3FN, probabilities>
  return
}

// -----

func.func @wrong_role(%s: !vcattn.fragment<64x128xi32, scores>) {
  // expected-error@+1 {{operand #0 must be fragment of Levels, but got '!vcattn.fragment<64x128xi32, scores>'}}
  %0 = vcattn.pack_probabilities <hybrid> %s : !vcattn.fragment<64x128xi32, scores> -> !vcattn.fragment<64x128xf8E4M3FN, probabilities>
  return
}

// -----

func.func @pack(%l: !vcattn.fragment<64x128xi16, levels>) {
  // expected-error@+1 {{gives as many probabilities as levels}}
  %0 = vcattn.pack_probabilities <expcast> %l : !vcattn.fragment<64x128xi16, levels> -> !vcattn.fragment<64x64xf8E4M3FN, probabilities>
  return
}

// -----

func.func @clear(%t: !vcattn.tile<128x128xi8>) {
  // expected-error@+1 {{clears tiles of f32 with 128 columns, got '!vcattn.tile<128x128xi8>'}}
  vcattn.clear_total %t columns 128 : !vcattn.tile<128x128xi8>
  return
}

// -----

func.func @clear_columns(%t: !vcattn.tile<64x128xf32>) {
  // expected-error@+1 {{clears tiles of f32 with 64 columns, got '!vcattn.tile<64x128xf32>'}}
  vcattn.clear_total %t columns 64 : !vcattn.tile<64x128xf32>
  return
}

// -----

func.func @copy_rows(%map: !vcattn.tensor_map, %keys: !vcattn.pipeline<2 x !vcattn.tile<260x128xi8>>, %i: i32) {
  // expected-error@+1 {{cannot cut 260 rows into copies of whole groups of 8 rows}}
  vcattn.load_tile %map[%i, %i] to %keys[%i] : !vcattn.pipeline<2 x !vcattn.tile<260x128xi8>>
  return
}

// -----

func.func @too_few_coordinates(%map: !vcattn.tensor_map, %keys: !vcattn.pipeline<2 x !vcattn.tile<264x128xi8>>, %i: i32) {
  // expected-error@+1 {{a tile of 264 rows needs a coordinate for rows}}
  vcattn.load_tile %map[%i] to %keys[%i] : !vcattn.pipeline<2 x !vcattn.tile<264x128xi8>>
  return
}

// -----

func.func @store_dynamic(%a: !vcattn.fragment<64x136xf32, accumulator>, %r: !vcattn.fragment<64xf32, rows>, %x: !vcattn.fragment<64xf32, maxima>,
                         %vs: memref<?x?x?xf32>, %out: memref<?x?x?x?xbf16>, %i: index) {
  // expected-error@+1 {{out needs a static number of channels}}
  vcattn.normalize_and_store %a, %r, %x, %vs[%i, %i] to %out[%i, %i, %i]
      : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, maxima>,
        memref<?x?x?xf32>, memref<?x?x?x?xbf16>
  return
}

// -----

func.func @store(%a: !vcattn.fragment<64x136xf32, accumulator>, %r: !vcattn.fragment<64xf32, rows>, %x: !vcattn.fragment<64xf32, maxima>,
                 %vs: memref<?x?x64xf32>, %out: memref<?x?x?x64xbf16>, %i: index) {
  // expected-error@+1 {{accumulator has 128 channels, out has 64}}
  vcattn.normalize_and_store %a, %r, %x, %vs[%i, %i] to %out[%i, %i, %i]
      : !vcattn.fragment<64x136xf32, accumulator>, !vcattn.fragment<64xf32, rows>, !vcattn.fragment<64xf32, maxima>,
        memref<?x?x64xf32>, memref<?x?x?x64xbf16>
  return
}
