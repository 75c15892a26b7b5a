// Products of batches are taken apart, pair by pair; parts are consecutive rows of the matrix.

// RUN: pypto-opt --flatten-tile-nd-to-2d='backend=ascend910b' %s | filecheck %s

// What is loaded lies page under page in L1; each product of two pages is stored before the next,
// batches broadcast.
// CHECK-LABEL:   orch.func incore @broadcast(
// CHECK-NEXT:      %x_2d = ptensor.view %x : tensor<2x1x16x32xf16> -> tensor<32x32xf16>
// CHECK-NEXT:      %a = tile.load %x_2d[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      %b = tile.load %y[0, 0] : tensor<32x16xf16> -> !tile.tile<32x16xf16>
// CHECK-NEXT:      %a_page = tile.slice %a[0, 0] : !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf16, mat>
// CHECK-NEXT:      %p = tile.matmul %a_page, %b : {{.*}} -> !tile.tile<16x16xf32, acc>
// CHECK-NEXT:      %p_nd = tile.reshape %p : !tile.tile<16x16xf32, acc> -> !tile.tile<1x1x16x16xf32, acc>
// CHECK-NEXT:      %s = tile.store %p_nd, %o[0, 0, 0, 0] :
// CHECK-NEXT:      %a_page_1 = tile.slice %a[16, 0] : !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf16, mat>
// CHECK-NEXT:      %p_1 = tile.matmul %a_page_1, %b :
// CHECK-NEXT:      %p_nd_1 = tile.reshape %p_1 :
// CHECK-NEXT:      %s_1 = tile.store %p_nd_1, %s[1, 0, 0, 0] :
// CHECK-NEXT:      orch.return %s_1
orch.func incore @broadcast(in %x : tensor<2x1x16x32xf16>, in %y : tensor<32x16xf16>, out %o : tensor<2x1x16x16xf32>) -> tensor<2x1x16x16xf32> {
  %a = tile.load %x[0, 0, 0, 0] : tensor<2x1x16x32xf16> -> !tile.tile<2x1x16x32xf16>
  %b = tile.load %y[0, 0] : tensor<32x16xf16> -> !tile.tile<32x16xf16>
  %p = tile.batch_matmul %a, %b : !tile.tile<2x1x16x32xf16>, !tile.tile<32x16xf16> -> !tile.tile<2x1x16x16xf32>
  %s = tile.store %p, %o[0, 0, 0, 0] : !tile.tile<2x1x16x16xf32>, tensor<2x1x16x16xf32>
  orch.return %s : tensor<2x1x16x16xf32>
}

// Rows that do not follow each other in global memory are loaded page by page, where a page is
// used: nothing writes the tensor.
// CHECK-LABEL:   orch.func incore @apart(
// CHECK:           %x_2d = ptensor.view %x : tensor<2x32x16xf16> -> tensor<64x16xf16>
// CHECK-NEXT:      %a = tile.load %x_2d[8, 0] : tensor<64x16xf16> -> !tile.tile<16x16xf16, mat>
// CHECK-NEXT:      %p = tile.matmul %a, %b
// CHECK:           tile.store
// CHECK:           %a_1 = tile.load %x_2d_1[40, 0] : tensor<64x16xf16> -> !tile.tile<16x16xf16, mat>
// CHECK-NEXT:      %p_1 = tile.matmul %a_1, %b
orch.func incore @apart(in %x : tensor<2x32x16xf16>, in %y : tensor<16x16xf16>, out %o : tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %a = tile.load %x[0, 8, 0] : tensor<2x32x16xf16> -> !tile.tile<2x16x16xf16>
  %b = tile.load %y[0, 0] : tensor<16x16xf16> -> !tile.tile<16x16xf16>
  %p = tile.batch_matmul %a, %b : !tile.tile<2x16x16xf16>, !tile.tile<16x16xf16> -> !tile.tile<2x16x16xf32>
  %s = tile.store %p, %o[0, 0, 0] : !tile.tile<2x16x16xf32>, tensor<2x16x16xf32>
  orch.return %s : tensor<2x16x16xf32>
}

