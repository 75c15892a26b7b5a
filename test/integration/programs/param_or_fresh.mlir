// An if yields a parameter or a buffer of its own.

orch.func orchestration @main(in %x: tensor<32x64xf32>, inout %o: tensor<32x64xf32>, in %n: index) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %c3 = arith.constant 3 : index
    %b = arith.cmpi slt, %n, %c3 : index
    %r = scf.if %b -> (tensor<32x64xf32>) {
      scf.yield %o : tensor<32x64xf32>
    } else {
      %e = ptensor.exp %x : tensor<32x64xf32>
      scf.yield %e : tensor<32x64xf32>
    }
    %z = ptensor.add %r, %x : tensor<32x64xf32>
    orch.yield %z : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
