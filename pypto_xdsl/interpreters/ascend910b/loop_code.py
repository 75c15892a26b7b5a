"""
What is left of the iterations of a steady loop, as a Python function (see `steady_loops.py`).

    def loop(iterations, carried, bound):
        ops, g0, g1, ..., = bound
        t1 = t2 = None
        done = 0
        try:
            for i in iterations:
                if not (0 <= i <= g1): raise Ends
                w3 = g0[i:i+32, g2:g3]
                if g4.defined is not None and g4.undefined_mask(w3) is not None: raise Ends
                w4 = g5[i:i+32, g6:g7]
                t1 = w3
                t2 = g8(t1, t1)
                w4[...] = t2
                ...
                done += 1
        ...

Numbers and windows come first, since they depend on nothing that a tile holds: where one is not as
it has to be, the iteration has done nothing yet. What a tile holds is a local variable, if it is
read as the region that was written last; everything else is left to the core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import cycle, pairwise
from typing import Any, TypeAlias

from xdsl.interpreter import PythonValues
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.ascend910b.globals import BufferHistory, CoreView, Trace
from pypto_xdsl.interpreters.ascend910b.lanes import Lane
from pypto_xdsl.interpreters.ascend910b.loop_iteration import LoopIteration, NotSteady
from pypto_xdsl.interpreters.ascend910b.loop_shape import LoopBody, Window
from pypto_xdsl.interpreters.ascend910b.memory import CoreMemory, Segment, Span
from pypto_xdsl.interpreters.control_flow import index_maker
from pypto_xdsl.interpreters.execution import PROGRAM_ERRORS, error_at
from pypto_xdsl.interpreters.pto.array_forms import Region

Ops: TypeAlias = Sequence[list[Operation]]
"""What each lane of a core is given in an iteration."""

Function: TypeAlias = Callable[[range, PythonValues, Sequence[Any]], tuple[int, Any, Any]]


Binder: TypeAlias = Callable[[LoopIteration], Any]
"""Finds something that is the same each iteration of a run of the loop."""

Requirement: TypeAlias = Callable[[LoopIteration], bool]


@dataclass(frozen=True)
class _AccessPlace:
    """What an instruction does to global memory."""

    instruction: int
    place: int
    is_write: bool
    lane: Lane
    number: int
    """Of the instruction among those that its lane is given in an iteration, from 1, at first."""
    bound: int
    """Where its number is among what the function is given."""


@dataclass(frozen=True)
class _Access:
    """Likewise, of one run."""

    history: BufferHistory
    trace: Trace
    lane: Lane
    number: int
    bound: int


@dataclass
class Kept:
    """What a segment of memory holds, in the middle of an iteration or before one."""

    held: Span | None
    is_stale: bool
    is_spoiled: bool

    @classmethod
    def of(cls, segment: Segment) -> Kept:
        """What it holds now."""
        return cls(segment.held, segment.is_stale, segment.is_spoiled)


@dataclass(frozen=True)
class LoopCode:
    """A steady loop as a function, for all runs that are alike."""

    function: Function
    binders: Sequence[Binder]
    """What the function is given."""
    initials: Sequence[tuple[int, Span]]
    """The regions that are read before they are written, and where their values are given."""
    accesses: Sequence[_AccessPlace]
    finals: Sequence[tuple[CoreMemory, Span]]
    """The regions whose values the function returns."""
    kept: Sequence[tuple[Segment, Kept]]
    """What memory holds before an iteration, and after it."""
    defined: Sequence[Span]
    """The regions that have been written before."""
    requirements: Sequence[Requirement]
    """What else makes a run one of these."""

    @classmethod
    def of(cls, iteration: LoopIteration, ops: Ops) -> LoopCode | None:
        """The code of a loop that begins an iteration on a core as it is."""
        try:
            return _Writer(iteration, ops).write()
        except NotSteady:
            return None

    def bind(self, iteration: LoopIteration) -> BoundLoop | None:
        """The loop as of an iteration, None if it is another one."""
        if (
            any(kept != Kept.of(segment) for segment, kept in self.kept)
            or not all(span.is_defined for span in self.defined)
            or not all(is_met(iteration) for is_met in self.requirements)
        ):
            return None
        try:
            accesses = [_access(iteration, place) for place in self.accesses]
            bound = [bind(iteration) for bind in self.binders]
        except (NotSteady, *PROGRAM_ERRORS):
            return None
        for access, place in zip(accesses, self.accesses, strict=True):
            bound[place.bound + 1] = access.trace.log.append
        for lender in iteration.written:
            lender.recall()
        return BoundLoop(self, bound, accesses)


def _access(iteration: LoopIteration, access: _AccessPlace) -> _Access:
    buffer = iteration.buffer(access.instruction, access.place)
    history = iteration.core.group.histories.get(id(buffer))
    if history is None or buffer.observer is not None:
        raise NotSteady
    trace = history.trace(access.lane.index, is_write=access.is_write)
    return _Access(history, trace, access.lane, access.number, access.bound)


@dataclass
class BoundLoop:
    """A steady loop, ready to run on a core."""

    code: LoopCode
    bound: list[Any]
    accesses: Sequence[_Access]

    def run(self, iterations: range, carried: PythonValues) -> tuple[int, PythonValues]:
        """Run iterations while they are steady: how many were, and what the last one returned."""
        code, bound = self.code, self.bound
        for place, span in code.initials:
            bound[place] = span.value
        for access in self.accesses:
            bound[access.bound] = len(access.lane.ops) + access.number
        done, carried, values = code.function(iterations, carried, bound)
        if done:
            for (memory, span), value in zip(code.finals, values, strict=True):
                memory.keep(span, value)
            for access in self.accesses:
                access.history.file_if_long(access.trace)
        return done, carried


def _nothing(iteration: LoopIteration) -> None:
    return None


@dataclass
class _Lines:
    """The lines of a loop."""

    first: list[str] = field(default_factory=list[str])
    """Those that have no effect."""
    listed: list[str] = field(default_factory=list[str])
    """Lists of the windows of loops inside, which they make."""
    then: list[tuple[str, Operation | None]] = field(
        default_factory=list[tuple[str, Operation | None]]
    )
    """All others, with their ops."""


class _Writer:
    """Writes the function of a loop, following what its instructions do to the memories."""

    def __init__(self, iteration: LoopIteration, ops: Ops) -> None:
        self._iteration, self._ops = iteration, ops
        self._core, self._nest = iteration.core, iteration.nest
        self._names: dict[SSAValue, str] = {}
        """Of numbers and windows that differ."""
        self._indices: dict[SSAValue, str] = {}
        """Of indices as numbers of Python."""
        self._given: list[str] = []
        self._binders: list[Binder] = []
        self._requirements: list[Requirement] = []
        self._before: dict[Segment, Kept] = {}
        self._kept: dict[Segment, Kept] = {}
        self._locals: dict[Span, str] = {}
        self._initials: list[tuple[int, Span]] = []
        self._written: dict[Span, CoreMemory] = {}
        self._accesses: list[_AccessPlace] = []
        ops_by_line: dict[int, Operation] = {}
        self._ops_by_line = ops_by_line
        self._bind(lambda iteration: ops_by_line)

    def write(self) -> LoopCode:
        lines = self._write_body(self._nest.outer)
        if self._kept != self._before:
            raise NotSteady
        finals = [
            (memory, span)
            for span, memory in self._written.items()
            if self._state(span.segment).held is span
        ]
        text = self._text(lines, [self._locals[span] for _, span in finals])
        return LoopCode(
            _function(text),
            self._binders,
            self._initials,
            self._accesses,
            finals,
            list(self._before.items()),
            list(self._written),
            self._requirements,
        )

    def _bind(self, binder: Binder) -> str:
        """The name of something that is the same each iteration."""
        name = f"g{len(self._binders)}"
        self._given.append(name)
        self._binders.append(binder)
        return name

    # Loops.

    def _write_body(self, body: LoopBody) -> _Lines:
        lines = _Lines()
        self._write_numbers(body, lines)
        for part in body.parts:
            if isinstance(part, LoopBody):
                self._write_inner(part, lines)
            else:
                self._write_instruction(part, lines)
        return lines

    def _write_inner(self, body: LoopBody, lines: _Lines) -> None:
        """
        A loop inside: first over numbers and windows, which are remembered, then over effects.
        Each of its iterations begins as the first one does.
        """
        iterations = self._iteration.iterations(body)
        self._requirements.append(lambda each: len(each.iterations(body)) == len(iterations))
        kept = {segment: replace(state) for segment, state in self._kept.items()}
        inner = self._write_body(body)
        if any(state != kept.get(s, self._before[s]) for s, state in self._kept.items()):
            raise NotSteady
        listed = f"e{self._names[body.index]}"
        windows = [self._names[window.result] for window in body.windows]
        windows += inner.listed
        names = f"({''.join(f'{name}, ' for name in windows)})"
        lines.listed.append(listed)
        over = self._bind(lambda iteration: iteration.iterations(body))
        lines.first += [f"{listed} = []", f"for {self._indices[body.index]} in {over}:"]
        lines.first += [f" {line}" for line in (*inner.first, f"{listed}.append({names})")]
        lines.then.append((f"for {names} in {listed}:" if windows else f"for _ in {over}:", None))
        lines.then += [(f" {line}", op) for line, op in inner.then]

    # Numbers and windows.

    def _write_numbers(self, body: LoopBody, lines: _Lines) -> None:
        for argument in (body.index, *body.carried):
            self._names[argument] = f"v{len(self._names)}"
        index = self._indices[body.index] = f"i{len(self._indices)}"
        if body.uses_index:
            make = self._bind(lambda iteration: index_maker(body.loop))
            lines.first.append(f"{self._names[body.index]} = {make}({index})")
        for op, run in body.scalars:
            operands = "".join(f"{self._name(operand)}, " for operand in op.operands)
            for result in op.results:
                self._names[result] = f"v{len(self._names)}"
            results = "".join(f"{self._names[result]}, " for result in op.results)
            run_name = self._bind(lambda iteration, run=run: run)
            lines.first.append(f"{results}= {run_name}(({operands}))")
        for window in body.windows:
            self._write_window(window, lines)

    def _name(self, value: SSAValue) -> str:
        found = self._names.get(value)
        return self._bind(lambda iteration: iteration.value(value)) if found is None else found

    def _write_window(self, window: Window, lines: _Lines) -> None:
        source = window.source
        slices: list[str] = []
        conditions: list[str] = []
        for axis, (offset, size) in enumerate(zip(window.offsets, window.sizes, strict=True)):
            if offset not in self._names:
                first = self._bind(lambda each, offset=offset: each.value(offset).value.data)
                last = self._bind(
                    lambda each, offset=offset, size=size: each.value(offset).value.data + size
                )
                slices.append(f"{first}:{last}")
                continue
            start = self._indices.get(offset)
            if start is None:
                start = f"o{len(self._names)}_{axis}"
                lines.first.append(f"{start} = {self._names[offset]}.value.data")
            largest = self._bind(
                lambda iteration, axis=axis, size=size: iteration.value(source).shape[axis] - size
            )
            conditions.append(f"0 <= {start} <= {largest}")
            slices.append(f"{start}:{start}+{size}")
        if conditions:
            lines.first.append(f"if not ({' and '.join(conditions)}): raise Ends")
        name = self._names[window.result] = f"w{len(self._names)}"
        array = self._bind(lambda iteration: iteration.value(source).array)
        lines.first.append(f"{name} = {array}[{', '.join(slices)}]")

    # Instructions.

    def _write_instruction(self, number: int, lines: _Lines) -> None:
        op = self._nest.instructions[number].op
        args, form = self._iteration.args[number], self._iteration.forms[number]
        if any(0 in region for _, region in (*form.reads, form.write)):
            raise NotSteady
        self._requirements.append(
            lambda iteration: (
                (f := iteration.forms[number]).reads == form.reads
                and f.write == form.write
                and f.scratch == form.scratch
            )
        )
        read = [
            self._read_global(number, place, region, lines)
            if isinstance(args[place], CoreView)
            else self._read(number, place, region)
            for place, region in form.reads
        ]
        for place in form.scratch:
            self._spoil(number, place)
        result = read[0]
        if form.compute is not None:
            compute = self._bind(lambda iteration: iteration.forms[number].compute)
            result = f"{compute}({', '.join(read)})"
        place, region = form.write
        if isinstance(args[place], CoreView):
            self._write_global(number, place, region, result, lines)
        else:
            lines.then.append((f"{self._write(number, place, region)} = {result}", op))

    def _state(self, segment: Segment) -> Kept:
        found = self._kept.get(segment)
        if found is None:
            found = self._kept[segment] = Kept.of(segment)
            self._before[segment] = Kept.of(segment)
        return found

    def _span(self, number: int, place: int, region: Region | None) -> Span:
        span = self._iteration.span(number, place, region)
        self._requirements.append(lambda iteration: iteration.span(number, place, region) is span)
        return span

    def _read(self, number: int, place: int, region: Region) -> str:
        span = self._span(number, place, region)
        if self._state(span.segment).held is not span:
            raise NotSteady
        found = self._locals.get(span)
        if found is None:
            self._initials.append((len(self._binders), span))
            found = self._locals[span] = self._bind(_nothing)
        return found

    def _write(self, number: int, place: int, region: Region) -> str:
        span = self._span(number, place, region)
        segment = span.segment
        for other in segment.neighbours:
            state = self._state(other)
            if state.is_stale and state.held is not span:
                is_covered = segment.start <= other.start and other.end <= segment.end
                if not (is_covered and span.is_whole):
                    raise NotSteady
            state.held, state.is_stale, state.is_spoiled = None, False, False
        if not span.is_defined:
            raise NotSteady
        state = self._state(segment)
        state.held, state.is_stale = span, True
        self._written[span] = self._iteration.args[number][place].memory
        return self._locals.setdefault(span, f"t{len(self._locals)}")

    def _spoil(self, number: int, place: int) -> None:
        span = self._span(number, place, None)
        if not self._state(span.segment).is_spoiled:
            raise NotSteady

    # Global memory.

    def _window(self, number: int, place: int) -> tuple[str, str, tuple[int, ...]]:
        """The names of a window and of its buffer, and its shape."""
        view: CoreView = self._iteration.args[number][place]
        shape = view.shape
        if view.axes is not None:
            raise NotSteady
        self._requirements.append(
            lambda iteration: (v := iteration.args[number][place]).shape == shape and v.axes is None
        )
        value = self._nest.instructions[number].operands[place]
        name = self._names.get(value)
        if name is None:
            name = self._bind(lambda iteration: iteration.args[number][place].array)
        return name, self._bind(lambda iteration: iteration.buffer(number, place)), shape

    def _read_global(self, number: int, place: int, region: Region, lines: _Lines) -> str:
        name, buffer, shape = self._window(number, place)
        lines.first.append(
            f"if {buffer}.defined is not None and "
            f"{buffer}.undefined_mask({name}) is not None: raise Ends"
        )
        self._log(number, place, name, lines, is_write=False)
        is_copied = self._iteration.is_copied(number, place)
        self._requirements.append(lambda iteration: iteration.is_copied(number, place) == is_copied)
        shaped = name if shape == region else f"{name}.reshape({region})"
        return f"{shaped}.copy()" if is_copied else shaped

    def _write_global(
        self, number: int, place: int, region: Region, result: str, lines: _Lines
    ) -> None:
        name, buffer, shape = self._window(number, place)
        shaped = result if shape == region else f"{result}.reshape({shape})"
        op = self._nest.instructions[number].op
        lines.then += [
            (f"{name}[...] = {shaped}", op),
            (f"if {buffer}.defined is not None: {buffer}.mark_written({name})", op),
        ]
        self._log(number, place, name, lines, is_write=True)

    def _log(self, number: int, place: int, name: str, lines: _Lines, *, is_write: bool) -> None:
        instruction = self._nest.instructions[number]
        op = instruction.op
        lane = self._core.lane_of(instruction.pipe)
        ops = self._ops[self._core.lanes.index(lane)]
        numbers = [place for place, other in enumerate(ops, 1) if other is op]
        if not numbers:
            raise NotSteady
        # How far the number is from the one of the time before, in this iteration or the last one.
        steps = [after - before for before, after in pairwise(numbers)]
        steps.append(numbers[0] + len(ops) - numbers[-1])
        self._accesses.append(
            _AccessPlace(number, place, is_write, lane, numbers[0], len(self._binders))
        )
        count, log = self._bind(_nothing), self._bind(_nothing)
        lines.then.append((f"{log}(({name}, {count}))", op))
        if len(set(steps)) == 1:
            lines.then.append((f"{count} += {steps[0]}", op))
        else:
            following = self._bind(lambda iteration: cycle(steps).__next__)
            lines.then.append((f"{count} += {following}()", op))

    # The text.

    def _text(self, lines: _Lines, finals: Sequence[str]) -> str:
        outer = self._nest.outer
        yielded = "".join(f"{self._name(value)}, " for value in outer.yielded)
        names = "".join(f"{self._names[argument]}, " for argument in outer.carried)
        unset = [name for name in finals if name not in self._given]
        text = [
            "def loop(iterations, carried, bound):",
            f" {', '.join(self._given)}, = bound",
            f" ops = {self._given[0]}",
            *([f" {names}= carried"] if names else []),
            *(f" {name} = None" for name in unset),
            " done = 0",
            " try:",
            f"  for {self._indices[outer.index]} in iterations:",
            *(f"   {line}" for line in lines.first),
        ]
        for line, op in lines.then:
            text.append(f"   {line}")
            if op is not None:
                self._ops_by_line[len(text)] = op
        text += [
            *([f"   {names}= {yielded}"] if names else []),
            "   done += 1",
            " except Ends:",
            "  pass",
            " except DiagnosticsError:",
            "  raise",
            " except ERRORS as e:",
            "  if e.__traceback__.tb_lineno in ops:",
            "   raise error_at(ops[e.__traceback__.tb_lineno], e) from e",
            f" return done, ({names}), ({''.join(f'{name}, ' for name in finals)})",
        ]
        return "\n".join(text)


class _Ends(Exception):
    """The iteration that has begun is none that the function can run."""


@lru_cache(maxsize=256)
def _function(text: str) -> Function:
    names: dict[str, Any] = {
        "DiagnosticsError": DiagnosticsError,
        "Ends": _Ends,
        "ERRORS": PROGRAM_ERRORS,
        "error_at": error_at,
    }
    exec(compile(text, "<steady loop>", "exec"), names)
    return names["loop"]
