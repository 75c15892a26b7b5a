"""
How the elements of tensors and tiles are held in numpy arrays, and what they are computed in.

Arrays hold exactly the bits of memory: `f32` as float32, `i16` as int16, `i1` as bool, and `bf16`,
which numpy lacks, as the uint16 of its bits. Operations compute in a type that numpy has: bf16 in
float32, everything else in itself; `Element.narrow` then rounds to nearest even, or wraps. One f32
operation rounded to bf16 gives the correctly rounded bf16 (24 >= 2 * 8 + 2 bits), and so does
numpy's float16.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    i64,
)
from xdsl.ir import Attribute

from pypto_xdsl.dialects.element_types import is_integer
from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.interpreters.errors import ProgramError

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]
Scalar: TypeAlias = IntegerAttr[Any] | FloatAttr[Any]
"""A run-time scalar, as xDSL's interpreter of the standard dialects represents it."""

_POISON_BYTE = 0xA5
"""What integers hold that nobody wrote: a pattern that is seen in results."""


@dataclass(frozen=True)
class Element:
    """One element type: how it is stored, and what it is computed in."""

    type: Attribute
    name: str
    storage: np.dtype[Any]
    """Of the arrays that tensors and tiles hold: the bits of memory."""
    compute: np.dtype[Any]
    """Of the arrays that operations work on."""
    bits: int
    is_float: bool
    is_signed: bool
    """Of integers. An `i1` counts as unsigned: it is a truth value."""

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def is_bfloat16(self) -> bool:
        return self.is_float and self.storage.kind != "f"

    @property
    def mantissa(self) -> int:
        """The bits of a float's significand, the implicit one included."""
        return 8 if self.is_bfloat16 else int(np.finfo(self.compute).nmant) + 1

    @property
    def minimum(self) -> int:
        """The least integer."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def maximum(self) -> int:
        """The largest integer."""
        return (1 << (self.bits - self.is_signed)) - 1

    def widen(self, array: Array) -> Array:
        """Stored elements as what operations work on; often the same array."""
        if self.storage is self.compute:
            return array
        if self.is_bfloat16:
            return bfloat16_values(array)
        return array.astype(self.compute)

    def narrow(self, array: Array) -> Array:
        """Computed elements as they are stored: floats round to nearest even, integers wrap."""
        dtype = array.dtype
        if dtype is self.storage or dtype == self.storage:
            # A bf16 is never computed in the type that stores it.
            return self._wrap_nibble(array) if self._is_nibble else array
        if self.is_bfloat16:
            return bfloat16_bits(array.astype(np.float32, copy=False))
        if self.storage.kind == "b":
            return (array & 1).astype(np.bool_)
        return array.astype(self.storage)

    def round(self, array: Array) -> Array:
        """An intermediate result as the element type holds it, still to compute with."""
        return bfloat16_values(bfloat16_bits(array)) if self.is_bfloat16 else array

    def compute_from(self, array: Array, source: Element) -> Array:
        """
        Stored elements of type `source` as what operations on this type work on, as an operand
        is promoted: floats round to nearest even, integers wrap, a float truncates to an integer.
        """
        wide = source.widen(array)
        if source is self or wide.dtype == self.compute:
            return self.round(wide) if source is not self else wide
        return self.round(wide.astype(self.compute))

    def number(self, value: float) -> Array:
        """A number as a computed element (an array without dimensions), converted like a C cast."""
        if self.is_float:
            return self.round(np.asarray(value, np.float64).astype(self.compute))
        if isinstance(value, float):
            value = math.trunc(value) if math.isfinite(value) else 0
        return np.asarray(self._wrapped(value), self.compute)

    def scalar(self, stored: Any) -> Scalar:
        """One stored element as a run-time scalar."""
        value = self.widen(np.asarray(stored)).item()
        return float_value(value, self.type) if self.is_float else integer_value(value, self.type)

    def poison(self, shape: Sequence[int]) -> Array:
        """Stored elements that nobody wrote: nan, or a pattern."""
        if self.is_float:
            pattern = 0x7FC0 if self.is_bfloat16 else math.nan
        elif self.storage.kind == "b":
            pattern = False
        else:
            pattern = int.from_bytes([_POISON_BYTE] * self.storage.itemsize, "little")
            pattern = self._wrapped(pattern)
        return allocate(shape, self, pattern)

    def pad(self, value: PadValue) -> Array:
        """The stored element that a pad value stands for; of floats the extremes are infinite."""
        if value in (PadValue.NULL, PadValue.ZERO):
            return self.narrow(self.number(0))
        if self.is_float:
            return self.narrow(self.number(math.inf if value is PadValue.MAX else -math.inf))
        return self.narrow(self.number(self.maximum if value is PadValue.MAX else self.minimum))

    @cached_property
    def _is_nibble(self) -> bool:
        return self.bits == 4

    def _wrap_nibble(self, array: Array) -> Array:
        low = array & 15
        return ((low ^ 8) - 8).astype(self.storage) if self.is_signed else low

    def _wrapped(self, value: int) -> int:
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if value > self.maximum else value


def _element(
    type: Attribute, name: str, storage: Any, compute: Any, bits: int, kind: str
) -> Element:
    stored, computed = np.dtype(storage), np.dtype(compute)
    if stored == computed:
        computed = stored
    return Element(type, name, stored, computed, bits, kind == "float", kind == "signed")


@lru_cache(maxsize=256)
def element_of(type: Attribute) -> Element:
    """How elements of this type are held. Raises `ProgramError` for a type numpy cannot hold."""
    match type:
        case Float32Type():
            return _element(type, "f32", np.float32, np.float32, 32, "float")
        case Float16Type():
            return _element(type, "f16", np.float16, np.float16, 16, "float")
        case BFloat16Type():
            return _element(type, "bf16", np.uint16, np.float32, 16, "float")
        case Float64Type():
            return _element(type, "f64", np.float64, np.float64, 64, "float")
        case IndexType():
            return _element(type, "index", np.int64, np.int64, 64, "signed")
        case IntegerType():
            width = type.width.data
            if width == 1:
                return _element(type, "i1", np.bool_, np.uint8, 1, "unsigned")
            if width in (4, 8, 16, 32, 64):
                unsigned = type.signedness.data is Signedness.UNSIGNED
                dtype = f"{'u' if unsigned else ''}int{max(width, 8)}"
                kind = "unsigned" if unsigned else "signed"
                return _element(type, str(type), dtype, dtype, width, kind)
        case _:
            pass
    raise ProgramError(f"elements of type {type} cannot be interpreted")


def number_of(scalar: Scalar) -> int | float:
    """The number that a run-time scalar stands for."""
    return scalar.value.data


def integer_value(value: int, type: Attribute) -> IntegerAttr[Any]:
    """A run-time integer or index; what does not fit wraps."""
    integer = type if is_integer(type) else i64
    return IntegerAttr(value, integer, truncate_bits=True)


def float_value(value: float, type: Attribute) -> FloatAttr[Any]:
    """A run-time float, rounded to its type."""
    assert isinstance(type, AnyFloat)
    return FloatAttr(float(element_of(type).number(value)), type)


def bfloat16_values(bits: Array) -> npt.NDArray[np.float32]:
    """The numbers that bf16 bits (uint16) stand for."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def bfloat16_bits(values: Array) -> npt.NDArray[np.uint16]:
    """The bits of the nearest bf16 of each number, ties to even."""
    values = np.asarray(values, np.float32)
    bits = values.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + (np.uint32(0x7FFF) + odd)) >> np.uint32(16)).astype(np.uint16)
    nan = np.isnan(values)
    if nan.any():
        # Rounding could carry a nan's payload into an infinity: keep it quiet, with its sign.
        quiet = ((bits >> np.uint32(16)) | np.uint32(0x40)).astype(np.uint16)
        rounded = np.where(nan, quiet, rounded)
    return rounded


def allocate(shape: Sequence[int], element: Element, fill: Any) -> Array:
    """
    A new array of stored elements, each of them `fill` (which is a stored element).

    Raises `ProgramError` for what this machine's memory cannot hold.
    """
    wanted = math.prod(shape) * element.storage.itemsize
    try:
        if wanted <= _machine_memory():
            return np.full(tuple(shape), fill, element.storage)
    except (MemoryError, ValueError):
        pass
    extents = "x".join(map(str, shape))
    raise ProgramError(
        f"needs {_bytes(wanted)} for {extents}x{element.name}, more than the memory of this machine"
    )


@lru_cache(maxsize=1)
def _machine_memory() -> float:
    """The bytes of physical memory, where the system tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.0f} TiB"
