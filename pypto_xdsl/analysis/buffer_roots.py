"""
Which buffers a tensor may name, and where in them.

A *root* is what owns a buffer: a parameter, or the value that allocates it. Every other tensor
names the buffer of a root, or a window of it:

    %t  = ptensor.create                       // a root
    %w  = ptensor.slice %t[32, 0]              // rows 32.. of %t
    %w1 = orch.call @k(%x, %w)                 // the same window, if @k returns its parameter
    %m  = scf.if %c -> ... yield %t ... yield %u     // %t or %u: ambiguous

`ProgramRoots(ReturnLineage(CallGraph(module))).of(function).of(value)` is a `Place`. Values from
loops and branches have the roots of all that may be handed over; the result of a loop that
certainly runs does not have those of its init. A result of a call is the argument for the
parameter that the callee returns there, or for any parameter that it may be a part of; where the
callee is known only by its signature, the written argument at the position of the result or of
its type.

Sets of roots only grow, up to a fixed size, beyond which a tensor may name any buffer: the
analysis is linear in the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from pypto_xdsl.analysis.control_flow import forwarded
from pypto_xdsl.analysis.return_lineage import ReturnLineage, returned_values
from pypto_xdsl.analysis.walk import Event, tour
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import DispatchOp, FuncOp
from pypto_xdsl.dialects.ptensor.types import tensor_of

MOST_ROOTS = 16
"""So many roots are told apart for one value."""

_UNBOUNDED = 1 << 62


@dataclass(frozen=True, slots=True)
class Window:
    """A box of elements of a buffer, in the coordinates of its root."""

    bounds: tuple[tuple[int, int], ...]
    """The first element and the one after the last, a dimension."""
    starts: tuple[bool, ...]
    """Of each dimension whether the value starts at the first element, so that a window of the
    value is known to be one of the root; else it is somewhere inside the bounds."""

    def overlaps(self, other: Window) -> bool:
        """Whether some element may be in both."""
        return len(self.bounds) != len(other.bounds) or all(
            start < other_end and other_start < end
            for (start, end), (other_start, other_end) in zip(
                self.bounds, other.bounds, strict=True
            )
        )


@dataclass(frozen=True, slots=True)
class Place:
    """What a tensor names."""

    roots: tuple[SSAValue, ...]
    """The buffers it may be in, the likeliest first."""
    is_complete: bool = True
    """False: it may also be in another buffer, any one."""
    window: Window | None = None
    """Where in the buffer of the only root; None: anywhere."""

    @property
    def is_ambiguous(self) -> bool:
        """Whether it may be in one buffer or in another."""
        return len(self.roots) > 1 or not self.is_complete

    def may_overlap(self, other: Place) -> bool:
        """Whether the two may have an element in common."""
        if not self.is_complete or not other.is_complete:
            return True
        if not any(root in other.roots for root in self.roots):
            return False
        return self.window is None or other.window is None or self.window.overlaps(other.window)


NOWHERE = Place(())
"""What is no tensor names no buffer."""


@dataclass(frozen=True, slots=True)
class _Step:
    """How the place of a value follows from those of others."""

    sources: tuple[SSAValue, ...] = ()
    is_root: bool = False
    """It may be a buffer of its own."""
    is_complete: bool = True
    view: DeclaredOp | None = None
    """The op by which it is a window or another shape of the source."""


class BufferRoots:
    """The places of all tensors of a function."""

    def __init__(
        self,
        function: FuncOp,
        lineage: ReturnLineage,
        returned: Callable[[FuncOp], Sequence[Place]] | None = None,
        *,
        through_writes: bool = True,
    ):
        """
        `returned` says what the results of a function may be, in terms of its parameters; without
        it a result that traces to no parameter may be a part of any argument.

        Without `through_writes` what an op or a call writes counts as a buffer of its own: then a
        place says whose contents a tensor may still have.
        """
        self._lineage = lineage
        self._returned = returned
        self._through_writes = through_writes
        self._places: dict[SSAValue, Place] = {}
        self._steps: dict[SSAValue, _Step] = {}
        late: list[SSAValue] = []
        """Values from loops: what the body hands on was not known yet."""
        users: dict[SSAValue, list[SSAValue]] = {}
        for value in _tensors(function):
            step = self._steps[value] = self._step(value)
            for source in step.sources:
                users.setdefault(source, []).append(value)
                if source not in self._places:
                    late.append(value)
            self._places[value] = self._follow(value, step)
        while late:
            value = late.pop()
            place = self._follow(value, self._steps[value])
            if place != self._places[value]:
                self._places[value] = place
                late.extend(users.get(value, ()))

    def of(self, value: SSAValue) -> Place:
        """What a value names; `NOWHERE` if it is no tensor of this function."""
        return self._places.get(value, NOWHERE)

    def sources(self, value: SSAValue) -> tuple[SSAValue, ...]:
        """The tensors whose buffer a value may be; none for a parameter or an allocation."""
        step = self._steps.get(value)
        return () if step is None else step.sources

    def view(self, value: SSAValue) -> DeclaredOp | None:
        """The op that makes a value a window or another shape of its source."""
        step = self._steps.get(value)
        return None if step is None else step.view

    def may_allocate(self, value: SSAValue) -> bool:
        """Whether a value may be a buffer of its own."""
        step = self._steps.get(value)
        return step is None or step.is_root or not step.is_complete

    @property
    def places(self) -> Mapping[SSAValue, Place]:
        """Every tensor with what it names."""
        return self._places

    def _follow(self, value: SSAValue, step: _Step) -> Place:
        places = [self._places[source] for source in step.sources if source in self._places]
        if step.is_root:
            places.insert(0, whole(value))
        if len(places) == 1 and step.is_complete:
            place = places[0]
        else:
            place = _union(places, step.is_complete)
        return place if step.view is None else viewed(step.view, value, place)

    def _step(self, value: SSAValue) -> _Step:
        if sources := forwarded(value):
            return _Step(sources)
        if not isinstance(value, OpResult):
            # A parameter; or the argument of a block that control reaches by a branch.
            block = value.owner
            assert isinstance(block, Block)
            assert block.parent is not None
            known = isinstance(block.parent_op(), FuncOp) and block is block.parent.first_block
            return _Step(is_root=True, is_complete=known)
        op = value.op
        if isinstance(op, DeclaredOp):
            named = op.named_operand(value)
            if named is None or not (self._through_writes or not _writes(op, named)):
                return _Step(is_root=True)
            return _Step((named,), view=op if op.is_view(value) else None)
        if isinstance(op, DispatchOp):
            if not self._through_writes:
                return _Step(is_root=True)
            return self._result_of_dispatch(op, value)
        operands = tuple(o for o in op.operands if isinstance(o.type, TensorType))
        return _Step(operands, is_root=True, is_complete=not operands)

    def _result_of_dispatch(self, dispatch: DispatchOp, result: OpResult) -> _Step:
        arguments = dispatch.arguments
        lineage = self._lineage.of_result(dispatch, result)
        if lineage is not None:
            if lineage.parameter < len(arguments):
                return _Step((arguments[lineage.parameter],))
            # The runtime allocates what a submit leaves out.
            return _Step(is_root=True)
        callee = self._lineage.calls.callee(dispatch)
        tensors = tuple(a for a in arguments if isinstance(a.type, TensorType))
        if callee is None:
            return _Step(tensors, is_root=True, is_complete=not tensors)
        if callee.is_declaration and callee.returns is None:
            return _by_signature(dispatch, callee, result)
        if callee.is_declaration:
            return _Step(is_root=True)
        if self._returned is None:
            return _Step(tensors, is_root=True)
        place = next(iter(self._returned(callee)[result.index :]), NOWHERE)
        parameters = [root for root in place.roots if isinstance(root, BlockArgument)]
        sources = tuple(
            arguments[parameter.index]
            for parameter in parameters
            if parameter.index < len(arguments)
        )
        is_root = not sources or len(parameters) < len(place.roots)
        return _Step(sources, is_root, is_complete=place.is_complete)


class ProgramRoots:
    """The places of the tensors of a program, function by function, as they are asked for."""

    def __init__(self, lineage: ReturnLineage):
        self.lineage = lineage
        self._roots: dict[FuncOp, BufferRoots] = {}
        self._returned: dict[FuncOp, tuple[Place, ...]] = {}

    def of(self, function: FuncOp) -> BufferRoots:
        """The places of the tensors of a function."""
        if function not in self._roots:
            self._roots[function] = BufferRoots(function, self.lineage, self.returned)
        return self._roots[function]

    def returned(self, function: FuncOp) -> tuple[Place, ...]:
        """What the results of a function may be, in terms of its parameters."""
        if function not in self._returned:
            # What is called further in is taken for anything: no recursion over the program.
            roots = BufferRoots(function, self.lineage)
            self._returned[function] = tuple(roots.of(value) for value in returned_values(function))
        return self._returned[function]


def _tensors(function: FuncOp) -> Iterator[SSAValue]:
    """The tensors of a function, each after what it follows from, but for loops."""
    for event, op, region in tour(function):
        if event is Event.ENTER_REGION:
            assert isinstance(region, Region)
            for block in region.blocks:
                for argument in block.args:
                    if isinstance(argument.type, TensorType):
                        yield argument
        elif event is Event.LEAVE or (event is Event.ENTER and not op.regions):
            for result in op.results:
                if isinstance(result.type, TensorType):
                    yield result


def whole(value: SSAValue) -> Place:
    """A buffer's own place: all of it."""
    shape = tensor_of(value.type).get_shape()
    bounds = tuple((0, _extent(extent)) for extent in shape)
    return Place((value,), window=Window(bounds, (True,) * len(shape)))


