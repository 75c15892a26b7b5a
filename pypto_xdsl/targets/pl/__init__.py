"""
A module as a program of PyPTO's Python DSL: `pypto-opt kernel.mlir -t pl`.

The text is in SSA form (`strict_ssa=True`): each name stands for one value, loops have
`init_values` and yield. PyPTO's parser reads it, and so does our front end, which gets the same
module from it; what the DSL has no words for is an error that names it.

* `program` writes functions and their signatures, `statements` the ops in them, `control_flow`
  loops, branches and scopes.
* `scalars` writes arithmetic as expressions, `calls` ops, whose arguments where they are not just
  operands and properties are in `tile_forms`, `tensor_forms`, `shared_forms`, `cross_core_forms`
  and `task_forms`, `dispatches` calls and submits of functions, `types` annotations, whose extents
  are `symbols`.

A text says more than PyPTO asks for where a module has it so: an annotation gives the whole type
of a tile, another name for a tensor its next type or name, a typed constant one that an op
computes. What PyPTO has no place for stands in marks that it hands on unread: that the step of a
loop is positive (`positive_step`), where the slots of a ring are (`gm_slot_buffer`), how a function
is called whose name Python has taken (`symbol`). Symbols called `_1`, `_2` name no extent.

What the DSL says otherwise than MLIR comes back as the DSL has it: a select as an `if`, a division
that rounds up as two that round down, what a scope hands out only if it is used, once, in the order
in which it is made; a next name of a buffer only if it is used; a level only where it does not
follow from the kind of a function. What a program is compiled for is no part of it. The text of
what comes back is the same.
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
