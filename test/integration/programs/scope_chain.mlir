// Scopes one after another, in a loop and in an if, hand tensors on.

orch.func orchestration @main(in %x: tensor<16x64xf32>, in %n: index) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = orch.incore -> (tensor<16x64xf32>) {
    %e = ptensor.abs %x : tensor<16x64xf32>
    orch.yield %e : tensor<16x64xf32>
  }
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%w = %a) -> (tensor<16x64xf32>) {
    %b = orch.incore -> (tensor<16x64xf32>) {
      %e_1 = ptensor.add %w, %a : tensor<16x64xf32>
      orch.yield %e_1 : tensor<16x64xf32>
    }
    %odd = arith.remui %i, %c2 : index
    %c = arith.cmpi eq, %odd, %c1 : index
    %q = scf.if %c -> (tensor<16x64xf32>) {
      %d = orch.incore -> (tensor<16x64xf32>) {
        %e_2 = ptensor.mul %b, %w : tensor<16x64xf32>
        orch.yield %e_2 : tensor<16x64xf32>
      }
      scf.yield %d : tensor<16x64xf32>
    } else {
      scf.yield %b : tensor<16x64xf32>
    }
    scf.yield %q : tensor<16x64xf32>
  }
  orch.return %l : tensor<16x64xf32>
}
