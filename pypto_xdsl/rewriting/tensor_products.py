"""
What becomes of a product of whole tensors once its operands are tiles.

The cube core multiplies matrices that come through L1, and sums in f32 or i32:

* An operand that is multiplied transposed is a `tile.transpose_view` of its tile in L1: nothing
  moves; a tile that was computed elsewhere is moved there first.
* Batches are `tile.batch_matmul`, which `flatten-tile-nd-to-2d` takes apart.
* A sum is rounded to a narrower type only as it is stored, so that is all such a result is for.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import OpResult, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.rewriting.inserter import Inserter

Product = ptensor.MatmulOp | ptensor.MatmulAccOp


def multiply(
    op: Product,
    lhs: SSAValue,
    rhs: SSAValue,
    acc: SSAValue | None,
    is_only_stored: Callable[[], bool],
    inserter: Inserter,
) -> OpResult:
    """
    Multiply the tiles `lhs` and `rhs` as `op` does the tensors they stand for, before `op`.
    `is_only_stored` says whether all that is done with the result is to put it into global memory.

    Raises `OpError` at `op` where the cube core has no such product.
    """
    if isinstance(op, ptensor.MatmulOp) and op.c_matrix_nz.value.data:
        raise OpError(op, "stores in blocks, which has no tile form yet")
    ranks = [TileType.of(value.type).get_num_dims() for value in (lhs, rhs)]
    if min(ranks) < 2:
        raise OpError(
            op, "multiplies a vector, but the cube core multiplies matrices: reshape it to one row"
        )
    if op.a_trans.value.data:
        lhs = _transposed(lhs, inserter)
    if op.b_trans.value.data:
        rhs = _transposed(rhs, inserter)
    in_batches = max(ranks) > 2
    try:
        if acc is None:
            new = tile.BatchMatmulOp(lhs, rhs) if in_batches else tile.MatmulOp(lhs, rhs)
        elif not in_batches:
            assert isinstance(op, ptensor.MatmulAccOp)
            new = tile.MatmulAccOp(acc, lhs, rhs, op.init_cond)
        elif isinstance(op, ptensor.MatmulAccOp) and op.init_cond is not None:
            raise VerifyException("a batch of products is added to what there is, unconditionally")
        else:
            new = tile.BatchMatmulAccOp(acc, lhs, rhs)
    except VerifyException as error:
        raise OpError(op, f"does not fit the cube core: {error}") from error
    product = inserter.insert(new, op.result.name_hint)
    wanted = ptensor.tensor_of(op.result.type).element_type
    total = TileType.of(product.type)
    if wanted == total.element_type:
        # Where it lives is not said yet, as of all tiles: branches and loops may hand it on.
        return _with_space(product, None)
    if not is_only_stored():
        raise OpError(
            op,
            f"gives {wanted}, but products are summed in {total.element_type} and rounded "
            f"only as they are stored: ask for out_dtype {total.element_type}",
        )
    # Only from there does a store convert.
    return _with_space(product, MemorySpace.ACC)


def _with_space(product: OpResult, space: MemorySpace | None) -> OpResult:
    type = TileType.of(product.type)
    if type.memory_space is space:
        return product
    placed = Rewriter.replace_value_with_new_type(product, type.with_space(space))
    assert isinstance(placed, OpResult)
    return placed


def _transposed(value: SSAValue, inserter: Inserter) -> SSAValue:
    """The transpose of each matrix of a tile, as a view of the tile in L1."""
    type, hint = TileType.of(value.type), value.name_hint
    if type.memory_space is not MemorySpace.MAT:
        move = tile.MoveOp(value, tile.MoveOp.moved(type, MemorySpace.MAT))
        value = inserter.insert(move, None if hint is None else f"{hint}_mat")
        hint = value.name_hint
    return inserter.insert(tile.TransposeViewOp(value), None if hint is None else f"{hint}_t")
