// RUN: pypto-opt --expand-mixed-kernel --split-input-file --verify-diagnostics %s

// What one core stores and a scalar unit of the other one reads, its cache may not have.
builtin.module {
  orch.func incore @through_a_cache(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    // expected-error @+1 {{is of the cube core, and what it stores to is used by the vector core of the same kernel, where one of the two is a scalar unit, whose cache knows nothing of the other core: pass the tile itself, or make two kernels of it}}
    %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    // expected-note @+1 {{it is used here}}
    %e = ptensor.read %x1[0, 0] : tensor<16x16xf32> -> f32
    %v = tile.full %e : f32 -> !tile.tile<16x16xf32, vec>
    %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// The same of what a scalar unit writes.
builtin.module {
  orch.func incore @out_of_a_cache(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) {
    %v = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
    %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    %f = arith.constant 1.0 : f32
    // expected-error @+1 {{is of the vector core, and what it stores to is used by the cube core of the same kernel, where one of the two is a scalar unit}}
    %x1 = ptensor.write %f, %x[0, 0] : f32, tensor<16x16xf32>
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    // expected-note @+1 {{it is used here}}
    %x2 = tile.store %p, %x1[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// In what two cores share out, nothing passes between the kinds of cores.
builtin.module {
  orch.func incore @in_a_shared_region(in %a : tensor<16x16xf32>, out %x : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split_aiv} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    %x1 = tile.store %p, %x[0, 0] : !tile.tile<16x16xf32, acc>, tensor<16x16xf32>
    %y2 = orch.split_aiv %core mode up_down -> (tensor<16x16xf32>) {
      // expected-error @+1 {{has to wait for what the other core of the same kernel does in global memory, in a region that the two vector cores share out: write it for one core each}}
      %v = tile.load %x1[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
      %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
      orch.yield %y1 : tensor<16x16xf32>
    }
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

// Turned over, rows that are shared out would be columns that are not.
builtin.module {
  orch.func incore @turned(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split = #orch<split up_down>} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    // expected-error @+1 {{makes a tile that would have to be cut along both axes, so that the two vector cores can share out rows: split the kernel left_right, or leave the split out}}
    %t = tile.transpose %v : !tile.tile<16x16xf32, vec>
    %z = tile.store %t, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// An element of a tile is on one of the cores only.
builtin.module {
  orch.func incore @element(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split = #orch<split up_down>} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    // expected-note @+1 {{the tile is made here}}
    %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    // expected-error @+1 {{needs more of a tile than a part of its rows, whose rows the two vector cores share out: split the kernel left_right, or leave the split out}}
    %e = tile.read %v[3, 0] : !tile.tile<16x16xf32, vec> -> f32
    %s = tile.adds %v, %e : !tile.tile<16x16xf32, vec>, f32
    %z = tile.store %s, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// Columns of which a number known at run time is valid lie as far apart as there are.
builtin.module {
  orch.func incore @run_time_columns(in %a : tensor<16x16xf32>, in %n : index, out %y : tensor<16x16xf32>) attributes {orch.split = #orch<split left_right>} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %k = tile.load %a[0, 0], valid = [16, %n] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat, valid = [16, ?]>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %k : !tile.tile<16x16xf32, mat, valid = [16, ?]> -> !tile.tile<16x16xf32, right, valid = [16, ?]>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right, valid = [16, ?]> -> !tile.tile<16x16xf32, acc, valid = [16, ?]>
    // expected-error @+1 {{passes a tile between the cores of whose 16 columns a number known at run time are valid: the two vector cores cannot pass parts of it; split the kernel up_down, or leave the split out}}
    %v = tile.move %p : !tile.tile<16x16xf32, acc, valid = [16, ?]> -> !tile.tile<16x16xf32, vec, valid = [16, ?]>
    %z = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec, valid = [16, ?]>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// How much is valid has to be known to the core that gets the tile.
builtin.module {
  orch.func incore @who_knows(in %a : tensor<16x16xf32>, in %c : i1, in %n : index, out %y : tensor<16x16xf32>) {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %either = scf.if %c -> (!tile.tile<16x16xf32, mat, valid = [?, 16]>) {
      %k = tile.load %a[0, 0], valid = [%n, 16] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat, valid = [?, 16]>
      scf.yield %k : !tile.tile<16x16xf32, mat, valid = [?, 16]>
    } else {
      %c1 = arith.constant 1 : index
      %k = tile.load %a[0, 0], valid = [%c1, 16] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat, valid = [?, 16]>
      scf.yield %k : !tile.tile<16x16xf32, mat, valid = [?, 16]>
    }
    %l = tile.move %either : !tile.tile<16x16xf32, mat, valid = [?, 16]> -> !tile.tile<16x16xf32, left, valid = [?, 16]>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left, valid = [?, 16]>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc, valid = [?, 16], compact>
    // expected-error @+1 {{passes a tile between the cores of which only the one that has it knows how much is valid}}
    %v = tile.move %p : !tile.tile<16x16xf32, acc, valid = [?, 16], compact> -> !tile.tile<16x16xf32, vec, valid = [?, 16]>
    %z = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec, valid = [?, 16]>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// By hand, too, halves are as large as each other.
builtin.module {
  orch.func incore @odd_shard(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split_aiv} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %k = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat, valid = [5, 16]>
    %l = tile.move %k : !tile.tile<16x16xf32, mat, valid = [5, 16]> -> !tile.tile<16x16xf32, left, valid = [5, 16]>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left, valid = [5, 16]>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc, valid = [5, 16], compact>
    orch.split_aiv %core mode up_down {
      // expected-error @+1 {{passes a tile by halves, of which 5 of 16 rows are valid, and the second half starts at 8: both halves have to be as large}}
      %h = tile.aiv_shard %p, split = up_down : !tile.tile<16x16xf32, acc, valid = [5, 16], compact> -> !tile.tile<8x16xf32, vec, valid = [3, 16]>
      %w = tile.store %h, %y[0, 0] : !tile.tile<8x16xf32, vec, valid = [3, 16]>, tensor<16x16xf32>
      orch.yield
    }
    orch.return
  }
}

// -----

// A ring passes whole tiles or halves.
builtin.module {
  orch.func incore @both_ways(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split_aiv} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    orch.split_aiv %core mode up_down {
      // expected-note @+1 {{the other one passes here}}
      %h = tile.aiv_shard %p, split = up_down : !tile.tile<16x16xf32, acc> -> !tile.tile<8x16xf32, vec>
      orch.yield
    }
    orch.split_aiv %other mode none {
      // expected-error @+1 {{passes a tile whole, where another one passes by halves: the ring between the cores of a kernel does one or the other}}
      %h = tile.aiv_shard %p, split = none : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
      orch.yield
    }
    orch.return
  }
}

// -----

// What each core has its own of is stored in its region.
builtin.module {
  orch.func incore @stored_outside(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split_aiv} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    // expected-note @+1 {{the tile is from here}}
    %t = orch.split_aiv %core mode up_down -> (!tile.tile<8x16xf32, vec>) {
      %h = tile.aiv_shard %p, split = up_down : !tile.tile<16x16xf32, acc> -> !tile.tile<8x16xf32, vec>
      orch.yield %h : !tile.tile<8x16xf32, vec>
    }
    // expected-error @+1 {{stores a tile of which each vector core has its own, outside of the regions for one core each}}
    %z = tile.store %t, %y[0, 0] : !tile.tile<8x16xf32, vec>, tensor<16x16xf32>
    orch.return
  }
}

// -----

// In such a kernel, nothing passes without saying so.
builtin.module {
  orch.func incore @unsaid(in %a : tensor<16x16xf32>, out %y : tensor<16x16xf32>) attributes {orch.split_aiv} {
    %m = tile.load %a[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, mat>
    %l = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, left>
    %r = tile.move %m : !tile.tile<16x16xf32, mat> -> !tile.tile<16x16xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<16x16xf32, left>, !tile.tile<16x16xf32, right> -> !tile.tile<16x16xf32, acc>
    // expected-error @+1 {{passes a tile between the kinds of cores, in a kernel that has regions for one vector core each: there, tile.aiv_shard and tile.aic_gather do}}
    %v = tile.move %p : !tile.tile<16x16xf32, acc> -> !tile.tile<16x16xf32, vec>
    %z = tile.store %v, %y[0, 0] : !tile.tile<16x16xf32, vec>, tensor<16x16xf32>
    orch.split_aiv %core mode none {
      orch.yield
    }
    orch.return
  }
}
