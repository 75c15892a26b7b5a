// --print-ir-after-change prints the IR only after passes that changed it; the output is on
// stdout, the dumps on stderr.

// RUN: pypto-opt --canonicalize --cse --dce --print-ir-after-change %s 2>&1 | filecheck %s
// RUN: pypto-opt --canonicalize --cse --dce --print-ir-after-all %s 2>&1 | filecheck %s --check-prefix ALL
// RUN: pypto-opt --cse --print-ir-after-all --print-op-generic %s 2>&1 | filecheck %s --check-prefix GENERIC

func.func @twice(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.addi %b, %c : i32
  func.return %d : i32
}

// CHECK-NOT:  IR Dump After canonicalize
// CHECK:      // -----// IR Dump After cse //----- //
// CHECK-NEXT: builtin.module {
// CHECK-NOT:  IR Dump After dce

// ALL: IR Dump After canonicalize
// ALL: IR Dump After cse
// ALL: IR Dump After dce

// GENERIC:      IR Dump After cse
// GENERIC-NEXT: "builtin.module"() ({
