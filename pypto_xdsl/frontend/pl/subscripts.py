"""Subscripts: `x[i, 0]` reads an element, `x[a:b, :]` is a window, `x[a:b] = y` writes one."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from pypto_xdsl.dialects.orch.attributes import is_array
from pypto_xdsl.dialects.orch.tasks import ArrayGetOp, ArrayUpdateOp
from pypto_xdsl.dialects.ptensor import memory as ptensor
from pypto_xdsl.dialects.ptensor.types import symbolic_shape_of, tensor_of, valid_shape_of
from pypto_xdsl.dialects.tile import memory as tile
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl import operations
from pypto_xdsl.frontend.pl.arguments import Arguments, Bound, to_indices
from pypto_xdsl.frontend.pl.compile_time import Evaluator
from pypto_xdsl.frontend.pl.context import Context, as_tuple
from pypto_xdsl.frontend.pl.scalars import binary
from pypto_xdsl.frontend.pl.source import descendants
from pypto_xdsl.frontend.pl.static_values import Symbol, Unsettled
from pypto_xdsl.frontend.pl.tensor_forms import (
    assemble_tensor,
    drop_dimensions,
    reshape_tensor,
    slice_tensor,
)
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Value,
    describe_value,
    is_literal,
    is_tensor,
    is_tile,
    is_value,
)


def read_subscript(context: Context, base: Value, node: ast.Subscript) -> Value:
    """`base[...]` as a value."""
    elements = as_tuple(base)
    if elements is not None:
        return _element(context, elements, node)
    if is_value(base) and is_array(base.type):
        index = context.index(_one_index(context, node))
        return context.emit(ArrayGetOp(base, index), node).result
    if is_tensor(base):
        return _read_tensor(context, base, node)
    if is_tile(base):
        return _read_tile(context, base, node)
    if isinstance(base, dict):
        entries = cast(dict[Any, Any], base)
        key = context.read(node.slice)
        if key in entries:
            return entries[key]
    raise context.error(node, f"{describe_value(base)} has no elements")


def _element(context: Context, elements: Sequence[Value], node: ast.Subscript) -> Value:
    if isinstance(node.slice, ast.Slice):
        parts = (node.slice.lower, node.slice.upper, node.slice.step)
        bounds = [None if part is None else context.read(part) for part in parts]
        if all(bound is None or type(bound) is int for bound in bounds):
            return Tuple(tuple(elements[slice(*bounds)]))
        raise context.error(node, "a part of a tuple needs constant bounds")
    index = context.read(node.slice)
    if isinstance(index, bool) or not isinstance(index, int):
        raise context.error(
            node.slice, f"an element of a tuple needs a constant index, got {describe_value(index)}"
        )
    if not -len(elements) <= index < len(elements):
        raise context.error(node.slice, f"element {index} of a tuple of {len(elements)}")
    return elements[index]


def _one_index(context: Context, node: ast.Subscript) -> ast.expr:
    if isinstance(node.slice, ast.Slice | ast.Tuple):
        raise context.error(node.slice, "an array takes one index")
    return node.slice


@dataclass
class _Window:
    """Where a subscript looks: for each dimension an offset and an extent."""

    offsets: list[Value]
    extents: list[Value]
    dropped: list[int]
    """The dimensions that are indexed with a single number."""


def _window(context: Context, node: ast.Subscript, shape: Sequence[int | str]) -> _Window:
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) > len(shape):
        raise context.error(node.slice, f"{len(parts)} indices into {len(shape)} dimensions")
    window = _Window([], [], [])
    for axis, extent in enumerate(shape):
        part = parts[axis] if axis < len(parts) else None
        if part is None or isinstance(part, ast.Slice):
            _slice(context, window, part, extent)
            continue
        if isinstance(part, ast.Constant) and (part.value is None or part.value is ...):
            raise context.error(part, "an index is a number or a slice")
        index = context.read(part)
        if is_literal(index):
            if isinstance(index, bool | float):
                raise context.error(part, f"an index is a number or a slice, got {index}")
            if index < 0:
                raise context.error(part, f"a negative index {index} is not part of the DSL")
            if isinstance(extent, int) and extent >= 0 and index >= extent:
                raise context.error(part, f"index {index} lies outside an extent of {extent}")
        else:
            index = context.as_index(index, part)
        window.offsets.append(index)
        window.extents.append(1)
        window.dropped.append(axis)
    return window


def _slice(context: Context, window: _Window, part: ast.Slice | None, extent: int | str) -> None:
    if part is None or (part.lower is None and part.upper is None and part.step is None):
        window.offsets.append(0)
        window.extents.append(_whole(extent))
        return
    if part.step is not None:
        raise context.error(part.step, "a slice with a step is not part of the DSL")
    lower = 0 if part.lower is None else context.read(part.lower)
    for bound, node in ((lower, part.lower),):
        if is_literal(bound) and bound < 0:
            assert node is not None
            raise context.error(node, f"a negative bound {bound} is not part of the DSL")
    if part.upper is None:
        whole = _whole(extent)
        size = whole if lower == 0 and is_literal(lower) else _minus(context, whole, lower, part)
        window.offsets.append(lower)
        window.extents.append(size)
        return
    known = _constant_distance(part.lower, part.upper, context)
    if known is None:
        upper = context.read(part.upper)
        if is_literal(upper) and upper < 0:
            raise context.error(part.upper, f"a negative bound {upper} is not part of the DSL")
        size = _minus(context, upper, lower, part)
    else:
        size = known
    if is_literal(size) and size <= 0:
        raise context.error(part.upper, f"a slice of {size} elements")
    window.offsets.append(lower)
    window.extents.append(size)


def _whole(extent: int | str) -> Value:
    return Symbol(extent) if isinstance(extent, str) else extent


def _minus(context: Context, upper: Value, lower: Value, part: ast.Slice) -> Value:
    if is_literal(lower) and lower == 0:
        return upper
    if is_literal(upper) and is_literal(lower):
        return upper - lower
    node = part.upper or part.lower
    assert node is not None
    if isinstance(upper, Symbol):
        upper = context.symbol(upper.name, node)
    return binary(context, ast.Sub(), upper, lower, node)


# The distance between two bounds, as linear expressions.


def _constant_distance(lower: ast.expr | None, upper: ast.expr, context: Context) -> Value | None:
    """
    `upper - lower` where that is one term, as in `a[i * 16:(i + 1) * 16]` or `a[n:n + k]`; None
    where it takes arithmetic.
    """
    if lower is None:
        return None
    terms: dict[str, tuple[int, ast.expr | None]] = {}
    for expression, sign in ((upper, 1), (lower, -1)):
        linear = _linear(expression, context, 0)
        if linear is None:
            return None
        for key, (factor, node) in linear.items():
            terms[key] = (terms.get(key, (0, None))[0] + sign * factor, node)
    left = {key: term for key, term in terms.items() if term[0] != 0}
    if not left:
        return 0
    if set(left) == {""}:
        return left[""][0]
    if len(left) == 1:
        ((factor, node),) = left.values()
        if factor == 1 and node is not None:
            return context.read(node)
    return None


def _linear(
    node: ast.expr, context: Context, depth: int
) -> dict[str, tuple[int, ast.expr | None]] | None:
    """An expression as a sum of factors times terms, by the text of each; `""` is the constant."""
    if depth > 40:
        return None
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return {"": (value, None)}
        case ast.Name(id=name):
            value = context.names.get(context.prefix + name)
            if isinstance(value, int) and not isinstance(value, bool):
                return {"": (value, None)}
            if not is_value(value):
                value = context.read(node)
                if isinstance(value, int):
                    return {"": (value, None)}
            return {name: (1, node)}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            a, b = _linear(left, context, depth + 1), _linear(right, context, depth + 1)
            if a is None or b is None:
                return None
            sign = 1 if isinstance(op, ast.Add) else -1
            total = dict(a)
            for key, (factor, term) in b.items():
                total[key] = (total.get(key, (0, None))[0] + sign * factor, term)
            return total
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = _linear(left, context, depth + 1), _linear(right, context, depth + 1)
            if a is None or b is None:
                return None
            for one, other in ((a, b), (b, a)):
                if set(one) <= {""}:
                    scale = one.get("", (0, None))[0]
                    return {key: (factor * scale, term) for key, (factor, term) in other.items()}
            return None
        case ast.BinOp() if (number := _constant(node, context)) is not None:
            return {"": (number, None)}
        case ast.BinOp() | ast.Attribute() | ast.Subscript() | ast.Call() if not any(
            isinstance(inner, ast.NamedExpr) for inner in descendants(node)
        ):
            return {ast.dump(node): (1, node)}
        case _:
            return None


def _constant(node: ast.expr, context: Context) -> int | None:
    """The value of an expression without names of the function, if it is an integer."""
    names = [inner for inner in descendants(node) if isinstance(inner, ast.Name)]
    if any(context.is_defined(name.id) for name in names):
        return None
    try:
        value = Evaluator(context.scope).evaluate(node)
    except Unsettled:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# Tensors


def _bound(context: Context, node: ast.expr, what: str) -> Bound:
    call = ast.Call(ast.Name("slice", ast.Load()), [], [])
    return Bound(context, ast.copy_location(call, node), what, {})


def _read_tensor(context: Context, base: SSAValue, node: ast.Subscript) -> Value:
    shape = symbolic_shape_of(tensor_of(base.type))
    window = _window(context, node, shape)
    offsets = to_indices(context, window.offsets, node)
    if len(window.dropped) == len(shape):
        return context.build(lambda: ptensor.ReadOp(base, offsets), node, "read").result
    bound = _bound(context, node, "a slice")
    value = slice_tensor(bound, base, window.extents, offsets)
    if window.dropped:
        value = drop_dimensions(bound, value, window.dropped)
    return value


def _read_tile(context: Context, base: SSAValue, node: ast.Subscript) -> Value:
    type = TileType.of(base.type)
    shape = type.get_shape()
    window = _window(context, node, shape)
    if len(window.dropped) == len(shape):
        offsets = to_indices(context, window.offsets, node)
        return context.build(lambda: tile.ReadOp(base, offsets), node, "read").result
    extents: list[Value] = []
    valid: list[Value] = []
    narrowed = False
    for extent, offset, whole in zip(window.extents, window.offsets, shape, strict=True):
        if not isinstance(offset, int):
            raise context.error(node, "the lower bound of a slice of a tile must be constant")
        if isinstance(extent, int):
            extents.append(min(extent, whole - offset))
            valid.append(extents[-1])
            continue
        # The rest of the tile, of which a run-time part is valid.
        rest = whole - offset
        index = context.as_index(extent, node)
        limit = context.constant(rest, index.type, node)
        zero = context.constant(0, index.type, node)
        low = context.emit(arith.MinSIOp(index, limit), node).result
        extents.append(rest)
        valid.append(context.emit(arith.MaxSIOp(low, zero), node).result)
        narrowed = True
    arguments = Arguments(context, ast.Call(node.value, [], []), "a slice")
    arguments.node = ast.copy_location(arguments.node, node)
    arguments.positional = [(base, node), (tuple(extents), node), (tuple(window.offsets), node)]
    if narrowed:
        arguments.keywords["valid_shape"] = (tuple(valid), node)
    if window.dropped:
        arguments.keywords["drop_dims"] = (tuple(window.dropped), node)
    return operations.call(context, "tile", "slice", arguments)


# Writes


def write_subscript(
    context: Context, target: ast.Subscript, value: Value, node: ast.Assign
) -> None:
    """`name[...] = value`: the name stands for what the write gives."""
    if not isinstance(target.value, ast.Name):
        raise context.error(target, "only a name can be written through a subscript")
    name = target.value.id
    base = context.read(target.value)
    if is_value(base) and is_array(base.type):
        index = context.index(_one_index(context, target))
        element = context.materialize(value, node.value, base.type.element_type)
        op = context.build(lambda: ArrayUpdateOp(element, base, index), target, "an array")
        context.bind(name, op.result)
        return
    if is_tensor(base):
        _write_tensor(context, name, base, target, value)
        return
    if is_tile(base):
        window = _window(context, target, TileType.of(base.type).get_shape())
        if len(window.dropped) == len(window.offsets):
            raise context.error(target, "one element of a tile is written by pl.write(...)")
        arguments = Arguments(context, ast.Call(target.value, [], []), "a write")
        arguments.node = ast.copy_location(arguments.node, target)
        arguments.positional = [
            (base, target),
            (value, node.value),
            (tuple(window.offsets), target),
        ]
        context.bind(name, operations.call(context, "tile", "assemble", arguments))
        return
    raise context.error(target, f"{describe_value(base)} has no elements to write")


def _write_tensor(
    context: Context, name: str, base: SSAValue, target: ast.Subscript, value: Value
) -> None:
    type = tensor_of(base.type)
    window = _window(context, target, symbolic_shape_of(type))
    offsets = to_indices(context, window.offsets, target)
    if len(window.dropped) == len(window.offsets):
        raise context.error(target, "one element of a tensor is written by pl.write(...)")
    if is_tile(value):
        raise context.error(target, "a tile is written to a tensor by pl.store(...)")
    if not is_tensor(value):
        raise context.error(target, f"expected a tensor to write, got {describe_value(value)}")
    bound = _bound(context, target, "a write")
    source = tensor_of(value.type)
    rank = type.get_num_dims() - len(window.dropped)
    if source.get_num_dims() != rank:
        raise context.error(
            target, f"a window of {rank} dimensions is written from {source.get_num_dims()}"
        )
    kept = [e for axis, e in enumerate(window.extents) if axis not in window.dropped]
    sizes = zip(kept, source.get_shape(), valid_shape_of(source), strict=True)
    for want, have, valid in sizes:
        if isinstance(want, int) and want >= 0 and not {have, valid} & {want, DYNAMIC_INDEX}:
            raise context.error(target, f"a window of {want} elements is written from {have}")
    if window.dropped:
        value = _lift(bound, value, window)
    result = assemble_tensor(bound, value, base, offsets)
    context.bind(name, result)


def _lift(bound: Bound, value: SSAValue, window: _Window) -> SSAValue:
    """The source with the dimensions of extent 1 that the target has."""
    from pypto_xdsl.dialects.ptensor.types import tensor_type

    source = tensor_of(value.type)
    extents = iter(symbolic_shape_of(source))
    shape = [1 if axis in window.dropped else next(extents) for axis in range(len(window.extents))]
    return reshape_tensor(bound, value, tensor_type(shape, source.element_type))
