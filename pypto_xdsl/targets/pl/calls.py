"""Ops and calls as calls of the DSL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.ptensor import fill as tensor_fill
from pypto_xdsl.dialects.ptensor import gather as tensor_gather
from pypto_xdsl.dialects.ptensor import grid as tensor_grid
from pypto_xdsl.dialects.ptensor.attributes import (
    AtomicKind,
    MaskPatternAttr,
    PadValueAttr,
    RoundModeAttr,
)
from pypto_xdsl.dialects.ptensor.types import (
    layout_of,
    symbolic_shape_of,
    tensor_of,
)
from pypto_xdsl.dialects.tile import cross_core, fill, gather, rearrangement, sync, windows
from pypto_xdsl.dialects.tile import storage as tile_storage
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.op_table import SPELLED, Parameter, signature
from pypto_xdsl.frontend.pl.vocabulary import DTYPE_NAMES, spell, spell_dtype
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.targets.pl.scalars import Part
from pypto_xdsl.targets.pl.symbols import SymbolName

Parts = list[Part]


def listed(indices: Sequence[Index | str]) -> Parts:
    """A list of indices, or of extents, of which symbols are strings."""
    parts: Parts = ["["]
    for place, index in enumerate(indices):
        if place:
            parts.append(", ")
        if isinstance(index, str):
            parts.append(SymbolName(index))
        else:
            parts.append(index if isinstance(index, SSAValue) else str(index))
    return [*parts, "]"]


def call(name: str, *arguments: Parts) -> Parts:
    parts: Parts = [f"pl.{name}("]
    for place, argument in enumerate(arguments):
        if place:
            parts.append(", ")
        parts += argument
    return [*parts, ")"]


def _shape(type: TileType) -> Parts:
    return listed(type.get_shape())


def _extents(type: Attribute, sizes: Sequence[Index]) -> Parts:
    """The extents of a tensor's type, with the values of those known at run time."""
    return listed(sizes) if sizes else listed(symbolic_shape_of(tensor_of(type)))


def _keyword(name: str, text: str) -> Parts:
    return [f"{name}={text}"]


# Ops with a form of their own


