"""A kernel at every level between tensors and the core, run on numpy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.run import RunResult, run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module
from support.programs import context


def on_910b(functions: str) -> str:
    """The text of a module of these functions for the 910B."""
    return f'builtin.module attributes {{pto.target_arch = "a2a3"}} {{ {functions} }}'


TO_PTO = ("default-pipeline",)
TO_CORE = ("default-pipeline", "ascend910b-pipeline")
"""Down to the instructions of one core, ordered by events."""


def levels(text: str, pipelines: Sequence[str] = TO_PTO) -> Iterator[tuple[str, ModuleOp]]:
    """
    A program as written and, in place, after each pass of the pipelines, verified; with the name of
    the pass.
    """
    ctx = context()
    module = parse_module(ctx, text, "kernel.mlir")
    yield "as written", module
    spec = expand_pipelines(",".join(pipelines))
    for step in PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).passes:
        step.apply(ctx, module)
        module.verify()
        yield step.name, module


def results_at_levels(
    text: str,
    arguments: Sequence[Any],
    *,
    strict: bool = True,
    pipelines: Sequence[str] = TO_PTO,
) -> Iterator[tuple[str, list[Any]]]:
    """What the function `k` of a program gives at each level, for copies of the arguments."""
    for name, module in levels(text, pipelines):
        given = [copy(argument) for argument in arguments]
        yield name, [np.asarray(one) for one in run(module, "k", given, strict=strict).results]


def assert_gives(
    text: str, arguments: Sequence[Any], wanted: Any, *, pipelines: Sequence[str] = TO_PTO
) -> None:
    """The function `k` of a program has one result, which is what is wanted at each level."""
    for name, (found,) in results_at_levels(text, arguments, pipelines=pipelines):
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def assert_keeps_results(text: str, arguments: Sequence[Any]) -> None:
    """The function `k` of a program leaves behind the same at each level down to a core."""
    first: RunResult | None = None
    for name, module in levels(text, TO_CORE):
        if name == "convert-pto-to-ascend910b":
            # Nothing orders the pipes yet.
            continue
        found = run(module, "k", [copy(argument) for argument in arguments], strict=True)
        first = first or found
        assert (difference := compare_runs(found, first)) is None, f"{difference} after {name}"


def assert_fails(
    text: str, arguments: Sequence[Any], message: str, *, pipelines: Sequence[str] = TO_PTO
) -> None:
    """The function `k` of a program ends with an error that matches the message at each level."""
    for _, module in levels(text, pipelines):
        with pytest.raises(DiagnosticsError, match=message):
            run(module, "k", [copy(argument) for argument in arguments])
