// ArrayNotEscaped: no function has an array as parameter or result.

// RUN: pypto-opt --verify-property=ArrayNotEscaped --split-input-file --verify-diagnostics %s

// Inside a function, and through inline ones, which have no stack of their own.
orch.func orchestration @main(in %i : index) {
  %a = orch.array.create : !orch.array<4xi32>
  %v = orch.array.get_element %a[%i] : !orch.array<4xi32>
  orch.return
}
orch.func inline @helper(in %a : !orch.array<4xi32>) -> !orch.array<4xi32> {
  orch.return %a : !orch.array<4xi32>
}

// -----

// expected-error @+2 {{'orch.func' op parameter #1 of 'f' is an array (!orch.array<4xi32>), which stays on the stack of one function: pass its elements one by one, or a tensor}}
// expected-error @+1 {{result #0 of 'f' is an array (!orch.array<4xi32>)}}
orch.func opaque @f(in %x : index, in %a : !orch.array<4xi32>) -> !orch.array<4xi32> {
  orch.return %a : !orch.array<4xi32>
}
