"""Types with a shape outside the core's memories: views of tensors, pointers, local arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    ContainerType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerType,
    ShapedType,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.attributes import AddressSpaceAttr
from pypto_xdsl.dialects.pto.enumerations import AddressSpace
from pypto_xdsl.dialects.pto.interning import InternedType

DYNAMIC = DYNAMIC_INDEX
"""Stands for a dimension written `?`."""


def element_bits(element_type: Attribute) -> int:
    """Bits of one element. Raises `VerifyException` for a type no A2/A3 tile or view holds."""
    match element_type:
        case IntegerType():
            return element_type.width.data
        case Float16Type() | BFloat16Type():
            return 16
        case Float32Type():
            return 32
        case Float64Type() | IndexType():
            return 64
        case _:
            raise VerifyException(f"{element_type} is not an element type on A2/A3")


def element_bytes(element_type: Attribute) -> int:
    """Bytes of one element, at least one."""
    return max(1, element_bits(element_type) // 8)


_INT_ATTRS: dict[int, IntAttr] = {}


def _int_attr(value: int) -> IntAttr:
    if (attr := _INT_ATTRS.get(value)) is None:
        attr = IntAttr(value)
        if len(_INT_ATTRS) < 4096:
            _INT_ATTRS[value] = attr
    return attr


def dims_attr(shape: Sequence[int]) -> ArrayAttr[IntAttr]:
    """Extents as types hold them; equal ones share their attributes."""
    return ArrayAttr(_int_attr(d) for d in shape)


def _print_dims(printer: Printer, shape: Sequence[int]) -> None:
    printer.print_string("x".join("?" if d == DYNAMIC else str(d) for d in shape))


def parse_shape(parser: AttrParser) -> tuple[list[int], Attribute]:
    """`16x?xf32`, or with spaces between."""
    # One match for all of it: the lexer takes what follows the first `x` for one name.
    dims, end = _dims_at(parser.lexer.input.content, parser.pos)
    words = dims.replace("x", " ").split()
    if any(len(word) > 19 for word in words):
        parser.raise_error("a dimension does not fit in 64 bits")
    shape = [DYNAMIC if word == "?" else int(word) for word in words]
    if any(dim >= 1 << 63 for dim in shape):
        parser.raise_error("a dimension does not fit in 64 bits")
    if shape:
        parser._resume_from(end)  # pyright: ignore[reportPrivateUsage]
    return shape, parser.parse_type()


def _dims_at(content: str | bytes, position: int) -> tuple[str, int]:
    """The text of the dimensions at a position, and where it ends."""
    if isinstance(content, bytes):
        data = _SHAPE_BYTES.match(content, position)
        return (data[0].decode(), data.end()) if data else ("", position)
    text = _SHAPE.match(content, position)
    return (text[0], text.end()) if text else ("", position)


_SHAPE = re.compile(r"(?:(?:[0-9]+|\?)\s*x\s*)*+")
_SHAPE_BYTES = re.compile(_SHAPE.pattern.encode())


class _ShapedElements(InternedType, ShapedType, ContainerType[Attribute]):
    """Types written `<16x?xf32>`."""

    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    @classmethod
    def parse_body(cls, parser: AttrParser) -> Sequence[Attribute]:
        shape, element_type = parse_shape(parser)
        return dims_attr(shape), element_type

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_dims(printer, self.get_shape())
            printer.print_string("x")
            printer.print_attribute(self.element_type)

    def get_num_dims(self) -> int:
        return len(self.shape.data)

    def get_shape(self) -> tuple[int, ...]:
        return tuple(d.data for d in self.shape.data)

    def get_element_type(self) -> Attribute:
        return self.element_type

    @property
    def static_element_count(self) -> int | None:
        """Elements in all, or None where a dimension is dynamic."""
        count = 1
        for dim in self.get_shape():
            if dim == DYNAMIC:
                return None
            count *= dim
        return count


class _GlobalView(_ShapedElements):
    """A tensor in global memory or a window of one, of one to five dimensions."""

    def verify(self) -> None:
        rank = len(self.get_shape())
        if not 1 <= rank <= 5:
            kind = self.name.removeprefix("pto.")
            raise VerifyException(f"{kind} expects between 1 and 5 dimensions, got {rank}")


@irdl_attr_definition
class TensorViewType(_GlobalView):
    """`!pto.tensor_view<?x?xf32>`: a tensor in global memory, with strides."""

    name = "pto.tensor_view"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    def __init__(self, shape: Sequence[int], element_type: Attribute) -> None:
        """`shape` in elements, `DYNAMIC` for `?`."""
        super().__init__(dims_attr(shape), element_type)


@irdl_attr_definition
class PartitionTensorViewType(_GlobalView):
    """`!pto.partition_tensor_view<16x64xf32>`: a window of a tensor in global memory."""

    name = "pto.partition_tensor_view"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    def __init__(self, shape: Sequence[int], element_type: Attribute) -> None:
        """`shape` in elements, `DYNAMIC` for `?`."""
        super().__init__(dims_attr(shape), element_type)


@irdl_attr_definition
class LocalArrayType(_ShapedElements):
    """`!pto.local_array<8xi32>`: an array on the scalar unit's stack."""

    name = "pto.local_array"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    def __init__(self, shape: Sequence[int], element_type: Attribute) -> None:
        """`shape` in elements, `DYNAMIC` for `?`."""
        super().__init__(dims_attr(shape), element_type)

    def verify(self) -> None:
        if not self.shape.data:
            raise VerifyException("local_array requires at least one dimension")
        for position, dim in enumerate(self.get_shape()):
            if dim <= 0:
                raise VerifyException(
                    f"local_array dimension {position} must be a positive static size"
                )
        if isinstance(self.element_type, IndexType) or not isinstance(
            self.element_type, IntegerType | Float16Type | BFloat16Type | Float32Type
        ):
            raise VerifyException(
                "local_array element type must be a scalar integer or float, "
                f"got {self.element_type}"
            )