def _extent(extent: int) -> int:
    return _UNBOUNDED if extent < 0 else extent


def _union(places: Sequence[Place], is_complete: bool) -> Place:
    roots = tuple(dict.fromkeys(root for place in places for root in place.roots))
    is_complete = is_complete and all(place.is_complete for place in places)
    if len(roots) > MOST_ROOTS:
        roots, is_complete = roots[:MOST_ROOTS], False
    windows = {place.window for place in places}
    window = windows.pop() if len(roots) == 1 and len(windows) == 1 and is_complete else None
    return Place(roots, is_complete, window)


def viewed(view: DeclaredOp, result: SSAValue, place: Place) -> Place:
    """The place of a view of a place."""
    assert isinstance(result, OpResult)
    return part_of(place, view.window_start(result), tensor_of(result.type).get_shape())


def part_of(place: Place, starts: Sequence[int | SSAValue] | None, shape: Sequence[int]) -> Place:
    """The part of a place that starts at `starts` and has a shape; None: it starts anywhere."""
    if place.window is None:
        return place
    window = place.window
    rank = len(window.bounds)
    if starts is None or len(starts) > rank:
        return Place(place.roots, place.is_complete, Window(window.bounds, (False,) * rank))
    shape = (*(1,) * (len(starts) - len(shape)), *shape)
    bounds, known = list(window.bounds), list(window.starts)
    for dimension, (start, extent) in enumerate(
        zip(starts, shape, strict=True), rank - len(starts)
    ):
        if isinstance(start, int) and known[dimension]:
            first, end = bounds[dimension]
            bounds[dimension] = first + start, min(end, first + start + _extent(extent))
        else:
            known[dimension] = False
    return Place(place.roots, place.is_complete, Window(tuple(bounds), tuple(known)))


