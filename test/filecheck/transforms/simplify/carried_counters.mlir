// What is known of loops that stop early, and of the extents of new tensors.

// RUN: pypto-opt --simplify %s | filecheck %s
// RUN: pypto-opt --simplify --simplify %s | filecheck %s

// A counter that starts at 0 and never falls is not negative, and so below 4 it is nothing of 4.
// CHECK-LABEL:   orch.func opaque @counts(
// CHECK:           scf.while
// CHECK-NOT:         arith.floordivsi
// CHECK:             %q = arith.constant 0 : index
// CHECK-NEXT:        ptensor.write %q, %
orch.func opaque @counts(in %out : tensor<8xindex>, in %stop : i1) {
  %zero = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %i = scf.while (%a = %zero) : (index) -> index {
    %more = arith.cmpi slt, %a, %c8 : index
    scf.condition(%more) %a : index
  } do {
  ^bb0(%b : index):
    %small = arith.cmpi slt, %b, %c4 : index
    scf.if %small {
      %q = arith.floordivsi %b, %c4 : index
      %w = ptensor.write %q, %out[%b] : index, tensor<8xindex>
    }
    %next = scf.if %stop -> (index) {
      scf.yield %b : index
    } else {
      %n = arith.addi %b, %c1 : index
      scf.yield %n : index
    }
    scf.yield %next : index
  }
  orch.return
}

// One that may fall is not known.
// CHECK-LABEL:   orch.func opaque @falls(
// CHECK:             arith.floordivsi
orch.func opaque @falls(in %out : tensor<8xindex>) {
  %zero = arith.constant 0 : index
  %less = arith.constant -1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %i = scf.while (%a = %zero) : (index) -> index {
    %more = arith.cmpi slt, %a, %c8 : index
    scf.condition(%more) %a : index
  } do {
  ^bb0(%b : index):
    %small = arith.cmpi slt, %b, %c4 : index
    scf.if %small {
      %q = arith.floordivsi %b, %c4 : index
      %w = ptensor.write %q, %out[0] : index, tensor<8xindex>
    }
    %next = arith.addi %b, %less : index
    scf.yield %next : index
  }
  orch.return
}

// The type of a new tensor says what is constant; who knew it under another one still does.
// CHECK-LABEL:   orch.func opaque @creates(
// CHECK:           %a = ptensor.create : tensor<1x8xf32>
// CHECK-NEXT:      %b = ptensor.create sizes = [8, %n] : tensor<8x?xf32>
// CHECK-NEXT:      %b_1 = ptensor.type_cast %b : tensor<8x?xf32> -> tensor<?x?xf32>
// CHECK-NEXT:      orch.return %b_1 : tensor<?x?xf32>
orch.func opaque @creates(in %n : index) -> tensor<?x?xf32> {
  %c8 = arith.constant 8 : index
  %a = ptensor.create sizes = [1, %c8] : tensor<1x?xf32>
  %b = ptensor.create sizes = [%c8, %n] : tensor<?x?xf32>
  orch.return %b : tensor<?x?xf32>
}
