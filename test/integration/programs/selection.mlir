// A comparison selects between two tiles.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %a = tile.load %x[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %b = tile.load %y[0, 0] : tensor<32x64xf32> -> !tile.tile<32x64xf32>
    %m = tile.cmp %a, %b, cmp_type = lt : !tile.tile<32x64xf32> -> !tile.tile<32x32xui8, valid = [32, 8]>
    %t = tile.create : !tile.tile<1x32xui8>
    %e = tile.exp %a : !tile.tile<32x64xf32>
    %s = tile.sel %m, %a, %e, %t : !tile.tile<32x32xui8, valid = [32, 8]>, !tile.tile<32x64xf32>, !tile.tile<32x64xf32>, !tile.tile<1x32xui8> -> !tile.tile<32x64xf32>
    %o = ptensor.create : tensor<32x64xf32>
    %o1 = tile.store %s, %o[0, 0] : !tile.tile<32x64xf32>, tensor<32x64xf32>
    orch.yield %o1 : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
