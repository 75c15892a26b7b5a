"""Where tiles are kept: `pl.tile.alloc`, and `pl.MemRef` in the types of tiles."""

from __future__ import annotations

import ast
from typing import Any

from xdsl.ir import SSAValue

from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.storage import AllocOp, BufferType, PlaceOp
from pypto_xdsl.frontend.pl.annotations import Annotation
from pypto_xdsl.frontend.pl.compile_time import Evaluator
from pypto_xdsl.frontend.pl.context import Context, hint
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.static_values import DslCall, Unsettled
from pypto_xdsl.frontend.pl.values import Typed, Value, describe_value, is_tile, is_value
from pypto_xdsl.frontend.pl.vocabulary import EnumWord

_SPACES = (None, *MemorySpace)
"""Memory spaces by PyPTO's numbers; 0 is global memory."""


def is_allocation(call: ast.Call) -> bool:
    """Whether a call is a `pl.tile.alloc(...)`."""
    path = dotted_name(call.func)
    return path is not None and len(path) > 1 and path[-1] == "alloc"


def read_allocation(context: Context, name: str, call: ast.Call) -> None:
    """`buf: pl.Ptr = pl.tile.alloc(space, size)`."""
    values = [context.read(argument) for argument in call.args]
    pinned = False
    for keyword in call.keywords:
        if keyword.arg == "pinned":
            pinned = context.read(keyword.value) is True
        elif keyword.arg != "attrs":
            raise context.error(keyword.value, f"pl.tile.alloc has no argument '{keyword.arg}'")
    if len(values) != 2:
        raise context.error(call, "pl.tile.alloc takes a memory space and a size")
    space, size = values
    if isinstance(space, Typed):
        space = space.value
    if isinstance(space, int) and 0 <= space < len(_SPACES):
        space = _SPACES[space]
    elif isinstance(space, EnumWord):
        space = space.value
    if not isinstance(space, MemorySpace):
        raise context.error(call.args[0], f"expected a memory space, got {describe_value(space)}")
    bytes = context.static_int(size, call.args[1], "the size of a buffer")
    op = context.emit(AllocOp(name, space, bytes, pinned=pinned), call)
    context.bind(name, op.result)
    context.buffers.setdefault(name, op.result)


def bind_storage(context: Context, value: Value, declared: Annotation, node: ast.expr) -> Value:
    """A value in the buffer that its annotation names. A tensor is its own buffer."""
    memref = declared.memref_node
    assert memref is not None
    if not is_tile(value):
        return value
    if declared.space is None:
        raise context.error(memref, "a tile in a buffer needs a memory space: pl.Mem.X")
    slot: Value = None
    base = memref
    if isinstance(memref, ast.Subscript):
        base = memref.value
        slot = context.read(memref.slice)
    call, scope_context = _declaration(context, base)
    buffer, arguments, slots = _buffer(context, call, scope_context, base)
    offset: Value = 0
    size: int | None = None
    by_slot = slot is not None
    if arguments:
        offset = context.read(arguments[0])
        size = context.static_int(context.read(arguments[1]), arguments[1], "a size")
    elif by_slot:
        if slots == 1:
            raise context.error(memref, "a buffer with one slot has no elements")
        offset = slot
    if isinstance(offset, Typed):
        offset = offset.value
    if isinstance(offset, bool) or not isinstance(offset, int):
        offset = context.as_index(offset, memref)
    elif by_slot and not 0 <= offset < slots and not arguments:
        raise context.error(memref, f"slot {offset} of a buffer of {slots} slots")
    assert is_value(value)
    placed = value
    return context.build(
        lambda: PlaceOp(placed, buffer, offset, size, by_slot=by_slot), memref, "a buffer"
    ).result


def _declaration(context: Context, node: ast.expr) -> tuple[DslCall, bool]:
    """The `pl.MemRef(...)` that a type names."""
    if isinstance(node, ast.Call):
        return DslCall(("pl", "MemRef"), node, context.scope), True
    try:
        value = Evaluator(context.scope).evaluate(node)
    except Unsettled as e:
        raise context.error(node, f"'{ast.unparse(node)}' {e.reason}") from None
    if not isinstance(value, DslCall):
        raise context.error(node, f"expected a pl.MemRef, got {describe_value(value)}")
    return value, False


def _buffer(
    context: Context, call: DslCall, inline: bool, at: ast.expr
) -> tuple[SSAValue, list[ast.expr], int]:
    """The buffer of a declaration, its offset and size where they are given, its slots."""
    arguments = list(call.node.args)
    slots = 1
    for keyword in call.node.keywords:
        if keyword.arg != "slots":
            raise context.error(at, f"pl.MemRef has no argument '{keyword.arg}'")
        slots = _constant(context, call, keyword.value, "'slots'")
        if slots < 1:
            raise context.error(at, f"a buffer has at least one slot, got {slots}")
    if len(arguments) == 3:
        base, offset, size = arguments
        if isinstance(base, ast.Constant) and isinstance(base.value, int):
            # Address, size and number: the old form.
            return (
                _named(context, f"mem_{_constant(context, call, size, 'a number')}", at),
                [
                    base,
                    offset,
                ],
                slots,
            )
        if isinstance(base, ast.Name) and context.is_defined(base.id):
            buffer = context.read(base)
            if not is_value(buffer) or not isinstance(buffer.type, BufferType):
                raise context.error(base, f"expected a buffer, got {describe_value(buffer)}")
            return buffer, [offset, size], slots
        name = base.id if isinstance(base, ast.Name) else _text(context, base)
        return _named(context, name, at), [offset, size], slots
    if len(arguments) > 1:
        raise context.error(at, "a pl.MemRef has a name, or a base, an offset and a size")
    name = _text(context, arguments[0]) if arguments else call.name
    if name is None:
        raise context.error(at, "a pl.MemRef needs a name")
    return _named(context, name, at, slots=slots, pinned=True), [], slots


def _constant(context: Context, call: DslCall, node: ast.expr, what: str) -> int:
    try:
        value = Evaluator(call.scope).evaluate(node)
    except Unsettled:
        value = None
    if isinstance(value, bool) or not isinstance(value, int):
        raise context.error(node, f"{what} must be a constant integer")
    return value


def _text(context: Context, node: ast.expr) -> str:
    value: Any = node.value if isinstance(node, ast.Constant) else context.read(node)
    if not isinstance(value, str):
        raise context.error(node, "the name of a buffer is a string")
    return value


def _named(
    context: Context, name: str, at: ast.expr, *, slots: int = 1, pinned: bool = False
) -> SSAValue:
    """The buffer of a name, declared at the start of the function."""
    known = context.buffers.get(name)
    if known is not None:
        owner = known.owner
        if isinstance(owner, AllocOp) and pinned and owner.slots.value.data != slots:
            raise context.error(
                at, f"buffer '{name}' has {owner.slots.value.data} slots elsewhere, {slots} here"
            )
        return known
    op = AllocOp(name, slots=slots, pinned=pinned)
    op.location = context.source.location(at)
    entry = context.block_entry or context.block
    if entry.first_op is None:
        entry.add_op(op)
    else:
        entry.insert_op_before(op, entry.first_op)
    op.result.name_hint = hint(name)
    context.buffers[name] = op.result
    return op.result
