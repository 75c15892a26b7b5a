// Attributes of other dialects, such as memory planning's, are left out; those of pto are not.

// RUN: pypto-opt %s -t pto | filecheck %s

// CHECK:      module attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:   func.func @k() attributes {pto.entry} {
// CHECK-NEXT:     %0 = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>
module attributes {pto.target_arch = "a2a3", plan.done} {
  func.func @k() attributes {pto.entry, plan.role = "x"} {
    %0 = pto.alloc_tile {plan.pinned} : !pto.tile_buf<vec, 8x8xf32>
    func.return
  }
}
