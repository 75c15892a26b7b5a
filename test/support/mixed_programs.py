"""
Kernels of cube and vector work in the DSL, each with what it computes, in numpy.

`{split}` in a source is where it says how the two vector cores share the work; other words in
braces are what varies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

SPLITS: Mapping[str, str] = {
    "none": "",
    "up_down": ", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]",
    "left_right": ", optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]",
}

REDUCES = "reduces over the columns of a tile whose columns the two vector cores share out"


@dataclass(frozen=True)
class Mixed:
    """A program, what it takes, and what it makes of that."""

    source: str
    compute: Callable[..., Any]
    """The outputs, of the inputs as f32 and the numbers, in the order of the parameters."""
    inputs: tuple[tuple[int, ...], ...] = ()
    """The shapes of the tensors that are read; f16 where `halves` says so, else f32."""
    halves: int = 0
    """How many of them, from the first, are f16."""
    outputs: tuple[tuple[int, ...], ...] = ((64, 64),)
    numbers: tuple[int, ...] = ()
    """The scalars, between the inputs and the outputs."""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why a split is an error."""
    tolerance: float = 1e-5

    def text(self, split: str) -> str:
        found = self.source.replace("{split}", SPLITS[split])
        for word, value in self.words.items():
            found = found.replace(f"{{{word}}}", value)
        return f"import pypto.language as pl\n\n{found}"

    def arguments(self) -> list[Any]:
        """Small integers, whose sums and products are exact; the outputs are zero."""
        rng = np.random.default_rng(0)
        found: list[Any] = []
        for place, shape in enumerate(self.inputs):
            dtype = np.float16 if place < self.halves else np.float32
            found.append(rng.integers(-2, 3, shape).astype(dtype))
        return [*found, *self.numbers, *(np.zeros(shape, np.float32) for shape in self.outputs)]

    def wanted(self, arguments: list[Any]) -> tuple[Any, ...]:
        """What the outputs hold afterwards."""
        given = [
            np.asarray(a, np.float32) if np.ndim(a) else a
            for a in arguments[: len(self.inputs) + len(self.numbers)]
        ]
        made: Any = self.compute(*given)
        return cast(tuple[Any, ...], made) if isinstance(made, tuple) else (made,)


def _bias_relu(a: Any, b: Any, bias: Any) -> Any:
    return np.maximum(a @ b + bias, 0)


def _softmax(scores: Any) -> Any:
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _scores(q: Any, k: Any) -> Any:
    return _softmax(q @ k.T / 8)


def _some_scores(q: Any, k: Any) -> Any:
    return np.pad(_softmax(q @ k[:23].T), ((0, 0), (0, 41)))


def _attention(q: Any, k: Any, v: Any) -> Any:
    return _softmax(q @ k.T / 8) @ v


def _up_and_down(x: Any, up: Any, bias: Any) -> Any:
    return np.maximum(x @ up + bias, 0) @ up - bias


def _one_after_the_other(a: Any, b: Any) -> Any:
    return np.abs(a @ b), np.maximum(np.abs(a @ b) @ b, 0)


def _below_the_top(a: Any, b: Any) -> Any:
    top = (a @ b).max(axis=1, keepdims=True)
    return a @ b - top, top


def _scaled(a: Any, b: Any, scale: Any) -> Any:
    return a @ b * (2 * scale), 2 * scale, scale[0, :4] + 1


def _two_at_once(a: Any, b: Any, c: Any) -> Any:
    return np.maximum(a @ b, 0), 2 * c


def _biased(a: Any, b: Any, bias: Any) -> Any:
    return a @ b + bias


def _through_memory(a: Any, b: Any) -> Any:
    kept = a @ b
    for _ in range(2):
        kept = np.maximum(kept, -kept) @ b
    return np.maximum(kept, 0), kept


def _relu_back(a: Any, b: Any) -> Any:
    return np.maximum(a @ b, 0) @ b


def _relu(a: Any, b: Any) -> Any:
    return np.maximum(a @ b, 0)


def _first_rows(rows: int) -> Callable[..., Any]:
    def compute(a: Any, b: Any, c: Any, *_: Any) -> Any:
        made = np.zeros((32, 64), np.float32)
        made[:rows] = a[:rows] @ b + c[:rows]
        return made

    return compute


def _first_columns(columns: int) -> Callable[..., Any]:
    def compute(a: Any, b: Any, c: Any) -> Any:
        made = np.zeros((32, 64), np.float32)
        made[:, :columns] = (a @ b + c)[:, :columns]
        return made

    return compute


