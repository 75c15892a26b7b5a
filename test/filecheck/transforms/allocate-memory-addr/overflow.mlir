// Tiles that do not fit are an error where most of them are in use, and are listed there.

// RUN: pypto-opt --split-input-file --verify-diagnostics --allocate-memory-addr %s

builtin.module @unit attributes {pto.target_arch = "a2a3"} {
  func.func @too_many(%p : !pto.partition_tensor_view<128x256xf32>) {
    // expected-note @+1 {{%a is in use: 131072 bytes, !pto.tile_buf<loc=vec, dtype=f32, rows=128, cols=256, v_row=128, v_col=256, blayout=row_major, slayout=none_box, fractal=512, pad=0>}}
    %a = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32>
    // expected-note @+1 {{%b is in use: 131072 bytes}}
    %b = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32>
    // Used earlier than the others, and so not listed.
    %c = pto.alloc_tile : !pto.tile_buf<vec, 8x256xf32>
    pto.tabs ins(%c : !pto.tile_buf<vec, 8x256xf32>) outs(%c : !pto.tile_buf<vec, 8x256xf32>)
    pto.tload ins(%p : !pto.partition_tensor_view<128x256xf32>) outs(%a : !pto.tile_buf<vec, 128x256xf32>)
    // expected-error @+1 {{'pto.tload' op needs 270336 bytes of tiles in vec, which has 188416; 262144 are in use here}}
    pto.tload ins(%p : !pto.partition_tensor_view<128x256xf32>) outs(%b : !pto.tile_buf<vec, 128x256xf32>)
    pto.tadd ins(%a, %b : !pto.tile_buf<vec, 128x256xf32>, !pto.tile_buf<vec, 128x256xf32>) outs(%b : !pto.tile_buf<vec, 128x256xf32>)
    func.return
  }
}

// -----

builtin.module @unit attributes {pto.target_arch = "a2a3"} {
  // They would fit one after the other.
  func.func @no_reuse(%p : !pto.partition_tensor_view<128x256xf32>) {
    // expected-note @+1 {{%a is in use: 131072 bytes}}
    %a = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32>
    // expected-error @+1 {{'pto.tload' op needs 262144 bytes of tiles in vec, which has 188416; 131072 are in use here, more than anywhere: run 'memory-reuse' first}}
    pto.tload ins(%p : !pto.partition_tensor_view<128x256xf32>) outs(%a : !pto.tile_buf<vec, 128x256xf32>)
    pto.tstore ins(%a : !pto.tile_buf<vec, 128x256xf32>) outs(%p : !pto.partition_tensor_view<128x256xf32>)
    pto.tload ins(%p : !pto.partition_tensor_view<128x256xf32>) outs(%b : !pto.tile_buf<vec, 128x256xf32>)
    pto.tstore ins(%b : !pto.tile_buf<vec, 128x256xf32>) outs(%p : !pto.partition_tensor_view<128x256xf32>)
    func.return
  }
}

// -----

// The memory of the program is that of its target.
// expected-error @+1 {{'func.func' op has no target: name one by the module attribute pto.target_arch = "a2a3" or the pass option backend}}
func.func @no_target() {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32>
  func.return
}

// -----

// What the program placed itself is in the way; no tile need be used for that.
builtin.module @unit attributes {pto.target_arch = "a2a3"} {
  func.func @placed() {
    %c131072 = arith.constant 131072 : i64
    %a = pto.alloc_tile addr = %c131072 : !pto.tile_buf<vec, 16x256xf32>
    // expected-error @+1 {{'pto.alloc_tile' op needs 278528 bytes of tiles in vec, which has 188416; 147456 are taken by what has a place already}}
    %b = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32>
    func.return
  }
}

// -----

// A place outside the memory is an error where it is given.
builtin.module @unit attributes {pto.target_arch = "a2a3"} {
  func.func @outside() {
    %c188384 = arith.constant 188384 : i64
    // expected-error @+1 {{'pto.alloc_tile' op lies at 188384..190432, outside the 188416 bytes of vec}}
    %a = pto.alloc_tile addr = %c188384 : !pto.tile_buf<vec, 16x32xf32>
    pto.tabs ins(%a : !pto.tile_buf<vec, 16x32xf32>) outs(%a : !pto.tile_buf<vec, 16x32xf32>)
    func.return
  }
}
