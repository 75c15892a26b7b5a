"""The state of reading one function: where ops go, what names stand for, which constants exist."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects.element_types import bit_width, is_float, is_integer
from pypto_xdsl.dialects.orch.attributes import TASK_ID, FunctionKind, SplitMode, TaskIdType
from pypto_xdsl.dialects.orch.scopes import IncoreOp
from pypto_xdsl.dialects.orch.tasks import TaskInvalidOp
from pypto_xdsl.dialects.ptensor.memory import DimOp, UpdatedOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type, symbols_of
from pypto_xdsl.frontend.pl.aliases import MOST_NAMED, Scope
from pypto_xdsl.frontend.pl.compile_time import StaticScope
from pypto_xdsl.frontend.pl.liveness import Liveness
from pypto_xdsl.frontend.pl.names import Frame, Names
from pypto_xdsl.frontend.pl.source import Node, Source
from pypto_xdsl.frontend.pl.static_values import DType, Symbol
from pypto_xdsl.frontend.pl.symbolic_extents import Step, solving_ops, steps_to
from pypto_xdsl.frontend.pl.values import (
    Literal,
    Tuple,
    Typed,
    Unavailable,
    Value,
    describe_type,
    describe_value,
    fits,
    fits_index,
    is_constant,
    is_literal,
    is_unsigned,
    is_value,
    literal_type,
)
from pypto_xdsl.frontend.pl.vocabulary import INDEX

if TYPE_CHECKING:
    from pypto_xdsl.frontend.pl.program import ProgramReader

_OpT = TypeVar("_OpT", bound=Operation)


@dataclass
class Construct:
    """A loop or `if` around: what its `pl.yield_` gives, and what may leave it."""

    kind: str
    """`for`, `while` or `if`."""
    yields: list[str] | None = None
    """The names that the block at hand yields, once it did."""
    node: ast.AST | None = None


@dataclass
class Context:
    """The function at hand. See the module's documentation."""

    program: ProgramReader
    source: Source
    scope: StaticScope
    """The names around the function."""
    kind: FunctionKind
    liveness: Liveness
    block: Block
    reader: Callable[[Context, ast.expr], Value]
    names: Names = field(default_factory=Names)
    constants: list[dict[tuple[Any, ...], SSAValue]] = field(default_factory=lambda: [{}])
    constructs: list[Construct] = field(default_factory=list[Construct])
    parted: dict[ast.stmt, set[str]] = field(default_factory=dict[ast.stmt, "set[str]"])
    """The names in each loop that part from others of the tensor that they name before it."""
    uncarried: dict[ast.stmt, set[str]] = field(default_factory=dict[ast.stmt, "set[str]"])
    """The names that a loop has to carry, found when it was read; those of the function at hand
    without their prefix."""
    parted_arguments: dict[SSAValue, ast.stmt] = field(default_factory=dict[SSAValue, ast.stmt])
    """What such names stand for at the start of an iteration, and the loop."""
    symbols: dict[str, tuple[SSAValue, int]] = field(
        default_factory=dict[str, tuple[SSAValue, int]]
    )
    """The parameter and axis that declare each symbol."""
    symbol_values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    prefix: str = ""
    """What keeps the names of a spliced function apart from those around."""
    auto_scope: bool = True
    scopes: list[str] = field(default_factory=list[str])
    """The kinds of the scopes around, outermost first."""
    scope_floor: int = 0
    """How many of the scopes are around the function itself, where it is spliced."""
    strict_ssa: bool = False
    """Whether each name is assigned once, and so stands for one value."""
    exact: bool = False
    """
    Whether a name stands for one value whatever is written through others: where that makes a
    difference, the text gives the tensor another name.
    """
    unnamed: set[SSAValue] = field(default_factory=set[SSAValue])
    """Tensors that calls wrote which return no name for them, where names are exact."""
    strict_types: bool = True
    """Whether a name keeps its type."""
    outputs: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """The parameters that the function says it writes, by name."""
    rebound: dict[ast.expr, tuple[str, SSAValue]] = field(
        default_factory=dict[ast.expr, tuple[str, SSAValue]]
    )
    """Where the name of such a parameter was assigned to, and what it then stood for."""
    dumped: set[str] = field(default_factory=set[str])
    depth: int = 0
    block_entry: Block | None = None
    splicing: tuple[ast.FunctionDef, ...] = ()
    """The functions that are being spliced, outermost first."""
    returned: Value = None
    policies: list[list[Any]] = field(default_factory=list[list[Any]])
    """The cache policies set in each scope around."""
    buffers: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """The named buffers of the function."""
    declared: Attribute | None = None
    """The type that the name has to which the call at hand is assigned."""
    split_modes: list[SplitMode] = field(default_factory=list[SplitMode])
    """The modes of the regions around that both vector cores run."""
    unrolled: int = 1
    """How often the statements at hand are read."""

    def __post_init__(self) -> None:
        if not self.names.aliases.scopes:
            self.names.aliases.enter(Scope(self.block, in_core=self.is_in_core))

    # Errors

    def error(self, node: Node, message: str) -> DiagnosticsError:
        """An error at a node, to be raised."""
        return self.source.error(node, message)

    # Expressions

    def read(self, node: ast.expr) -> Value:
        """What an expression gives; its ops are emitted."""
        return self.reader(self, node)

    def value(self, node: ast.expr, type: Attribute | None = None) -> SSAValue:
        """What an expression gives, as one SSA value."""
        return self.materialize(self.read(node), node, type)

    def index(self, node: ast.expr) -> SSAValue:
        """What an expression gives, as an index."""
        return self.as_index(self.read(node), node)

    # Ops

    def emit(self, op: _OpT, node: Node) -> _OpT:
        """Add an op at the end of the block at hand; it comes from a node."""
        op.location = self.source.location(node)
        self.block.add_op(op)
        return op

    def build(self, make: Callable[[], _OpT], node: Node, what: str) -> _OpT:
        """Add an op whose construction may find that its operands do not fit."""
        try:
            op = make()
        except VerifyException as e:
            raise self.error(node, f"{what}: {e}") from None
        return self.emit(op, node)

    @contextmanager
    def inside(self, block: Block) -> Generator[Frame]:
        """Read the statements of a region into its block; gives the frame of its names."""
        frame = Frame()
        frame.scope = Scope(block, len(self.names.frames), self.is_in_core)
        with self.again(frame):
            yield frame

    @contextmanager
    def again(self, frame: Frame) -> Generator[None]:
        """Go on at the end of a region."""
        assert frame.scope is not None
        outer = self.block
        self.block = frame.scope.block
        self.constants.append({})
        self.names.frames.append(frame)
        self.names.aliases.enter(frame.scope)
        try:
            yield
        finally:
            self.names.aliases.leave()
            self.names.frames.pop()
            self.constants.pop()
            self.block = outer

    @contextmanager
    def within(self, construct: Construct) -> Generator[None]:
        """Read the statements of a loop or `if`."""
        self.constructs.append(construct)
        try:
            yield
        finally:
            self.constructs.pop()

    # Constants

    def constant(self, value: Literal, type: Attribute, node: Node) -> SSAValue:
        """A constant of a type; one op for equal ones in a region."""
        if is_float(type):
            value = float(value)
            key = (repr(value), type)
        else:
            value = int(value)
            key = (value, type)
        for known in reversed(self.constants):
            if key in known:
                return known[key]
        if is_float(type):
            attribute: Attribute = _float_attr(repr(value), type)
        elif is_unsigned(type):
            # Constants have no sign.
            plain = self.constant(value, IntegerType(bit_width(type)), node)
            made = self.emit(arith.BitcastOp(plain, type), node)
            self.constants[-1][key] = made.result
            return made.result
        else:
            assert isinstance(value, int)
            attribute = _integer_attr(value, type)
        properties = {"value": attribute}
        op = arith.ConstantOp.create(result_types=(type,), properties=properties)
        self.constants[-1][key] = self.emit(op, node).result
        return op.result

    def materialize(self, value: Value, node: Node, type: Attribute | None = None) -> SSAValue:
        """A value as an SSA value; a literal takes the given type."""
        if is_value(value):
            return value
        if is_constant(value):
            if type is None or isinstance(value, Typed):
                type = literal_type(value)
            number = value.value if isinstance(value, Typed) else value
            if isinstance(type, TaskIdType):
                raise self.error(node, f"{describe_value(value)} is no task")
            if not fits(number, type):
                raise self.error(node, f"{number} does not fit {describe_type(type)}")
            return self.constant(number, type, node)
        match value:
            case None:
                return self.emit(TaskInvalidOp(), node).task
            case Symbol(name=name):
                return self.symbol(name, node)
            case Unavailable(reason=reason):
                raise self.error(node, f"this {reason}")
            case Tuple(elements=(single,)):
                return self.materialize(single, node, type)
            case _:
                raise self.error(node, f"expected a value, got {describe_value(value)}")

    def symbol(self, name: str, node: Node) -> SSAValue:
        """The run-time value of a symbolic extent, read from the parameter that declares it."""
        known = self.symbol_values.get(name)
        if known is not None:
            return known
        steps: Sequence[Step] = ()
        place = self.symbols.get(name)
        if place is None:
            for extent, candidate in self.symbols.items():
                found = steps_to(name, extent)
                if found is not None:
                    place, steps = candidate, found
                    break
            else:
                raise self.error(node, f"no parameter has the symbol '{name}' as an extent")
        parameter, axis = place
        op = DimOp(parameter, axis)
        ops: list[Operation] = [op, *solving_ops(op, steps)]
        # At the entry, so that every block sees it.
        entry = self.block_entry
        assert entry is not None
        for made in ops:
            made.location = self.source.location(node)
        first = entry.first_op
        if first is None:
            entry.add_ops(ops)
        else:
            entry.insert_ops_before(ops, first)
        result = ops[-1].results[0]
        result.name_hint = hint(name)
        self.symbol_values[name] = result
        return result

    def as_index(self, value: Value, node: Node) -> SSAValue:
        """A value as an `index`."""
        if is_literal(value):
            if isinstance(value, float):
                raise self.error(node, f"expected an index, got {value}")
            if not fits_index(value):
                raise self.error(node, f"expected an index, {value} is out of reach")
            return self.constant(value, INDEX, node)
        found: SSAValue = self.materialize(value, node)
        if found.type == INDEX:
            return found
        if is_integer(found.type) and bit_width(found.type) > 1:
            op = arith.IndexCastOp.create(operands=(found,), result_types=(INDEX,))
            return self.emit(op, node).result
        raise self.error(node, f"expected an index, got {describe_type(found.type)}")

    def static_int(self, value: Value, node: Node, what: str) -> int:
        """A value as an integer that is known at compile time."""
        if isinstance(value, Typed):
            value = value.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(
                node, f"{what} must be a constant integer, got {describe_value(value)}"
            )
        if not fits_index(value):
            raise self.error(node, f"{what} is out of reach: {value}")
        return value

    # Names

    def written(self, old: SSAValue, new: SSAValue) -> None:
        """A tensor was written in place: its names move on, unless each stands for one value."""
        if old in self.parted_arguments:
            raise self.error(
                self.parted_arguments[old],
                "names of one tensor before this loop stand for different ones after an "
                "iteration, and the tensor is written in between",
            )
        if is_tensor_type(old.type):
            self.names.aliases.write(old, new)
        if not self.strict_ssa:
            self.names.rename(old, new)

    def current(self, value: SSAValue, node: Node) -> SSAValue:
        """A tensor as all that was written to its buffer so far left it, with a name for that."""
        if self.exact or self.kind.is_wrapper:
            # What a wrapper calls runs side by side.
            return value
        aliases = self.names.aliases
        writes = aliases.behind(value, MOST_NAMED)
        if not writes:
            return value
        if len(writes) > MOST_NAMED:
            whole = aliases.told_by(value)
            if whole is None:
                writes = aliases.behind(value)
            else:
                writes = [aliases.by_whole(self.current(whole, node))]
        op, depth = aliases.update(value, writes)
        scope = aliases.scopes[depth]
        op.location = self.source.location(node)
        scope.block.add_op(op)
        self.names.rename(value, op.result, scope.frame)
        if value in self.parted_arguments:
            self.parted_arguments[op.result] = self.parted_arguments[value]
        return op.result

    def next_name(self, value: SSAValue, node: Node) -> SSAValue:
        """A tensor by another name, where names are exact: the next one of its buffer."""
        if not self.exact:
            return value
        writes = self.names.aliases.behind(value)
        op = self.emit(self.names.aliases.next_name(value, writes), node)
        if value in self.unnamed:
            self.unnamed.discard(value)
            self.names.aliases.write(value, op.result)
        return op.result

    def before_put_back(
        self, source: SSAValue, destination: SSAValue, starts: Sequence[int | SSAValue]
    ) -> SSAValue:
        """
        What to put a tensor into: where that is the window that it is a name of, nothing moves, and
        the destination need not be told before what was written there.
        """
        op = destination.owner
        aliases = self.names.aliases
        if (
            self.exact
            or not isinstance(op, UpdatedOp)
            or not aliases.is_put_back(source, op, starts)
        ):
            return destination
        older = op.source
        self.names.rename(destination, older)
        aliases.take_back(op)
        return older

    def written_unnamed(self, tensor: SSAValue, node: Node) -> None:
        """A tensor was written by something that gives it no next name."""
        if self.kind.is_wrapper:
            return
        if self.exact:
            self.unnamed.add(tensor)
            return
        op = self.emit(UpdatedOp(tensor), node)
        self.names.aliases.unnamed(op)
        op.result.name_hint = tensor.name_hint
        self.written(tensor, op.result)
        if self.strict_ssa:
            self.names.rename(tensor, op.result)

    def bind(self, name: str, value: Value) -> None:
        """Let a name of the function at hand stand for a value."""
        self.names.bind(self.prefix + name, value)
        if isinstance(value, OpResult) and value.name_hint is None:
            value.name_hint = hint(name)

    def lookup(self, name: str) -> Value:
        """What a name of the function at hand stands for. Raises `KeyError`."""
        return self.names.lookup(self.prefix + name)

    def is_defined(self, name: str) -> bool:
        return not isinstance(self.names.get(self.prefix + name), Unavailable)

    @property
    def is_in_core(self) -> bool:
        """Whether a core runs the statements at hand."""
        return self.kind.is_in_core or any(s.startswith(IncoreOp.name) for s in self.scopes)

    def is_inside(self, *kinds: str) -> bool:
        """Whether a scope of one of these kinds is around."""
        return any(kind in kinds for kind in self.scopes)


