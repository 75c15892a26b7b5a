// A kernel that mixes cube and vector work becomes one task of two kernels, that of the vector
// cores on both of them.

// RUN: pypto-opt --default-pipeline -t orchestration %s | filecheck %s
// RUN: pypto-opt --default-pipeline -t pto %s | filecheck %s --check-prefix PTO

builtin.module {
orch.func orchestration @main(in %a : tensor<64x64xf16>, in %b : tensor<64x64xf16>, in %bias : tensor<64x64xf32>, out %y : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = orch.incore "biased" -> (tensor<64x64xf32>) {
    %p = ptensor.matmul %a, %b, out_dtype = f32 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %s = ptensor.add %p, %bias : tensor<64x64xf32>
    %w = ptensor.assemble %s, %y[0, 0] : tensor<64x64xf32>
    orch.yield %w : tensor<64x64xf32>
  }
  orch.return %r : tensor<64x64xf32>
}
}

// CHECK:      // Kernel 0: biased_aic (AIC)
// CHECK-NEXT: // Kernel 1: biased_aiv (AIV)
// Two slots of 64x64 f32.
// CHECK:      gm_pipe_buffer_ci_shapes[1] = {8192};
// CHECK:      params_t0.add_output(ext_y);
// CHECK-NEXT: params_t0.add_output(gm_pipe_buffer);
// CHECK-NEXT: MixedKernels mixed_0 = {0, 1, 1};
// CHECK-NEXT: rt_submit_task(mixed_0, params_t0);

// PTO:      func.func @biased_aic(
// PTO:        pto.aic_initialize_pipe {dir_mask = 1, slot_size = 16384, slot_num = 2} (gm_slot_buffer = %gm_pipe_buffer : !pto.ptr<f32>, c2v_consumer_buf = {{.*}} : i32, v2c_consumer_buf = %c0_i32 : i32)
// PTO:        pto.tmatmul
// PTO:        pto.tpush_to_aiv(%p : {{.*}}) {split = 0}
// PTO:      func.func @biased_aiv(
// PTO:        pto.reserve_buffer {name = "biased_c2v_slots", size = 32768, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
// PTO:        scf.if
// PTO:          %p_vec = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=64, v_row=64, v_col=64
// PTO:          pto.tfree_from_aic {split = 0}
// PTO:        } else {
// PTO:          pto.tpop_from_aic {split = 0} -> !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=64, v_row=0, v_col=0
// PTO:          pto.tfree_from_aic {split = 0}
