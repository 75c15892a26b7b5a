"""The kernels of a program, and what of it is in which function."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.walk import ops_inside, walk
from pypto_xdsl.dialects import orch


def kernels(module: ModuleOp) -> Iterator[orch.FuncOp]:
    """The in-core functions of a module and of the modules inside, in the order of the text."""
    for op in ops_inside(module):
        if isinstance(op, orch.FuncOp):
            if op.kind.data.is_in_core:
                yield op
        elif isinstance(op, ModuleOp):
            yield from kernels(op)


def with_functions(module: Operation) -> Iterator[tuple[Operation, orch.FuncOp | None]]:
    """
    Every op of a module, in the order of the text, and the `orch.func` that it is in or that it
    is; None in functions of other dialects, and outside of functions.
    """
    function: orch.FuncOp | None = None
    for op in walk(module):
        if op.regions and isinstance(op.parent_op(), ModuleOp):
            function = op if isinstance(op, orch.FuncOp) else None
        yield op, function
