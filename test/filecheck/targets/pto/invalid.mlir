// What the assembler cannot read is an error where it stands.

// RUN: pypto-opt %s --verify-diagnostics --split-input-file -t pto | filecheck %s --allow-empty
// CHECK-NOT: {{.}}

module attributes {pto.target_arch = "a2a3"} {
  func.func @k(%x: f32, %m: memref<4xf32>) {
    // expected-error @below {{is not lowered by PTOAS; subtract the negated operand instead}}
    %0 = arith.addf %x, %x : f32
    // expected-error @below {{is no op that PTOAS reads}}
    memref.dealloc %m : memref<4xf32>
    func.return
  }
}

// -----

// A workspace that 0.57 wants.
module attributes {pto.target_arch = "a2a3"} {
  func.func @k(%a: !pto.tile_buf<vec, 32x32xf32>, %b: !pto.tile_buf<vec, 32x1xf32, blayout=col_major>) {
    // expected-error @below {{needs tmp in PTOAS 0.57}}
    pto.trowsum ins(%a : !pto.tile_buf<vec, 32x32xf32>) outs(%b : !pto.tile_buf<vec, 32x1xf32, blayout=col_major>)
    func.return
  }
}

// -----

// expected-error @below {{has no kernel to write as .pto}}
module {
}

// -----

// A program that was not lowered at all is told so once.
// expected-error @below {{'orch.func' op is not lowered to pto}}
// expected-note @below {{run 'default-pipeline' first}}
orch.func incore @k(in %x : tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  orch.return
}

// -----

// Nor is there anything to lower where no core runs anything.
// expected-error @below {{'orch.func' op is not lowered to pto}}
// expected-note @below {{nothing in this program runs on a core: what does belongs in a function of kind incore, or in an 'orch.incore' scope}}
orch.func opaque @main(in %x : tensor<16xf32>) -> tensor<16xf32> {
  %y = ptensor.add %x, %x : tensor<16xf32>
  orch.return %y : tensor<16xf32>
}
