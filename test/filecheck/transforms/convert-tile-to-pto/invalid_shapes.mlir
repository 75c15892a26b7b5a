// Tensors are seen in other shapes only where their elements lie so.

// RUN: pypto-opt --split-input-file --verify-diagnostics --convert-tile-to-pto=backend=ascend910b %s

// Rows that do not follow each other are no longer row, whoever leaves the gaps.
orch.func aiv @gaps(in %x : tensor<16x64xf32, #ptensor.view<strides = [128, 1]>>, out %o : tensor<1024xf32>) -> tensor<1024xf32> {
  // expected-error @+1 {{'ptensor.reshape' op reshapes a window whose elements do not lie one after the other}}
  %r = ptensor.reshape %x : tensor<16x64xf32, #ptensor.view<strides = [128, 1]>> -> tensor<1024xf32>
  %t = tile.load %r[0] : tensor<1024xf32> -> !tile.tile<1024xf32, vec>
  %s = tile.store %t, %o[0] : !tile.tile<1024xf32, vec>, tensor<1024xf32>
  orch.return %s : tensor<1024xf32>
}

// -----

orch.func aiv @part_of_rows(in %x : tensor<16x64xf32>, out %o : tensor<512xf32>) -> tensor<512xf32> {
  %w = ptensor.slice %x[0, 0] : tensor<16x64xf32> -> tensor<16x32xf32>
  // expected-error @+1 {{'ptensor.reshape' op reshapes a window whose elements do not lie one after the other}}
  %r = ptensor.reshape %w : tensor<16x32xf32> -> tensor<512xf32>
  %t = tile.load %r[0] : tensor<512xf32> -> !tile.tile<512xf32, vec>
  %s = tile.store %t, %o[0] : !tile.tile<512xf32, vec>, tensor<512xf32>
  orch.return %s : tensor<512xf32>
}
