"""
Which loaded tiles may stay windows of the tensors they come from, instead of copies.

A tile is a value: what is written to the tensor later must not reach it. Where everything that
uses a loaded tile runs before anything writes a tensor again, and keeps nothing of it, nobody can
tell the window from a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind, get_effects

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.machine import Machine

_KEEPS_NOTHING = "keeps_nothing"
_ImplT = TypeVar("_ImplT")

_FARTHEST = 64
"""How many ops after a load are looked at for the last use."""


def keeps_nothing(implementation: _ImplT) -> _ImplT:
    """Say that results of an implementation share no elements with its operands that are tiles."""
    setattr(implementation, _KEEPS_NOTHING, True)
    return implementation


def does_keep_nothing(implementation: object) -> bool:
    """Whether that was said."""
    return getattr(implementation, _KEEPS_NOTHING, False)


def is_borrowed(machine: Machine, loaded: SSAValue) -> bool:
    """Whether a tile that an op loads may be a window of the tensor."""
    users = {use.operation for use in loaded.uses}
    op = loaded.owner
    assert isinstance(op, Operation)
    block = op.parent
    for user in users:
        if user.parent is not block or not does_keep_nothing(machine.implementation(user)):
            return False
    for _ in range(_FARTHEST):
        if not users:
            return True
        op = op.next_op
        if op is None:
            return False
        users.discard(op)
        # The last one may write: it has read the tile before.
        if users and _may_write(op):
            return False
    return False


def _may_write(op: Operation) -> bool:
    effects = get_effects(op)
    return effects is None or any(effect.kind is MemoryEffectKind.WRITE for effect in effects)