// A tensor that the kernel writes is loaded where the program says, before the write.
// CHECK-LABEL:   orch.func incore @written(
// CHECK:           tile.load %{{.*}}[8, 0] :
// CHECK:           tile.load %{{.*}}[40, 0] :
// CHECK:           tile.store %{{.*}}, %x[0, 0, 0]
// CHECK:           tile.matmul
orch.func incore @written(inout %x : tensor<2x32x16xf16>, in %c_in : tensor<1x1x16xf16>, out %o : tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %a = tile.load %x[0, 8, 0] : tensor<2x32x16xf16> -> !tile.tile<2x16x16xf16>
  %c = tile.load %c_in[0, 0, 0] : tensor<1x1x16xf16> -> !tile.tile<1x1x16xf16>
  %x1 = tile.store %c, %x[0, 0, 0] : !tile.tile<1x1x16xf16>, tensor<2x32x16xf16>
  %p = tile.batch_matmul %a, %a : !tile.tile<2x16x16xf16> -> !tile.tile<2x16x16xf32>
  %s = tile.store %p, %o[0, 0, 0] : !tile.tile<2x16x16xf32>, tensor<2x16x16xf32>
  orch.return %s : tensor<2x16x16xf32>
}

// Batches that do not fit into L1 together are loaded page by page.
// CHECK-LABEL:   orch.func incore @large(
// CHECK-COUNT-8:   tile.matmul
orch.func incore @large(in %x : tensor<8x128x512xf16>, in %y : tensor<8x512x128xf16>, out %o : tensor<8x128x128xf32>) -> tensor<8x128x128xf32> {
  %a = tile.load %x[0, 0, 0] : tensor<8x128x512xf16> -> !tile.tile<8x128x512xf16>
  %b = tile.load %y[0, 0, 0] : tensor<8x512x128xf16> -> !tile.tile<8x512x128xf16>
  %p = tile.batch_matmul %a, %b : !tile.tile<8x128x512xf16>, !tile.tile<8x512x128xf16> -> !tile.tile<8x128x128xf32>
  %s = tile.store %p, %o[0, 0, 0] : !tile.tile<8x128x128xf32>, tensor<8x128x128xf32>
  orch.return %s : tensor<8x128x128xf32>
}

// Matrices seen transposed lie side by side.
// CHECK-LABEL:   orch.func incore @transposed(
// CHECK:           %v = tile.transpose_view %b : !tile.tile<32x32xf16, mat> -> !tile.tile<32x32xf16, mat, blayout = row_major, slayout = col_major>
// CHECK:           tile.slice %v[0, 0] : {{.*}} -> !tile.tile<32x16xf16, mat, blayout = row_major, slayout = col_major>
// CHECK:           tile.slice %v[0, 16] : {{.*}} -> !tile.tile<32x16xf16, mat, blayout = row_major, slayout = col_major>
orch.func incore @transposed(in %x : tensor<16x32xf16>, in %y : tensor<2x16x32xf16>, out %o : tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %a = tile.load %x[0, 0] : tensor<16x32xf16> -> !tile.tile<16x32xf16, mat>
  %b = tile.load %y[0, 0, 0] : tensor<2x16x32xf16> -> !tile.tile<2x16x32xf16, mat>
  %v = tile.transpose_view %b : !tile.tile<2x16x32xf16, mat> -> !tile.tile<2x32x16xf16, mat, blayout = row_major, slayout = col_major>
  %p = tile.batch_matmul %a, %v : !tile.tile<16x32xf16, mat>, !tile.tile<2x32x16xf16, mat, blayout = row_major, slayout = col_major> -> !tile.tile<2x16x16xf32, acc>
  %s = tile.store %p, %o[0, 0, 0] : !tile.tile<2x16x16xf32, acc>, tensor<2x16x16xf32>
  orch.return %s : tensor<2x16x16xf32>
}

// Parts of consecutive rows are parts of the matrix.
// CHECK-LABEL:   orch.func incore @parts(
// CHECK:           %p = tile.slice %t_2d[%{{.*}}, 8] : !tile.tile<64x64xf32> -> !tile.tile<16x32xf32>
// CHECK:           %q = tile.assemble %e, %t_2d[48, 16] : !tile.tile<16x32xf32>, !tile.tile<64x64xf32>
orch.func incore @parts(in %x : tensor<4x16x64xf32>, in %i : index, out %o : tensor<4x16x64xf32>) -> tensor<4x16x64xf32> {
  %t = tile.load %x[0, 0, 0] : tensor<4x16x64xf32> -> !tile.tile<4x16x64xf32>
  %p = tile.slice %t[%i, 0, 8] : !tile.tile<4x16x64xf32> -> !tile.tile<1x16x32xf32>
  %e = tile.exp %p : !tile.tile<1x16x32xf32>
  %q = tile.assemble %e, %t[3, 0, 16] : !tile.tile<1x16x32xf32>, !tile.tile<4x16x64xf32>
  %s = tile.store %q, %o[0, 0, 0] : !tile.tile<4x16x64xf32>, tensor<4x16x64xf32>
  orch.return %s : tensor<4x16x64xf32>
}

