// RUN: vcattn-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown target 'sm_80', expected one of sm_90a, sm_100a, sm_103a, sm_120a}}
func.func private @x() attributes {test.attr = #vcattn.target<"sm_80">}

// -----

// expected-error @+1 {{tile_k must be 64, got 128}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 128, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{tile_k must be 64, got 0}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 0, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{tile_q (128) must be a positive multiple of consumers (3)}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 3, producer_registers = 24, consumer_registers = 240, ping_pong = false, promotion = 32>}

// -----

// expected-error @+1 {{tile_q (128) must be a positive multiple of consumers (0)}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 0, producer_registers = 24, consumer_registers = 240, ping_pong = false, promotion = 32>}

// -----

// expected-error @+1 {{tile_q (0) must be a positive multiple of consumers (2)}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 0, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{stages must be at least 2, got 1}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 1, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{registers per thread must be a multiple of 8 in [24, 256], got 16}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 16, consumer_registers = 240, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{registers per thread must be a multiple of 8 in [24, 256], got 264}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 264, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{registers per thread must be a multiple of 8 in [24, 256], got 236}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 236, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{ping_pong needs 2 consumers, got 1}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 1, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 32>}

// -----

// expected-error @+1 {{promotion must be a positive multiple of 16, got 24}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 24>}

// -----

// expected-error @+1 {{promotion must be a positive multiple of 16, got 0}}
func.func private @x() attributes {test.attr = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 0>}

// -----

// expected-error @+1 {{'vcattn.entry' must be a unit attribute of a function}}
func.func private @entry_value() attributes {vcattn.entry = 1 : i64}

// -----

// expected-error @+1 {{'vcattn.entry' must be a unit attribute of a function}}
module attributes {vcattn.entry} {
}
