// OutParamNotShadowed: no new buffer takes the place of a parameter that is to be written.

// RUN: pypto-opt --verify-property=OutParamNotShadowed --split-input-file --verify-diagnostics %s

// Accepted: the parameter is written; a buffer has another name; the parameter is only read.
orch.func incore @a(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %in : tensor<64xf32>) -> tensor<64xf32> {
  %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  %o = tile.store %t, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
  %out_1 = ptensor.create : tensor<64xf32>
  %o1 = tile.store %t, %out_1[0] : !tile.tile<64xf32>, tensor<64xf32>
  orch.return %o : tensor<64xf32>
}
orch.func incore @b(in %x : tensor<64xf32>, out %out : tensor<64xf32>, in %scratch : tensor<64xf32>) -> tensor<64xf32> {
  %own = ptensor.create : tensor<64xf32>
  %scratch_1 = ptensor.create : tensor<64xf32>
  orch.return %own : tensor<64xf32>
}
orch.func incore @c(out tensor<64xf32>)

// -----

orch.func incore @k(in %x : tensor<64xf32>,
    out %out : tensor<64xf32>) -> tensor<64xf32> { // expected-note {{the parameter is here}}
  %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
  // expected-error @+1 {{'ptensor.create' op makes a new buffer in place of parameter %out, which is never written: write to the parameter, or give the buffer another name}}
  %out_1 = ptensor.create : tensor<64xf32>
  %out_2 = tile.store %t, %out_1[0] : !tile.tile<64xf32>, tensor<64xf32>
  orch.return %out_2 : tensor<64xf32>
}

// -----

// Filled at once, in an arm of an if; the callee only reads the parameter.
orch.func incore @reader(in tensor<64xf32>)
orch.func orchestration @main(inout %out : tensor<64xf32>, in %c : i1, in %v : f32) { // expected-note {{the parameter is here}}
  orch.call @reader(%out) : (tensor<64xf32>) -> ()
  scf.if %c {
    // expected-error @+1 {{'ptensor.full' op makes a new buffer in place of parameter %out}}
    %out_1 = ptensor.full %v : f32 -> tensor<64xf32>
    orch.call @reader(%out_1) : (tensor<64xf32>) -> ()
  }
  orch.return
}
