// Products of batches in pieces: each turn adds to the sums, but one turn in the middle only if
// it is asked for. The accumulator holds one matrix at a time.

orch.func orchestration @main(in %a : tensor<2x16x128xf16>, in %b : tensor<2x128x32xf16>, in %skip : i1) -> tensor<2x16x32xf32> {
  %RR = orch.incore -> (tensor<2x16x32xf32>) {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %a0 = ptensor.slice %a[0, 0, 0] : tensor<2x16x128xf16> -> tensor<2x16x32xf16>
    %b0 = ptensor.slice %b[0, 0, 0] : tensor<2x128x32xf16> -> tensor<2x32x32xf16>
    %m = ptensor.matmul %a0, %b0, out_dtype = f32 : tensor<2x16x32xf16>, tensor<2x32x32xf16> -> tensor<2x16x32xf32>
    %r = scf.for %k = %c32 to %c128 step %c32 iter_args(%acc = %m) -> (tensor<2x16x32xf32>) {
      %middle = arith.cmpi eq, %k, %c64 : index
      %not = arith.andi %middle, %skip : i1
      %next = scf.if %not -> (tensor<2x16x32xf32>) {
        scf.yield %acc : tensor<2x16x32xf32>
      } else {
        %ak = ptensor.slice %a[0, 0, %k] : tensor<2x16x128xf16> -> tensor<2x16x32xf16>
        %bk = ptensor.slice %b[0, %k, 0] : tensor<2x128x32xf16> -> tensor<2x32x32xf16>
        %more = ptensor.matmul_acc %acc, %ak, %bk : tensor<2x16x32xf32>, tensor<2x16x32xf16>, tensor<2x32x32xf16>
        scf.yield %more : tensor<2x16x32xf32>
      }
      scf.yield %next : tensor<2x16x32xf32>
    }
    orch.yield %r : tensor<2x16x32xf32>
  }
  orch.return %RR : tensor<2x16x32xf32>
}
