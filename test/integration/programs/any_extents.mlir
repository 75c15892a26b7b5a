// Tensors of any extents, in blocks; the last ones are valid in part.

orch.func orchestration @main(in %x: tensor<?x?xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %n = ptensor.dim %x, axis = 0 : tensor<?x?xf32> -> index
  %m = ptensor.dim %x, axis = 1 : tensor<?x?xf32> -> index
  %o = ptensor.create sizes = [%n, 1] : tensor<?x1xf32>
  %r = orch.incore -> (tensor<?x1xf32>) {
    %zero = arith.constant 0.000000e+00 : f32
    %l = scf.for %i = %c0 to %n step %c16 iter_args(%w = %o) -> (tensor<?x1xf32>) {
      %left = arith.subi %n, %i : index
      %v = arith.minsi %left, %c16 : index
      %z = tile.full %zero : f32 -> !tile.tile<16x32xf32>
      %acc = scf.for %j = %c0 to %m step %c32 iter_args(%s = %z) -> (!tile.tile<16x32xf32>) {
        %leftc = arith.subi %m, %j : index
        %vc = arith.minsi %leftc, %c32 : index
        %t = tile.load %x[%i, %j], valid = [%v, %vc] : tensor<?x?xf32> -> !tile.tile<16x32xf32, valid = [?, ?]>
        %p = tile.fillpad %t : !tile.tile<16x32xf32, valid = [?, ?]> -> !tile.tile<16x32xf32, pad = zero>
        %q = tile.add %s, %p : !tile.tile<16x32xf32>, !tile.tile<16x32xf32, pad = zero>
        scf.yield %q : !tile.tile<16x32xf32>
      }
      %tmp = tile.create : !tile.tile<16x32xf32>
      %rs = tile.row_sum %acc, %tmp : !tile.tile<16x32xf32> -> !tile.tile<16x1xf32>
      %rv = tile.set_validshape %rs, valid = [%v, 1] : !tile.tile<16x1xf32> -> !tile.tile<16x1xf32, valid = [?, 1]>
      %w1 = tile.store %rv, %w[%i, 0] : !tile.tile<16x1xf32, valid = [?, 1]>, tensor<?x1xf32>
      scf.yield %w1 : tensor<?x1xf32>
    }
    orch.yield %l : tensor<?x1xf32>
  }
  orch.return %r : tensor<?x1xf32>
}
