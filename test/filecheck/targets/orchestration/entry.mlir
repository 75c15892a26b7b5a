// The file of an orchestration function: what it includes and exports, its parameters and scalars.

// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="main"}' | filecheck %s --match-full-lines --strict-whitespace
// RUN: xdsl-opt %s -p 'derive-call-directions,materialize-runtime-scopes,classify-iter-arg-carry' -t 'orchestration{function="numbers"}' | filecheck %s --check-prefix NUMBERS
// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t orchestration | filecheck %s --check-prefix FILES
// RUN: not pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="man"}' 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: not pypto-opt %s -t orchestration 2>&1 | filecheck %s --check-prefix EARLY

orch.func incore @scale(in tensor<64x64xf32>, in index, out tensor<64x64xf32>, in f32) -> tensor<64x64xf32> returns [2]
orch.func aic @product(in tensor<64x64xf32>, out tensor<64x64xf32>) -> tensor<64x64xf32> returns [1]

// Tensors and scalars are counted apart; a task gets its tensors first. Kernels are numbered as
// they are used.
orch.func orchestration @main(in %x : tensor<64x64xf32>, in %n : index, out %y : tensor<64x64xf32>, in %k : f32) -> tensor<64x64xf32> {
  %0 = orch.call @scale(%x, %n, %y, %k) : (tensor<64x64xf32>, index, tensor<64x64xf32>, f32) -> tensor<64x64xf32>
  %1 = orch.call @product(%x, %0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  orch.return %1 : tensor<64x64xf32>
}

//      CHECK:// Orchestration of @main.
// CHECK-NEXT:// Kernel 0: scale (AIV)
// CHECK-NEXT:// Kernel 1: product (AIC)
// CHECK-NEXT:#include <stddef.h>
// CHECK-NEXT:#include <stdint.h>
// CHECK-NEXT:#include <stdio.h>
// CHECK-EMPTY:
// CHECK-NEXT:#include "pto_orchestration_api.h"
// CHECK-EMPTY:
// CHECK-NEXT:extern "C" {
// CHECK-EMPTY:
// CHECK-NEXT:__attribute__((visibility("default")))
// CHECK-NEXT:PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {
// CHECK-NEXT:    (void)orch_args;
// CHECK-NEXT:    return PTO2OrchestrationConfig{
// CHECK-NEXT:        .expected_arg_count = 4,
// CHECK-NEXT:    };
// CHECK-NEXT:}
// CHECK-EMPTY:
// CHECK-NEXT:__attribute__((visibility("default")))
// CHECK-NEXT:void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {
// CHECK-NEXT:    // External tensors
// CHECK-NEXT:    const ChipTensor& ext_x = orch_args.tensor(0).ref();
// CHECK-NEXT:    const ChipTensor& ext_y = orch_args.tensor(1).ref();
// CHECK-EMPTY:
// CHECK-NEXT:    // Scalar params
// CHECK-NEXT:    int64_t n = from_u64<int64_t>(orch_args.scalar(0));
// CHECK-NEXT:    float k = from_u64<float>(orch_args.scalar(1));
// CHECK-EMPTY:
// CHECK-NEXT:    PTO2_SCOPE() {
// CHECK-EMPTY:
// CHECK-NEXT:        // Task 0: scale
// CHECK-NEXT:        CoreTaskArgs params_t0;
// CHECK-NEXT:        params_t0.add_input(ext_x);
// CHECK-NEXT:        params_t0.add_output(ext_y);
// CHECK-NEXT:        params_t0.add_scalar(n);
// CHECK-NEXT:        params_t0.add_scalar(to_u64(k));
// CHECK-NEXT:        rt_submit_aiv_task(0, params_t0);
// CHECK-EMPTY:
// CHECK-NEXT:        // Task 1: product
// CHECK-NEXT:        CoreTaskArgs params_t1;
// CHECK-NEXT:        params_t1.add_input(ext_x);
// CHECK-NEXT:        params_t1.add_inout(ext_y);
// CHECK-NEXT:        rt_submit_aic_task(1, params_t1);
// CHECK-NEXT:    }
// CHECK-NEXT:}
// CHECK-EMPTY:
// CHECK-NEXT:}  // extern "C"

orch.func incore @numbers_kernel(inout tensor<8xi32>, in f32, in f32, in f32, in f16, in i8, in i1, in index, in index) -> tensor<8xi32> returns [0]

// Numbers keep their bits: floats have as many digits as they need, 16-bit floats are their bits,
// which is all that C++ knows of them.
orch.func orchestration @numbers(inout %t : tensor<8xi32>, in %h : bf16, in %n : index, in %class : i32) {
  %third = arith.constant 0x3EAAAAAB : f32
  %one = arith.constant 1.0 : f32
  %nan = arith.constant 0x7FC00001 : f32
  %half = arith.constant 1.5 : f16
  %small = arith.constant -7 : i8
  %yes = arith.constant true
  %two = arith.constant 2 : index
  %down = arith.floordivsi %n, %two : index
  %low = arith.minsi %down, %two : index
  %t1 = orch.call @numbers_kernel(%t, %third, %one, %nan, %half, %small, %yes, %down, %low) : (tensor<8xi32>, f32, f32, f32, f16, i8, i1, index, index) -> tensor<8xi32>
  %wide = arith.extui %class : i32 to i64
  %there = arith.index_cast %wide : i64 to index
  %value = ptensor.read %t1[%there] : tensor<8xi32> -> i32
  %sum = arith.addi %value, %class : i32
  %t2 = ptensor.write %sum, %t1[0] : i32, tensor<8xi32>
  orch.return
}

// NUMBERS:      {{\[\[}}maybe_unused]] uint16_t h = from_u64<uint16_t>(orch_args.scalar(0));
// NUMBERS-NEXT: int64_t n = from_u64<int64_t>(orch_args.scalar(1));
// NUMBERS-NEXT: int32_t class_1 = from_u64<int32_t>(orch_args.scalar(2));
// NUMBERS:      int64_t down = (n / 2 - (n % 2 != 0 && n < 0));
// NUMBERS-NEXT: int64_t low = std::min<int64_t>(down, 2);
// NUMBERS:      params_t0.add_inout(ext_t);
// NUMBERS-NEXT: params_t0.add_scalar(to_u64(0.33333334f));
// NUMBERS-NEXT: params_t0.add_scalar(to_u64(1.0f));
// NUMBERS-NEXT: params_t0.add_scalar(to_u64(from_u64<float>(UINT64_C(0x7fc00001))));
// NUMBERS-NEXT: params_t0.add_scalar((uint64_t)0x3e00u);
// NUMBERS-NEXT: params_t0.add_scalar((uint64_t)static_cast<int8_t>(-7));
// NUMBERS-NEXT: params_t0.add_scalar((uint64_t)1);
// NUMBERS-NEXT: params_t0.add_scalar(down);
// NUMBERS-NEXT: params_t0.add_scalar(low);
// NUMBERS-NEXT: rt_submit_aiv_task(0, params_t0);
// NUMBERS-NEXT: int64_t wide = static_cast<int64_t>(static_cast<uint32_t>(class_1));
// NUMBERS-NEXT: int64_t there = static_cast<int64_t>(wide);
// NUMBERS-NEXT: uint32_t indices_value[1] = {static_cast<uint32_t>(there)};
// NUMBERS-NEXT: int32_t value = get_tensor_data<int32_t>(ext_t, 1, indices_value);
// NUMBERS-NEXT: int32_t sum = (value + class_1);
// NUMBERS-NEXT: {
// NUMBERS-NEXT:     uint32_t indices_t1[1] = {0};
// NUMBERS-NEXT:     set_tensor_data<int32_t>(ext_t, 1, indices_t1, sum);
// NUMBERS-NEXT: }

// Each function is a file of its own, whose kernels are numbered for it.
// FILES:       // Orchestration of @main.
// FILES-NEXT:  // Kernel 0: scale (AIV)
// FILES:       }  // extern "C"
// FILES-NEXT:  // -----
// FILES-NEXT:  // Orchestration of @numbers.
// FILES-NEXT:  // Kernel 0: numbers_kernel (AIV)

// UNKNOWN: error: 'builtin.module' op has no orchestration function 'man'; did you mean 'main'?
// EARLY: error: target 'orchestration' requires property CallDirectionsResolved:
