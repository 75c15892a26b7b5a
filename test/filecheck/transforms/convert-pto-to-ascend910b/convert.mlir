// Tiles become views of bytes, each spelling of an event the hardware's.

// RUN: pypto-opt --convert-pto-to-ascend910b %s | filecheck %s
// A second run finds nothing to do.
// RUN: pypto-opt --convert-pto-to-ascend910b --convert-pto-to-ascend910b %s | filecheck %s

builtin.module @unit attributes {pto.target_arch = "a2a3"} {

// An allocation is a view at its address; instructions stay, and so do views of tiles. There is no
// event, so it runs in the order of the text.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME:  attributes {ascend910b.core = #ascend910b<core aiv>, ascend910b.program_order}
// CHECK:         %t = ascend910b.view ub[64], valid = [%n] : {{.*}} v_row=8, v_col=?,
// CHECK-NEXT:    %s = ascend910b.view ub[64] :
// CHECK-NEXT:    %w = pto.subview %s[%c0, %c0]
// CHECK-NEXT:    pto.texp ins(%t :
func.func @tiles(%n : index) {
  %c0 = arith.constant 0 : index
  %a = arith.constant 64 : i64
  %t = pto.alloc_tile addr = %a valid_col = %n : !pto.tile_buf<vec, 8x64xf32, valid=8x?>
  %s = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 8x64xf32>
  %w = pto.subview %s[%c0, %c0] sizes [4, 64] : !pto.tile_buf<vec, 8x64xf32> -> !pto.tile_buf<vec, 4x64xf32>
  pto.texp ins(%t : !pto.tile_buf<vec, 8x64xf32, valid=8x?>) outs(%t : !pto.tile_buf<vec, 8x64xf32, valid=8x?>)
  func.return
}

// A tile that is moved to an address is a view of the bytes there; how much of it is valid is
// asked of the tile where the type does not say it.
// CHECK-LABEL: func.func @assigned
// CHECK:         %t = ascend910b.view ub[0], valid = [%n] :
// CHECK-NEXT:    [[ROWS:%\S+]], [[COLUMNS:%\S+]] = pto.get_validshape %t
// CHECK-NEXT:    %s = ascend910b.view ub[4096], valid = [[[COLUMNS]]] :
// CHECK-NEXT:    %w = ascend910b.view ub[0] :
// CHECK-NEXT:    %u = ascend910b.view ub[%at] :
func.func @assigned(%n : index, %at : i64) {
  %a = arith.constant 0 : i64
  %b = arith.constant 4096 : i64
  %t = pto.alloc_tile addr = %a valid_col = %n : !pto.tile_buf<vec, 8x64xf32, valid=8x?>
  %s = pto.tassign %t, %b : !pto.tile_buf<vec, 8x64xf32, valid=8x?> -> !pto.tile_buf<vec, 8x64xf32, valid=8x?>
  %w = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 8x64xf32>
  %u = pto.tassign %w, %at : !pto.tile_buf<vec, 8x64xf32> -> !pto.tile_buf<vec, 8x64xf32>
  func.return
}

// The slot of several tiles is a view too, at an address that is computed where it is not known.
// CHECK-LABEL: func.func @slots
// CHECK:         %s1 = ascend910b.view ub[2048] :
// CHECK:         [[BASE:%\S+]] = arith.constant 0 : i64
// CHECK:         [[ADDRESS:%\S+]] = arith.addi [[BASE]], {{.*}} : i64
// CHECK-NEXT:    %sn = ascend910b.view ub[[[ADDRESS]] in 0 to 4096] :
// CHECK-NOT:     alloc_multi_tile
func.func @slots(%n : index) {
  %a = arith.constant 0 : i64
  %c1 = arith.constant 1 : index
  %all = pto.alloc_multi_tile addr = %a : !pto.multi_tile_buf<vec, 8x64xf32, count=2>
  %s1 = pto.multi_tile_get %all[%c1] : !pto.multi_tile_buf<vec, 8x64xf32, count=2> -> !pto.tile_buf<vec, 8x64xf32>
  %sn = pto.multi_tile_get %all[%n] : !pto.multi_tile_buf<vec, 8x64xf32, count=2> -> !pto.tile_buf<vec, 8x64xf32>
  func.return
}

// Events named by pipes, by kinds of instructions, and by numbers known at run time; barriers.
// CHECK-LABEL: func.func @events
// CHECK-SAME:  #ascend910b<core aic>
// CHECK-NEXT:    ascend910b.set_flag MTE2 -> MTE1, 3
// CHECK-NEXT:    ascend910b.wait_flag MTE2 -> MTE1, 3
// CHECK-NEXT:    ascend910b.set_flag MTE2 -> M, 0
// CHECK-NEXT:    ascend910b.wait_flag MTE2 -> M, 0
// CHECK-NEXT:    ascend910b.set_flag M -> FIX, %n
// CHECK-NEXT:    ascend910b.wait_flag M -> FIX, %n
// CHECK-NEXT:    ascend910b.barrier ALL
// CHECK-NEXT:    ascend910b.barrier M
// CHECK-NEXT:    func.return
func.func @events(%n : index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID3>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID3>]
  pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TMATMUL>, #pto.event<EVENT_ID0>]
  pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TMATMUL>, #pto.event<EVENT_ID0>]
  pto.set_flag_dyn[<PIPE_M>, <PIPE_FIX>, %n]
  pto.wait_flag_dyn[<PIPE_M>, <PIPE_FIX>, %n]
  pto.barrier <PIPE_ALL>
  pto.barrier_sync[<TMATMUL>]
  func.return
}