def place_written(roots: BufferRoots, op: Operation, operand: SSAValue) -> Place:
    """Where an op writes through an operand: of what copies a tensor into a part, that part."""
    place = roots.of(operand)
    if isinstance(op, DeclaredOp):
        for result in op.results:
            copied = op.copied_window(result)
            if copied is not None and op.named_operand(result) is operand:
                source, starts = copied
                return part_of(place, starts, tensor_of(source.type).get_shape())
    return place


def _writes(op: DeclaredOp, operand: SSAValue) -> bool:
    return any(effect.writes for value, effect in op.operand_effects() if value is operand)


def _by_signature(dispatch: DispatchOp, callee: FuncOp, result: OpResult) -> _Step:
    """
    Which argument a result is, where the callee only has a signature: the written argument at
    the position of the result, or, of a single result, the written one of its type.
    """
    written = [
        argument
        for argument, direction in zip(
            dispatch.arguments, callee.parameter_directions, strict=False
        )
        if direction.writes
    ]
    if not written:
        return _Step(is_root=True)
    if len(dispatch.callee_results) > 1:
        if result.index < len(written):
            return _Step((written[result.index],))
        return _Step(is_root=True)
    alike = [argument for argument in written if _alike(argument.type, result.type)]
    return _Step((alike[0] if len(alike) == 1 else written[0],))


def _alike(*types: Attribute) -> bool:
    """Whether types are of tensors of one shape and one element type."""
    if not all(isinstance(type, TensorType) for type in types):
        return False
    return len({(tensor.get_shape(), tensor.element_type) for tensor in map(tensor_of, types)}) == 1


def allocating_op(root: SSAValue) -> Operation | None:
    """The op that allocates the buffer of a root, None for a parameter."""
    return root.op if isinstance(root, OpResult) else None
