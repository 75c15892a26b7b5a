"""Global memory as a kernel sees it: pointers, and views by their strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import mul

import numpy as np

from pypto_xdsl.interpreters.elements import Array, Element, Mask
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.values import Buffer, Tensor


@dataclass(eq=False)
class Pointer:
    """An address in global memory."""

    buffer: Buffer
    element: Element
    offset: int
    """From the start of the buffer, in elements."""

    @classmethod
    def to(cls, tensor: Tensor) -> Pointer:
        """The address of the first element of a tensor."""
        first = tensor.array.__array_interface__["data"][0] - tensor.buffer.address
        return cls(tensor.buffer, tensor.element, first // tensor.array.itemsize)

    def moved(self, elements: int) -> Pointer:
        """The address so many elements further on."""
        return Pointer(self.buffer, self.element, self.offset + elements)

    def view(self, what: str, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """The elements at steps of `strides` from here; they must lie in the buffer."""
        size = self.element.storage.itemsize
        last = sum(map(mul, shape, strides)) - sum(strides)
        total = self.buffer.memory.nbytes // size
        if all(shape) and (self.offset < 0 or self.offset + last >= total or min(strides) < 0):
            raise ProgramError(
                f"{what} reaches elements {self.offset}..{self.offset + last} of a buffer of "
                f"{total}"
            )
        return np.ndarray(
            tuple(shape),
            self.element.storage,
            self.buffer.memory,
            max(self.offset, 0) * size,
            tuple(stride * size for stride in strides),
        )

    def tensor(self, what: str, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
        """Likewise, as a tensor that remembers what of it is defined."""
        return Tensor(self.view(what, shape, strides), self.element, self.buffer)


@dataclass(eq=False)
class GlobalView:
    """A tensor in global memory, or a window of one."""

    pointer: Pointer
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""

    def part(self, offsets: Sequence[int], sizes: Sequence[int]) -> GlobalView:
        """A window, which must lie inside."""
        start = self._start(offsets, sizes)
        return GlobalView(self.pointer.moved(start), tuple(sizes), self.strides)

    def _start(self, offsets: Sequence[int], sizes: Sequence[int]) -> int:
        """Where a window starts, in elements."""
        for offset, size, extent in zip(offsets, sizes, self.shape, strict=True):
            if offset < 0 or size < 0 or offset + size > extent:
                raise ProgramError(
                    f"a window of {list(sizes)} at {list(offsets)} lies outside a tensor of "
                    f"{list(self.shape)}"
                )
        return sum(map(mul, offsets, self.strides))

    _tensor: Tensor | None = field(default=None, init=False)

    @property
    def tensor(self) -> Tensor:
        """The elements, in the buffer."""
        if self._tensor is None:
            self._tensor = self.pointer.tensor("a window", self.shape, self.strides)
        return self._tensor

    def read(self, extents: tuple[int, int]) -> tuple[Array, Mask | None]:
        """The elements as a matrix, and which are defined."""
        values, defined = self.tensor.read()
        if values.size != extents[0] * extents[1]:
            raise ProgramError(
                f"a window of {list(self.shape)} does not fill a valid region of {list(extents)}"
            )
        matrix = values.reshape(extents)
        return matrix, None if defined is None else defined.reshape(extents)

    def write(self, stored: Array, defined: Mask | None) -> None:
        """Overwrite the elements by those of a matrix."""
        tensor = self.tensor
        if stored.size != tensor.array.size:
            raise ProgramError(
                f"a valid region of {list(stored.shape)} does not fill a window of "
                f"{list(self.shape)}"
            )
        mask = None if defined is None else defined.reshape(tensor.array.shape)
        tensor.write((), stored.reshape(tensor.array.shape), mask)