@lru_cache(maxsize=1024)
def _integer_attr(value: int, type: Attribute) -> Attribute:
    return IntegerAttr(value, cast(Any, type), truncate_bits=True)


@lru_cache(maxsize=1024)
def _float_attr(text: str, type: Attribute) -> Attribute:
    # By its text: equal floats, like 0.0 and -0.0, may be different constants.
    return FloatAttr(float(text), cast(Any, type))


@lru_cache(maxsize=4096)
def hint(name: str) -> str | None:
    """A name as a hint for the printer, None if it cannot be one."""
    # Of a name with a number at its end xDSL keeps what is before: of some that is nothing.
    if name.isidentifier() and name.isascii() and name.strip("_0123456789"):
        return name.rstrip("_") if name[-1] == "_" else name
    return None


def symbol_at(value: Value) -> str | None:
    """The symbol that an index value is the extent of, if it is one."""
    if isinstance(value, Symbol):
        return value.name
    if is_value(value) and isinstance(value.owner, DimOp):
        op = value.owner
        assert is_tensor_type(op.source.type)
        return symbols_of(op.source.type)[op.axis.value.data]
    return None


def element_of(dtype: Value) -> Attribute | None:
    """The type that a dtype stands for."""
    return dtype.type if isinstance(dtype, DType) else None


def as_tuple(value: Value) -> Sequence[Value] | None:
    """The elements of a list or tuple of values, None for anything else."""
    match value:
        case Tuple(elements=elements):
            return elements
        case list() | tuple():
            return value  # pyright: ignore[reportUnknownVariableType]
        case range():
            return list(value)
        case _:
            return None


def task_or_fail(context: Context, value: Value, node: Node) -> SSAValue:
    """A value as a task identity or an array of them."""
    found = context.materialize(value, node)
    if found.type == TASK_ID:
        return found
    element = getattr(found.type, "element_type", None)
    if element == TASK_ID:
        return found
    raise context.error(node, f"expected a task, got {describe_type(found.type)}")


def join_words(words: Iterable[str]) -> str:
    """Words as `a, b and c`."""
    *most, last = list(words)
    return f"{', '.join(most)} and {last}" if most else last
