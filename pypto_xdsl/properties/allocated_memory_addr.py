"""
AllocatedMemoryAddr: every on-chip buffer of a lowered kernel has an address in its memory.

The address is a constant, aligned as the memory wants it, and the buffer ends within the memory.
Buffers may overlap: that is how storage is shared and how bytes get another type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.buffer_liveness import is_alloc, size_in_bytes, space_of
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.registry import backend_of
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.pto import PtoOp
from pypto_xdsl.dialects.pto.rules import constant_value
from pypto_xdsl.properties.registry import Property


def _unplaced(module: ModuleOp) -> Iterable[Diagnostic]:
    backends: dict[ModuleOp, Backend | None] = {}
    for op in walk(module):
        if is_alloc(op):
            assert isinstance(op, PtoOp)
            yield from _errors(op, _backend_around(op, backends))


def _backend_around(op: Operation, known: dict[ModuleOp, Backend | None]) -> Backend | None:
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ModuleOp):
            if parent not in known:
                known[parent] = backend_of(parent)
            if (found := known[parent]) is not None:
                return found
        parent = parent.parent_op()
    return None


def _errors(op: PtoOp, backend: Backend | None) -> Iterator[Diagnostic]:
    value = op.optional_operand("addr")
    if value is None:
        yield diagnose(op, "has no address")
        return
    address = constant_value(value)
    if address is None:
        yield diagnose(op, "has an address that is known only at run time")
        return
    if backend is None:
        return
    type = op.results[0].type
    space, size = space_of(type), size_in_bytes(type)
    memory = backend.on_chip[space]
    if address % memory.alignment:
        yield diagnose(op, f"lies at {address}, which is no multiple of {memory.alignment}")
    if address < 0 or address + size > memory.size:
        yield diagnose(
            op,
            f"lies at {address}..{address + size}, outside the {memory.size} bytes of {space}",
        )


PROPERTY = Property(
    "AllocatedMemoryAddr",
    "every on-chip buffer of a lowered kernel has an address in its memory",
    _unplaced,
)
