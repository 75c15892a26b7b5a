// A group of a cube core and both vector cores is one task, that waits for what its kernels use; an
// spmd launch has slots for each of its blocks.

// RUN: pypto-opt --default-pipeline -t orchestration %s | filecheck %s
// RUN: pypto-opt --default-pipeline -t task-graph %s | filecheck %s --check-prefix GRAPH
// RUN: pypto-opt --default-pipeline -t 'pto{short-types=true}' %s | filecheck %s --check-prefix PTO

builtin.module {
orch.func orchestration @main(in %a : tensor<64x64xf16>, in %b : tensor<64x64xf16>, out %y : tensor<64x64xf16>, out %z : tensor<256x64xf32>) -> (tensor<64x64xf16>, tensor<256x64xf32>) {
  %r = orch.incore split up_down "first" -> (tensor<64x64xf16>) {
    %p = ptensor.matmul %a, %b, out_dtype = f32 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %s = ptensor.abs %p : tensor<64x64xf32>
    %h = ptensor.cast %s, target_type = f16 : tensor<64x64xf32> -> tensor<64x64xf16>
    %w = ptensor.assemble %h, %y[0, 0] : tensor<64x64xf16>
    orch.yield %w : tensor<64x64xf16>
  }
  %c4 = arith.constant 4 : index
  %t = orch.spmd "wide" launch %c4 -> (tensor<256x64xf32>) {
    %u = orch.incore split left_right "second" -> (tensor<256x64xf32>) {
      %i = tile.get_block_idx : index
      %c64 = arith.constant 64 : index
      %at = arith.muli %i, %c64 : index
      %q = ptensor.matmul %r, %b, out_dtype = f32 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      %e = ptensor.exp %q : tensor<64x64xf32>
      %v = ptensor.assemble %e, %z[%at, 0] : tensor<64x64xf32>, tensor<256x64xf32>
      orch.yield %v : tensor<256x64xf32>
    }
    orch.yield %u : tensor<256x64xf32>
  }
  orch.return %r, %t : tensor<64x64xf16>, tensor<256x64xf32>
}
}

// Two slots of 64x64 f32 are 8192 elements; four blocks have as many each.
// CHECK:      // Kernel 0: first_aic (AIC)
// CHECK-NEXT: // Kernel 1: first_aiv (AIV)
// CHECK-NEXT: // Kernel 2: second_aic (AIC)
// CHECK-NEXT: // Kernel 3: second_aiv (AIV)
// CHECK:      shapes[1] = {8192};
// CHECK:      shapes[1] = {32768};
// CHECK:      params_t0.add_input(ext_a);
// CHECK-NEXT: params_t0.add_input(ext_b);
// CHECK-NEXT: params_t0.add_output(ext_y);
// CHECK-NEXT: params_t0.add_output(gm_pipe_buffer
// CHECK-NEXT: MixedKernels mixed_0 = {0, 1, 1};
// CHECK-NEXT: rt_submit_task(mixed_0, params_t0);
// CHECK:      params_t1.add_input(ext_y);
// CHECK-NEXT: params_t1.add_input(ext_b);
// CHECK-NEXT: params_t1.add_output(ext_z);
// CHECK-NEXT: params_t1.add_output(gm_pipe_buffer
// CHECK-NEXT: MixedKernels mixed_1 = {2, 3, 3};
// CHECK-NEXT: params_t1.launch_spec.set_block_num(4);
// CHECK-NEXT: rt_submit_task(mixed_1, params_t1);

// GRAPH:      [[FIRST:t.*]] [label="{{.*}}: first\n
// GRAPH-NEXT: [[SECOND:t.*]] [label="{{.*}}: wide
// GRAPH-NEXT: [[FIRST]] -> [[SECOND]] [label="%y"
// GRAPH-NEXT: }

// PTO:        func.func @first_aiv(
// PTO:          pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 32x64xf32>
// PTO:        func.func @second_aic(
// PTO:          %gm_pipe_buffer_start = pto.addptr %gm_pipe_buffer, {{.*}} : !pto.ptr<f32> -> !pto.ptr<f32>
// PTO-NEXT:     pto.aic_initialize_pipe {dir_mask = 1, slot_size = 16384, slot_num = 2} (gm_slot_buffer = %gm_pipe_buffer_start
// PTO:          pto.tpush_to_aiv({{.*}}) {split = 2}
// PTO:        func.func @second_aiv(
// PTO:          pto.tpop_from_aic {split = 2} -> !pto.tile_buf<vec, 64x32xf32>
