// Two small tiles where a large one was: whole buffers that share would not fit, but their bytes do.

// RUN: pypto-opt --memory-reuse --allocate-memory-addr -t 'pto{short_types=true}' %s | filecheck %s

// CHECK:         %c0_i64 = arith.constant 0 : i64
// CHECK:         %c65536_i64 = arith.constant 65536 : i64
// CHECK:         %large = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<vec, 256x128xf32>
// CHECK:         %a = pto.alloc_tile addr = %c0_i64 : !pto.tile_buf<vec, 128x128xf32>
// CHECK:         %b = pto.alloc_tile addr = %c65536_i64 : !pto.tile_buf<vec, 128x128xf32>
builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @kernel(%x : f32) {
    %large = pto.alloc_tile : !pto.tile_buf<vec, 256x128xf32>
    pto.texpands ins(%x : f32) outs(%large : !pto.tile_buf<vec, 256x128xf32>)
    %a = pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 128x128xf32>
    pto.texpands ins(%x : f32) outs(%a : !pto.tile_buf<vec, 128x128xf32>)
    pto.texpands ins(%x : f32) outs(%b : !pto.tile_buf<vec, 128x128xf32>)
    pto.tadd ins(%a, %b : !pto.tile_buf<vec, 128x128xf32>, !pto.tile_buf<vec, 128x128xf32>) outs(%a : !pto.tile_buf<vec, 128x128xf32>)
    return
  }
}