// Each matrix of a batch is transposed for itself, with scratch.
// CHECK-LABEL:   orch.func incore @turned(
// CHECK:           %t_2d_page = tile.slice %t_2d[0, 0] : !tile.tile<32x8xf32> -> !tile.tile<16x8xf32>
// CHECK-NEXT:      %tmp = tile.create : !tile.tile<16x8xf32>
// CHECK-NEXT:      %u = tile.transpose %t_2d_page, %tmp : !tile.tile<16x8xf32> -> !tile.tile<8x16xf32>
// CHECK-NEXT:      %u_1 = tile.create : !tile.tile<16x16xf32>
// CHECK-NEXT:      %u_2 = tile.assemble %u, %u_1[0, 0] : !tile.tile<8x16xf32>, !tile.tile<16x16xf32>
orch.func incore @turned(in %x : tensor<2x16x8xf32>, out %o : tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  %t = tile.load %x[0, 0, 0] : tensor<2x16x8xf32> -> !tile.tile<2x16x8xf32>
  %u = tile.transpose %t, axis1 = 1, axis2 = 2 : !tile.tile<2x16x8xf32> -> !tile.tile<2x8x16xf32>
  %s = tile.store %u, %o[0, 0, 0] : !tile.tile<2x8x16xf32>, tensor<2x8x16xf32>
  orch.return %s : tensor<2x8x16xf32>
}

// What the cube core sums in f32 may be stored as f16: the drain rounds it.
// CHECK-LABEL: orch.func incore @rounded_as_stored(in %x: tensor<2x16x128xf16>, in %w: tensor<2x128x64xf16>, out %o: tensor<2x16x64xf16>) -> tensor<2x16x64xf16> {
// CHECK-NEXT:    %x_2d = ptensor.view %x : tensor<2x16x128xf16> -> tensor<32x128xf16>
// CHECK-NEXT:    %a = tile.load %x_2d[0, 0] : tensor<32x128xf16> -> !tile.tile<32x128xf16, mat>
// CHECK-NEXT:    %w_2d = ptensor.view %w : tensor<2x128x64xf16> -> tensor<256x64xf16>
// CHECK-NEXT:    %b = tile.load %w_2d[0, 0] : tensor<256x64xf16> -> !tile.tile<256x64xf16, mat>
// CHECK-NEXT:    %a_page = tile.slice %a[0, 0] : !tile.tile<32x128xf16, mat> -> !tile.tile<16x128xf16, mat>
// CHECK-NEXT:    %b_page = tile.slice %b[0, 0] : !tile.tile<256x64xf16, mat> -> !tile.tile<128x64xf16, mat>
// CHECK-NEXT:    %p = tile.matmul %a_page, %b_page : !tile.tile<16x128xf16, mat>, !tile.tile<128x64xf16, mat> -> !tile.tile<16x64xf32, acc>
// CHECK-NEXT:    %p_nd = tile.reshape %p : !tile.tile<16x64xf32, acc> -> !tile.tile<1x16x64xf32, acc>
// CHECK-NEXT:    %r = tile.store %p_nd, %o[0, 0, 0] : !tile.tile<1x16x64xf32, acc>, tensor<2x16x64xf16>
// CHECK-NEXT:    %a_page_1 = tile.slice %a[16, 0] : !tile.tile<32x128xf16, mat> -> !tile.tile<16x128xf16, mat>
// CHECK-NEXT:    %b_page_1 = tile.slice %b[128, 0] : !tile.tile<256x64xf16, mat> -> !tile.tile<128x64xf16, mat>
// CHECK-NEXT:    %p_1 = tile.matmul %a_page_1, %b_page_1 : !tile.tile<16x128xf16, mat>, !tile.tile<128x64xf16, mat> -> !tile.tile<16x64xf32, acc>
// CHECK-NEXT:    %p_nd_1 = tile.reshape %p_1 : !tile.tile<16x64xf32, acc> -> !tile.tile<1x16x64xf32, acc>
// CHECK-NEXT:    %r_1 = tile.store %p_nd_1, %r[1, 0, 0] : !tile.tile<1x16x64xf32, acc>, tensor<2x16x64xf16>
// CHECK-NEXT:    orch.return %r_1 : tensor<2x16x64xf16>
orch.func incore @rounded_as_stored(in %x : tensor<2x16x128xf16>, in %w : tensor<2x128x64xf16>, out %o : tensor<2x16x64xf16>) -> tensor<2x16x64xf16> {
  %a = tile.load %x[0, 0, 0] : tensor<2x16x128xf16> -> !tile.tile<2x16x128xf16>
  %b = tile.load %w[0, 0, 0] : tensor<2x128x64xf16> -> !tile.tile<2x128x64xf16>
  %p = tile.batch_matmul %a, %b : !tile.tile<2x16x128xf16>, !tile.tile<2x128x64xf16> -> !tile.tile<2x16x64xf32>
  %r = tile.store %p, %o[0, 0, 0] : !tile.tile<2x16x64xf32>, tensor<2x16x64xf16>
  orch.return %r : tensor<2x16x64xf16>
}

