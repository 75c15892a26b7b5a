// The bits of floats are turned over as those of short integers; the floats that makes are padded
// into a larger tile, and blocks of it put into another order.

orch.func orchestration @main(in %x : tensor<8x24xf32>, in %i : tensor<16x8xui32>) -> (tensor<16x32xf32>, tensor<16x64xf32>) {
  %RR:2 = orch.incore -> (tensor<16x32xf32>, tensor<16x64xf32>) {
    %w = ptensor.reinterpret_view %x : tensor<8x24xf32> -> tensor<8x48xi16>
    %t = tile.load %w[0, 0] : tensor<8x48xi16> -> !tile.tile<8x48xi16>
    %n = tile.not %t : !tile.tile<8x48xi16>
    %f = tile.reinterpret_view %n : !tile.tile<8x48xi16> -> !tile.tile<8x24xf32>
    %p = tile.fillpad_expand %f, pad_value = max : !tile.tile<8x24xf32> -> !tile.tile<16x32xf32, pad = max>
    %o = ptensor.create : tensor<16x32xf32>
    %o1 = tile.store %p, %o[0, 0] : !tile.tile<16x32xf32, pad = max>, tensor<16x32xf32>
    %j = tile.load %i[0, 0] : tensor<16x8xui32> -> !tile.tile<16x8xui32>
    %g = tile.gatherb %p, %j : !tile.tile<16x32xf32, pad = max>, !tile.tile<16x8xui32> -> !tile.tile<16x64xf32>
    %q = ptensor.create : tensor<16x64xf32>
    %q1 = tile.store %g, %q[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
    orch.yield %o1, %q1 : tensor<16x32xf32>, tensor<16x64xf32>
  }
  orch.return %RR#0, %RR#1 : tensor<16x32xf32>, tensor<16x64xf32>
}
