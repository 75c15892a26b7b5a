"""
How a lowered kernel reaches tensors in global memory.

A tensor parameter becomes a pointer. Loads and stores need a `pto.make_tensor_view` of it, made
once at the head of the function, and a `pto.partition_view` of the part they touch; single
elements are reached from the pointer by their offset. A `Window` is what a tensor value names: a
part of a `View`. Names, slices and casts of tensors make windows and no code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import SSAValue

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ptensor import TensorLayout
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.rewriting.kernel_builder import KernelBuilder
from pypto_xdsl.syntax.lists import Index


@dataclass(eq=False)
class View:
    """A tensor that starts at a pointer."""

    parameter: int
    """The parameter of the kernel that it is, by its position."""
    pointer: SSAValue
    extents: tuple[Index, ...]
    strides: tuple[Index, ...]
    layout: TensorLayout
    hint: str | None = None
    _value: SSAValue | None = field(default=None, init=False)

    @property
    def is_packed(self) -> bool:
        """Whether the elements lie one after the other, row by row."""
        return self.layout is TensorLayout.ND or self.extents[-1] == 1

    def value(self, builder: KernelBuilder) -> SSAValue:
        """The `!pto.tensor_view`, made at the head of the function when first asked for."""
        if self._value is None:
            with builder.at_head():
                pointer = self.pointer.type
                assert isinstance(pointer, pto.PtrType)
                view = build(
                    pto.MakeTensorViewOp,
                    {
                        "ptr": self.pointer,
                        "shape": [builder.index(extent) for extent in self.extents],
                        "strides": [builder.index(stride) for stride in self.strides],
                    },
                    {},
                    (pto.TensorViewType([pto.DYNAMIC] * len(self.extents), pointer.element_type),),
                    {"layout": pto.LayoutAttr(pto.Layout(self.layout.value))},
                )
                self._value = builder.insert(view, self.hint and f"{self.hint}_view")
        return self._value


@dataclass(frozen=True)
class Window:
    """The part of a view that a tensor value names."""

    view: View
    offsets: tuple[Index, ...]
    """Where it starts, one a dimension of the view."""
    extents: tuple[Index, ...]
    """Of the last dimensions; those before have extent 1."""

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the view."""
        return self.extents == self.view.extents and all(offset == 0 for offset in self.offsets)

    def shifted(self, offsets: Sequence[Index], builder: KernelBuilder) -> tuple[Index, ...]:
        """Offsets into the window, as offsets into the view."""
        dropped = len(self.offsets) - len(offsets)
        inner = (*(0,) * dropped, *offsets)
        return tuple(builder.add(a, b) for a, b in zip(self.offsets, inner, strict=True))

    def part(
        self, offsets: Sequence[Index], extents: Sequence[Index], builder: KernelBuilder
    ) -> Window:
        """A window of this window."""
        return replace(self, offsets=self.shifted(offsets, builder), extents=tuple(extents))

    def partition(
        self, offsets: Sequence[Index], sizes: Sequence[Index], builder: KernelBuilder
    ) -> SSAValue:
        """The `!pto.partition_tensor_view` of a part of the window, at offsets into it."""
        view = self.view
        sizes = (*(1,) * (len(view.extents) - len(sizes)), *sizes)
        source = view.value(builder)
        element_type = source.type
        assert isinstance(element_type, pto.TensorViewType)
        type = pto.PartitionTensorViewType(
            [pto.DYNAMIC if isinstance(size, SSAValue) else size for size in sizes],
            element_type.element_type,
        )
        part = build(
            pto.PartitionViewOp,
            {
                "source": source,
                "offsets": [builder.index(o) for o in self.shifted(offsets, builder)],
                "sizes": [builder.index(size) for size in sizes],
            },
            {},
            (type,),
        )
        return builder.insert(part, view.hint and f"{view.hint}_pview")

    def element(self, indices: Sequence[Index], builder: KernelBuilder) -> SSAValue:
        """The offset of an element from the pointer, in elements."""
        total: Index = 0
        places = self.shifted(indices, builder)
        for place, stride in zip(places, self.view.strides, strict=True):
            total = builder.add(total, builder.multiply(place, stride))
        return builder.index(total)


def packed_strides(
    extents: Sequence[Index], layout: TensorLayout, builder: KernelBuilder
) -> tuple[Index, ...]:
    """
    The strides of a tensor whose elements lie one after the other in its layout, in elements;
    code for run-time extents goes to the head of the function.
    """
    order = list(range(len(extents)))
    if layout is TensorLayout.DN and len(order) > 1:
        order[-2], order[-1] = order[-1], order[-2]
    strides: list[Index] = [1] * len(extents)
    step: Index = 1
    with builder.at_head():
        for place, axis in enumerate(reversed(order)):
            strides[axis] = step
            if place + 1 < len(order):
                step = builder.multiply(step, extents[axis])
    return tuple(strides)
