"""
Whether two tensors can be one buffer at the same moment, where each may be one of several.

    %r:2 = scf.for ... iter_args(%p = %a, %q = %b) {   // each of %p, %q is %a or %b,
      ...                                              // but never both the same
      scf.yield %q, %p
    }

Two values are apart if all that control flow may hand over as the two, at the same time, is
apart: the inits, and what the body yields, which leads back to the question itself. The greatest
answer without a contradiction is taken. A buffer that is allocated later than a name was made is
apart from it.

A question looks at a bounded number of pairs; where that does not do, the two may be one.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, BlockArgument, OpResult, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots
from pypto_xdsl.analysis.control_flow import forwarded

MOST_PAIRS = 256
"""So many pairs are looked at for one question."""

_Pair = tuple[SSAValue, SSAValue]


class Overlap:
    """Which tensors of a function can be one buffer at the same moment."""

    def __init__(self, roots: BufferRoots):
        self._roots = roots
        self._order = {value: place for place, value in enumerate(roots.places)}
        self._origins: dict[SSAValue, SSAValue] = {}
        for value in roots.places:
            sources = roots.sources(value)
            only = sources[0] if len(sources) == 1 and not roots.may_allocate(value) else None
            self._origins[value] = value if only is None else self._origins.get(only, only)
        self._parts = _parts(roots)
        self._apart: dict[_Pair, bool] = {}

    def origin(self, value: SSAValue) -> SSAValue:
        """The value whose buffer this is for certain: an allocation, a parameter, or a merge."""
        return self._origins.get(value, value)

    def part(self, value: SSAValue) -> SSAValue:
        """
        The view, allocation or parameter that a value is a next name of; a merge of several, or of
        one that was made anew on each way to it, is a part by itself. Values with one part are
        the same elements wherever both are visible.
        """
        return self._parts.get(value, value)

    def view(self, value: SSAValue) -> OpResult | None:
        """The view that a value is the next name of, or itself; None if it is no view."""
        part = self.part(value)
        if isinstance(part, OpResult) and self._roots.view(part) is not None:
            return part
        return None

    def around(self, part: SSAValue) -> SSAValue | None:
        """The part that a part is a view of, None if it is no view."""
        view = self._roots.view(part)
        if view is None or not isinstance(part, OpResult):
            return None
        viewed = view.named_operand(part)
        return None if viewed is None else self.part(viewed)

    def may_be_one(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether two tensors may be in one buffer, at a moment at which both are there."""
        return not self._are_apart(self._pair(one, other))

    def _pair(self, one: SSAValue, other: SSAValue) -> _Pair:
        """The origins of two values, that of the later one first."""
        one, other = self.origin(one), self.origin(other)
        if self._order.get(one, -1) < self._order.get(other, -1):
            return other, one
        return one, other

    def _are_apart(self, wanted: _Pair) -> bool:
        if wanted in self._apart:
            return self._apart[wanted]
        seen = {wanted}
        todo = [wanted]
        while todo:
            pair = todo.pop()
            reasons = None if len(seen) > MOST_PAIRS else self._follows_from(pair)
            if reasons is None:
                self._apart[wanted] = False
                return False
            for reason in reasons:
                if reason not in seen:
                    seen.add(reason)
                    todo.append(reason)
        # Nothing speaks against any of them.
        self._apart.update(dict.fromkeys(seen, True))
        return True

    def _follows_from(self, pair: _Pair) -> list[_Pair] | None:
        """The pairs that have to be apart so that this one is; None if it is not."""
        if pair in self._apart:
            return [] if self._apart[pair] else None
        later, earlier = pair
        if later is earlier:
            return None
        place, other = self._roots.of(later), self._roots.of(earlier)
        if not place.is_complete or not other.is_complete:
            return None
        if not any(root in other.roots for root in place.roots):
            return []
        if _come_together(later, earlier):
            return [
                self._pair(one, another)
                for one, another in zip(forwarded(later), forwarded(earlier), strict=True)
            ]
        sources = self._roots.sources(later)
        if not sources:
            # Allocated when the earlier one was there already; or both are one parameter.
            return [] if isinstance(later, OpResult) else None
        return [self._pair(source, earlier) for source in sources]


def _parts(roots: BufferRoots) -> dict[SSAValue, SSAValue]:
    """What each tensor is a next name of."""
    nearest: dict[SSAValue, frozenset[SSAValue]] = {}
    users: dict[SSAValue, list[SSAValue]] = {}
    late: list[SSAValue] = []
    for value in roots.places:
        if _is_part(roots, value):
            nearest[value] = frozenset((value,))
            continue
        sources = roots.sources(value)
        nearest[value] = _few(nearest.get(source, frozenset()) for source in sources)
        for source in sources:
            users.setdefault(source, []).append(value)
            if source not in nearest:
                late.append(value)
    while late:
        value = late.pop()
        found = _few(nearest.get(source, frozenset()) for source in roots.sources(value))
        if found != nearest[value]:
            nearest[value] = found
            late.extend(users.get(value, ()))
    parts: dict[SSAValue, SSAValue] = {}
    for value in roots.places:
        sources = roots.sources(value)
        if _is_part(roots, value):
            parts[value] = value
        elif len(sources) == 1:
            parts[value] = parts.get(sources[0], value)
        else:
            (only, *more) = nearest[value] or (value,)
            parts[value] = value if more or not _is_outside(only, value) else only
    return parts


def _is_part(roots: BufferRoots, value: SSAValue) -> bool:
    sources = roots.sources(value)
    return not sources or roots.may_allocate(value) or roots.view(value) is not None


def _few(sets: Iterable[frozenset[SSAValue]]) -> frozenset[SSAValue]:
    """The union of sets, of which one element and more than one are told apart."""
    found: list[SSAValue] = []
    for value in (value for one in sets for value in one):
        if value not in found:
            found.append(value)
        if len(found) == 2:
            break
    return frozenset(found)


def _is_outside(value: SSAValue, merge: SSAValue) -> bool:
    """Whether a value is the same on every way to a merge: it was made before all of them."""
    home = value.owner if isinstance(value.owner, Block) else value.owner.parent
    block = merge.owner if isinstance(merge.owner, Block) else merge.owner.parent
    if isinstance(merge.owner, Block):
        block = merge.owner.parent_block()
    while block is not None:
        if block is home:
            return True
        block = block.parent_block()
    return False


def _come_together(one: SSAValue, other: SSAValue) -> bool:
    """Whether control flow hands two values over at the same time."""
    if isinstance(one, BlockArgument) and isinstance(other, BlockArgument):
        together = one.owner is other.owner
    elif isinstance(one, OpResult) and isinstance(other, OpResult):
        together = one.op is other.op
    else:
        together = False
    return together and len(forwarded(one)) == len(forwarded(other)) > 0
