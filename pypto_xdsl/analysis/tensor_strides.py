"""
How far apart the elements of a tensor lie, whatever its type says.

The type of a parameter or of an allocation says where its elements are. A window keeps the steps
of what it is a window of, and its type does not say so:

    %w = ptensor.slice %t[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>     // rows 64 apart

`TensorStrides(roots).of(value)` follows names, views, calls and control flow back to where the
buffer comes from. What may be one of several has the steps in which these agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, OpResult, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots
from pypto_xdsl.dialects.ptensor.types import (
    explicit_strides_of,
    layout_of,
    strides_of,
    symbolic_shape_of,
    tensor_of,
)

Tensor = TensorType[Attribute]


@dataclass(frozen=True, slots=True)
class Strides:
    """The steps of a tensor value."""

    steps: tuple[int, ...]
    """Of each dimension, in elements; `DYNAMIC_INDEX` where only a run knows it."""
    as_typed: bool
    """Whether the elements lie where the value's type says, in steps of its extents."""

    @staticmethod
    def of_type(type: Tensor) -> Strides:
        """Those of a tensor that lies as its type says."""
        return Strides(strides_of(type), True)

    def retyped(self, old: Tensor, new: Tensor) -> Strides:
        """The same tensor under another type."""
        alike = explicit_strides_of(old) == explicit_strides_of(new)
        if self.as_typed and alike and layout_of(old) is layout_of(new):
            return self
        return Strides(self.steps, fits(self.steps, new))

    def window(self, source: Tensor, result: Tensor) -> Strides:
        """Those of a window of the tensor."""
        steps = self.steps[len(self.steps) - result.get_num_dims() :]
        if fits(steps, result):
            return Strides(steps, True)
        return Strides(steps, self.as_typed and _inner_extents_agree(source, result))


def fits(steps: Sequence[int], type: Tensor) -> bool:
    """Whether steps are known to be those of a type; of an extent of 1 the step does not count."""
    return all(
        extent == 1 or (step == wanted != DYNAMIC_INDEX)
        for step, wanted, extent in zip(steps, strides_of(type), type.get_shape(), strict=True)
    )


def _inner_extents_agree(source: Tensor, result: Tensor) -> bool:
    """Whether a window has all of every dimension but the outermost, known or not."""
    if explicit_strides_of(result) is not None or layout_of(source) is not layout_of(result):
        return False
    inner = symbolic_shape_of(result)[1:]
    outer = symbolic_shape_of(source)
    return inner == outer[len(outer) - len(inner) :] and DYNAMIC_INDEX not in inner


class TensorStrides:
    """The strides of the tensors of a function."""

    def __init__(self, roots: BufferRoots):
        self._roots = roots
        self._found: dict[SSAValue, Strides] = {}
        users: dict[SSAValue, list[SSAValue]] = {}
        todo = list(roots.places)[::-1]
        for value in roots.places:
            for source in roots.sources(value):
                users.setdefault(source, []).append(value)
        while todo:
            value = todo.pop()
            found = self._follow(value)
            if found is not None and found != self._found.get(value):
                # A value only goes from one answer to what it has in common with another.
                self._found[value] = found
                todo += users.get(value, ())

    def of(self, value: SSAValue) -> Strides:
        """The strides of a tensor of the function."""
        found = self._found.get(value)
        if found is None:
            return Strides.of_type(tensor_of(value.type))
        return found

    def _follow(self, value: SSAValue) -> Strides | None:
        type = tensor_of(value.type)
        known: list[Strides] = []
        for source in self._roots.sources(value):
            strides = self._found.get(source)
            if strides is not None:
                known.append(self._through(value, source, strides))
        if self._roots.may_allocate(value):
            known.append(Strides.of_type(type))
        if not known:
            return None
        first, *others = known
        for other in others:
            first = _join(first, other)
        return first

    def _through(self, value: SSAValue, source: SSAValue, strides: Strides) -> Strides:
        """The strides of a value made from a source that has some."""
        old, new = tensor_of(source.type), tensor_of(value.type)
        view = self._roots.view(value)
        if view is None:
            return strides.retyped(old, new)
        assert isinstance(value, OpResult)
        if view.window_start(value) is not None:
            return strides.window(old, new)
        if strides.as_typed:
            return Strides.of_type(new)
        return Strides((DYNAMIC_INDEX,) * new.get_num_dims(), False)


def _join(one: Strides, other: Strides) -> Strides:
    steps = tuple(
        step if step == another else DYNAMIC_INDEX
        for step, another in zip(one.steps, other.steps, strict=True)
    )
    return Strides(steps, one.as_typed and other.as_typed)
