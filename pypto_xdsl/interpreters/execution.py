"""
How regions run on a machine: planned once, then over a list of values.

xDSL's interpreter looks up the implementation of an op, its operands and its scope each time it
runs it. Here a region is planned when it is first entered: every value of a function has a place
in one list, every op knows the places of its operands and results and who runs it. Regions inside
a function share its list; a call makes a new one.

An implementation may be *prepared* for an op: what only depends on the op is then computed once.

    def load(interpreter, op):          # -> (operands -> results)
        ...

    @implements({tile.LoadOp: None}, lambda op_class, _: by_preparing(load))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from xdsl.dialects.builtin import ShapedType
from xdsl.interpreter import (
    OpImplResult,
    PythonValues,
    ReturnedValues,
    Successor,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import DiagnosticException, InterpretationError

from pypto_xdsl.diagnostics import DiagnosticsError, OpError
from pypto_xdsl.interpreters.compiled_loops import Loop, compile_loop
from pypto_xdsl.interpreters.errors import ProgramError

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.machine import Machine

Prepared: TypeAlias = Callable[[PythonValues], PythonValues]
"""Runs one op of the program: operands to results."""

Prepare: TypeAlias = Callable[[Any, Any], Prepared]
"""Makes what runs an op: `(machine, op) -> prepared`. Raises `ProgramError` where it cannot."""

_PREPARE = "prepare"
_RETURNS = "returns_operands"
_ImplT = TypeVar("_ImplT")


def prepared(prepare: Prepare) -> Callable[[_ImplT], _ImplT]:
    """Say how an implementation is prepared; it must do the same without."""

    def decorate(implementation: _ImplT) -> _ImplT:
        setattr(implementation, _PREPARE, prepare)
        return implementation

    return decorate


def by_preparing(prepare: Prepare) -> Any:
    """An implementation `(interpreter, op, operands) -> results` that its preparation says."""

    def run(interpreter: Any, op: Any, args: PythonValues) -> PythonValues:
        return prepare(interpreter, op)(args)

    return prepared(prepare)(run)


def returns_operands(implementation: _ImplT) -> _ImplT:
    """Say that a terminator does nothing but end its region with its operands as results."""
    setattr(implementation, _RETURNS, True)
    return implementation


def prepare_of(implementation: Any) -> Prepare | None:
    """How an implementation is prepared, if it is."""
    return getattr(implementation, _PREPARE, None)


def error_at(op: Operation, error: Exception) -> Exception:
    """The error that running an op ends in, at the op."""
    if isinstance(error, DiagnosticsError):
        return error
    if isinstance(error, ProgramError):
        return OpError(op, str(error))
    if isinstance(error, MemoryError):
        return OpError(op, "needs more memory than this machine has")
    assert isinstance(error, DiagnosticException | InterpretationError)
    return OpError(op, f"cannot be run: {error}")


PROGRAM_ERRORS = (ProgramError, MemoryError, DiagnosticException, InterpretationError)
"""What implementations raise where a program cannot go on."""


@dataclass(eq=False)
class FrameLayout:
    """Where the values of a function are in the list of its values."""

    places: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    @classmethod
    def of(cls, root: Region) -> FrameLayout:
        """The places of all values in a region and those inside it."""
        places: dict[SSAValue, int] = {}
        regions = [root]
        while regions:
            for block in regions.pop().blocks:
                for argument in block.args:
                    places[argument] = len(places)
                for op in block.ops:
                    for result in op.results:
                        places[result] = len(places)
                    regions.extend(op.regions)
        return cls(places)


Step: TypeAlias = tuple[
    Operation, Prepared, Callable[[list[Any]], PythonValues], Any, Sequence[int]
]
"""
The op, what runs it, what takes its operands from the values, where its results go, and which
values nobody needs after it.
"""


def _nothing(values: list[Any]) -> PythonValues:
    return ()


def _taking(places: Sequence[int]) -> Callable[[list[Any]], PythonValues]:
    if not places:
        return _nothing
    if len(places) == 1:
        place = places[0]
        return lambda values: (values[place],)
    return itemgetter(*places)


@dataclass(eq=False, slots=True)
class _BlockPlan:
    """The steps of a block."""

    arguments: tuple[int, ...]
    steps: list[Step]
    terminator: tuple[Operation, Callable[[PythonValues], OpImplResult], Any] | None = None
    returned: Callable[[list[Any]], PythonValues] | None = None
    """What takes the results of the region, where the terminator only returns its operands."""


_MANY_TURNS = 48
"""From how many on it pays to compile a loop."""


class RegionPlan:
    """A region of a program, ready to run on one machine."""

    __slots__ = ("_entry", "_is_root", "_layout", "_loop", "_machine", "_plans", "_turns")

    def __init__(self, machine: Machine, region: Region, layout: FrameLayout, is_root: bool):
        self._machine = machine
        self._layout = layout
        self._is_root = is_root
        self._entry = region.blocks.first
        self._plans: dict[Block, _BlockPlan] = {}
        self._loop: Loop | None = None
        self._turns: float = 0
        """How many times it has run as the body of a loop; -inf: it cannot be compiled."""

    def repeat(self, indices: Iterable[Any], count: int, carried: PythonValues) -> PythonValues:
        """
        Run the region, which is the body of a loop, for each of `count` indices, on an index and
        what the iteration before returned; what the last one returns.
        """
        machine = self._machine
        self._turns += count
        if self._turns >= _MANY_TURNS and not machine.listeners and machine.layout is self._layout:
            loop = self._loop = self._loop or self._compiled()
            if loop is not None:
                return loop(machine.values, indices, carried)
            self._turns = -inf
        for index in indices:
            carried = self((index, *carried))
        return carried

    def steps(self) -> list[tuple[Operation, Prepared]]:
        """The ops of the region, which is one block, without its end, and what runs them."""
        block = self._entry
        assert block is not None
        plan = self._plans.get(block)
        if plan is None:
            plan = self._plans[block] = self._planned(block)
        return [(op, run) for op, run, *_ in plan.steps]

    def _compiled(self) -> Loop | None:
        """The region as a loop, where its one block ends by returning something."""
        block = self._entry
        if block is None or block.next_block is not None:
            return None
        steps = self.steps()
        if self._plans[block].returned is None:
            return None
        return compile_loop(block, steps, self._layout.places, PROGRAM_ERRORS, error_at)

    def __call__(self, arguments: PythonValues) -> PythonValues:
        """Run the region; what its terminator returns."""
        machine, layout = self._machine, self._layout
        if not self._is_root and machine.layout is layout:
            return self._run(machine.values, arguments)
        outer = machine.layout, machine.values
        machine.layout, machine.values = layout, [None] * len(layout.places)
        try:
            return self._run(machine.values, arguments)
        finally:
            machine.layout, machine.values = outer

    def _run(self, values: list[Any], arguments: PythonValues) -> PythonValues:
        block = self._entry
        while block is not None:
            plan = self._plans.get(block)
            if plan is None:
                plan = self._plans[block] = self._planned(block)
            for place, value in zip(plan.arguments, arguments, strict=False):
                values[place] = value
            if self._machine.listeners:
                end = self._run_watched(block, values)
            else:
                end = _run_steps(plan, values)
                if plan.returned is not None:
                    return plan.returned(values)
            if end is None:
                return ()
            if isinstance(end, ReturnedValues):
                return end.values
            block, arguments = end
        return ()

    def _run_watched(self, block: Block, values: list[Any]) -> ReturnedValues | Successor | None:
        """Run a block as the listeners of the machine want to hear of it."""
        places, machine = self._layout.places, self._machine
        for op in block.ops:
            operands = tuple(values[places[operand]] for operand in op.operands)
            result = machine.run_one(op, operands)
            for place, value in zip(op.results, result.values, strict=True):
                values[places[place]] = value
            if result.terminator_value is not None:
                return result.terminator_value
        return None

    def _planned(self, block: Block) -> _BlockPlan:
        places, machine = self._layout.places, self._machine
        plan = _BlockPlan(tuple(places[argument] for argument in block.args), [])
        is_alone = block.next_block is None and block is self._entry
        last = _last_uses(block, places) if is_alone else {}
        for op in block.ops:
            take = _taking([places[operand] for operand in op.operands])
            if op.has_trait(IsTerminator) and getattr(machine.implementation(op), _RETURNS, False):
                plan.returned = take
                break
            if op.has_trait(IsTerminator):
                plan.terminator = op, partial(machine.run_one, op), take
                break
            results = tuple(places[result] for result in op.results)
            where: Any = results[0] if len(results) == 1 else results or None
            plan.steps.append((op, machine.prepared(op), take, where, last.get(op, ())))
        return plan


def _last_uses(block: Block, places: Mapping[SSAValue, int]) -> dict[Operation, list[int]]:
    """
    Of each op of a block that is alone, the places of the arrays that nobody needs after it. What
    they hold can be used again, which a long block takes much less time with.
    """
    found: dict[Operation, list[int]] = {}
    needed: set[int] = set()
    for op in reversed(list(block.ops)):
        if op.regions:
            needed.update(id(operand) for inner in op.walk() for operand in inner.operands)
        for value in (*op.results, *op.operands):
            if id(value) in needed:
                continue
            needed.add(id(value))
            if isinstance(value.type, ShapedType) and _is_made_in(value, block):
                found.setdefault(op, []).append(places[value])
    return found


def _is_made_in(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return owner is not block and owner.parent is block


def _run_steps(plan: _BlockPlan, values: list[Any]) -> ReturnedValues | Successor | None:
    op: Operation | None = None
    try:
        for op, run, take, where, dead in plan.steps:  # noqa: B007 (it tells where an error is)
            results = run(() if take is _nothing else take(values))
            if where is not None:
                if where.__class__ is int:
                    (values[where],) = results
                else:
                    for place, value in zip(where, results, strict=True):
                        values[place] = value
            for place in dead:
                values[place] = None
        if plan.terminator is None:
            return None
        op, end, take = plan.terminator
        return end(take(values)).terminator_value
    except DiagnosticsError:
        raise
    except PROGRAM_ERRORS as e:
        assert op is not None
        raise error_at(op, e) from e


def is_root(region: Region) -> bool:
    """Whether a region has values of its own only: the body of a function."""
    parent = region.parent_op()
    return parent is None or parent.has_trait(IsolatedFromAbove)


def root_of(region: Region) -> Region:
    """The body of the function that a region stands in."""
    while not is_root(region):
        parent = region.parent_op()
        assert parent is not None
        outer = parent.parent_region()
        if outer is None:
            return region
        region = outer
    return region
