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

// Slots on chip, which no other core reaches.
builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @near(%here : i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // expected-error @+1 {{use pto.initialize_l2g2l_pipe, whose slots are in global memory}}
    %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 4} (%here : i32) -> !pto.pipe
    func.return
  }
}

// -----

// Two queues of one core with the same flags.
builtin.module attributes {pto.target_arch = "a2a3"} {
  func.func @same(%gm : !pto.ptr<f32>, %here : i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %q = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, flag_base = 0}
      (%gm : !pto.ptr<f32>, %here : i32, %here : i32) -> !pto.pipe
    // expected-error @+1 {{has flag 2, which another queue of the core has}}
    %r = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 4, flag_base = 2}
      (%gm : !pto.ptr<f32>, %here : i32) -> !pto.pipe
    func.return
  }
}
