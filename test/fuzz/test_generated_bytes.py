"""
Generated kernels that move bytes about give the same at every level, down to one core.

They pad tiles, read bytes as other elements, gather blocks and rows and elements by index, from
tiles and from global memory, scatter there, replace rows, take parts and put them back; in loops
and branches, in place where nobody needs what was there, with barriers in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.drawn_programs import DrawnProgram
from support.lowering_levels import assert_keeps_results, on_910b

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "ui32": np.uint32,
    "ui16": np.uint16,
    "ui8": np.uint8,
}
BLOCK = 32
"""The bytes of which rows of tiles have a whole number."""
OUT_OF_BOUNDS = ("undefined", "clamp", "wrap", "zero")


def width(dtype: str) -> int:
    return int(np.dtype(DTYPES[dtype]).itemsize)


@dataclass(frozen=True)
class Tile:
    """A tile: its type, and how much of it is valid when the kernel runs."""

    name: str
    shape: tuple[int, int]
    dtype: str
    valid: tuple[int, int]
    pad: str | None = None
    at_run_time: bool = False
    """Whether the type leaves open how much is valid."""

    @property
    def is_whole(self) -> bool:
        return self.valid == self.shape and not self.at_run_time

    @property
    def type(self) -> str:
        rows, columns = self.shape
        valid = ("?", "?") if self.at_run_time else self.valid
        parts = [f"{rows}x{columns}x{self.dtype}, vec"]
        if not self.is_whole:
            parts.append(f"valid = [{valid[0]}, {valid[1]}]")
        if self.pad is not None:
            parts.append(f"pad = {self.pad}")
        return f"!tile.tile<{', '.join(parts)}>"

    @property
    def tensor(self) -> str:
        return f"tensor<{self.shape[0]}x{self.shape[1]}x{self.dtype}>"


@dataclass
class Writer(DrawnProgram):
    """A kernel's body while it is drawn, with what it is given."""

    random: np.random.Generator
    parameters: list[str] = field(default_factory=list[str])
    arguments: list[Any] = field(default_factory=list[Any])
    results: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def choose(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def within(self, most: int) -> int:
        return self.draw(st.integers(1, most))

    def parameter(self, kind: str, type: str, argument: Any) -> str:
        name = self.name("p")
        self.parameters.append(f"{kind} {name} : {type}")
        self.arguments.append(argument)
        return name

    def numbers(self, shape: tuple[int, int], dtype: str) -> NDArray[Any]:
        """Any elements; of floats some that are no infinities."""
        if dtype == "bf16":
            return (self.numbers(shape, "f32").view(np.uint32) >> 16).astype(np.uint16)
        if dtype.startswith("f"):
            return self.random.integers(-60, 60, shape).astype(DTYPES[dtype])
        limits = np.iinfo(DTYPES[dtype])
        return self.random.integers(limits.min, limits.max, shape, DTYPES[dtype], endpoint=True)

    def load(
        self,
        depth: int,
        shape: tuple[int, int],
        dtype: str,
        elements: NDArray[Any] | None = None,
        valid: tuple[int, int] | None = None,
        *,
        at_run_time: bool = False,
    ) -> Tile:
        """A tile of a parameter of its own."""
        tile = Tile(self.name(), shape, dtype, valid or shape, at_run_time=at_run_time)
        elements = self.numbers(shape, dtype) if elements is None else elements
        tensor = self.parameter("in", tile.tensor, elements)
        given = ""
        if at_run_time:
            extents = (self.parameter("in", "index", extent) for extent in tile.valid)
            given = f", valid = [{', '.join(extents)}]"
        types = f"{tile.tensor} -> {tile.type}"
        self.put(depth, f"{tile.name} = tile.load {tensor}[0, 0]{given} : {types}")
        return tile

    def any_tile(self, depth: int) -> Tile:
        dtype = self.choose(*DTYPES)
        shape = (self.choose(1, 2, 4, 8, 16), BLOCK // width(dtype) * self.choose(1, 2, 4))
        valid = (self.within(shape[0]), self.within(shape[1])) if self.choose(0, 1) else shape
        return self.load(depth, shape, dtype, valid=valid, at_run_time=self.choose(0, 0, 1) == 1)

    def store(self, tile: Tile) -> None:
        result = self.name()
        zeros = np.zeros(tile.shape, DTYPES[tile.dtype])
        target = self.parameter("inout", tile.tensor, zeros)
        types = f"{tile.type}, {tile.tensor}"
        self.put(1, f"{result} = tile.store {tile.name}, {target}[0, 0] : {types}")
        self.results.append((result, tile.tensor))

    def statements(self, tiles: list[Tile], depth: int, most: int) -> None:
        kinds = ["load", "barrier", "pad", "read_as", "blocks", "rows", "elements", "update"]
        kinds += ["part", "together", "scatter", *(["loop", "branch"] if depth < 3 else [])]
        for _ in range(self.within(most)):
            made = getattr(self, f"_{self.choose(*kinds)}")(tiles, depth)
            if made is not None:
                tiles.append(made)

    def _load(self, tiles: list[Tile], depth: int) -> Tile:
        return self.any_tile(depth)

    def _barrier(self, tiles: list[Tile], depth: int) -> None:
        self.put(depth, f"tile.bar_{self.choose('v', 'm', 'all')}")

    def replaced(self, tiles: list[Tile], old: Tile) -> None:
        """What an op may write over is needed after it, or not."""
        if self.choose(0, 1) and len(tiles) > 1:
            tiles.remove(old)

    def _pad(self, tiles: list[Tile], depth: int) -> Tile:
        old, op = self.choose(*tiles), self.choose("fillpad", "fillpad_inplace", "fillpad_expand")
        shape = old.shape
        if op == "fillpad_expand":
            shape = (shape[0] * self.choose(1, 2), shape[1] * self.choose(1, 2))
        pad = self.choose("zero", "min", "max")
        new = Tile(self.name(), shape, old.dtype, shape, pad)
        types = f"{old.type} -> {new.type}"
        self.put(depth, f"{new.name} = tile.{op} {old.name}, pad_value = {pad} : {types}")
        self.replaced(tiles, old)
        return new

    def _read_as(self, tiles: list[Tile], depth: int) -> Tile | None:
        old, dtype = self.choose(*tiles), self.choose(*DTYPES)
        have, want = width(old.dtype), width(dtype)
        if old.valid[1] * have % want:
            return None
        (rows, columns), (valid_rows, valid_columns) = old.shape, old.valid
        new = Tile(
            self.name(),
            (rows, columns * have // want),
            dtype,
            (valid_rows, valid_columns * have // want),
            at_run_time=old.at_run_time,
        )
        types = f"{old.type} -> {new.type}"
        self.put(depth, f"{new.name} = tile.reinterpret_view {old.name} : {types}")
        return new

    def _blocks(self, tiles: list[Tile], depth: int) -> Tile | None:
        old = self.choose(*tiles)
        if not old.is_whole:
            return None
        count = old.shape[0] * old.shape[1] * width(old.dtype) // BLOCK
        rows = self.choose(1, 2, 4)
        places = BLOCK * self.random.integers(0, count, (rows, 8))
        index = self.load(depth, (rows, 8), "ui32", places.astype(np.uint32))
        shape = (rows, 8 * BLOCK // width(old.dtype))
        new = Tile(self.name(), shape, old.dtype, shape)
        types = f"{old.type}, {index.type} -> {new.type}"
        self.put(depth, f"{new.name} = tile.gatherb {old.name}, {index.name} : {types}")
        return new

    def _gathered(self, depth: int, new: Tile, index: Tile, shape: str, how: str) -> Tile:
        """A tile of a parameter of a shape, by an index that goes beyond it if it may."""
        extents = tuple(int(extent) for extent in shape.split("x"))
        assert len(extents) == 2
        elements = self.numbers((extents[0], extents[1]), new.dtype)
        memory = f"tensor<{shape}x{new.dtype}>"
        source = self.parameter("in", memory, elements)
        types = f"{memory}, {index.type} -> {new.type}"
        self.put(depth, f"{new.name} = tile.mgather {source}, {index.name}, {how} : {types}")
        return new

    def _rows(self, tiles: list[Tile], depth: int) -> Tile:
        dtype, rows, beyond = self.choose(*DTYPES), self.within(20), self.choose(*OUT_OF_BOUNDS)
        shape = (self.choose(8, 16), BLOCK // width(dtype) * self.choose(1, 2, 4))
        limit = rows if beyond == "undefined" else 2 * rows + 3
        numbers = self.random.integers(0, limit, (1, shape[0]))
        index = self.load(depth, (1, shape[0]), "i32", numbers.astype(np.int32))
        new = Tile(self.name(), shape, dtype, shape)
        return self._gathered(depth, new, index, f"{rows}x{shape[1]}", f"gather_oob = {beyond}")

    def _elements(self, tiles: list[Tile], depth: int) -> Tile:
        dtype, beyond = self.choose(*DTYPES), self.choose(*OUT_OF_BOUNDS)
        shape = (self.choose(1, 2, 8), BLOCK // width(dtype) * self.choose(1, 2))
        valid = (self.within(shape[0]), self.within(shape[1])) if self.choose(0, 1) else shape
        rows, columns = self.within(20), self.within(20)
        limit = rows * columns if beyond == "undefined" else 2 * rows * columns + 3
        numbers = self.random.integers(0, limit, shape)
        index = self.load(depth, shape, "i32", numbers.astype(np.int32), valid)
        new = Tile(self.name(), shape, dtype, valid)
        how = f"coalesce = elem, gather_oob = {beyond}"
        return self._gathered(depth, new, index, f"{rows}x{columns}", how)

    def _scatter(self, tiles: list[Tile], depth: int) -> None:
        """Each place once: a core does not say which of two elements comes last."""
        tile = self.choose(*tiles)
        if depth > 1 or tile.at_run_time or tile.shape[1] % 8:
            return
        count = tile.shape[0] * tile.shape[1]
        places = self.random.permutation(count + 5)[:count].astype(np.int32)
        index = self.load(depth, tile.shape, "i32", places.reshape(tile.shape), tile.valid)
        shape = self.choose((1, count + 5), (count + 5, 1))
        target = f"tensor<{shape[0]}x{shape[1]}x{tile.dtype}>"
        memory = self.parameter("inout", target, self.numbers(shape, tile.dtype))
        result = self.name()
        self.put(
            depth,
            f"{result} = tile.mscatter {tile.name}, {index.name}, {memory} : "
            f"{tile.type}, {index.type}, {target}",
        )
        self.results.append((result, target))

    def _update(self, tiles: list[Tile], depth: int) -> Tile | None:
        old = self.choose(*tiles)
        if not old.is_whole:
            return None
        count = self.choose(8, 16)
        numbers = self.random.integers(0, old.shape[0], (1, count))
        index = self.load(depth, (1, count), "i32", numbers.astype(np.int32))
        rows = self.load(depth, (count, old.shape[1]), old.dtype)
        new = replace(old, name=self.name())
        self.put(
            depth,
            f"{new.name} = tile.scatter_update {old.name}, {index.name}, {rows.name} : "
            f"{old.type}, {index.type}, {rows.type}",
        )
        self.replaced(tiles, old)
        return new

    def _part(self, tiles: list[Tile], depth: int) -> Tile | None:
        old = self.choose(*tiles)
        if not old.is_whole:
            return None
        block = BLOCK // width(old.dtype)
        rows, columns = self.within(old.shape[0]), block * self.within(old.shape[1] // block)
        row = self.draw(st.integers(0, old.shape[0] - rows))
        column = block * self.draw(st.integers(0, (old.shape[1] - columns) // block))
        new = Tile(self.name(), (rows, columns), old.dtype, (rows, columns))
        types = f"{old.type} -> {new.type}"
        self.put(depth, f"{new.name} = tile.slice {old.name}[{row}, {column}] : {types}")
        return new

    def _together(self, tiles: list[Tile], depth: int) -> Tile | None:
        """A tile in a part of another one."""
        old = self.choose(*tiles)
        fitting = [
            tile
            for tile in tiles
            if tile is not old
            and tile.is_whole
            and tile.dtype == old.dtype
            and all(small <= large for small, large in zip(tile.shape, old.shape, strict=True))
        ]
        if not old.is_whole or not fitting:
            return None
        block, part = BLOCK // width(old.dtype), self.choose(*fitting)
        row = self.draw(st.integers(0, old.shape[0] - part.shape[0]))
        column = block * self.draw(st.integers(0, (old.shape[1] - part.shape[1]) // block))
        new = replace(old, name=self.name())
        self.put(
            depth,
            f"{new.name} = tile.assemble {part.name}, {old.name}[{row}, {column}] : "
            f"{part.type}, {old.type}",
        )
        self.replaced(tiles, old)
        return new

    def _handed_on(self, tiles: list[Tile], old: Tile, depth: int) -> None:
        """Statements in a block, and the tile that it hands on in place of an old one."""
        inside = [*tiles, old]
        self.statements(inside, depth, 3)
        same = [tile for tile in inside if replace(tile, name="") == replace(old, name="")]
        ending = self.choose(*(same or [old]))
        self.put(depth, f"scf.yield {ending.name} : {old.type}")

    def _loop(self, tiles: list[Tile], depth: int) -> Tile:
        old, turn = self.choose(*tiles), self.name("i")
        carried, new = (replace(old, name=self.name()) for _ in range(2))
        self.put(
            depth,
            f"{new.name} = scf.for {turn} = %c0 to %c{self.choose(0, 1, 2)} step %c1 "
            f"iter_args({carried.name} = {old.name}) -> ({old.type}) {{",
        )
        self._handed_on(tiles, carried, depth + 1)
        self.put(depth, "}")
        return new

    def _branch(self, tiles: list[Tile], depth: int) -> Tile:
        old = self.choose(*tiles)
        new = replace(old, name=self.name())
        condition = self.parameter("in", "i1", self.choose(False, True))
        self.put(depth, f"{new.name} = scf.if {condition} -> ({old.type}) {{")
        self._handed_on(tiles, old, depth + 1)
        self.put(depth, "} else {")
        self._handed_on(tiles, old, depth + 1)
        self.put(depth, "}")
        return new

    @property
    def text(self) -> str:
        types = ", ".join(type for _, type in self.results)
        values = ", ".join(value for value, _ in self.results)
        body = "\n".join(self.lines)
        return on_910b(
            f"""
            orch.func incore @k({", ".join(self.parameters)}) -> ({types}) {{
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c2 = arith.constant 2 : index
            {body}
              orch.return {values} : {types}
            }}
            """
        )


@st.composite
def kernels(draw: st.DrawFn) -> Writer:
    """A kernel that stores some of the tiles that it makes."""
    writer = Writer(draw, np.random.default_rng(draw(st.integers(0, 1 << 32))))
    tiles = [writer.any_tile(1) for _ in range(2)]
    writer.statements(tiles, 1, 9)
    for _ in range(min(3, len(tiles))):
        tile = writer.choose(*tiles)
        tiles.remove(tile)
        writer.store(tile)
    return writer


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(kernels())
def test_the_same_at_every_level(kernel: Writer):
    assert_keeps_results(kernel.text, kernel.arguments)
