// RUN: pypto-run %s --function main --default-arg randn:seed=1 --bisect-passes --default-pipeline | filecheck %s
// RUN: pypto-run %s --function main --arg x=arange --default-pipeline | filecheck %s --check-prefix LOWERED

// The function does the same before the passes and after each of them, also where kernels have
// become `.pto` code that runs on bytes.

// CHECK: 'main' does the same after each of {{[0-9]+}} passes

// LOWERED:      result0 : tensor<4x16xf32> =
// LOWERED-NEXT: {{\[\[}} 1., 3., 5., 7.

orch.func orchestration @main(in %x : tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c = ptensor.create : tensor<4x16xf32>
  %y = orch.incore "double" -> (tensor<4x16xf32>) {
    %one = arith.constant 1.0 : f32
    %twice = ptensor.add %x, %x : tensor<4x16xf32>
    %more = ptensor.adds %twice, %one : tensor<4x16xf32>, f32
    %c1 = ptensor.assemble %more, %c[0, 0] : tensor<4x16xf32>, tensor<4x16xf32>
    orch.yield %c1 : tensor<4x16xf32>
  }
  orch.return %y : tensor<4x16xf32>
}
