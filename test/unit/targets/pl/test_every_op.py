"""
Every op of tensors, tiles and tasks comes back from its text, or is refused with its name.

The ops are those of the dialects' lit tests and of the passes', each alone in a program of its
own. What the DSL has no words for is listed below: an op with nothing but refusals that is not
listed fails here, and so does one that is listed and comes back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support.dsl_round_trip import assert_comes_back
from support.programs import context
from support.single_ops import alone, single_op
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.universe import PYPTO_UNIVERSE

FILECHECK = Path(__file__).parents[3] / "filecheck"
DIALECTS = ("tile", "ptensor", "orch")
ENOUGH = 6
"""How many different programs of an op are tried."""

NO_SPELLING = {
    "tile.valid_dim": "has no spelling in the DSL",
    # PyPTO makes it while it lowers tasks, and does not read it.
    "orch.task_is_valid": "has no spelling in the DSL",
    "ptensor.aiv_shard": "outside of a region that splits",
    "ptensor.aic_gather": "outside of a region that splits",
}
"""Ops that the DSL has no words for when they are alone, and what is said of them."""

REFUSED = (
    "with a run-time valid region",
    "with a value known at run time",
    "but for rows and columns",
    "is not constant",
    "at an offset without a size",
    "a buffer by name is pinned",
    "that the DSL has no word",
    "has no spelling in the DSL: tensor<",
    "infer-tile-memory-space finds out",
)
"""What is said of ops that the DSL has, of which it cannot say all that they say."""

NOT_ALONE = {
    # Another name for a tensor, which is the same where nothing was written: see test_names.
    "ptensor.updated",
}
"""Ops that say nothing when they are alone."""

SAYS_LESS = {
    # Extents that are forgotten stay known, constants that are given for them become known.
    "ptensor.type_cast",
    "ptensor.create",
    # A buffer in which nothing lies is not declared.
    "tile.alloc",
    # The tensor after a store is the one before.
    "tile.store",
}
"""Ops of which the text says less, or more, in some of their forms."""


def _modules() -> Iterator[ModuleOp]:
    for folder in ("targets/pl", "dialects", "transforms"):
        for path in sorted((FILECHECK / folder).rglob("*.mlir")):
            for part in path.read_text().split("// -----"):
                try:
                    module = parse_module(context(), part, str(path))
                except DiagnosticsError:
                    continue
                if not verify(module):
                    yield module


@cache
def single_ops() -> dict[str, list[ModuleOp]]:
    """Programs of one op each, by the name of the op."""
    found: dict[str, list[ModuleOp]] = defaultdict(list)
    seen: set[str] = set()
    for module in _modules():
        for op in alone(module, *DIALECTS):
            if len(found[op.name]) >= ENOUGH:
                continue
            program = single_op(op)
            text = str(program)
            if text not in seen and not verify(program):
                seen.add(text)
                found[op.name].append(program)
    return found


def _ops() -> Iterator[type[Operation]]:
    for dialect in DIALECTS:
        yield from PYPTO_UNIVERSE.all_dialects[dialect]().operations


NAMES = sorted(
    op.name
    for op in _ops()
    # Functions, scopes, calls and what ends them are what other tests are made of.
    if not op.name.startswith("orch.") or op.name.startswith(("orch.array", "orch.task_"))
    if op.name not in ("orch.task_scope", *NOT_ALONE)
)


@pytest.mark.parametrize("name", NAMES)
def test_op_comes_back(name: str) -> None:
    programs = single_ops().get(name, [])
    assert programs, "no test has this op"
    back = 0
    for program in programs:
        try:
            assert_comes_back(program)
        except DiagnosticsError as e:
            message = str(e)
            assert f"'{name}'" in message or "'tile.set_validshape'" in message, message
            known = NO_SPELLING.get(name)
            reasons = REFUSED if known is None else (known,)
            assert any(reason in message for reason in reasons), message
        except AssertionError:
            assert name in SAYS_LESS
        else:
            back += 1
    assert (back == 0) == (name in NO_SPELLING)
