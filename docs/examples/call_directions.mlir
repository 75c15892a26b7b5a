// What each task does to its arguments, for the order in which the runtime may run them.
//
//   pypto-opt --derive-call-directions docs/examples/call_directions.mlir
//   pypto-run --function=main --arg x=arange:64xf32 docs/examples/call_directions.mlir

orch.func incore @kernel(in %x : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %doubled = tile.add %t, %t : !tile.tile<64xf32>
  %ret = tile.store %doubled, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
  orch.return %ret : tensor<64xf32>
}

orch.func incore @add(in %x : tensor<64xf32>, in %y : tensor<64xf32>, out %out : tensor<64xf32>)
    -> tensor<64xf32> {
  %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %u = tile.load %y[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %sum = tile.add %t, %u : !tile.tile<64xf32>
  %ret = tile.store %sum, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
  orch.return %ret : tensor<64xf32>
}

// Two tasks on one local buffer. Nobody wrote %local before the first, so it need not wait; the
// second has to wait for the first: its argument becomes inout.
orch.func orchestration @main(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %local = ptensor.create : tensor<64xf32>
  %local1 = orch.call @kernel(%x, %local) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %local2 = orch.call @kernel(%x, %local1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  orch.return %local2 : tensor<64xf32>
}

// A graph of two tasks with a declared dependency. The program answers for the order of %x1 in the
// second (`no_dep`), and says so with the first task's identity.
orch.func orchestration @declared_dependency(in %x : tensor<64xf32>, out %out : tensor<64xf32>)
    -> tensor<64xf32> {
  %local = ptensor.create : tensor<64xf32>
  %x1, %task = orch.submit @kernel(%x, %local)
      : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
  %out1, %last = orch.submit @add(%x, %x1, %out) no_dep [1] deps [%task]
      : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, !orch.task_id)
  orch.return %out1 : tensor<64xf32>
}