def _rows_back(rows: int) -> Callable[..., Any]:
    def compute(a: Any, b: Any) -> Any:
        made = np.zeros((32, 64), np.float32)
        made[:rows] = np.abs(a[:rows] @ b) @ b
        return made

    return compute


def _filled_rows(rows: int) -> Callable[..., Any]:
    def compute(a: Any, b: Any) -> Any:
        made = np.ones((32, 64), np.float32)
        made[:rows] += a[:rows] @ b
        return made

    return compute


def _decaying_sum(a: Any, b: Any, c: Any) -> Any:
    total = np.zeros((64, 64), np.float32)
    for i in range(4):
        total = total * 0.5 + a[:, i * 64 : i * 64 + 64] @ b[i * 64 : i * 64 + 64]
    return total + c


def _branches(a: Any, b: Any, flags: Any) -> Any:
    total = np.ones((64, 64), np.float32)
    for flag in flags:
        total = total + a @ b if flag > 0 else total * 2
    return total


_ROWS = """
@pl.jit
def program(
    a: pl.Tensor[[32, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    c: pl.Tensor[[32, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        some = pl.slice(a, [32, 64], [0, 0], valid_shape=[{rows}, 64])
        more = pl.slice(c, [32, 64], [0, 0], valid_shape=[{rows}, 64])
        out = pl.assemble(out, pl.add(pl.matmul(some, b, out_dtype=pl.FP32), more), [0, 0])
    return out
"""

_RUN_TIME_ROWS = """
@pl.jit
def program(
    a: pl.Tensor[[32, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    c: pl.Tensor[[32, 64], pl.FP32],
    rows: pl.Scalar[pl.INDEX],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        some = pl.slice(a, [32, 64], [0, 0], valid_shape=[rows, 64])
        more = pl.slice(c, [32, 64], [0, 0], valid_shape=[rows, 64])
        out = pl.assemble(out, pl.add(pl.matmul(some, b, out_dtype=pl.FP32), more), [0, 0])
    return out
"""

_COLUMNS = """
@pl.jit
def program(
    a: pl.Tensor[[32, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    c: pl.Tensor[[32, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        some = pl.slice(b, [64, 64], [0, 0], valid_shape=[64, {columns}])
        more = pl.slice(c, [32, 64], [0, 0], valid_shape=[32, {columns}])
        out = pl.assemble(out, pl.add(pl.matmul(a, some, out_dtype=pl.FP32), more), [0, 0])
    return out
"""

_ROWS_BACK = """
@pl.jit
def program(
    a: pl.Tensor[[32, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        some = pl.slice(a, [32, 64], [0, 0], valid_shape=[{rows}, 64])
        there = pl.cast(pl.abs(pl.matmul(some, b, out_dtype=pl.FP32)), pl.FP16)
        out = pl.assemble(out, pl.matmul(there, b, out_dtype=pl.FP32), [0, 0])
    return out
"""

_FILLED_ROWS = """
@pl.jit
def program(
    a: pl.Tensor[[32, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        some = pl.slice(a, [32, 64], [0, 0], valid_shape=[{rows}, 64])
        product = pl.matmul(some, b, out_dtype=pl.FP32)
        out[:] = pl.add(pl.fillpad(product, pad_value=pl.PadValue.zero), 1.0)
    return out
"""

_REGION_BACK = """
@pl.program
class Program:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        a: pl.Tensor[[64, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        product = pl.matmul(a, b, out_dtype=pl.FP32)
        for core in pl.split_aiv(2, mode=pl.SplitMode.{mode}):
            half = pl.cast(pl.maximum(pl.aiv_shard(product), 0.0), pl.FP16)
            whole = pl.aic_gather(half)
        return pl.assemble(out, pl.matmul(whole, b, out_dtype=pl.FP32), [0, 0])

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[64, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        out = self.kernel(a, b, out)
        return out
"""

_SQUARES: dict[str, Any] = {"inputs": ((64, 64), (64, 64)), "halves": 2}
_PARTS: dict[str, Any] = {
    "inputs": ((32, 64), (64, 64), (32, 64)),
    "halves": 2,
    "outputs": ((32, 64),),
}
_BACK: dict[str, Any] = {"inputs": ((32, 64), (64, 64)), "halves": 2, "outputs": ((32, 64),)}
_EVEN = "the two vector cores cannot pass parts of it; make an even number of them valid"

