// Identities of tasks in an array that a loop fills.

orch.func incore @dbl(in %x: tensor<32x64xf32>, out %o: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %d = tile.add %t, %t : !tile.tile<32x64xf32>
  %o1 = tile.store %d, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %o1 : tensor<32x64xf32>
}
orch.func incore @acc(in %x: tensor<32x64xf32>, inout %o: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %t = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %u = tile.load %o[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
  %d = tile.add %t, %u : !tile.tile<32x64xf32>
  %o1 = tile.store %d, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
  orch.return %o1 : tensor<32x64xf32>
}
orch.func orchestration @main(in %x: tensor<32x64xf32>, in %n: index) -> tensor<32x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %ids = orch.array.create : !orch.array<4x!orch.task_id>
  %a = ptensor.create : tensor<32x64xf32>
  %a0 = orch.call @dbl(%x, %a) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %r, %fin = scf.for %i = %c0 to %c4 step %c1 iter_args(%w = %a0, %arr = %ids) -> (tensor<32x64xf32>, !orch.array<4x!orch.task_id>) {
    %w1, %t2 = orch.submit @acc(%x, %w) deps [%arr : !orch.array<4x!orch.task_id>] : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, !orch.task_id)
    %arr1 = orch.array.update_element %t2, %arr[%i] : !orch.task_id, !orch.array<4x!orch.task_id>
    scf.yield %w1, %arr1 : tensor<32x64xf32>, !orch.array<4x!orch.task_id>
  }
  %e = orch.array.get_element %fin[%c1] : !orch.array<4x!orch.task_id>
  %v = orch.task_is_valid %e
  %q = scf.if %v -> (tensor<32x64xf32>) {
    %w1_1 = orch.call @acc(%x, %r) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %w1_1 : tensor<32x64xf32>
  } else {
    scf.yield %r : tensor<32x64xf32>
  }
  orch.return %q : tensor<32x64xf32>
}
