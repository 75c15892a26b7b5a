"""The ops of a block as statements of the DSL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use

from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.analysis.valid_extents import is_visible, valid_extent
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor
from pypto_xdsl.dialects.ptensor.memory import SizedViewOp
from pypto_xdsl.dialects.ptensor.types import (
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.tile.cross_core import PopOp
from pypto_xdsl.dialects.tile.memory import CreateOp, LoadOp, SetValidShapeOp
from pypto_xdsl.dialects.tile.storage import AllocOp, PlaceOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.tile.windows import ExtractOp, SliceOp
from pypto_xdsl.frontend.pl.context import symbol_at
from pypto_xdsl.targets.pl.calls import check_attributes, op_call
from pypto_xdsl.targets.pl.dispatches import dispatch
from pypto_xdsl.targets.pl.names import Names
from pypto_xdsl.targets.pl.parts import quoted
from pypto_xdsl.targets.pl.scalars import Number, Part, expression, is_scalar_op, number_of
from pypto_xdsl.targets.pl.symbols import SymbolName, Symbols
from pypto_xdsl.targets.pl.tensor_forms import valid_window
from pypto_xdsl.targets.pl.types import annotation, whole_annotation

INDENT = "    "
DEEPEST = 100
"""So deep Python does not indent any more."""


class BodyWriter:
    """
    Writes the body of one function.

    Arithmetic that is used once, by an op that follows with nothing in between, stands in that
    op's text: evaluated from left to right it gives the same ops again. Everything else is a
    statement with a name of its own.
    """

    def __init__(self, names: Names, functions: Mapping[str, str], symbols: Symbols, indent: int):
        self.names = names
        self.functions = functions
        """What the text calls each function of the program."""
        self.symbols = symbols
        self.indent = indent
        self.lines: list[str] = []
        self._pending: dict[SSAValue, str] = {}
        """Expressions that no statement holds yet, in the order of their ops."""
        self._numbers: dict[SSAValue, Number] = {}
        """What the text spells as a number."""
        self._unplaced: dict[PlaceOp, str] = {}
        """What makes the tile that an op places, which is one statement with it."""
        self._used: dict[SSAValue, bool] = {}
        self._ranges = IntegerRanges()
        self.inlines = False
        """Whether every op is part of one expression, which has no statements."""

    # Text

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append(INDENT * self.indent + text)

    def enter(self, op: Operation) -> None:
        """Write what is inside an op from now on."""
        self.indent += 1
        if self.indent >= DEEPEST:
            raise OpError(op, f"is inside {DEEPEST} others: more than Python reads")

    def render(self, parts: Sequence[Part]) -> str:
        """
        The text of parts in the order of evaluation. What is pending and not used by them, or out
        of order, becomes statements before.
        """
        used = [part for part in parts if isinstance(part, SSAValue) and part in self._pending]
        waiting = list(self._pending)
        if used and waiting[-len(used) :] != used:
            self.flush()
        elif len(waiting) > len(used):
            self.flush(waiting[: len(waiting) - len(used)])
        return self._text(parts)

    def _text(self, parts: Sequence[Part]) -> str:
        return "".join(map(self._part, parts))

    def _part(self, part: Part) -> str:
        if isinstance(part, SSAValue):
            return self._pending.pop(part, None) or self.value(part)
        return self.symbols.spelled(part) if isinstance(part, SymbolName) else part

    def value(self, value: SSAValue) -> str:
        """A value by its name, or as a number."""
        number = self.number(value)
        if number is None:
            return self.names.name(value)
        assert isinstance(value.owner, Operation)
        return number.text(value.owner)

    def number(self, value: SSAValue) -> Number | None:
        """The number that a value is in the text, None if it has a name there."""
        known = self._numbers.get(value)
        owner = value.owner
        if known is None and isinstance(owner, arith.ConstantOp | arith.BitcastOp):
            known = number_of(owner)
            if known is not None:
                self._numbers[value] = known
            elif isinstance(owner, arith.ConstantOp):
                raise OpError(owner, "has no spelling in the DSL")
        return known

    def spell_as(self, result: SSAValue, value: SSAValue) -> None:
        """Let a result be the number in the text that a value is."""
        number = self.number(value)
        assert number is not None
        self._numbers[result] = number

    def flush(self, values: Sequence[SSAValue] | None = None) -> None:
        """Turn pending expressions into statements."""
        for value in list(self._pending) if values is None else values:
            text = self._pending.pop(value)
            self._assign([value], bare(text))

    def _assign(self, results: Sequence[SSAValue], text: str, buffer: str | None = None) -> None:
        if not results:
            self.line(text)
        elif len(results) == 1:
            (result,) = results
            type = self._annotation(result, buffer)
            name = self.names.name(result)
            self.line(f"{name} = {text}" if type is None else f"{name}: {type} = {text}")
        else:
            self.line(f"{', '.join(map(self.names.name, results))} = {text}")

    def _annotation(self, result: SSAValue, buffer: str | None) -> str | None:
        """The type of a result, None if it has no words or is clear without them."""
        if isinstance(result.owner, ptensor.ReshapeOp):
            type = tensor_of(result.type)
            if DYNAMIC_INDEX in valid_shape_of(type) and valid_shape_of(type) != type.get_shape():
                # What is valid of a tensor does not tell what is in another shape.
                return whole_annotation(type, self.symbols, self.names, view=True)
        if _is_open(result):
            type = tensor_of(result.type)
            return whole_annotation(type, self.symbols, self.names, view=not _is_plain(type))
        return annotation(result.type, self.symbols, buffer, valid=self._valid(result))

    def _valid(self, result: SSAValue) -> list[str] | None:
        """The valid extents of a tile that are known at run time, where they have names."""
        type, op = result.type, result.owner
        if not isinstance(type, TileType) or DYNAMIC_INDEX not in type.valid_shape:
            return None
        if not isinstance(op, LoadOp | SliceOp | CreateOp | PopOp | SetValidShapeOp | ExtractOp):
            # What is valid follows from operands.
            return None
        found: list[str] = []
        for axis in range(len(type.valid_shape)):
            extent = valid_extent(result, axis)
            if isinstance(extent, SSAValue):
                name = self.names.known(extent) if is_visible(extent, op) else None
                if name is None and not isinstance(op, ExtractOp):
                    return None
                found.append(name or self.symbols.unnamed(self.names))
            else:
                found.append(self.symbols.unnamed(self.names) if extent is None else str(extent))
        return found

    # What is used

    def look_ahead(self, function: orch.FuncOp) -> None:
        """Find out which names of buffers are used, the last of each first."""
        for op in reversed([*walk(function)]):
            if isinstance(op, ptensor.UpdatedOp):
                self.is_used(op.result)

    def is_used(self, value: SSAValue) -> bool:
        """
        Whether anything uses a value but scopes around that hand it on to nobody, and names of its
        buffer that nothing uses.
        """
        known = self._used.get(value)
        if known is None:
            known = self._used[value] = any(map(self._uses, value.uses))
        return known

    def _uses(self, use: Use) -> bool:
        op = use.operation
        around = op.parent_op()
        if isinstance(op, orch.YieldOp) and isinstance(around, orch.ScopeOp):
            return self.is_used(around.outputs[use.index])
        return not isinstance(op, ptensor.UpdatedOp) or self.is_used(op.result)

    # Blocks

    def block(self, block: Block) -> None:
        """Write the ops of a block."""
        for op in block.ops:
            self.op(op)
        self.flush()

    def block_without_end(self, block: Block) -> None:
        """Write the ops of a block; what its end uses may still be pending."""
        for op in block.ops:
            if isinstance(op, scf.YieldOp | scf.ConditionOp | orch.YieldOp):
                check_attributes(op)
                return
            self.op(op)

    def op(self, op: Operation) -> None:
        """Write one op."""
        from pypto_xdsl.targets.pl import control_flow

        check_attributes(op)
        match op:
            case arith.ConstantOp() | arith.BitcastOp() if self.number(op.results[0]) is not None:
                return
            case arith.SelectOp():
                self._select(op)
            case _ if is_scalar_op(op):
                self._scalar(op)
            case scf.ForOp() | scf.WhileOp() | scf.IfOp():
                control_flow.write(self, op)
            case orch.ScopeOp():
                control_flow.write_scope(self, op)
            case scf.YieldOp() | orch.YieldOp():
                return
            case orch.ReturnOp():
                self._return(op)
            case orch.SubmitOp():
                self._submit(op)
            case orch.CallOp():
                self._assign(op.results, self.render(dispatch(op, self.functions)))
            case ptensor.TypeCastOp():
                self._type_cast(op)
            case ptensor.SliceOp() if valid_window(op) is not None:
                return
            case ptensor.UpdatedOp():
                # A name that is read after other names were written sees what they wrote.
                if self.is_used(op.result):
                    self._rename(op.result, op.source)
            case CreateOp() | PopOp() if op.valid_extents:
                # Its type says what is valid, by name.
                self.flush()
                if self._valid(op.result) is None:
                    raise OpError(op, "has no spelling in the DSL with this run-time valid region")
                self._make(op, self.render(op_call(op, self.functions)))
            case PlaceOp():
                self._place(op)
            case AllocOp() if op.space is None:
                # Declared where it is used.
                return
            case AllocOp():
                if self.names.name(op.result) != op.buffer.data:
                    raise OpError(
                        op,
                        "has no spelling in the DSL: its variable cannot be called "
                        f"'{op.buffer.data}'",
                    )
                self._assign(op.results, self.render(op_call(op, self.functions)))
            case _:
                text = self.render(op_call(op, self.functions))
                if self.inlines and len(op.results) == 1 and op.results[0].has_one_use():
                    self._pending[op.results[0]] = text
                else:
                    self._make(op, text)

    def _make(self, op: Operation, text: str) -> None:
        place = placed_at_once(op)
        if place is None:
            self._assign(op.results, text)
        else:
            self._unplaced[place] = text

    def _scalar(self, op: Operation) -> None:
        result = op.results[0]
        parts = expression(op, self._ranges)
        numbers = [self.number(part) for part in parts if isinstance(part, SSAValue)]
        if None not in numbers:
            # Arithmetic on numbers is worked out where it is read, unless their types are said.
            parts = [
                number.text(op, typed=True)
                if isinstance(part, SSAValue) and (number := self.number(part)) is not None
                else part
                for part in parts
            ]
        used = [part for part in parts if isinstance(part, SSAValue) and part in self._pending]
        waiting = list(self._pending)
        if used and waiting[-len(used) :] != used:
            self.flush()
        text = self._text(parts)
        (first, *more) = list(result.uses) or [None]
        alone = first is not None and not more and first.operation.parent is op.parent
        loops = first is not None and isinstance(first.operation, scf.ForOp | scf.WhileOp)
        if alone and not loops and (self.inlines or len(text) < 160):
            self._pending[result] = text
            return
        self.flush()
        self._assign([result], bare(text))

    def _select(self, op: arith.SelectOp) -> None:
        """One of two scalars: the branches of an `if`, both of which are there already."""
        condition = self.render([op.cond])
        self.flush()
        name = self.names.name(op.result)
        for head, value in ((f"if {bare(condition)}:", op.lhs), ("else:", op.rhs)):
            self.line(head)
            self.line(f"{INDENT}{name} = pl.yield_({self.value(value)})")

    def _return(self, op: orch.ReturnOp) -> None:
        values = list(op.values)
        if not values:
            self.flush()
            return
        parts: list[Part] = []
        for place, value in enumerate(values):
            if place:
                parts.append(", ")
            parts.append(_uncast(value))
        self.line(f"return {_bare_list(self.render(parts), values)}")

    def _submit(self, op: orch.SubmitOp) -> None:
        text = self.render(dispatch(op, self.functions))
        results = list(op.results)
        if len(results) == 1:
            # The task alone comes as a tuple of one.
            whole = self.names.fresh("launched")
            self.line(f"{whole}: pl.Tuple[pl.Scalar[pl.TASK_ID]] = {text}")
            self._assign(results, f"{whole}[0]")
            return
        names = [self.names.name(result) for result in results]
        head = names[0] if len(names) == 2 else f"({', '.join(names[:-1])})"
        self.line(f"{head}, {names[-1]} = {text}")

    def _type_cast(self, op: ptensor.TypeCastOp) -> None:
        """A tensor under another type: what the reader adds by itself, or an annotation."""
        if not is_implied(op):
            self._rename(op.result, op.source)

    def _rename(self, result: OpResult, source: SSAValue) -> None:
        """Another name for a tensor, with the type that it has from there on."""
        have, want = tensor_of(source.type), tensor_of(result.type)
        text = whole_annotation(want, self.symbols, self.names, view=not _is_plain(have))
        if text is None:
            raise OpError(result.op, f"has no spelling in the DSL: {have} as {want}")
        self.line(f"{self.names.name(result)}: {text} = {self.render([source])}")

    def _place(self, op: PlaceOp) -> None:
        """A tile in a buffer: the type of its name says so."""
        owner = op.buffer.owner
        (place,) = op.place
        at = self.render([place]) if isinstance(place, SSAValue) else str(place)
        at = bare(at)
        if not isinstance(owner, AllocOp):
            raise OpError(op, "has no spelling in the DSL: its buffer has no name")
        slots = owner.slots.value.data
        more = f", slots={slots}" if slots > 1 else ""
        known = owner.space is not None
        name = quoted(owner.buffer.data)
        base = self.names.name(op.buffer) if known else name
        slot = f"[{at}]" if op.by_slot is not None else ""
        if op.size is not None:
            if not known and (owner.pinned is not None or slots > 1):
                raise OpError(op, "has no spelling in the DSL: its buffer is by name, or by size")
            offset = "0" if op.by_slot is not None else at
            buffer = f"pl.MemRef({base}, {offset}, {op.size.value.data}{more}){slot}"
        else:
            if not known and owner.pinned is None:
                raise OpError(op, "has no spelling in the DSL: a buffer by name is pinned")
            if op.by_slot is None and place != 0:
                raise OpError(op, "has no spelling in the DSL at an offset without a size")
            buffer = f"pl.MemRef({name}{more}){slot}"
        made = self._unplaced.pop(op, None)
        if made is None:
            self._assign([op.result], self.value(op.source), buffer)
            return
        type = annotation(op.result.type, self.symbols, buffer, valid=self._valid(op.source))
        self.line(f"{self.names.name(op.result)}: {type} = {made}")


def placed_at_once(op: Operation) -> PlaceOp | None:
    """
    What says where the only result of an op is, if nothing else uses that, and nothing comes in
    between but arithmetic that tells the place.
    """
    if len(op.results) != 1 or not op.results[0].has_one_use():
        return None
    between: list[Operation] = []
    follows = op.next_op
    while follows is not None and (
        (is_scalar_op(follows) and not isinstance(follows, arith.SelectOp))
        # Declared where it is used.
        or (isinstance(follows, AllocOp) and follows.space is None)
    ):
        between.append(follows)
        follows = follows.next_op
    if not isinstance(follows, PlaceOp) or follows.source is not op.results[0]:
        return None
    users = {*between, follows}
    for computed in between:
        if isinstance(computed, arith.ConstantOp | AllocOp):
            continue
        (result,) = computed.results
        if not result.has_one_use() or any(use.operation not in users for use in result.uses):
            return None
    return follows


def bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def _bare_list(text: str, values: Sequence[SSAValue]) -> str:
    return bare(text) if len(values) == 1 else text


def _uncast(value: SSAValue) -> SSAValue:
    """A value without the cast to the declared type, which the reader adds again."""
    owner = value.owner
    return owner.source if isinstance(owner, ptensor.TypeCastOp) and is_implied(owner) else value


def _is_open(result: SSAValue) -> bool:
    """Whether the type of a tensor leaves an extent open that the reader knows the symbol of."""
    op = result.owner
    if not isinstance(op, ptensor.CreateOp | ptensor.FullOp | ptensor.SliceOp | SizedViewOp):
        return False
    extents = zip(op.extents, symbolic_shape_of(tensor_of(result.type)), strict=False)
    return any(
        extent == DYNAMIC_INDEX and isinstance(size, SSAValue) and symbol_at(size) is not None
        for size, extent in extents
    )


def _is_plain(type: TensorType[Attribute]) -> bool:
    """Whether a tensor is packed, in order and valid as a whole."""
    return type == tensor_type(symbolic_shape_of(type), type.element_type)


def is_implied(op: ptensor.TypeCastOp) -> bool:
    """
    Whether a cast is one that the reader adds by itself: where a function declares that it returns
    other extents.
    """
    if not op.result.has_one_use():
        return False
    (use,) = op.result.uses
    source, result = tensor_of(op.source.type), tensor_of(op.result.type)
    returned = isinstance(use.operation, orch.ReturnOp)
    other_extents = symbolic_shape_of(source) != symbolic_shape_of(result)
    return returned and other_extents and _is_plain(source) and _is_plain(result)
