"""
Tensors of torch as far as a text tells: their shapes and dtypes.

Only what certainly keeps or makes a shape is known here: the makers (`torch.zeros(2, 3)`), methods
that keep the shape, arithmetic, reshapes to given extents. Of everything else nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import TensorType

from pypto_xdsl.frontend.pl.vocabulary import DTYPES

_DTYPES = {
    "float32": "FP32",
    "float": "FP32",
    "float16": "FP16",
    "half": "FP16",
    "bfloat16": "BF16",
    "int8": "INT8",
    "uint8": "UINT8",
    "int16": "INT16",
    "short": "INT16",
    "int32": "INT32",
    "int": "INT32",
    "int64": "INT64",
    "long": "INT64",
    "bool": "BOOL",
}
_MAKERS = ("full", "zeros", "ones", "rand", "randn", "empty")
_KEEPING = frozenset(
    (
        *("to", "type", "cpu", "cuda", "npu", "pin_memory", "share_memory_", "requires_grad_"),
        *("clone", "contiguous", "detach", "abs", "neg", "clamp", "round", "floor", "ceil"),
        *("normal_", "uniform_", "random_", "zero_", "fill_", "clamp_"),
        *("add_", "sub_", "mul_", "div_"),
    )
)
"""Methods whose result has the shape of the tensor."""


@dataclass(frozen=True)
class TorchDType:
    """`torch.float32`, by the name of the DSL."""

    word: str


@dataclass(frozen=True)
class TorchTensor:
    """A tensor of torch: its shape, and its dtype by the name of the DSL."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def type(self) -> TensorType[Any]:
        """The type of such an argument of a function of the DSL."""
        return TensorType(DTYPES[self.dtype], self.shape)


@dataclass(frozen=True)
class ArgumentSpec:
    """An argument that a test harness makes: `TensorSpec("x", [2, 3], torch.float32)`."""

    name: str
    value: Any
    """A tensor, or the value of a scalar."""


def torch_name(name: str) -> TorchDType | None:
    """What `torch.<name>` is, if it is a dtype."""
    return TorchDType(_DTYPES[name]) if name in _DTYPES else None


def made(maker: str, given: Sequence[Any], named: Mapping[str, Any]) -> TorchTensor | None:
    """The tensor that `torch.<maker>(...)` gives, of evaluated arguments."""
    default = "INT64" if maker in ("randint", "arange", "randperm") else "FP32"
    dtype = named.get("dtype")
    word = dtype.word if isinstance(dtype, TorchDType) else default
    if "dtype" in named and not isinstance(dtype, TorchDType):
        return None
    if maker.endswith("_like") and given:
        base = given[0]
        if not isinstance(base, TorchTensor):
            return None
        return TorchTensor(base.shape, word if "dtype" in named else base.dtype)
    if maker == "tensor" and given:
        shape = _shape_of_data(given[0])
        return None if shape is None else TorchTensor(shape, word)
    if maker == "arange":
        return _arange(given, word)
    sizes: Sequence[Any] = ()
    if maker in _MAKERS:
        sizes = given[:1] if maker == "full" else given
    elif maker == "randint":
        sizes = given[-1:]
    sizes = [named["size"]] if "size" in named else sizes
    shape = _extents(sizes)
    return None if shape is None else TorchTensor(shape, word)


def _extents(sizes: Sequence[Any]) -> tuple[int, ...] | None:
    """Extents given one by one or as one list."""
    if len(sizes) == 1 and isinstance(sizes[0], tuple):
        sizes = cast(Sequence[Any], sizes[0])
    if not sizes or not all(type(size) is int and size >= 0 for size in sizes):
        return None
    return tuple(sizes)


def _shape_of_data(data: Any) -> tuple[int, ...] | None:
    shape: list[int] = []
    while isinstance(data, tuple):
        parts = cast(Sequence[Any], data)
        shape.append(len(parts))
        if not parts:
            break
        data = parts[0]
    return tuple(shape) or None


