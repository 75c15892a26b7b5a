// Barriers, events, flags between cores, fences and caches, as PTOAS spells them.

// RUN: pypto-opt -p "convert-tile-to-pto{backend=ascend910b}" %s | filecheck %s

// CHECK-LABEL:  func.func @core(
// CHECK:          pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
// CHECK-NEXT:     pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]
// CHECK-NEXT:     pto.barrier <PIPE_V>
// CHECK-NEXT:     pto.barrier <PIPE_M>
// CHECK-NEXT:     pto.barrier <PIPE_ALL>
// CHECK-NEXT:     pto.fence.barrier_all #pto.fence_scope<gm>
// CHECK-NEXT:     pto.cmo.cacheinvalid all #pto.address_space<gm>
// CHECK-NEXT:     %x_pview = pto.partition_view %x_view, offsets = [%n, %c0_index], sizes = [%c1_index, %c16_index]
// CHECK-NEXT:     pto.cmo.cacheinvalid %x_pview single_cache_line : !pto.partition_tensor_view<1x16xf32>
// CHECK-NEXT:     func.return
orch.func incore @core(in %x : tensor<16x64xf32>, in %n : index) {
  tile.sync_src set_pipe = mte2, wait_pipe = v, event_id = 3
  tile.sync_dst set_pipe = mte2, wait_pipe = v, event_id = 3
  tile.bar_v
  tile.bar_m
  tile.bar_all
  tile.fence
  tile.cacheinvalid
  tile.cacheinvalid %x[%n, 0], sizes = [1, 16] : tensor<16x64xf32>
  orch.return
}

// The hard form of meeting takes no operands, whatever the op has.
// CHECK-LABEL:  func.func @cores(
// CHECK:          pto.set_ffts %w : !pto.ptr<i64>
// CHECK-NEXT:     pto.sync.set <PIPE_MTE3>, 2 {ffts_mode = 1 : i32}
// CHECK-NEXT:     pto.sync.set <PIPE_MTE3>, 0
// CHECK-NEXT:     pto.sync.wait <PIPE_MTE2>, 13
// CHECK-NEXT:     %[[FLAG:.*]] = arith.index_cast %c : i32 to index
// CHECK-NEXT:     pto.sync.wait <PIPE_V>, %[[FLAG]]
// CHECK-NEXT:     pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>
// CHECK-NEXT:     pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aic_only>
// CHECK-NEXT:     %s_pview = pto.partition_view %s_view, offsets = [%c0_index], sizes = [%c16_index] : !pto.tensor_view<?xi32> -> !pto.partition_tensor_view<16xi32>
// CHECK-NEXT:     pto.syncall(%s_pview, %c : !pto.partition_tensor_view<16xi32>, i32) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>
orch.func aiv @cores(in %w : tensor<256xi64>, inout %s : tensor<16xi32>, in %c : i32) {
  tile.set_ffts %w : tensor<256xi64>
  tile.sync_set pipe = mte3, event_id = 2, ffts_mode = 1
  tile.sync_set pipe = mte3, event_id = 0
  tile.sync_wait pipe = mte2, event_id = 13
  tile.sync_wait %c, pipe = v, event_id = 0 : i32
  tile.syncall core_type = vector
  tile.syncall %s, core_type = cube : tensor<16xi32>
  tile.syncall %s, %c, mode = soft : tensor<16xi32>, i32
  orch.return
}
