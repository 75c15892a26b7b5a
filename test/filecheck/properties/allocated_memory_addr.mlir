// Every on-chip buffer has a constant address, aligned and inside its memory.

// RUN: pypto-opt --verify-diagnostics --verify-property=AllocatedMemoryAddr %s

builtin.module @unit attributes {pto.target_arch = "a2a3"} {
  func.func @kernel(%run_time : i64) {
    %c0 = arith.constant 0 : i64
    %c188384 = arith.constant 188384 : i64
    %c65024 = arith.constant 65024 : i64
    // Two at one address are how bytes are shared.
    %a = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 16x32xf32>
    %b = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 16x32xf32>
    // expected-error @+1 {{'pto.alloc_tile' op has no address}}
    %c = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
    // expected-error @+1 {{'pto.alloc_tile' op has an address that is known only at run time}}
    %d = pto.alloc_tile addr = %run_time : !pto.tile_buf<vec, 16x32xf32>
    // expected-error @+1 {{'pto.alloc_tile' op lies at 188384..190432, outside the 188416 bytes of vec}}
    %e = pto.alloc_tile addr = %c188384 : !pto.tile_buf<vec, 16x32xf32>
    // expected-error @+1 {{'pto.alloc_tile' op lies at 65024..66048, outside the 65536 bytes of left}}
    %f = pto.alloc_tile addr = %c65024 : !pto.tile_buf<left, 16x32xf16, slayout=row_major>
    func.return
  }
}
