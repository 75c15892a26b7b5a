// Passes are flags, and run in the order written, together with those after `-p`.

// RUN: pypto-opt --cse --canonicalize %s --print-ir-before-all 2>&1 | filecheck %s --check-prefix CSE-FIRST
// RUN: pypto-opt --canonicalize -p cse,dce --cse --print-ir-before-all %s 2>&1 \
// RUN:   | filecheck %s --check-prefix CSE-LAST
// RUN: pypto-opt --cse %s | filecheck %s
// RUN: pypto-opt --cse - < %s | filecheck %s
// RUN: pypto-opt --cse < %s | filecheck %s
// RUN: pypto-opt --cse %s -o %t | filecheck %s --allow-empty --check-prefix EMPTY
// RUN: filecheck %s --input-file %t

func.func @twice(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.addi %b, %c : i32
  func.return %d : i32
}

// CHECK:      func.func @twice(%a: i32) -> i32 {
// CHECK-NEXT:   %b = arith.addi %a, %a : i32
// CHECK-NEXT:   %d = arith.addi %b, %b : i32
// CHECK-NEXT:   func.return %d : i32

// CSE-FIRST: IR Dump Before cse
// CSE-FIRST: IR Dump Before canonicalize

// CSE-LAST: IR Dump Before canonicalize
// CSE-LAST: IR Dump Before cse
// CSE-LAST: IR Dump Before dce
// CSE-LAST: IR Dump Before cse

// EMPTY-NOT: func.func
