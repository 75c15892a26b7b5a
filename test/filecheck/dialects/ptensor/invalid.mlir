// Each way in which an op on tensors is wrong, with what was found and what was wanted.

// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// The encoding has one spelling for each meaning.

// expected-error @+1 {{a trivial view of a tensor is spelled by leaving it out}}
"test.op"() : () -> tensor<16xf32, #ptensor.view<>>

// -----

// expected-error @+1 {{layout nd is spelled by leaving it out}}
"test.op"() : () -> tensor<16x16xf32, #ptensor.view<layout = nd>>

// -----

// expected-error @+1 {{unknown word 'layuot' in a tensor view; expected dims, valid, strides, layout or pad}}
"test.op"() : () -> tensor<16x16xf32, #ptensor.view<layuot = dn>>

// -----

orch.func orchestration @encodings(in %x : tensor<16x64xf32>) {
  // expected-error @+1 {{valid names 1 dimensions, the tensor has 2}}
  %0 = ptensor.create : tensor<16x64xf32, #ptensor.view<valid = [8]>>
  // expected-error @+1 {{a valid extent of 20 lies outside 0..16}}
  %1 = ptensor.create : tensor<16x64xf32, #ptensor.view<valid = [20, 64]>>
  // expected-error @+1 {{packed strides are spelled by leaving them out}}
  %2 = ptensor.create : tensor<16x64xf32, #ptensor.view<strides = [64, 1]>>
  // expected-error @+1 {{symbol N names a dimension of 16, expected ?}}
  %3 = ptensor.create : tensor<16x64xf32, #ptensor.view<dims = [N, _]>>
  // expected-error @+1 {{a valid region equal to the shape is spelled by leaving it out}}
  %4 = ptensor.create : tensor<16x64xf32, #ptensor.view<valid = [16, 64]>>
  orch.return
}

// -----

orch.func orchestration @elementwise(in %x : tensor<16x64xf32>, in %y : tensor<16x48xf32>, in %m : tensor<?x64xf32, #ptensor.view<dims = [M, _]>>, in %n : tensor<?x64xf32, #ptensor.view<dims = [N, _]>>) {
  // expected-error @+1 {{'ptensor.add' op shapes [16, 64] and [16, 48] do not broadcast}}
  %0 = ptensor.add %x, %y : tensor<16x64xf32>, tensor<16x48xf32> -> tensor<16x64xf32>
  // Two extents are equal if they have the same symbol, and not otherwise.
  // expected-error @+1 {{shapes ['M', 64] and ['N', 64] do not broadcast}}
  %1 = ptensor.add %m, %n : tensor<?x64xf32, #ptensor.view<dims = [M, _]>>, tensor<?x64xf32, #ptensor.view<dims = [N, _]>> -> tensor<?x64xf32, #ptensor.view<dims = [M, _]>>
  // expected-error @+1 {{'ptensor.and' op expected integers, got f32}}
  %2 = ptensor.and %x, %x : tensor<16x64xf32>
  // expected-error @+1 {{a cast from f32 to itself changes nothing}}
  %3 = ptensor.cast %x, target_type = f32 : tensor<16x64xf32>
  // expected-error @+1 {{result 0 should be tensor<16x64xf32>, got tensor<16x64xf16>}}
  %4 = ptensor.exp %x : tensor<16x64xf32> -> tensor<16x64xf16>
  // expected-error @+1 {{vector should end in the extents [16, 1], got tensor<16x48xf32>}}
  %5 = ptensor.row_expand_mul %x, %y : tensor<16x64xf32>, tensor<16x48xf32>
  orch.return
}

// -----

orch.func orchestration @memory(in %x : tensor<16x64xf32>, inout %y : tensor<16x64xf32>, in %n : index, in %k : f32) {
  // expected-error @+1 {{run-time extents need `sizes = [...]`}}
  %0 = ptensor.create : tensor<?x64xf32>
  // expected-error @+1 {{a window of 16 at 8 lies outside an extent of 16 of the tensor}}
  %1 = ptensor.slice %x[8, 0] : tensor<16x64xf32> -> tensor<16x64xf32>
  // expected-error @+1 {{a tensor of 1024 elements does not reshape to 512}}
  %2 = ptensor.reshape %x : tensor<16x64xf32> -> tensor<512xf32>
  // expected-error @+1 {{a type cast keeps extents, 16 is not 8}}
  %3 = ptensor.type_cast %x : tensor<16x64xf32> -> tensor<8x64xf32>
  // expected-error @+1 {{result should be tensor<16x64xf32>, got tensor<16x64xf32, #ptensor.view<valid = [8, 64]>>}}
  %updated = ptensor.updated %x, %y : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<valid = [8, 64]>>
  // expected-error @+1 {{axis 2 of a tensor of 2 dimensions}}
  %4 = ptensor.dim %x, axis = 2 : tensor<16x64xf32> -> index
  %5 = ptensor.create : tensor<16x64xi32>
  // expected-error @+1 {{source should hold f32, got i32}}
  %6 = ptensor.assemble %5, %y[0, 0] : tensor<16x64xi32>, tensor<16x64xf32>
  // expected-error @+1 {{a window of 1 at 64 lies outside an extent of 64 of the tensor}}
  %7 = ptensor.read %x[0, 64] : tensor<16x64xf32> -> f32
  // expected-error @+1 {{a buffer on chip has constant extents}}
  %8 = ptensor.create_l1 : tensor<?x64xf32>
  orch.return
}

