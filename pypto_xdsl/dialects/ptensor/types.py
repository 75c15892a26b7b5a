"""
The encoding of PyPTO tensors: `tensor<?x128xf32, #ptensor.view<dims = [M, _], layout = dn>>`.

A tensor value names a buffer in global memory, or a window of one. The encoding says how its
elements lie there and which are valid; it is absent when trivial: packed row-major, all valid,
nothing padded, no symbolic extents. `tensor_type` builds tensors canonically.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IntAttr,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    AttrConstraint,
    IntConstraint,
    VerificationContext,
    irdl_attr_definition,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from pypto_xdsl.dialects.ptensor.attributes import PadValue, PadValueAttr
from pypto_xdsl.syntax.lists import parse_extents, print_extents

_ABSENT = NoneAttr()
_UNNAMED = "_"


class TensorLayout(StrEnum):
    """How the two innermost dimensions of a tensor lie in global memory."""

    ND = "nd"
    """Row-major."""
    DN = "dn"
    """The two innermost dimensions swapped: column-major."""
    NZ = "nz"
    """Blocks of 16 rows by 32 bytes, column of blocks by column of blocks."""


@irdl_attr_definition
class TensorLayoutAttr(EnumAttribute[TensorLayout], SpacedOpaqueSyntaxAttribute):
    """`#ptensor<layout nd>`"""

    name = "ptensor.layout"


@irdl_attr_definition
class ViewAttr(ParametrizedAttribute):
    """
    What the encoding of a tensor says; each part is stored only where it is not trivial.

    A symbolic dimension proves equality: two extents with one symbol, in one function, are equal.
    """

    name = "ptensor.view"

    dims: ArrayAttr[StringAttr] | NoneAttr
    """The symbol of each dimension, `_` for none."""
    valid: ArrayAttr[IntAttr] | NoneAttr
    """Extents of the valid region, `DYNAMIC_INDEX` where known only at run time."""
    strides: ArrayAttr[IntAttr] | NoneAttr
    """The step of each dimension in elements, `DYNAMIC_INDEX` where known only at run time."""
    layout: TensorLayoutAttr | NoneAttr
    pad: PadValueAttr | NoneAttr

    def verify(self) -> None:
        if all(isinstance(parameter, NoneAttr) for parameter in self.parameters):
            raise VerifyException("a trivial view of a tensor is spelled by leaving it out")
        if self.layout == TensorLayoutAttr(TensorLayout.ND):
            raise VerifyException("layout nd is spelled by leaving it out")
        if self.pad == PadValueAttr(PadValue.NULL):
            raise VerifyException("pad null is spelled by leaving it out")
        if isinstance(self.dims, ArrayAttr) and all(s.data == _UNNAMED for s in self.dims):
            raise VerifyException("dims without a symbol are spelled by leaving them out")

    @property
    def rank(self) -> int | None:
        """The number of dimensions that the view speaks of, if it speaks of any."""
        for part in (self.dims, self.valid, self.strides):
            if isinstance(part, ArrayAttr):
                return len(part)
        return None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        dims: Attribute = _ABSENT
        valid: Attribute = _ABSENT
        strides: Attribute = _ABSENT
        layout: Attribute = _ABSENT
        pad: Attribute = _ABSENT
        seen = set[str]()

        def symbol() -> StringAttr:
            return StringAttr(parser.parse_identifier_or_str_literal())

        def part() -> None:
            nonlocal dims, valid, strides, layout, pad
            position = parser.pos
            word = parser.parse_identifier(context_msg=" in a tensor view")
            if word in seen:
                parser.raise_error(f"'{word}' is given twice", position)
            seen.add(word)
            if word not in ("dims", "valid", "strides", "layout", "pad"):
                parser.raise_error(
                    f"unknown word '{word}' in a tensor view; "
                    "expected dims, valid, strides, layout or pad",
                    position,
                )
            parser.parse_punctuation("=")
            match word:
                case "dims":
                    dims = ArrayAttr(
                        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, symbol)
                    )
                case "valid":
                    valid = ArrayAttr(IntAttr(extent) for extent in parse_extents(parser))
                case "strides":
                    strides = ArrayAttr(IntAttr(stride) for stride in parse_extents(parser))
                case "layout":
                    layout = TensorLayoutAttr(parser.parse_str_enum(TensorLayout))
                case _:
                    pad = PadValueAttr(parser.parse_str_enum(PadValue))

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, part)
        return dims, valid, strides, layout, pad

    def print_parameters(self, printer: Printer) -> None:
        separator = ""
        with printer.in_angle_brackets():
            if isinstance(self.dims, ArrayAttr):
                printer.print_string("dims = [")
                printer.print_list(
                    self.dims, lambda s: printer.print_identifier_or_string_literal(s.data)
                )
                printer.print_string("]")
                separator = ", "
            for word, part in (("valid", self.valid), ("strides", self.strides)):
                if isinstance(part, ArrayAttr):
                    printer.print_string(f"{separator}{word} = ")
                    print_extents(printer, [extent.data for extent in part])
                    separator = ", "
            if isinstance(self.layout, TensorLayoutAttr):
                printer.print_string(f"{separator}layout = {self.layout.data.value}")
                separator = ", "
            if isinstance(self.pad, PadValueAttr):
                printer.print_string(f"{separator}pad = {self.pad.data.value}")


def tensor_type(
    shape: Iterable[int | str],
    element_type: Attribute,
    *,
    valid: Iterable[int] | None = None,
    strides: Iterable[int] | None = None,
    layout: TensorLayout = TensorLayout.ND,
    pad: PadValue = PadValue.NULL,
) -> TensorType[Attribute]:
    """
    A tensor with a canonical encoding.

    An extent is a constant, `DYNAMIC_INDEX` (known only at run time) or the name of a symbol (a
    run-time extent that is equal wherever the symbol stands). `strides` are in elements; those of
    a packed row-major tensor are left out.
    """
    return _tensor_type(
        tuple(shape),
        element_type,
        None if valid is None else tuple(valid),
        None if strides is None else tuple(strides),
        layout,
        pad,
    )


@lru_cache(maxsize=4096)
def _tensor_type(
    shape: tuple[int | str, ...],
    element_type: Attribute,
    valid: tuple[int, ...] | None,
    strides: tuple[int, ...] | None,
    layout: TensorLayout,
    pad: PadValue,
) -> TensorType[Attribute]:
    extents = tuple(DYNAMIC_INDEX if isinstance(extent, str) else extent for extent in shape)
    symbols = tuple(extent if isinstance(extent, str) else _UNNAMED for extent in shape)
    valid = None if valid == extents else valid
    if layout is TensorLayout.ND and strides == packed_strides(extents):
        strides = None
    parameters = (
        ArrayAttr(StringAttr(s) for s in symbols) if set(symbols) - {_UNNAMED} else _ABSENT,
        _ABSENT if valid is None else ArrayAttr(IntAttr(extent) for extent in valid),
        _ABSENT if strides is None else ArrayAttr(IntAttr(stride) for stride in strides),
        _ABSENT if layout is TensorLayout.ND else TensorLayoutAttr(layout),
        _ABSENT if pad is PadValue.NULL else PadValueAttr(pad),
    )
    trivial = all(parameter is _ABSENT for parameter in parameters)
    return TensorType(element_type, extents, _ABSENT if trivial else ViewAttr(*parameters))


def packed_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a packed row-major tensor; `DYNAMIC_INDEX` where an extent decides."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        dynamic = DYNAMIC_INDEX in (step, extent)
        step = DYNAMIC_INDEX if dynamic else step * extent
    return tuple(reversed(strides))


def view_of(type: TensorType[Attribute]) -> ViewAttr | None:
    """The encoding of a tensor, if it is not trivial."""
    encoding = type.encoding
    # What has no view is the usual case: it is not asked for its abstract bases.
    if encoding is _ABSENT:
        return None
    return encoding if isinstance(encoding, ViewAttr) else None


def symbols_of(type: TensorType[Attribute]) -> tuple[str | None, ...]:
    """The symbol of each dimension."""
    view = view_of(type)
    if view is None or isinstance(view.dims, NoneAttr):
        return (None,) * type.get_num_dims()
    return tuple(None if symbol.data == _UNNAMED else symbol.data for symbol in view.dims)


def valid_shape_of(type: TensorType[Attribute]) -> tuple[int, ...]:
    """The extents of the valid region; `DYNAMIC_INDEX` where known only at run time."""
    view = view_of(type)
    if view is None or isinstance(view.valid, NoneAttr):
        return type.get_shape()
    return tuple(extent.data for extent in view.valid)


def layout_of(type: TensorType[Attribute]) -> TensorLayout:
    """How the innermost dimensions lie in global memory."""
    view = view_of(type)
    if view is None or isinstance(view.layout, NoneAttr):
        return TensorLayout.ND
    return view.layout.data


def pad_value_of(type: TensorType[Attribute]) -> PadValue:
    """What stands outside the valid region."""
    view = view_of(type)
    return PadValue.NULL if view is None or isinstance(view.pad, NoneAttr) else view.pad.data


def strides_of(type: TensorType[Attribute]) -> tuple[int, ...]:
    """The step of each dimension in elements, explicit or packed in the tensor's layout."""
    view = view_of(type)
    if view is not None and isinstance(view.strides, ArrayAttr):
        return tuple(stride.data for stride in view.strides)
    shape = type.get_shape()
    if layout_of(type) is TensorLayout.DN and len(shape) >= 2:
        *outer, columns, rows = packed_strides((*shape[:-2], shape[-1], shape[-2]))
        return (*outer, rows, columns)
    return packed_strides(shape)


