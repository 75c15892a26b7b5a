// An if in a loop, a loop in the if: the carry goes through all of them.

orch.func orchestration @main(in %x: tensor<32x64xf32>, in %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = orch.incore -> (tensor<32x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %h = arith.constant 5.000000e-01 : f32
    %r_1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %x) -> (tensor<32x64xf32>) {
      %rem = arith.remui %i, %c2 : index
      %odd = arith.cmpi eq, %rem, %c1 : index
      %n = scf.if %odd -> (tensor<32x64xf32>) {
        %t = scf.for %j = %c0 to %i step %c1 iter_args(%u = %p) -> (tensor<32x64xf32>) {
          %v = ptensor.add %u, %y : tensor<32x64xf32>
          scf.yield %v : tensor<32x64xf32>
        }
        scf.yield %t : tensor<32x64xf32>
      } else {
        %t_1 = ptensor.muls %p, %h : tensor<32x64xf32>, f32
        scf.yield %t_1 : tensor<32x64xf32>
      }
      scf.yield %n : tensor<32x64xf32>
    }
    orch.yield %r_1 : tensor<32x64xf32>
  }
  orch.return %r : tensor<32x64xf32>
}
