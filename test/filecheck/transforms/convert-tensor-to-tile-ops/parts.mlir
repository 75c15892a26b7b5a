// A part of a computed tensor is a window of its tile; what is put into a tensor on chip is put
// into its tile. Dimensions that a window leaves out are taken away by a reshape.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s
// RUN: pypto-opt -p "convert-tensor-to-tile-ops,convert-tensor-to-tile-ops" %s | filecheck %s

// CHECK-LABEL:   orch.func incore @parts(
// CHECK-NEXT:      %x_tile = tile.load %x[0, 0] :
// CHECK-NEXT:      %y_tile = tile.load %y[0, 0] :
// CHECK-NEXT:      %e = tile.exp %x_tile : !tile.tile<16x64xf32>
// CHECK-NEXT:      %rows = tile.slice %e[%i, 0] : !tile.tile<16x64xf32> -> !tile.tile<8x64xf32>
// CHECK-NEXT:      %one = tile.slice %e[3, 0] : !tile.tile<16x64xf32> -> !tile.tile<1x64xf32>
// CHECK-NEXT:      %one_1 = tile.reshape %one : !tile.tile<1x64xf32> -> !tile.tile<64xf32>
// CHECK-NEXT:      %n = tile.neg %rows : !tile.tile<8x64xf32>
// CHECK-NEXT:      %c = tile.create : !tile.tile<16x64xf32>
// CHECK-NEXT:      %a = tile.assemble %n, %c[0, 0] : !tile.tile<8x64xf32>, !tile.tile<16x64xf32>
// CHECK-NEXT:      %b = tile.assemble %y_tile, %a[8, 0] : !tile.tile<8x64xf32>, !tile.tile<16x64xf32>
// CHECK-NEXT:      %f = tile.abs %b : !tile.tile<16x64xf32>
// CHECK-NEXT:      %g = tile.abs %one_1 : !tile.tile<64xf32>
orch.func incore @parts(in %x : tensor<16x64xf32>, in %y : tensor<8x64xf32>, in %i : index)
    -> (tensor<16x64xf32>, tensor<64xf32>) {
  %e = ptensor.exp %x : tensor<16x64xf32>
  %rows = ptensor.slice %e[%i, 0] : tensor<16x64xf32> -> tensor<8x64xf32>
  %one = ptensor.slice %e[3, 0] : tensor<16x64xf32> -> tensor<64xf32>
  %n = ptensor.neg %rows : tensor<8x64xf32>
  %c = ptensor.create : tensor<16x64xf32>
  %a = ptensor.assemble %n, %c[0, 0] : tensor<8x64xf32>, tensor<16x64xf32>
  %b = ptensor.assemble %y, %a[8, 0] : tensor<8x64xf32>, tensor<16x64xf32>
  %f = ptensor.abs %b : tensor<16x64xf32>
  %g = ptensor.abs %one : tensor<64xf32>
  orch.return %f, %g : tensor<16x64xf32>, tensor<64xf32>
}
