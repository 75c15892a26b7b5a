// Where the places do not come out even, results become parameters but keep their order, and a
// remark at the return says why. Callers stay as they are.

// RUN: pypto-opt --normalize-return-order --verify-each --split-input-file --verify-diagnostics %s | filecheck %s

// A-T16, R3, A1: an updated parameter that is not returned takes no place.

orch.func incore @unreturned(in %x : tensor<16xf32>, inout %kv : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %kv1 = tile.store %t, %kv[0] : !tile.tile<16xf32>, tensor<16xf32>
  %a1 = tile.store %t, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  %b1 = tile.store %t, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  // expected-remark @+1 {{'unreturned' keeps the order of its results: parameter 1 (%kv) is written, but not returned}}
  orch.return %b1, %a1 : tensor<16xf32>, tensor<16xf32>
}
orch.func orchestration @main(in %x : tensor<16xf32>, inout %kv : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = orch.call @unreturned(%x, %kv, %a, %b) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  orch.return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @unreturned(
// CHECK:         orch.return %b, %a :
// CHECK-LABEL: @main(
// CHECK:         orch.return %r, %r_1 :

// -----

// A-T31: more written parameters than results.

orch.func incore @fewer(out %a : tensor<16xf32>, out %b : tensor<16xf32>, in %s : f32) -> tensor<16xf32> {
  %b1 = ptensor.write %s, %b[0] : f32, tensor<16xf32>
  // expected-remark @+1 {{'fewer' keeps the order of its results: parameter 0 (%a) is written, but not returned}}
  orch.return %b1 : tensor<16xf32>
}

// CHECK-LABEL: @fewer(
// CHECK:         orch.return %b :

// -----

// A-T32: one parameter returned twice.

orch.func incore @twice(out %a : tensor<16xf32>, out %b : tensor<16xf32>, in %s : f32) -> (tensor<16xf32>, tensor<16xf32>) {
  %b1 = ptensor.write %s, %b[0] : f32, tensor<16xf32>
  // expected-remark @+1 {{parameter 0 (%a) is written, but not returned; parameter 1 (%b) is returned more than once, as results 0, 1}}
  orch.return %b1, %b1 : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @twice(
// CHECK:         orch.return %b, %b :

// -----

// R12: a buffer of the kernel's own, and a parameter that is only read, in the place of a written
// one.

orch.func aiv @in_the_way(in %x : tensor<16xf32>, out %a : tensor<16xf32>, out %b : tensor<16xf32>)
    -> (tensor<4xf32>, tensor<16xf32>, tensor<16xf32>) {
  %s = ptensor.create : tensor<4xf32>
  // expected-remark @+1 {{result 0 is no written parameter and stands in the place of parameter 1 (%a), which is result 2}}
  orch.return %s, %b, %a : tensor<4xf32>, tensor<16xf32>, tensor<16xf32>
}
orch.func incore @read_only(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  // expected-remark @+1 {{result 0 is no written parameter and stands in the place of parameter 1 (%a), which is result 1}}
  orch.return %x, %a : tensor<16xf32>, tensor<16xf32>
}

// CHECK-LABEL: @in_the_way(
// CHECK:         orch.return %s, %b, %a :

// -----

// A declaration that returns less than it writes is told of as well; one without results is not.

// expected-remark @+1 {{'orch.func' op 'declared' keeps the order of its results: parameter 0 is written, but not returned}}
orch.func incore @declared(out tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32> returns [1]
orch.func incore @silent(out tensor<16xf32>)

// CHECK-LABEL: @declared(

// -----

// A declaration of a kernel that returns a parameter under another type says what its body did.

// expected-remark @+1 {{result 0 is no written parameter and stands in the place of parameter 1, which is result 1; parameter 2 is written, but not returned}}
orch.func incore @narrowed(in tensor<16xf32>, out tensor<16xf32>, out tensor<16xf32>) -> (tensor<16xf32, #ptensor.view<valid = [8]>>, tensor<16xf32>) returns [2, 1]

// CHECK-LABEL: @narrowed(
// CHECK-SAME:    -> (tensor<16xf32, #ptensor.view<valid = [8]>>, tensor<16xf32>) returns [2, 1]