// A loop carries each sum of a batch for itself: the accumulator holds matrices.
// CHECK-LABEL: orch.func incore @carried_batch(in %x: tensor<2x16x128xf16>, in %w: tensor<2x128x32xf16>, out %o: tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {
// CHECK-NEXT:    %c32 = arith.constant 32 : index
// CHECK-NEXT:    %c128 = arith.constant 128 : index
// CHECK-NEXT:    %x_2d = ptensor.view %x : tensor<2x16x128xf16> -> tensor<32x128xf16>
// CHECK-NEXT:    %a0 = tile.load %x_2d[0, 0] : tensor<32x128xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:    %a0_page = tile.slice %a0[0, 0] : !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf16, mat>
// CHECK-NEXT:    %w_2d = ptensor.view %w : tensor<2x128x32xf16> -> tensor<256x32xf16>
// CHECK-NEXT:    %b0 = tile.load %w_2d[0, 0] : tensor<256x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:    %p = tile.matmul %a0_page, %b0 : !tile.tile<16x32xf16, mat>, !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %a0_page_1 = tile.slice %a0[16, 0] : !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf16, mat>
// CHECK-NEXT:    %w_2d_1 = ptensor.view %w : tensor<2x128x32xf16> -> tensor<256x32xf16>
// CHECK-NEXT:    %b0_1 = tile.load %w_2d_1[128, 0] : tensor<256x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:    %p_1 = tile.matmul %a0_page_1, %b0_1 : !tile.tile<16x32xf16, mat>, !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf32>
// CHECK-NEXT:    %s, %s_1 = scf.for %k = %c32 to %c128 step %c32 iter_args(%acc = %p, %acc_1 = %p_1) -> (!tile.tile<16x32xf32>, !tile.tile<16x32xf32>) {
// CHECK-NEXT:      %x_2d_1 = ptensor.view %x : tensor<2x16x128xf16> -> tensor<32x128xf16>
// CHECK-NEXT:      %a = tile.load %x_2d_1[0, %k] : tensor<32x128xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      %a_page = tile.slice %a[0, 0] : !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf16, mat>
// CHECK-NEXT:      %w_2d_2 = ptensor.view %w : tensor<2x128x32xf16> -> tensor<256x32xf16>
// CHECK-NEXT:      %b = tile.load %w_2d_2[%k, 0] : tensor<256x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      %q = tile.matmul_acc %acc, %a_page, %b : !tile.tile<16x32xf32>, !tile.tile<16x32xf16, mat>, !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      %a_page_1 = tile.slice %a[16, 0] : !tile.tile<32x32xf16, mat> -> !tile.tile<16x32xf16, mat>
// CHECK-NEXT:      %w_2d_3 = ptensor.view %w : tensor<2x128x32xf16> -> tensor<256x32xf16>
// CHECK-NEXT:      %0 = arith.constant 128 : index
// CHECK-NEXT:      %1 = arith.addi %0, %k : index
// CHECK-NEXT:      %b_1 = tile.load %w_2d_3[%1, 0] : tensor<256x32xf16> -> !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      %q_1 = tile.matmul_acc %acc_1, %a_page_1, %b_1 : !tile.tile<16x32xf32>, !tile.tile<16x32xf16, mat>, !tile.tile<32x32xf16, mat>
// CHECK-NEXT:      scf.yield %q, %q_1 : !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %s_nd = tile.reshape %s : !tile.tile<16x32xf32> -> !tile.tile<1x16x32xf32>
// CHECK-NEXT:    %r = tile.store %s_nd, %o[0, 0, 0] : !tile.tile<1x16x32xf32>, tensor<2x16x32xf32>
// CHECK-NEXT:    %s_nd_1 = tile.reshape %s_1 : !tile.tile<16x32xf32> -> !tile.tile<1x16x32xf32>
// CHECK-NEXT:    %r_1 = tile.store %s_nd_1, %r[1, 0, 0] : !tile.tile<1x16x32xf32>, tensor<2x16x32xf32>
// CHECK-NEXT:    orch.return %r_1 : tensor<2x16x32xf32>
orch.func incore @carried_batch(in %x : tensor<2x16x128xf16>, in %w : tensor<2x128x32xf16>, out %o : tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %a0 = tile.load %x[0, 0, 0] : tensor<2x16x128xf16> -> !tile.tile<2x16x32xf16>
  %b0 = tile.load %w[0, 0, 0] : tensor<2x128x32xf16> -> !tile.tile<2x32x32xf16>
  %p = tile.batch_matmul %a0, %b0 : !tile.tile<2x16x32xf16>, !tile.tile<2x32x32xf16> -> !tile.tile<2x16x32xf32>
  %s = scf.for %k = %c32 to %c128 step %c32 iter_args(%acc = %p) -> (!tile.tile<2x16x32xf32>) {
    %a = tile.load %x[0, 0, %k] : tensor<2x16x128xf16> -> !tile.tile<2x16x32xf16>
    %b = tile.load %w[0, %k, 0] : tensor<2x128x32xf16> -> !tile.tile<2x32x32xf16>
    %q = tile.batch_matmul_acc %acc, %a, %b : !tile.tile<2x16x32xf32>, !tile.tile<2x16x32xf16>, !tile.tile<2x32x32xf16>
    scf.yield %q : !tile.tile<2x16x32xf32>
  }
  %r = tile.store %s, %o[0, 0, 0] : !tile.tile<2x16x32xf32>, tensor<2x16x32xf32>
  orch.return %r : tensor<2x16x32xf32>
}

