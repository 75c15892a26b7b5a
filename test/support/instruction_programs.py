"""
Programs of one instruction: its sources are loaded, it runs, and all of its destination is stored,
the valid region and what lies outside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from support.machine_programs import parsed, run_core

Array = np.ndarray[Any, Any]

DTYPES: Mapping[str, type[Any]] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "i64": np.int64,
    "ui32": np.uint32,
    "ui16": np.uint16,
    "ui8": np.uint8,
    "ui64": np.uint64,
}
"""How elements are held; bf16 as its bits."""

SENTINEL = 7
"""What a destination holds before."""

PASSES = "convert-pto-to-ascend910b,insert-sync"
SCHEDULES = (None, 1)


@dataclass(frozen=True)
class Buffer:
    """A tile: its shape, and how much of it is valid."""

    dtype: str
    shape: tuple[int, int] = (16, 64)
    valid: tuple[int, int] | None = None
    """None: all."""
    layout: str = ""
    """`blayout=col_major`"""
    space: str = "vec"
    pad: str = ""

    @property
    def extents(self) -> tuple[int, int]:
        return self.valid or self.shape

    @property
    def itemsize(self) -> int:
        return np.dtype(DTYPES[self.dtype]).itemsize

    @property
    def is_column(self) -> bool:
        return self.layout == "blayout=col_major"

    def type(self, *, whole: bool = False) -> str:
        rows, columns = self.shape if whole else self.extents
        shape = "x".join(map(str, self.shape))
        extra = "".join(f", {part}" for part in (self.layout, self.pad) if part)
        return f"!pto.tile_buf<{self.space}, {shape}x{self.dtype}, valid={rows}x{columns}{extra}>"

    def window(self, extents: tuple[int, int] | None = None) -> str:
        rows, columns = extents or self.extents
        return f"!pto.partition_tensor_view<{rows}x{columns}x{self.dtype}>"

    @property
    def view(self) -> str:
        return f"!pto.tensor_view<?x?x{self.dtype}>"


def window_text(name: str, buffer: Buffer, extents: tuple[int, int]) -> str:
    """`%name_p`: the first rows and columns of what a pointer points to."""
    rows, columns = buffer.shape
    strides = (1, rows) if buffer.is_column else (columns, 1)
    numbers = [
        f"  %{name}_n{place} = arith.constant {number} : index"
        for place, number in enumerate((rows, columns, *strides, *extents, 0))
    ]
    return "\n".join(
        [
            *numbers,
            f"  %{name}_v = pto.make_tensor_view %{name}_g, shape = [%{name}_n0, %{name}_n1], "
            f"strides = [%{name}_n2, %{name}_n3] : {buffer.view}",
            f"  %{name}_p = pto.partition_view %{name}_v, offsets = [%{name}_n6, %{name}_n6], "
            f"sizes = [%{name}_n4, %{name}_n5] : {buffer.view} -> {buffer.window(extents)}",
        ]
    )


def program(
    body: str,
    sources: Mapping[str, Buffer],
    destinations: Mapping[str, Buffer],
    scratch: Mapping[str, Buffer],
    pointers: Mapping[str, str] = {},
) -> str:
    """
    Loads `sources`, runs `body`, in which `{a}` is the type of `%a`, and stores `destinations`,
    which are loaded before. `pointers` are further arguments `%name_g` of a type.
    """
    tiles = {**sources, **destinations, **scratch}
    lines: list[str] = []
    address = 0
    for name, buffer in tiles.items():
        lines.append(f"  %{name}_at = arith.constant {address} : i64")
        for suffix, whole in (("", False), ("_all", True)):
            if suffix and name not in destinations:
                continue
            lines.append(
                f"  %{name}{suffix} = pto.alloc_tile addr = %{name}_at : {buffer.type(whole=whole)}"
            )
        rows, columns = buffer.shape
        address += -(-rows * columns * buffer.itemsize // 512) * 512
    for name, buffer in sources.items():
        lines.append(window_text(name, buffer, buffer.extents))
        lines.append(
            f"  pto.tload ins(%{name}_p : {buffer.window()}) outs(%{name} : {buffer.type()})"
        )
    for name, buffer in destinations.items():
        whole = buffer.type(whole=True)
        lines.append(window_text(name, buffer, buffer.shape))
        window = buffer.window(buffer.shape)
        lines.append(f"  pto.tload ins(%{name}_p : {window}) outs(%{name}_all : {whole})")
    types = {name: buffer.type() for name, buffer in tiles.items()}
    lines.append(body.format(**types))
    for name, buffer in destinations.items():
        whole = buffer.type(whole=True)
        lines.append(
            f"  pto.tstore ins(%{name}_all : {whole}) outs(%{name}_p : "
            f"{buffer.window(buffer.shape)})"
        )
    given = [f"%{n}_g: !pto.ptr<{b.dtype}>" for n, b in {**sources, **destinations}.items()]
    given += [f"%{name}_g: {type}" for name, type in pointers.items()]
    text = "\n".join(lines)
    return (
        'module attributes {pto.target_arch = "a2a3"} {\n'
        f"func.func @kernel({', '.join(given)}) {{\n{text}\n  return\n}}\n}}"
    )


def run_instruction(
    body: str,
    sources: Mapping[str, tuple[Buffer, Array]],
    destinations: Mapping[str, Buffer],
    scratch: Mapping[str, Buffer] = {},
    *,
    pointers: Mapping[str, tuple[str, Array]] = {},
    before: Mapping[str, Array] = {},
) -> dict[str, Array]:
    """
    What destinations and pointers hold afterwards, on the machine in program order and by chance,
    and without pipes; all three must agree. Arrays of sources have the shape of their tiles.
    """
    text = program(
        body,
        {name: buffer for name, (buffer, _) in sources.items()},
        destinations,
        scratch,
        {name: type for name, (type, _) in pointers.items()},
    )
    found: list[dict[str, Array]] = []
    plain, machine = parsed(text), parsed(text, PASSES)
    for module, seed in ((plain, None), *((machine, seed) for seed in SCHEDULES)):
        given: dict[str, Array] = {}
        for name, (buffer, array) in sources.items():
            given[f"{name}_g"] = in_memory(buffer, array)
        for name, buffer in destinations.items():
            held = before.get(name)
            if held is None:
                held = np.full(buffer.shape, SENTINEL, DTYPES[buffer.dtype])
            given[f"{name}_g"] = in_memory(buffer, held)
        for name, (_, array) in pointers.items():
            given[f"{name}_g"] = array
        after = run_core(module, given, seed=seed)
        result = {
            name: from_memory(buffer, after[f"{name}_g"]) for name, buffer in destinations.items()
        }
        result.update({name: after[f"{name}_g"] for name in pointers})
        found.append(result)
    for other in found[1:]:
        for name, array in other.items():
            np.testing.assert_array_equal(array.view(np.uint8), found[0][name].view(np.uint8))
    return found[0]


def in_memory(buffer: Buffer, array: Array) -> Array:
    """A matrix as global memory holds it for a tile."""
    array = np.asarray(array, DTYPES[buffer.dtype])
    return np.ascontiguousarray(array.T if buffer.is_column else array)


def from_memory(buffer: Buffer, array: Array) -> Array:
    """Likewise, back."""
    if buffer.is_column:
        return np.ascontiguousarray(array.reshape(buffer.shape[::-1]).T)
    return array.reshape(buffer.shape)


def expected(buffer: Buffer, valid: Array) -> Array:
    """All of a destination, given what its valid region is to hold."""
    whole = np.full(buffer.shape, SENTINEL, DTYPES[buffer.dtype])
    rows, columns = valid.shape
    whole[:rows, :columns] = valid
    return whole


def same(got: Array, wanted: Array, *, ulps: int = 0) -> None:
    """Equal, nan to nan, zeros with their signs; floats within some units in the last place."""
    assert got.dtype == wanted.dtype
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, wanted)
        return
    nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(got), nan)
    clean_got, clean_wanted = np.where(nan, 0, got), np.where(nan, 0, wanted)
    if ulps == 0:
        np.testing.assert_array_equal(clean_got, clean_wanted)
    else:
        infinite = np.isinf(clean_wanted)
        np.testing.assert_array_equal(
            np.where(infinite, clean_got, 0), np.where(infinite, clean_wanted, 0)
        )
        finite_got = np.where(infinite, 0, clean_got).astype(got.dtype)
        finite_wanted = np.where(infinite, 0, clean_wanted).astype(got.dtype)
        np.testing.assert_array_max_ulp(finite_got, finite_wanted, ulps)
    np.testing.assert_array_equal(np.signbit(clean_got), np.signbit(clean_wanted))


SPECIAL: Mapping[str, Sequence[float]] = {
    "f32": (
        np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, -1e-45, 1.2e-38, 3.4028235e38, -3.4028235e38,
        1.0, -1.0, 0.5, -2.5, 16777217.0,
    ),
    "f16": (
        np.inf, -np.inf, np.nan, 0.0, -0.0, 6e-8, -6e-8, 6.1e-5, 65504.0, -65504.0, 1.0, -1.0,
        0.5, -2.5, 2049.0,
    ),
}  # fmt: skip


def numbers(dtype: str, shape: tuple[int, int] = (16, 64), seed: int = 0) -> Array:
    """Elements of all sizes; integers over their whole range."""
    rng = np.random.default_rng(seed + 11)
    if dtype == "bf16":
        wide = (rng.standard_normal(shape) * 3).astype(np.float32)
        return (wide.view(np.uint32) >> 16).astype(np.uint16)
    if dtype.startswith("f"):
        return (rng.standard_normal(shape) * 3).astype(DTYPES[dtype])
    info = np.iinfo(DTYPES[dtype])
    return rng.integers(info.min, info.max, shape, DTYPES[dtype], endpoint=True)


def specials(dtype: str, shape: tuple[int, int] = (16, 64), shift: int = 0) -> Array:
    """Infinities, nan, both zeros, denormals, the extremes; of integers the extremes."""
    if dtype in SPECIAL:
        values = np.array(SPECIAL[dtype], DTYPES[dtype])
    else:
        info = np.iinfo(DTYPES[dtype])
        few = {info.min, info.min + 1, 0, 1, 2, info.max - 1, info.max, max(info.min, -1)}
        values = np.array(sorted(few), DTYPES[dtype])
    count = shape[0] * shape[1]
    # Each value meets each other.
    places = np.arange(count)
    return values[(places + shift * (places // len(values))) % len(values)].reshape(shape)
