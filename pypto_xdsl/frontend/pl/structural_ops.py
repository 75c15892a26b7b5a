"""
Ops whose call in the DSL is not just their operands: shapes stand in the result's type, lists are
offsets, extents or valid regions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.dialects.element_types import ElementType, as_element_type
from pypto_xdsl.dialects.ptensor import fill as tensor_fill
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind, PadValue, PadValueAttr
from pypto_xdsl.dialects.ptensor.types import (
    TensorLayout,
    layout_of,
    valid_shape_of,
)
from pypto_xdsl.dialects.tile import fill, rearrangement, windows
from pypto_xdsl.dialects.tile import memory as tile
from pypto_xdsl.dialects.tile.attributes import (
    CachePolicy,
    CachePolicyAttr,
    MemorySpace,
    TileLayout,
)
from pypto_xdsl.dialects.tile.types import Layout, TileType, implicit_layout
from pypto_xdsl.frontend.pl.arguments import (
    Arguments,
    Bound,
    run_time_extents,
    static_extents,
)
from pypto_xdsl.frontend.pl.values import Value, describe_value, is_literal, is_tensor, is_value
from pypto_xdsl.syntax.lists import Index

Form = Callable[[Arguments], Value]


def emit(bound: Bound, make: Callable[[], Any]) -> SSAValue:
    """Add an op for a call; its one result."""
    return bound.context.build(make, bound.node, bound.what).results[0]


def rank_must_be(bound: Bound, name: str, listed: Sequence[Value], rank: int) -> None:
    if len(listed) != rank:
        raise bound.error(name, f"'{name}' lists {len(listed)} dimensions, expected {rank}")


# Tiles


def _load(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor offsets shapes valid_shape? target_memory? clamp? *cache?")
    source = bound.tensor_type("tensor")
    offsets, shape = bound.indices("offsets"), bound.extents("shapes")
    rank = source.get_num_dims()
    rank_must_be(bound, "offsets", offsets, rank)
    rank_must_be(bound, "shapes", shape, rank)
    extents = static_extents(shape)
    if DYNAMIC_INDEX in extents:
        raise bound.error(
            "shapes", "the shape of a tile must be constant; use valid_shape for a tail"
        )
    valid: Sequence[Value] = bound.extents("valid_shape") if bound.has("valid_shape") else extents
    rank_must_be(bound, "valid_shape", valid, rank)
    valid = narrowed(valid, offsets, valid_shape_of(source), bound.boolean("clamp"))
    space = bound.word("target_memory", MemorySpace)
    layout = load_layout(extents, space, layout_of(source))
    result = TileType(
        extents,
        as_element_type(source.element_type),
        space,
        valid=static_extents(valid),
        layout=layout,
    )
    tensor = bound.tensor("tensor")
    listed = run_time_extents(bound.context, valid, bound.node_of("valid_shape"))
    policy = bound.word("cache", CachePolicy, CachePolicy.DEFAULT)
    cache = None if policy is CachePolicy.DEFAULT else CachePolicyAttr(policy)
    return emit(bound, lambda: tile.LoadOp(tensor, offsets, result, listed, cache))


def narrowed(
    valid: Sequence[Value], offsets: Sequence[Index], source: Sequence[int], clamp: bool
) -> list[Value]:
    """The valid region of a window: with `clamp` no more than what is valid in the source."""
    found: list[Value] = []
    for extent, offset, limit in zip(valid, offsets, source, strict=True):
        if not clamp or limit == DYNAMIC_INDEX:
            found.append(extent)
            continue
        if isinstance(extent, int) and isinstance(offset, int):
            extent = max(0, min(extent, limit - offset))
        found.append(extent)
    return found


def load_layout(shape: Sequence[int], space: MemorySpace, source: TensorLayout) -> Layout | None:
    """
    The layout of a loaded tile where it is not the implicit one: a transposed source is loaded
    transposed to the staging buffer, a single row there is not blocked, and a column is stored as
    one.
    """
    transposed = source is TensorLayout.DN
    if space is MemorySpace.MAT:
        if len(shape) == 2 and shape[1 if transposed else 0] == 1:
            return Layout(TileLayout.ROW_MAJOR, TileLayout.NONE_BOX, 512)
        if transposed:
            return Layout(TileLayout.ROW_MAJOR, TileLayout.COL_MAJOR, 512)
        return None
    if shape[-1] == 1:
        implicit = implicit_layout(shape, space)
        return Layout(TileLayout.COL_MAJOR, implicit.slayout, implicit.fractal)
    return None


def _store(arguments: Arguments) -> Value:
    bound = arguments.bind("tile offsets output_tensor shapes? *atomic?")
    destination = bound.tensor("output_tensor")
    source = bound.tile("tile")
    offsets = bound.indices("offsets")
    rank_must_be(bound, "offsets", offsets, bound.tensor_type("output_tensor").get_num_dims())
    atomic = atomic_kind(bound)
    if bound.has("shapes"):
        # Rows, stored as a window of more dimensions.
        window = static_extents(bound.extents("shapes"))
        type = bound.tile_type("tile")
        if tuple(window) not in (type.get_shape(), type.valid_shape):
            if DYNAMIC_INDEX in window or prod(window) != prod(type.get_shape()):
                raise bound.error("shapes", f"a window of {window} is not stored from {type}")
            rows = source
            source = emit(
                bound, lambda: tile.ReshapeOp(rows, tile.ReshapeOp.reshaped(type, window))
            )
    result = emit(bound, lambda: tile.StoreOp(source, destination, offsets, atomic=atomic))
    bound.context.written(destination, result)
    return result


def atomic_kind(bound: Bound) -> AtomicKind:
    value = bound.get("atomic")
    if isinstance(value, int) and not isinstance(value, bool) and value in (0, 1):
        return (AtomicKind.NONE, AtomicKind.ADD)[value]
    return bound.word("atomic", AtomicKind, AtomicKind.NONE)


def _tile_create(arguments: Arguments) -> Value:
    bound = arguments.bind("shape dtype target_memory? transpose? *flat_layout?")
    extents = static_extents(bound.extents("shape"))
    if DYNAMIC_INDEX in extents:
        raise bound.error("shape", "the shape of a tile must be constant")
    space = bound.word("target_memory", MemorySpace)
    layout = None
    if bound.boolean("transpose") and space is MemorySpace.MAT:
        layout = Layout(TileLayout.ROW_MAJOR, TileLayout.COL_MAJOR, 512)
    if bound.boolean("flat_layout"):
        layout = Layout(TileLayout.ROW_MAJOR, TileLayout.NONE_BOX, 512)
    dtype = bound.dtype("dtype")
    return emit(
        bound,
        lambda: tile.CreateOp(TileType(extents, as_element_type(dtype), space, layout=layout)),
    )


def _tile_full(arguments: Arguments) -> Value:
    bound = arguments.bind("shape dtype value")
    extents = static_extents(bound.extents("shape"))
    if DYNAMIC_INDEX in extents:
        raise bound.error("shape", "the shape of a tile must be constant")
    dtype = bound.dtype("dtype")
    value = fill_value(bound, dtype)
    result = TileType(extents, as_element_type(dtype))
    return emit(bound, lambda: tile.FullOp(value, result))


def fill_value(bound: Bound, dtype: Attribute) -> SSAValue:
    value = bound.get("value")
    if not is_literal(value) and not is_value(value) and not hasattr(value, "value"):
        raise bound.error("value", f"'value' should be a number, got {describe_value(value)}")
    number = getattr(value, "value", value) if not is_value(value) else value
    return bound.context.materialize(number, bound.node_of("value"), dtype)


def _tile_reshape(arguments: Arguments) -> Value:
    bound = arguments.bind("input shape valid_shape?")
    source, type = bound.tile("input"), bound.tile_type("input")
    extents = static_extents(bound.extents("shape"))
    if DYNAMIC_INDEX in extents:
        raise bound.error("shape", "the shape of a tile must be constant")
    return emit(bound, lambda: tile.ReshapeOp(source, tile.ReshapeOp.reshaped(type, extents)))


def _move(arguments: Arguments) -> Value:
    bound = arguments.bind("tile target_memory blayout? slayout?")
    source, type = bound.tile("tile"), bound.tile_type("tile")
    space = bound.word("target_memory", MemorySpace)
    layout: Layout | None = None
    if bound.has("blayout") or bound.has("slayout"):
        implicit = tile.MoveOp.moved(type, space).layout
        layout = Layout(
            bound.word("blayout", TileLayout, implicit.blayout),
            bound.word("slayout", TileLayout, implicit.slayout),
            implicit_layout(type.get_shape(), space).fractal,
        )
    return emit(bound, lambda: tile.MoveOp(source, tile.MoveOp.moved(type, space, layout)))


def _tile_set_validshape(arguments: Arguments) -> Value:
    bound = arguments.bind("tile valid_rows valid_cols?")
    source = bound.tile("tile")
    valid = valid_extents(bound)
    return emit(bound, lambda: tile.SetValidShapeOp(source, valid))


def valid_extents(bound: Bound) -> list[Index]:
    if not bound.has("valid_cols"):
        return bound.indices("valid_rows")
    return [*bound.indices("valid_rows"), *bound.indices("valid_cols")]


def _tile_read(arguments: Arguments) -> Value:
    bound = arguments.bind("tile indices")
    source, indices = bound.tile("tile"), bound.indices("indices")
    rank_must_be(bound, "indices", indices, bound.tile_type("tile").get_num_dims())
    return emit(bound, lambda: tile.ReadOp(source, indices))


def _tile_write(arguments: Arguments) -> Value:
    bound = arguments.bind("tile indices value")
    destination, indices = bound.tile("tile"), bound.indices("indices")
    rank_must_be(bound, "indices", indices, bound.tile_type("tile").get_num_dims())
    value = bound.scalar("value", bound.tile_type("tile").element_type)
    result = emit(bound, lambda: tile.WriteOp(value, destination, indices))
    # A statement of its own: the element is in the tile from then on.
    bound.context.written(destination, result)
    return result


def static_shape(bound: Bound, name: str) -> list[int]:
    extents = static_extents(bound.extents(name))
    if DYNAMIC_INDEX in extents:
        raise bound.error(name, "the shape of a tile must be constant")
    return extents


def _tile_slice(arguments: Arguments) -> Value:
    bound = arguments.bind("tile shape offset valid_shape? drop_dims? pad_value?")
    source, type = bound.tile("tile"), bound.tile_type("tile")
    extents, offsets = static_shape(bound, "shape"), bound.indices("offset")
    rank_must_be(bound, "offset", offsets, type.get_num_dims())
    rank_must_be(bound, "shape", extents, type.get_num_dims())
    window = windows.SliceOp.window(type, offsets, extents)
    valid: Sequence[Index] = ()
    if bound.has("valid_shape") and bound.extents("valid_shape"):
        listed = bound.extents("valid_shape")
        rank_must_be(bound, "valid_shape", listed, type.get_num_dims())
        window = window.with_valid(static_extents(listed))
        valid = run_time_extents(bound.context, listed, bound.node)
    elif DYNAMIC_INDEX in window.valid_shape:
        # The part of the window that is valid in the tile follows from the tile's own.
        window = window.with_valid(extents)
    pad = pad_value(bound, "pad_value")
    value = emit(bound, lambda: windows.SliceOp(source, offsets, window, valid))
    if pad is not PadValue.NULL:
        value = emit(bound, lambda: fill.FillpadOp(value, properties=_pad(pad)))
    if bound.has("drop_dims") and bound.extents("drop_dims"):
        dropped = bound.extents("drop_dims")
        kept = [e for axis, e in enumerate(extents) if axis not in dropped]
        for axis in dropped:
            if not 0 <= axis < len(extents) or extents[axis] != 1:
                raise bound.error("drop_dims", f"cannot drop dimension {axis}: its extent is not 1")
        shape = [1] * (2 - len(kept)) + kept
        if shape != extents:
            result = TileType.of(value.type).with_shape(shape)
            value = emit(bound, lambda: tile.ReshapeOp(value, result))
    return value


def _pad(pad: PadValue) -> dict[str, Attribute]:
    return {"pad_value": PadValueAttr(pad)}


def _extract(arguments: Arguments) -> Value:
    bound = arguments.bind("src index_row index_col shape *target_memory?")
    source, type = bound.tile("src"), bound.tile_type("src")
    extents = static_shape(bound, "shape")
    offsets = [*bound.indices("index_row"), *bound.indices("index_col")]
    space = bound.word("target_memory", MemorySpace, MemorySpace.VEC)
    valid = windows.window_valid(type.valid_shape, offsets, extents)
    result = TileType(
        extents,
        type.element_type,
        space,
        valid=[
            size if found == DYNAMIC_INDEX else found
            for found, size in zip(valid, extents, strict=True)
        ],
        layout=_extracted_layout(space),
    )
    return emit(bound, lambda: windows.ExtractOp(source, offsets, result))


def _extracted_layout(space: MemorySpace) -> Layout | None:
    """The layout of an extracted operand of a matmul: it keeps the order of its source."""
    if space is MemorySpace.LEFT:
        return Layout(TileLayout.ROW_MAJOR, TileLayout.ROW_MAJOR, 512)
    if space is MemorySpace.RIGHT:
        return Layout(TileLayout.ROW_MAJOR, TileLayout.COL_MAJOR, 512)
    return None


def _tile_assemble(arguments: Arguments) -> Value:
    bound = arguments.bind("target source offset")
    destination, source = bound.tile("target"), bound.tile("source")
    offsets = bound.indices("offset")
    rank_must_be(bound, "offset", offsets, bound.tile_type("target").get_num_dims())
    return emit(bound, lambda: windows.AssembleOp(source, destination, offsets))


def _tile_transpose(arguments: Arguments) -> Value:
    bound = arguments.bind("tile axis1? axis2? tmp_tile?")
    source, rank = bound.tile("tile"), bound.tile_type("tile").get_num_dims()
    axes = axes_of(bound, rank)
    tmp = bound.tile("tmp_tile") if bound.has("tmp_tile") else None
    return emit(bound, lambda: rearrangement.TransposeOp(source, tmp, axis1=axes[0], axis2=axes[1]))


def axes_of(bound: Bound, rank: int) -> tuple[int, int]:
    axes = bound.integer("axis1", 0), bound.integer("axis2", 1)
    for name, axis in zip(("axis1", "axis2"), axes, strict=True):
        if not -rank <= axis < rank:
            raise bound.error(name, f"axis {axis} of {rank} dimensions")
    return axes[0] % rank, axes[1] % rank


def _tile_reinterpret_view(arguments: Arguments) -> Value:
    bound = arguments.bind("data dtype *shape?")
    source = bound.tile("data")
    shape = static_shape(bound, "shape") if bound.has("shape") else None
    dtype = as_element_type(bound.dtype("dtype"))
    return emit(
        bound,
        lambda: rearrangement.ReinterpretViewOp(
            source,
            _reinterpreted(bound.tile_type("data"), dtype, shape),
        ),
    )


def _reinterpreted(type: TileType, dtype: ElementType, shape: Sequence[int] | None) -> TileType:
    if shape is None:
        return rearrangement.ReinterpretViewOp.reinterpreted(type, dtype)
    return type.with_element_type(dtype).with_shape(shape)


def _fillpad_expand(arguments: Arguments) -> Value:
    bound = arguments.bind("tile shape pad_value?")
    pad = pad_value(bound, "pad_value")
    pad = PadValue.ZERO if pad is PadValue.NULL else pad
    extents = static_shape(bound, "shape")
    if is_tensor(bound.get("tile")):
        source = bound.tensor("tile")
        return emit(bound, lambda: tensor_fill.FillpadExpandOp(source, extents, pad))
    source = bound.tile("tile")
    return emit(bound, lambda: fill.FillpadExpandOp(source, extents, pad))


def _fillpad(level: str, name: str) -> Form:
    def form(arguments: Arguments) -> Value:
        from pypto_xdsl.frontend.pl.operations import generic_call

        bound = arguments.bind("tile pad_value?")
        made = Arguments(arguments.context, arguments.node, arguments.what)
        made.positional = [(bound.get("tile"), bound.node_of("tile"))]
        if bound.has("pad_value"):
            pad = tuple(PadValue).index(pad_value(bound, "pad_value"))
            made.keywords["pad_value"] = (pad, bound.node_of("pad_value"))
        return generic_call(made, level, name)

    return form


# Tensors


def pad_value(bound: Bound, name: str) -> PadValue:
    value = bound.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value == 0:
            return PadValue.ZERO
        if value in (float("inf"), float("-inf")):
            return PadValue.MAX if value > 0 else PadValue.MIN
    return bound.word(name, PadValue, PadValue.NULL)


FORMS: Mapping[str, Form] = {
    "tile.load": _load,
    "tile.store": _store,
    "tile.create": _tile_create,
    "tile.full": _tile_full,
    "tile.reshape": _tile_reshape,
    "tile.move": _move,
    "tile.set_validshape": _tile_set_validshape,
    "tile.read": _tile_read,
    "tile.write": _tile_write,
    "tile.slice": _tile_slice,
    "tile.extract": _extract,
    "tile.assemble": _tile_assemble,
    "tile.transpose": _tile_transpose,
    "tile.reinterpret_view": _tile_reinterpret_view,
    "tile.fillpad": _fillpad("tile", "fillpad"),
    "tile.fillpad_inplace": _fillpad("tile", "fillpad_inplace"),
    "tile.fillpad_expand": _fillpad_expand,
    "tensor.fillpad": _fillpad("tensor", "fillpad"),
    "tensor.fillpad_expand": _fillpad_expand,
}
"""Ops with a form of their own, by level and name."""

ONLY_LEVEL: Mapping[str, str] = {
    "load": "tile",
    "store": "tile",
    "move": "tile",
    "create_tile": "tile",
    "create_tensor": "tensor",
    "create_l1": "tensor",
    "full": "tensor",
    "dim": "tensor",
    "arange": "tensor",
    "ci": "tensor",
    "tri": "tile",
    "mgather": "tile",
    "mscatter": "tile",
    "paged_gather": "tensor",
    "expand_clone": "tensor",
    "get_block_idx": "tensor",
    "get_block_num": "tensor",
    "get_subblock_idx": "tensor",
    "tpop_from_aic": "tile",
    "tpop_from_aiv": "tile",
    "tfree_to_aic": "tile",
    "tfree_to_aiv": "tile",
    "tpush_to_aic": "tile",
    "tpush_to_aiv": "tile",
    "reserve_buffer": "tile",
    "import_peer_buffer": "tile",
    "aic_initialize_pipe": "tile",
    "aiv_initialize_pipe": "tile",
}
"""The level of ops that no operand tells it of, or that mix levels, when called without one."""