_POINTER_SPACES = {
    "gm": AddressSpace.GM,
    "ub": AddressSpace.VEC,
    "vec": AddressSpace.VEC,
    "mat": AddressSpace.MAT,
    "l1": AddressSpace.MAT,
    "left": AddressSpace.LEFT,
    "l0a": AddressSpace.LEFT,
    "right": AddressSpace.RIGHT,
    "l0b": AddressSpace.RIGHT,
    "acc": AddressSpace.ACC,
    "l0c": AddressSpace.ACC,
    "bias": AddressSpace.BIAS,
    "bt": AddressSpace.BIAS,
    "scaling": AddressSpace.SCALING,
    "fb": AddressSpace.SCALING,
}
"""Words that a pointer type may name its memory by."""


@irdl_attr_definition
class PtrType(InternedType):
    """`!pto.ptr<f32>`: an address in global memory; `!pto.ptr<f32, ub>` one on chip."""

    name = "pto.ptr"
    element_type: Attribute
    memory_space: AddressSpaceAttr

    def __init__(self, element_type: Attribute, space: AddressSpace = AddressSpace.GM) -> None:
        super().__init__(element_type, AddressSpaceAttr(space))

    @classmethod
    def parse_body(cls, parser: AttrParser) -> Sequence[Attribute]:
        element_type = parser.parse_type()
        space = AddressSpace.GM
        if parser.parse_optional_punctuation(",") is not None:
            space = _POINTER_SPACES[parser.parse_keyword_in(_POINTER_SPACES)]
        return element_type, AddressSpaceAttr(space)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            if (space := self.space) != AddressSpace.GM:
                printer.print_string(", ub" if space == AddressSpace.VEC else f", {space}")

    @property
    def space(self) -> AddressSpace:
        """The memory pointed into."""
        return self.memory_space.data
