// A loop does nothing but swap what it carries.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = orch.incore -> (tensor<32x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 5 : index
    %a, %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x, %q = %y) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
      scf.yield %q, %p : tensor<32x64xf32>, tensor<32x64xf32>
    }
    %e = ptensor.exp %a : tensor<32x64xf32>
    %d = ptensor.sub %e, %b : tensor<32x64xf32>
    orch.yield %d : tensor<32x64xf32>
  }
  orch.return %r : tensor<32x64xf32>
}
