// What a kernel writes is `out` or `inout`, whatever was declared, and so it is for who passes it on.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s

// CHECK-LABEL:   orch.func incore @written(in %x: tensor<16xf32>, out %y: tensor<16xf32>)
orch.func incore @written(in %x : tensor<16xf32>, in %y : tensor<16xf32>) -> tensor<16xf32> {
  %e = ptensor.exp %x : tensor<16xf32>
  %s = ptensor.assemble %e, %y[0] : tensor<16xf32>, tensor<16xf32>
  orch.return %s : tensor<16xf32>
}

// CHECK-LABEL:   orch.func incore @read_too(inout %x: tensor<16xf32>)
orch.func incore @read_too(in %x : tensor<16xf32>) -> tensor<16xf32> {
  %e = ptensor.exp %x : tensor<16xf32>
  %s = ptensor.assemble %e, %x[0] : tensor<16xf32>, tensor<16xf32>
  orch.return %s : tensor<16xf32>
}

// CHECK-LABEL:   orch.func orchestration @main(in %a: tensor<16xf32>, inout %b: tensor<16xf32>, out %c: tensor<16xf32>)
orch.func orchestration @main(in %a : tensor<16xf32>, in %b : tensor<16xf32>, in %c : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %c1 = orch.call @written(%a, %c) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b1 = orch.call @read_too(%b) : (tensor<16xf32>) -> tensor<16xf32>
  orch.return %b1, %c1 : tensor<16xf32>, tensor<16xf32>
}

// A window that is returned is a buffer of its own to the caller: it is copied to one.
// CHECK-LABEL:   orch.func incore @window(in %x: tensor<64x64xf32>, in %i: index, out %w_out: tensor<16x64xf32>)
// CHECK:           %w_tile = tile.load %x[%i, 0] : tensor<64x64xf32> -> !tile.tile<16x64xf32>
// CHECK-NEXT:      %w_stored = tile.store %w_tile, %w_out[0, 0] :
// CHECK-NEXT:      orch.return %w_stored : tensor<16x64xf32>
orch.func incore @window(in %x : tensor<64x64xf32>, in %i : index) -> tensor<16x64xf32> {
  %w = ptensor.slice %x[%i, 0] : tensor<64x64xf32> -> tensor<16x64xf32>
  orch.return %w : tensor<16x64xf32>
}

// CHECK-LABEL:   orch.func incore @grid(
// CHECK:           %i = tile.get_block_idx : index
orch.func incore @grid(in %x : tensor<64xf32>) -> tensor<64xf32> {
  %i = ptensor.get_block_idx : index
  %n = arith.index_cast %i : index to i32
  %y = ptensor.adds %x, %n : tensor<64xf32>, i32
  orch.return %y : tensor<64xf32>
}
