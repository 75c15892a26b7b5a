// Rows are taken from anywhere in memory and put to where they belong, element by element; one
// index is behind the end and counts as the last.

orch.func orchestration @main(in %x : tensor<40x32xf32>, in %i : tensor<1x16xi32>, in %j : tensor<16x32xi32>, inout %y : tensor<30x32xf32>) -> tensor<30x32xf32> {
  %RR = orch.incore -> (tensor<30x32xf32>) {
    %from = tile.load %i[0, 0] : tensor<1x16xi32> -> !tile.tile<1x16xi32>
    %rows = tile.mgather %x, %from, gather_oob = clamp : tensor<40x32xf32>, !tile.tile<1x16xi32> -> !tile.tile<16x32xf32>
    %e = tile.add %rows, %rows : !tile.tile<16x32xf32>
    %to = tile.load %j[0, 0] : tensor<16x32xi32> -> !tile.tile<16x32xi32>
    %z = tile.mscatter %e, %to, %y : !tile.tile<16x32xf32>, !tile.tile<16x32xi32>, tensor<30x32xf32>
    orch.yield %z : tensor<30x32xf32>
  }
  orch.return %RR : tensor<30x32xf32>
}
