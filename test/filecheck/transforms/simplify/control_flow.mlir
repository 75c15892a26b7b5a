// Control flow that scalars decide.

// RUN: pypto-opt --simplify --split-input-file %s | filecheck %s
// RUN: pypto-opt --simplify --simplify --split-input-file %s | filecheck %s

// The arm that is taken; an if without that arm goes; a branch inside asks again what the one
// around it asked.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func orchestration @main(
// CHECK-NOT:       scf.if %always
// CHECK:           orch.call @use(%x)
// CHECK-NEXT:      %c = arith.cmpi slt, %n,
// CHECK-NEXT:      scf.if %c {
// CHECK-NEXT:        orch.call @use(%x)
// CHECK-NEXT:      } else {
// CHECK-NEXT:        orch.call @use(%y)
// CHECK-NEXT:      }
// CHECK-NEXT:      orch.return
orch.func incore @use(in f32)
orch.func orchestration @main(in %x : f32, in %y : f32, in %n : index) {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %always = arith.cmpi slt, %c3, %c4 : index
  %never = arith.cmpi sgt, %c3, %c4 : index
  %v = scf.if %always -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  orch.call @use(%v) : (f32) -> ()
  scf.if %never {
    orch.call @use(%y) : (f32) -> ()
  }
  %c = arith.cmpi slt, %n, %c4 : index
  scf.if %c {
    %d = arith.cmpi slt, %n, %c5 : index
    scf.if %d {
      orch.call @use(%x) : (f32) -> ()
    }
  } else {
    %d = arith.cmpi slt, %n, %c4 : index
    scf.if %d {
      orch.call @use(%x) : (f32) -> ()
    }
    orch.call @use(%y) : (f32) -> ()
  }
  orch.return
}

// -----

// Outside the branch the condition is open again.
// CHECK-LABEL: builtin.module
// CHECK:         %d = arith.cmpi slt, %n
// CHECK-NEXT:    scf.if %d {
orch.func incore @use(in i1)
orch.func orchestration @main(in %n : index, in %m : index) {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c = arith.cmpi slt, %n, %c4 : index
  scf.if %c {
    %e = arith.cmpi slt, %n, %c5 : index
    orch.call @use(%e) : (i1) -> ()
  }
  %d = arith.cmpi slt, %n, %c5 : index
  scf.if %d {
    orch.call @use(%d) : (i1) -> ()
  }
  orch.return
}

// -----

// No round, one round; a loop of another kind stays with one round.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func orchestration @main(
// CHECK:           orch.call @use(%x, [[FOUR:%.*]])
// CHECK-NEXT:      %s = arith.addf %x, %x
// CHECK:           scf.for %k = {{.*}} {
// CHECK-NEXT:        orch.call @use(%s, %k)
// CHECK-NEXT:      } {orch.loop = #orch<loop parallel>}
// CHECK-NEXT:      orch.return %x, %s
orch.func incore @use(in f32, in index)
orch.func orchestration @main(in %x : f32) -> (f32, f32) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c5 to %c4 step %c1 iter_args(%a = %x) -> (f32) {
    %b = arith.addf %a, %a : f32
    scf.yield %b : f32
  }
  %t = scf.for %j = %c4 to %c5 step %c1 iter_args(%a = %r) -> (f32) {
    orch.call @use(%a, %j) : (f32, index) -> ()
    %s = arith.addf %a, %a : f32
    scf.yield %s : f32
  }
  scf.for %k = %c4 to %c5 step %c1 {
    orch.call @use(%t, %k) : (f32, index) -> ()
  } {orch.loop = #orch<loop parallel>}
  orch.return %r, %t : f32, f32
}

// -----

// What is handed on to no use: results of a branch, one that both arms yield alike; what a loop
// carries for itself, or as it came. %sum is used.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func orchestration @main(
// CHECK:           %p = scf.if %c -> (f32) {
// CHECK-NEXT:        scf.yield %y : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %x : f32
// CHECK-NEXT:      }
// CHECK:           %sum = scf.for %i = {{.*}} iter_args(%s = %x) -> (f32) {
// CHECK-NEXT:        %s1 = arith.addf %s, %y
// CHECK-NEXT:        scf.yield %s1
// CHECK-NEXT:      }
// CHECK-NEXT:      orch.return %p, %x, %sum, %y
orch.func orchestration @main(in %x : f32, in %y : f32, in %c : i1, in %n : index) -> (f32, f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %u, %p, %q = scf.if %c -> (index, f32, f32) {
    scf.yield %c1, %y, %x : index, f32, f32
  } else {
    scf.yield %c0, %x, %x : index, f32, f32
  }
  %count, %sum, %same, %w = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0, %s = %x, %z = %y, %l = %c0) -> (index, f32, f32, index) {
    %s1 = arith.addf %s, %z : f32
    scf.yield %l, %s1, %z, %k : index, f32, f32, index
  }
  orch.return %p, %q, %sum, %same : f32, f32, f32, f32
}
