// Loops that cannot be unrolled; all of them are reported.

// RUN: pypto-opt --unroll-loops --verify-diagnostics %s

orch.func opaque @main(in %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %c1025 = arith.constant 1025 : index
  // expected-error @+1 {{'scf.for' op is to be unrolled, but its bounds are not constant: make them so, or leave it a loop, by range in place of unroll}}
  scf.for %i = %c0 to %n step %c1 { } {orch.loop = #orch<loop unroll>}
  // expected-error @+1 {{is to be unrolled to 1025 copies, more than 1024: leave it a loop, or unroll a loop of fewer rounds inside}}
  scf.for %i = %c0 to %c1025 step %c1 { } {orch.loop = #orch<loop unroll>}
  // expected-error @+1 {{counts in steps of 0, but a loop counts upwards}}
  scf.for %i = %c0 to %c1 step %c0 { } {orch.loop = #orch<loop unroll>}
  // As many as are allowed.
  scf.for %i = %c0 to %c1024 step %c1 { } {orch.loop = #orch<loop unroll>}
  // With the loops inside there may be too many; what no bound tells is found on the way.
  // expected-error @+1 {{'scf.for' op is to be unrolled to more than 200000 ops, with the loops inside: leave one of them a loop}}
  scf.for %i = %c0 to %c1024 step %c1 {
    scf.for %j = %c0 to %c1024 step %c1 {
      %k = arith.addi %i, %j : index
    } {orch.loop = #orch<loop unroll>}
  } {orch.loop = #orch<loop unroll>}
  // A loop inside is told once, not for each copy.
  scf.for %i = %c0 to %c1024 step %c1 {
    // expected-error @+1 {{'scf.for' op is to be unrolled, but its bounds are not constant}}
    scf.for %j = %c0 to %n step %c1 { } {orch.loop = #orch<loop unroll>}
  } {orch.loop = #orch<loop unroll>}
  orch.return
}
