"""
What is left of the turns of a steady loop, as a Python function (see `steady_loops.py`).

    def loop(turns, carried, bound):
        index, a0, limit, b0, f1, n2, log2, ... = bound
        t1 = t2 = None
        done = 0
        try:
            for i in turns:
                if not (0 <= i <= 2016):
                    break
                w3 = a0[i:i+32, 0:1024]
                if b0.defined is not None and b0.undefined_mask(w3) is not None:
                    break
                w4 = a1[i:i+32, 0:1024]
                t1 = w3
                t2 = f1(t1, t1)
                w4[...] = t2
                done += 1
        ...

Numbers and windows come first, since they depend on nothing that a tile holds: where one is not as
it has to be, the turn has done nothing yet. What a tile holds is a local variable, if it is read
as the region that was written last; everything else is left to the memory of the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.interpreter import PythonValues
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.pto import Pipe
from pypto_xdsl.interpreters.ascend910b.copy_on_write import Lender
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.globals import BufferHistory, CoreView, Trace
from pypto_xdsl.interpreters.ascend910b.lanes import Lane
from pypto_xdsl.interpreters.ascend910b.memory import CoreMemory, Segment, Span
from pypto_xdsl.interpreters.control_flow import index_maker
from pypto_xdsl.interpreters.execution import PROGRAM_ERRORS, Prepared, error_at
from pypto_xdsl.interpreters.machine import Machine
from pypto_xdsl.interpreters.pto.array_forms import ArrayForm, Form, Region, form_of
from pypto_xdsl.interpreters.pto.operands import constants_of, operand_place, operand_range
from pypto_xdsl.interpreters.values import Buffer

_SCALARS = (IndexType, IntegerType, AnyFloat)
_ORDERS = (ascend910b.EventOp, ascend910b.BarrierOp)

Step: TypeAlias = tuple[Operation, Prepared]
Function: TypeAlias = Callable[[range, PythonValues, Sequence[Any]], tuple[int, Any, Any]]


class _NotSteady(Exception):
    """There is something that only the core itself can do."""


@dataclass(frozen=True)
class Window:
    """A window of global memory that differs from turn to turn by where it starts."""

    run: Prepared
    operands: Sequence[SSAValue]
    result: SSAValue
    source: SSAValue
    offsets: Sequence[SSAValue]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Instruction:
    """An instruction that has an array form."""

    op: Operation
    form: Form
    operands: Sequence[SSAValue]
    pipe: Pipe


@dataclass
class LoopShape:
    """The ops of a loop, by what they depend on."""

    loop: scf.ForOp
    fixed: list[Step] = field(default_factory=list[Step])
    """What gives the same each turn."""
    scalars: list[Step] = field(default_factory=list[Step])
    """What computes numbers that differ."""
    windows: list[Window] = field(default_factory=list[Window])
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    uses_index: bool = False
    """Whether something is computed with the index, or it is carried on."""
    failures: int = 0
    """How often the loop was run and was not steady."""

    @classmethod
    def of(cls, loop: scf.ForOp, steps: Sequence[Step]) -> LoopShape | None:
        """The shape of a loop that may be steady, else None."""
        shape = cls(loop)
        varying: set[SSAValue] = set(loop.body.block.args)
        windows: set[SSAValue] = set()
        terminator = loop.body.block.last_op
        if terminator is None or any(
            not isinstance(value.type, _SCALARS) for value in terminator.operands
        ):
            return None
        for op, run in steps:
            form = form_of(run)
            uses = {operand for operand in op.operands if operand in varying}
            if form is not None:
                if uses - windows or op.results or not isinstance(op, pto.PtoOp):
                    return None
                assert op.pipe is not None
                shape.instructions.append(Instruction(op, form, tuple(op.operands), op.pipe))
            elif isinstance(op, _ORDERS):
                if op.operands:
                    return None
            elif op.regions or not is_side_effect_free(op) or uses & windows:
                return None
            elif not uses:
                shape.fixed.append((op, run))
            elif (window := _window(op, run)) is not None and window.source not in varying:
                shape.windows.append(window)
                windows.add(window.result)
                varying.add(window.result)
            elif all(isinstance(value.type, _SCALARS) for value in (*op.operands, *op.results)):
                shape.scalars.append((op, run))
                varying.update(op.results)
            else:
                return None
        index = loop.body.block.args[0]
        shape.uses_index = any(
            index in op.operands for op in (terminator, *(op for op, _ in shape.scalars))
        )
        return shape if shape.instructions else None


def _window(op: Operation, run: Prepared) -> Window | None:
    if not isinstance(op, pto.PartitionViewOp):
        return None
    sizes = constants_of(op.operands[operand_range(op, "sizes")])
    if sizes is None:
        return None
    source = op.operands[operand_place(op, "source")]
    offsets = op.operands[operand_range(op, "offsets")]
    return Window(run, tuple(op.operands), op.results[0], source, tuple(offsets), sizes)


@dataclass(frozen=True)
class Access:
    """What an instruction does to global memory."""

    history: BufferHistory
    trace: Trace
    lane: Lane
    number: int
    """Of the instruction among all that its lane is given in a turn, from 1."""
    place: int
    """Where its number is among what the function is given."""


@dataclass
class _Kept:
    """What a segment of memory holds, in the middle of a turn."""

    held: Span | None
    is_stale: bool
    is_spoiled: bool

    @classmethod
    def of(cls, segment: Segment) -> _Kept:
        return cls(segment.held, segment.is_stale, segment.is_spoiled)

    def is_as_before(self, segment: Segment) -> bool:
        return self == _Kept.of(segment)


@dataclass
class LoopCode:
    """A steady loop, ready to run from the state that its core is in."""

    function: Function
    bound: list[Any]
    """What the function is given: the ops by their lines, then all that is the same each turn."""
    initials: list[tuple[int, Span]]
    """The regions that are read before they are written, and where their values are in `bound`."""
    accesses: list[Access]
    finals: list[tuple[CoreMemory, Span]]
    """The regions whose values the function returns."""

    @classmethod
    def of(
        cls,
        machine: Machine,
        core: Core,
        shape: LoopShape,
        index: Any,
        carried: PythonValues,
        ops: Sequence[list[Operation]],
    ) -> LoopCode | None:
        """
        The code of a loop that begins a turn with this index and these values, on the core as it
        is. `ops` are what each lane of the core is given in a turn.
        """
        try:
            return _Writer(machine, core, shape, index, carried, ops).write()
        except (_NotSteady, *PROGRAM_ERRORS):
            # An error is told by the turn that it is in.
            return None

    def run(self, turns: range, carried: PythonValues) -> tuple[int, PythonValues]:
        """Run turns while they are steady: how many were, and what the last one returned."""
        bound = self.bound
        for place, span in self.initials:
            bound[place] = span.value
        for access in self.accesses:
            bound[access.place] = len(access.lane.ops) + access.number
        done, carried, values = self.function(turns, carried, bound)
        if done:
            for (memory, span), value in zip(self.finals, values, strict=True):
                memory.keep(span, value)
            for access in self.accesses:
                access.history.file_if_long(access.trace)
        return done, carried


class _Writer:
    """Writes the function of a loop, following what its instructions do to the memories."""

    def __init__(
        self,
        machine: Machine,
        core: Core,
        shape: LoopShape,
        index: Any,
        carried: PythonValues,
        ops: Sequence[list[Operation]],
    ) -> None:
        self._machine, self._core, self._shape, self._ops = machine, core, shape, ops
        self._values: dict[SSAValue, Any] = dict(
            zip(shape.loop.body.block.args, (index, *carried), strict=True)
        )
        self._names: dict[SSAValue, str] = {}
        """Of numbers and windows that differ."""
        self._given: list[str] = []
        self._bound: list[Any] = []
        self._first: list[str] = []
        """The lines of a turn that have no effect."""
        self._then: list[tuple[str, Operation]] = []
        self._kept: dict[Segment, _Kept] = {}
        self._locals: dict[Span, str] = {}
        self._initials: list[tuple[int, Span]] = []
        self._written: dict[Span, CoreMemory] = {}
        self._accesses: list[Access] = []
        self._lenders: set[Lender] = set()
        """Of global memory that is written."""

    def write(self) -> LoopCode:
        self._evaluate()
        forms = [(op, *self._form(op)) for op in self._shape.instructions]
        for _, args, form in forms:
            target = args[form.write[0]]
            if isinstance(target, CoreView):
                self._lenders.add(self._core.group.lenders.lender_of(target.pointer.buffer.memory))
        for lender in self._lenders:
            lender.recall()
        self._write_numbers()
        for op, args, form in forms:
            self._write_instruction(op, args, form)
        if any(not kept.is_as_before(segment) for segment, kept in self._kept.items()):
            raise _NotSteady
        finals = [
            (memory, span)
            for span, memory in self._written.items()
            if self._state(span.segment).held is span
        ]
        function = _function(self._text([self._locals[span] for _, span in finals]))
        return LoopCode(
            function, [self._ops_by_line, *self._bound], self._initials, self._accesses, finals
        )

    # What the next turn is given.

    def _evaluate(self) -> None:
        """What the steps of the next turn give that depend on nothing that a tile holds."""
        shape = self._shape
        for op, run in (*shape.fixed, *shape.scalars):
            results = run(tuple([self._value(operand) for operand in op.operands]))
            self._values.update(zip(op.results, results, strict=True))
        for window in shape.windows:
            operands = tuple([self._value(operand) for operand in window.operands])
            (self._values[window.result],) = window.run(operands)

    def _value(self, value: SSAValue) -> Any:
        found = self._values.get(value)
        if found is None:
            (found,) = self._machine.get_values((value,))
            self._values[value] = found
        return found

    def _bind(self, value: Any) -> str:
        """The name of something that is the same each turn."""
        name = f"g{len(self._bound)}"
        self._given.append(name)
        self._bound.append(value)
        return name

    def _form(self, instruction: Instruction) -> tuple[PythonValues, ArrayForm]:
        args = tuple([self._value(operand) for operand in instruction.operands])
        found = instruction.form(args)
        if found is None or any(0 in region for _, region in (*found.reads, found.write)):
            raise _NotSteady
        return args, found

    # Numbers and windows.

    def _write_numbers(self) -> None:
        shape = self._shape
        index, *carried = shape.loop.body.block.args
        for argument in (index, *carried):
            self._names[argument] = f"v{len(self._names)}"
        if shape.uses_index:
            self._first.append(f"{self._names[index]} = {self._bind(index_maker(shape.loop))}(i)")
        for op, run in shape.scalars:
            operands = "".join(f"{self._name(operand)}, " for operand in op.operands)
            for result in op.results:
                self._names[result] = f"v{len(self._names)}"
            results = "".join(f"{self._names[result]}, " for result in op.results)
            self._first.append(f"{results}= {self._bind(run)}(({operands}))")
        for window in shape.windows:
            self._write_window(window)

    def _name(self, value: SSAValue) -> str:
        found = self._names.get(value)
        return self._bind(self._value(value)) if found is None else found

    def _write_window(self, window: Window) -> None:
        source: CoreView = self._value(window.source)
        index = self._shape.loop.body.block.args[0]
        slices: list[str] = []
        conditions: list[str] = []
        for offset, size, extent in zip(window.offsets, window.sizes, source.shape, strict=True):
            if offset not in self._names:
                start = self._value(offset).value.data
                slices.append(f"{start}:{start + size}")
                continue
            if offset is index:
                start = "i"
            else:
                start = f"o{len(self._first)}"
                self._first.append(f"{start} = {self._names[offset]}.value.data")
            conditions.append(f"0 <= {start} <= {extent - size}")
            slices.append(f"{start}:{start}+{size}")
        if conditions:
            self._first.append(f"if not ({' and '.join(conditions)}): break")
        name = self._names[window.result] = f"w{len(self._names)}"
        self._first.append(f"{name} = {self._bind(source.array)}[{', '.join(slices)}]")

    # Instructions.

    def _write_instruction(
        self, instruction: Instruction, args: PythonValues, form: ArrayForm
    ) -> None:
        op, operands = instruction.op, instruction.operands
        lane = self._core.lane_of(instruction.pipe)
        read = [
            self._read_global(op, lane, operands[place], args[place], region)
            if isinstance(args[place], CoreView)
            else self._read(args[place], region)
            for place, region in form.reads
        ]
        for place in form.scratch:
            self._spoil(args[place])
        result = (
            read[0] if form.compute is None else f"{self._bind(form.compute)}({', '.join(read)})"
        )
        place, region = form.write
        if isinstance(args[place], CoreView):
            self._write_global(op, lane, operands[place], args[place], region, result)
        else:
            self._then.append((f"{self._write(args[place], region)} = {result}", op))

    def _state(self, segment: Segment) -> _Kept:
        found = self._kept.get(segment)
        if found is None:
            found = self._kept[segment] = _Kept.of(segment)
        return found

    def _read(self, tile: Any, region: Region) -> str:
        span = tile.span(region)
        if self._state(span.segment).held is not span:
            raise _NotSteady
        found = self._locals.get(span)
        if found is None:
            found = self._locals[span] = f"t{len(self._locals)}"
            self._initials.append((len(self._bound) + 1, span))
            self._given.append(found)
            self._bound.append(None)
        return found

    def _write(self, tile: Any, region: Region) -> str:
        span = tile.span(region)
        segment = span.segment
        for other in segment.neighbours:
            state = self._state(other)
            if state.is_stale and state.held is not span:
                is_covered = segment.start <= other.start and other.end <= segment.end
                if not (is_covered and span.is_whole):
                    raise _NotSteady
            state.held, state.is_stale, state.is_spoiled = None, False, False
        if not span.is_defined:
            raise _NotSteady
        state = self._state(segment)
        state.held, state.is_stale = span, True
        self._written[span] = tile.memory
        return self._locals.setdefault(span, f"t{len(self._locals)}")

    def _spoil(self, tile: Any) -> None:
        span = tile.span(tile.type.get_shape())
        if not self._state(span.segment).is_spoiled:
            raise _NotSteady

    # Global memory.

    def _window(self, value: SSAValue, view: CoreView) -> str:
        if view.axes is not None or view.pointer.buffer.observer is not None:
            raise _NotSteady
        found = self._names.get(value)
        if found is None:
            found = self._names[value] = self._bind(view.array)
        return found

    def _read_global(
        self, op: Operation, lane: Lane, value: SSAValue, view: CoreView, region: Region
    ) -> str:
        name, buffer = self._window(value, view), view.pointer.buffer
        bound = self._bind(buffer)
        self._first.append(
            f"if {bound}.defined is not None and {bound}.undefined_mask({name}) is not None: break"
        )
        self._log(op, lane, buffer, name, is_write=False)
        shaped = name if view.shape == region else f"{name}.reshape({region})"
        is_written = self._core.group.lenders.lender_of(buffer.memory) in self._lenders
        return f"{shaped}.copy()" if is_written else shaped

    def _write_global(
        self,
        op: Operation,
        lane: Lane,
        value: SSAValue,
        view: CoreView,
        region: Region,
        result: str,
    ) -> None:
        name, buffer = self._window(value, view), view.pointer.buffer
        shaped = result if view.shape == region else f"{result}.reshape({view.shape})"
        self._then.append((f"{name}[...] = {shaped}", op))
        bound = self._bind(buffer)
        self._then.append((f"if {bound}.defined is not None: {bound}.mark_written({name})", op))
        self._log(op, lane, buffer, name, is_write=True)

    def _log(self, op: Operation, lane: Lane, buffer: Buffer, name: str, *, is_write: bool) -> None:
        history = self._core.group.histories.get(id(buffer))
        ops = self._ops[self._core.lanes.index(lane)]
        if history is None or op not in ops:
            raise _NotSteady
        trace = history.trace(lane.index, is_write=is_write)
        access = Access(history, trace, lane, ops.index(op) + 1, len(self._bound) + 1)
        number = self._bind(0)
        self._accesses.append(access)
        self._then.append((f"{self._bind(trace.log.append)}(({name}, {number}))", op))
        self._then.append((f"{number} += {len(ops)}", op))

    # The text.

    def _text(self, finals: Sequence[str]) -> str:
        _, *carried = self._shape.loop.body.block.args
        terminator = self._shape.loop.body.block.last_op
        assert terminator is not None
        yielded = "".join(f"{self._name(value)}, " for value in terminator.operands)
        names = "".join(f"{self._names[argument]}, " for argument in carried)
        unset = [name for name in finals if name not in self._given]
        lines = [
            "def loop(turns, carried, bound):",
            f" ops, {', '.join(self._given)}, = bound",
            *([f" {names}= carried"] if carried else []),
            *(f" {name} = None" for name in unset),
            " done = 0",
            " try:",
            "  for i in turns:",
            *(f"   {line}" for line in self._first),
        ]
        self._ops_by_line = {len(lines) + 1 + k: op for k, (_, op) in enumerate(self._then)}
        lines += [f"   {line}" for line, _ in self._then]
        lines += [
            *([f"   {names}= {yielded}"] if carried else []),
            "   done += 1",
            " except DiagnosticsError:",
            "  raise",
            " except ERRORS as e:",
            "  if e.__traceback__.tb_lineno in ops:",
            "   raise error_at(ops[e.__traceback__.tb_lineno], e) from e",
            f" return done, ({names}), ({''.join(f'{name}, ' for name in finals)})",
        ]
        return "\n".join(lines)


@lru_cache(maxsize=256)
def _function(text: str) -> Function:
    names: dict[str, Any] = {
        "DiagnosticsError": DiagnosticsError,
        "ERRORS": PROGRAM_ERRORS,
        "error_at": error_at,
    }
    exec(compile(text, "<steady loop>", "exec"), names)
    return names["loop"]