// -----

orch.func orchestration @views(in %x : tensor<16x64xf32>, in %z : tensor<16x64xf32, #ptensor.view<layout = nz>>) {
  // expected-error @+1 {{two axes of 2 are swapped, got 1 and 1}}
  %0 = ptensor.transpose %x, axis1 = 1 : tensor<16x64xf32>
  // expected-error @+1 {{result 0 should be tensor<64x16xf32, #ptensor.view<layout = dn>>, got tensor<64x16xf32>}}
  %1 = ptensor.transpose %x : tensor<16x64xf32> -> tensor<64x16xf32>
  // expected-error @+1 {{a tensor in blocks has no transposed view}}
  %2 = ptensor.transpose %z : tensor<16x64xf32, #ptensor.view<layout = nz>> -> tensor<64x16xf32>
  // expected-error @+1 {{a tensor is not seen in blocks by a view}}
  %3 = ptensor.view %x : tensor<16x64xf32> -> tensor<16x64xf32, #ptensor.view<layout = nz>>
  // expected-error @+1 {{a tensor of 4096 bytes is none of 2048}}
  %4 = ptensor.reinterpret_view %x : tensor<16x64xf32> -> tensor<16x64xi16>
  orch.return
}

// -----

orch.func orchestration @products(in %a : tensor<16x64xf16>, in %b : tensor<32x64xf16>, in %acc : tensor<16x16xf32>) {
  // expected-error @+1 {{the columns of lhs should be the rows of rhs, got 64 and 32}}
  %0 = ptensor.matmul %a, %b : tensor<16x64xf16>, tensor<32x64xf16> -> tensor<16x64xf16>
  // expected-error @+1 {{acc should have the extents [16, 32], got tensor<16x16xf32>}}
  %1 = ptensor.matmul_acc %acc, %a, %b, b_trans = true : tensor<16x16xf32>, tensor<16x64xf16>, tensor<32x64xf16>
  orch.return
}

// -----

orch.func orchestration @selection(in %x : tensor<16x64xf32>, in %u : tensor<16x64xui16>, in %k : f32, in %w : ui16, in %i : tensor<16x8xi32>, in %f : tensor<8x8xi32>) {
  // D-T12.
  // expected-error @+1 {{input dtype should be one of f16, f32, i16, i32, got ui16}}
  %0, %1 = ptensor.gather_compare %u, %w, cmp_mode = eq, out_cols = 8 : tensor<16x64xui16>, ui16 -> tensor<16x8xi32>, tensor<1x16xi32>
  // expected-error @+1 {{axis 2 of a tensor of 2 dimensions}}
  %4 = ptensor.gather %x, %i, dim = 2 : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
  // expected-error @+1 {{columns 40 to 72 lie outside tensor<16x64xf32>}}
  %5 = ptensor.paged_gather %x, %i, %i, block_size = 4, size = 32, max_indices = 8, col_off = 40 : tensor<16x64xf32>, tensor<16x8xi32>, tensor<16x8xi32> -> tensor<8x32xf32>
  %7 = ptensor.create : tensor<8x8xf32>
  %y = ptensor.create : tensor<16x8xf32>
  // expected-error @+1 {{index should have at most 8 rows, got 16}}
  %6 = ptensor.scatter %7, %i, %y : tensor<8x8xf32>, tensor<16x8xi32>, tensor<16x8xf32>
  // expected-error @+1 {{operands should have the same rows}}
  %8 = ptensor.concat %x, %7 : tensor<16x64xf32>, tensor<8x8xf32> -> tensor<16x72xf32>
  // expected-error @+1 {{source and target should have three dimensions}}
  %9 = ptensor.expand_clone %x, %x : tensor<16x64xf32>
  orch.return
}

// -----

// D-T7.
orch.func orchestration @comparison(in %x : tensor<16x64xf32>, in %k : f32) {
  // expected-error @+1 {{'cmp_mode' should be one of eq, ne, lt, le, gt, ge, got 'above'}}
  %0, %1 = ptensor.gather_compare %x, %k, cmp_mode = above, out_cols = 8 : tensor<16x64xf32>, f32 -> tensor<16x8xi32>, tensor<1x16xi32>
  orch.return
}

// -----

// D-T8.
orch.func orchestration @comparison(in %x : tensor<16x64xf32>, in %k : f32) {
  // expected-error @+1 {{'cmp_mode' should be one of eq, ne, lt, le, gt, ge}}
  %0, %1 = ptensor.gather_compare %x, %k, cmp_mode = 99, out_cols = 8 : tensor<16x64xf32>, f32 -> tensor<16x8xi32>, tensor<1x16xi32>
  orch.return
}

// -----

orch.func orchestration @columns(in %x : tensor<16x64xf32>, in %k : f32) {
  // expected-error @+1 {{'out_cols' should be at least 1}}
  %0, %1 = ptensor.gather_compare %x, %k, cmp_mode = eq, out_cols = 0 : tensor<16x64xf32>, f32 -> tensor<16x8xi32>, tensor<1x16xi32>
  orch.return
}
