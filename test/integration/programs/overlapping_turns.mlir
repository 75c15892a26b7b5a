// A loop reads what its last turn wrote: windows of one buffer that overlap between turns.

orch.func orchestration @main(inout %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %RR = orch.incore -> (tensor<32x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%w = %x) -> (tensor<32x64xf32>) {
      %r0 = arith.muli %i, %c8 : index
      %r1 = arith.addi %r0, %c8 : index
      %a = ptensor.slice %w[%r0, 0] : tensor<32x64xf32> -> tensor<8x64xf32>
      %b = ptensor.slice %w[%r1, 0] : tensor<32x64xf32> -> tensor<8x64xf32>
      %s = ptensor.add %a, %b : tensor<8x64xf32>
      %w1 = ptensor.assemble %s, %w[%r1, 0] : tensor<8x64xf32>, tensor<32x64xf32>
      scf.yield %w1 : tensor<32x64xf32>
    }
    orch.yield %l : tensor<32x64xf32>
  }
  orch.return %RR : tensor<32x64xf32>
}
