// RUN: pypto-opt --auto-tile-matmul-l0 %s | filecheck %s
// A second run finds nothing to do, and what is printed is read back.
// RUN: pypto-opt --auto-tile-matmul-l0 --auto-tile-matmul-l0 %s | pypto-opt | filecheck %s

builtin.module attributes {pto.target_arch = "a2a3"} {

// What fits stays as it is; where its operands live is for others to say.
// CHECK-LABEL: orch.func incore @fits
// CHECK-NEXT:    %l = tile.load %a[0, 0] : tensor<64x128xf16> -> !tile.tile<64x128xf16>
// CHECK-NEXT:    %r = tile.load %b[0, 0] : tensor<128x64xf16> -> !tile.tile<128x64xf16>
// CHECK-NEXT:    %p = tile.matmul %l, %r : !tile.tile<64x128xf16>, !tile.tile<128x64xf16> -> !tile.tile<64x64xf32>
// CHECK-NEXT:    %z = tile.store %p, %y[0, 0]
orch.func incore @fits(in %a : tensor<64x128xf16>, in %b : tensor<128x64xf16>, out %y : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %l = tile.load %a[0, 0] : tensor<64x128xf16> -> !tile.tile<64x128xf16>
  %r = tile.load %b[0, 0] : tensor<128x64xf16> -> !tile.tile<128x64xf16>
  %p = tile.matmul %l, %r : !tile.tile<64x128xf16>, !tile.tile<128x64xf16> -> !tile.tile<64x64xf32>
  %z = tile.store %p, %y[0, 0] : !tile.tile<64x64xf32>, tensor<64x64xf32>
  orch.return %z : tensor<64x64xf32>
}

// Operands are too large: a loop over the depth sums in L0C, where the first block begins. The
// moves of the whole operands are gone.
// CHECK-LABEL: orch.func incore @depth
// CHECK-NEXT:    %l = tile.load %a[0, 0] : tensor<128x512xbf16> -> !tile.tile<128x512xbf16, mat>
// CHECK-NEXT:    %r = tile.load %b[0, 0] : tensor<512x128xbf16> -> !tile.tile<512x128xbf16, mat>
// CHECK-NEXT:    %l_1 = tile.extract %l[0, 0] : !tile.tile<128x512xbf16, mat> -> !tile.tile<128x128xbf16, left>
// CHECK-NEXT:    %r_1 = tile.extract %r[0, 0] : !tile.tile<512x128xbf16, mat> -> !tile.tile<128x128xbf16, right>
// CHECK-NEXT:    %p = tile.matmul %l_1, %r_1 : {{.*}} -> !tile.tile<128x128xf32, acc>
// CHECK-NEXT:    %0 = arith.constant 128 : index
// CHECK-NEXT:    %1 = arith.constant 512 : index
// CHECK-NEXT:    %2 = arith.constant 128 : index
// CHECK-NEXT:    %p_1 = scf.for %depth = %0 to %1 step %2 iter_args(%p_2 = %p) -> (!tile.tile<128x128xf32, acc>) {
// CHECK-NEXT:      %l_2 = tile.extract %l[0, %depth] : !tile.tile<128x512xbf16, mat> -> !tile.tile<128x128xbf16, left>
// CHECK-NEXT:      %r_2 = tile.extract %r[%depth, 0] : !tile.tile<512x128xbf16, mat> -> !tile.tile<128x128xbf16, right>
// CHECK-NEXT:      %p_3 = tile.matmul_acc %p_2, %l_2, %r_2
// CHECK-NEXT:      scf.yield %p_3
// CHECK-NEXT:    }
// CHECK-NEXT:    %z = tile.store %p_1, %y[0, 0]
orch.func incore @depth(in %a : tensor<128x512xbf16>, in %b : tensor<512x128xbf16>, out %y : tensor<128x128xf32>) -> tensor<128x128xf32> {
  %l = tile.load %a[0, 0] : tensor<128x512xbf16> -> !tile.tile<128x512xbf16, mat>
  %r = tile.load %b[0, 0] : tensor<512x128xbf16> -> !tile.tile<512x128xbf16, mat>
  %ll = tile.move %l : !tile.tile<128x512xbf16, mat> -> !tile.tile<128x512xbf16, left>
  %rr = tile.move %r : !tile.tile<512x128xbf16, mat> -> !tile.tile<512x128xbf16, right>
  %p = tile.matmul %ll, %rr : !tile.tile<128x512xbf16, left>, !tile.tile<512x128xbf16, right> -> !tile.tile<128x128xf32, acc>
  %z = tile.store %p, %y[0, 0] : !tile.tile<128x128xf32, acc>, tensor<128x128xf32>
  orch.return %z : tensor<128x128xf32>
}

// The result is too large: each of its blocks is stored where the whole would be. The depth fits,
// and the columns of the result, so that the right operand is taken whole. A part says where it
// lives, though the whole does not.
// CHECK-LABEL: orch.func incore @rows
// CHECK:         %z = scf.for %row = %0 to %1 step %2 iter_args(%y_1 = %y) -> (tensor<264x264xf32>) {
// CHECK-NEXT:      %l_1 = tile.extract %l[%row, 0] : !tile.tile<256x32xf16, mat> -> !tile.tile<128x32xf16, left>
// CHECK-NEXT:      %p = tile.matmul %l_1, %r : {{.*}} -> !tile.tile<128x256xf32, acc>
// CHECK-NEXT:      %3 = arith.constant 8 : index
// CHECK-NEXT:      %4 = arith.addi %3, %row : index
// CHECK-NEXT:      %z_1 = tile.store %p, %y_1[%4, 8], atomic = add
// CHECK-NEXT:      scf.yield %z_1
// CHECK-NEXT:    }
// CHECK-NEXT:    orch.return %z
orch.func incore @rows(in %a : tensor<256x32xf16>, in %b : tensor<32x256xf16>, inout %y : tensor<264x264xf32>) -> tensor<264x264xf32> {
  %l = tile.load %a[0, 0] : tensor<256x32xf16> -> !tile.tile<256x32xf16>
  %r = tile.load %b[0, 0] : tensor<32x256xf16> -> !tile.tile<32x256xf16>
  %p = tile.matmul %l, %r : !tile.tile<256x32xf16>, !tile.tile<32x256xf16> -> !tile.tile<256x256xf32>
  %z = tile.store %p, %y[8, 8], atomic = add : !tile.tile<256x256xf32>, tensor<264x264xf32>
  orch.return %z : tensor<264x264xf32>
}

// Between two products a result is rounded as it is drained, though all of it would fit: the
// vector core has no part in it.
// CHECK-LABEL: orch.func incore @chain
// CHECK:         %c = tile.create : !tile.tile<64x64xbf16, mat>
// CHECK-NEXT:    %p = tile.matmul %l, %r
// CHECK-NEXT:    %c_1 = tile.assemble %p, %c[0, 0] : !tile.tile<64x64xf32, acc>, !tile.tile<64x64xbf16, mat>
// CHECK-NEXT:    %q = tile.matmul %c_1, %s : !tile.tile<64x64xbf16, mat>, !tile.tile<64x32xbf16> -> !tile.tile<64x32xf32>
orch.func incore @chain(in %a : tensor<64x64xbf16>, in %b : tensor<64x64xbf16>, in %e : tensor<64x32xbf16>, out %y : tensor<64x32xf32>) -> tensor<64x32xf32> {
  %l = tile.load %a[0, 0] : tensor<64x64xbf16> -> !tile.tile<64x64xbf16>
  %r = tile.load %b[0, 0] : tensor<64x64xbf16> -> !tile.tile<64x64xbf16>
  %s = tile.load %e[0, 0] : tensor<64x32xbf16> -> !tile.tile<64x32xbf16>
  %p = tile.matmul %l, %r : !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
  %c = tile.cast %p, target_type = bf16, mode = rint : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
  %q = tile.matmul %c, %s : !tile.tile<64x64xbf16>, !tile.tile<64x32xbf16> -> !tile.tile<64x32xf32>
  %z = tile.store %q, %y[0, 0] : !tile.tile<64x32xf32>, tensor<64x32xf32>
  orch.return %z : tensor<64x32xf32>
}

// The cube rounds to nearest even alone: another mode stays with the vector core.
// CHECK-LABEL: orch.func incore @other_mode
// CHECK:         tile.cast %p, target_type = bf16
orch.func incore @other_mode(in %a : tensor<64x64xbf16>, out %y : tensor<64x64xf32>) -> tensor<64x64xf32> {
  %l = tile.load %a[0, 0] : tensor<64x64xbf16> -> !tile.tile<64x64xbf16>
  %p = tile.matmul %l, %l : !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
  %c = tile.cast %p, target_type = bf16, mode = round : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
  %q = tile.matmul %c, %l : !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
  %z = tile.store %q, %y[0, 0] : !tile.tile<64x64xf32>, tensor<64x64xf32>
  orch.return %z : tensor<64x64xf32>
}
}
