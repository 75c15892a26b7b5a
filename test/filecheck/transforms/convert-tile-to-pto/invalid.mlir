// What is not lowered yet, or cannot be, is an error at its line.

// RUN: pypto-opt --split-input-file --verify-diagnostics --convert-tile-to-pto %s

// expected-error @+1 {{'orch.func' op has no target: name one by the module attribute pto.target_arch = "a2a3" or the pass option backend}}
orch.func incore @no_target() {
  orch.return
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
  // Which buffer a kernel writes is known when it is compiled.
  orch.func incore @two_buffers(out %a : tensor<16x32xf32>, out %b : tensor<16x32xf32>, in %c : i1) {
    %r = scf.if %c -> (tensor<16x32xf32>) {
      scf.yield %a : tensor<16x32xf32>
    } else {
      // expected-error @+1 {{'scf.yield' op hands over another buffer as result 0: which one it is may not depend on control flow in a kernel}}
      scf.yield %b : tensor<16x32xf32>
    }
    orch.return
  }

  orch.func incore @composite(in %x : tensor<16x32xf32>) {
    %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32, vec>
    // expected-error @+1 {{'tile.sin' op is composed of simpler ops: run 'lower-composite-ops' first}}
    %e = tile.sin %t : !tile.tile<16x32xf32, vec>
    orch.return
  }

  // A column of a matrix whose elements lie row by row.
  orch.func incore @strided_column(in %x : tensor<16x32xf32>) {
    // expected-error @+1 {{'tile.load' op moves a column !tile.tile<16x1xf32, vec> from or to a row-major tensor, where its elements do not follow each other: put columns together on chip, or keep each in a tensor of its own}}
    %t = tile.load %x[0, 3] : tensor<16x32xf32> -> !tile.tile<16x1xf32, vec>
    orch.return
  }
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
  // The assembler asks where flags between cores are, in each function that uses them.
  orch.func aiv @flags() {
    // expected-error @+1 {{'tile.sync_set' op uses a flag between cores, in kernel 'flags' that does not say where they are kept: tile.set_ffts does}}
    tile.sync_set pipe = mte3, event_id = 3
    orch.return
  }
}

// -----

builtin.module attributes {pto.target_arch = "a2a3"} {
  // A row of 16 bytes is no block: the assembler's rule, at the user's line.
  orch.func incore @misaligned(in %x : tensor<4x4xf32>) {
    // expected-error @+1 {{'pto.alloc_tile' op expects result row-major none_box tile row byte size to be 32-byte aligned, but got 16 bytes}}
    %t = tile.load %x[0, 0] : tensor<4x4xf32> -> !tile.tile<4x4xf32, vec>
    orch.return
  }
}

// -----

// The cube core and the vector core share no memory: a kernel is for one of them.
module attributes {pto.target_arch = "a2a3"} {
  orch.func incore @mixed(
      in %a : tensor<16x16xf16>, in %b : tensor<16x16xf16>, in %c : tensor<16x16xf32>,
      out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>)
      -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %a1 = tile.load %a[0, 0] : tensor<16x16xf16> -> !tile.tile<16x16xf16, mat>
    %b1 = tile.load %b[0, 0] : tensor<16x16xf16> -> !tile.tile<16x16xf16, mat>
    // expected-note @+1 {{this runs on the cube core}}
    %l = tile.move %a1 : !tile.tile<16x16xf16, mat> -> !tile.tile<16x16xf16, left>
    %r = tile.move %b1 : !tile.tile<16x16xf16, mat> -> !tile.tile<16x16xf16, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf16, left>, !tile.tile<16x16xf16, right> -> !tile.tile<16x16xf32, acc>
    %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    %c1 = tile.load %c[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
    // expected-error @+1 {{'tile.abs' op runs on the vector core, in kernel 'mixed' that also has work of the cube core: run 'expand-mixed-kernel' first}}
    %e = tile.abs %c1 : !tile.tile<16x16xf32, vec>
    %y1 = tile.store %e, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    orch.return %x1, %y1 : tensor<16x16xf32>, tensor<16x16xf32>
  }
}

// -----

// A slot is halved where the first core's part ends; PTOAS has no word for another place.
module attributes {pto.target_arch = "a2a3"} {
  orch.func aiv @apart(out %y : tensor<8x32xf32>) -> tensor<8x32xf32> {
    %n = arith.constant 0 : i32
    tile.aiv_initialize_pipe %n, %n, dir_mask = 1, slot_size = 2048 : i32
    %same = tile.tpop_from_aic split = up_down, lane_stride = 8 : !tile.tile<8x32xf32, vec>
    %y1 = tile.store %same, %y[0, 0] : !tile.tile<8x32xf32, vec>, tensor<8x32xf32>
    tile.tfree_to_aic %same, split = up_down : !tile.tile<8x32xf32, vec>
    // expected-error @+1 {{'tile.tpop_from_aic' op cannot be lowered: lane_stride = 6 lets the second half start elsewhere than behind the first one of !tile.tile<8x32xf32, vec>}}
    %else = tile.tpop_from_aic split = up_down, lane_stride = 6 : !tile.tile<8x32xf32, vec>
    %y2 = tile.store %else, %y1[0, 0] : !tile.tile<8x32xf32, vec>, tensor<8x32xf32>
    tile.tfree_to_aic %else, split = up_down : !tile.tile<8x32xf32, vec>
    orch.return %y2 : tensor<8x32xf32>
  }
}

// -----

// Of an odd number of rows the first core gets one more.
module attributes {pto.target_arch = "a2a3"} {
  orch.func aic @apart(in %x : tensor<15x32xf32>) {
    %n = arith.constant 0 : i32
    tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 2048 : i32
    %t = tile.create : !tile.tile<16x32xf32, acc, valid = [15, 32]>
    tile.tpush_to_aiv %t, split = up_down_odd, lane_stride = 8 : !tile.tile<16x32xf32, acc, valid = [15, 32]>
    // expected-error @+1 {{lane_stride = 7 lets the second half start elsewhere}}
    tile.tpush_to_aiv %t, split = up_down_odd, lane_stride = 7 : !tile.tile<16x32xf32, acc, valid = [15, 32]>
    orch.return
  }
}
