"""
The examples, after every pass of the pipeline that stays at levels of the DSL: written in the DSL
they come back the same. That covers what passes leave behind: kernels for one kind of core, the
rings between them, directions of calls, named dependencies, scopes of the run time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dsl_levels import levels_of, modules_of, passes
from support.dsl_round_trip import assert_comes_back

EXAMPLES = sorted(
    path
    for path in (Path(__file__).parents[4] / "docs" / "examples").iterdir()
    if path.suffix in (".py", ".mlir")
)


def test_passes_that_leave_the_dsl_are_left_out() -> None:
    found = [spec.partition("{")[0] for spec in passes()]
    assert found[0] == "inline-functions"
    assert "auto-derive-task-dependencies" in found
    assert "classify-iter-arg-carry" in found
    assert "convert-tile-to-pto" not in found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_comes_back_at_every_level(path: Path) -> None:
    levels = [
        (name, level, module)
        for name, program in modules_of(path)
        for level, module in levels_of(program)
    ]
    assert levels
    for _, _, module in levels:
        assert_comes_back(module)
