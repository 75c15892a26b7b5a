// A valid region of as many rows as the run says, padded with zeros.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %n: index) -> tensor<32x64xf32> {
  %r = orch.incore -> (tensor<32x64xf32>) {
    %t = tile.load %x[0, 0], valid = [%n, 48] : tensor<32x64xf32> -> !tile.tile<32x64xf32, valid = [?, 48]>
    %u = tile.exp %t : !tile.tile<32x64xf32, valid = [?, 48]>
    %p = tile.fillpad %u : !tile.tile<32x64xf32, valid = [?, 48]> -> !tile.tile<32x64xf32, pad = zero>
    %o = ptensor.create : tensor<32x64xf32>
    %o1 = tile.store %p, %o[0, 0] : !tile.tile<32x64xf32, pad = zero>, tensor<32x64xf32>
    orch.yield %o1 : tensor<32x64xf32>
  }
  orch.return %r : tensor<32x64xf32>
}
