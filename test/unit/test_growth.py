"""
Every pass does linear work: eight times the program costs less than ten times the calls.

Calls of Python functions are counted instead of time, so that the test says the same on any
machine; `tools/benchmark.py` has the times.
"""

from __future__ import annotations

import cProfile
import pstats

import pytest
from synthetic_programs import FOR_PASS, FOR_PROPERTY, PROGRAMS
from xdsl.context import Context
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.properties.registry import get_property
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.universe import PYPTO_UNIVERSE

SMALL, LARGE = 1_000, 8_000
LIMIT = 10.0


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def calls_of(step: str, program: str, size: int) -> int:
    """How many Python calls a step makes on a program of a size."""
    ctx = context()
    text = PROGRAMS[program](size)
    parse_module(ctx, PROGRAMS[program](10), "warm_up.mlir")  # Loads the dialects.
    profile = cProfile.Profile()
    if step == "parse":
        profile.runcall(parse_module, ctx, text, "growth.mlir")
    else:
        module = parse_module(ctx, text, "growth.mlir")
        if step == "verify":
            profile.runcall(verify, module)
        elif step == "print":
            profile.runcall(str, module)
        elif step in FOR_PROPERTY:
            profile.runcall(list, get_property(step).verifier(module))
        else:
            profile.runcall(PYPTO_UNIVERSE.all_passes[step]()().apply, ctx, module)
    return pstats.Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]


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
