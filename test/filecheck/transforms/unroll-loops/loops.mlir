// Loops that are to be unrolled become copies of their bodies.

// RUN: pypto-opt --unroll-loops --split-input-file %s | filecheck %s
// RUN: pypto-opt --unroll-loops --unroll-loops --split-input-file %s | filecheck %s

// Each copy has its number, and starts from what the one before yielded.
// CHECK-LABEL: builtin.module
// CHECK:         %step = arith.constant 2 : index
// CHECK-NEXT:    [[I:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[A:%.*]] = ptensor.assemble %p, %x{{\[}}[[I]]]
// CHECK-NEXT:    [[J:%.*]] = arith.constant 3 : index
// CHECK-NEXT:    [[B:%.*]] = ptensor.assemble %p, [[A]]{{\[}}[[J]]]
// CHECK-NEXT:    orch.return [[B]]
orch.func opaque @main(in %p : tensor<4xf32>, inout %x : tensor<64xf32>) -> tensor<64xf32> {
  %from = arith.constant 1 : index
  %to = arith.constant 4 : index
  %step = arith.constant 2 : index
  %r = scf.for %i = %from to %to step %step iter_args(%a = %x) -> (tensor<64xf32>) {
    %b = ptensor.assemble %p, %a[%i] : tensor<4xf32>, tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  } {orch.loop = #orch<loop unroll>}
  orch.return %r : tensor<64xf32>
}

// -----

// No round at all: what the loop starts from. Values that go round exchange places.
// CHECK-LABEL: builtin.module
// CHECK-NOT:     scf.for
// CHECK:         orch.return %x, %y, %x
orch.func opaque @main(in %x : f32, in %y : f32) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c3 to %c0 step %c1 iter_args(%a = %x) -> (f32) {
    scf.yield %y : f32
  } {orch.loop = #orch<loop unroll>}
  %s:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (f32, f32) {
    scf.yield %b, %a : f32, f32
  } {orch.loop = #orch<loop unroll>}
  %t:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %s#1, %b = %s#0) -> (f32, f32) {
    scf.yield %b, %a : f32, f32
  } {orch.loop = #orch<loop unroll>}
  orch.return %r, %s#0, %t#1 : f32, f32, f32
}

// -----

// Loops in loops: of the other kinds they are copied, to be unrolled they are, with a bound that
// the outer loop counts.
// CHECK-LABEL: builtin.module
// CHECK:         orch.func opaque @main(
// CHECK:         scf.for %k = %c0 to %c2 step %c1 {
// CHECK-COUNT-3:   ptensor.write
// CHECK-NOT:       ptensor.write
// CHECK:         }
// CHECK-NEXT:    orch.return
orch.func opaque @main(inout %x : tensor<64xf32>, in %v : f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %k = %c0 to %c2 step %c1 {
    scf.for %i = %c1 to %c3 step %c1 {
      scf.for %j = %c0 to %i step %c1 {
        %y = ptensor.write %v, %x[%j] : f32, tensor<64xf32>
      } {orch.loop = #orch<loop unroll>}
    } {orch.loop = #orch<loop unroll>}
  }
  orch.return
}
