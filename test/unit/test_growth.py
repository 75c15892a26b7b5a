"""
Every pass does linear work: eight times the program costs less than ten times the calls.

Calls of Python functions are counted instead of time, so that the test says the same on any
machine; `tools/benchmark.py` has the times.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeVar

import pytest
from synthetic_programs import FOR_PASS, FOR_PROPERTY, PROGRAMS
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import Diagnostic
from pypto_xdsl.properties.registry import get_property
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.universe import PYPTO_UNIVERSE

_T = TypeVar("_T")

SMALL, LARGE = 1_000, 8_000
LIMIT = 10.0


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def calls_in(function: Callable[..., _T], *args: object) -> tuple[int, _T]:
    """How many Python calls a function makes, and what it returns."""
    profile = cProfile.Profile()
    result = profile.runcall(function, *args)
    return pstats.Stats(profile).total_calls, result  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]


@lru_cache(maxsize=2)
def parsed(program: str, size: int) -> tuple[int, ModuleOp]:
    """
    A program of a size, and how many calls reading it takes. Both sizes of one program are kept
    for the steps that leave it as it is, since reading is most of what this file does.
    """
    ctx = context()
    parse_module(ctx, PROGRAMS[program](10), "warm_up.mlir")  # Loads the dialects.
    return calls_in(parse_module, ctx, PROGRAMS[program](size), "growth.mlir")


def _check(name: str, module: ModuleOp) -> Sequence[Diagnostic]:
    return list(get_property(name).verifier(module))


READ_ONLY: Mapping[str, Callable[[ModuleOp], object]] = {
    "verify": verify,
    "print": str,
    **{name: partial(_check, name) for name in FOR_PROPERTY},
}


def calls_of(step: str, program: str, size: int) -> int:
    """How many Python calls a step makes on a program of a size."""
    if step == "parse":
        return parsed(program, size)[0]
    if step in READ_ONLY:
        return calls_in(READ_ONLY[step], parsed(program, size)[1])[0]
    ctx = context()
    module = parse_module(ctx, PROGRAMS[program](size), "growth.mlir")
    return calls_in(PYPTO_UNIVERSE.all_passes[step]()().apply, ctx, module)[0]


STEPS = [
    *((step, program) for program in PROGRAMS for step in ("parse", "verify", "print")),
    *((name, program) for name, program in FOR_PASS.items() if name in PYPTO_UNIVERSE.all_passes),
    *FOR_PROPERTY.items(),
]


@pytest.mark.parametrize(("step", "program"), STEPS)
def test_work_grows_linearly(step: str, program: str) -> None:
    small, large = calls_of(step, program, SMALL), calls_of(step, program, LARGE)
    assert small > SMALL  # It did something.
    assert large < LIMIT * small
