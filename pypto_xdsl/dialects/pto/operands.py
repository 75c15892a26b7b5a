"""The operand kinds that families declare: which types, and what the instruction does with them."""

from dataclasses import replace

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, IndexType, IntegerType
from xdsl.ir import Attribute

from pypto_xdsl.dialects.pto.declaration import OperandConstraint, Role
from pypto_xdsl.dialects.pto.shaped_types import PartitionTensorViewType, PtrType, TensorViewType
from pypto_xdsl.dialects.pto.tile_types import TileBufType


def tile(role: Role) -> OperandConstraint:
    """A tile in one of the core's memories."""
    return OperandConstraint((TileBufType,), role, "a tile (!pto.tile_buf)")


def window(role: Role) -> OperandConstraint:
    """A window of a tensor in global memory."""
    return OperandConstraint(
        (PartitionTensorViewType,), role, "a window (!pto.partition_tensor_view)"
    )


READ_TILE = tile(Role.READ)
WRITE_TILE = tile(Role.WRITE)
UPDATE_TILE = tile(Role.UPDATE)
SCRATCH_TILE = tile(Role.SCRATCH)
NEEDED_SCRATCH_TILE = replace(SCRATCH_TILE, needed_before_060=True)
VIEW_TILE = tile(Role.VIEW)
READ_WINDOW = window(Role.READ)
WRITE_WINDOW = window(Role.WRITE)

GM_VIEW_TYPES = (TensorViewType, PartitionTensorViewType)

FLOAT_TYPES: tuple[type[Attribute], ...] = (Float16Type, BFloat16Type, Float32Type)


def _is_signless(attr: Attribute) -> bool:
    return str(attr).startswith("i")


INDEX_TYPE = IndexType()

INDEX = OperandConstraint((IndexType,), Role.VALUE, "an index", only=INDEX_TYPE)
SCALAR = OperandConstraint((IntegerType, *FLOAT_TYPES), Role.VALUE, "a number")
ANY_INTEGER = OperandConstraint((IntegerType,), Role.VALUE, "an integer")
SIGNLESS = OperandConstraint((IntegerType,), Role.VALUE, "a signless integer", _is_signless)
I64 = OperandConstraint((IntegerType,), Role.VALUE, "an i64", only=IntegerType(64))
I32 = OperandConstraint((IntegerType,), Role.VALUE, "an i32", only=IntegerType(32))
F32 = OperandConstraint((Float32Type,), Role.VALUE, "an f32", only=Float32Type())
POINTER = OperandConstraint((PtrType,), Role.VIEW, "a pointer (!pto.ptr)")
READ_POINTER = OperandConstraint((PtrType,), Role.READ, "a pointer (!pto.ptr)")
WRITE_POINTER = OperandConstraint((PtrType,), Role.WRITE, "a pointer (!pto.ptr)")