// Branches hand on each sum of a batch, too, and so does a loop that asks before each turn. They
// may start from tiles that nothing was written to.
// CHECK-LABEL: orch.func incore @chosen_batch(
// CHECK:         %none = tile.create : !tile.tile<16x32xf32>
// CHECK-NEXT:    %none_1 = tile.create : !tile.tile<16x32xf32>
// CHECK-NEXT:    %n, %s, %s_1 = scf.while (%i = %c0, %acc = %none, %acc_1 = %none_1) : (index, !tile.tile<16x32xf32>, !tile.tile<16x32xf32>) -> (index, !tile.tile<16x32xf32>, !tile.tile<16x32xf32>) {
// CHECK:           scf.condition(%more) %i, %acc, %acc_1 : index, !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%j: index, %on: !tile.tile<16x32xf32>, %on_1: !tile.tile<16x32xf32>):
// CHECK:           %q, %q_1 = scf.if %first -> (!tile.tile<16x32xf32>, !tile.tile<16x32xf32>) {
// CHECK:             %q0 = tile.matmul
// CHECK:             %q0_1 = tile.matmul
// CHECK:             scf.yield %q0, %q0_1 : !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
// CHECK-NEXT:      } else {
// CHECK:             %q1 = tile.matmul_acc %on,
// CHECK:             %q1_1 = tile.matmul_acc %on_1,
// CHECK:             scf.yield %q1, %q1_1 : !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %next = arith.addi %j, %c32 : index
// CHECK-NEXT:      scf.yield %next, %q, %q_1 : index, !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %s_nd = tile.reshape %s : !tile.tile<16x32xf32> -> !tile.tile<1x16x32xf32>
orch.func incore @chosen_batch(in %x : tensor<2x16x128xf16>, in %w : tensor<2x128x32xf16>, out %o : tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %none = tile.create : !tile.tile<2x16x32xf32>
  %n, %s = scf.while (%i = %c0, %acc = %none) : (index, !tile.tile<2x16x32xf32>) -> (index, !tile.tile<2x16x32xf32>) {
    %more = arith.cmpi slt, %i, %c128 : index
    scf.condition(%more) %i, %acc : index, !tile.tile<2x16x32xf32>
  } do {
  ^bb0(%j : index, %on : !tile.tile<2x16x32xf32>):
    %a = tile.load %x[0, 0, %j] : tensor<2x16x128xf16> -> !tile.tile<2x16x32xf16>
    %b = tile.load %w[0, %j, 0] : tensor<2x128x32xf16> -> !tile.tile<2x32x32xf16>
    %first = arith.cmpi eq, %j, %c0 : index
    %q = scf.if %first -> (!tile.tile<2x16x32xf32>) {
      %q0 = tile.batch_matmul %a, %b : !tile.tile<2x16x32xf16>, !tile.tile<2x32x32xf16> -> !tile.tile<2x16x32xf32>
      scf.yield %q0 : !tile.tile<2x16x32xf32>
    } else {
      %q1 = tile.batch_matmul_acc %on, %a, %b : !tile.tile<2x16x32xf32>, !tile.tile<2x16x32xf16>, !tile.tile<2x32x32xf16>
      scf.yield %q1 : !tile.tile<2x16x32xf32>
    }
    %next = arith.addi %j, %c32 : index
    scf.yield %next, %q : index, !tile.tile<2x16x32xf32>
  }
  %r = tile.store %s, %o[0, 0, 0] : !tile.tile<2x16x32xf32>, tensor<2x16x32xf32>
  orch.return %r : tensor<2x16x32xf32>
}

