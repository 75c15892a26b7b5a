// The branches of an if yield the same two tensors in either order.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>, in %n: index) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %r0, %r1 = orch.incore -> (tensor<32x64xf32>, tensor<32x64xf32>) {
    %c = arith.constant 3 : index
    %b = arith.cmpi slt, %n, %c : index
    %p, %q = scf.if %b -> (tensor<32x64xf32>, tensor<32x64xf32>) {
      scf.yield %x, %y : tensor<32x64xf32>, tensor<32x64xf32>
    } else {
      scf.yield %y, %x : tensor<32x64xf32>, tensor<32x64xf32>
    }
    %s = ptensor.sub %p, %q : tensor<32x64xf32>
    %e = ptensor.exp %q : tensor<32x64xf32>
    orch.yield %s, %e : tensor<32x64xf32>, tensor<32x64xf32>
  }
  orch.return %r1, %r0 : tensor<32x64xf32>, tensor<32x64xf32>
}
