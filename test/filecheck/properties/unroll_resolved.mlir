// UnrollResolved: no loop is left that says it is to be unrolled.

// RUN: pypto-opt --verify-property=UnrollResolved --split-input-file --verify-diagnostics %s

// Accepted: loops of every other kind.

orch.func orchestration @others(in %n: index) {
  scf.for %i = %n to %n step %n {
    scf.for %j = %n to %n step %n {
    } {orch.loop = #orch<loop parallel>}
    scf.for %j = %n to %n step %n {
    } {orch.loop = #orch<loop pipeline>, orch.stages = 2 : i64}
  }
  orch.return
}

// -----

orch.func aiv @nested(in %n: index, in %c: i1) {
  scf.if %c {
    // expected-error @+1 {{'scf.for' op should have been unrolled}}
    scf.for %i = %n to %n step %n {
      // expected-error @+1 {{'scf.for' op should have been unrolled}}
      scf.for %j = %n to %n step %n {
      } {orch.loop = #orch<loop unroll>}
    } {orch.loop = #orch<loop unroll>}
  }
  orch.return
}