// A batch of one is a matrix, which control flow hands on as it is.
// CHECK-LABEL: orch.func incore @batch_of_one(
// CHECK:         %s = scf.for %k = %c0 to %c128 step %c32 iter_args(%acc = %none) -> (!tile.tile<16x32xf32>) {
// CHECK:           %q = scf.if %first -> (!tile.tile<16x32xf32>) {
// CHECK:             %q0 = tile.matmul
// CHECK-NEXT:        scf.yield %q0 : !tile.tile<16x32xf32>
// CHECK-NEXT:      } else {
// CHECK:             %q1 = tile.matmul_acc %acc,
// CHECK-NEXT:        scf.yield %q1 : !tile.tile<16x32xf32>
orch.func incore @batch_of_one(in %x : tensor<1x16x128xf16>, in %w : tensor<1x128x32xf16>, out %o : tensor<1x16x32xf32>) -> tensor<1x16x32xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %none = tile.create : !tile.tile<1x16x32xf32>
  %s = scf.for %k = %c0 to %c128 step %c32 iter_args(%acc = %none) -> (!tile.tile<1x16x32xf32>) {
    %a = tile.load %x[0, 0, %k] : tensor<1x16x128xf16> -> !tile.tile<1x16x32xf16>
    %b = tile.load %w[0, %k, 0] : tensor<1x128x32xf16> -> !tile.tile<1x32x32xf16>
    %first = arith.cmpi eq, %k, %c0 : index
    %q = scf.if %first -> (!tile.tile<1x16x32xf32>) {
      %q0 = tile.batch_matmul %a, %b : !tile.tile<1x16x32xf16>, !tile.tile<1x32x32xf16> -> !tile.tile<1x16x32xf32>
      scf.yield %q0 : !tile.tile<1x16x32xf32>
    } else {
      %q1 = tile.batch_matmul_acc %acc, %a, %b : !tile.tile<1x16x32xf32>, !tile.tile<1x16x32xf16>, !tile.tile<1x32x32xf16>
      scf.yield %q1 : !tile.tile<1x16x32xf32>
    }
    scf.yield %q : !tile.tile<1x16x32xf32>
  }
  %r = tile.store %s, %o[0, 0, 0] : !tile.tile<1x16x32xf32>, tensor<1x16x32xf32>
  orch.return %r : tensor<1x16x32xf32>
}
