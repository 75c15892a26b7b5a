// Who plans memory is checked before the assembler refuses the file.

// RUN: pypto-opt %s --verify-diagnostics -t 'pto{level="level3"}' | filecheck %s --allow-empty
// CHECK-NOT: {{.}}

module attributes {pto.target_arch = "a2a3"} {
  func.func @k() {
    // expected-error @below {{requires an 'addr' operand at level3}}
    %0 = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
    %zero = arith.constant 0 : i64
    %1 = pto.alloc_tile addr = %zero : !pto.tile_buf<vec, 8x8xf32>
    // expected-error @below {{requires 'auto = false' and explicit 'base' at level3}}
    %2 = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    func.return
  }
}
