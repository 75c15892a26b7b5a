// A loop that carries a matrix: x, halved and added to y again and again.
//
//   pypto-opt --default-pipeline -t pto docs/examples/loop_carry.mlir
//
// What the loop starts from, carries, yields and returns is one buffer. It starts as a copy of x
// because x is used again after the loop.

orch.func orchestration @main(
    in %x : tensor<64x128xf32>, in %y : tensor<64x128xf32>, in %count : index)
    -> tensor<64x128xf32> {
  %result = orch.incore "loop_carry" -> (tensor<64x128xf32>) {
    %start = arith.constant 0 : index
    %step = arith.constant 1 : index
    %half = arith.constant 0.5 : f32
    %last = scf.for %i = %start to %count step %step iter_args(%carried = %x)
        -> (tensor<64x128xf32>) {
      %halved = ptensor.muls %carried, %half : tensor<64x128xf32>, f32
      %next = ptensor.add %halved, %y : tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    %change = ptensor.sub %last, %x : tensor<64x128xf32>
    orch.yield %change : tensor<64x128xf32>
  }
  orch.return %result : tensor<64x128xf32>
}
