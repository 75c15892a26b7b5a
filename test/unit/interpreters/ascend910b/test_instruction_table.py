"""
Every instruction that the machine runs is checked against numpy by one of the tests beside this
one: a new instruction without a test fails here. Every op of `pto` runs, or says why it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from support.instruction_programs import Buffer, run_instruction
from unit.interpreters.ascend910b import (
    test_drain_instructions,
    test_elementwise_instructions,
    test_fold_and_spread_instructions,
    test_movement_instructions,
    test_selection_instructions,
)
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects.pto import PtoOp
from pypto_xdsl.dialects.pto.dialect import OPS
from pypto_xdsl.interpreters.ascend910b.functions import CoreFunctions
from pypto_xdsl.interpreters.ascend910b.queues import QueueFunctions
from pypto_xdsl.interpreters.pto import PTO_FUNCTIONS
from pypto_xdsl.interpreters.pto.refused import REFUSED

CHECKED: frozenset[str] = frozenset(
    name
    for module in (
        test_drain_instructions,
        test_elementwise_instructions,
        test_fold_and_spread_instructions,
        test_movement_instructions,
        test_selection_instructions,
    )
    for name in module.CHECKED
)

QUEUES = frozenset(
    f"t{what}_{way}"
    for what, ways in {
        "push": ("to_aiv", "to_aic"),
        "pop": ("from_aic", "from_aiv"),
        "free": ("from_aic", "from_aiv"),
    }.items()
    for way in ways
) | frozenset(("tpush", "tpop", "talloc", "tfree"))
"""Checked by `test_groups.py` and `test_queue_forms.py`: they need two cores."""


def implemented(*, machine: bool) -> Iterator[type[Operation]]:
    for functions in (*PTO_FUNCTIONS, *((CoreFunctions, QueueFunctions) if machine else ())):
        for op_class, _ in functions._impls():  # pyright: ignore[reportPrivateUsage]
            yield op_class


def instructions() -> frozenset[str]:
    """The mnemonics of what runs on a pipe."""
    return frozenset(
        op_class.DECLARATION.mnemonic
        for op_class in implemented(machine=True)
        if issubclass(op_class, PtoOp)
        and op_class.DECLARATION.pipe is not None
        and op_class not in REFUSED
    )


def test_each_instruction_is_checked() -> None:
    assert instructions() - QUEUES - CHECKED == frozenset()


def test_nothing_else_is() -> None:
    assert (CHECKED | QUEUES) - instructions() == frozenset()


@pytest.mark.parametrize("op_class", OPS, ids=lambda op_class: op_class.name)
def test_each_op_runs_or_says_why_not(op_class: type[Operation]) -> None:
    assert op_class in set(implemented(machine=False))


REASONS = {
    "pto.tsync ins(%d : {d})": "waits for tiles, which PTOAS does not plan: use events",
    "%n = pto.ptrtoint %d_g : !pto.ptr<f32> -> i64": "no address is known",
}


@pytest.mark.parametrize("text", REASONS)
def test_reasons_are_told_at_the_line(text: str) -> None:
    with pytest.raises(DiagnosticsError, match=re.escape(REASONS[text])) as error:
        run_instruction(text, {}, {"d": Buffer("f32")})
    assert str(error.value).startswith("program.mlir:")
