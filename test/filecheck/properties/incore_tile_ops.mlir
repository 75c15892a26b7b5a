// IncoreTileOps: no incore function makes a tensor or moves elements between tensors.

// RUN: pypto-opt --verify-property=IncoreTileOps --split-input-file --verify-diagnostics %s

// Accepted: loads and stores, the scalar unit's reads and writes, names for windows and types.

orch.func incore @tiles(in %x : tensor<32xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  %s = ptensor.slice %x[16] : tensor<32xf32> -> tensor<16xf32>
  %d = ptensor.dim %x, axis = 0 : tensor<32xf32> -> index
  %t = tile.load %s[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %u = tile.add %t, %t : !tile.tile<16xf32>
  %o1 = tile.store %u, %o[0] : !tile.tile<16xf32>, tensor<16xf32>
  %e = ptensor.read %o1[0] : tensor<16xf32> -> f32
  %o2 = ptensor.write %e, %o1[1] : f32, tensor<16xf32>
  orch.return %o2 : tensor<16xf32>
}

// Accepted: other functions, also kernels that are specialised already.

orch.func orchestration @main(in %x : tensor<16xf32>) -> tensor<16xf32> {
  %c = ptensor.create : tensor<16xf32>
  orch.return %c : tensor<16xf32>
}
orch.func aiv @aiv(in %x : tensor<16xf32>) -> tensor<16xf32> {
  %y = ptensor.add %x, %x : tensor<16xf32>
  orch.return %y : tensor<16xf32>
}

// -----

orch.func incore @tensors(in %x : tensor<16xf32>, out %o : tensor<16xf32>, in %c : i1) -> tensor<16xf32> {
  // expected-error @+1 {{'ptensor.add' op works on whole tensors in kernel 'tensors', but a core computes on tiles}}
  %y = ptensor.add %x, %x : tensor<16xf32>
  // expected-error @+1 {{'ptensor.create' op works on whole tensors}}
  %z = ptensor.create : tensor<16xf32>
  %m = scf.if %c -> (tensor<16xf32>) {
    // expected-error @+1 {{'ptensor.assemble' op works on whole tensors}}
    %o1 = ptensor.assemble %y, %o[0] : tensor<16xf32>, tensor<16xf32>
    scf.yield %o1 : tensor<16xf32>
  } else {
    scf.yield %o : tensor<16xf32>
  }
  orch.return %m : tensor<16xf32>
}
