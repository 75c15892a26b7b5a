"""The kernels of a program."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import ops_inside
from pypto_xdsl.dialects import orch


def kernels(module: ModuleOp) -> Iterator[orch.FuncOp]:
    """The in-core functions of a module and of the modules inside, in the order of the text."""
    for op in ops_inside(module):
        if isinstance(op, orch.FuncOp):
            if op.kind.data.is_in_core:
                yield op
        elif isinstance(op, ModuleOp):
            yield from kernels(op)
