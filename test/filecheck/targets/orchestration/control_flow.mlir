// Loops, branches and scopes, and the variables by which they hand on what they carry.

// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="loops"}' | filecheck %s --check-prefix LOOPS
// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="whiles"}' | filecheck %s --check-prefix WHILES
// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="tasks"}' | filecheck %s --check-prefix TASKS

orch.func incore @fill(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func incore @put(in tensor<16xf32>, out tensor<16xf32>, in index) -> tensor<16xf32> returns [1]
orch.func incore @add(in tensor<16xf32>, inout tensor<16xf32>, in index) -> tensor<16xf32> returns [1]

// Of what a loop carries, that which each iteration only writes keeps its name; the others are
// variables. Two that are exchanged are assigned at once. What comes out of a branch is a variable.
orch.func orchestration @loops(in %x : tensor<16xf32>, inout %p : tensor<16xf32>, inout %q : tensor<16xf32>, inout %acc : tensor<16xf32>, in %n : index, in %flag : i1) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %r:4 = scf.for %i = %0 to %n step %1 iter_args(%a = %p, %b = %q, %c = %acc, %off = %0) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, index) {
    %c1 = orch.call @add(%a, %c, %off) : (tensor<16xf32>, tensor<16xf32>, index) -> tensor<16xf32>
    %off1 = arith.addi %off, %i : index
    scf.yield %b, %a, %c1, %off1 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, index
  }
  %m = scf.if %flag -> (tensor<16xf32>) {
    scf.yield %r#0 : tensor<16xf32>
  } else {
    scf.yield %x : tensor<16xf32>
  }
  %s = orch.call @add(%m, %r#2, %r#3) : (tensor<16xf32>, tensor<16xf32>, index) -> tensor<16xf32>
  orch.return
}

// LOOPS:      PTO2_SCOPE() {
// LOOPS-NEXT:   ChipTensor a = ext_p;
// LOOPS-NEXT:   ChipTensor b = ext_q;
// LOOPS-NEXT:   int64_t off = 0;
// LOOPS-NEXT:   for (int64_t i = 0; i < n; i += 1) {
// LOOPS-NEXT:     int64_t off1_1;
// LOOPS-NEXT:     PTO2_SCOPE() {
// LOOPS-EMPTY:
// LOOPS-NEXT:       // Task 0: add
// LOOPS-NEXT:       CoreTaskArgs params_t0;
// LOOPS-NEXT:       params_t0.add_input(a);
// LOOPS-NEXT:       params_t0.add_inout(ext_acc);
// LOOPS-NEXT:       params_t0.add_scalar(off);
// LOOPS-NEXT:       rt_submit_aiv_task(0, params_t0);
// LOOPS-NEXT:       int64_t off1 = (off + i);
// LOOPS-NEXT:       off1_1 = off1;
// LOOPS-NEXT:     }
// LOOPS-NEXT:     ChipTensor next_a;
// LOOPS-NEXT:     next_a = b;
// LOOPS-NEXT:     ChipTensor next_b;
// LOOPS-NEXT:     next_b = a;
// LOOPS-NEXT:     a = next_a;
// LOOPS-NEXT:     b = next_b;
// LOOPS-NEXT:     off = off1_1;
// LOOPS-NEXT:   }
// LOOPS-NEXT:   ChipTensor m;
// LOOPS-NEXT:   if (flag) {
// LOOPS-NEXT:     m = a;
// LOOPS-NEXT:   } else {
// LOOPS-NEXT:     m = ext_x;
// LOOPS-NEXT:   }
// LOOPS:        params_t1.add_input(m);
// LOOPS-NEXT:   params_t1.add_inout(ext_acc);
// LOOPS-NEXT:   params_t1.add_scalar(off);

