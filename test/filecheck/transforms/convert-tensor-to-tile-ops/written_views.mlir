// What is written to a view of a tensor on chip is put back where the tensor is read after it: the
// view is a tile of its own.

// RUN: pypto-opt %s --convert-tensor-to-tile-ops --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: @slice
// CHECK:         %t = tile.add
// CHECK:         %w1 = tile.assemble %v_tile, %w[0, 0]
// CHECK-NEXT:    %t1 = tile.assemble %w1, %t[4, 0]
// CHECK-NEXT:    tile.mul %t1, %t1
orch.func incore @slice(in %x : tensor<8x32xf32>, out %y : tensor<8x32xf32>) -> tensor<8x32xf32> {
  %t = ptensor.add %x, %x : tensor<8x32xf32>
  %w = ptensor.slice %t[4, 0] : tensor<8x32xf32> -> tensor<4x32xf32>
  %v = ptensor.slice %x[0, 0] : tensor<8x32xf32> -> tensor<4x32xf32>
  %w1 = ptensor.assemble %v, %w[0, 0] : tensor<4x32xf32>
  %t1 = ptensor.updated %t, %w1 : tensor<8x32xf32>, tensor<4x32xf32>
  %u = ptensor.mul %t1, %t1 : tensor<8x32xf32>
  %y1 = ptensor.assemble %u, %y[0, 0] : tensor<8x32xf32>
  orch.return %y1 : tensor<8x32xf32>
}

// -----

// CHECK-LABEL: @reshape
// CHECK:         %w1 = tile.assemble
// CHECK-NEXT:    %t1 = tile.reshape %w1 : !tile.tile<4x64xf32> -> !tile.tile<8x32xf32>
// CHECK-NEXT:    tile.mul %t1, %t1
orch.func incore @reshape(in %x : tensor<8x32xf32>, in %z : tensor<1x64xf32>, out %y : tensor<8x32xf32>) -> tensor<8x32xf32> {
  %t = ptensor.add %x, %x : tensor<8x32xf32>
  %w = ptensor.reshape %t : tensor<8x32xf32> -> tensor<4x64xf32>
  %w1 = ptensor.assemble %z, %w[1, 0] : tensor<1x64xf32>, tensor<4x64xf32>
  %t1 = ptensor.updated %t, %w1 : tensor<8x32xf32>, tensor<4x64xf32>
  %u = ptensor.mul %t1, %t1 : tensor<8x32xf32>
  %y1 = ptensor.assemble %u, %y[0, 0] : tensor<8x32xf32>
  orch.return %y1 : tensor<8x32xf32>
}

// -----

// In global memory nothing is put back: the tensor is loaded anew.

// CHECK-LABEL: @global
// CHECK:         %w1 = tile.store %{{.*}}, %w[0, 0]
// CHECK-NEXT:    %y1 = ptensor.updated %y, %w1
// CHECK-NEXT:    %y1_tile = tile.load %y1[0, 0]
orch.func incore @global(in %x : tensor<4x32xf32>, inout %y : tensor<8x32xf32>) -> tensor<8x32xf32> {
  %w = ptensor.slice %y[4, 0] : tensor<8x32xf32> -> tensor<4x32xf32>
  %w1 = ptensor.assemble %x, %w[0, 0] : tensor<4x32xf32>
  %y1 = ptensor.updated %y, %w1 : tensor<8x32xf32>, tensor<4x32xf32>
  %u = ptensor.mul %y1, %y1 : tensor<8x32xf32>
  %y2 = ptensor.assemble %u, %y1[0, 0] : tensor<8x32xf32>
  orch.return %y2 : tensor<8x32xf32>
}

// -----

orch.func incore @view_of_a_view(in %x : tensor<4x32xf32>, out %y : tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c = arith.constant 1.0 : f32
  %t = ptensor.full %c : f32 -> tensor<8x32xf32>
  %w = ptensor.reshape %t : tensor<8x32xf32> -> tensor<4x64xf32>
  %s = ptensor.slice %w[0, 0] : tensor<4x64xf32> -> tensor<4x32xf32>
  %s1 = ptensor.assemble %x, %s[0, 0] : tensor<4x32xf32>
  // expected-error @+1 {{reads a tensor on chip that was written through a view of a view}}
  %t1 = ptensor.updated %t, %s1 : tensor<8x32xf32>, tensor<4x32xf32>
  %u = ptensor.mul %t1, %t1 : tensor<8x32xf32>
  %y1 = ptensor.assemble %u, %y[0, 0] : tensor<8x32xf32>
  orch.return %y1 : tensor<8x32xf32>
}
