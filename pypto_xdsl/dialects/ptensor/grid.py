"""
Which of the cores that run one kernel this one is, and what passes between the cores of a group,
as the code on whole tensors says it.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads
from pypto_xdsl.dialects.ptensor.attributes import TransportSplitAttr
from pypto_xdsl.dialects.ptensor.elementwise import FRESH
from pypto_xdsl.dialects.ptensor.types import TENSOR, tensor_of, tensor_type, valid_shape_of
from pypto_xdsl.dialects.typed_op import InferringOp, TypedOp, Types
from pypto_xdsl.syntax.op_syntax import INDEX, word_prop


class GridOp(TypedOp, ABC):
    """A number that differs from core to core, or is common to all that run a kernel."""

    result = result_def(IndexType)

    def __init__(self):
        self._fill([INDEX])


@irdl_op_definition
class GetBlockIdxOp(GridOp):
    """The index of this block among those of an spmd launch."""

    name = "ptensor.get_block_idx"


@irdl_op_definition
class GetBlockNumOp(GridOp):
    """The number of blocks of an spmd launch."""

    name = "ptensor.get_block_num"


@irdl_op_definition
class GetSubblockIdxOp(GridOp):
    """The index of this vector core in its group, 0 or 1."""

    name = "ptensor.get_subblock_idx"


def _scaled(
    tensor: TensorType[Attribute], split: Attribute, scale: Callable[[int], int]
) -> TensorType[Attribute]:
    assert isinstance(split, TransportSplitAttr)
    shape, valid = list(tensor.get_shape()), list(valid_shape_of(tensor))
    axis = split.data.axis
    if axis is not None:
        if len(shape) != 2:
            raise VerifyException(f"a tensor that is split has two dimensions, got {tensor}")
        for extents in (shape, valid):
            if extents[axis] != DYNAMIC_INDEX:
                extents[axis] = scale(extents[axis])
    return tensor_type(shape, tensor.element_type, valid=valid)


@irdl_op_definition
class AivShardOp(InferringOp):
    """The part of a cube core's tensor that this vector core gets."""

    name = "ptensor.aiv_shard"

    source = operand_def(reads(TENSOR))
    split = word_prop(TransportSplitAttr)
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = tensor_of(operands[0])
        return (_scaled(source, properties["split"], lambda extent: -(-extent // 2)),)


@irdl_op_definition
class AicGatherOp(InferringOp):
    """The tensor that a cube core gets, from the parts of the two vector cores."""

    name = "ptensor.aic_gather"

    source = operand_def(reads(TENSOR))
    split = word_prop(TransportSplitAttr)
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = tensor_of(operands[0])
        return (_scaled(source, properties["split"], lambda extent: 2 * extent),)
