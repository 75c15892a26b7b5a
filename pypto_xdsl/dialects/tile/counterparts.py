"""Which op on tiles does what an op on whole tensors does: the one of its name, if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.ir import Operation

from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import Tile


def counterpart_on_tiles(op: Operation) -> type[DeclaredOp] | None:
    """The op `tile.<name>` to an op `ptensor.<name>`; None if the dialect has none."""
    return _by_name().get(_short_name(op))


@cache
def _by_name() -> Mapping[str, type[DeclaredOp]]:
    return {_short_name(op): op for op in Tile.operations if issubclass(op, DeclaredOp)}


def _short_name(op: Operation | type[Operation]) -> str:
    return op.name.partition(".")[2]
