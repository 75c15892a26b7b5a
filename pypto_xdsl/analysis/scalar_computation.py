"""Which ops compute scalars from scalars alone: they can be done wherever their operands are."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.traits import ConstantLike, is_side_effect_free

from pypto_xdsl.dialects.element_types import is_element_type


def is_constant(op: Operation) -> bool:
    """Whether an op stands for a constant, and so may be repeated anywhere."""
    return op.has_trait(ConstantLike) and not op.operands and not op.regions


def is_scalar_computation(op: Operation) -> bool:
    """
    Whether an op is a constant or computes scalars from scalars, and does nothing else.

    What has no operand and is no constant, such as the index of a core, depends on where it runs.
    """
    if op.regions or not op.results:
        return False
    if not all(is_element_type(result.type) for result in op.results):
        return False
    if not op.operands:
        return is_constant(op)
    return all(is_element_type(operand.type) for operand in op.operands) and is_side_effect_free(op)