def explicit_strides_of(type: TensorType[Attribute]) -> tuple[int, ...] | None:
    """The strides that the encoding spells out, if it does."""
    view = view_of(type)
    return None if view is None or isinstance(view.strides, NoneAttr) else strides_of(type)


@lru_cache(maxsize=4096)
def verify_tensor_type(type: TensorType[Attribute]) -> None:
    """Check that the encoding fits the tensor: a rank, symbols on dynamic extents, extents."""
    if isinstance(type.encoding, NoneAttr):
        return
    view = view_of(type)
    if view is None:
        raise VerifyException(f"the encoding of a tensor is a #ptensor.view, got {type.encoding}")
    shape = type.get_shape()
    for word, part in (("dims", view.dims), ("valid", view.valid), ("strides", view.strides)):
        if isinstance(part, ArrayAttr) and len(part) != len(shape):
            raise VerifyException(
                f"{word} names {len(part)} dimensions, the tensor has {len(shape)}"
            )
    for symbol, extent in zip(symbols_of(type), shape, strict=True):
        if symbol is not None and extent != DYNAMIC_INDEX:
            raise VerifyException(f"symbol {symbol} names a dimension of {extent}, expected ?")
    valid = valid_shape_of(type)
    for inner, outer in zip(valid, shape, strict=True):
        if DYNAMIC_INDEX not in (inner, outer) and inner > outer:
            raise VerifyException(f"a valid extent of {inner} lies outside 0..{outer}")
    if isinstance(view.valid, ArrayAttr) and valid == shape:
        raise VerifyException("a valid region equal to the shape is spelled by leaving it out")
    if (
        isinstance(view.strides, ArrayAttr)
        and layout_of(type) is TensorLayout.ND
        and strides_of(type) == packed_strides(shape)
        and DYNAMIC_INDEX not in strides_of(type)
    ):
        raise VerifyException("packed strides are spelled by leaving them out")


