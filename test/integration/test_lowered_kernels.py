"""
Kernels written on tiles do on bytes what they did on values.

Each is run as written and after every pass that lowers it, with the same arguments; what they
leave behind is equal to the bit, undefined elements included.
"""

from __future__ import annotations

import pytest
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.run import find_function, random_arguments, run
from pypto_xdsl.syntax.parser import parse_module

LOWERING = (
    "convert-tensor-to-tile-ops",
    "flatten-tile-nd-to-2d",
    "infer-tile-memory-space",
    "resolve-backend-op-layouts{backend=ascend910b}",
    "convert-tile-to-pto{backend=ascend910b}",
    "memory-reuse",
    "allocate-memory-addr{backend=ascend910b}",
)

KERNELS = {
    "rows": (
        "in %x : tensor<16x64xf32>, out %o : tensor<4x64xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
        %r = tile.slice %t[4, 0] : !tile.tile<16x64xf32> -> !tile.tile<4x64xf32>
        %e = tile.exp %r : !tile.tile<4x64xf32>
        %s = tile.store %e, %o[0, 0] : !tile.tile<4x64xf32>, tensor<4x64xf32>
        """,
    ),
    "columns": (
        "in %x : tensor<16x64xf32>, out %o : tensor<16x32xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
        %r = tile.slice %t[0, 16] : !tile.tile<16x64xf32> -> !tile.tile<16x32xf32>
        %e = tile.neg %r : !tile.tile<16x32xf32>
        %s = tile.store %e, %o[0, 0] : !tile.tile<16x32xf32>, tensor<16x32xf32>
        """,
    ),
    "rows put together": (
        "in %x : tensor<8x64xf32>, out %o : tensor<16x64xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<8x64xf32> -> !tile.tile<8x64xf32>
        %n = tile.neg %t : !tile.tile<8x64xf32>
        %c = tile.create : !tile.tile<16x64xf32>
        %a = tile.assemble %t, %c[0, 0] : !tile.tile<8x64xf32>, !tile.tile<16x64xf32>
        %b = tile.assemble %n, %a[8, 0] : !tile.tile<8x64xf32>, !tile.tile<16x64xf32>
        %s = tile.store %b, %o[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
        """,
    ),
    "columns put together, the old tile used again": (
        "in %x : tensor<16x32xf32>, in %y : tensor<16x64xf32>, out %o : tensor<16x64xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
        %c = tile.load %y[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
        %a = tile.assemble %t, %c[0, 16] : !tile.tile<16x32xf32>, !tile.tile<16x64xf32>
        %b = tile.sub %a, %c : !tile.tile<16x64xf32>
        %s = tile.store %b, %o[0, 0] : !tile.tile<16x64xf32>, tensor<16x64xf32>
        """,
    ),
    "all of a source, whatever of it is valid": (
        "in %x : tensor<8x64xf32>, out %o : tensor<8x64xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<8x64xf32> -> !tile.tile<8x64xf32>
        %v = tile.set_validshape %t, valid = [4, 32]
          : !tile.tile<8x64xf32> -> !tile.tile<8x64xf32, valid = [4, 32]>
        %c = tile.create : !tile.tile<16x64xf32>
        %a = tile.assemble %v, %c[8, 0]
          : !tile.tile<8x64xf32, valid = [4, 32]>, !tile.tile<16x64xf32>
        %r = tile.slice %a[8, 0] : !tile.tile<16x64xf32> -> !tile.tile<8x64xf32>
        %s = tile.store %r, %o[0, 0] : !tile.tile<8x64xf32>, tensor<8x64xf32>
        """,
    ),
    "three dimensions": (
        "in %x : tensor<2x16x64xf32>, out %o : tensor<2x16x64xf32>, in %n : index",
        """
        %t = tile.load %x[0, 0, 0] : tensor<2x16x64xf32> -> !tile.tile<2x16x64xf32>
        %w = tile.create : !tile.tile<2x16x64xf32>
        %m = tile.row_max %t, %w : !tile.tile<2x16x64xf32>, !tile.tile<2x16x64xf32>
          -> !tile.tile<2x16x1xf32, blayout = col_major>
        %d = tile.row_expand_sub %t, %m
          : !tile.tile<2x16x64xf32>, !tile.tile<2x16x1xf32, blayout = col_major>
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %d) -> (!tile.tile<2x16x64xf32>) {
          %e = tile.exp %a : !tile.tile<2x16x64xf32>
          scf.yield %e : !tile.tile<2x16x64xf32>
        }
        %q = tile.reshape %r : !tile.tile<2x16x64xf32> -> !tile.tile<4x8x64xf32>
        %p = tile.reshape %q : !tile.tile<4x8x64xf32> -> !tile.tile<2x16x64xf32>
        %s = tile.store %p, %o[0, 0, 0] : !tile.tile<2x16x64xf32>, tensor<2x16x64xf32>
        """,
    ),
    "parts of three dimensions": (
        "in %x : tensor<4x16x64xf32>, in %n : index, inout %o : tensor<4x16x64xf32>",
        """
        %t = tile.load %x[1, 0, 8], valid = [1, %n, 40]
          : tensor<4x16x64xf32> -> !tile.tile<1x16x64xf32, valid = [1, ?, 40]>
        %u = tile.load %x[0, 0, 0]
          : tensor<4x16x64xf32> -> !tile.tile<4x16x64xf32, valid = [2, 16, 64]>
        %d = tile.neg %t : !tile.tile<1x16x64xf32, valid = [1, ?, 40]>
        %e = tile.exp %u : !tile.tile<4x16x64xf32, valid = [2, 16, 64]>
        %s = tile.store %e, %o[0, 0, 0]
          : !tile.tile<4x16x64xf32, valid = [2, 16, 64]>, tensor<4x16x64xf32>
        %v = tile.store %d, %s[0, 0, 24]
          : !tile.tile<1x16x64xf32, valid = [1, ?, 40]>, tensor<4x16x64xf32>
        """,
    ),
    "windows with extents known at run time": (
        "in %x : tensor<16x64xf32>, in %n : index, inout %o : tensor<16x64xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32>
        %r = tile.slice %t[%n, 0], valid = [%n, 64]
          : !tile.tile<16x64xf32> -> !tile.tile<8x64xf32, valid = [?, 64]>
        %e = tile.exp %r : !tile.tile<8x64xf32, valid = [?, 64]>
        %s = tile.store %e, %o[0, 0]
          : !tile.tile<8x64xf32, valid = [?, 64]>, tensor<16x64xf32>
        %c = tile.slice %t[0, 16], valid = [%n, 32]
          : !tile.tile<16x64xf32> -> !tile.tile<16x32xf32, valid = [?, 32]>
        %d = tile.neg %c : !tile.tile<16x32xf32, valid = [?, 32]>
        %u = tile.store %d, %s[8, 16]
          : !tile.tile<16x32xf32, valid = [?, 32]>, tensor<16x64xf32>
        """,
    ),
    "a product": (
        "in %a : tensor<32x64xf16>, in %b : tensor<64x32xf16>, out %o : tensor<32x32xf32>",
        """
        %l = tile.load %a[0, 0] : tensor<32x64xf16> -> !tile.tile<32x64xf16>
        %r = tile.load %b[0, 0] : tensor<64x32xf16> -> !tile.tile<64x32xf16>
        %p = tile.matmul %l, %r
          : !tile.tile<32x64xf16>, !tile.tile<64x32xf16> -> !tile.tile<32x32xf32>
        %s = tile.store %p, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
        """,
    ),
    "products summed in a loop": (
        "in %a : tensor<32x128xf16>, in %b : tensor<128x32xf16>, out %o : tensor<32x32xf32>",
        """
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %step = arith.constant 32 : index
        %l0 = tile.load %a[0, 0] : tensor<32x128xf16> -> !tile.tile<32x32xf16>
        %r0 = tile.load %b[0, 0] : tensor<128x32xf16> -> !tile.tile<32x32xf16>
        %p0 = tile.matmul %l0, %r0
          : !tile.tile<32x32xf16>, !tile.tile<32x32xf16> -> !tile.tile<32x32xf32>
        %p = scf.for %k = %c1 to %c4 step %c1 iter_args(%acc = %p0) -> (!tile.tile<32x32xf32>) {
          %d = arith.muli %k, %step : index
          %l = tile.load %a[0, %d] : tensor<32x128xf16> -> !tile.tile<32x32xf16>
          %r = tile.load %b[%d, 0] : tensor<128x32xf16> -> !tile.tile<32x32xf16>
          %n = tile.matmul_acc %acc, %l, %r
            : !tile.tile<32x32xf32>, !tile.tile<32x32xf16>, !tile.tile<32x32xf16>
          scf.yield %n : !tile.tile<32x32xf32>
        }
        %s = tile.store %p, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
        """,
    ),
    "a product with a bias, of a part of a matrix": (
        "in %a : tensor<32x64xf16>, in %b : tensor<32x32xf16>, in %c : tensor<1x32xf32>, "
        "out %o : tensor<32x32xf32>",
        """
        %m = tile.load %a[0, 0] : tensor<32x64xf16> -> !tile.tile<32x64xf16, mat>
        %l = tile.extract %m[0, 32] : !tile.tile<32x64xf16, mat> -> !tile.tile<32x32xf16, left>
        %r = tile.load %b[0, 0] : tensor<32x32xf16> -> !tile.tile<32x32xf16>
        %v = tile.load %c[0, 0] : tensor<1x32xf32> -> !tile.tile<1x32xf32>
        %p = tile.matmul_bias %l, %r, %v
          : !tile.tile<32x32xf16, left>, !tile.tile<32x32xf16>, !tile.tile<1x32xf32>
          -> !tile.tile<32x32xf32>
        %s = tile.store %p, %o[0, 0] : !tile.tile<32x32xf32>, tensor<32x32xf32>
        """,
    ),
    "a product of tensors, rounded as it is stored": (
        "in %a : tensor<32x64xf16>, in %b : tensor<64x32xf16>, out %o : tensor<32x32xf16>",
        """
        %p = ptensor.matmul %a, %b : tensor<32x64xf16>, tensor<64x32xf16> -> tensor<32x32xf16>
        %s = ptensor.assemble %p, %o[0, 0] : tensor<32x32xf16>
        """,
    ),
    "a product of two transposed windows": (
        "in %a : tensor<64x48xf16>, in %b : tensor<48x64xf16>, out %o : tensor<32x48xf32>",
        """
        %w = ptensor.slice %a[0, 16] : tensor<64x48xf16> -> tensor<64x32xf16>
        %p = ptensor.matmul %w, %b, out_dtype = f32, a_trans = true, b_trans = true
          : tensor<64x32xf16>, tensor<48x64xf16> -> tensor<32x48xf32>
        %s = ptensor.assemble %p, %o[0, 0] : tensor<32x48xf32>
        """,
    ),
    "batches of transposed matrices that broadcast, summed": (
        "in %a : tensor<2x1x32x64xf16>, in %b : tensor<3x48x64xf16>, "
        "out %o : tensor<2x3x32x48xf32>",
        """
        %p = ptensor.matmul %a, %b, out_dtype = f32, b_trans = true
          : tensor<2x1x32x64xf16>, tensor<3x48x64xf16> -> tensor<2x3x32x48xf32>
        %q = ptensor.matmul_acc %p, %a, %b, b_trans = true
          : tensor<2x3x32x48xf32>, tensor<2x1x32x64xf16>, tensor<3x48x64xf16>
        %s = ptensor.assemble %q, %o[0, 0, 0, 0] : tensor<2x3x32x48xf32>
        """,
    ),
    "a batch whose rows do not follow each other, rounded": (
        "in %a : tensor<4x64x32xf16>, in %b : tensor<16x32xf16>, in %n : index, "
        "inout %o : tensor<5x32x16xf16>",
        """
        %w = ptensor.slice %a[1, 16, 0] : tensor<4x64x32xf16> -> tensor<2x32x32xf16>
        %p = ptensor.matmul %w, %b, b_trans = true
          : tensor<2x32x32xf16>, tensor<16x32xf16> -> tensor<2x32x16xf16>
        %s = ptensor.assemble %p, %o[%n, 0, 0] : tensor<2x32x16xf16>, tensor<5x32x16xf16>
        """,
    ),
    "parts of a tile of three dimensions": (
        "in %x : tensor<4x16x64xf32>, in %n : index, out %o : tensor<4x16x64xf32>",
        """
        %t = tile.load %x[0, 0, 0] : tensor<4x16x64xf32> -> !tile.tile<4x16x64xf32>
        %p = tile.slice %t[%n, 0, 8] : !tile.tile<4x16x64xf32> -> !tile.tile<1x16x32xf32>
        %e = tile.exp %p : !tile.tile<1x16x32xf32>
        %q = tile.assemble %e, %t[3, 0, 16] : !tile.tile<1x16x32xf32>, !tile.tile<4x16x64xf32>
        %s = tile.store %q, %o[0, 0, 0] : !tile.tile<4x16x64xf32>, tensor<4x16x64xf32>
        """,
    ),
    "a batch of matrices transposed": (
        "in %x : tensor<2x16x8xf32>, out %o : tensor<2x8x16xf32>",
        """
        %t = tile.load %x[0, 0, 0] : tensor<2x16x8xf32> -> !tile.tile<2x16x8xf32>
        %u = tile.transpose %t, axis1 = 1, axis2 = 2
          : !tile.tile<2x16x8xf32> -> !tile.tile<2x8x16xf32>
        %s = tile.store %u, %o[0, 0, 0] : !tile.tile<2x8x16xf32>, tensor<2x8x16xf32>
        """,
    ),
    "a tensor of pages stretched along the first dimension": (
        "in %x : tensor<1x4x32xf32>, out %o : tensor<3x4x32xf32>",
        """
        %y = ptensor.expand_clone %x, %o : tensor<1x4x32xf32>, tensor<3x4x32xf32>
        """,
    ),
    "a tensor of pages stretched along the second": (
        "in %x : tensor<2x1x32xf32>, out %o : tensor<2x4x32xf32>",
        """
        %e = ptensor.exp %x : tensor<2x1x32xf32>
        %y = ptensor.expand_clone %e, %o : tensor<2x1x32xf32>, tensor<2x4x32xf32>
        """,
    ),
    "a tensor of pages stretched along the last": (
        "in %x : tensor<2x8x1xf32>, out %o : tensor<2x8x32xf32>",
        """
        %y = ptensor.expand_clone %x, %o : tensor<2x8x1xf32>, tensor<2x8x32xf32>
        """,
    ),
    "columns picked by a pattern, and put elsewhere": (
        "in %x : tensor<16x64xf32>, in %y : tensor<16x64xf32>, out %o : tensor<16x64xf32>",
        """
        %m = ptensor.gather_mask %x, mask_pattern = p1010 : tensor<16x64xf32> -> tensor<16x32xf32>
        %u = ptensor.scatter_mask %m, %y, mask_pattern = p0101
          : tensor<16x32xf32>, tensor<16x64xf32>
        %s = ptensor.assemble %u, %o[0, 0] : tensor<16x64xf32>
        """,
    ),
    "tensors seen transposed, loaded and computed": (
        "in %x : tensor<16x64xf32>, in %y : tensor<64x16xf32>, out %o : tensor<64x16xf32>",
        """
        %t = ptensor.transpose %x
          : tensor<16x64xf32> -> tensor<64x16xf32, #ptensor.view<layout = dn>>
        %e = ptensor.exp %t
          : tensor<64x16xf32, #ptensor.view<layout = dn>> -> tensor<64x16xf32>
        %n = ptensor.neg %y : tensor<64x16xf32>
        %u = ptensor.transpose %n
          : tensor<64x16xf32> -> tensor<16x64xf32, #ptensor.view<layout = dn>>
        %m = ptensor.exp %u
          : tensor<16x64xf32, #ptensor.view<layout = dn>> -> tensor<16x64xf32>
        %v = ptensor.transpose %m
          : tensor<16x64xf32> -> tensor<64x16xf32, #ptensor.view<layout = dn>>
        %d = ptensor.add %e, %v
          : tensor<64x16xf32>, tensor<64x16xf32, #ptensor.view<layout = dn>> -> tensor<64x16xf32>
        %s = ptensor.assemble %d, %o[0, 0] : tensor<64x16xf32>
        """,
    ),
    "a product with a tensor seen transposed": (
        "in %a : tensor<32x64xf16>, in %b : tensor<48x64xf16>, out %o : tensor<32x48xf32>",
        """
        %t = ptensor.transpose %b
          : tensor<48x64xf16> -> tensor<64x48xf16, #ptensor.view<layout = dn>>
        %p = ptensor.matmul %a, %t, out_dtype = f32
          : tensor<32x64xf16>, tensor<64x48xf16, #ptensor.view<layout = dn>> -> tensor<32x48xf32>
        %s = ptensor.assemble %p, %o[0, 0] : tensor<32x48xf32>
        """,
    ),
    "tiles stored to a buffer that is read again": (
        "in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>",
        """
        %b = ptensor.create : tensor<16x64xf32>
        %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<8x64xf32>
        %e = tile.exp %t : !tile.tile<8x64xf32>
        %b1 = tile.store %e, %b[8, 0] : !tile.tile<8x64xf32>, tensor<16x64xf32>
        %n = tile.neg %t : !tile.tile<8x64xf32>
        %b2 = tile.store %n, %b1[0, 0] : !tile.tile<8x64xf32>, tensor<16x64xf32>
        %u = tile.load %b2[8, 0] : tensor<16x64xf32> -> !tile.tile<8x64xf32>
        %a = tile.add %u, %t : !tile.tile<8x64xf32>
        %s = tile.store %a, %o[8, 0] : !tile.tile<8x64xf32>, tensor<16x64xf32>
        %w = tile.load %b2[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, valid = [8, 64]>
        %r = tile.store %w, %s[0, 0] : !tile.tile<16x64xf32, valid = [8, 64]>, tensor<16x64xf32>
        """,
    ),
    "tiles in places that the program says": (
        "in %x : tensor<16x64xf32>, out %o : tensor<16x64xf32>",
        """
        %b = tile.alloc buffer = "b", slots = 2, pinned : !tile.buffer
        %t0 = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
        %t = tile.place %t0, %b[1], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
        %e0 = tile.exp %t : !tile.tile<16x64xf32, vec>
        %e = tile.place %e0, %b[0], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
        %n = tile.neg %t : !tile.tile<16x64xf32, vec>
        %f0 = tile.add %e, %n : !tile.tile<16x64xf32, vec>
        %f = tile.place %f0, %b[1], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
        %s = tile.store %f, %o[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
        """,
    ),
    "products of windows of tensors, summed in a loop": (
        "in %a : tensor<32x128xf16>, in %b : tensor<128x32xf16>, out %o : tensor<32x32xf32>",
        """
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %step = arith.constant 32 : index
        %a0 = ptensor.slice %a[0, 0] : tensor<32x128xf16> -> tensor<32x32xf16>
        %b0 = ptensor.slice %b[0, 0] : tensor<128x32xf16> -> tensor<32x32xf16>
        %p0 = ptensor.matmul %a0, %b0, out_dtype = f32
          : tensor<32x32xf16>, tensor<32x32xf16> -> tensor<32x32xf32>
        %p = scf.for %k = %c1 to %c4 step %c1 iter_args(%acc = %p0) -> (tensor<32x32xf32>) {
          %d = arith.muli %k, %step : index
          %ak = ptensor.slice %a[0, %d] : tensor<32x128xf16> -> tensor<32x32xf16>
          %bk = ptensor.slice %b[%d, 0] : tensor<128x32xf16> -> tensor<32x32xf16>
          %n = ptensor.matmul_acc %acc, %ak, %bk
            : tensor<32x32xf32>, tensor<32x32xf16>, tensor<32x32xf16>
          scf.yield %n : tensor<32x32xf32>
        }
        %s = ptensor.assemble %p, %o[0, 0] : tensor<32x32xf32>
        """,
    ),
    "a transpose": (
        "in %x : tensor<16x32xf32>, out %o : tensor<32x16xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
        %w = tile.create : !tile.tile<16x32xf32>
        %e = tile.transpose %t, %w : !tile.tile<16x32xf32>, !tile.tile<16x32xf32>
          -> !tile.tile<32x16xf32>
        %s = tile.store %e, %o[0, 0] : !tile.tile<32x16xf32>, tensor<32x16xf32>
        """,
    ),
    "concatenation": (
        "in %x : tensor<16x32xf32>, in %y : tensor<16x16xf32>, out %o : tensor<16x48xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<16x32xf32> -> !tile.tile<16x32xf32>
        %u = tile.load %y[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32>
        %e = tile.concat %t, %u : !tile.tile<16x32xf32>, !tile.tile<16x16xf32>
          -> !tile.tile<16x48xf32>
        %s = tile.store %e, %o[0, 0] : !tile.tile<16x48xf32>, tensor<16x48xf32>
        """,
    ),
    "padding": (
        "in %x : tensor<8x24xf32>, out %o : tensor<8x32xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<8x24xf32> -> !tile.tile<8x32xf32, valid = [8, 24]>
        %e = tile.fillpad %t, pad_value = min : !tile.tile<8x32xf32, valid = [8, 24]>
          -> !tile.tile<8x32xf32, pad = min>
        %s = tile.store %e, %o[0, 0] : !tile.tile<8x32xf32, pad = min>, tensor<8x32xf32>
        """,
    ),
    "a sequence and what it picks": (
        "in %x : tensor<1x32xf32>, out %o : tensor<1x32xf32>",
        """
        %t = tile.load %x[0, 0] : tensor<1x32xf32> -> !tile.tile<1x32xf32>
        %c31 = arith.constant 31 : i32
        %i = tile.ci %c31, descending = true : i32 -> !tile.tile<1x32xi32>
        %w = tile.create : !tile.tile<1x32xi32>
        %g = tile.gather %t, %i, %w : !tile.tile<1x32xf32>, !tile.tile<1x32xi32>,
          !tile.tile<1x32xi32> -> !tile.tile<1x32xf32>
        %s = tile.store %g, %o[0, 0] : !tile.tile<1x32xf32>, tensor<1x32xf32>
        """,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_same_run(name: str) -> None:
    parameters, body = KERNELS[name]
    text = f"orch.func incore @kernel({parameters}) {{\n{body}\norch.return\n}}"
    module = parse_module(context(), text, name)
    module.verify()
    passes = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, ",".join(LOWERING))
    arguments = [
        3 if isinstance(argument, int) else argument
        for argument in random_arguments(find_function(module, "kernel"), 5)
    ]
    wanted = run(module, "kernel", arguments)
    for step in passes.passes:
        step.apply(context(), module)
        module.verify()
        assert compare_runs(run(module, "kernel", arguments), wanted) is None, step.name
