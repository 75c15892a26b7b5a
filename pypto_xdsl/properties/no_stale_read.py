"""
NoStaleRead: nothing reads a tensor through a name that is older than a write.

Then a program means the same whether its tensors are read as values or as memory, see
`analysis/stale_reads.py`. In a group or an spmd wrapper the kernels run side by side and share
buffers to talk to each other: program order says nothing there, and nothing is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from pypto_xdsl.analysis.buffer_roots import ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.stale_reads import StaleRead, stale_reads
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.properties.registry import Property


def stale_reads_in(module: ModuleOp) -> Iterator[StaleRead]:
    """Every stale read of a program, outside its wrappers."""
    roots = ProgramRoots(ReturnLineage(CallGraph(module)))
    for function in roots.lineage.calls.functions:
        if not function.kind.data.is_wrapper and not function.is_declaration:
            yield from stale_reads(function, roots.lineage, roots.of(function))


def _stale_reads(module: ModuleOp) -> Iterable[Diagnostic]:
    return map(describe, stale_reads_in(module))


def describe(read: StaleRead) -> Diagnostic:
    """The error that a stale read is."""
    operand = _spelled(read.operand)
    notes = [note(read.write, "the buffer may be written here, which gives it a new name")]
    if read.stale is read.operand:
        return diagnose(read.op, f"reads {operand}, which is older than a write", notes)
    return diagnose(
        read.op,
        f"reads {operand}, which was made from {_spelled(read.stale)}, older than a write",
        [*notes, note(read.stale, "the older name is defined here")],
    )


def _spelled(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else f"a value of type {value.type}"


PROPERTY = Property(
    "NoStaleRead", "no tensor is read through a name that is older than a write", _stale_reads
)
