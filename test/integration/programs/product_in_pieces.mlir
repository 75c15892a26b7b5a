// A product in pieces: the sum is carried around the loop, in the memory of the accumulator.

orch.func incore @main(in %a: tensor<32x128xf16>, in %b: tensor<128x32xf16>, out %o: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %a0 = tile.load %a[0, 0] : tensor<32x128xf16> -> !tile.tile<32x32xf16, mat>
  %b0 = tile.load %b[0, 0] : tensor<128x32xf16> -> !tile.tile<32x32xf16, mat>
  %al = tile.move %a0 : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, left>
  %bl = tile.move %b0 : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, right>
  %m = tile.matmul %al, %bl : !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16, right> -> !tile.tile<32x32xf32, acc>
  %r = scf.for %k = %c32 to %c128 step %c32 iter_args(%acc = %m) -> (!tile.tile<32x32xf32, acc>) {
    %a1 = tile.load %a[0, %k] : tensor<32x128xf16> -> !tile.tile<32x32xf16, mat>
    %b1 = tile.load %b[%k, 0] : tensor<128x32xf16> -> !tile.tile<32x32xf16, mat>
    %al1 = tile.move %a1 : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, left>
    %bl1 = tile.move %b1 : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, right>
    %m1 = tile.matmul_acc %acc, %al1, %bl1 : !tile.tile<32x32xf32, acc>, !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16, right>
    scf.yield %m1 : !tile.tile<32x32xf32, acc>
  }
  %o1 = tile.store %r, %o[0, 0] : !tile.tile<32x32xf32, acc>, tensor<32x32xf32>
  orch.return %o1 : tensor<32x32xf32>
}
