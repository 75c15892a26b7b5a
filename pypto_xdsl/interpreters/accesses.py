"""
What functions really read and write: each call's accesses to its tensor parameters, element by
element. Directions that are derived can be tested against it.

    recorder = AccessRecorder()
    run(module, "main", arguments, listeners=(recorder,), observer=recorder.observe)
    for call in recorder.calls: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from pypto_xdsl.dialects import orch
from pypto_xdsl.interpreters.elements import Array, Mask
from pypto_xdsl.interpreters.values import Buffer, Tensor


@dataclass(frozen=True)
class ParameterAccess:
    """What one call did to one tensor parameter, a flag for each element."""

    name: str
    read: Mask
    """Read at any time."""
    read_first: Mask
    """Read before this call wrote it: what the call depends on."""
    written: Mask

    @property
    def direction(self) -> orch.Direction | None:
        """The least direction that allows these accesses; None if there were none."""
        if self.written.any():
            return orch.Direction.INOUT if self.read_first.any() else orch.Direction.OUT
        return orch.Direction.IN if self.read_first.any() else None


@dataclass(frozen=True)
class CallAccess:
    """What one call or submit did to its tensor arguments."""

    op: orch.DispatchOp
    arguments: dict[int, ParameterAccess]
    """By the position of the argument."""


class _Flags:
    """Flags for the bytes of one buffer during one call."""

    def __init__(self, buffer: Buffer):
        self.buffer = buffer
        self.read = np.zeros(buffer.memory.nbytes, np.bool_)
        self.read_first = np.zeros(buffer.memory.nbytes, np.bool_)
        self.written = np.zeros(buffer.memory.nbytes, np.bool_)

    def record(self, kind: Literal["read", "write"], view: Array) -> None:
        written = self._part(self.written, view)
        if kind == "write":
            written[...] = True
            return
        self._part(self.read, view)[...] = True
        first = self._part(self.read_first, view)
        first |= ~written

    def access(self, name: str, view: Array) -> ParameterAccess:
        read, first, written = (
            np.asarray(np.any(self._part(flags, view), axis=-1))
            if view.itemsize > 1
            else self._part(flags, view).copy()
            for flags in (self.read, self.read_first, self.written)
        )
        return ParameterAccess(name, read, first, written)

    def _part(self, flags: Mask, view: Array) -> Mask:
        return self.buffer.flags(view, flags, 1)


@dataclass
class _Frame:
    op: orch.DispatchOp
    arguments: Sequence[Any]
    flags: dict[int, _Flags] = field(default_factory=dict[int, _Flags])
    """By the identity of a buffer."""


class AccessRecorder(Interpreter.Listener):
    """
    Records what each call and submit does; accesses of nested calls count for all of them. What
    kernels do that wait for each other counts for the call of their group, which runs them.
    """

    def __init__(self) -> None:
        self.calls: list[CallAccess] = []
        """In the order in which they ended."""
        self._frames: list[_Frame] = []

    def observe(self, kind: Literal["read", "write"], buffer: Buffer, view: Array) -> None:
        """The observer of the run."""
        for frame in self._frames:
            flags = frame.flags.get(id(buffer))
            if flags is not None and view.size:
                flags.record(kind, view)

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        if not isinstance(op, orch.DispatchOp):
            return
        frame = _Frame(op, args[: len(op.arguments)])
        for argument in frame.arguments:
            if isinstance(argument, Tensor):
                buffer = argument.buffer
                frame.flags.setdefault(id(buffer), _Flags(buffer))
        self._frames.append(frame)

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if not isinstance(op, orch.DispatchOp):
            return
        frame = self._frames.pop()
        found: dict[int, ParameterAccess] = {}
        for place, argument in enumerate(frame.arguments):
            if isinstance(argument, Tensor):
                name = op.arguments[place].name_hint or f"argument {place}"
                flags = frame.flags[id(argument.buffer)]
                found[place] = flags.access(name, argument.array)
        self.calls.append(CallAccess(frame.op, found))
