// An if yields a column of one element a row.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %n: index) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %c3 = arith.constant 3 : index
    %b = arith.cmpi slt, %n, %c3 : index
    %m = ptensor.row_max %x : tensor<32x64xf32> -> tensor<32x1xf32>
    %r = scf.if %b -> (tensor<32x1xf32>) {
      %e = ptensor.exp %m : tensor<32x1xf32>
      scf.yield %e : tensor<32x1xf32>
    } else {
      scf.yield %m : tensor<32x1xf32>
    }
    %q = ptensor.recip %r : tensor<32x1xf32>
    %z = ptensor.row_expand_add %x, %q : tensor<32x64xf32>, tensor<32x1xf32>
    orch.yield %z : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
