"""Ops that make views of tensors in global memory, and windows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.attributes import LayoutAttr
from pypto_xdsl.dialects.pto.declaration import OperandConstraint, PtoOp, Role, declare, word
from pypto_xdsl.dialects.pto.operands import GM_VIEW_TYPES, INDEX, INDEX_TYPE, POINTER
from pypto_xdsl.dialects.pto.rules import constant_value
from pypto_xdsl.dialects.pto.shaped_types import (
    DYNAMIC,
    PartitionTensorViewType,
    PtrType,
    TensorViewType,
)
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    build,
    parse_index_list,
    parse_type_of,
    print_attributes,
    resolve_indices,
)

TENSOR_VIEW = OperandConstraint((TensorViewType,), Role.VIEW, "a !pto.tensor_view")
ANY_GM_VIEW = OperandConstraint(GM_VIEW_TYPES, Role.VIEW, "a view of global memory")


class MakeTensorViewBase(PtoOp):
    """A tensor in global memory, from its first element, shape and strides (in elements)"""

    traits = traits_def(Pure())
    ALIASES: ClassVar[str | None] = "ptr"

    ptr = operand_def(POINTER)
    shape = var_operand_def(INDEX)
    strides = var_operand_def(INDEX)
    layout = opt_prop_def(word(LayoutAttr))
    result = result_def(TensorViewType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        shape = parse_index_list(parser, "shape")
        parser.parse_punctuation(",")
        strides = parse_index_list(parser, "strides")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result = parse_type_of(parser, TensorViewType)
        values = {
            "ptr": parser.resolve_operand(ptr, PtrType(result.element_type)),
            "shape": resolve_indices(parser, shape),
            "strides": resolve_indices(parser, strides),
        }
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ptr)
        printer.print_string(", shape = [")
        printer.print_list(self.shape, printer.print_ssa_value)
        printer.print_string("], strides = [")
        printer.print_list(self.strides, printer.print_ssa_value)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        pointer = self.ptr.type
        assert isinstance(pointer, PtrType)
        view = self.result.type
        if pointer.element_type != view.element_type:
            raise VerifyException(
                "ptr element type must match tensor_view element type, but got "
                f"ptr={pointer.element_type} view={view.element_type}"
            )
        rank = view.get_num_dims()
        if len(self.shape) != rank or len(self.strides) != rank:
            raise VerifyException(
                f"shape/strides operand counts must match tensor_view rank={rank}, "
                f"got {len(self.shape)} and {len(self.strides)}"
            )


MakeTensorViewOp = declare(
    MakeTensorViewBase,
    "MakeTensorViewOp",
    "make_tensor_view",
    "a view of the tensor that starts at ptr",
)


class PartitionViewBase(PtoOp):
    """A window of a tensor view"""

    # What lies outside is an error where the program looks at it, and nowhere else: not `Pure`.
    traits = traits_def(NoMemoryEffect())
    ALIASES: ClassVar[str | None] = "source"

    source = operand_def(TENSOR_VIEW)
    offsets = var_operand_def(INDEX)
    sizes = var_operand_def(INDEX)
    result = result_def(PartitionTensorViewType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def result_type(source: TensorViewType, sizes: Sequence[SSAValue]) -> PartitionTensorViewType:
        """The type of a window of these sizes: static where they are constants."""
        known = (constant_value(size) for size in sizes)
        shape = [DYNAMIC if size is None or size < 0 else size for size in known]
        return PartitionTensorViewType(shape, source.element_type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offsets = parse_index_list(parser, "offsets")
        parser.parse_punctuation(",")
        sizes = parse_index_list(parser, "sizes")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source_type = parse_type_of(parser, TensorViewType)
        extents = resolve_indices(parser, sizes)
        values = {
            "source": parser.resolve_operand(source, source_type),
            "offsets": resolve_indices(parser, offsets),
            "sizes": extents,
        }
        if parser.parse_optional_punctuation("->") is not None:
            result = parse_type_of(parser, PartitionTensorViewType)
        else:
            result = cls.result_type(source_type, extents)
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(", offsets = [")
        printer.print_list(self.offsets, printer.print_ssa_value)
        printer.print_string("], sizes = [")
        printer.print_list(self.sizes, printer.print_ssa_value)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        source, result = self.source.type, self.result.type
        assert isinstance(source, TensorViewType)
        if source.element_type != result.element_type:
            raise VerifyException(
                "element type mismatch between source and result: "
                f"src={source.element_type} result={result.element_type}"
            )
        rank = source.get_num_dims()
        for what, values in (("offset", self.offsets), ("size", self.sizes)):
            if len(values) != rank:
                raise VerifyException(
                    f"{what} count ({len(values)}) must match source rank ({rank})"
                )
        result_shape = result.get_shape() if result.get_num_dims() == rank else (DYNAMIC,) * rank
        for i, (offset, size, source_dim, result_dim) in enumerate(
            zip(self.offsets, self.sizes, source.get_shape(), result_shape, strict=True)
        ):
            at, extent = constant_value(offset), constant_value(size)
            if at is not None and at < 0:
                raise VerifyException(f"offset at dim {i} must be non-negative, got {at}")
            if extent is None:
                continue
            if extent <= 0:
                raise VerifyException(f"size at dim {i} must be positive, got {extent}")
            if result_dim not in (DYNAMIC, extent):
                raise VerifyException(
                    f"size/result mismatch at dim {i}: size operand={extent} "
                    f"result type dim={result_dim}"
                )
            if source_dim != DYNAMIC and (at or 0) + extent > source_dim:
                raise VerifyException(
                    f"offset+size at dim {i} ({(at or 0) + extent}) exceeds static source dim "
                    f"({source_dim})"
                )


PartitionViewOp = declare(
    PartitionViewBase, "PartitionViewOp", "partition_view", "a window of a tensor view"
)


class ViewExtentOp(FormattedOp):
    """A number of a tensor view"""

    traits = traits_def(Pure())

    tensor_view = operand_def(ANY_GM_VIEW)
    dim_index = operand_def(INDEX)
    result = result_def(INDEX_TYPE)
    FORMAT: ClassVar[str] = (
        "$tensor_view `,` $dim_index attr-dict `:` type($tensor_view) `->` type($result)"
    )

    def verify_(self) -> None:
        super().verify_()
        view = self.tensor_view.type
        assert isinstance(view, GM_VIEW_TYPES)
        dim = constant_value(self.dim_index)
        if dim is not None and not 0 <= dim < view.get_num_dims():
            raise VerifyException(
                f"dimension {dim} is out of range for a view of rank {view.get_num_dims()}"
            )


GetTensorViewDimOp = declare(
    ViewExtentOp, "GetTensorViewDimOp", "get_tensor_view_dim", "elements along one dimension"
)
GetTensorViewStrideOp = declare(
    ViewExtentOp,
    "GetTensorViewStrideOp",
    "get_tensor_view_stride",
    "elements between two neighbours along one dimension",
    SINCE="0.57",
)


class DeclareGlobalBase(FormattedOp):
    """A tensor view without storage, that a queue gives storage"""

    ALLOCATES: ClassVar[bool] = True

    entry = result_def(TensorViewType)
    FORMAT: ClassVar[str] = "attr-dict `->` type($entry)"


DeclareGlobalOp = declare(
    DeclareGlobalBase,
    "DeclareGlobalOp",
    "declare_global",
    "a tensor view without storage, for talloc or tpop to fill",
    SINCE="0.57",
)
