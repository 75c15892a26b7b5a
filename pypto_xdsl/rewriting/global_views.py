"""
How a lowered kernel reaches tensors in global memory.

A tensor parameter becomes a pointer. Loads and stores need a `pto.make_tensor_view` of it, made
once at the head of the function, and a `pto.partition_view` of the part they touch; single
elements are reached from the pointer by their offset. A `Window` is what a tensor value names: a
part of a `View`. Names, slices and casts of tensors make windows and no code.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from xdsl.ir import Attribute, SSAValue

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
    is_packed: bool
    """Whether the elements are known to lie one after the other, row by row."""
    hint: str | None = None
    is_local: bool = False
    """Whether the pointer is made in the text, and not a parameter."""
    _value: SSAValue | None = field(default=None, init=False)
    _by_rows: View | None = field(default=None, init=False)

    @property
    def by_rows(self) -> View:
        """A tensor of one column as rows of one element."""
        assert self.extents[-1] == 1
        if self.layout is TensorLayout.ND:
            return self
        if self._by_rows is None:
            strides = (*self.strides[:-1], 1)
            self._by_rows = replace(self, strides=strides, layout=TensorLayout.ND)
        return self._by_rows

    def deepened(self, ones: int, builder: KernelBuilder) -> View:
        """The same tensor with dimensions of extent 1 before its own."""
        with builder.at_head():
            step = builder.multiply(self.strides[0], self.extents[0]) if self.strides else 1
        return replace(
            self,
            extents=(*(1,) * ones, *self.extents),
            strides=(*(step,) * ones, *self.strides),
        )

    def value(self, builder: KernelBuilder) -> SSAValue:
        """
        The `!pto.tensor_view`, made at the head of the function when first asked for; here, if the
        pointer is not there.
        """
        if self.is_local:
            return self._made(builder)
        if self._value is None:
            with builder.at_head():
                self._value = self._made(builder)
        return self._value

    def _made(self, builder: KernelBuilder) -> SSAValue:
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
        return builder.insert(view, self.hint and f"{self.hint}_view")


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

    def by_rows(self) -> Window:
        """The window of a tensor of one column, as one of rows of one element."""
        return replace(self, view=self.view.by_rows)

    def transposed(self) -> Window:
        """The window with its last two dimensions swapped."""
        view = self.view
        layout = TensorLayout.DN if view.layout is TensorLayout.ND else TensorLayout.ND
        turned = replace(
            view,
            extents=_swapped(view.extents),
            strides=_swapped(view.strides),
            layout=layout,
            is_packed=False,
        )
        return Window(turned, _swapped(self.offsets), _swapped(self.extents))

    def reshaped(
        self,
        extents: Sequence[Index],
        layout: TensorLayout,
        hint: str | None,
        builder: KernelBuilder,
    ) -> Window | None:
        """The window in another shape; None unless its elements are known to lie in that order."""
        view = self.view
        if layout is view.layout and _inner(extents) == _inner(self.extents):
            # However far apart the rows are, there may be one of one of them.
            ones = len(extents) - len(view.extents)
            if ones <= 0:
                return replace(self, extents=tuple(extents))
            return Window(
                view.deepened(ones, builder), (*(0,) * ones, *self.offsets), tuple(extents)
            )
        if self.is_whole:
            if not view.is_packed:
                return None
            return _packed_window(
                view, (0,) * len(extents), extents, extents, layout, hint, builder
            )
        # Whole rows of a packed tensor: the same tensor, cut into pieces of another size.
        axis, row = self._rows()
        piece = _product(extents[1:])
        if row is None or piece is None or not extents:
            return None
        start: Index = 0
        for offset, extent in zip(self.offsets[: axis + 1], view.extents, strict=False):
            start = builder.add(builder.multiply(start, extent), offset)
        if row % piece:
            return self._moved(builder.multiply(start, row), extents, layout, hint, builder)
        with builder.at_head():
            whole: Index = row // piece
            for extent in view.extents[: axis + 1]:
                whole = builder.multiply(whole, extent)
        offsets = (builder.multiply(start, row // piece), *(0,) * (len(extents) - 1))
        return _packed_window(view, offsets, (whole, *extents[1:]), extents, layout, hint, builder)

    def reinterpreted(
        self, extents: Sequence[Index], element_type: Attribute, builder: KernelBuilder
    ) -> Window | None:
        """
        The bytes of the window as elements of another type; None unless its elements are known to
        lie one after the other.
        """
        if not self.lies_in_a_row:
            return None
        view = self.view
        starts_it = not view.is_local and all(offset == 0 for offset in self.offsets)
        with builder.at_head() if starts_it else nullcontext():
            cast = build(
                pto.CastPtrOp,
                {"input": self.start(builder)},
                {},
                (pto.PtrType(element_type),),
            )
            pointer = builder.insert(cast, view.hint and f"{view.hint}_ptr")
        seen = replace(view, pointer=pointer, is_local=not starts_it)
        return _packed_window(
            seen,
            (0,) * len(extents),
            extents,
            extents,
            TensorLayout.ND,
            view.hint,
            builder,
        )

    def _moved(
        self,
        start: Index,
        extents: Sequence[Index],
        layout: TensorLayout,
        hint: str | None,
        builder: KernelBuilder,
    ) -> Window | None:
        """
        Elements that lie one after the other, from one on, as a tensor of their own; None for
        extents that are known at run time only.
        """
        view = self.view
        if any(not isinstance(extent, int) for extent in extents):
            return None
        values = {"ptr": view.pointer, "offset": builder.index(start)}
        pointer = builder.insert(
            build(pto.AddPtrOp, values, {}, (view.pointer.type,)), hint and f"{hint}_ptr"
        )
        moved = replace(view, pointer=pointer, is_local=True)
        return _packed_window(moved, (0,) * len(extents), extents, extents, layout, hint, builder)

    def _rows(self) -> tuple[int, int | None]:
        """
        The axis of which this is some rows, and how many elements a row has; None if it is none,
        or the number is known only at run time.
        """
        view = self.view
        extents = (*(1,) * (len(view.extents) - len(self.extents)), *self.extents)
        axis = len(extents) - 1
        while axis > 0 and extents[axis] == view.extents[axis] and self.offsets[axis] == 0:
            axis -= 1
        are_rows = view.is_packed and all(extent == 1 for extent in extents[:axis])
        return axis, _product(view.extents[axis + 1 :]) if are_rows else None

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

    def start(self, builder: KernelBuilder) -> SSAValue:
        """The pointer to its first element."""
        pointer = self.view.pointer
        if all(offset == 0 for offset in self.offsets):
            return pointer
        operands = {"ptr": pointer, "offset": self.element((0,) * len(self.offsets), builder)}
        moved = build(pto.AddPtrOp, operands, {}, (pointer.type,))
        return builder.insert(moved, self.view.hint and f"{self.view.hint}_start")

    @property
    def lies_in_a_row(self) -> bool:
        """Whether its elements are known to lie one after the other, row by row."""
        if self.view.layout is not TensorLayout.ND:
            return False
        extents = self.extents
        if all(extent == 1 for extent in extents[:-1]):
            return not extents or self.view.strides[-1] == 1
        return self._rows()[1] is not None or (self.is_whole and self.view.is_packed)

    @property
    def has_rows(self) -> bool:
        """Whether the elements of each row of the last dimension lie one after the other."""
        return self.view.layout is TensorLayout.ND and self.view.strides[-1] == 1


def _inner(extents: Sequence[Index]) -> tuple[Index, ...]:
    """Extents without the ones that they begin with."""
    ones = next((i for i, extent in enumerate(extents) if extent != 1), len(extents))
    return tuple(extents[ones:])


def _product(extents: Sequence[Index]) -> int | None:
    """The product of extents; None if one is known only at run time."""
    total = 1
    for extent in extents:
        if isinstance(extent, SSAValue):
            return None
        total *= extent
    return total


def _packed_window(
    view: View,
    offsets: tuple[Index, ...],
    whole: Sequence[Index],
    extents: Sequence[Index],
    layout: TensorLayout,
    hint: str | None,
    builder: KernelBuilder,
) -> Window:
    """A window of what a packed view views, seen in extents `whole`."""
    if len(extents) > 1 and extents[-1] == 1:
        # The bytes of one column lie as those of a column-major matrix do.
        layout = TensorLayout.DN
    strides = packed_strides(whole, layout, builder)
    is_packed = layout is TensorLayout.ND or whole[-1] == 1
    new = View(
        view.parameter,
        view.pointer,
        tuple(whole),
        strides,
        layout,
        is_packed,
        hint or view.hint,
        view.is_local,
    )
    return Window(new, offsets, tuple(extents))


def lie_in_a_row(extents: Sequence[Index], strides: Sequence[int]) -> bool:
    """Whether elements at such strides are known to lie one after the other, row by row."""
    step: int | None = 1
    for extent, stride in zip(reversed(extents), reversed(strides), strict=True):
        if extent == 1:
            continue
        if step is None or stride != step:
            return False
        step = None if isinstance(extent, SSAValue) else step * extent
    return True


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


def _swapped(values: tuple[Index, ...]) -> tuple[Index, ...]:
    return (*values[:-2], values[-1], values[-2])
