// A misspelt op, type or attribute gets a suggestion, at its place.

// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// expected-error @+2 {{unknown op 'arith.adi'; did you mean 'arith.a}}
func.func @op(%a: i32) {
  %b = arith.adi %a, %a : i32
  func.return
}

// -----

func.func @op_of_enclosing_dialect(%a: i32) {
  // expected-error @+1 {{unknown op 'retrun'; did you mean 'return'?}}
  retrun
}

// -----

func.func @dialect(%a: i32) {
  // expected-error @+1 {{unknown op 'arit.addi'; did you mean 'arith.addi'?}}
  %b = arit.addi %a, %a : i32
  func.return
}

// -----

// expected-error @+1 {{unknown op '_'}}
_

// -----

// expected-error @+1 {{unknown type '!llvm.struc'; did you mean '!llvm.struct'?}}
func.func @type(%a: !llvm.struc<(i32)>) {
  func.return
}

// -----

// expected-error @+1 {{unknown attribute '#llvm.linkag'; did you mean '#llvm.linkage'?}}
func.func @attribute() attributes {a = #llvm.linkag<"internal">} {
  func.return
}

// -----

func.func @unknown_property(%a: i32) {
  // expected-error @+1 {{'arith.addi' op has no property 'overflowFlag'; did you mean 'overflowFlags'?}}
  %b = "arith.addi"(%a, %a) <{overflowFlag = #arith.overflow<none>}> : (i32, i32) -> i32
  func.return
}

// -----

func.func @missing_property() {
  // expected-error @+1 {{'arith.constant' op lacks property 'value'; is 'valeu' a misspelling?}}
  %a = "arith.constant"() {valeu = 1 : i32} : () -> i32
  func.return
}

// -----

// expected-error @+1 {{undefined symbol alias '!t'}}
func.func @alias(%a: !t) {
  func.return
}
