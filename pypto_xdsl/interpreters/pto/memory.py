"""
The memories of a core as bytes, and tiles as places in them.

Two tiles at one address share their bytes, whatever their types say. Each byte knows whether
anybody has written it; a new core's memories are undefined. A tile finds its elements by the
layout of its type: row by row, column by column, or box by box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.dialects.pto import DYNAMIC, AddressSpace, BLayout, Pad, SLayout, TileBufType
from pypto_xdsl.interpreters.elements import Array, Element, Mask, element_of
from pypto_xdsl.interpreters.errors import ProgramError

_GARBAGE = 0xA5
"""What bytes hold that nobody wrote, or that scratch was used for."""


@dataclass(eq=False)
class Memory:
    """Bytes, and which of them are defined."""

    space: AddressSpace
    bytes: npt.NDArray[np.uint8]
    defined: Mask

    @classmethod
    def undefined(cls, space: AddressSpace, size: int) -> Memory:
        """A memory of so many bytes that nobody has written."""
        return cls(space, np.full(size, _GARBAGE, np.uint8), np.zeros(size, np.bool_))


@dataclass(eq=False)
class Core:
    """The on-chip memories of one core while it runs a kernel."""

    sizes: Mapping[AddressSpace, int]
    """Of each memory, in bytes."""
    _memories: dict[AddressSpace, Memory] = field(default_factory=dict[AddressSpace, Memory])

    def memory(self, space: AddressSpace) -> Memory:
        """The memory of that name."""
        if space not in self._memories:
            if space not in self.sizes:
                raise ProgramError(f"lies in {space}, which the core does not have")
            self._memories[space] = Memory.undefined(space, self.sizes[space])
        return self._memories[space]

    def place(self, type: TileBufType, address: int, valid: tuple[int, int]) -> LocalTile:
        """A tile at a byte address."""
        memory = self.memory(type.space)
        size = type.size_in_bytes
        if address < 0 or address + size > memory.bytes.size:
            raise ProgramError(
                f"lies at {address}..{address + size}, outside the {memory.bytes.size} bytes of "
                f"{type.space}"
            )
        return LocalTile(memory, address, type, valid)

    def allocate(self, type: TileBufType, valid: tuple[int, int]) -> LocalTile:
        """A tile in bytes of its own."""
        return LocalTile(Memory.undefined(type.space, type.size_in_bytes), 0, type, valid)


@dataclass(eq=False)
class LocalTile:
    """A place in a memory, under a type."""

    memory: Memory
    address: int
    """In bytes."""
    type: TileBufType
    valid: tuple[int, int]
    """Valid rows and columns; `pto.set_validshape` changes them."""
    pitch: tuple[int, int] | None = None
    """The rows and columns of the tile that this is a window of."""
    origin: tuple[int, int] = (0, 0)
    """Where the window starts in it."""

    @cached_property
    def element(self) -> Element:
        """What the tile holds."""
        return element_of(self.type.element_type)

    def retyped(self, type: TileBufType, valid: tuple[int, int]) -> LocalTile:
        """The same bytes under another type; a window has one if it is whole rows."""
        if self.pitch is None:
            return replace(self, type=type, valid=valid)
        columns = self.type.get_shape()[1]
        in_rows = self.type.blayout is BLayout.ROW_MAJOR and self.type.inner_box == (1, 1)
        if not in_rows or columns != self.pitch[1]:
            raise ProgramError("is a window of a tile, which has no other shape")
        start = self.origin[0] * columns * self.element.storage.itemsize
        moved = replace(self, pitch=None, origin=(0, 0), address=self.address + start)
        return replace(moved, type=type, valid=valid)

    def window(
        self, type: TileBufType, origin: tuple[int, int], valid: tuple[int, int]
    ) -> LocalTile:
        """A part of the tile, the same bytes."""
        shape = self.type.get_shape()
        # Of a tile in boxes a part is whole boxes, from wherever it starts: some of the last one
        # may lie outside, as long as what is valid does not.
        boxed = self.type.inner_box != (1, 1)
        extents = valid if boxed else type.get_shape()
        for place, extent, size in zip(origin, extents, shape, strict=True):
            if place < 0 or place + extent > size:
                raise ProgramError(
                    f"a window of {list(type.get_shape())} at {list(origin)} lies outside a tile "
                    f"of {list(shape)}"
                )
        row, column = self.origin
        return replace(
            self,
            type=type,
            valid=valid,
            pitch=self.pitch or shape,
            origin=(row + origin[0], column + origin[1]),
        )

    def _places(self, region: tuple[int, int]) -> npt.NDArray[np.int64]:
        """The offset of each element of a region from the address, in elements."""
        shape = self.pitch or self.type.get_shape()
        inner = self.type.inner_box
        places = element_places(shape, self.type.blayout, self.type.slayout, inner)
        row, column = self.origin
        return places[row : row + region[0], column : column + region[1]]

    def _elements(self) -> tuple[Array, Mask]:
        """All elements from the address on, and the flags of their bytes."""
        storage = self.element.storage
        rows, columns = self.pitch or self.type.get_shape()
        end = self.address + rows * columns * storage.itemsize
        values = self.memory.bytes[self.address : end].view(storage)
        flags = self.memory.defined[self.address : end].reshape(-1, storage.itemsize)
        return values, flags

    def read(self, region: tuple[int, int] | None = None) -> tuple[Array, Mask | None]:
        """A copy of the elements of a region (the valid one), and which are defined."""
        region = self.valid if region is None else region
        values, flags = self._elements()
        places = self._places(region)
        defined: Mask = np.all(flags[places], axis=-1)
        return values[places], None if defined.all() else defined

    def write(self, stored: Array, defined: Mask | None = None) -> None:
        """Overwrite the elements of a region at the origin."""
        rows, columns = stored.shape
        values, flags = self._elements()
        places = self._places((rows, columns))
        values[places] = stored
        flags[places] = True if defined is None else defined[..., None]

    def spoil(self) -> None:
        """What an instruction leaves of its scratch: nothing that means anything."""
        rows, columns = self.type.get_shape()
        values, flags = self._elements()
        places = self._places((rows, columns))
        values[places] = self.element.poison((rows, columns))
        flags[places] = False

    def flat(self) -> tuple[Array, Mask]:
        """The elements in the order of their addresses, and the flags of their bytes; views."""
        values, flags = self._elements()
        first, count = self.extent()
        return values[first : first + count], flags[first : first + count]

    def extent(self) -> tuple[int, int]:
        """
        Where the first element lies, from the address, and how many there are up to the last one:
        between the rows of a window those of what it is a window of count too.
        """
        rows, columns = self.type.get_shape()
        if self.pitch is None:
            return 0, rows * columns
        places = self._places((rows, columns))
        first = int(places[0, 0])
        return first, int(places[-1, -1]) - first + 1

    def places(self, region: tuple[int, int]) -> npt.NDArray[np.int64]:
        """Where the elements of a region lie, counted likewise."""
        return self._places(region) - self.extent()[0]

    def take(self, places: npt.NDArray[np.int64]) -> tuple[Array, Mask | None]:
        """
        The elements at places, counted in the order of the addresses, and which are defined.
        Raises `ProgramError` for a place outside the tile.
        """
        self._check_places(places)
        values, flags = self.flat()
        defined: Mask = np.all(flags[places], axis=-1)
        return values[places], None if defined.all() else defined

    def put(self, places: npt.NDArray[np.int64], stored: Array) -> None:
        """Overwrite the elements at places, likewise; of several at one, the last stays."""
        self._check_places(places)
        values, flags = self.flat()
        values[places] = stored
        flags[places] = True

    def _check_places(self, places: npt.NDArray[np.int64]) -> None:
        _, count = self.extent()
        outside = (places < 0) | (places >= count)
        if outside.any():
            wrong = int(places[outside][0])
            raise ProgramError(f"names element {wrong} of a tile of {count}")


@lru_cache(maxsize=256)
def element_places(
    shape: tuple[int, int], blayout: BLayout, slayout: SLayout, box: tuple[int, int]
) -> npt.NDArray[np.int64]:
    """
    The offset of each element of a tile from its start, in elements. Boxes of `box` rows and
    columns lie one after the other in the order of `blayout`, their elements in that of `slayout`.
    Source: pto-isa's tile offsets.
    """
    rows, columns = shape
    row, column = np.indices(shape, dtype=np.int64)
    if slayout is SLayout.NONE_BOX:
        by_row = blayout is BLayout.ROW_MAJOR
        places = row * columns + column if by_row else column * rows + row
    else:
        box_rows, box_columns = box
        if rows == 1:
            # A vector fills no boxes: its parts of a row lie one after the other.
            box_rows = 1
        outer_row, inner_row = np.divmod(row, box_rows)
        outer_column, inner_column = np.divmod(column, box_columns)
        count = box_rows * box_columns
        if blayout is BLayout.ROW_MAJOR:
            start = outer_row * columns * box_rows + outer_column * count
        else:
            start = outer_column * rows * box_columns + outer_row * count
        if slayout is SLayout.ROW_MAJOR:
            places = start + inner_row * box_columns + inner_column
        else:
            places = start + inner_column * box_rows + inner_row
    places.flags.writeable = False
    return places


def valid_extents(type: TileBufType, given: tuple[int | None, int | None]) -> tuple[int, int]:
    """The valid rows and columns of a type, with those given at run time."""
    found: list[int] = []
    for extent, size, value in zip(type.valid_shape, type.get_shape(), given, strict=True):
        if extent != DYNAMIC:
            found.append(extent)
            continue
        if value is None:
            raise ProgramError(f"nothing tells the valid region of {type}")
        if not 0 <= value <= size:
            raise ProgramError(f"a valid extent of {value} lies outside 0..{size}")
        found.append(value)
    rows, columns = found
    return rows, columns


_PADS = {
    Pad.NULL: PadValue.NULL,
    Pad.ZERO: PadValue.ZERO,
    Pad.MAX: PadValue.MAX,
    Pad.MIN: PadValue.MIN,
}


def pad_element(element: Element, pad: Pad) -> Any:
    """The stored element that fills what is not valid."""
    return element.pad(_PADS[pad])
