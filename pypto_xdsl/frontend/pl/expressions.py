"""Expressions of the DSL: names, numbers, operators, calls, subscripts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.ptensor.memory import DimOp
from pypto_xdsl.dialects.ptensor.types import tensor_of
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl import (
    calls,
    cross_core_forms,
    operations,
    scalars,
    special_calls,
    subscripts,
    tensor_operators,
)
from pypto_xdsl.frontend.pl.arguments import Arguments
from pypto_xdsl.frontend.pl.compile_time import Evaluator
from pypto_xdsl.frontend.pl.context import Context
from pypto_xdsl.frontend.pl.python_operations import unfolded
from pypto_xdsl.frontend.pl.source import MAX_DEPTH, descendants, dotted_name
from pypto_xdsl.frontend.pl.static_values import (
    DslCall,
    DslName,
    DType,
    Function,
    Module,
    Record,
    Symbol,
    Unsettled,
    describe,
    dsl_constant,
)
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Unavailable,
    Value,
    describe_value,
    is_literal,
    is_shaped,
    is_tensor,
    is_tile,
)
from pypto_xdsl.frontend.pl.vocabulary import DTYPES, EnumWord
from pypto_xdsl.syntax.spelling import did_you_mean


def read(context: Context, node: ast.expr) -> Value:
    """What an expression gives; its ops are emitted."""
    if isinstance(node, ast.Name):
        return _name(context, node)
    if isinstance(node, ast.Constant):
        return _constant(context, node)
    context.depth += 1
    if context.depth > MAX_DEPTH:
        raise context.error(node, "the expression is nested too deeply")
    try:
        return _READERS.get(node.__class__, _compile_time)(context, node)
    except VerifyException as e:
        raise context.error(node, str(e)) from None
    finally:
        context.depth -= 1


def _constant(context: Context, node: ast.Constant) -> Value:
    value = node.value
    if value.__class__ in _CONSTANTS:
        return value
    raise context.error(node, f"{value!r} is not part of the DSL")


_CONSTANTS = frozenset((bool, int, float, str, type(None)))
"""The kinds of constants of Python that the DSL has too."""


def _unary(context: Context, node: ast.UnaryOp) -> Value:
    value = context.read(node.operand)
    if is_shaped(value):
        return tensor_operators.unary(context, node.op, value, node)
    return scalars.unary(context, node.op, value, node)


def _compare(context: Context, node: ast.Compare) -> Value:
    if len(node.ops) > 1:
        raise context.error(node, "a chain of comparisons is not part of the DSL; use 'and'")
    left, right = context.read(node.left), context.read(node.comparators[0])
    op = node.ops[0]
    if op.__class__ in scalars.PREDICATES and (is_shaped(left) or is_shaped(right)):
        return tensor_operators.compare(context, op, left, right, node)
    return scalars.compare(context, op, left, right, node)


def _boolean(context: Context, node: ast.BoolOp) -> Value:
    return scalars.boolean(context, node.op, node.values, node)


def _tuple(context: Context, node: ast.Tuple | ast.List) -> Value:
    found: list[Value] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            raise context.error(element, "'*' is not part of the DSL")
        found.append(context.read(element))
    return Tuple(tuple(found))


def _subscript(context: Context, node: ast.Subscript) -> Value:
    base = node.value
    if isinstance(base, ast.Attribute) and base.attr == "shape":
        return _extent(context, base, node)
    return subscripts.read_subscript(context, context.read(base), node)


def _binary(context: Context, node: ast.BinOp) -> Value:
    # A long sum leans to the left: walk down without recursion.
    spine: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        spine.append(left)
        left = left.left
    value = context.read(left)
    for inner in reversed(spine):
        right = context.read(inner.right)
        kind = tensor_operators if is_shaped(value) or is_shaped(right) else scalars
        value = kind.binary(context, inner.op, value, right, inner)
    return value


def _name(context: Context, node: ast.Name) -> Value:
    try:
        value = context.lookup(node.id)
    except KeyError:
        return _outside(context, node)
    if isinstance(value, Unavailable):
        raise context.error(node, f"'{node.id}' {value.reason}")
    return context.current(value, node) if is_tensor(value) else value


def _outside(context: Context, node: ast.Name) -> Value:
    """A name of an enclosing function or of the module."""
    try:
        return outside_value(context.scope.lookup(node.id, node.lineno))
    except KeyError:
        known = [name for frame in context.names.frames for name in frame]
        raise context.error(
            node, f"'{node.id}' is not defined here{did_you_mean(node.id, known)}"
        ) from None
    except Unsettled as e:
        raise context.error(
            node,
            f"the value of '{node.id}' is not known: {e.reason}; "
            f"give it with --define {node.id}=...",
        ) from None


def outside_value(value: Any) -> Value:
    """A value of compile time as the DSL sees it. Raises `Unsettled` if it is too large."""
    if not isinstance(value, list | tuple):
        return value
    unfolded(value)
    return _as_tuple(value)


def _as_tuple(value: Any) -> Value:
    if isinstance(value, list | tuple):
        return Tuple(tuple(map(_as_tuple, cast("Sequence[Any]", value))))
    return value


def _compile_time(context: Context, node: ast.expr) -> Value:
    """An expression that the DSL does not have: legal if its value is known at compile time."""
    if not any(
        isinstance(inner, ast.Name) and context.is_defined(inner.id) for inner in descendants(node)
    ):
        try:
            return outside_value(Evaluator(context.scope).evaluate(node))
        except Unsettled:
            pass
    raise context.error(node, f"{describe(node)} is not part of the DSL")


def _attribute(context: Context, node: ast.Attribute) -> Value:
    path = dotted_name(node)
    if path is not None:
        if path[0] == "pl" and len(path) == 2 and path[1] in DTYPES:
            return DType(path[1], DTYPES[path[1]])
        if context.is_defined(path[0]):
            base = context.read(node.value)
            if node.attr == "shape" and is_shaped(base):
                return Tuple(tuple(_extents(context, base, node)))
            if node.attr == "dtype" and is_shaped(base):
                return _dtype_of(base)
            if isinstance(base, Record | Module):
                return _evaluated(context, node)
            raise context.error(node, f"{describe_value(base)} has no attribute '{node.attr}'")
    return _evaluated(context, node)


def _evaluated(context: Context, node: ast.expr) -> Value:
    try:
        return outside_value(Evaluator(context.scope).evaluate(node))
    except Unsettled as e:
        raise context.error(node, f"'{ast.unparse(node)}': {e.reason}") from None


def _dtype_of(base: Any) -> DType:
    element = TileType.of(base.type).element_type if is_tile(base) else None
    if element is None:
        element = tensor_of(base.type).element_type
    from pypto_xdsl.frontend.pl.vocabulary import DTYPE_NAMES

    return DType(DTYPE_NAMES[element], element)


def _extents(context: Context, base: Any, node: ast.expr) -> list[Value]:
    if is_tile(base):
        return list(TileType.of(base.type).get_shape())
    found: list[Value] = []
    for axis, extent in enumerate(tensor_of(base.type).get_shape()):
        if extent == DYNAMIC_INDEX:
            found.append(context.emit(DimOp(base, axis), node).result)
        else:
            found.append(extent)
    return found


def _extent(context: Context, base: ast.Attribute, node: ast.Subscript) -> Value:
    """`x.shape[i]`."""
    tensor = context.read(base.value)
    if not is_shaped(tensor):
        raise context.error(base, f"{describe_value(tensor)} has no shape")
    shape = (
        TileType.of(tensor.type).get_shape()
        if is_tile(tensor)
        else tensor_of(tensor.type).get_shape()
    )
    axis = context.read(node.slice)
    if isinstance(axis, bool) or not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        raise context.error(
            node.slice, f"a shape of {len(shape)} dimensions needs a constant axis in it"
        )
    axis %= len(shape)
    if shape[axis] != DYNAMIC_INDEX:
        return shape[axis]
    return context.emit(DimOp(tensor, axis), node).result


def _call(context: Context, node: ast.Call) -> Value:
    path = dotted_name(node.func)
    if path is None:
        return _method_call(context, node)
    if path[0] == "self" and len(path) == 2:
        return calls.call_member(context, path[1], node)
    if context.is_defined(path[0]):
        return _method_call(context, node)
    resolved = _resolved(context, path, node)
    if not isinstance(resolved, DslName):
        return resolved
    path = resolved.path
    if path[0] == "pld":
        raise context.error(node, f"distributed op '{'.'.join(path)}' is not supported")
    if path[0] == "builtins":
        return _builtin(context, path[1], node)
    if path[0] != "pl":
        raise context.error(node, f"a call of '{'.'.join(path)}' is not part of the DSL")
    special = special_calls.SPECIAL.get(path[1:])
    if special is not None:
        return special(context, node)
    if len(path) == 2:
        return operations.call(context, None, path[1], arguments_of(context, node, path))
    if len(path) == 3 and path[1] in ("tile", "tensor"):
        return operations.call(context, path[1], path[2], arguments_of(context, node, path))
    if len(path) == 3 and path[1] == "system":
        return operations.call(context, "tile", path[2], arguments_of(context, node, path))
    if path[-1] == "get_byte" and path[-2] in DTYPES:
        return special_calls.byte_width_of(context, DTYPES[path[-2]], node)
    raise context.error(node, f"there is no op '{'.'.join(path)}'")


def arguments_of(context: Context, node: ast.Call, path: tuple[str, ...]) -> Arguments:
    """The arguments of a call, evaluated from left to right."""
    positional: list[tuple[Value, ast.expr]] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            raise context.error(argument, "'*' is not part of the DSL")
        positional.append((context.read(argument), argument))
    arguments = Arguments(context, node, ".".join(path), positional, {})
    for keyword in node.keywords:
        if keyword.arg is None:
            raise context.error(keyword.value, "'**' is not part of the DSL")
        if keyword.arg == "attrs":
            # Marks of PyPTO's own passes, which ours derive again, but for the memory of a ring.
            buffer = cross_core_forms.gm_slot_buffer(keyword.value)
            if buffer is not None:
                arguments.keywords[cross_core_forms.GM_SLOT_BUFFER] = (context.read(buffer), buffer)
            continue
        if keyword.arg in arguments.keywords:
            raise context.error(keyword.value, f"'{keyword.arg}' is given twice")
        arguments.keywords[keyword.arg] = (context.read(keyword.value), keyword.value)
    return arguments


def _resolved(context: Context, path: tuple[str, ...], node: ast.Call) -> Any:
    """A called name among those outside: a path of the DSL, or what the call gives."""
    try:
        value = context.scope.lookup(path[0], node.lineno)
        for place, name in enumerate(path[1:], 1):
            if isinstance(value, DslName):
                return _dsl_name((*value.path, *path[place:]))
            if not isinstance(value, Module):
                return _evaluated(context, node)
            value = value.scope.lookup(name)
    except KeyError:
        if path[0] in ("min", "max", "len", "abs", "int", "float", "range", "sum", "print"):
            return DslName(("builtins", path[0]))
        raise context.error(node.func, f"'{path[0]}' is not defined here") from None
    except Unsettled as e:
        raise context.error(
            node.func, f"the value of '{path[0]}' is not known: {e.reason}"
        ) from None
    match value:
        case DslName():
            return value
        case Function():
            if special_calls.is_dsl_function(value):
                return calls.call_function(context, value, node)
            return _evaluated_call(context, node)
        case DslCall() | Symbol():
            raise context.error(node, f"'{'.'.join(path)}' is no function")
        case _:
            return _evaluated_call(context, node)


@lru_cache(maxsize=1024)
def _dsl_name(path: tuple[str, ...]) -> DslName:
    return DslName(path)


def _evaluated_call(context: Context, node: ast.Call) -> Value:
    """A call of a plain function: legal if its value is known at compile time."""
    overlay = {
        name.id: value
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
        and is_literal(value := context.names.get(context.prefix + name.id))
    }
    try:
        return outside_value(Evaluator(context.scope, overlay).evaluate(node))
    except Unsettled as e:
        raise context.error(node, f"a call of '{ast.unparse(node.func)}' {e.reason}") from None


def _builtin(context: Context, name: str, node: ast.Call) -> Value:
    """`min`, `len` and the like: of what is known at compile time only."""
    values = [context.read(argument) for argument in node.args]
    if all(is_literal(value) for value in values) and not node.keywords:
        return _evaluated_call(context, node)
    if name == "len" and len(values) == 1 and isinstance(values[0], Tuple):
        return len(values[0].elements)
    advice = f"; use pl.{name}(...)" if name in ("min", "max") else ""
    if name == "range":
        advice = "; use pl.range(...)"
    raise context.error(node, f"Python's {name}(...) is not part of the DSL{advice}")


def _method_call(context: Context, node: ast.Call) -> Value:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get_byte":
        dtype = context.read(node.func.value)
        if isinstance(dtype, DType):
            return special_calls.byte_width_of(context, dtype.type, node)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "bind_dynamic":
        return None
    raise context.error(node, f"a call of '{ast.unparse(node.func)}' is not part of the DSL")


_READERS: Mapping[type[ast.expr], Callable[[Context, Any], Value]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _boolean,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.Call: _call,
}
"""The expressions of the DSL; of others the value must be known at compile time."""


def enum_word(context: Context, node: ast.expr) -> EnumWord:
    """A word like `pl.Mem.Vec`, spelled out."""
    path = dotted_name(node)
    if path is not None and not context.is_defined(path[0]):
        try:
            value = Evaluator(context.scope).evaluate(node)
        except Unsettled as e:
            raise context.error(node, f"'{'.'.join(path)}': {e.reason}") from None
        if isinstance(value, DslName):
            value = dsl_constant(("pl", *value.path[1:]))
        if isinstance(value, EnumWord):
            return value
    raise context.error(node, f"expected a word like pl.Level.HOST, got '{ast.unparse(node)}'")
