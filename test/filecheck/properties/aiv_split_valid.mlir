// AivSplitValid: regions that are split by hand between the vector cores.

// RUN: pypto-opt --verify-property=AivSplitValid --split-input-file --verify-diagnostics %s

// Accepted: a product of the cube core goes in by a shard, comes out by a gather, into the next
// product; a reduction over the other axis; loads and stores anywhere; all of it with mode none.
orch.func incore @mixed(in %a : tensor<32x32xf32>, out %o : tensor<32x1xf32>, in %i : index) {
  %l = tile.load %a[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %r = tile.load %a[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %p = tile.matmul %l, %r : !tile.tile<32x32xf32>
  %g = orch.split_aiv %core mode up_down -> (!tile.tile<32x32xf32>) {
    %h = tile.aiv_shard %p, split = up_down : !tile.tile<32x32xf32> -> !tile.tile<16x32xf32>
    %e = tile.exp %h : !tile.tile<16x32xf32>
    %tmp = tile.create : !tile.tile<16x32xf32>
    %m = tile.row_max %e, %tmp : !tile.tile<16x32xf32> -> !tile.tile<16x1xf32>
    %o1 = tile.store %m, %o[%i, 0] : !tile.tile<16x1xf32>, tensor<32x1xf32>
    %g1 = tile.aic_gather %e, split = up_down : !tile.tile<16x32xf32> -> !tile.tile<32x32xf32>
    orch.yield %g1 : !tile.tile<32x32xf32>
  }
  %q = tile.matmul %g, %r : !tile.tile<32x32xf32>
  orch.split_aiv %core mode none {
    %x = tile.load %a[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
    %c = tile.col_sum %x : !tile.tile<32x32xf32> -> !tile.tile<1x32xf32>
  }
  orch.return
}

// -----

// Where a region stands.
orch.func orchestration @main() {
  // expected-error @+1 {{'orch.split_aiv' op stands in no in-core scope or function: put it into an orch.incore scope}}
  orch.split_aiv %core mode none { }
  orch.incore {
    orch.split_aiv %core mode up_down { // expected-note {{the enclosing region is here}}
      // expected-error @+1 {{is inside another split region, but the vector cores are shared out once}}
      orch.split_aiv %other mode none { }
    }
  }
  orch.return
}

// -----

// Cube work inside, vector work outside, and values that cross without a word.
orch.func incore @k(in %a : tensor<32x32xf32>) {
  %l = tile.load %a[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32>
  %p = tile.matmul %l, %l : !tile.tile<32x32xf32> // expected-note {{it is computed here, outside the region}}
  // expected-error @+1 {{'tile.exp' op is vector work outside the split regions of its kernel: move it into one of them, with mode none if both vector cores do all of it}}
  %v = tile.exp %l : !tile.tile<32x32xf32>
  // expected-note @+1 {{the region is here}}
  %w = orch.split_aiv %core mode none -> (!tile.tile<32x32xf32>) {
    // expected-error @+1 {{is cube work in a split region, which the vector cores run: move it out of the region, behind a tile.aic_gather if it needs what is computed there}}
    %q = tile.matmul %l, %l : !tile.tile<32x32xf32>
    // expected-error @+1 {{uses %p of the cube core: pass it in with tile.aiv_shard}}
    %e = tile.exp %p : !tile.tile<32x32xf32>
    %f = tile.neg %l : !tile.tile<32x32xf32> // expected-note {{it is computed here, in the region}}
    orch.yield %f : !tile.tile<32x32xf32>
  }
  // expected-error @+1 {{uses %w of the vector cores: pass it out of the region with tile.aic_gather}}
  %s = tile.matmul %w, %l : !tile.tile<32x32xf32>
  orch.return
}

// -----

// A reduction over the axis that is split, in both modes.
orch.func incore @k(in %a : tensor<32x32xf32>) {
  orch.split_aiv %core mode up_down { // expected-note {{the region is here}}
    %l = tile.load %a[0, 0] : tensor<32x32xf32> -> !tile.tile<16x32xf32>
    // expected-error @+1 {{'tile.col_sum' op reduces over the axis that the region splits (up_down), so that each core has a part of the result: reduce over the other axis, or gather the parts with tile.aic_gather first}}
    %c = tile.col_sum %l : !tile.tile<16x32xf32> -> !tile.tile<1x32xf32>
  }
  orch.split_aiv %core mode left_right { // expected-note {{the region is here}}
    %l = tile.load %a[0, 0] : tensor<32x32xf32> -> !tile.tile<32x16xf32>
    %tmp = tile.create : !tile.tile<32x16xf32>
    // expected-error @+1 {{'tile.row_max' op reduces over the axis that the region splits (left_right)}}
    %c = tile.row_max %l, %tmp : !tile.tile<32x16xf32> -> !tile.tile<32x1xf32>
  }
  orch.return
}

// -----

// Before tiles: tensor math is where its tile op is.
orch.func incore @k(in %a : tensor<32x32xf32>) {
  // expected-error @+1 {{'ptensor.exp' op is vector work outside the split regions of its kernel}}
  %e = ptensor.exp %a : tensor<32x32xf32>
  orch.split_aiv %core mode none { // expected-note {{the region is here}}
    // expected-error @+1 {{'ptensor.matmul' op is cube work in a split region}}
    %m = ptensor.matmul %a, %a : tensor<32x32xf32>
  }
  orch.return
}

// -----

// The boundary: inside only, and from the memory that each core has.
orch.func incore @k(in %a : tensor<32x32xf32>) {
  %v = tile.load %a[0, 0] : tensor<32x32xf32> -> !tile.tile<32x32xf32, vec> // expected-note {{the tile is defined here}}
  // expected-error @+1 {{'tile.aiv_shard' op stands in no split region: it says where a tile passes between the cores of a region}}
  %s = tile.aiv_shard %v, split = none : !tile.tile<32x32xf32, vec> -> !tile.tile<32x32xf32, vec> // expected-error {{takes a tile in acc, got one in vec}}
  orch.return
}
