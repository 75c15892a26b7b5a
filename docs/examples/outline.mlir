// Scopes of work for one core become kernels of their own: run
//
//   pypto-opt --outline-incore-scopes docs/examples/outline.mlir

// Basic: the kernel gets what it uses, in the order of first use. It overwrites %x and does not
// read it, so %x is an `out` parameter, and what it returns is that parameter.
orch.func opaque @basic(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %y = ptensor.adds %x, %one : tensor<64xf32>, f32
  %result = orch.incore -> (tensor<64xf32>) {
    %tile = tile.load %y[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %tile_sq = tile.mul %tile, %tile : !tile.tile<64xf32>
    %result_tile = tile.adds %tile_sq, %one : !tile.tile<64xf32>, f32
    %x1 = tile.store %result_tile, %x[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %x1 : tensor<64xf32>
  }
  %z = ptensor.adds %result, %two : tensor<64xf32>, f32
  orch.return %z : tensor<64xf32>
}

// Multiple outputs: one is written to a tensor from outside, and so is a parameter; the other is
// the kernel's own.
orch.func opaque @multiple_outputs(
    in %a : tensor<64xf32>, in %b : tensor<64xf32>, out %out : tensor<64xf32>) -> tensor<64xf32> {
  %two = arith.constant 2.0 : f32
  %out_a, %out_b = orch.incore -> (tensor<64xf32>, tensor<64xf32>) {
    %a_tile = tile.load %a[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %b_tile = tile.load %b[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %c_tile = tile.add %a_tile, %b_tile : !tile.tile<64xf32>
    %out1 = tile.store %c_tile, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    %own = ptensor.create : tensor<64xf32>
    %d_tile = tile.muls %c_tile, %two : !tile.tile<64xf32>, f32
    %own1 = tile.store %d_tile, %own[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %out1, %own1 : tensor<64xf32>, tensor<64xf32>
  }
  %x = ptensor.add %out_a, %out_b : tensor<64xf32>
  orch.return %x : tensor<64xf32>
}

// A loop around a scope that writes a tensor from outside: each iteration hands the next name of
// the tensor on to the one after it, and the loop to what follows.
orch.func opaque @loop(in %a : tensor<256x128xf32>, out %out : tensor<256x128xf32>)
    -> tensor<256x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    orch.incore {
      %row = arith.muli %i, %c64 : index
      %t = tile.load %a[%row, 0] : tensor<256x128xf32> -> !tile.tile<64x128xf32>
      %doubled = tile.muls %t, %two : !tile.tile<64x128xf32>, f32
      %out1 = tile.store %doubled, %out[%row, 0] : !tile.tile<64x128xf32>, tensor<256x128xf32>
    }
  }
  orch.return %out : tensor<256x128xf32>
}
