// A kernel that gains an output gets a buffer at every call and submit; wrappers pass one on.

// RUN: pypto-opt --convert-tensor-to-tile-ops %s | filecheck %s

// CHECK-LABEL: orch.func incore @kernel(in %x: tensor<16x32xf32>, out %e_out: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %x_tile = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %e = tile.exp %x_tile : !tile.tile<16x32xf32>
// CHECK-NEXT:    %e_stored = tile.store %e, %e_out[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:    orch.return %e_stored : tensor<16x32xf32>
orch.func incore @kernel(in %x : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %e = ptensor.exp %x : tensor<16x32xf32>
  orch.return %e : tensor<16x32xf32>
}

// The wrapper mirrors the parameter.
// CHECK-LABEL: orch.func group @wrapper(in %x: tensor<16x32xf32>, out %e_out: tensor<16x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %r = orch.call @kernel(%x, %e_out) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:    orch.return %r : tensor<16x32xf32>
orch.func group @wrapper(in %x : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %r = orch.call @kernel(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  orch.return %r : tensor<16x32xf32>
}

// Calls and submits of either, directions and clauses with them.
// CHECK-LABEL: orch.func orchestration @main(in %x: tensor<16x32xf32>, in %n: index) -> tensor<16x32xf32> {
// CHECK-NEXT:    %e_out = ptensor.create : tensor<16x32xf32>
// CHECK-NEXT:    %a = orch.call @kernel(input %x, output_existing %e_out) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT:    %e_out_1 = ptensor.create : tensor<16x32xf32>
// CHECK-NEXT:    %b, %t = orch.submit @kernel(%a, %e_out_1) launch %n : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
// CHECK-NEXT:    %e_out_2 = ptensor.create : tensor<16x32xf32>
// CHECK-NEXT:    %c, %u = orch.submit @wrapper(%b, %e_out_2) deps [%t] launch %n early_resolve : (tensor<16x32xf32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
// CHECK-NEXT:    orch.return %c : tensor<16x32xf32>
orch.func orchestration @main(in %x : tensor<16x32xf32>, in %n : index) -> tensor<16x32xf32> {
  %a = orch.call @kernel(input %x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %b, %t = orch.submit @kernel(%a) launch %n : (tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
  %c, %u = orch.submit @wrapper(%b) deps [%t] launch %n early_resolve : (tensor<16x32xf32>) -> (tensor<16x32xf32>, !orch.task_id)
  orch.return %c : tensor<16x32xf32>
}
