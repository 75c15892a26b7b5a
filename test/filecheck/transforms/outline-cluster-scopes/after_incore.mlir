// In-core scopes first, the wrappers around them after.

// RUN: pypto-opt --outline-incore-scopes --outline-cluster-scopes --split-input-file %s | filecheck %s

// The other way round, kernels come out of the wrappers: only their names differ.
// RUN: pypto-opt --outline-cluster-scopes --outline-incore-scopes --split-input-file %s \
// RUN:   | filecheck %s --check-prefix LATER
// LATER:         orch.func incore @main_spmd_0_incore_0(in %a: tensor<512x128xf32>, out %out: tensor<512x128xf32>) -> tensor<512x128xf32> {
// LATER:         orch.func spmd @main_spmd_0(in %a: tensor<512x128xf32>, out %out: tensor<512x128xf32>) -> tensor<512x128xf32> {
// LATER-NEXT:      %o1 = orch.call @main_spmd_0_incore_0(%a, %out) :
// LATER-NEXT:      orch.return %out
// LATER:         orch.func incore @work(in %k: index, out %out: tensor<4x64xf32>) -> tensor<4x64xf32> {
// LATER:         orch.func group @main_cluster_0(in %k: index, out %out: tensor<4x64xf32>) -> tensor<4x64xf32> attributes {orch.spmd_unwrapped} {
// LATER-NEXT:      {{%.*}} = orch.call @work(%k, %out) :

// C11, E-T47, C13: a loop over the cores: a kernel, an spmd function that calls it, and its launch.
// The destination of the store is `out` on both.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func incore @main_incore_0(in %a: tensor<512x128xf32>, out %out: tensor<512x128xf32>) -> tensor<512x128xf32> {
// CHECK-NEXT:      %c128 = arith.constant 128 : index
// CHECK-NEXT:      %i = tile.get_block_idx
// CHECK-NEXT:      %off = arith.muli %i, %c128 : index
// CHECK:           orch.return %out
// CHECK:         orch.func spmd @main_spmd_0(in %a: tensor<512x128xf32>, out %out: tensor<512x128xf32>) -> tensor<512x128xf32> {
// CHECK-NEXT:      %o1 = orch.call @main_incore_0(%a, %out) :
// CHECK-NEXT:      orch.return %out
// CHECK:         orch.func orchestration @main(
// CHECK:           %r = orch.call @main_spmd_0(%a, %out) launch %c4 :
// CHECK-NEXT:      orch.return %r
orch.func orchestration @main(in %a : tensor<512x128xf32>, out %out : tensor<512x128xf32>)
    -> tensor<512x128xf32> {
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %r = orch.spmd launch %c4 -> (tensor<512x128xf32>) {
    %o1 = orch.incore -> (tensor<512x128xf32>) {
      %i = tile.get_block_idx : index
      %off = arith.muli %i, %c128 : index
      %t = tile.load %a[%off, 0] : tensor<512x128xf32> -> !tile.tile<128x128xf32>
      %o = tile.store %t, %out[%off, 0] : !tile.tile<128x128xf32>, tensor<512x128xf32>
      orch.yield %o : tensor<512x128xf32>
    }
    orch.yield %o1 : tensor<512x128xf32>
  }
  orch.return %r : tensor<512x128xf32>
}

// -----

// The same without a word about what is written, in a loop, under a cluster: the tensor goes
// through all of them.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:    orch.func incore @work(in %k: index, out %out: tensor<4x64xf32>) -> tensor<4x64xf32> {
// CHECK:           orch.return %out
// CHECK:         orch.func group @main_cluster_0(in %k: index, out %out: tensor<4x64xf32>) -> tensor<4x64xf32> attributes {orch.spmd_unwrapped} {
// CHECK-NEXT:      {{%.*}} = orch.call @work(%k, %out) :
// CHECK-NEXT:      orch.return %out
// CHECK:         orch.func orchestration @main(
// CHECK:           [[R:%.*]] = scf.for %k = {{.*}} iter_args([[I:%.*]] = %out)
// CHECK-NEXT:        [[N:%.*]] = orch.call @main_cluster_0(%k, [[I]]) launch %n :
// CHECK-NEXT:        scf.yield [[N]]
// CHECK:           orch.return [[R]]
orch.func orchestration @main(out %out : tensor<4x64xf32>, in %n : index) -> tensor<4x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    orch.cluster {
      orch.spmd launch %n {
        orch.incore "work" {
          %zero = arith.constant 0.0 : f32
          %t = tile.full %zero : f32 -> !tile.tile<1x64xf32>
          %o = tile.store %t, %out[%k, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
        }
      }
    }
  }
  orch.return %out : tensor<4x64xf32>
}
