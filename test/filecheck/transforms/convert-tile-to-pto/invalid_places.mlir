// Places of tiles that cannot be, or are not known, are errors at their lines.

// RUN: pypto-opt --split-input-file --verify-diagnostics --convert-tile-to-pto=backend=ascend910b %s

// Two tiles that are needed at the same time are not kept in one place.
orch.func incore @one_place(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %b = tile.alloc buffer = "b", pinned : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-note @+1 {{at 0 since here: 4096 bytes}}
  %t = tile.place %t0, %b[0] : !tile.tile<16x64xf32, vec>, !tile.buffer
  %e0 = tile.exp %t : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps a tile at 0 where another one is still needed}}
  %e = tile.place %e0, %b[0] : !tile.tile<16x64xf32, vec>, !tile.buffer
  %f = tile.add %t, %e : !tile.tile<16x64xf32, vec>
  %s = tile.store %f, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

orch.func incore @at_run_time(in %x : tensor<16x64xf32>, in %i : index, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %b = tile.alloc buffer = "b", slots = 2, pinned : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps a tile at a place in buffer 'b' that is known at run time only: unroll the loop that it depends on}}
  %t = tile.place %t0, %b[%i], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %s = tile.store %t, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

orch.func incore @odd(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %b = tile.alloc buffer = "b" : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps a tile at 16, no multiple of 32 bytes}}
  %t = tile.place %t0, %b[16] : !tile.tile<16x64xf32, vec>, !tile.buffer
  %s = tile.store %t, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

orch.func incore @other_memory(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %b = tile.alloc buffer = "b", space = mat, size = 4096 : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps a tile in vec in buffer 'b', which is in mat}}
  %t = tile.place %t0, %b[0] : !tile.tile<16x64xf32, vec>, !tile.buffer
  %s = tile.store %t, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

orch.func incore @too_large(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  // expected-error @+1 {{'tile.alloc' op is a buffer of 262144 bytes at 0 in vec, which has 188416}}
  %b = tile.alloc buffer = "b", slots = 64, pinned : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %t = tile.place %t0, %b[0], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %s = tile.store %t, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}
