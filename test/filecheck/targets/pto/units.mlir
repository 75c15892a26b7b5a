// A program of several units is written unit by unit; each is a file of its own.

// RUN: pypto-opt %s -t pto | filecheck %s
// RUN: pypto-opt %s -t 'pto{unit="second"}' | filecheck %s --check-prefix SECOND
// RUN: pypto-opt %s -t pto --verify-diagnostics > %t
// RUN: pypto-opt -f pto --split-input-file -t pto < %t | filecheck %s

// CHECK:      module attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:   func.func @one() {
// CHECK-NEXT:     return
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: // -----
// CHECK-NEXT: module attributes {pto.target_arch = "a2a3"} {
// CHECK-NEXT:   func.func @two() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
// CHECK-NEXT:     return
// CHECK-NEXT:   }
// CHECK-NEXT: }

// SECOND-NOT:  @one
// SECOND:      module attributes {pto.target_arch = "a2a3"} {
// SECOND-NEXT:   func.func @two()
// SECOND-NOT:  // -----

module @first attributes {pto.target_arch = "a2a3"} {
  func.func @one() {
    func.return
  }
}
module @second attributes {pto.target_arch = "a2a3"} {
  func.func @two() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    func.return
  }
}
// What is no unit stays behind: code for the host.
func.func @host() {
  func.return
}
