// What has no tile form is an error at its line; the other kernels' errors are told as well.

// RUN: pypto-opt --split-input-file --verify-diagnostics --convert-tensor-to-tile-ops %s

orch.func incore @run_time_extents(in %x : tensor<?x32xf32>) -> tensor<?x32xf32> {
  // expected-error @+1 {{'ptensor.exp' op computes on a tensor<?x32xf32>, but a tile has constant extents: take a slice of constant extents, and set its valid shape}}
  %e = ptensor.exp %x : tensor<?x32xf32>
  orch.return %e : tensor<?x32xf32>
}

orch.func incore @sum(in %x : tensor<16x64xf32>, in %y : tensor<8x64xf32>) -> tensor<16x64xf32> {
  %e = ptensor.exp %x : tensor<16x64xf32>
  // expected-error @+1 {{'ptensor.assemble' op adds to a tensor on chip, but only global memory is added to so}}
  %a = ptensor.assemble %y, %e[0, 0], atomic = add : tensor<8x64xf32>, tensor<16x64xf32>
  orch.return %a : tensor<16x64xf32>
}

// -----

// A column and a row of one element each stretch along both dimensions.
orch.func incore @both_dimensions(in %x : tensor<16x32xf32>, in %y : tensor<1x1xf32>) -> tensor<16x32xf32> {
  // expected-error @+1 {{'ptensor.add' op broadcasts !tile.tile<1x1xf32> over !tile.tile<16x32xf32>, but a tile stretches along one of its two last dimensions only}}
  %e = ptensor.add %x, %y : tensor<16x32xf32>, tensor<1x1xf32>
  orch.return %e : tensor<16x32xf32>
}

// -----

orch.func incore @inner(in %x : tensor<16x32xf32>) -> tensor<16x32xf32> {
  %e = ptensor.exp %x : tensor<16x32xf32>
  orch.return %e : tensor<16x32xf32>
}
orch.func aiv @caller(in %x : tensor<16x32xf32>) -> tensor<16x32xf32> {
  // expected-error @+1 {{'orch.call' op is a call in a kernel, which cannot make the buffer of a result}}
  %e = orch.call @inner(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  orch.return %e : tensor<16x32xf32>
}

// -----

// A vector is no matrix: whether it is one row or one column is for the author to say.
orch.func incore @vector(in %x : tensor<32xf16>, in %y : tensor<32x32xf16>) -> tensor<32xf32> {
  // expected-error @+1 {{'ptensor.matmul' op multiplies a vector, but the cube core multiplies matrices: reshape it to one row}}
  %p = ptensor.matmul %x, %y, out_dtype = f32 : tensor<32xf16>, tensor<32x32xf16> -> tensor<32xf32>
  orch.return %p : tensor<32xf32>
}

// -----

// The cube core sums in f32; it rounds what it stores, and nothing else.
orch.func incore @rounded(in %x : tensor<32x32xf16>, in %y : tensor<32x32xf16>) -> tensor<32x32xf16> {
  // expected-error @+1 {{'ptensor.matmul' op gives f16, but products are summed in f32 and rounded only as they are stored: ask for out_dtype f32}}
  %p = ptensor.matmul %x, %y : tensor<32x32xf16>
  %q = ptensor.exp %p : tensor<32x32xf16>
  orch.return %q : tensor<32x32xf16>
}

// -----

orch.func incore @part(in %x : tensor<4x16xf32>, in %i : tensor<4x16xi32, #ptensor.view<valid = [4, 8]>>) -> tensor<4x16xf32> {
  // expected-error @+1 {{'ptensor.gather' op takes tensor<4x16xi32, #ptensor.view<valid = [4, 8]>>, of which only a part is valid; take a slice of that}}
  %g = ptensor.gather %x, %i : tensor<4x16xf32>, tensor<4x16xi32, #ptensor.view<valid = [4, 8]>> -> tensor<4x16xf32, #ptensor.view<valid = [4, 8]>>
  orch.return %x : tensor<4x16xf32>
}

// -----

// Flat indices of 16 bits reach no further.
orch.func incore @far(in %x : tensor<256x256xf16>, in %i : tensor<256x16xi32>, in %y : tensor<256x16xf16>) -> tensor<256x256xf16> {
  // expected-error @+1 {{'ptensor.scatter' op places elements in !tile.tile<256x256xf16>, but an i16 counts no more than 32768}}
  %g = ptensor.scatter %x, %i, %y : tensor<256x256xf16>, tensor<256x16xi32>, tensor<256x16xf16> -> tensor<256x256xf16>
  orch.return %g : tensor<256x256xf16>
}

// -----

orch.func incore @bytes(in %x : tensor<8x32xi8>, in %i : tensor<8x16xi32>, in %y : tensor<8x16xi8>) -> tensor<8x32xi8> {
  // expected-error @+1 {{'ptensor.scatter' op places elements of i8, but those of 2 or 4 bytes are placed}}
  %g = ptensor.scatter %x, %i, %y : tensor<8x32xi8>, tensor<8x16xi32>, tensor<8x16xi8> -> tensor<8x32xi8>
  orch.return %g : tensor<8x32xi8>
}

// -----

orch.func incore @part_of_transposed(in %x : tensor<16x64xf16>, in %y : tensor<16x16xf16>) -> tensor<32x16xf32> {
  // expected-note @+1 {{transposed here}}
  %t = ptensor.transpose %x : tensor<16x64xf16> -> tensor<64x16xf16, #ptensor.view<layout = dn>>
  %p = ptensor.slice %t[0, 0] : tensor<64x16xf16, #ptensor.view<layout = dn>> -> tensor<32x16xf16, #ptensor.view<layout = dn>>
  // expected-error @+1 {{'ptensor.matmul' op reads a part of a tensor that is seen transposed: transpose the part instead}}
  %e = ptensor.matmul %p, %y, out_dtype = f32 : tensor<32x16xf16, #ptensor.view<layout = dn>>, tensor<16x16xf16> -> tensor<32x16xf32>
  orch.return %e : tensor<32x16xf32>
}

// -----

orch.func incore @no_dimension(in %x : tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'ptensor.exp' op computes on a tensor<f32>, but a tile has at least one dimension}}
  %e = ptensor.exp %x : tensor<f32>
  orch.return %e : tensor<f32>
}

// -----

orch.func incore @empty(in %x : tensor<0x32xf32>) -> tensor<0x32xf32> {
  // expected-error @+1 {{'ptensor.exp' op computes on a tensor<0x32xf32>, but tile extents are positive, got 0}}
  %e = ptensor.exp %x : tensor<0x32xf32>
  orch.return %e : tensor<0x32xf32>
}
