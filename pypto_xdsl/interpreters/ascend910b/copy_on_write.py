"""
Windows of global memory that memories of cores hold uncopied.

What a core loads stays a window of the array that global memory is, until somebody writes there:
whoever writes to global memory has those windows copied first. Most of what is loaded is used up
before that, so that most loads copy nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pypto_xdsl.interpreters.elements import Array

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.ascend910b.memory import Span


@dataclass(eq=False)
class Lender:
    """Arrays in global memory that share bytes, mostly one, and who holds windows of them."""

    owners: list[Array]
    borrowers: set[Span] = field(default_factory=set["Span"])
    """Every span whose value is a window of it; others may be among them, and leave when asked."""

    def shares_memory_with(self, array: Array) -> bool:
        """Whether another array may have bytes of these."""
        return any(np.may_share_memory(owner, array) for owner in self.owners)

    def recall(self, written: Array | None = None) -> None:
        """Have all windows copied that share bytes with what is about to be written (None: all)."""
        for span in tuple(self.borrowers):
            value = span.value
            if value is None or span.lender is not self:
                self.borrowers.discard(span)
            elif written is None or np.may_share_memory(value, written):
                self.borrowers.discard(span)
                value = value.copy()
                value.flags.writeable = False
                span.value, span.lender = value, None


@dataclass(eq=False)
class Lenders:
    """The arrays in global memory that a group of cores has touched."""

    by_owner: dict[int, Lender] = field(default_factory=dict[int, Lender])
    """By the identity of what owns the memory; buffers may have one owner."""

    def lender_of(self, memory: Array) -> Lender:
        """That of a buffer's memory."""
        owner = owner_of(memory)
        found = self.by_owner.get(id(owner))
        if found is None:
            others = self.by_owner.values()
            found = next((o for o in others if o.shares_memory_with(owner)), Lender([]))
            found.owners.append(owner)
            self.by_owner[id(owner)] = found
        return found

    def find(self, owner: object) -> Lender | None:
        """That of an owner, if it is global memory."""
        return self.by_owner.get(id(owner))


def owner_of(array: Array) -> Array:
    """The array that owns the memory of another, or the last one that is an array."""
    while type(array.base) is np.ndarray:
        array = array.base
    return array
