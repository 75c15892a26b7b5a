// Conversions that the target has not become chains of those that it has.

// RUN: pypto-opt --legalize-tile-cast='backend=ascend910b' %s | filecheck %s
// RUN: pypto-opt --legalize-tile-cast='backend=ascend910b' --legalize-tile-cast='backend=ascend910b' %s | filecheck %s
// RUN: pypto-opt --legalize-tile-cast %s | filecheck %s --check-prefix=UNKNOWN

// CHECK-LABEL:   orch.func incore @chains(
// CHECK:           %a_f32 = tile.cast %t, target_type = f32, mode = floor : !tile.tile<16x16xbf16> -> !tile.tile<16x16xf32>
// CHECK-NEXT:      %a = tile.cast %a_f32, target_type = i16, mode = floor : !tile.tile<16x16xf32> -> !tile.tile<16x16xi16>
// What there is an instruction for stays.
// CHECK-NEXT:      %b = tile.cast %a, target_type = f16, mode = rint : !tile.tile<16x16xi16> -> !tile.tile<16x16xf16>
// A step to f16 that is not the last rounds to odd, so that the last one rounds to nearest.
// CHECK-NEXT:      %c_f32 = tile.cast %t, target_type = f32, mode = rint
// CHECK-NEXT:      %c_f16 = tile.cast %c_f32, target_type = f16, mode = odd
// CHECK-NEXT:      %c = tile.cast %c_f16, target_type = i8, mode = rint
// Rounding towards zero twice is rounding towards zero.
// CHECK-NEXT:      %d_f32 = tile.cast %t, target_type = f32, mode = trunc
// CHECK-NEXT:      %d_f16 = tile.cast %d_f32, target_type = f16, mode = trunc
// CHECK-NEXT:      %d = tile.cast %d_f16, target_type = i8, mode = trunc
// Without a target nothing is known to be illegal.
// UNKNOWN:         %a = tile.cast %t, target_type = i16, mode = floor : !tile.tile<16x16xbf16> -> !tile.tile<16x16xi16>
orch.func incore @chains(in %x : tensor<16x16xbf16>) {
  %t = tile.load %x[0, 0] : tensor<16x16xbf16> -> !tile.tile<16x16xbf16>
  %a = tile.cast %t, target_type = i16, mode = floor : !tile.tile<16x16xbf16> -> !tile.tile<16x16xi16>
  %b = tile.cast %a, target_type = f16, mode = rint : !tile.tile<16x16xi16> -> !tile.tile<16x16xf16>
  %c = tile.cast %t, target_type = i8, mode = rint : !tile.tile<16x16xbf16> -> !tile.tile<16x16xi8>
  %d = tile.cast %t, target_type = i8, mode = trunc : !tile.tile<16x16xbf16> -> !tile.tile<16x16xi8>
  orch.return
}
