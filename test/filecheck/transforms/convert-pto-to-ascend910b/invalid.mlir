// RUN: pypto-opt --convert-pto-to-ascend910b --split-input-file --verify-diagnostics %s

// No core has both kinds of memory.
builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @both() {
    %a = arith.constant 0 : i64
    // expected-note @+1 {{this is in the memory of a cube core}}
    %m = pto.alloc_tile addr = %a : !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
    // expected-error @+1 {{is in the memory of a vector core, in a function that also uses a cube core's}}
    %v = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x16xf16>
    func.return
  }
}

// -----

// Tiles must have addresses.
builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @unplaced() {
    // expected-error @+1 {{has no address}}
    %v = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf16>
    func.return
  }
}

// -----

// Buffer ids order pipes on another chip.
builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @other() {
    // expected-error @+1 {{is no instruction of a 910B, which orders pipes by events}}
    pto.get_buf "PIPE_V", 3, 0
    func.return
  }
}

// -----

// Flags of several groups.
builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @groups(%f : !pto.ptr<i64>) {
    pto.set_ffts %f : !pto.ptr<i64>
    // expected-error @+1 {{has mode 0, for cores of several groups}}
    pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 0 : i32}
    func.return
  }
}
