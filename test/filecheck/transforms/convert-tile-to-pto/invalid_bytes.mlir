// Elements that an instruction counts one after the other, and what lies elsewhere.

// RUN: pypto-opt --split-input-file --verify-diagnostics --convert-tile-to-pto %s

builtin.module attributes {pto.target_arch = "a2a3"} {
  // Between the rows of a window lies what is not in it.
  orch.func incore @gather(in %x : tensor<20x64xf32>, in %i : tensor<8x32xi32>) {
    %w = ptensor.slice %x[4, 16] : tensor<20x64xf32> -> tensor<12x32xf32>
    %j = tile.load %i[0, 0] : tensor<8x32xi32> -> !tile.tile<8x32xi32, vec>
    // expected-error @+1 {{'tile.mgather' op counts the elements of a tensor, which do not follow each other in global memory}}
    %g = tile.mgather %w, %j, coalesce = elem
      : tensor<12x32xf32>, !tile.tile<8x32xi32, vec> -> !tile.tile<8x32xf32, vec>
    orch.return
  }

  orch.func incore @scatter(in %x : tensor<8x32xf32>, in %i : tensor<8x32xi32>, out %o : tensor<20x64xf32>) {
    %w = ptensor.slice %o[4, 16] : tensor<20x64xf32> -> tensor<12x32xf32>
    %a = tile.load %x[0, 0] : tensor<8x32xf32> -> !tile.tile<8x32xf32, vec>
    %j = tile.load %i[0, 0] : tensor<8x32xi32> -> !tile.tile<8x32xi32, vec>
    // expected-error @+1 {{'tile.mscatter' op counts the elements of a tensor, which do not follow each other in global memory}}
    %r = tile.mscatter %a, %j, %w : !tile.tile<8x32xf32, vec>, !tile.tile<8x32xi32, vec>, tensor<12x32xf32>
    orch.return
  }

  // The rows of a tensor that lies column by column are apart, too.
  orch.func incore @columns(in %x : tensor<20x64xf32, #ptensor.view<layout = dn>>, in %i : tensor<1x8xi32>) {
    %j = tile.load %i[0, 0] : tensor<1x8xi32> -> !tile.tile<1x8xi32, vec>
    // expected-error @+1 {{'tile.mgather' op counts the rows of a tensor, which do not lie one below the other in global memory}}
    %g = tile.mgather %x, %j
      : tensor<20x64xf32, #ptensor.view<layout = dn>>, !tile.tile<1x8xi32, vec> -> !tile.tile<8x64xf32, vec>
    orch.return
  }

  // The rows of pages of which some columns are taken do not lie at one distance.
  orch.func incore @pages(in %x : tensor<5x4x64xf32>, in %i : tensor<1x8xi32>) {
    %w = ptensor.slice %x[0, 1, 0] : tensor<5x4x64xf32> -> tensor<5x2x64xf32>
    %j = tile.load %i[0, 0] : tensor<1x8xi32> -> !tile.tile<1x8xi32, vec>
    // expected-error @+1 {{'tile.mgather' op counts the rows of a tensor, which do not lie one below the other in global memory}}
    %g = tile.mgather %w, %j : tensor<5x2x64xf32>, !tile.tile<1x8xi32, vec> -> !tile.tile<8x64xf32, vec>
    orch.return
  }

  orch.func incore @other_elements(in %x : tensor<20x64xf32>) {
    %w = ptensor.slice %x[0, 16] : tensor<20x64xf32> -> tensor<20x32xf32>
    // expected-error @+1 {{'ptensor.reinterpret_view' op reads elements as others that do not lie one after the other}}
    %v = ptensor.reinterpret_view %w : tensor<20x32xf32> -> tensor<20x64xi16>
    orch.return
  }

  // How many rows are valid says nothing of other rows.
  orch.func incore @other_rows(in %x : tensor<16x64xf32>, in %n : index) {
    %t = tile.load %x[0, 0], valid = [%n, 64]
      : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec, valid = [?, 64]>
    // expected-error @+1 {{'tile.reinterpret_view' op reads rows as others, and how much of them is valid is known at run time}}
    %v = tile.reinterpret_view %t
      : !tile.tile<16x64xf32, vec, valid = [?, 64]> -> !tile.tile<8x256xi16, vec, valid = [?, 256]>
    orch.return
  }

  // There is no way from L1 to L1.
  orch.func incore @needed_in_l1(in %x : tensor<16x32xf16>) {
    %t = tile.load %x[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16, mat, valid = [16, 16]>
    // expected-error @+1 {{'tile.fillpad_inplace' op pads a tile in mat that is needed as it was; load it once more}}
    %a = tile.fillpad_inplace %t : !tile.tile<16x32xf16, mat, valid = [16, 16]> -> !tile.tile<16x32xf16, mat, pad = zero>
    %l = tile.move %a : !tile.tile<16x32xf16, mat, pad = zero> -> !tile.tile<16x32xf16, left, pad = zero>
    %m = tile.move %t : !tile.tile<16x32xf16, mat, valid = [16, 16]> -> !tile.tile<16x32xf16, left, valid = [16, 16]>
    orch.return
  }
}
