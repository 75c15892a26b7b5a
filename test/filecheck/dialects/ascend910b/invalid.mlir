// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expected a memory (ub, l1, l0a, l0b, l0c, bt, fb), got 'dram'}}
%t = ascend910b.view dram[0] : !pto.tile_buf<vec, 8x64xf32>

// -----

// The memory that is named is that of the type.
// expected-error @+1 {{expected a tile (!pto.tile_buf) in l1, got !pto.tile_buf<loc=vec}}
%t = ascend910b.view l1[0] : !pto.tile_buf<vec, 8x64xf32>

// -----

// expected-error @+1 {{expects an address that is not negative, got -32}}
%t = ascend910b.view ub[-32] : !pto.tile_buf<vec, 8x64xf32>

// -----

// expected-error @+1 {{expects 2 valid extents for !pto.tile_buf<vec, 8x64xf32, valid=?x?>, got 0}}
%t = ascend910b.view ub[0] : !pto.tile_buf<vec, 8x64xf32, valid=?x?>

// -----

func.func @bounds(%a : i64) {
  // expected-error @+1 {{a tile of 2048 bytes does not lie in 1024 to 2048}}
  %t = ascend910b.view ub[%a in 1024 to 2048] : !pto.tile_buf<vec, 8x64xf32>
  func.return
}

// -----

// expected-error @+1 {{unknown pipe 'MTE7'; there are S, V, M, MTE1, MTE2, MTE3, FIX}}
ascend910b.set_flag MTE7 -> V, 0

// -----

// expected-error @+1 {{expects two pipes, V is in order by itself}}
ascend910b.set_flag V -> V, 0

// -----

// expected-error @+1 {{expects an event from 0 to 7, got 8}}
ascend910b.wait_flag MTE2 -> V, 8

// -----

// expected-error @+1 {{expects a flag from 0 to 15, got 16}}
ascend910b.set_cross_flag MTE3, 16

// -----

// expected-error @+1 {{expects mode 0, mode 1 or none, got 2}}
ascend910b.set_cross_flag MTE3, 6, mode = 2

// -----

// expected-error @+1 {{unknown pipe 'EVERY'; there are S, V, M, MTE1, MTE2, MTE3, FIX, ALL}}
ascend910b.barrier EVERY
