"""
The buffers that hold the tiles of a kernel while it is lowered.

Tiles that share storage get one `pto.alloc_tile`, where the first of them is made. A tile of
another type than its storage is a view of it: `pto.treshape` for another shape, `pto.subview` for
a window or another valid region. What turns out to be used by nobody is erased at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, f16, f32, i64
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.tile_storage import TileStorage, updated_operand
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import pto, tile
from pypto_xdsl.dialects.element_types import byte_width, is_integer
from pypto_xdsl.dialects.pto.rules import constant_value
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.pto.tile_view import SIZES
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.dialects.tile.matrix import matrix_valid
from pypto_xdsl.dialects.tile.types import BOX_ROWS
from pypto_xdsl.rewriting.explicit_addresses import Places, Slot
from pypto_xdsl.rewriting.kernel_builder import KernelBuilder
from pypto_xdsl.syntax.lists import Index

Extents = tuple[Index, ...]
Matrix = tuple[Index, Index]
"""Rows and columns."""
ViewingOp: TypeAlias = (
    tile.ReshapeOp | tile.SetValidShapeOp | tile.TransposeViewOp | tile.ReinterpretViewOp
)
"""An op whose result is another view of its operand."""


class TileBuffers:
    """The buffer of each tile."""

    def __init__(
        self,
        builder: KernelBuilder,
        storage: TileStorage,
        number_ahead: Callable[[SSAValue], SSAValue | None],
    ):
        self._builder = builder
        self.number_ahead = number_ahead
        """What a number became; made here, if its op comes later. None if it cannot be."""
        self._storage = storage
        self._buffers: dict[SSAValue, SSAValue] = {}
        self._allocated: dict[SSAValue, SSAValue] = {}
        """The `pto.alloc_tile` of each storage."""
        self._extents: dict[SSAValue, Extents] = {}
        """The valid extents of tiles of which some are known only at run time."""
        self._valid: dict[SSAValue, Matrix] = {}
        """The valid rows and columns of each buffer."""
        self.places = Places()
        """Where the program places storage itself."""
        self._slots: dict[tuple[int, pto.TileBufType], SSAValue] = {}
        """The `pto.alloc_multi_tile` of each buffer of slots known at run time, by its address."""
        self._windows: set[SSAValue] = set()
        """Tiles that are a part of their storage."""
        self._unsure: list[Operation] = []
        """Allocations and views, of which some turn out to be used by nobody."""

    def erase_unused(self) -> None:
        """Erase the allocations and views that nothing uses."""
        for op in reversed(self._unsure):
            if op.results[0].first_use is None:
                block = op.parent_block()
                assert block is not None
                block.erase_op(op)

    # Valid regions.

    def set_extents(self, value: SSAValue, valid: Sequence[Index]) -> None:
        """Say what the valid extents of a tile are, where its type leaves them to run time."""
        type = TileType.of(value.type)
        if DYNAMIC_INDEX in type.valid_shape:
            self._extents[value] = tuple(valid) or type.valid_shape

    def copy_extents(self, source: SSAValue, target: SSAValue) -> None:
        """A tile has the valid region of another, where its type leaves it to run time."""
        if target not in self._extents and source in self._extents:
            self._extents[target] = self._extents[source]

    def knows_extents(self, value: SSAValue) -> bool:
        """Whether the valid extents of a tile are known, now or at run time."""
        return value in self._extents or DYNAMIC_INDEX not in TileType.of(value.type).valid_shape

    def valid(self, value: SSAValue) -> Extents:
        """The extents of the valid region of a tile."""
        return self._extents.get(value) or TileType.of(value.type).valid_shape

    def infer_extents(self, op: Operation, result: SSAValue) -> None:
        """
        The run-time extents of a result: those of the first operand that has one along the axis;
        of a reshape what holds as many elements, or in their order.
        """
        if self.knows_extents(result):
            return
        type = TileType.of(result.type)
        if isinstance(op, tile.ReshapeOp) and type.valid_shape.count(DYNAMIC_INDEX) == 1:
            held = self._as_many(self.valid(op.source), type.valid_shape)
            if held is not None:
                self._extents[result] = held
                return
        if isinstance(op, tile.ReinterpretViewOp):
            self._extents[result] = self._reinterpreted_extents(op)
            return
        known = [self._extents[operand] for operand in op.operands if operand in self._extents]
        extents: list[Index] = []
        for axis, extent in enumerate(type.valid_shape):
            if extent != DYNAMIC_INDEX:
                extents.append(extent)
                continue
            along = [
                valid[axis]
                for valid in known
                if axis < len(valid) and isinstance(valid[axis], SSAValue)
            ]
            values = along or [e for valid in known for e in valid if isinstance(e, SSAValue)]
            if not values:
                raise OpError(op, f"has a valid region that nothing gives: {type}")
            extents.append(values[0])
        self._extents[result] = tuple(extents)

    def _reinterpreted_extents(self, op: tile.ReinterpretViewOp) -> Extents:
        """The valid extents of rows that are read as elements of another width."""
        source, result = TileType.of(op.source.type), TileType.of(op.result.type)
        if source.get_shape()[:-1] != result.get_shape()[:-1]:
            raise OpError(
                op,
                "reads rows as others, and how much of them is valid is known at run time: "
                f"{source}",
            )
        *rows, columns = self.valid(op.source)
        old, new = byte_width(source.element_type), byte_width(result.element_type)
        columns = self._builder.divide(self._builder.multiply(columns, old), new)
        return (*rows, columns)

    def _as_many(self, valid: Extents, wanted: Sequence[int]) -> Extents | None:
        """Extents that hold as many elements as others, of which one is not known."""
        held = prod(extent for extent in valid if isinstance(extent, int))
        known = prod(extent for extent in wanted if extent != DYNAMIC_INDEX)
        if known == 0 or held % known:
            return None
        extent: Index = held // known
        for factor in valid:
            if isinstance(factor, SSAValue):
                extent = self._builder.multiply(extent, factor)
        return tuple(extent if one == DYNAMIC_INDEX else one for one in wanted)

    def _matrix_extents(self, value: SSAValue) -> Matrix:
        """Valid rows and columns of a tile, seen as a matrix."""
        type = TileType.of(value.type)
        valid = self._extents.get(value)
        if valid is None:
            return matrix_valid(type.get_shape(), type.valid_shape)
        rows: Index = 1
        for extent in valid[:-1]:
            rows = self._builder.multiply(rows, extent)
        return rows, valid[-1]

    # Buffers.

    def buffer(self, value: SSAValue) -> SSAValue:
        """The buffer of a tile, under its own type."""
        found = self._buffers.get(value)
        if found is None:
            storage = self._allocated.get(self._storage.storage(value))
            if storage is None:
                raise OpError(self._builder.origin, "uses a tile that has no storage")
            found = self._buffers[value] = self._retyped(storage, value)
        return found

    def allocate(self, value: SSAValue) -> SSAValue:
        """The buffer to write a tile to; its storage is allocated if it is not there yet."""
        key = self._storage.storage(value)
        if key not in self._allocated:
            self._enter(key, value, self._type(value), self._matrix_extents(value))
        return self.buffer(value)

    def reserve(self, value: SSAValue) -> None:
        """
        Allocate the storage of a tile of whose valid region nothing is known yet; `place` is where
        it is handed over.
        """
        key = self._storage.storage(value)
        if key not in self._allocated:
            type = self._type(value)
            shape = type.get_shape()
            self._enter(key, value, type.with_(valid_shape=shape), shape)

    def _enter(self, key: SSAValue, value: SSAValue, type: pto.TileBufType, valid: Matrix) -> None:
        """Allocate storage, where the program says."""
        slot = self.places.slots.get(key)
        if slot is None:
            address = self.places.addresses.get(key)
            storage = self._alloc(type, valid, value.name_hint, address)
        else:
            storage = self._slot(slot, type, value.name_hint)
        self._allocated[key] = storage
        self._unsure.append(cast(Operation, storage.owner))

    def _slot(self, slot: Slot, type: pto.TileBufType, hint: str | None) -> SSAValue:
        """The tile in a slot that is known at run time only, all of it valid."""
        index = self.number_ahead(slot.index)
        if index is None:
            raise OpError(
                slot.op,
                "keeps a tile in a slot that is known only after the tile is made, or that changes "
                "while it is handed on",
            )
        shape = type.get_shape()
        type = type.with_(valid_shape=shape)
        key = (slot.address, type)
        if key not in self._slots:
            address = self._builder.constant(slot.address, i64)
            tiles = build(
                pto.AllocMultiTileOp,
                {"addr": address},
                {},
                (pto.MultiTileBufType(type, slot.count),),
            )
            with self._builder.at_head():
                alloc = slot.op.buffer.name_hint
                self._slots[key] = self._builder.insert(tiles, alloc)
        values = {"source": self._slots[key], "slot": index}
        tile = self._builder.insert(build(pto.MultiTileGetOp, values, {}, (type,)), hint)
        self._valid[tile] = shape
        return tile

    def place(self, value: SSAValue) -> SSAValue:
        """The buffer that a tile is handed over in: all of its storage, if it was reserved."""
        if self.knows_extents(value):
            return self.buffer(value)
        return self.whole(self._allocated[self._storage.storage(value)])

    def is_copied(self, op: Operation, index: int) -> bool:
        """Whether an operand that an op writes its result over is needed after it."""
        return (op, index) in self._storage.copies

    def updated(self, op: Operation, result: OpResult) -> SSAValue:
        """The buffer of a result that is written over an operand; a copy of it, if needed."""
        index = updated_operand(result)
        assert index is not None
        self.copy_extents(op.operands[index], result)
        destination = self.allocate(result)
        if self.is_copied(op, index):
            self.move(self.buffer(op.operands[index]), destination)
        return destination

    def adopt(self, value: SSAValue, storage: SSAValue) -> None:
        """A tile has a storage that something else than an allocation made."""
        self._allocated[self._storage.storage(value)] = storage
        self._valid[storage] = self._matrix_extents(value)

    def temporary(self, like: SSAValue, hint: str) -> SSAValue:
        """New storage like a buffer."""
        return self._alloc(cast(pto.TileBufType, like.type), self._valid[like], hint)

    def _alloc(
        self,
        type: pto.TileBufType,
        valid: Matrix,
        hint: str | None,
        address: int | None = None,
    ) -> SSAValue:
        values: dict[str, SSAValue | Sequence[SSAValue]] = {}
        if address is not None:
            values["addr"] = self._builder.constant(address, i64)
        if type.has_dynamic_valid:
            values["valid_row"] = self._builder.index(valid[0])
            values["valid_col"] = self._builder.index(valid[1])
        buffer = self._builder.insert(build(pto.AllocTileOp, values, {}, (type,)), hint)
        self._valid[buffer] = valid
        return buffer

    def same(self, source: SSAValue, value: SSAValue) -> None:
        """Name the bytes of a tile that is its operand."""
        self.copy_extents(source, value)
        if source in self._windows:
            self._windows.add(value)
        self._buffers[value] = self.buffer(source)

    def view(self, op: ViewingOp) -> None:
        """Name the bytes of a tile that is another view of its operand."""
        storage = self._allocated.get(self._storage.storage(op.source))
        self.infer_extents(op, op.result)
        same_shape = storage is not None and _is_same_box(storage.type, self._type(op.result))
        in_window = op.source in self._windows
        if in_window or (isinstance(op, tile.SetValidShapeOp) and not same_shape):
            # A window keeps the shape of what it is a window of.
            self._buffers[op.result] = self._retyped(self.buffer(op.source), op.result)
        if in_window:
            self._windows.add(op.result)
        self.buffer(op.result)

    def window(self, op: tile.SliceOp, offsets: Sequence[Index], valid: Sequence[Index]) -> None:
        """Name the bytes of a part of a tile."""
        self.set_extents(op.result, valid)
        self._windows.add(op.result)
        source = self.buffer(op.source)
        row, column = offsets
        shape, valid = self._type(op.result).get_shape(), self._matrix_extents(op.result)
        self._buffers[op.result] = self._subview(
            source, (row, column), shape, valid, op.result.name_hint
        )

    def rows(self, buffer: SSAValue, offsets: Matrix, like: SSAValue) -> SSAValue:
        """The rows of a buffer into which another one fits."""
        shape = cast(pto.TileBufType, like.type).get_shape()
        return self._subview(buffer, offsets, shape, shape, like.name_hint)

    def part(
        self, buffer: SSAValue, offsets: Matrix, shape: tuple[int, int], valid: Matrix
    ) -> SSAValue:
        """A part of a buffer, of which `valid` is; of a buffer in boxes in whole boxes."""
        box = cast(pto.TileBufType, buffer.type).inner_box
        rows, columns = (
            -(-extent // inner) * inner for extent, inner in zip(shape, box, strict=True)
        )
        return self._subview(buffer, offsets, (rows, columns), valid, buffer.name_hint)

    def whole(self, buffer: SSAValue) -> SSAValue:
        """A buffer as one that is valid everywhere."""
        type = cast(pto.TileBufType, buffer.type)
        shape = type.get_shape()
        if type.valid_shape == shape:
            return buffer
        return self._subview(buffer, (0, 0), shape, shape, buffer.name_hint)

    def as_floats(self, buffer: SSAValue) -> SSAValue:
        """
        A buffer of integers of 16 or 32 bits as one of floats, for instructions that copy elements
        of some types only, whatever they mean.
        """
        type = cast(pto.TileBufType, buffer.type)
        element_type = type.element_type
        if not is_integer(element_type):
            return buffer
        floats = {16: f16, 32: f32}.get(element_type.width.data)
        if floats is None:
            return buffer
        return self.reinterpreted(buffer, floats)

    def reinterpreted(self, buffer: SSAValue, element_type: Attribute) -> SSAValue:
        """A buffer as one of elements of the same width and other meaning."""
        type = cast(pto.TileBufType, buffer.type).with_(element_type=element_type)
        view = build(pto.BitcastOp, {"src": buffer}, {}, (type,))
        return self._inserted(view, self._valid[buffer], buffer.name_hint)

    def padded_like(self, buffer: SSAValue, other: SSAValue) -> SSAValue:
        """A buffer as one with the pad value of another; its valid region stays."""
        have, like = cast(pto.TileBufType, buffer.type), cast(pto.TileBufType, other.type)
        blayout, slayout, fractal, _, compact = have.config.data
        want = have.with_(config=(blayout, slayout, fractal, like.pad, compact))
        return self._viewed(buffer, want, self._valid[buffer], buffer.name_hint)

    def move(self, source: SSAValue, destination: SSAValue) -> None:
        """Copy a buffer to another of the same memory, which has to be UB."""
        space = cast(pto.TileBufType, source.type).space
        if space is not pto.AddressSpace.VEC:
            raise OpError(
                self._builder.origin,
                f"has to copy a tile within {space}, which no instruction does: a tile that it "
                "writes over or hands on is needed again, or in another place",
            )
        self._builder.insert_op(build(pto.TMovOp, {"src": source, "dst": destination}))

    def row(self, buffer: SSAValue) -> SSAValue:
        """A column as the row that has the same bytes."""
        type = cast(pto.TileBufType, buffer.type)
        rows, _ = type.get_shape()
        config = (pto.BLayout.ROW_MAJOR, *type.config.data[1:])
        row = type.with_(shape=(1, rows), valid_shape=(1, type.valid_shape[0]), config=config)
        return self._viewed(buffer, row, (1, self._valid[buffer][0]), buffer.name_hint)

    def _type(self, value: SSAValue) -> pto.TileBufType:
        try:
            return tile_buf_type(TileType.of(value.type))
        except VerifyException as error:
            raise OpError(self._builder.origin, str(error)) from error

    def _retyped(self, buffer: SSAValue, value: SSAValue) -> SSAValue:
        """A buffer under the type of a tile that shares all of its bytes."""
        want, valid = self._type(value), self._matrix_extents(value)
        return self._viewed(buffer, want, valid, value.name_hint)

    def _viewed(
        self, buffer: SSAValue, want: pto.TileBufType, valid: Matrix, hint: str | None
    ) -> SSAValue:
        """A buffer under another type of the same bytes."""
        have = cast(pto.TileBufType, buffer.type)
        if have == want and valid == self._valid[buffer]:
            return buffer
        if _is_same_box(have, want):
            return self._subview(buffer, (0, 0), want.get_shape(), valid, hint)
        # How much is valid at run time is said by a view of the same box.
        shape = want.get_shape()
        box = want.with_(valid_shape=shape) if want.has_dynamic_valid else want
        view = build(pto.TReshapeOp, {"src": buffer}, {}, (box,))
        if want.has_dynamic_valid:
            reshaped = self._inserted(view, shape, hint)
            return self._subview(reshaped, (0, 0), shape, valid, hint)
        return self._inserted(view, valid, hint)

    def _subview(
        self,
        buffer: SSAValue,
        offsets: Matrix,
        shape: tuple[int, int],
        valid: Matrix,
        hint: str | None,
    ) -> SSAValue:
        values: dict[str, SSAValue | Sequence[SSAValue]] = {
            "source": buffer,
            "offsets": [self._builder.index(offset) for offset in offsets],
        }
        extents = shape
        if valid != shape:
            row, column = (self._builder.index(extent) for extent in valid)
            values |= {"valid_row": row, "valid_col": column}
            extents = (_known_extent(row), _known_extent(column))
        source = cast(pto.TileBufType, buffer.type)
        type = source.with_(shape=shape, valid_shape=extents)
        sizes = {"sizes": SIZES.make(shape)}
        return self._inserted(build(pto.SubViewOp, values, {}, (type,), sizes), valid, hint)

    def _inserted(self, view: Operation, valid: Matrix, hint: str | None) -> SSAValue:
        self._unsure.append(view)
        result = self._builder.insert(view, hint)
        self._valid[result] = valid
        return result


def _known_extent(value: SSAValue) -> int:
    extent = constant_value(value)
    return pto.DYNAMIC if extent is None else extent


def _is_same_box(have: object, want: pto.TileBufType) -> bool:
    """Whether two types differ in the valid region only, or in a `compact` that says nothing."""
    assert isinstance(have, pto.TileBufType)
    if have.element_type != want.element_type:
        return False
    have_config, want_config = have.config.data, want.config.data
    if want.get_shape()[0] <= BOX_ROWS:
        have_config, want_config = have_config[:-1], want_config[:-1]
    return have.get_shape() == want.get_shape() and have_config == want_config


@lru_cache(maxsize=4096)
def tile_buf_type(type: TileType) -> pto.TileBufType:
    """
    The `!pto.tile_buf` of a tile: seen as a matrix of its last dimension by all others. A valid
    region of which a part is known only at run time is so as a whole.

    Raises `VerifyException` for a tile that is none: without a memory or with run-time extents.
    """
    if type.memory_space is None:
        raise VerifyException(f"the memory space of {type} is not known")
    shape = type.get_shape()
    if DYNAMIC_INDEX in shape:
        raise VerifyException(f"a buffer has constant extents, got {type}")
    valid = matrix_valid(shape, type.valid_shape)
    if DYNAMIC_INDEX in valid:
        valid = (pto.DYNAMIC, pto.DYNAMIC)
    layout = type.layout
    return pto.TileBufType(
        (prod(shape[:-1]), shape[-1]),
        type.element_type,
        pto.AddressSpace(type.memory_space.value),
        valid_shape=valid,
        blayout=pto.BLayout(layout.blayout.value),
        slayout=pto.SLayout(layout.slayout.value),
        fractal=layout.fractal,
        pad=pto.Pad(type.pad_value.value),
        compact=pto.Compact.NORMAL if type.is_compact else pto.Compact.NULL,
    )
