// Ops get the position of their name, unless they carry a location; `loc(#a)` may stand before
// the definition of the alias.

// RUN: pypto-opt --print-debuginfo %s | filecheck %s
// RUN: pypto-opt --print-debuginfo --split-input-file %s | filecheck %s
// RUN: pypto-opt --print-debuginfo %s | pypto-opt --print-debuginfo | filecheck %s

// CHECK:      func.func @f(%a: i32 loc("{{.*}}locations.mlir":9:14))
func.func @f(%a: i32) {
  func.return
}
func.func @g(%a: i32) {
  // CHECK: %b = arith.addi %a, %a : i32 loc("{{.*}}locations.mlir":14:8)
  %b = arith.addi %a, %a : i32
  // CHECK: %c = arith.addi %a, %a : i32 loc("kernel.py":3:7)
  %c = arith.addi %a, %a : i32 loc("kernel.py":3:7)
  // CHECK: %d = arith.addi %a, %a : i32 loc("inner"("kernel.py":5:6))
  %d = arith.addi %a, %a : i32 loc(#loc1)
  // CHECK: %e = arith.addi %a, %a : i32 loc("kernel.py":5:6)
  %e = arith.addi %a, %a : i32 loc(#loc)
  func.return
}
// CHECK: orch.func opaque @h(in %x: i32 loc("kernel.py":7:8), in %y: i32 loc("{{.*}}locations.mlir":24:57))
orch.func opaque @h(in %x: i32 loc("kernel.py":7:8), in %y: i32) {
  orch.return
}

#loc = loc("kernel.py":5:6)
#loc1 = loc("inner"(#loc))
