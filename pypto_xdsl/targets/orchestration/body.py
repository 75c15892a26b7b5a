"""
The text of a function while it is written: which C++ expression stands for which value.

A value is a *name* or a literal; an identity of tasks may be several, each one task or an array of
them, since whoever waits for what a parallel loop hands on waits for all its iterations. Names are
declared in a C++ block and are visible until it is closed; what is needed beyond it gets a
`Variable`, declared in a place kept before the block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots, ProgramRoots
from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.analysis.program_order import ProgramOrder
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch import TASK_ID, is_array
from pypto_xdsl.targets.orchestration.kernels import Kernels
from pypto_xdsl.targets.orchestration.liveness import Liveness
from pypto_xdsl.targets.orchestration.names import Names, base_name
from pypto_xdsl.targets.orchestration.scalars import scalar_type
from pypto_xdsl.targets.orchestration.text import Text

TENSOR = "ChipTensor"
TASK = "PTO2TaskId"
NO_TASK = "PTO2TaskId::invalid()"


@dataclass(frozen=True)
class Part:
    """A name or a literal; with `extent`, the name of an array of so many elements."""

    text: str
    extent: int | None = None
    is_submitted: bool = False
    """It is the identity of a task that was surely launched."""


@dataclass(frozen=True)
class Place:
    """Where in the text lines can still be added, and in which C++ block that is."""

    text: Text
    block: int


@dataclass
class Variable:
    """A variable that is declared in a place once it is needed."""

    body: Body
    place: Place
    base: str
    type: str
    name: str = ""
    """Empty until it is declared."""

    def declare(self, extent: int | None) -> str:
        """The name of the variable, an array of `extent` elements if that is given."""
        if not self.name:
            self.name = self.body.declare(self.base, self.place)
            self.body.declaration(self.place.text, self.type, self.name, extent)
        return self.name


@dataclass
class Body:
    """A function while it is written."""

    function: orch.FuncOp
    kernels: Kernels
    text: Text
    write: Callable[[Body, Operation], None]
    """Writes an op."""
    names: Names = field(default_factory=Names)
    manual_scope: Operation | None = None
    """The manual scope around."""
    tasks: int = 0
    """How many tasks were written; each has a number."""
    batches: int = 0
    """How many allocations were written."""
    barriers: int = 0
    windows: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Of the name of a window: the name of the tensor it is in, and where it starts there."""
    targets: dict[SSAValue, Variable] = field(default_factory=dict[SSAValue, Variable])
    """For a value that a scope hands out: the variable that it is to be assigned to."""

    def __post_init__(self) -> None:
        self.order = ProgramOrder(self.function)
        self.liveness = Liveness(self.function)
        self.ranges = IntegerRanges()
        self._parts: dict[SSAValue, tuple[Part, ...]] = {}
        self._open: list[int] = [0]
        self._is_open: set[int] = {0}
        self._blocks = 0
        self._home: dict[str, int] = {}
        """The C++ block that a name is declared in; those not here are known everywhere."""
        self._lazy: dict[SSAValue, Callable[[], str]] = {}
        self._uses: dict[SSAValue, list[Operation]] = {}

    @cached_property
    def roots(self) -> BufferRoots:
        """Which buffers the tensors of the function name."""
        return ProgramRoots(self.kernels.lineage).of(self.function)

    def uses_in_order(self, value: SSAValue) -> list[Operation]:
        """The ops that use a value, an op as often as it does, in the order of the text."""
        if value not in self._uses:
            users = [use.operation for use in value.uses]
            self._uses[value] = sorted(users, key=self.order.read)
        return self._uses[value]

    # Values.

    def parts(self, value: SSAValue) -> tuple[Part, ...]:
        """What stands for a value."""
        if value in self._lazy:
            self._parts[value] = (Part(self._lazy.pop(value)(), is_submitted=True),)
        found = self._parts.get(value)
        assert found is not None, f"{value} has no text"
        return found

    def is_bound(self, value: SSAValue) -> bool:
        """Whether anything stands for a value yet."""
        return value in self._parts

    def of(self, value: SSAValue) -> str:
        """The expression of a value that is one thing."""
        (part,) = self.parts(value)
        return part.text

    def of_task(self, value: SSAValue, op: Operation) -> str:
        """The expression of a task. Raises `OpError` where `op` uses several tasks as one."""
        parts = self.parts(value)
        if len(parts) != 1 or parts[0].extent is not None:
            name = f"%{value.name_hint}" if value.name_hint else "a task"
            raise OpError(
                op,
                f"uses {name} as one task, which is one of each iteration of a parallel loop in "
                "a manual scope; wait for them with orch.task_dummy and use that",
            )
        return parts[0].text

    def bind(self, value: SSAValue, *parts: Part | str) -> None:
        """Let an expression, or several parts, stand for a value."""
        self._parts[value] = tuple(Part(p) if isinstance(p, str) else p for p in parts)

    def bind_lazily(self, value: SSAValue, make: Callable[[], str]) -> None:
        """Let a task be what `make` says, which declares it, once it is asked for."""
        self._lazy[value] = make

    def alias(self, value: SSAValue, source: SSAValue) -> None:
        """Let a value be what another is."""
        if source in self._lazy:
            self.parts(source)
        self._parts[value] = self._parts[source]

    # Names.

    def declare(self, base: str, place: Place | None = None) -> str:
        """A new name, visible in the C++ block that is open, or in that of a place."""
        name = self.names.fresh(base)
        self._home[name] = self._open[-1] if place is None else place.block
        return name

    def is_visible(self, parts: Sequence[Part]) -> bool:
        """Whether what stands for a value can be used where the text is now."""
        return all(self._home.get(part.text, 0) in self._is_open for part in parts)

    def variable(self, value: SSAValue, place: Place) -> Variable:
        """A variable for a value, declared in a place when it is needed."""
        return Variable(self, place, base_name(value), self.type_of(value))

    def type_of(self, value: SSAValue) -> str:
        """The C++ type of a value, of the elements of an array."""
        found = self.type_name(value.type)
        if found is None:
            op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
            assert op is not None
            raise OpError(op, f"has a value of type {value.type}, which has no spelling in C++")
        return found

    def type_name(self, type: Attribute) -> str | None:
        """The C++ type of a type, None if it has none."""
        if isinstance(type, TensorType):
            return TENSOR
        if is_array(type):
            return self.type_name(type.element_type)
        return TASK if type == TASK_ID else scalar_type(type)

    # Text.

    def line(self, text: str = "") -> None:
        """Add a line."""
        self.text.line(text)

    def comment(self, text: str) -> None:
        """Add a comment of one line."""
        self.text.comment(text)

    def lines(self, lines: Sequence[str]) -> None:
        """Add lines."""
        for line in lines:
            self.text.line(line)

    def place(self) -> Place:
        """Keep a place here."""
        return Place(self.text.place(), self._open[-1])

    @contextmanager
    def block(self) -> Generator[None]:
        """A C++ block, one step deeper; the lines that open and close it are the caller's."""
        outer = self.text
        self._blocks += 1
        self._open.append(self._blocks)
        self._is_open.add(self._blocks)
        self.text = outer.place(outer.depth + 1)
        try:
            yield
        finally:
            self.text = outer
            self._is_open.discard(self._open.pop())

    def ops(self, block: Block) -> Operation:
        """Write the ops of a block but the last, which is returned."""
        last = block.last_op
        assert last is not None
        op = block.first_op
        while op is not None and op is not last:
            if not self.liveness.is_idle(op):
                self.write(self, op)
            op = op.next_op
        return last

    def declaration(self, text: Text, type: str, name: str, extent: int | None) -> None:
        """Declare a variable that is assigned later."""
        if extent is None:
            text.line(f"{type} {name}{f' = {NO_TASK}' if type == TASK else ''};")
        elif type == TASK:
            text.line(f"{type} {name}[{extent}];")
            self.fill(text, name, 0, extent, NO_TASK)
        else:
            text.line(f"{type} {name}[{extent}] = {{0}};")

    def fill(self, text: Text, name: str, first: int, extent: int, value: str) -> None:
        """Assign one value to elements of an array."""
        k = self.names.fresh("k")
        place = f"{name}[{k}]" if not first else f"{name}[{first} + {k}]"
        text.line(f"for (int64_t {k} = 0; {k} < {extent}; ++{k}) {{")
        text.place(text.depth + 1).line(f"{place} = {value.replace('#', k)};")
        text.line("}")

    def assign(self, text: Text, name: str, extent: int | None, parts: Sequence[Part]) -> None:
        """Assign what stands for a value to a variable, an array of `extent` elements."""
        if extent is None:
            (part,) = parts
            if part.text != name:
                text.line(f"{name} = {part.text};")
            return
        first = 0
        for part in parts:
            if part.text == name:
                pass
            elif part.extent is None:
                text.line(f"{name}[{first}] = {part.text};")
            else:
                self.fill(text, name, first, part.extent, f"{part.text}[#]")
            first += part.extent or 1


def extent_of(*alternatives: Sequence[Part]) -> int | None:
    """The extent of an array for any of several values; None if none needs an array."""
    if all(len(parts) == 1 and parts[0].extent is None for parts in alternatives):
        return None
    return max(sum(part.extent or 1 for part in parts) for parts in alternatives)


Writers = Mapping[type[Operation], Callable[[Body, Operation], None]]