// A while decides in its middle; one that only compares has its condition at the top.
orch.func orchestration @whiles(in %x : tensor<16xf32>, out %y : tensor<16xf32>, in %flags : tensor<8xi32>, in %n : index) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %k = scf.while (%i = %0) : (index) -> index {
    %flag = ptensor.read %flags[%i] : tensor<8xi32> -> i32
    %next = arith.addi %i, %1 : index
    %2 = arith.cmpi ne, %flag, %zero : i32
    scf.condition(%2) %next : index
  } do {
  ^bb0(%next : index):
    %y1 = orch.call @put(%x, %y, %next) : (tensor<16xf32>, tensor<16xf32>, index) -> tensor<16xf32>
    scf.yield %next : index
  }
  %j = scf.while (%i = %k) : (index) -> index {
    %3 = arith.cmpi slt, %i, %n : index
    scf.condition(%3) %i : index
  } do {
  ^bb0(%i : index):
    %4 = arith.addi %i, %1 : index
    scf.yield %4 : index
  }
  %y2 = orch.call @put(%x, %y, %j) : (tensor<16xf32>, tensor<16xf32>, index) -> tensor<16xf32>
  orch.return
}

// WHILES:      PTO2_SCOPE() {
// WHILES-NEXT:   int64_t k;
// WHILES-NEXT:   int64_t i = 0;
// WHILES-NEXT:   while (true) {
// WHILES-NEXT:     uint32_t indices_flag[1] = {static_cast<uint32_t>(i)};
// WHILES-NEXT:     int32_t flag = get_tensor_data<int32_t>(ext_flags, 1, indices_flag);
// WHILES-NEXT:     int64_t next = (i + 1);
// WHILES-NEXT:     if (!(flag != 0)) {
// WHILES-NEXT:       k = next;
// WHILES-NEXT:       break;
// WHILES-NEXT:     }
// WHILES:          params_t0.add_scalar(next);
// WHILES-NEXT:     rt_submit_aiv_task(0, params_t0);
// WHILES-NEXT:     i = next;
// WHILES-NEXT:   }
// WHILES-NEXT:   int64_t i_1 = k;
// WHILES-NEXT:   while (i_1 < n) {
// WHILES-NEXT:     int64_t v = (i_1 + 1);
// WHILES-NEXT:     i_1 = v;
// WHILES-NEXT:   }
// WHILES:        params_t1.add_scalar(i_1);

// In a manual scope, who waits for a parallel loop waits for each of its iterations.
orch.func orchestration @tasks(in %x : tensor<16xf32>, out %y : tensor<16xf32>) {
  %0 = arith.constant 0 : index
  %2 = arith.constant 2 : index
  %8 = arith.constant 8 : index
  orch.task_scope manual {
    %none = orch.task_invalid
    %all = scf.for %i = %2 to %8 step %2 iter_args(%t = %none) -> (!orch.task_id) {
      %y1, %t1 = orch.submit @fill(%x, %y) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
      scf.yield %t1 : !orch.task_id
    } {orch.loop = #orch<loop parallel>}
    %y2, %t2 = orch.submit @fill(%x, %y) deps [%all] : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)
  }
  orch.return
}

// TASKS:      PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
// TASKS-NEXT:   PTO2TaskId t[3];
// TASKS-NEXT:   for (int64_t k = 0; k < 3; ++k) {
// TASKS-NEXT:     t[k] = PTO2TaskId::invalid();
// TASKS-NEXT:   }
// TASKS-NEXT:   for (int64_t i = 2; i < 8; i += 2) {
// TASKS:          TaskOutputTensors task_0_outs = rt_submit_aiv_task(0, params_t0);
// TASKS-NEXT:     PTO2TaskId t1 = task_0_outs.task_id();
// TASKS-NEXT:     t[(i - 2) / 2] = t1;
// TASKS-NEXT:   }
// TASKS:        PTO2TaskId params_t1_deps[3];
// TASKS-NEXT:   uint32_t params_t1_deps_count = 0;
// TASKS-NEXT:   for (int64_t k_1 = 0; k_1 < 3; ++k_1) {
// TASKS-NEXT:     if (t[k_1].is_valid()) params_t1_deps[params_t1_deps_count++] = t[k_1];
// TASKS-NEXT:   }
