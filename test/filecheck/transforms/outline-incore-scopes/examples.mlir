// The examples of the documentation: `docs/examples/outline.mlir`.

// RUN: pypto-opt --outline-incore-scopes %S/../../../../docs/examples/outline.mlir 2> %t | filecheck %s
// RUN: pypto-opt --outline-incore-scopes --outline-incore-scopes %S/../../../../docs/examples/outline.mlir 2> %t | filecheck %s

// CHECK:      orch.func incore @basic_incore_0(in %y: tensor<64xf32>, out %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:   %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %tile = tile.load %y[0] : tensor<64xf32> -> !tile.tile<64xf32>
// CHECK-NEXT:   %tile_sq = tile.mul %tile, %tile : !tile.tile<64xf32>
// CHECK-NEXT:   %result_tile = tile.adds %tile_sq, %one : !tile.tile<64xf32>, f32
// CHECK-NEXT:   %x1 = tile.store %result_tile, %x[0] : !tile.tile<64xf32>, tensor<64xf32>
// CHECK-NEXT:   orch.return %x : tensor<64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: orch.func orchestration @basic(in %x: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:   %one = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   %two = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:   %y = ptensor.adds %x, %one : tensor<64xf32>, f32
// CHECK-NEXT:   %result = orch.call @basic_incore_0(%y, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:   %z = ptensor.adds %result, %two : tensor<64xf32>, f32
// CHECK-NEXT:   orch.return %z : tensor<64xf32>
// CHECK-NEXT: }

// %out1 is the parameter %out, %own1 is the kernel's own: in the order of their definition.
// CHECK-NEXT: orch.func incore @multiple_outputs_incore_0(in %a: tensor<64xf32>, in %b: tensor<64xf32>, out %out: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK:        %own1 = tile.store
// CHECK-NEXT:   orch.return %out, %own1 : tensor<64xf32>, tensor<64xf32>
// CHECK-NEXT: }
// What was constant for the kernel alone is there alone.
// CHECK-NEXT: orch.func orchestration @multiple_outputs(
// CHECK-NEXT:   %out_a, %out_b = orch.call @multiple_outputs_incore_0(%a, %b, %out) :
// CHECK-NEXT:   %x = ptensor.add %out_a, %out_b : tensor<64xf32>
// CHECK-NEXT:   orch.return %x : tensor<64xf32>
// CHECK-NEXT: }

// The offset is part of the load: %a is used first, then %i, then %out.
// CHECK-NEXT: orch.func incore @loop_incore_0(in %a: tensor<256x128xf32>, in %i: index, out %out: tensor<256x128xf32>) -> tensor<256x128xf32> {
// CHECK:        orch.return %out : tensor<256x128xf32>
// CHECK-NEXT: }
// CHECK-NEXT: orch.func orchestration @loop(
// CHECK:        [[RV:%.*]] = scf.for %i = %c0 to %c4 step %c1 iter_args([[ITER:%.*]] = %out) -> (tensor<256x128xf32>) {
// CHECK-NEXT:     [[NEXT:%.*]] = orch.call @loop_incore_0(%a, %i, [[ITER]]) :
// CHECK-NEXT:     scf.yield [[NEXT]] : tensor<256x128xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   orch.return [[RV]] : tensor<256x128xf32>
// CHECK-NEXT: }
