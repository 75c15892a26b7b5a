// An if that yields a matrix: x as it is, or x times y.
//
//   pypto-opt --default-pipeline -t pto docs/examples/if_yield.mlir
//
// Both branches leave their value in one buffer, so nothing is selected and nothing copied.

orch.func orchestration @main(
    in %x : tensor<64x128xf32>, in %y : tensor<64x128xf32>, in %n : index)
    -> tensor<64x128xf32> {
  %result = orch.incore "if_yield" -> (tensor<64x128xf32>) {
    %limit = arith.constant 4 : index
    %few = arith.cmpi slt, %n, %limit : index
    %chosen = scf.if %few -> (tensor<64x128xf32>) {
      scf.yield %x : tensor<64x128xf32>
    } else {
      %product = ptensor.mul %x, %y : tensor<64x128xf32>
      scf.yield %product : tensor<64x128xf32>
    }
    %powers = ptensor.exp %chosen : tensor<64x128xf32>
    orch.yield %powers : tensor<64x128xf32>
  }
  orch.return %result : tensor<64x128xf32>
}
