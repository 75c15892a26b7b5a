// The order of what comes back.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s

// E-S17: each output is written back to a parameter of its own: in the order of the parameters,
// whichever is stored first. The caller's names follow.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, inout %a: tensor<64xf32>, out %b: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
// CHECK:         orch.return %a, %b : tensor<64xf32>, tensor<64xf32>
// CHECK:         %q, %p = orch.call @main_incore_0(%x, %a, %b)
// CHECK-NEXT:    orch.return %p, %q
orch.func opaque @main(in %x : tensor<64xf32>, inout %a : tensor<64xf32>, out %b : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %p, %q = orch.incore -> (tensor<64xf32>, tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %u = tile.load %a[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %b1 = tile.store %u, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
    %a1 = tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %b1, %a1 : tensor<64xf32>, tensor<64xf32>
  }
  orch.return %p, %q : tensor<64xf32>, tensor<64xf32>
}

// -----

// E-S18: one of them is the kernel's own: in the order of the definitions, where a written tensor
// stands at its first store: %b, %own, %a.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, inout %a: tensor<64xf32>, out %b: tensor<64xf32>)
// CHECK:         orch.return %b, %own, %a : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
// CHECK:         %q, %r, %p = orch.call @main_incore_0(%x, %a, %b)
// CHECK-NEXT:    orch.return %p, %q, %r
orch.func opaque @main(in %x : tensor<64xf32>, inout %a : tensor<64xf32>, out %b : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %p, %q, %r = orch.incore -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %u = tile.load %a[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %b1 = tile.store %u, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
    %own = ptensor.add %x, %x : tensor<64xf32>
    %a1 = tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
    %b2 = tile.store %t, %b1[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %a1, %b2, %own : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  orch.return %p, %q, %r : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// E-S19: two outputs are the same parameter: in the order of the definitions, %b1, %a, %b2.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(out %b: tensor<64xf32>, in %x: tensor<64xf32>, out %a: tensor<64xf32>)
// CHECK:         orch.return %b, %a, %b : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
// CHECK:         %q, %p, %r = orch.call @main_incore_0(%b, %x, %a)
orch.func opaque @main(in %x : tensor<64xf32>, out %a : tensor<64xf32>, out %b : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %p, %q, %r = orch.incore -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %b1 = ptensor.assemble %x, %b[0] : tensor<64xf32>, tensor<64xf32>
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %a1 = tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
    %b2 = ptensor.assemble %x, %b1[0] : tensor<64xf32>, tensor<64xf32>
    orch.yield %a1, %b1, %b2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  orch.return %p, %q, %r : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Stores to one tensor are one output, whichever of their results is used.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, out %b: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:         %p = orch.call @main_incore_0(%x, %b)
// CHECK-NEXT:    orch.return %p, %p
orch.func opaque @main(in %x : tensor<64xf32>, out %b : tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>) {
  %p, %q = orch.incore -> (tensor<64xf32>, tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %b1 = tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
    %b2 = tile.store %t, %b1[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %b1, %b2 : tensor<64xf32>, tensor<64xf32>
  }
  orch.return %p, %q : tensor<64xf32>, tensor<64xf32>
}

// -----

// E-S20: an if whose arms write the same tensor is that parameter, and the order is theirs.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, in %c: i1, out %a: tensor<64xf32>, out %b: tensor<64xf32>)
// CHECK:         orch.return %a, %b : tensor<64xf32>, tensor<64xf32>
// CHECK:         %q, %p = orch.call
// CHECK-NEXT:    orch.return %p, %q
orch.func opaque @main(in %x : tensor<64xf32>, out %a : tensor<64xf32>, out %b : tensor<64xf32>,
                       in %c : i1) -> (tensor<64xf32>, tensor<64xf32>) {
  %p, %q = orch.incore -> (tensor<64xf32>, tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %a1, %b1 = scf.if %c -> (tensor<64xf32>, tensor<64xf32>) {
      %a2 = tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
      scf.yield %a2, %b : tensor<64xf32>, tensor<64xf32>
    } else {
      %b2 = tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
      scf.yield %a, %b2 : tensor<64xf32>, tensor<64xf32>
    }
    orch.yield %b1, %a1 : tensor<64xf32>, tensor<64xf32>
  }
  orch.return %p, %q : tensor<64xf32>, tensor<64xf32>
}

// -----

// E-S20: arms that disagree are no parameter's: the values of the if come back, and both tensors,
// which are written. Each store comes before the if is done.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, in %c: i1, out %a: tensor<64xf32>, out %b: tensor<64xf32>)
// CHECK:         [[P:%.*]], [[Q:%.*]] = scf.if %c
// CHECK:         orch.return [[P]], [[Q]], %a, %b :
orch.func opaque @main(in %x : tensor<64xf32>, out %a : tensor<64xf32>, out %b : tensor<64xf32>,
                       in %c : i1) -> (tensor<64xf32>, tensor<64xf32>) {
  %p, %q = orch.incore -> (tensor<64xf32>, tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %p1, %q1 = scf.if %c -> (tensor<64xf32>, tensor<64xf32>) {
      %a2 = tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
      scf.yield %a2, %b : tensor<64xf32>, tensor<64xf32>
    } else {
      %b2 = tile.store %t, %b[0] : !tile.tile<64xf32>, tensor<64xf32>
      scf.yield %b2, %a : tensor<64xf32>, tensor<64xf32>
    }
    orch.yield %p1, %q1 : tensor<64xf32>, tensor<64xf32>
  }
  orch.return %p, %q : tensor<64xf32>, tensor<64xf32>
}

// -----

// A narrower valid shape of a parameter is not the parameter: it comes back as it is, and so does
// the written tensor.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, inout %a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32, #ptensor.view<valid = [32]>>) {
// CHECK:         orch.return %a, %v :
orch.func opaque @main(in %x : tensor<64xf32>, inout %a : tensor<64xf32>)
    -> tensor<64xf32, #ptensor.view<valid = [32]>> {
  %p = orch.incore -> (tensor<64xf32, #ptensor.view<valid = [32]>>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %a1 = tile.store %t, %a[0] : !tile.tile<64xf32>, tensor<64xf32>
    %v = ptensor.set_validshape %a1, valid = [32] : tensor<64xf32> -> tensor<64xf32, #ptensor.view<valid = [32]>>
    orch.yield %v : tensor<64xf32, #ptensor.view<valid = [32]>>
  }
  orch.return %p : tensor<64xf32, #ptensor.view<valid = [32]>>
}