MIXED: Mapping[str, Mixed] = {
    "matmul_bias_relu": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[64, 128], pl.FP16],
    b: pl.Tensor[[128, 64], pl.FP16],
    bias: pl.Tensor[[1, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        product = pl.matmul(a, b, out_dtype=pl.FP32)
        out[:] = pl.maximum(pl.col_expand_add(product, bias), 0.0)
    return out
""",
        _bias_relu,
        ((64, 128), (128, 64), (1, 64)),
        2,
    ),
    "through_memory": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[64, 64], pl.FP32],
    b: pl.Tensor[[64, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    kept: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        kept = pl.assemble(kept, pl.matmul(a, b, out_dtype=pl.FP32), [0, 0])
        for i in pl.range(2):
            back = pl.slice(kept, [64, 64], [0, 0])
            kept = pl.assemble(kept, pl.maximum(back, pl.neg(back)), [0, 0])
            left = pl.slice(kept, [64, 64], [0, 0])
            kept = pl.assemble(kept, pl.matmul(left, b, out_dtype=pl.FP32), [0, 0])
        out[:] = pl.maximum(pl.slice(kept, [64, 64], [0, 0]), 0.0)
    return out, kept
""",
        _through_memory,
        ((64, 64), (64, 64)),
        outputs=((64, 64), (64, 64)),
    ),
    "softmax_of_scores": Mixed(
        """
@pl.jit
def program(
    q: pl.Tensor[[64, 64], pl.FP16],
    k: pl.Tensor[[64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        scores = pl.mul(pl.matmul(q, k, out_dtype=pl.FP32, b_trans=True), 0.125)
        powers = pl.exp(pl.row_expand_sub(scores, pl.row_max(scores)))
        out[:] = pl.row_expand_div(powers, pl.row_sum(powers))
    return out
""",
        _scores,
        **_SQUARES,
        refused={"left_right": REDUCES},
    ),
    "softmax_of_some_keys": Mixed(
        """
@pl.jit
def program(
    q: pl.Tensor[[64, 64], pl.FP16],
    k: pl.Tensor[[64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        keys = pl.slice(k, [64, 64], [0, 0], valid_shape=[23, 64])
        product = pl.matmul(q, keys, out_dtype=pl.FP32, b_trans=True)
        scores = pl.fillpad(product, pad_value=pl.PadValue.min)
        powers = pl.exp(pl.row_expand_sub(scores, pl.row_max(scores)))
        out[:] = pl.row_expand_div(powers, pl.row_sum(powers))
    return out
""",
        _some_scores,
        **_SQUARES,
        refused={"left_right": REDUCES},
    ),
    "flash_attention": Mixed(
        """
@pl.jit
def program(
    q: pl.Tensor[[64, 64], pl.FP16],
    k: pl.Tensor[[256, 64], pl.FP16],
    v: pl.Tensor[[256, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        total = pl.full([64, 64], dtype=pl.FP32, value=0.0)
        weight = pl.full([64, 1], dtype=pl.FP32, value=0.0)
        peak = pl.full([64, 1], dtype=pl.FP32, value=-1000.0)
        for i in pl.range(4):
            keys = pl.slice(k, [64, 64], [i * 64, 0])
            values = pl.slice(v, [64, 64], [i * 64, 0])
            scores = pl.mul(pl.matmul(q, keys, out_dtype=pl.FP32, b_trans=True), 0.125)
            higher = pl.maximum(peak, pl.row_max(scores))
            powers = pl.exp(pl.row_expand_sub(scores, higher))
            shrink = pl.exp(pl.sub(peak, higher))
            weight = pl.add(pl.mul(weight, shrink), pl.row_sum(powers))
            part = pl.matmul(pl.cast(powers, pl.FP16), values, out_dtype=pl.FP32)
            total = pl.add(pl.row_expand_mul(total, shrink), part)
            peak = higher
        out[:] = pl.row_expand_div(total, weight)
    return out
""",
        _attention,
        ((64, 64), (256, 64), (256, 64)),
        3,
        refused={"left_right": REDUCES},
        # The weights are rounded to f16.
        tolerance=2.0**-9,
    ),
    "there_and_back": Mixed(
        """
@pl.jit
def program(
    x: pl.Tensor[[64, 64], pl.FP16],
    up: pl.Tensor[[64, 64], pl.FP16],
    bias: pl.Tensor[[64, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        hidden = pl.maximum(pl.add(pl.matmul(x, up, out_dtype=pl.FP32), bias), 0.0)
        down = pl.matmul(pl.cast(hidden, pl.FP16), up, out_dtype=pl.FP32)
        out[:] = pl.sub(down, bias)
    return out
""",
        _up_and_down,
        ((64, 64), (64, 64), (64, 64)),
        2,
    ),
    "loop": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[64, 256], pl.FP16],
    b: pl.Tensor[[256, 64], pl.FP16],
    c: pl.Tensor[[64, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        total = pl.full([64, 64], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
            left = pl.slice(a, [64, 64], [0, i * 64])
            right = pl.slice(b, [64, 64], [i * 64, 0])
            total = pl.add(pl.mul(total, 0.5), pl.matmul(left, right, out_dtype=pl.FP32))
        out[:] = pl.add(total, c)
    return out
""",
        _decaying_sum,
        ((64, 256), (256, 64), (64, 64)),
        2,
    ),
    "branches": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[64, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    flags: pl.Tensor[[4], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        total = pl.full([64, 64], dtype=pl.FP32, value=1.0)
        for i in pl.range(4):
            flag = pl.read(flags, [i])
            if flag > 0.0:
                total = pl.add(total, pl.matmul(a, b, out_dtype=pl.FP32))
            else:
                total = pl.mul(total, 2.0)
        out[:] = total
    return out
""",
        _branches,
        ((64, 64), (64, 64), (4,)),
        2,
    ),
    "blocks": Mixed(
        """
@pl.program
class Program:
    @pl.function
    def main(
        self,
        a: pl.Tensor[[256, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        out: pl.Out[pl.Tensor[[256, 64], pl.FP32]],
    ) -> pl.Tensor[[256, 64], pl.FP32]:
        for i in pl.spmd(4{split}, name_hint="wide"):
            product = pl.matmul(pl.slice(a, [64, 64], [i * 64, 0]), b, out_dtype=pl.FP32)
            out = pl.assemble(out, pl.maximum(product, 0.0), [i * 64, 0])
        return out
""",
        _relu,
        ((256, 64), (64, 64)),
        2,
        ((256, 64),),
    ),
    "tasks": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[128, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[128, 64], pl.FP32]],
    peak: pl.Out[pl.Tensor[[128, 64], pl.FP32]],
):
    for i in pl.range(2):
        with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="first"):
            product = pl.matmul(pl.slice(a, [64, 64], [i * 64, 0]), b, out_dtype=pl.FP32)
            out = pl.assemble(out, pl.abs(product), [i * 64, 0])
    for i in pl.range(2):
        with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="second"):
            half = pl.cast(pl.slice(out, [64, 64], [i * 64, 0]), pl.FP16)
            again = pl.matmul(half, b, out_dtype=pl.FP32)
            peak = pl.assemble(peak, pl.maximum(again, 0.0), [i * 64, 0])
    return out, peak
