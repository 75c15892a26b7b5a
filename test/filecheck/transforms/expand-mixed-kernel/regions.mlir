// Regions for one vector core each are run by both, as they stand.

// RUN: pypto-opt --expand-mixed-kernel %s | filecheck %s
// RUN: pypto-opt --expand-mixed-kernel --expand-mixed-kernel %s | pypto-opt | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// A shard is popped by halves, a gather pushed so; what stands around is the same on both.
// CHECK:      orch.func aic @there_and_back_aic(
// CHECK:        tile.tpush_to_aiv %p, split = up_down : !tile.tile<32x16xf32, acc>
// CHECK-NEXT:   %w = tile.tpop_from_aiv split = up_down : !tile.tile<32x16xf32, mat>
// CHECK-NEXT:   %gl = tile.move %w
// CHECK-NEXT:   tile.tfree_to_aiv %w, split = up_down
// CHECK:      orch.func aiv @there_and_back_aiv(
// CHECK-SAME: attributes {orch.dual_aiv_dispatch}
// CHECK:        [[FIRST:%.*]] = arith.cmpi eq
// CHECK-NEXT:   %t = tile.load %b[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
// CHECK-NEXT:   %h = tile.tpop_from_aic split = up_down : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:   %e = tile.add %h, %t : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:   tile.tfree_to_aic %h, split = up_down
// CHECK-NEXT:   tile.tpush_to_aic %e, split = up_down
// CHECK-NEXT:   %z1 = scf.if [[FIRST]] -> (tensor<16x16xf32>) {
// CHECK-NEXT:     %z1_1 = tile.store %t, %z[0, 0]
orch.func incore @there_and_back(in %a : tensor<32x16xf32>, in %b : tensor<16x16xf32>, out %y : tensor<32x16xf32>, out %z : tensor<16x16xf32>) -> (tensor<32x16xf32>, tensor<16x16xf32>) attributes {orch.split = #orch<split up_down>, orch.split_aiv} {
  %ma = tile.load %a[0, 0] : tensor<32x16xf32> -> !tile.tile<32x16xf32, mat>
  %mb = tile.load %b[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %t = tile.load %b[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %l = tile.move %ma : !tile.tile<32x16xf32, mat> -> !tile.tile<32x16xf32, left>
  %r = tile.move %mb : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<32x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<32x16xf32, acc>
  %g = orch.split_aiv %core mode up_down -> (!tile.tile<32x16xf32, mat>) {
    %h = tile.aiv_shard %p, split = up_down : !tile.tile<32x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    %e = tile.add %h, %t : !tile.tile<16x16xf32, vec>
    %w = tile.aic_gather %e, split = up_down : !tile.tile<16x16xf32, vec> -> !tile.tile<32x16xf32, mat>
    orch.yield %w : !tile.tile<32x16xf32, mat>
  }
  %gl = tile.move %g : !tile.tile<32x16xf32, mat> -> !tile.tile<32x16xf32, left>
  %q = tile.matmul %gl, %r : !tile.tile<32x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<32x16xf32, acc>
  %y1 = tile.store %q, %y[0, 0] : !tile.tile<32x16xf32, acc>, tensor<32x16xf32>
  %z1 = tile.store %t, %z[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
  orch.return %y1, %z1 : tensor<32x16xf32>, tensor<16x16xf32>
}

// Where both have all of a tile, the first passes it, and the other one keeps pace.
// CHECK:      orch.func aiv @whole_aiv(
// CHECK:        %h = tile.tpop_from_aic : !tile.tile<16x16xf32, vec>
// CHECK:        scf.if {{.*}} {
// CHECK-NEXT:     tile.tpush_to_aic %h : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:   } else {
// CHECK-NEXT:     [[EMPTY:%.*]] = tile.create : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:     tile.tpush_to_aic [[EMPTY]] : !tile.tile<16x16xf32, vec, valid = [0, 0]>
// CHECK-NEXT:   }
orch.func incore @whole(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> attributes {orch.split_aiv} {
  %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
  %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
  %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %g = orch.split_aiv %core mode none -> (!tile.tile<16x16xf32, mat>) {
    %h = tile.aiv_shard %p, split = none : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    %w = tile.aic_gather %h, split = none : !tile.tile<16x16xf32, vec> -> !tile.tile<16x16xf32, mat>
    orch.yield %w : !tile.tile<16x16xf32, mat>
  }
  %gl = tile.move %g : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
  %q = tile.matmul %gl, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
  %y1 = tile.store %q, %y[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
  orch.return %y1 : tensor<16x16xf32>
}

// A region that neither asks for the core nor says what passes is written for the whole. What comes
// from outside is whole on both cores: each uses its part. Without cube work there is one kernel.
// CHECK:      orch.func aiv @shared_out(in %a: tensor<32x16xf32>, out %y: tensor<32x16xf32>) -> tensor<32x16xf32> attributes {orch.dual_aiv_dispatch} {
// CHECK:        %t = tile.load %a[0, 0] : tensor<32x16xf32> -> !tile.tile<32x16xf32, vec>
// CHECK:        %from = arith.muli
// CHECK-NEXT:   %t_1 = tile.slice %t[%from, 0] : !tile.tile<32x16xf32, vec> -> !tile.tile<16x16xf32, vec>
// CHECK-NEXT:   %e = tile.exp %t_1 : !tile.tile<16x16xf32, vec>
// CHECK-NEXT:   %w = tile.store %e, %y[%from, 0] : !tile.tile<16x16xf32, vec>, tensor<32x16xf32>
// CHECK-NEXT:   orch.return %w
orch.func incore @shared_out(in %a : tensor<32x16xf32>, out %y : tensor<32x16xf32>) -> tensor<32x16xf32> attributes {orch.split = #orch<split up_down>, orch.split_aiv} {
  %t = tile.load %a[0, 0] : tensor<32x16xf32> -> !tile.tile<32x16xf32, vec>
  %y1 = orch.split_aiv %core mode up_down -> (tensor<32x16xf32>) {
    %e = tile.exp %t : !tile.tile<32x16xf32, vec>
    %w = tile.store %e, %y[0, 0] : !tile.tile<32x16xf32, vec>, tensor<32x16xf32>
    orch.yield %w : tensor<32x16xf32>
  }
  orch.return %y1 : tensor<32x16xf32>
}
}
