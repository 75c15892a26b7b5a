// --verify-diagnostics: what is wrong with each part is said, with MLIR's comments, in the part.

// RUN: pypto-opt --verify-diagnostics --split-input-file %s | filecheck %s

// Only the valid part is printed.
// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @valid() {
// CHECK-NOT:  func.func

func.func @valid() {
  func.return
}

// -----

// SSA dominance, with where the value is defined.
func.func @use_before_definition(%a: i32) {
  // expected-error @+1 {{'arith.addi' op operand #0 (%c) does not dominate this use}}
  %b = arith.addi %c, %a : i32
  %c = arith.addi %a, %a : i32 // expected-note {{the value is defined here}}
  // All errors of a part are reported, not only the first.
  %d = arith.addi %e, %a : i32 // expected-error {{operand #0 (%e) does not dominate}}
  // expected-note @below {{the value is defined here}}
  %e = arith.addi %a, %a : i32
  func.return
}

// -----

// A value of another function is not visible, however far up it stands.
func.func @one(%a: i32) {
  func.return
}
func.func @other() {
  %b = arith.addi %c, %c : i32
  // expected-error @above {{operand #0 (%c) does not dominate this use}}
  // expected-error @above {{operand #1 (%c) does not dominate this use}}
  func.return
}
func.func @third(%a: i32) {
  %c = arith.addi %a, %a : i32
  func.return
}

// -----

// Values that are never defined are all reported, where they are first used.
func.func @undefined(%a: i32) {
  // expected-error @+2 {{use of undefined value '%x'}}
  // expected-error @+1 {{use of undefined value '%y'}}
  %b = arith.addi %x, %y : i32
  %c = arith.addi %x, %a : i32
  func.return
}

// -----

// expected-note @+1 {{'@f' is first defined here}}
func.func @f() {
  func.return
}
// expected-error @+1 {{'func.func' op redefines symbol '@f'}}
func.func @f() {
  func.return
}

// -----

// A syntax error.
func.func @syntax(%a: i32) {
  // expected-error @+1 {{Expected ':'}}
  %b = arith.addi %a, %a
  func.return
}

// -----

// A type error, found while parsing.
func.func @type(%a: i32, %b: i64) {
  // expected-error @+1 {{operand is used with type i32, but has been previously used or defined with type i64}}
  %c = arith.addi %a, %b : i32
  func.return
}

// -----

// A type error, found by a constraint, which knows no place of its own.
func.func @constraint(%a: f32) {
  // expected-error @+1 {{Unexpected attribute f32}}
  %c = arith.addi %a, %a : f32
  func.return
}

// -----

// A block without a terminator.
func.func @terminator(%a: i32) {
  // expected-error @+1 {{'arith.addi' op is at the end of a block, but is not a terminator}}
  %c = arith.addi %a, %a : i32
}

// -----

%c = arith.constant true
// expected-error @+1 {{'scf.if' op has an empty block, without a terminator}}
"scf.if"(%c) ({ ^bb0: }, {}) : (i1) -> ()

// -----

func.func @regular_expression(%a: i32) {
  // expected-error-re @+1 {{operand #{{[0-9]+}} (%{{.*}}) does not dominate}}
  %b = arith.addi %c, %a : i32
  %c = arith.addi %a, %a : i32
  func.return
}

// -----

// expected-error @unknown {{is at the end of a block}}
// expected-error @+1 {{is at the end of a block}}
func.func @f(%a: i32) { %c = arith.addi %a, %a : i32 }
func.func @g(%a: i32) { %c = arith.addi %a, %a : i32 loc(unknown) }
