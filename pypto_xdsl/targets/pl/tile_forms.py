"""Calls of ops on tiles, where they are not just operands and properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.ir import Operation

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind
from pypto_xdsl.dialects.tile import fill, gather, rearrangement, windows
from pypto_xdsl.dialects.tile import storage as tile_storage
from pypto_xdsl.dialects.tile.scatter import ScatterUpdateOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.vocabulary import spell
from pypto_xdsl.targets.pl import shared_forms
from pypto_xdsl.targets.pl.parts import (
    Parts,
    call,
    dtype_of,
    item,
    keyword,
    listed,
    shape_of,
    sized,
)
from pypto_xdsl.targets.pl.shared_forms import Form, fill_value


def _load(op: tile.LoadOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments: list[Parts] = [[op.source], listed(op.window_offsets), shape_of(op, result)]
    if op.valid_extents:
        arguments.append(["valid_shape=", *sized(op.valid_extents)])
    elif result.valid_shape != result.get_shape():
        arguments.append(["valid_shape=", *listed(result.valid_shape)])
    if result.memory_space is not None:
        arguments.append(keyword("target_memory", spell("Mem", result.memory_space)))
    if op.cache is not None:
        arguments.append(keyword("cache", spell("CachePolicy", op.cache.data)))
    return call("tile.load", *arguments)


def _store(op: tile.StoreOp) -> Parts:
    arguments: list[Parts] = [[op.source], listed(op.window_offsets), [op.destination]]
    if op.atomic.data is not AtomicKind.NONE:
        arguments.append(keyword("atomic", spell("AtomicType", op.atomic.data)))
    return call("tile.store", *arguments)


def _tile_create(op: tile.CreateOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments = [shape_of(op, result), keyword("dtype", dtype_of(op, result.element_type))]
    if result.memory_space is not None:
        arguments.append(keyword("target_memory", spell("Mem", result.memory_space)))
    return call("tile.create", *arguments)


def _tile_full(op: tile.FullOp) -> Parts:
    result = TileType.of(op.result.type)
    dtype = keyword("dtype", dtype_of(op, result.element_type))
    return call("tile.full", shape_of(op, result), dtype, fill_value(op, op.value))


def _tile_reshape(op: tile.ReshapeOp) -> Parts:
    return call("tile.reshape", [op.source], shape_of(op, TileType.of(op.result.type)))


def _move(op: tile.MoveOp) -> Parts:
    source, result = TileType.of(op.source.type), TileType.of(op.result.type)
    if result.memory_space is None:
        raise OpError(op, "does not say where its tile is; infer-tile-memory-space finds out")
    arguments: list[Parts] = [
        [op.source],
        keyword("target_memory", spell("Mem", result.memory_space)),
    ]
    if result.layout != tile.MoveOp.moved(source, result.memory_space).layout:
        arguments.append(keyword("blayout", spell("TileLayout", result.layout.blayout)))
        arguments.append(keyword("slayout", spell("TileLayout", result.layout.slayout)))
    return call("tile.move", *arguments)


def _slice(op: windows.SliceOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments: list[Parts] = [[op.source], shape_of(op, result), listed(op.window_offsets)]
    if op.valid_extents:
        arguments.append(["valid_shape=", *sized(op.valid_extents)])
    else:
        arguments.append(["valid_shape=", *listed(result.valid_shape)])
    return call("tile.slice", *arguments)


def _extract(op: windows.ExtractOp) -> Parts:
    result = TileType.of(op.result.type)
    row, column = op.window_offsets
    arguments: list[Parts] = [
        [op.source],
        item(row),
        item(column),
        shape_of(op, result),
    ]
    if result.memory_space is None:
        raise OpError(op, "does not say where its tile is; infer-tile-memory-space finds out")
    arguments.append(keyword("target_memory", spell("Mem", result.memory_space)))
    return call("tile.extract", *arguments)


def _tile_assemble(op: windows.AssembleOp) -> Parts:
    return call("tile.assemble", [op.destination], [op.source], listed(op.window_offsets))


def _tile_transpose(op: rearrangement.TransposeOp) -> Parts:
    axes = [[str(axis.value.data)] for axis in (op.axis1, op.axis2)]
    arguments: list[Parts] = [[op.source], *cast(list[Parts], axes)]
    if op.tmp is not None:
        arguments.append([op.tmp])
    return call("tile.transpose", *arguments)


def _reinterpret(op: rearrangement.ReinterpretViewOp) -> Parts:
    result = TileType.of(op.result.type)
    dtype: Parts = [dtype_of(op, result.element_type)]
    shape: Parts = ["shape=", *shape_of(op, result)]
    return call("tile.reinterpret_view", [op.source], dtype, shape)


def _tri(op: fill.TriOp) -> Parts:
    type = TileType.of(op.result.type)
    arguments: list[Parts] = [[op.diagonal], shape_of(op, type), listed(type.valid_shape)]
    arguments.append(keyword("dtype", dtype_of(op, type.element_type)))
    arguments.append(keyword("upper", str(bool(op.upper.value.data))))
    return call("tile.tri", *arguments)


def _mgather(op: gather.MgatherOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments: list[Parts] = [
        [op.source],
        [op.indices],
        keyword("coalesce", repr(op.coalesce.data.value)),
        keyword("gather_oob", repr(op.gather_oob.data.value)),
    ]
    if result.memory_space is not None:
        arguments.append(keyword("target_memory", spell("Mem", result.memory_space)))
    if op.scratch is not None:
        arguments.append(["scratch=", op.scratch])
    if not isinstance(op.indices.type, TileType) and result.valid_shape != result.get_shape():
        arguments.append(["valid_shape=", *listed(result.valid_shape)])
    return call("tile.mgather", *arguments)


def _alloc(op: tile_storage.AllocOp) -> Parts:
    if op.space is None or op.size is None:
        raise OpError(op, "has no spelling in the DSL without a space and a size")
    arguments: list[Parts] = [[spell("Mem", op.space.data)], [str(op.size.value.data)]]
    if op.pinned is not None:
        arguments.append(keyword("pinned", "True"))
    return call("tile.alloc", *arguments)


FORMS: Mapping[type[Operation], Form] = {
    tile.LoadOp: _load,
    tile.StoreOp: _store,
    tile.CreateOp: _tile_create,
    tile.FullOp: _tile_full,
    tile.ReshapeOp: _tile_reshape,
    tile.MoveOp: _move,
    tile.SetValidShapeOp: shared_forms.set_validshape("tile"),
    tile.ReadOp: shared_forms.read("tile"),
    tile.WriteOp: shared_forms.write("tile"),
    windows.SliceOp: _slice,
    windows.ExtractOp: _extract,
    windows.AssembleOp: _tile_assemble,
    rearrangement.TransposeOp: _tile_transpose,
    rearrangement.ReinterpretViewOp: _reinterpret,
    fill.FillpadExpandOp: shared_forms.fillpad_expand("tile"),
    fill.CiOp: shared_forms.generator("tile"),
    fill.TriOp: _tri,
    gather.GatherRowOp: shared_forms.gather_row("tile"),
    gather.MgatherOp: _mgather,
    ScatterUpdateOp: shared_forms.scatter_update("tile"),
    tile.MrgsortFormat2Op: shared_forms.merge_sort("tile"),
    tile.MrgsortFormat1Op: shared_forms.merge_sort_blocks("tile"),
    tile_storage.AllocOp: _alloc,
}
"""How ops on tiles are called."""
