"""Values as their annotations say: checked, and with the views and spaces spelled out."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NoReturn

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.element_types import is_element_type, is_float
from pypto_xdsl.dialects.ptensor.memory import SliceOp, TypeCastOp
from pypto_xdsl.dialects.ptensor.types import (
    explicit_strides_of,
    is_tensor_type,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.tile.cross_core import PopOp
from pypto_xdsl.dialects.tile.memory import CreateOp, LoadOp, ReshapeOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.annotations import Annotation, AnnotationReader, tile_with_view
from pypto_xdsl.frontend.pl.context import Context, as_tuple, symbol_at
from pypto_xdsl.frontend.pl.scalars import cast_scalar
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Typed,
    Value,
    describe_apart,
    describe_value,
    fits,
    is_constant,
    is_literal,
    is_tensor,
    is_value,
    literal_type,
)
from pypto_xdsl.frontend.pl.vocabulary import INDEX, UNNAMED


def annotation_reader(context: Context) -> AnnotationReader:
    """A reader of annotations among the names of the function."""

    def resolve(node: ast.expr) -> Value:
        if isinstance(node, ast.Name):
            if context.is_defined(node.id):
                return context.read(node)
            return None
        return context.read(node)

    return AnnotationReader(context.source, context.scope, resolve)


def with_annotation(context: Context, value: Value, declared: Annotation, node: ast.expr) -> Value:
    """A value as its annotation says: checked, and with the view and space that it spells out."""
    match declared.kind:
        case "Ignored":
            return value
        case "Tuple":
            elements = as_tuple(value)
            if elements is None:
                if len(declared.parts) == 1:
                    return with_annotation(context, value, declared.parts[0], node)
                raise context.error(node, f"declared as a tuple, got {describe_value(value)}")
            if len(elements) != len(declared.parts):
                raise context.error(
                    node,
                    f"declared as a tuple of {len(declared.parts)}, got one of {len(elements)}",
                )
            parts = zip(elements, declared.parts, strict=True)
            return Tuple(tuple(with_annotation(context, e, part, node) for e, part in parts))
        case "Scalar":
            return declared_scalar(context, value, declared, node)
        case "Array":
            if getattr(value, "type", None) != declared.type:
                _disagree(context, value, declared, node)
            return value
        case "Tensor":
            if context.strict_ssa and isinstance(node, ast.Name) and is_tensor(value):
                return _renamed_tensor(context, value, declared, node)
            return declared_tensor(context, value, declared, node)
        case _:
            return _tile(context, value, declared, node)


def _disagree(context: Context, value: Value, declared: Annotation, node: ast.expr) -> NoReturn:
    assert declared.type is not None
    said, is_ = describe_apart(declared.type, value)
    raise context.error(node, f"declared {said}, but the value is {is_}")


def declared_scalar(context: Context, value: Value, declared: Annotation, node: ast.expr) -> Value:
    type = declared.type
    assert type is not None
    if value is None:
        return context.materialize(None, node)
    if is_constant(value):
        if is_literal(value):
            if isinstance(value, bool) != (type == i1) or not fits(value, type):
                _disagree(context, value, declared, node)
            return value if type == INDEX or isinstance(value, bool) else Typed(value, type)
        if literal_type(value) != type and not _both_integers(literal_type(value), type):
            _disagree(context, value, declared, node)
        return value
    found = context.materialize(value, node)
    if found.type == type:
        return found
    if _both_integers(found.type, type):
        return found if type == INDEX else cast_scalar(context, found, type, node)
    _disagree(context, value, declared, node)


def _both_integers(a: Attribute, b: Attribute) -> bool:
    return INDEX in (a, b) and all(
        is_element_type(t) and t != i1 and not is_float(t) for t in (a, b)
    )


def declared_tensor(context: Context, value: Value, declared: Annotation, node: ast.expr) -> Value:
    want = tensor_of(declared.type)
    if not is_value(value) or not is_tensor_type(value.type):
        _disagree(context, value, declared, node)
    have = tensor_of(value.type)
    if have.element_type != want.element_type or have.get_num_dims() != want.get_num_dims():
        _disagree(context, value, declared, node)
    for mine, wanted in zip(have.get_shape(), want.get_shape(), strict=True):
        if DYNAMIC_INDEX not in (mine, wanted) and mine != wanted:
            _disagree(context, value, declared, node)
    extents = symbolic_shape_of(have)
    if context.strict_ssa:
        # What is left open stays so, though the value tells more.
        said = symbolic_shape_of(want)
        extents = [
            DYNAMIC_INDEX if wanted == DYNAMIC_INDEX else mine
            for mine, wanted in zip(extents, said, strict=True)
        ]
    if not declared.view and declared.layout is None:
        plain = tensor_type(extents, have.element_type)
        if context.strict_ssa:
            # A view would be said.
            _takes(value, plain if _is_known(have) else _with_extents(have, extents))
        return value
    view = declared.view
    result = tensor_type(
        extents,
        have.element_type,
        valid=valid_shape_of(want) if view.get("valid_shape") else valid_shape_of(have),
        strides=explicit_strides_of(want) or explicit_strides_of(have),
        layout=layout_of(want),
        pad=pad_value_of(want),
    )
    may_take = context.strict_ssa or isinstance(value.owner, SliceOp)
    if result == have or (may_take and _takes(value, result)):
        return value
    return context.emit(TypeCastOp(value, result), node).result


def _renamed_tensor(
    context: Context, value: SSAValue, declared: Annotation, node: ast.expr
) -> SSAValue:
    """Another name for a tensor, of the type that it has from there on."""
    have, want = tensor_of(value.type), tensor_of(declared.type)
    if have.element_type != want.element_type or have.get_num_dims() != want.get_num_dims():
        _disagree(context, value, declared, node)
    result = want if declared.view else _with_extents(have, symbolic_shape_of(want))
    if result == have:
        return context.next_name(value, node)
    return context.emit(TypeCastOp(value, result), node).result


def _with_extents(
    have: TensorType[Attribute], extents: Sequence[int | str]
) -> TensorType[Attribute]:
    """A type with other extents; what is valid as a whole stays so."""
    valid = valid_shape_of(have)
    return tensor_type(
        extents,
        have.element_type,
        valid=None if valid == have.get_shape() else valid,
        strides=explicit_strides_of(have),
        layout=layout_of(have),
        pad=pad_value_of(have),
    )


def _is_known(type: TensorType[Attribute]) -> bool:
    """Whether nothing of a view is known at run time only."""
    strides = explicit_strides_of(type) or ()
    return DYNAMIC_INDEX not in valid_shape_of(type) and DYNAMIC_INDEX not in strides


def _takes(value: SSAValue, type: Attribute) -> bool:
    """
    Whether the op that just made a tensor may give it another type, which it then has: a window
    may spell out its strides.
    """
    op = value.owner
    if not isinstance(op, Operation) or not op.results or value.first_use is not None:
        return False
    have = value.type
    if type == have:
        return True
    retype(value, type)
    try:
        op.verify_()
    except VerifyException:
        retype(value, have)
        return False
    return True


def _tile(context: Context, value: Value, declared: Annotation, node: ast.expr) -> Value:
    want = TileType.of(declared.type)
    if not is_value(value) or not isinstance(value.type, TileType):
        _disagree(context, value, declared, node)
    have = value.type
    assert isinstance(have, TileType)
    if _flattens(value, have, want):
        # A window of more dimensions, loaded as rows: the load, then its rows.
        value = context.emit(
            ReshapeOp(value, ReshapeOp.reshaped(have, want.get_shape())), node
        ).result
        have = TileType.of(value.type)
    if have.element_type != want.element_type or have.get_shape() != want.get_shape():
        _disagree(context, value, declared, node)
    if context.strict_ssa and (declared.space is not None or not _says_space(node)):
        result = _whole(have, want, declared.view)
        if isinstance(value.owner, CreateOp | PopOp) and DYNAMIC_INDEX in result.valid_shape:
            valid: Sequence[Value] = declared.view["valid_shape"]
            if not any(map(_is_unnamed, valid)):
                return _made_valid(context, value.owner, result, valid, node)
        if result != have:
            retype(value, result)
        return value
    space = declared.space or have.memory_space
    if declared.space is None and not declared.view:
        return value
    valid = have.valid_shape
    if not declared.view and have.layout == have.with_space(None).layout:
        result = have.with_space(space)
    else:
        try:
            result = tile_with_view(
                have.get_shape(), have.element_type, space, declared.view, valid
            )
        except VerifyException as e:
            raise context.error(node, str(e)) from None
        if not any(w in declared.view for w in ("blayout", "slayout", "fractal")):
            explicit = have.with_space(space)
            result = result.with_layout(explicit.layout)
        result = _filled_in(result, have, declared.view)
    if result != have:
        retype(value, result)
    return value


def _is_unnamed(extent: Value) -> bool:
    """Whether nothing says an extent."""
    name = symbol_at(extent)
    return name is not None and UNNAMED.fullmatch(name) is not None


def _made_valid(
    context: Context,
    op: CreateOp | PopOp,
    type: TileType,
    valid: Sequence[Value],
    node: ast.expr,
) -> SSAValue:
    """A tile of which as much is valid as a program says at run time."""
    extents = [e if isinstance(e, int) else context.as_index(e, node) for e in valid]

    def make() -> CreateOp | PopOp:
        if isinstance(op, CreateOp):
            return CreateOp(type, extents)
        made = op.__class__(type, op.split.data, extents)
        made.properties |= {w: v for w, v in op.properties.items() if w in ("id", "lane_stride")}
        return made

    made = context.build(make, node, "a tile")
    op.detach()
    op.erase()
    return made.result


def _says_space(node: ast.expr) -> bool:
    """Whether a call says itself where its tile is."""
    return isinstance(node, ast.Call) and any(k.arg == "target_memory" for k in node.keywords)


def _whole(have: TileType, want: TileType, view: Mapping[str, Any]) -> TileType:
    """
    The type that an annotation in SSA form says, which leaves out only what is implied; but for a
    valid region that is known at run time, which is that of the value.
    """
    if "valid_shape" in view or DYNAMIC_INDEX not in have.valid_shape:
        return want
    return want.with_valid(have.valid_shape)


def _flattens(value: SSAValue, have: TileType, want: TileType) -> bool:
    shapes = have.get_shape(), want.get_shape()
    return (
        isinstance(value.owner, LoadOp)
        and len(shapes[0]) > len(shapes[1]) == 2
        and prod(shapes[0]) == prod(shapes[1])
        and have.element_type == want.element_type
        and have.valid_shape == have.get_shape()
    )


def _filled_in(tile: TileType, like: TileType, given: Mapping[str, Any]) -> TileType:
    """A tile whose padding and packing are those of another where a view does not say them."""
    if "pad" not in given:
        tile = tile.with_pad(like.pad_value)
    return tile if "compact" in given else tile.with_compact(like.is_compact)


def retype(value: SSAValue, type: Attribute) -> None:
    """Give a value another type, where the text says so."""
    value._type = type  # pyright: ignore


# If
