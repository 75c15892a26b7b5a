// RUN: pypto-opt --expand-mixed-kernel --split-input-file --verify-diagnostics %s

// What one core stores and the other reads is in no order.
builtin.module {
  orch.func incore @through_memory(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    // expected-error @+1 {{is of the cube core, and what it stores to is used by the vector core of the same kernel: nothing orders the two; pass the tile itself, or make two kernels of it}}
    %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    // expected-note @+1 {{it is used here}}
    %v = tile.load %x1[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
    %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// A number that only a vector core has decides what the cube core does.
builtin.module {
  orch.func incore @foreign_number(in %a : tensor<16x16xf32>, in %k : tensor<1x16xi32>, out %y : tensor<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tile.load %k[0, 0] : tensor<1x16xi32> -> !tile.tile<1x16xi32, vec>
    %e = tile.read %t[0, 0] : !tile.tile<1x16xi32, vec> -> i32
    // expected-note @+1 {{it is made here}}
    %n = arith.index_cast %e : i32 to index
    // expected-error @+1 {{is for the cube core too, and needs what the vector core alone has}}
    scf.for %i = %c0 to %n step %c1 {
      %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
      %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
      %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
      %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
      %z = tile.store %p, %y[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    }
    orch.return
  }
}

// -----

// Only whole tiles pass between the cores.
builtin.module {
  orch.func incore @part(in %a : tensor<16x16xf32>, out %y : tensor<8x16xf32>) {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    // expected-error @+1 {{works on tiles of the cube core and of the vector cores at once: only a whole tile passes between them, by a move}}
    %v = tile.extract %m[0, 0] : !tile.tile<16x16xf32, mat> -> !tile.tile<8x16xf32, vec>
    %z = tile.store %v, %y[0, 0] : !tile.tile<8x16xf32, vec>, tensor<8x16xf32>
    orch.return
  }
}

// -----

// Split between rows, each vector core has some of them: there is no sum over all.
builtin.module {
  orch.func incore @reduces(in %a : tensor<16x16xf32>, out %y : tensor<1x16xf32>) attributes {orch.split = #orch<split up_down>} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    // expected-note @+1 {{the tile is made here}}
    %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    // expected-error @+1 {{reduces over the rows of a tile whose rows the two vector cores share out: each has a part of the result; split the kernel left_right, or leave the split out}}
    %s = tile.col_sum %v : !tile.tile<16x16xf32, vec> -> !tile.tile<1x16xf32, vec>
    %z = tile.store %s, %y[0, 0] : !tile.tile<1x16xf32, vec>, tensor<1x16xf32>
    orch.return
  }
}

// -----

// How many tiles pass is what both vector cores have to know.
builtin.module {
  orch.func incore @one_knows(in %a : tensor<16x16xf32>, in %k : tensor<1x16xi32>, out %y : tensor<16x16xf32>) -> tensor<16x16xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    %e = tile.read %v[0, 0] : !tile.tile<16x16xf32, vec> -> f32
    // expected-note @+1 {{it is made here}}
    %c = arith.cmpf ogt, %e, %e : f32
    // expected-error @+1 {{is for the cube core too, and needs what the vector core alone has}}
    scf.if %c {
      %q = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
      %w = tile.move %q : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
      %w1 = tile.store %w, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    }
    orch.return %y : tensor<16x16xf32>
  }
}

// -----

// The same through names that a branch hands on: they may be of the same tensor.
builtin.module {
  orch.func incore @through_branch(in %a : tensor<16x16xf32>, in %c : i1, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    %either = scf.if %c -> (tensor<16x16xf32>) {
      scf.yield %x : tensor<16x16xf32>
    } else {
      scf.yield %y : tensor<16x16xf32>
    }
    // expected-error @+1 {{is of the cube core, and what it stores to is used by the vector core of the same kernel}}
    %e1 = tile.store %p, %either[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    %v = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
    // expected-note @+1 {{it is used here}}
    %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    orch.return
  }
}
