"""
A module as a program of PyPTO's Python DSL: `pypto-opt kernel.mlir -t pl`.

The text is in SSA form (`strict_ssa=True`): each name stands for one value, loops have
`init_values` and yield. Reading it back gives the same module; what the DSL has no words for is an
error that names it.

* `program` writes functions and their signatures, `statements` the ops in them, `control_flow`
  loops, branches and scopes.
* `scalars` writes arithmetic as expressions, `calls` ops, `dispatches` calls and submits of
  functions, `types` annotations, whose extents are `symbols`.

What the DSL says otherwise than MLIR comes back as the DSL has it: a select as an `if`, a division
that rounds up as two that round down, the step of a loop with a bound that makes it positive, an
extent that nothing names with a symbol of its own. The text of what comes back is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.properties.checked_pass import CheckedTarget
from pypto_xdsl.targets.pl.program import program_text


@dataclass(frozen=True)
class PlTarget(CheckedTarget):
    """Prints a program in PyPTO's Python DSL."""

    name = "pl"
    required = ("NormalizedStmtStructure",)

    def write(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(program_text(module))
