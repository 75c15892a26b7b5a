// Products of matrices: sums stay in f32; one that is only stored is rounded on the way.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s

// CHECK-LABEL:   orch.func incore @summed(
// CHECK:           %p0 = tile.matmul %a0_tile, %b0_tile : !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
// CHECK:           %p = scf.for {{.*}} iter_args(%acc = %p0) -> (!tile.tile<32x32xf32>) {
// CHECK:             %n = tile.matmul_acc %acc, %ak_tile, %bk_tile :
// CHECK:           tile.store %p, %p_out[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
orch.func incore @summed(in %a : tensor<32x128xf16>, in %b : tensor<128x32xf16>)
    -> tensor<32x32xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %step = arith.constant 32 : index
  %a0 = ptensor.slice %a[0, 0] : tensor<32x128xf16> -> tensor<32x32xf16>
  %b0 = ptensor.slice %b[0, 0] : tensor<128x32xf16> -> tensor<32x32xf16>
  %p0 = ptensor.matmul %a0, %b0, out_dtype = f32
    : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
  %p = scf.for %k = %c1 to %c4 step %c1 iter_args(%acc = %p0) -> (tensor<32x32xf32>) {
    %d = arith.muli %k, %step : index
    %ak = ptensor.slice %a[0, %d] : tensor<32x128xf16> -> tensor<32x32xf16>
    %bk = ptensor.slice %b[%d, 0] : tensor<128x32xf16> -> tensor<32x32xf16>
    %n = ptensor.matmul_acc %acc, %ak, %bk
      : tensor<32x32xf32>, tensor<32x32xf16>, tensor<32x32xf16>
    scf.yield %n : tensor<32x32xf32>
  }
  orch.return %p : tensor<32x32xf32>
}

// CHECK-LABEL:   orch.func incore @rounded(
// CHECK:           %p = tile.matmul {{.*}} -> !tile.tile<32x32xf32, acc>
// CHECK-NEXT:      %p_stored = tile.store %p, %p_out[0, 0] : !tile.tile<32x32xf32, acc>, tensor<32x32xf16>
orch.func incore @rounded(in %a : tensor<32x64xf16>, in %b : tensor<64x32xf16>)
    -> tensor<32x32xf16> {
  %p = ptensor.matmul %a, %b : tensor<32x64xf16>, tensor<64x32xf16> -> tensor<32x32xf16>
  orch.return %p : tensor<32x32xf16>
}
