// What a scope says of how a tensor goes through the cache is said by each of its loads, once there
// are loads (E-T84 on): of parts of it too, and of what control flow makes of it.

// RUN: pypto-opt --convert-tensor-to-tile-ops --split-input-file %s | filecheck %s
// RUN: pypto-opt --convert-tensor-to-tile-ops --print-op-generic --split-input-file %s | pypto-opt --split-input-file | filecheck %s
// RUN: pypto-opt --convert-tensor-to-tile-ops -t pl %s | pypto-opt -f pl | filecheck %s
// RUN: pypto-opt --default-pipeline %s | filecheck %s --check-prefix LOWERED
// RUN: pypto-opt --default-pipeline -t pto %s | filecheck %s --check-prefix PTO

// CHECK-LABEL:   orch.func incore @kernel(
// CHECK-SAME:      out %o: tensor<16x64xf32>) -> tensor<16x64xf32> {
// CHECK:           tile.load %b[0, 0], cache = bypass :
// CHECK-NEXT:      tile.load %c[0, 0] :
// CHECK-NEXT:      tile.load %b[16, 0], cache = bypass :
// CHECK:           tile.load %w[0, 0], cache = bypass :
// CHECK-NEXT:      tile.load %a[0, 0] :

// LOWERED-COUNT-3: pto.tload {{.*}} {pypto.cache = #tile<cache bypass>}
// PTO-NOT:         cache
orch.func incore @kernel(in %a: tensor<16x64xf32>, in %b: tensor<64x64xf32>, in %c: tensor<64x64xf32>, in %i: i1, out %o: tensor<16x64xf32>) -> tensor<16x64xf32>
    attributes {orch.cache_policy = [{parameter = 0 : i64, policy = #orch<cache default>}, {parameter = 1 : i64, policy = #orch<cache bypass>}]} {
  %t = tile.load %b[16, 0] : tensor<64x64xf32> -> !tile.tile<16x64xf32>
  %e = scf.if %i -> (tensor<64x64xf32>) {
    scf.yield %c : tensor<64x64xf32>
  } else {
    scf.yield %b : tensor<64x64xf32>
  }
  %u = tile.load %e[0, 0] : tensor<64x64xf32> -> !tile.tile<16x64xf32>
  %w = ptensor.slice %b[32, 0] : tensor<64x64xf32> -> tensor<16x64xf32>
  %v = tile.load %w[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
  %x = tile.load %a[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
  %tu = tile.add %t, %u : !tile.tile<16x64xf32>
  %vx = tile.add %v, %x : !tile.tile<16x64xf32>
  %y = tile.add %tu, %vx : !tile.tile<16x64xf32>
  %s = tile.store %y, %o[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
  orch.return %s : tensor<16x64xf32>
}
