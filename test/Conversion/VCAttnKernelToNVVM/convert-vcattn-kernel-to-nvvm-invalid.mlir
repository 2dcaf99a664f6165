// RUN: vcattn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vcattn-kernel-to-nvvm))' --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error@+1 {{needs 16384 bytes of shared memory, is launched with 1024}}
  gpu.func @shared_memory() kernel attributes {vcattn.shared_memory = 1024 : i64} {
    %0 = vcattn.shared_tile : !vcattn.tile<128x128xi8>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rows() kernel {
    // expected-error@+1 {{a consumer has 64 rows on this target, got '!vcattn.fragment<128xf32, rows>'}}
    %0 = vcattn.fill 0.0 : !vcattn.fragment<128xf32, rows>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @head_dimension() kernel {
    %q = vcattn.shared_tile : !vcattn.tile<64x40xi8>
    %k = vcattn.shared_tile : !vcattn.tile<128x40xi8>
    // expected-error@+1 {{reads 32 columns at a time on this target, got '!vcattn.tile<128x40xi8>'}}
    %s = vcattn.mma_scores %q, %k : !vcattn.tile<64x40xi8>, !vcattn.tile<128x40xi8>
        -> !vcattn.in_flight<!vcattn.fragment<64x128xi32, scores>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @packed() kernel {
    // expected-error@+1 {{fills packed registers with zero only}}
    %0 = vcattn.fill 1.0 : !vcattn.fragment<64x8xf16, row_sums>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @maxima() kernel {
    // expected-error@+1 {{fills maxima with -inf only}}
    %0 = vcattn.fill 0.0 : !vcattn.fragment<64xf32, maxima>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @positive_maxima() kernel {
    // expected-error@+1 {{fills maxima with -inf only}}
    %0 = vcattn.fill 0x7F800000 : !vcattn.fragment<64xf32, maxima>
    gpu.return
  }
}
