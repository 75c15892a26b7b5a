// What is submitted: wrappers, groups, launch widths, predicates, dependencies, fresh outputs.

// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="launches"}' | filecheck %s --check-prefix LAUNCH
// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="dependencies"}' | filecheck %s --check-prefix DEPS

orch.func aic @cube(in tensor<16xf32>, inout tensor<16xf32>, in index) -> tensor<16xf32> returns [1]
orch.func aiv @vector(in tensor<16xf32>, inout tensor<16xf32>, in index) -> tensor<16xf32> returns [1] attributes {orch.split = #orch<split up_down>}
orch.func aiv @alone(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]

// A group is one task with a kernel for each core; here both vector cores run the same one. The
// wrapper's parameters come in another order than the kernels', and it computes a scalar.
orch.func group @both(inout %y : tensor<16xf32>, in %x : tensor<16xf32>, in %n : i32) -> tensor<16xf32> {
  %m = arith.index_cast %n : i32 to index
  %y1 = orch.call @cube(%x, %y, %m) : (tensor<16xf32>, tensor<16xf32>, index) -> tensor<16xf32>
  %y2 = orch.call @vector(%x, %y1, %m) : (tensor<16xf32>, tensor<16xf32>, index) -> tensor<16xf32>
  orch.return %y2 : tensor<16xf32>
}
orch.func spmd @many(in %x : tensor<16xf32>, out %y : tensor<16xf32>) -> tensor<16xf32> {
  %y1 = orch.call @alone(%x, %y) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  orch.return %y1 : tensor<16xf32>
}

orch.func orchestration @launches(in %x : tensor<16xf32>, inout %y : tensor<16xf32>, in %n : i32, in %f : tensor<4x2xi32>) {
  %three = arith.constant 3 : index
  %y1 = orch.call @both(%y, %x, %n) : (tensor<16xf32>, tensor<16xf32>, i32) -> tensor<16xf32>
  %cores = orch.available_aiv_count
  %width = arith.index_cast %cores : i32 to index
  %y2 = orch.call @many(%x, %y1) launch %width sync_start : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %y3, %t = orch.submit @alone(%x, %y2) dump [0] launch %three predicate(%f[%width, 1] le -5 : tensor<4x2xi32>) early_resolve : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  orch.return
}

// LAUNCH:      // Kernel 0: cube (AIC)
// LAUNCH-NEXT: // Kernel 1: vector (AIV)
// LAUNCH-NEXT: // Kernel 2: alone (AIV)
// LAUNCH:      int64_t m = static_cast<int64_t>(n);
// LAUNCH-EMPTY:
// LAUNCH-NEXT: // Group both: MixedKernels (AIC + AIV lanes)
// LAUNCH-NEXT: CoreTaskArgs params_t0;
// LAUNCH-NEXT: params_t0.add_input(ext_x);
// LAUNCH-NEXT: params_t0.add_inout(ext_y);
// LAUNCH-NEXT: params_t0.add_scalar(m);
// LAUNCH-NEXT: MixedKernels mixed_0 = {0, 1, 1};
// LAUNCH-NEXT: rt_submit_task(mixed_0, params_t0);
// LAUNCH-NEXT: int32_t cores = rt_available_aiv_count();
// LAUNCH-NEXT: int64_t width = static_cast<int64_t>(cores);
// LAUNCH-EMPTY:
// LAUNCH-NEXT: // Spmd many: alone
// LAUNCH-NEXT: CoreTaskArgs params_t1;
// LAUNCH-NEXT: params_t1.add_input(ext_x);
// LAUNCH-NEXT: params_t1.add_inout(ext_y);
// LAUNCH-NEXT: params_t1.launch_spec.set_block_num(width);
// LAUNCH-NEXT: params_t1.launch_spec.set_require_sync_start(true);
// LAUNCH-NEXT: rt_submit_aiv_task(2, params_t1);
// LAUNCH-EMPTY:
// LAUNCH-NEXT: // Task 2: alone
// LAUNCH-NEXT: CoreTaskArgs params_t2;
// LAUNCH-NEXT: params_t2.add_input(ext_x);
// LAUNCH-NEXT: params_t2.add_inout(ext_y);
// LAUNCH-NEXT: params_t2.dump(ext_x);
// LAUNCH-NEXT: params_t2.launch_spec.set_block_num(3);
// LAUNCH-NEXT: params_t2.set_allow_early_resolve(true);
// LAUNCH-NEXT: CoreTaskPredicate params_t2_pred;
// LAUNCH-NEXT: params_t2_pred.operand.tensor = &ext_f;
// LAUNCH-NEXT: params_t2_pred.operand.ndims = 2;
// LAUNCH-NEXT: params_t2_pred.operand.indices[0] = static_cast<uint32_t>(width);
// LAUNCH-NEXT: params_t2_pred.operand.indices[1] = 1;
// LAUNCH-NEXT: params_t2_pred.op = PredicateOp::LE;
// LAUNCH-NEXT: params_t2_pred.target = -5;
// LAUNCH-NEXT: params_t2.set_predicate(params_t2_pred);
// LAUNCH-NEXT: rt_submit_aiv_task(2, params_t2);

// A task waits for those that it names; one that may be none is asked first. What a submit leaves
// out, the task creates. Identities that nobody asks for have no variable.
orch.func orchestration @dependencies(in %x : tensor<16xf32>, inout %y : tensor<16xf32>, in %go : i1) {
  %none = orch.task_invalid
  %a, %t0 = orch.submit @alone(%x) : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  %last = scf.if %go -> (!orch.task_id) {
    %b, %t1 = orch.submit @alone(%a, %y) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
    scf.yield %t1 : !orch.task_id
  } else {
    scf.yield %none : !orch.task_id
  }
  %fence = orch.task_dummy deps [%last]
  %c, %t2 = orch.submit @alone(%x, %y) deps [%t0, %fence, %none, %t0] : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  orch.return
}

// DEPS:      PTO2_SCOPE() {
// DEPS-NEXT:   uint32_t params_t0_synth_out_1_ci_shapes[1] = {16};
// DEPS-NEXT:   TensorCreateInfo params_t0_synth_out_1_ci(params_t0_synth_out_1_ci_shapes, 1, DataType::FLOAT32);
// DEPS-EMPTY:
// DEPS-NEXT:   // Task 0: alone
// DEPS-NEXT:   CoreTaskArgs params_t0;
// DEPS-NEXT:   params_t0.add_input(ext_x);
// DEPS-NEXT:   params_t0.add_output(params_t0_synth_out_1_ci);
// DEPS-NEXT:   TaskOutputTensors task_0_outs = rt_submit_aiv_task(0, params_t0);
// DEPS-NEXT:   const ChipTensor& a = task_0_outs.get_ref(0);
// DEPS-NEXT:   PTO2TaskId t0 = task_0_outs.task_id();
// DEPS-NEXT:   PTO2TaskId last = PTO2TaskId::invalid();
// DEPS-NEXT:   if (go) {
// DEPS-NEXT:     PTO2TaskId t1_1 = PTO2TaskId::invalid();
// DEPS-NEXT:     PTO2_SCOPE() {
// DEPS-EMPTY:
// DEPS-NEXT:       // Task 1: alone
// DEPS-NEXT:       CoreTaskArgs params_t1;
// DEPS-NEXT:       params_t1.add_input(a);
// DEPS-NEXT:       params_t1.add_inout(ext_y);
// DEPS-NEXT:       TaskOutputTensors task_1_outs = rt_submit_aiv_task(0, params_t1);
// DEPS-NEXT:       PTO2TaskId t1 = task_1_outs.task_id();
// DEPS-NEXT:       t1_1 = t1;
// DEPS-NEXT:     }
// DEPS-NEXT:     last = t1_1;
// DEPS-NEXT:   } else {
// DEPS-NEXT:     last = PTO2TaskId::invalid();
// DEPS-NEXT:   }
// DEPS-EMPTY:
// DEPS-NEXT:   // Phase-fence barrier 0: dependency-only dummy task
// DEPS-NEXT:   CoreTaskArgs params_phase_fence_barrier_0;
// DEPS-NEXT:   PTO2TaskId params_phase_fence_barrier_0_deps[1];
// DEPS-NEXT:   uint32_t params_phase_fence_barrier_0_deps_count = 0;
// DEPS-NEXT:   if (last.is_valid()) params_phase_fence_barrier_0_deps[params_phase_fence_barrier_0_deps_count++] = last;
// DEPS-NEXT:   params_phase_fence_barrier_0.set_dependencies(params_phase_fence_barrier_0_deps, params_phase_fence_barrier_0_deps_count);
// DEPS-NEXT:   PTO2TaskId fence = PTO2TaskId::invalid();
// DEPS-NEXT:   if (params_phase_fence_barrier_0_deps_count > 0) {
// DEPS-NEXT:     TaskOutputTensors phase_fence_barrier_0_outs = rt_submit_dummy_task(params_phase_fence_barrier_0);
// DEPS-NEXT:     fence = phase_fence_barrier_0_outs.task_id();
// DEPS-NEXT:   }
// DEPS-EMPTY:
// DEPS-NEXT:   // Task 2: alone
// DEPS-NEXT:   CoreTaskArgs params_t2;
// DEPS-NEXT:   params_t2.add_input(ext_x);
// DEPS-NEXT:   params_t2.add_inout(ext_y);
// DEPS-NEXT:   PTO2TaskId params_t2_deps[2];
// DEPS-NEXT:   uint32_t params_t2_deps_count = 0;
// DEPS-NEXT:   params_t2_deps[params_t2_deps_count++] = t0;
// DEPS-NEXT:   if (fence.is_valid()) params_t2_deps[params_t2_deps_count++] = fence;
// DEPS-NEXT:   params_t2.set_dependencies(params_t2_deps, params_t2_deps_count);
// DEPS-NEXT:   rt_submit_aiv_task(0, params_t2);
// DEPS-NEXT: }
