// Adding to global memory, reading what came of it, and adding again.

orch.func incore @main(in %x: tensor<16x64xf32>, inout %o: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
  %o1 = tile.store %t, %o[0, 0], atomic = add : !tile.tile<16x64xf32>, tensor<16x64xf32>
  %u = tile.load %o1[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
  %v = tile.exp %u : !tile.tile<16x64xf32>
  %o2 = tile.store %v, %o1[0, 0], atomic = add : !tile.tile<16x64xf32>, tensor<16x64xf32>
  orch.return %o2 : tensor<16x64xf32>
}
