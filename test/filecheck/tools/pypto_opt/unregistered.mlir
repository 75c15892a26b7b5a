// Ops that nobody registered may do anything: they read what they are given, are kept, and are no
// ends of blocks but where they stand there.

// RUN: pypto-opt --allow-unregistered-dialect --verify-diagnostics --split-input-file --simplify --convert-tensor-to-tile-ops %s | filecheck %s

// Each call may give another number.
// CHECK-LABEL:   orch.func orchestration @numbers(
// CHECK-NEXT:      %r = "foo.random"() : () -> index
// CHECK-NEXT:      %s = "foo.random"() : () -> index
// CHECK-NEXT:      orch.return
orch.func orchestration @numbers() {
  %r = "foo.random"() : () -> index
  %s = "foo.random"() : () -> index
  %u = arith.addi %r, %s : index
  orch.return
}

// -----

orch.func incore @k(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func orchestration @stale(in %x : tensor<16xf32>, out %o : tensor<16xf32>) -> tensor<16xf32> {
  // expected-note @+1 {{the buffer may be written here, which gives it a new name}}
  %a = orch.call @k(%x, %o) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  // expected-error @+2 {{'foo.look' op reads %o, which is older than a write}}
  // expected-note @+1 {{structural property NoStaleRead does not hold}}
  "foo.look"(%o) : (tensor<16xf32>) -> ()
  orch.return %a : tensor<16xf32>
}

// -----

orch.func incore @on_chip(in %x : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %z = ptensor.neg %x : tensor<16x64xf32>
  // expected-error @+1 {{'foo.look' op uses a computed tensor, which exists on chip only}}
  "foo.look"(%z) : (tensor<16x64xf32>) -> ()
  orch.return %z : tensor<16x64xf32>
}

// -----

orch.func incore @with_a_body(in %x : tensor<16x64xf32>) -> tensor<16x64xf32> {
  %z = ptensor.neg %x : tensor<16x64xf32>
  // expected-error @+1 {{'foo.look' op uses a computed tensor, which exists on chip only}}
  "foo.look"(%z) ({ }) : (tensor<16x64xf32>) -> ()
  orch.return %z : tensor<16x64xf32>
}

// -----

// CHECK-LABEL:   orch.func incore @beside(
// CHECK:           "foo.look"(%{{.*}}) ({
// CHECK-NEXT:      ^{{.*}}:
// CHECK-NEXT:      }) : (i32) -> i32
orch.func incore @beside(in %x : tensor<16x64xf32>, in %n : i32) -> tensor<16x64xf32> {
  %z = ptensor.neg %x : tensor<16x64xf32>
  %m = "foo.look"(%n) ({
  ^bb0:
  }) : (i32) -> i32
  orch.return %z : tensor<16x64xf32>
}
