// A loop that makes no turn takes a window that lies outside.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %n: index) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %c1 = arith.constant 1 : index
    %e = ptensor.exp %x : tensor<32x64xf32>
    %r = scf.for %i = %n to %c1 step %c1 iter_args(%w = %e) -> (tensor<32x64xf32>) {
      %s = ptensor.slice %x[%n, 0] : tensor<32x64xf32> -> tensor<8x64xf32>
      %g = ptensor.neg %s : tensor<8x64xf32>
      %w1 = ptensor.assemble %g, %w[0, 0] : tensor<8x64xf32>, tensor<32x64xf32>
      scf.yield %w1 : tensor<32x64xf32>
    }
    orch.yield %r : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
