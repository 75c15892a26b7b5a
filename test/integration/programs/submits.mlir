// A graph of tasks with declared dependencies, and a task that only waits.

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
orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %a = ptensor.create : tensor<32x64xf32>
  %b = ptensor.create : tensor<32x64xf32>
  %a1, %t1 = orch.submit @dbl(%x, %a) : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, !orch.task_id)
  %b1, %t2 = orch.submit @dbl(%y, %b) : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, !orch.task_id)
  %a2, %t3 = orch.submit @acc(%b1, %a1) deps [%t1, %t2] : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, !orch.task_id)
  %t4 = orch.task_dummy deps [%t3]
  %b2, %t5 = orch.submit @dbl(%a2, %b1) deps [%t4] : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, !orch.task_id)
  %a3, %t6 = orch.submit @acc(%b2, %a2) deps [%t5] : (tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, !orch.task_id)
  orch.return %a3 : tensor<32x64xf32>
}
