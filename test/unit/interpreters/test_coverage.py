"""Every op of the dialects can be run: a new op without a meaning fails here."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.interpreters.run import machine_for

NOT_RUN: dict[str, str] = {
    "orch.func": "a symbol: it is called, not executed",
    "scf.execute_region": "not used by PyPTO programs",
    "scf.forall": "not used by PyPTO programs",
    "scf.in_parallel": "not used by PyPTO programs",
    "scf.parallel": "parallel loops are `scf.for` with a loop kind",
    "scf.reduce": "part of scf.parallel",
    "scf.reduce.return": "part of scf.parallel",
    "arith.addui_extended": "not used by PyPTO programs",
    "arith.mulsi_extended": "not used by PyPTO programs",
    "arith.mului_extended": "not used by PyPTO programs",
}
"""Ops that the interpreter does not run, and why."""


def all_ops() -> Iterable[type[Operation]]:
    for dialect in (tile.Tile, ptensor.PTensor, orch.Orch, arith.Arith, scf.Scf):
        yield from dialect.operations


@pytest.mark.parametrize("op_class", list(all_ops()), ids=lambda op_class: op_class.name)
def test_op_is_implemented_or_listed(op_class: type[Operation]):
    machine = machine_for(ModuleOp([]))
    implemented = op_class in machine._impls._impl_dict  # pyright: ignore[reportPrivateUsage]
    assert implemented != (op_class.name in NOT_RUN)
