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

// A slot may be known at run time only, an offset not.
orch.func incore @at_run_time(in %x : tensor<16x64xf32>, in %i : index, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %b = tile.alloc buffer = "b", pinned : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps a tile at an offset in buffer 'b' that is known at run time only: give the buffer slots, or unroll the loop that it depends on}}
  %t = tile.place %t0, %b[%i] : !tile.tile<16x64xf32, vec>, !tile.buffer
  %s = tile.store %t, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

// It may be the same one.
orch.func incore @some_slots(in %x : tensor<16x64xf32>, in %i : index, in %j : index, out %o : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %b = tile.alloc buffer = "b", slots = 2, pinned : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-note @+1 {{at some slot of buffer 'b' since here: 4096 bytes}}
  %t = tile.place %t0, %b[%i], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %e0 = tile.exp %t : !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps a tile at some slot of buffer 'b' where another one is still needed}}
  %e = tile.place %e0, %b[%j], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %f = tile.add %t, %e : !tile.tile<16x64xf32, vec>
  %s = tile.store %f, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}

// -----

orch.func incore @sizes(in %x : tensor<16x64xf32>, in %i : index, out %o : tensor<8x64xf32>, out %p : tensor<16x64xf32>) {
  %b = tile.alloc buffer = "b", slots = 2, pinned : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<8x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps 2048 bytes in a slot of 4096 that is known at run time only: what is kept in such slots is of one size}}
  %t = tile.place %t0, %b[%i], by_slot : !tile.tile<8x64xf32, vec>, !tile.buffer
  %s = tile.store %t, %o[0, 0] : !tile.tile<8x64xf32, vec>, tensor<8x64xf32>
  %u0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %u = tile.place %u0, %b[%i], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %r = tile.store %u, %p[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return
}

// -----

orch.func incore @many_slots(in %x : tensor<16x64xf32>, in %i : index, out %o : tensor<16x64xf32>) {
  %b = tile.alloc buffer = "b", slots = 17, pinned : !tile.buffer
  %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  // expected-error @+1 {{'tile.place' op keeps a tile in one of 17 slots that is known at run time only, of 2 to 16}}
  %t = tile.place %t0, %b[%i], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
  %s = tile.store %t, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return
}

// -----

// What a loop carries is in one place while it runs.
orch.func incore @carried_on(in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tile.alloc buffer = "b", slots = 2, pinned : !tile.buffer
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %t) -> (!tile.tile<16x64xf32, vec>) {
    %e0 = tile.exp %a : !tile.tile<16x64xf32, vec>
    // expected-error @+1 {{'tile.place' op keeps a tile in a slot that is known only after the tile is made, or that changes while it is handed on}}
    %e = tile.place %e0, %b[%i], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
    scf.yield %e : !tile.tile<16x64xf32, vec>
  }
  %s = tile.store %r, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
  orch.return
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
