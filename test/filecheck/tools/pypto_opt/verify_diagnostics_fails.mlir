// --verify-diagnostics fails for an error that nobody expected, and for one expected in vain.

// RUN: not pypto-opt --verify-diagnostics --split-input-file %s 2>&1 | filecheck %s

// CHECK: verify_diagnostics_fails.mlir:9:8: error: unexpected error: 'arith.addi' op is at the end
func.func @unexpected(%a: i32) {

  // The line of the error above: a file is read as a whole, whatever its parts.
  %b = arith.addi %a, %a : i32
}

// -----

// CHECK: verify_diagnostics_fails.mlir:16:6: error: expected error "never produced" was not produced
func.func @in_vain(%a: i32) {
  // expected-error @+1 {{never produced}}
  func.return
}

// -----

// The right error on the wrong line is both.
// CHECK: verify_diagnostics_fails.mlir:28:8: error: unexpected error: 'arith.addi' op is at the end
// CHECK: verify_diagnostics_fails.mlir:26:6: error: expected error "is at the end" was not produced
func.func @wrong_line(%a: i32) {
  // expected-error @+1 {{is at the end}}

  %b = arith.addi %a, %a : i32
}

// -----

// A pattern that is none.
// CHECK: verify_diagnostics_fails.mlir:36:6: error: bad regular expression in 'a{{{{[(]}}}}b':
func.func @pattern(%a: i32) {
  // expected-error-re @+1 {{a{{(}}b}}
  func.return
}
