// What looks at kernels, or at tasks, says so where a scope is not a kernel yet: it would find
// nothing to do, and the graph of tasks would be empty.

// RUN: pypto-opt --verify-target=backend=ascend910b --verify-diagnostics %s
// RUN: pypto-opt --legalize-tile-cast=backend=ascend910b --verify-diagnostics %s
// RUN: pypto-opt --auto-tile-matmul-l0 --verify-diagnostics %s
// RUN: pypto-opt --lower-composite-ops --verify-diagnostics %s
// RUN: pypto-opt --flatten-tile-nd-to-2d --verify-diagnostics %s
// RUN: pypto-opt --inject-gm-pipe-buffer --verify-diagnostics %s
// RUN: pypto-opt --expand-manual-phase-fence --verify-diagnostics %s
// RUN: pypto-opt --report-hazards --verify-diagnostics %s
// RUN: pypto-opt -t task-graph --verify-diagnostics %s

orch.func orchestration @main(in %x: tensor<64xf32>, out %o: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{requires property SplitIncoreOrch: 'orch.incore' op is left in orchestration function 'main'}}
  %r = orch.incore -> (tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %o1 = tile.store %t, %o[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %o1 : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}
