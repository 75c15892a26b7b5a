// Programs that the pass refuses.

// RUN: pypto-opt --normalize-return-order --split-input-file --verify-diagnostics %s

// A-T12: what has to hold before.

orch.func incore @tensors(in %x : tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @+2 {{pass 'normalize-return-order' requires property IncoreTileOps: 'ptensor.add' op works on whole tensors in kernel 'tensors', but a core computes on tiles}}
  // expected-note @+1 {{property IncoreTileOps holds if no incore function makes a tensor or moves elements between tensors}}
  %y = ptensor.add %x, %x : tensor<16xf32>
  orch.return %y : tensor<16xf32>
}

// -----

orch.func opaque @unsplit() {
  // expected-error @+3 {{pass 'normalize-return-order' requires property SplitIncoreOrch: 'orch.incore' op is left in opaque function 'unsplit', but should have become an incore function}}
  // expected-note @+2 {{property SplitIncoreOrch holds if no in-core scope is left outside incore functions}}
  // expected-note @+1 {{run 'outline-incore-scopes' first}}
  orch.incore {
  }
  orch.return
}