def _arange(given: Sequence[Any], word: str) -> TorchTensor | None:
    if not 1 <= len(given) <= 3 or not all(type(bound) is int for bound in given):
        return None
    bounds = cast("Sequence[int]", given)
    if len(bounds) == 3 and bounds[2] == 0:
        return None
    return TorchTensor((len(range(*bounds)),), word)


def method(base: TorchTensor, name: str, given: Sequence[Any]) -> TorchTensor | None:
    """What a method of a tensor gives, of evaluated arguments."""
    if name in _DTYPES and not given:
        return TorchTensor(base.shape, _DTYPES[name])
    if name in _KEEPING:
        dtypes = [value.word for value in given if isinstance(value, TorchDType)]
        return TorchTensor(base.shape, dtypes[0] if dtypes else base.dtype)
    if name in ("add", "sub", "mul") and len(given) == 1:
        return combined(base, given[0])
    if name == "t" and len(base.shape) == 2:
        return transposed(base)
    if name in ("reshape", "view"):
        return _reshaped(base, _reshape_extents(given))
    if name == "unsqueeze" and len(given) == 1 and type(given[0]) is int:
        axis = given[0] % (len(base.shape) + 1)
        return TorchTensor((*base.shape[:axis], 1, *base.shape[axis:]), base.dtype)
    return None


def transposed(base: TorchTensor) -> TorchTensor:
    """`x.T`."""
    return TorchTensor(base.shape[::-1], base.dtype)


def _reshape_extents(given: Sequence[Any]) -> list[int] | None:
    if len(given) == 1 and isinstance(given[0], tuple):
        given = cast(Sequence[Any], given[0])
    return list(given) if given and all(type(extent) is int for extent in given) else None


def _reshaped(base: TorchTensor, extents: list[int] | None) -> TorchTensor | None:
    if extents is None:
        return None
    if extents.count(-1) == 1:
        others = prod(extent for extent in extents if extent != -1)
        if others <= 0 or prod(base.shape) % others:
            return None
        extents[extents.index(-1)] = prod(base.shape) // others
    if min(extents) < 0 or prod(extents) != prod(base.shape):
        return None
    return TorchTensor(tuple(extents), base.dtype)


def combined(left: Any, right: Any) -> TorchTensor | None:
    """
    The tensor that arithmetic of two values gives that stays among integers or floats, at least
    one of them a tensor.
    """
    if isinstance(left, TorchTensor) and isinstance(right, TorchTensor):
        shape: list[int] = []
        for a, b in zip_longest(reversed(left.shape), reversed(right.shape), fillvalue=1):
            if a != b and 1 not in (a, b):
                return None
            shape.append(b if a == 1 else a)
        agree = left.dtype == right.dtype
        return TorchTensor(tuple(reversed(shape)), left.dtype) if agree else None
    tensor, number = (left, right) if isinstance(left, TorchTensor) else (right, left)
    if not isinstance(tensor, TorchTensor):
        return None
    keeps = isinstance(number, int) or (isinstance(number, float) and is_float(tensor))
    return tensor if keeps else None


def is_float(tensor: TorchTensor) -> bool:
    """Whether a tensor holds floats."""
    return tensor.dtype in ("FP32", "FP16", "BF16")


def spec(kind: str, given: Sequence[Any], named: Mapping[str, Any]) -> ArgumentSpec | None:
    """`TensorSpec(name, shape, dtype, ...)` and `ScalarSpec(name, dtype, value)`."""
    fields = ("name", "shape", "dtype") if kind == "TensorSpec" else ("name", "dtype", "value")
    found = dict(zip(fields, given, strict=False)) | dict(named)
    name, dtype = found.get("name"), found.get("dtype")
    if not isinstance(name, str):
        return None
    if kind == "ScalarSpec":
        value = found.get("value")
        return ArgumentSpec(name, value if isinstance(value, bool | int | float) else None)
    shape = found.get("shape")
    extents = _extents([shape]) if isinstance(shape, tuple) else None
    if extents is None or not isinstance(dtype, TorchDType):
        return ArgumentSpec(name, None)
    return ArgumentSpec(name, TorchTensor(extents, dtype.word))