""",
        _one_after_the_other,
        ((128, 64), (64, 64)),
        2,
        ((128, 64), (128, 64)),
    ),
    "two_outputs": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[64, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    peak: pl.Out[pl.Tensor[[64, 1], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        product = pl.matmul(a, b, out_dtype=pl.FP32)
        top = pl.row_max(product)
        out[:] = pl.row_expand_sub(product, top)
        peak[:] = top
    return out, peak
""",
        _below_the_top,
        **_SQUARES,
        outputs=((64, 64), (64, 1)),
        refused={"left_right": REDUCES},
    ),
    "whole_on_both": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[64, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    scale: pl.Tensor[[1, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    used: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    counts: pl.Out[pl.Tensor[[4], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        twice = pl.add(scale, scale)
        used[:] = twice
        out[:] = pl.col_expand_mul(pl.matmul(a, b, out_dtype=pl.FP32), twice)
        for i in pl.range(4):
            pl.write(counts, [i], pl.read(scale, [0, i]) + 1.0)
    return out, used, counts
""",
        _scaled,
        ((64, 64), (64, 64), (1, 64)),
        2,
        ((64, 64), (1, 64), (4,)),
    ),
    "odd_beside": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[64, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    c: pl.Tensor[[15, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    twice: pl.Out[pl.Tensor[[15, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
        out[:] = pl.maximum(pl.matmul(a, b, out_dtype=pl.FP32), 0.0)
        twice[:] = pl.mul(c, 2.0)
    return out, twice
""",
        _two_at_once,
        ((64, 64), (64, 64), (15, 64)),
        2,
        ((64, 64), (15, 64)),
    ),
    "batch": Mixed(
        """
@pl.jit
def program(
    a: pl.Tensor[[2, 32, 64], pl.FP16],
    b: pl.Tensor[[2, 64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[2, 32, 64], pl.FP32]],
):
    for i in pl.range(2):
        with pl.at(level=pl.Level.CORE_GROUP{split}, name_hint="kernel"):
            left = pl.reshape(pl.slice(a, [1, 32, 64], [i, 0, 0]), [32, 64])
            right = pl.reshape(pl.slice(b, [1, 64, 64], [i, 0, 0]), [64, 64])
            some = pl.maximum(pl.matmul(left, right, out_dtype=pl.FP32), 0.0)
            out = pl.assemble(out, pl.reshape(some, [1, 32, 64]), [i, 0, 0])
    return out
""",
        _relu,
        ((2, 32, 64), (2, 64, 64)),
        2,
        ((2, 32, 64),),
    ),
    "region": Mixed(
        """
@pl.program
class Program:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        a: pl.Tensor[[64, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        bias: pl.Tensor[[64, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        product = pl.matmul(a, b, out_dtype=pl.FP32)
        for core in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            half = pl.add(pl.aiv_shard(product), pl.slice(bias, [32, 64], [core * 32, 0]))
            out = pl.assemble(out, half, [core * 32, 0])
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[64, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        bias: pl.Tensor[[64, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        out = self.kernel(a, b, bias, out)
        return out
""",
        _biased,
        ((64, 64), (64, 64), (64, 64)),
        2,
    ),
    "region_without_products": Mixed(
        """
@pl.program
class Program:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for core in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            part = pl.slice(a, [32, 64], [core * 32, 0])
            out = pl.assemble(out, pl.abs(part), [core * 32, 0])
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        out = self.kernel(a, out)
        return out
""",
        np.abs,
        ((64, 64),),
    ),
    **{
        f"region_of_the_whole_{mode.lower()}": Mixed(
            """
@pl.program
class Program:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        a: pl.Tensor[[64, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        c: pl.Tensor[[64, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
        twice: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> tuple[pl.Tensor[[64, 64], pl.FP32], pl.Tensor[[64, 64], pl.FP32]]:
        product = pl.matmul(a, b, out_dtype=pl.FP32)
        for whole in pl.split_aiv(2, mode=pl.SplitMode.{mode}):
            twice = pl.assemble(twice, pl.mul(c, 2.0), [0, 0])
        for core in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
            half = pl.maximum(pl.aiv_shard(product), 0.0)
            out = pl.assemble(out, half, [0, core * 32])
        return out, twice

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[64, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        c: pl.Tensor[[64, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
        twice: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> tuple[pl.Tensor[[64, 64], pl.FP32], pl.Tensor[[64, 64], pl.FP32]]:
        out, twice = self.kernel(a, b, c, out, twice)
        return out, twice
""",
            _two_at_once,
            ((64, 64), (64, 64), (64, 64)),
            2,
            ((64, 64), (64, 64)),
            words={"mode": mode},
        )
        for mode in ("UP_DOWN", "LEFT_RIGHT")
    },
    **{
        f"region_back_{mode.lower()}": Mixed(
            _REGION_BACK,
            _relu_back,
            **_SQUARES,
            words={"mode": mode},
        )
        for mode in ("NONE", "UP_DOWN", "LEFT_RIGHT")
    },
    **{
        f"rows_{rows}": Mixed(_ROWS, _first_rows(rows), **_PARTS, words={"rows": str(rows)})
        for rows in (1, 17, 20)
    },
    **{
        f"run_time_rows_{rows}": Mixed(_RUN_TIME_ROWS, _first_rows(rows), **_PARTS, numbers=(rows,))
        for rows in (0, 5, 21, 32)
    },
    **{
        f"columns_{columns}": Mixed(
            _COLUMNS, _first_columns(columns), **_PARTS, words={"columns": str(columns)}
        )
        for columns in (1, 17, 20)
    },
    **{
        f"rows_{rows}_back": Mixed(_ROWS_BACK, _rows_back(rows), **_BACK, words={"rows": str(rows)})
        for rows in (1, 17, 20)
    },
    **{
        f"filled_rows_{rows}": Mixed(
            _FILLED_ROWS,
            _filled_rows(rows),
            **_BACK,
            words={"rows": str(rows)},
            refused={"up_down": _EVEN} if rows % 2 else {},
        )
        for rows in (17, 20)
    },
}
