// RUN: pypto-opt --allocate-memory-addr --split-input-file --verify-diagnostics %s | filecheck %s

// What is reserved for queues lies before the tiles, in the order of the text.
builtin.module attributes {pto.target_arch = "a2a3"} {
  // CHECK:      pto.reserve_buffer {name = "one", size = 100, location = #pto.address_space<vec>, auto = false, base = 0}
  // CHECK-NEXT: pto.reserve_buffer {name = "two", size = 4096, location = #pto.address_space<vec>, auto = false, base = 128}
  // CHECK-NEXT: pto.alloc_tile addr = %c4224_i64
  func.func @kernel() {
    %0 = pto.reserve_buffer {name = "one", size = 100, location = #pto.address_space<vec>, auto = true} -> i32
    %1 = pto.reserve_buffer {name = "two", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)
    func.return
  }
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @kernel() {
    %0 = pto.reserve_buffer {name = "one", size = 188000, location = #pto.address_space<vec>, auto = true} -> i32
    // expected-error @+1 {{reserves 4096 bytes in vec, of which 416 are left}}
    %1 = pto.reserve_buffer {name = "two", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %t = pto.alloc_tile : !pto.tile_buf<mat, 16x64xf32>
    func.return
  }
}
