"""Every op on tiles is lowered, or says which pass takes it apart before."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from pypto_xdsl.backend.ascend910b import BACKEND
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.pipelines import PIPELINES
from pypto_xdsl.rewriting.kernel_lowering import LOWERINGS
from pypto_xdsl.rewriting.ring_lowering import RING_OPS
from pypto_xdsl.universe import PYPTO_UNIVERSE

TILE_OPS: list[type[Operation]] = list(tile.Tile.operations)
PASSES = [spec.partition("{")[0] for spec in PIPELINES["default-pipeline"]]


@pytest.mark.parametrize("op_class", TILE_OPS, ids=lambda op_class: op_class.name)
def test_op_is_lowered_in_one_way(op_class: type[DeclaredOp]):
    """As an instruction of the backend, by code of its own that may use that, or not at all."""
    lowered = op_class in LOWERINGS or op_class in BACKEND.instructions
    assert lowered != bool(op_class.TAKEN_APART_BY)


@pytest.mark.parametrize(
    "op_class",
    [op for op in TILE_OPS if issubclass(op, DeclaredOp) and op.TAKEN_APART_BY],
    ids=lambda op_class: op_class.name,
)
def test_op_is_taken_apart_by_a_pass_before(op_class: type[DeclaredOp]):
    name = op_class.TAKEN_APART_BY
    assert name in PYPTO_UNIVERSE.all_passes
    assert PASSES.index(name) < PASSES.index("convert-tile-to-pto")


def test_nothing_else_is_lowered():
    """What is lowered exists, and no op of rings is forgotten."""
    dialects = {op.name.partition(".")[0] for op in LOWERINGS}
    assert dialects == {"tile", "ptensor", "scf"}
    rings = {op for op in TILE_OPS if issubclass(op, tile.RingOp)}
    assert rings == set(RING_OPS)
