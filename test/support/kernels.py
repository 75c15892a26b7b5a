"""Kernels around one op, run on numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.interpreters.arguments import Argument
from pypto_xdsl.interpreters.run import RunResult, run
from support.programs import program

DTYPES: Mapping[str, str] = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "uint16",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "i1": "bool",
    "index": "int64",
}
"""MLIR element type -> numpy dtype of its bits."""


def shaped(shape: Sequence[int], dtype: str) -> str:
    """`16x32xf32`."""
    return "x".join((*map(str, shape), dtype))


def run_tile_op(
    text: str,
    inputs: Mapping[str, tuple[str, Any]],
    results: Sequence[tuple[str, tuple[int, ...], str]],
    *,
    scalars: Mapping[str, tuple[str, Argument]] | None = None,
    valid: Mapping[str, tuple[int, ...]] | None = None,
    strict: bool = True,
) -> RunResult:
    """
    Run tile ops between loads and stores.

    `inputs` maps a tile's name to its MLIR element type and its array (loaded whole, or its
    `valid` leading part into a tile of the whole shape); `results` lists the names of the tiles
    to store, with the shapes of their valid regions and their types. `scalars` are parameters
    passed by value.
    """
    parameters: list[str] = []
    loads: list[str] = []
    arguments: list[Argument] = []
    for name, (dtype, array) in inputs.items():
        whole = shaped(array.shape, dtype)
        extents: tuple[int, ...] = array.shape if valid is None else valid.get(name, array.shape)
        part = "" if extents == array.shape else f", valid = {list(extents)}"
        parameters.append(f"in %{name}_in : tensor<{whole}>")
        zeros = ", ".join("0" for _ in array.shape)
        loads.append(
            f"%{name} = tile.load %{name}_in[{zeros}] : tensor<{whole}>"
            f" -> !tile.tile<{whole}{part}>"
        )
        arguments.append(array)
    for name, (dtype, value) in (scalars or {}).items():
        parameters.append(f"in %{name} : {dtype}")
        arguments.append(value)
    stores: list[str] = []
    for place, (name, shape, tile_type) in enumerate(results):
        dtype = tile_type.partition("<")[2].partition(",")[0].rpartition("x")[2].rstrip(">")
        parameters.append(f"out %out{place} : tensor<{shaped(shape, dtype)}>")
        zeros = ", ".join("0" for _ in shape)
        stores.append(
            f"%stored{place} = tile.store %{name}, %out{place}[{zeros}]"
            f" : {tile_type}, tensor<{shaped(shape, dtype)}>"
        )
    body = "\n".join((*loads, text, *stores, "orch.return"))
    module = _kernel(f"orch.func incore @kernel({', '.join(parameters)}) {{\n{body}\n}}")
    return run(module, "kernel", arguments, strict=strict)


@lru_cache(maxsize=256)
def _kernel(text: str) -> ModuleOp:
    """A kernel, parsed once for all the arrays that it runs on."""
    return program(text)