def _load(op: tile.LoadOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments: list[Parts] = [[op.source], listed(op.window_offsets), _shape(result)]
    if op.valid_extents:
        arguments.append(["valid_shape=", *listed(op.valid_extents)])
    elif result.valid_shape != result.get_shape():
        arguments.append(["valid_shape=", *listed(result.valid_shape)])
    if result.memory_space is not None:
        arguments.append(_keyword("target_memory", spell("Mem", result.memory_space)))
    return call("tile.load", *arguments)


def _store(op: tile.StoreOp) -> Parts:
    arguments: list[Parts] = [[op.source], listed(op.window_offsets), [op.destination]]
    if op.atomic.data is not AtomicKind.NONE:
        arguments.append(_keyword("atomic", spell("AtomicType", op.atomic.data)))
    return call("tile.store", *arguments)


def _tile_create(op: tile.CreateOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments = [_shape(result), _keyword("dtype", spell_dtype(result.element_type))]
    if result.memory_space is not None:
        arguments.append(_keyword("target_memory", spell("Mem", result.memory_space)))
    if op.valid_extents:
        raise OpError(op, "has no spelling in the DSL with a run-time valid region")
    return call("tile.create", *arguments)


def _tile_full(op: tile.FullOp) -> Parts:
    result = TileType.of(op.result.type)
    dtype = _keyword("dtype", spell_dtype(result.element_type))
    return call("tile.full", _shape(result), dtype, ["value=", op.value])


def _tile_reshape(op: tile.ReshapeOp) -> Parts:
    return call("tile.reshape", [op.source], _shape(TileType.of(op.result.type)))


def _move(op: tile.MoveOp) -> Parts:
    source, result = TileType.of(op.source.type), TileType.of(op.result.type)
    if result.memory_space is None:
        raise OpError(op, "does not say where it moves the tile")
    arguments: list[Parts] = [
        [op.source],
        _keyword("target_memory", spell("Mem", result.memory_space)),
    ]
    if result.layout != tile.MoveOp.moved(source, result.memory_space).layout:
        arguments.append(_keyword("blayout", spell("TileLayout", result.layout.blayout)))
        arguments.append(_keyword("slayout", spell("TileLayout", result.layout.slayout)))
    return call("tile.move", *arguments)


def _set_validshape(level: str) -> Callable[[Any], Parts]:
    def form(op: Any) -> Parts:
        extents: Sequence[Index] = op.valid_extents
        arguments: list[Parts] = [[op.source]]
        if len(extents) == 2:
            arguments += [listed([extent])[1:-1] for extent in extents]
        else:
            arguments.append(listed(extents))
        return call(f"{level}.set_validshape", *arguments)

    return form


def _read(level: str) -> Callable[[Any], Parts]:
    return lambda op: call(f"{level}.read", [op.source], listed(op.element))


def _write(level: str) -> Callable[[Any], Parts]:
    return lambda op: call(f"{level}.write", [op.destination], listed(op.element), [op.value])


def _slice(op: windows.SliceOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments: list[Parts] = [[op.source], _shape(result), listed(op.window_offsets)]
    if op.valid_extents:
        arguments.append(["valid_shape=", *listed(op.valid_extents)])
    else:
        arguments.append(["valid_shape=", *listed(result.valid_shape)])
    return call("tile.slice", *arguments)


def _extract(op: windows.ExtractOp) -> Parts:
    result = TileType.of(op.result.type)
    row, column = op.window_offsets
    arguments: list[Parts] = [
        [op.source],
        listed([row])[1:-1],
        listed([column])[1:-1],
        _shape(result),
    ]
    if result.memory_space is not None:
        arguments.append(_keyword("target_memory", spell("Mem", result.memory_space)))
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
    dtype: Parts = [spell_dtype(result.element_type)]
    shape: Parts = ["shape=", *_shape(result)]
    return call("tile.reinterpret_view", [op.source], dtype, shape)


def _fillpad_expand(level: str) -> Callable[[Any], Parts]:
    def form(op: Any) -> Parts:
        type = op.result.type
        shape = type.get_shape()
        pad = _keyword("pad_value", spell("PadValue", op.pad_value.data))
        return call(f"{level}.fillpad_expand", [op.source], listed(shape), pad)

    return form


def _generator(level: str) -> Callable[[Any], Parts]:
    def form(op: Any) -> Parts:
        type = op.result.type
        dtype = _keyword("dtype", spell_dtype(type.element_type))
        arguments: list[Parts] = [[op.start], listed(type.get_shape()), dtype]
        if op.descending.value.data:
            arguments.append(_keyword("descending", "True"))
        return call(f"{level}.ci", *arguments)

    return form


def _tri(op: fill.TriOp) -> Parts:
    type = TileType.of(op.result.type)
    arguments: list[Parts] = [[op.diagonal], _shape(type), listed(type.valid_shape)]
    arguments.append(_keyword("dtype", spell_dtype(type.element_type)))
    arguments.append(_keyword("upper", str(bool(op.upper.value.data))))
    return call("tile.tri", *arguments)


def _tensor_create(op: ptensor.CreateOp) -> Parts:
    type = tensor_of(op.result.type)
    arguments: list[Parts] = [
        _extents(type, op.extents),
        _keyword("dtype", spell_dtype(type.element_type)),
        _keyword("layout", spell("TensorLayout", layout_of(type))),
    ]
    if orch.MANUAL_DEP in op.attributes:
        arguments.append(_keyword("manual_dep", "True"))
    return call("tensor.create", *arguments)


def _tensor_full(op: ptensor.FullOp) -> Parts:
    type = tensor_of(op.result.type)
    dtype = _keyword("dtype", spell_dtype(type.element_type))
    shape = _extents(type, op.extents)
    if orch.MANUAL_DEP in op.attributes:
        by_hand = _keyword("manual_dep", "True")
        return call("tensor.create", shape, dtype, by_hand, ["init_value=", op.value])
    return call("tensor.full", shape, dtype, ["value=", op.value])


def _tensor_slice(op: ptensor.SliceOp) -> Parts:
    from pypto_xdsl.dialects.ptensor.types import valid_shape_of

    type = tensor_of(op.result.type)
    arguments: list[Parts] = [
        [op.source],
        _extents(type, op.extents),
        listed(op.window_offsets),
    ]
    valid = valid_shape_of(type)
    if valid != type.get_shape():
        if DYNAMIC_INDEX in valid:
            raise OpError(op, "has no spelling in the DSL with a run-time valid region")
        arguments.append(listed(valid))
    return call("tensor.slice", *arguments)


def _tensor_reshape(op: ptensor.ReshapeOp) -> Parts:
    return call("tensor.reshape", [op.source], _extents(op.result.type, op.extents))


def _tensor_view(op: Any) -> Parts:
    type = tensor_of(op.result.type)
    layout = _keyword("layout", spell("TensorLayout", layout_of(type)))
    return call("tensor.view", [op.source], _extents(type, op.extents), layout)


def _tensor_reinterpret(op: Any) -> Parts:
    type = tensor_of(op.result.type)
    shape: Parts = ["shape=", *_extents(type, op.extents)]
    return call("tensor.reinterpret_view", [op.source], [spell_dtype(type.element_type)], shape)


def _tensor_assemble(op: ptensor.AssembleOp) -> Parts:
    arguments: list[Parts] = [[op.destination], [op.source], listed(op.window_offsets)]
    if op.atomic.data is not AtomicKind.NONE:
        arguments.append(_keyword("atomic", spell("AtomicType", op.atomic.data)))
    return call("tensor.assemble", *arguments)


def _dim(op: ptensor.DimOp) -> Parts:
    return call("tensor.dim", [op.source], [str(op.axis.value.data)])


def _tensor_transpose(op: Any) -> Parts:
    axes: list[Parts] = [[str(axis.value.data)] for axis in (op.axis1, op.axis2)]
    return call("tensor.transpose", [op.source], *axes)


def _create_l1(op: tensor_fill.CreateL1Op) -> Parts:
    type = tensor_of(op.result.type)
    arguments: list[Parts] = [
        listed(type.get_shape()),
        _keyword("dtype", spell_dtype(type.element_type)),
    ]
    if op.transpose.value.data:
        arguments.append(_keyword("transpose", "True"))
    return call("tensor.create_l1", *arguments)


def _gather_row(level: str) -> Callable[[Any], Parts]:
    def form(op: Any) -> Parts:
        destination = op.destination if level == "tile" else op.acc
        arguments: list[Parts] = [
            [destination],
            [op.source],
            listed(op.target_offsets),
            listed(op.window_offsets),
            listed(op.window),
        ]
        if op.valid_extents:
            arguments.append(["valid_shape=", *listed(op.valid_extents)])
        if op.transpose.value.data:
            arguments.append(_keyword("transpose", "True"))
        return call(f"{level}.gather_row", *arguments)

    return form


def _mgather(op: gather.MgatherOp) -> Parts:
    result = TileType.of(op.result.type)
    arguments: list[Parts] = [
        [op.source],
        [op.indices],
        _keyword("coalesce", repr(op.coalesce.data.value)),
        _keyword("gather_oob", repr(op.gather_oob.data.value)),
    ]
    if result.memory_space is not None:
        arguments.append(_keyword("target_memory", spell("Mem", result.memory_space)))
    if op.scratch is not None:
        arguments.append(["scratch=", op.scratch])
    return call("tile.mgather", *arguments)


def _merge_sort(level: str) -> Callable[[Any], Parts]:
    def form(op: Any) -> Parts:
        sources = [op.first, op.second, op.third, op.fourth]
        given: list[Parts] = [[source] for source in sources if source is not None]
        if level == "tile":
            given.append(["tmp=", op.tmp])
        if op.exhausted.value.data:
            given.append(_keyword("exhausted", "True"))
        return call(f"{level}.mrgsort", *given)

    return form


def _merge_sort_blocks(level: str) -> Callable[[Any], Parts]:
    return lambda op: call(f"{level}.mrgsort", [op.source], ["block_len=", op.block_len])


def _pop(name: str) -> Callable[[Any], Parts]:
    def form(op: Any) -> Parts:
        type = TileType.of(op.result.type)
        arguments: list[Parts] = [
            ["shape=", *_shape(type)],
            _keyword("dtype", spell_dtype(type.element_type)),
            _keyword("split", str(_place(op.split))),
        ]
        for word in ("id", "lane_stride"):
            value = op.properties.get(word)
            if isinstance(value, IntegerAttr):
                arguments.append(_keyword(word, str(value.value.data)))
        return call(f"tile.{name}", *arguments)

    return form


def _place(attribute: Any) -> int:
    """A word as PyPTO's number."""
    words: list[Any] = list(cast(Any, type(attribute.data)))
    return words.index(attribute.data)


def _reserve_buffer(op: cross_core.ReserveBufferOp) -> Parts:
    arguments = [
        _keyword("name", repr(op.buffer.data)),
        _keyword("size", str(op.size.value.data)),
    ]
    if op.base is not None:
        arguments.append(_keyword("base", str(op.base.value.data)))
    return call("system.reserve_buffer", *arguments)


def _import_peer_buffer(op: cross_core.ImportPeerBufferOp, functions: Mapping[str, str]) -> Parts:
    name, peer = repr(op.buffer.data), functions.get(op.peer_func.data, op.peer_func.data)
    peer_func = _keyword("peer_func", repr(peer))
    return call("system.import_peer_buffer", _keyword("name", name), peer_func)


def _cacheinvalid(op: sync.CacheinvalidOp) -> Parts:
    if op.tensor is None:
        return call("system.cacheinvalid")
    return call("system.cacheinvalid", [op.tensor], listed(op.window), listed(op.window_offsets))


def _alloc(op: tile_storage.AllocOp) -> Parts:
    if op.space is None or op.size is None:
        raise OpError(op, "has no spelling in the DSL without a space and a size")
    arguments: list[Parts] = [[spell("Mem", op.space.data)], [str(op.size.value.data)]]
    if op.pinned is not None:
        arguments.append(_keyword("pinned", "True"))
    return call("tile.alloc", *arguments)


def _array_get(op: orch.ArrayGetOp) -> Parts:
    return call("array.get_element", [op.array], [op.index])


def _array_update(op: orch.ArrayUpdateOp) -> Parts:
    return call("array.update_element", [op.array], [op.index], [op.value])


def _array_create(op: orch.ArrayCreateOp) -> Parts:
    type = op.result.type
    assert isinstance(type, orch.ArrayType)
    return call("array.create", [str(type.extent.data)], [spell_dtype(type.element_type)])


def _task_dummy(op: orch.TaskDummyOp) -> Parts:
    return call("system.task_dummy", ["deps=", *listed(list(op.deps))])


FORMS: Mapping[type[Operation], Callable[[Any], Parts]] = {
    tile.LoadOp: _load,
    tile.StoreOp: _store,
    tile.CreateOp: _tile_create,
    tile.FullOp: _tile_full,
    tile.ReshapeOp: _tile_reshape,
    tile.MoveOp: _move,
    tile.SetValidShapeOp: _set_validshape("tile"),
    tile.ReadOp: _read("tile"),
    tile.WriteOp: _write("tile"),
    windows.SliceOp: _slice,
    windows.ExtractOp: _extract,
    windows.AssembleOp: _tile_assemble,
    rearrangement.TransposeOp: _tile_transpose,
    rearrangement.ReinterpretViewOp: _reinterpret,
    fill.FillpadExpandOp: _fillpad_expand("tile"),
    fill.CiOp: _generator("tile"),
    fill.TriOp: _tri,
    gather.GatherRowOp: _gather_row("tile"),
    gather.MgatherOp: _mgather,
    tile.MrgsortFormat2Op: _merge_sort("tile"),
    tile.MrgsortFormat1Op: _merge_sort_blocks("tile"),
    cross_core.TpopFromAicOp: _pop("tpop_from_aic"),
    cross_core.TpopFromAivOp: _pop("tpop_from_aiv"),
    cross_core.ReserveBufferOp: _reserve_buffer,
    sync.CacheinvalidOp: _cacheinvalid,
    tile_storage.AllocOp: _alloc,
    ptensor.CreateOp: _tensor_create,
    ptensor.FullOp: _tensor_full,
    ptensor.SliceOp: _tensor_slice,
    ptensor.ReshapeOp: _tensor_reshape,
    ptensor.LayoutViewOp: _tensor_view,
    ptensor.ReinterpretViewOp: _tensor_reinterpret,
    ptensor.SetValidShapeOp: _set_validshape("tensor"),
    ptensor.AssembleOp: _tensor_assemble,
    ptensor.DimOp: _dim,
    ptensor.ReadOp: _read("tensor"),
    ptensor.WriteOp: _write("tensor"),
    ptensor.TransposeOp: _tensor_transpose,
    tensor_fill.FillpadExpandOp: _fillpad_expand("tensor"),
    tensor_fill.CiOp: _generator("tensor"),
    tensor_fill.CreateL1Op: _create_l1,
    tensor_gather.GatherRowOp: _gather_row("tensor"),
    ptensor.MrgsortFormat2Op: _merge_sort("tensor"),
    ptensor.MrgsortFormat1Op: _merge_sort_blocks("tensor"),
    tensor_grid.GetBlockIdxOp: lambda op: call("tensor.get_block_idx"),
    orch.TaskInvalidOp: lambda op: call("system.task_invalid"),
    orch.TaskDummyOp: _task_dummy,
    orch.TaskIsValidOp: lambda op: call("system.task_is_valid", [op.task]),
    orch.AvailableAivCountOp: lambda op: call("system.available_aiv_count"),
    orch.AvailableClusterCountOp: lambda op: call("system.available_cluster_count"),
    orch.ArrayCreateOp: _array_create,
    orch.ArrayGetOp: _array_get,
    orch.ArrayUpdateOp: _array_update,
}
"""Ops whose calls in the DSL are not just their operands and properties."""

_LEVELS = {"tile": "tile", "ptensor": "tensor"}


def op_call(op: Operation, functions: Mapping[str, str]) -> Parts:
    """
    An op as a call of the DSL; `functions` is what the text calls the functions of the program.
    Raises `OpError` for one that the DSL has no words for.
    """
    for name in op.attributes:
        if name != orch.MANUAL_DEP or not isinstance(op, ptensor.CreateOp | ptensor.FullOp):
            raise OpError(op, f"has an attribute '{name}' that the DSL has no words for")
    if isinstance(op, cross_core.ImportPeerBufferOp):
        return _import_peer_buffer(op, functions)
    form = FORMS.get(type(op))
    if form is not None:
        return form(op)
    dialect, _, name = op.name.partition(".")
    if dialect not in _LEVELS or not isinstance(op, DeclaredOp):
        raise OpError(op, "has no spelling in the DSL")
    arguments: list[Parts] = []
    positional = True
    for parameter in signature(type(op)).parameters:
        if parameter.kind == "property":
            value = op.properties.get(parameter.name)
            if value is not None and value != parameter.default:
                arguments.append([f"{parameter.name}={property_text(op, parameter, value)}"])
                positional = False
            continue
        if parameter.kind == "indices":
            static = op.properties[parameter.static_name]
            indices = mixed_indices(cast(Any, static), getattr(op, parameter.name))
            arguments.append([f"{parameter.name}=", *listed(indices)])
            positional = False
            continue
        operand = getattr(op, parameter.name)
        if operand is None:
            positional = False
            continue
        prefix: Parts = [] if positional else [f"{parameter.name}="]
        arguments.append([*prefix, operand])
    return call(f"{_LEVELS[dialect]}.{SPELLED.get(name, name)}", *arguments)


def property_text(op: Operation, parameter: Parameter, value: Attribute) -> str:
    """A property as the DSL spells it."""
    match value:
        case UnitAttr():
            return "True"
        case PadValueAttr():
            return spell("PadValue", value.data)
        case MaskPatternAttr():
            return str(_place(value) + 1)
        case RoundModeAttr():
            return repr(value.data.value)
        case EnumAttribute():
            return str(_place(value))
        case IntegerAttr() | StringAttr():
            return attribute_text(op, value)
        case _ if value in DTYPE_NAMES:
            return spell_dtype(value)
        case _:
            raise OpError(op, f"has a {parameter.name} that the DSL has no word for: {value}")


def attribute_text(op: Operation, value: Attribute) -> str:
    """A discardable attribute as a constant of Python."""
    match value:
        case UnitAttr():
            return "True"
        case IntegerAttr():
            width = getattr(value.type, "width", None)
            if width is not None and width.data == 1:
                return str(bool(value.value.data))
            return str(value.value.data)
        case FloatAttr():
            return repr(value.value.data)
        case StringAttr():
            return repr(value.data)
        case _:
            raise OpError(op, f"has an attribute that the DSL has no word for: {value}")
