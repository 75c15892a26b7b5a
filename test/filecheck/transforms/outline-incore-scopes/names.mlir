// The names of kernels.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s

// E-T54, E-T55: the name that the user gives; the number counts the scope all the same.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @fused_add(
// CHECK:       orch.func incore @main_incore_1(
// CHECK:       orch.func incore @last(
// CHECK:       orch.func incore @main_incore_3(
orch.func opaque @main(in %x : tensor<64xf32>) {
  orch.incore "fused_add" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore "last" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}

// -----

// E-T56: the second scope of a name in one function gets a number, the first that is free.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @k_0(
// CHECK:       orch.func incore @k(
// CHECK:       orch.func incore @k_1(
// CHECK:       orch.func incore @k_2(
orch.func incore @k_0(in %x : tensor<64xf32>) { orch.return }
orch.func opaque @main(in %x : tensor<64xf32>) {
  orch.incore "k" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore "k" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore "k" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}

// -----

// E-T57, O4 (#1711): a name that another function has, or has given, is put under the parent's.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @dup_scope(
// CHECK:       orch.func orchestration @single_a(
// CHECK:         orch.call @dup_scope(
// CHECK:       orch.func incore @single_b_dup_scope(
// CHECK:       orch.func incore @single_b_single_a(
// CHECK:       orch.func incore @single_b_dup_scope_0(
// CHECK:       orch.func incore @single_b_single_b_incore_3(
// CHECK:       orch.func orchestration @single_b(
// CHECK-NEXT:    orch.call @single_b_dup_scope(
// CHECK-NEXT:    orch.call @single_b_single_a(
// CHECK-NEXT:    orch.call @single_b_dup_scope_0(
// CHECK-NEXT:    orch.call @single_b_single_b_incore_3(
orch.func opaque @single_a(in %x : tensor<64xf32>) {
  orch.incore "dup_scope" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
orch.func opaque @single_b(in %x : tensor<64xf32>) {
  orch.incore "dup_scope" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore "single_a" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore "dup_scope" { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.incore { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
orch.func incore @single_b_incore_3(in %x : tensor<64xf32>) { orch.return }
