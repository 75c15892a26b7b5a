"""
The memories of a core hold matrices and bytes; whatever is done to them, they say what plain bytes
say, which the interpreter of `pto` keeps.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import Float16Type, Float32Type, i32

from pypto_xdsl.dialects.pto import AddressSpace, BLayout, SLayout, TileBufType
from pypto_xdsl.interpreters.ascend910b.copy_on_write import Lenders
from pypto_xdsl.interpreters.ascend910b.memory import CoreMemory, CoreTile
from pypto_xdsl.interpreters.elements import Element, element_of
from pypto_xdsl.interpreters.pto.memory import LocalTile, Memory

SIZE = 8192
ELEMENTS = (Float32Type(), i32, Float16Type())


class NoChecks:
    """A core that lets everything pass."""

    def __init__(self) -> None:
        self.group = SimpleNamespace(lenders=Lenders())

    def keep(self, type: TileBufType) -> TileBufType:
        return type

    def touch(self, *args: Any, **named: Any) -> None:
        return

    def undefined(self, *args: Any) -> None:
        return


def types() -> list[TileBufType]:
    """Tiles of 1 or 2 KiB in all layouts."""
    found: list[TileBufType] = []
    for element in ELEMENTS:
        size = 2 if element == Float16Type() else 4
        for blayout in BLayout:
            for slayout in SLayout:
                shape = (16, 64 // size) if slayout is SLayout.NONE_BOX else (32, 64 // size)
                type = TileBufType(
                    shape, element, AddressSpace.MAT, blayout=blayout, slayout=slayout
                )
                found.append(type)
    return found


TYPES = types()

Tiles = tuple[CoreTile, LocalTile]


def stored(element: Element, shape: tuple[int, int], seed: int) -> Any:
    numbers = np.random.default_rng(seed).integers(0, 100, shape)
    return numbers.astype(element.storage)


def compare(tiles: Tiles, region: tuple[int, int]) -> None:
    (got, got_mask), (wanted, wanted_mask) = (tile.read(region) for tile in tiles)
    assert (got_mask is None) == (wanted_mask is None)
    if got_mask is not None and wanted_mask is not None:
        np.testing.assert_array_equal(got_mask, wanted_mask)
        got, wanted = got[got_mask], wanted[wanted_mask]
    # The bits, since the same bytes may be nan under another type.
    np.testing.assert_array_equal(
        np.ascontiguousarray(got).view(np.uint8), np.ascontiguousarray(wanted).view(np.uint8)
    )


@settings(max_examples=150)
@given(data=st.data())
def test_a_memory_says_what_bytes_say(data: st.DataObject) -> None:
    space = AddressSpace.MAT
    core = NoChecks()
    memory = CoreMemory.of(cast(Any, core), space, SIZE)
    outside = np.random.default_rng(0).integers(0, 100, SIZE).astype(np.uint8)
    lender = core.group.lenders.lender_of(outside)
    plain = Memory.undefined(space, SIZE)
    for step in range(data.draw(st.integers(1, 12))):
        type = data.draw(st.sampled_from(TYPES))
        address = 512 * data.draw(st.integers(0, 4))
        shape = type.get_shape()
        tiles: Tiles = (
            CoreTile(memory, address, type, shape),
            LocalTile(plain, address, type, shape),
        )
        rows, columns = (data.draw(st.integers(1, extent)) for extent in shape)
        if data.draw(st.booleans()):
            origin = tuple(
                data.draw(st.integers(0, whole - part))
                for whole, part in zip(shape, (rows, columns), strict=True)
            )
            inner = type.with_(shape=(rows, columns), valid_shape=(rows, columns))
            tiles = cast(
                Tiles,
                tuple(t.window(inner, cast(Any, origin), (rows, columns)) for t in tiles),
            )
        elif data.draw(st.booleans()):
            rows, columns = shape
        region = rows, columns
        actions = ["read", "write", "load", "change", "some", "put", "spoil", "reset"]
        match data.draw(st.sampled_from(actions)):
            case "load":
                # A window of global memory, which the memory need not copy.
                start = 64 * data.draw(st.integers(0, 8))
                size = tiles[0].element.storage.itemsize
                window = np.ndarray(region, tiles[0].element.storage, outside, start, (128, size))
                tiles[1].write(window.copy())
                tiles[0].write(window)
            case "change":
                start = 64 * data.draw(st.integers(0, 16))
                written = outside[start : start + 512]
                lender.recall(written)
                written[...] = step
            case "read":
                compare(tiles, region)
            case "write":
                values = stored(tiles[0].element, region, step)
                for tile in tiles:
                    tile.write(values.copy())
            case "some":
                values = stored(tiles[0].element, region, step)
                mask = np.random.default_rng(step).random(region) < 0.5
                for tile in tiles:
                    tile.write(values.copy(), mask)
            case "put":
                places = np.array([[0, tiles[0].extent()[1] - 1]])
                for tile in tiles:
                    tile.put(places, stored(tile.element, (1, 2), step))
            case "spoil":
                if tiles[0].pitch is None:
                    for tile in tiles:
                        tile.spoil()
            case _:
                if data.draw(st.integers(0, 3)) == 0:
                    memory.reset()
                    plain.defined[:] = False
    for address in range(0, 2560, 512):
        for type in TYPES:
            whole = type.get_shape()
            compare(
                (CoreTile(memory, address, type, whole), LocalTile(plain, address, type, whole)),
                whole,
            )


def test_what_is_written_is_not_changed_through_the_array_afterwards() -> None:
    memory = CoreMemory.of(cast(Any, NoChecks()), AddressSpace.VEC, SIZE)
    tile = CoreTile(memory, 0, TileBufType((8, 8), Float32Type(), AddressSpace.VEC), (8, 8))
    source = np.zeros((16, 8), np.float32)
    tile.write(source[:8])
    source[:] = 1
    assert not tile.read()[0].any()


def test_a_move_between_layouts_copies_nothing() -> None:
    memory = CoreMemory.of(cast(Any, NoChecks()), AddressSpace.MAT, SIZE)
    plain = TileBufType((32, 16), Float32Type(), AddressSpace.MAT)
    boxed = TileBufType(
        (32, 16),
        Float32Type(),
        AddressSpace.MAT,
        blayout=BLayout.COL_MAJOR,
        slayout=SLayout.ROW_MAJOR,
    )
    first, second = CoreTile(memory, 0, plain, (32, 16)), CoreTile(memory, 4096, boxed, (32, 16))
    first.write(np.ones((32, 16), np.float32))
    second.write(first.read()[0])
    assert np.shares_memory(first.read()[0], second.read()[0])
    assert element_of(Float32Type()) is first.element


def test_what_was_loaded_stays_when_global_memory_is_written() -> None:
    core = NoChecks()
    memory = CoreMemory.of(cast(Any, core), AddressSpace.VEC, SIZE)
    type = TileBufType((16, 16), Float32Type(), AddressSpace.VEC)
    tile, moved = (CoreTile(memory, address, type, (16, 16)) for address in (0, 4096))
    outside = np.arange(1024, dtype=np.float32)
    lender = core.group.lenders.lender_of(outside)
    window = outside.reshape(64, 16)[:16]
    tile.write(window)
    moved.write(tile.read()[0])
    assert np.shares_memory(moved.read()[0], outside)
    wanted = window.copy()
    lender.recall(outside[512:])
    assert np.shares_memory(tile.read()[0], outside)
    lender.recall(outside[:8])
    outside[:8] = -1
    for held in (tile, moved):
        np.testing.assert_array_equal(held.read()[0], wanted)
        assert not held.read()[0].flags.writeable
    assert window.flags.writeable


def test_arrays_that_share_bytes_have_one_lender() -> None:
    """As arrays over the same bytes do that do not know of each other."""
    lenders = Lenders()
    data = bytearray(64)
    first, second = (np.frombuffer(data, np.float32)[k:] for k in (0, 4))
    assert lenders.lender_of(first) is lenders.lender_of(second)
    assert lenders.lender_of(np.zeros(4)) is not lenders.lender_of(first)
