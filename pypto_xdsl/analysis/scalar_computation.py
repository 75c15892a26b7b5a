"""Which ops compute scalars from scalars alone: they can be done wherever their operands are."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.traits import ConstantLike, is_side_effect_free


@cache
def _is_scalar(type: type[Attribute]) -> bool:
    return issubclass(type, IntegerType | IndexType | AnyFloat)


def is_constant(op: Operation) -> bool:
    """Whether an op stands for a constant, and so may be repeated anywhere."""
    return (
        op.has_trait(ConstantLike, value_if_unregistered=False)
        and not op.operands
        and not op.regions
    )


def is_scalar_computation(op: Operation) -> bool:
    """
    Whether an op is a constant or computes scalars from scalars, and does nothing else.

    What has no operand and is no constant, such as the index of a core, depends on where it runs.
    """
    if op.regions or not op.results:
        return False
    # Asked of every op of a program: a look at the class, not the checks of a type.
    if not all(_is_scalar(result.type.__class__) for result in op.results):
        return False
    operands = op.operands
    if not operands:
        return is_constant(op)
    return all(_is_scalar(o.type.__class__) for o in operands) and is_side_effect_free(op)