def symbolic_shape_of(type: TensorType[Attribute]) -> tuple[int | str, ...]:
    """The extents: a constant, `DYNAMIC_INDEX`, or the symbol of a run-time extent."""
    if view_of(type) is None:
        return type.get_shape()
    return tuple(
        extent if symbol is None else symbol
        for extent, symbol in zip(type.get_shape(), symbols_of(type), strict=True)
    )


def tensor_of(type: Attribute | None) -> TensorType[Attribute]:
    """`type` as a tensor, or a `VerifyException`."""
    if not is_tensor_type(type):
        raise VerifyException(f"expected a tensor, got {type}")
    return type


def is_tensor_type(type: Attribute | None) -> TypeGuard[TensorType[Attribute]]:
    """Whether `type` is a ranked tensor."""
    return isinstance(type, TensorType)


@dataclass(frozen=True)
class _TensorConstraint(AttrConstraint[TensorType[Attribute]]):
    """A ranked tensor whose encoding, if any, is a canonical `#ptensor.view`."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        verify_tensor_type(tensor_of(attr))

    def get_bases(self) -> set[type[Attribute]] | None:
        return {TensorType}

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint[TensorType[Attribute]]:
        return self


TENSOR: AttrConstraint[TensorType[Attribute]] = _TensorConstraint()