// Flags between all cores of a kind, and the meeting of all cores, which stays.
// CHECK-LABEL: func.func @everywhere
// CHECK-NEXT:    ascend910b.set_cross_flag MTE3, 5, mode = 0
// CHECK-NEXT:    ascend910b.set_cross_flag MTE3, 6, mode = 1
// CHECK-NEXT:    ascend910b.set_cross_flag MTE3, 7{{$}}
// CHECK-NEXT:    ascend910b.wait_cross_flag MTE2, 5
// CHECK-NEXT:    pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>
func.func @everywhere(%f : !pto.ptr<i64>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.set_ffts %f : !pto.ptr<i64>
  pto.sync.set <PIPE_MTE3>, 5 {ffts_mode = 0 : i32}
  pto.sync.set <PIPE_MTE3>, 6 {ffts_mode = 1 : i32}
  pto.sync.set <PIPE_MTE3>, 7 {ffts_mode = 2 : i32}
  pto.sync.wait <PIPE_MTE2>, 5
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>
  func.return
}

// Sections make a program of both kinds of core; flags between them are those of a group.
// CHECK-LABEL: func.func @both
// CHECK-SAME:  #ascend910b<core mix>
// CHECK-NOT:     set_ffts
// CHECK:         ascend910b.set_cross_flag MTE3, 2
// CHECK:         ascend910b.wait_cross_flag MTE2, %n
func.func @both(%f : !pto.ptr<i64>, %n : index) {
  pto.set_ffts %f : !pto.ptr<i64>
  pto.section.vector {
    pto.sync.set <PIPE_MTE3>, 2
  }
  pto.section.cube {
    pto.sync.wait <PIPE_MTE2>, %n
  }
  func.return
}

// A queue that has a handle gets the number of its first flag's pair; what is taken of it is a value.
// CHECK-LABEL: func.func @handle
// CHECK-NOT:     declare_tile
// CHECK:         pto.aiv_initialize_pipe {id = 2, dir_mask = 1, slot_size = 1024, slot_num = 4} (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %here : i32)
// CHECK-NEXT:    %t = pto.tpop_from_aic {id = 2, split = 0} -> !pto.tile_buf<{{.*}}>
// CHECK-NEXT:    pto.tneg ins(%t :
// CHECK-NEXT:    pto.tfree_from_aic {id = 2, split = 0}
func.func @handle(%gm : !pto.ptr<f32>, %here : i32)
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 4, flag_base = 4}
    (%gm : !pto.ptr<f32>, %here : i32) -> !pto.pipe
  %t = pto.declare_tile -> !pto.tile_buf<vec, 16x16xf32>
  pto.tpop(%t, %q : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 0}
  pto.tneg ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tfree(%q : !pto.pipe) {split = 0}
  func.return
}

// A buffer of a queue that has no address gets one behind the tiles.
// CHECK-LABEL: func.func @queue
// CHECK:         pto.reserve_buffer {name = "slots", size = 2048, location = #pto.address_space<vec>, auto = false, base = 1024}
func.func @queue() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 4x64xf32>
  %b = pto.reserve_buffer {name = "slots", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
  func.return
}

}
