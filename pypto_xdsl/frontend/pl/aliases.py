"""
Which tensors of a function share a buffer, and what was written there.

    w = pl.reshape(x, [32])
    w = pl.store(t, [0], w)
    y = pl.add(x, x)                  # sees what was stored

A write gives its tensor the next name; another name of the buffer is behind from then on. Where
such a name is read again it gets its own next name, `ptensor.updated`, once for all writes that it
is behind (`Context.current`). What is never read again costs nothing. Where many views overlap, the
whole gets its next name first, and each view is told by that.

Values that surely name the same elements have the same *part*: a view, or a whole buffer. Of two
parts the windows tell whether they overlap, as far as they are constant.

What a region wrote is forgotten at its end; what it hands on counts as one write after it, see
`handed_on.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, takewhile
from typing import TypeGuard

from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import is_side_effect_free

from pypto_xdsl.analysis.buffer_roots import MOST_ROOTS, Place, part_of, viewed, whole
from pypto_xdsl.analysis.write_index import WriteIndex
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.ptensor.memory import UpdatedOp
from pypto_xdsl.dialects.ptensor.types import tensor_of

MOST_NAMED = 8
"""Of more writes than these a view is told by a name of the whole that has them."""
MOST_KNOWN = 32
"""So many of the writes that a tensor is known to have are looked at."""
LONGEST_INDEX = 64
"""So many values are compared to see whether indices are the same."""


@dataclass(frozen=True, slots=True)
class TensorName:
    """What a tensor value is a name of."""

    place: Place
    """The buffers that it may be in, and where there."""
    part: SSAValue
    """The view, or the whole buffer, that it is a next name of."""
    around: SSAValue | None
    """The part that this is a view of."""
    moment: int
    """It has the buffer as writes up to this moment left it."""

    def at(self, moment: int) -> TensorName:
        """The same with the buffer as writes up to another moment left it."""
        return TensorName(self.place, self.part, self.around, moment)


@dataclass(frozen=True, slots=True)
class Write:
    """A name that a write gave, or control flow."""

    moment: int
    value: SSAValue
    name: TensorName
    place: Place
    """Where it wrote."""
    is_entry: bool
    """A loop hands it in: earlier iterations may have written."""
    is_renamed: bool
    """Names of the same part stay behind: a loop has it under a name that its header gives."""
    views: tuple[SSAValue, ...] = ()
    """The views that the part lies in, itself if it is one."""


@dataclass(eq=False)
class Scope:
    """A region that is being read, and what was written in it so far."""

    block: Block
    frame: int = 0
    """The place of its frame of names."""
    in_core: bool = False
    """Whether a core runs it."""
    writes: list[Write] = field(default_factory=list[Write])


class Aliases:
    """The tensors of one function."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self._depths: dict[Block, int] = {}
        self._names: dict[SSAValue, TensorName] = {}
        self._writes: dict[SSAValue, WriteIndex[Write]] = {}
        self._inside: dict[SSAValue, list[Write]] = {}
        """Of each view the writes to what lies in it."""
        self._newest: dict[SSAValue, list[SSAValue]] = {}
        """Of each whole buffer the names that it got, the last one last."""
        self._now = 0
        self._seen: dict[SSAValue, int] = {}
        """Up to which moment a tensor turned out to be behind no write."""
        self._written: set[SSAValue] = set()
        self._made: list[UpdatedOp] = []

    # Regions.

    def enter(self, scope: Scope) -> None:
        """Begin to read a region, or go on at its end."""
        self._depths[scope.block] = len(self.scopes)
        self.scopes.append(scope)
        if scope.writes:
            # These were forgotten when tensors were looked at since.
            self._seen.clear()
        for write in scope.writes:
            self._remember(write)

    def leave(self) -> None:
        """Forget what was written in the innermost region."""
        scope = self.scopes.pop()
        del self._depths[scope.block]
        for write in reversed(scope.writes):
            for root in write.place.roots:
                self._writes[root].pop()
            for view in write.views:
                self._inside[view].pop()

    def depth(self, value: SSAValue) -> int | None:
        """How many regions are around the one that defines a value; None if none of those here."""
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        return None if block is None else self._depths.get(block)

    def is_outside(self, value: SSAValue) -> bool:
        """Whether a value is defined outside of the innermost region."""
        depth = self.depth(value)
        return depth is not None and depth < len(self.scopes) - 1

    # Tensors.

    def of(self, value: SSAValue) -> TensorName:
        """What a tensor value is a name of."""
        found = self._names.get(value)
        steps: list[tuple[DeclaredOp, OpResult]] = []
        while found is None:
            op = value.owner
            named = None
            if isinstance(op, DeclaredOp) and isinstance(value, OpResult):
                named = op.named_operand(value)
                steps.append((op, value))
            if named is None:
                found = self._names[value] = TensorName(whole(value), value, None, 0)
                break
            value = named
            found = self._names.get(value)
        for op, result in reversed(steps):
            if result in self._names:
                continue
            if op.is_view(result):
                place = viewed(op, result, found.place)
                found = TensorName(place, result, found.part, found.moment)
            self._names[result] = found
        return found

    def merge(self, result: SSAValue, sources: Iterable[SSAValue]) -> None:
        """Control flow hands over one of `sources` as `result`."""
        names = [self.of(source) for source in sources]
        roots = dict.fromkeys(root for name in names for root in name.place.roots)
        first = names[0]
        alike = all(name.part is first.part for name in names)
        alike &= self.depth(first.part) is not None
        place = first.place
        if any(name.place != place for name in names):
            same = len(roots) == 1 and all(name.place.window == place.window for name in names)
            place = replace(
                place, roots=tuple(roots)[:MOST_ROOTS], window=place.window if same else None
            )
        part, around = (first.part, first.around) if alike else (result, None)
        self._names[result] = TensorName(place, part, around, self._now)
        self._seen.pop(result, None)

    def write(
        self,
        old: SSAValue | None,
        new: SSAValue,
        *,
        is_entry: bool = False,
        is_renamed: bool = False,
    ) -> Write:
        """A write gave a tensor its next name; or, without `old`, control flow did."""
        name = self.of(new if old is None else old)
        place = name.place
        if isinstance(new, OpResult) and isinstance(new.op, DeclaredOp):
            copied = new.op.copied_window(new)
            if copied is not None:
                source, starts = copied
                place = part_of(place, starts, tensor_of(source.type).get_shape())
        self._now += 1
        self._names[new] = name.at(self._now)
        if name.around is None:
            self._newest.setdefault(name.part, []).append(new)
        self._written.add(new)
        views = tuple(self._views_around(name))
        write = Write(self._now, new, name, place, is_entry, is_renamed, views)
        self.scopes[-1].writes.append(write)
        self._remember(write)
        return write

    def end_loop(self) -> None:
        """At the end of the body of a loop: what it hands in counts as written if it writes it."""
        writes = self.scopes[-1].writes
        roots = {root for w in writes if not w.is_entry for root in w.place.roots}
        for write in writes:
            if write.is_entry and roots.isdisjoint(write.place.roots):
                self._written.discard(write.value)

    def catch_up(self, values: Iterable[SSAValue]) -> None:
        """These have their buffers as they are now."""
        for value in values:
            self._names[value] = self.of(value).at(self._now)

    def _remember(self, write: Write) -> None:
        key = write.name.part, write.is_renamed, write.place.window
        for root in write.place.roots:
            index = self._writes.setdefault(root, WriteIndex())
            index.add(write.moment, write.place.window, key, write)
        for view in write.views:
            self._inside.setdefault(view, []).append(write)

    def _views_around(self, name: TensorName) -> Iterator[SSAValue]:
        """The views that a part lies in, itself if it is one."""
        while name.around is not None:
            yield name.part
            name = self.of(name.around)

    def behind(self, value: SSAValue, most: int | None = None) -> Sequence[Write]:
        """
        The writes that a tensor does not have yet: of each part the last, in their order; where
        they are more than `most`, not all of them.
        """
        name = self.of(value)
        since = max(name.moment, self._seen.get(value, 0))
        if since == self._now:
            return ()
        newer = [
            writes
            for root in name.place.roots
            if (writes := self._writes.get(root)) and writes.last > since
        ]
        found = self._newest_of_parts(name, since, newer, most) if newer else ()
        if not found:
            self._seen[value] = self._now
            return ()
        writes = sorted(found, key=lambda write: write.moment)
        return [w for place, w in enumerate(writes) if not self._is_told(w, writes[place + 1 :])]

    def _newest_of_parts(
        self,
        name: TensorName,
        since: int,
        newer: Iterable[WriteIndex[Write]],
        most: int | None,
    ) -> Collection[Write]:
        """The writes after a moment that a tensor does not have: of each part the last."""
        found: dict[SSAValue, Write] = {}
        later: Iterable[Write] = chain.from_iterable(
            writes.after(since, name.place.window) for writes in newer
        )
        if self._is_loaded(name):
            inside = reversed(self._inside.get(name.part, ()))
            later = takewhile(lambda write: write.moment > since, inside)
        for write in later:
            part = write.name.part
            if part in found and found[part].moment >= write.moment:
                continue
            if part is name.part and not write.is_renamed:
                continue
            if write.place.may_overlap(name.place):
                found[part] = write
                if most is not None and len(found) > most:
                    break
        return found.values()

    def _is_told(self, write: Write, later: Sequence[Write]) -> bool:
        """Whether a later name has what was written, all of it."""
        return any(
            self.of(other.value).moment >= write.moment
            and self._lies_in(write.name, other.name.part)
            for other in later[-MOST_KNOWN:]
        )

    def _is_loaded(self, name: TensorName) -> bool:
        """
        Whether a tensor is a view that a kernel makes: PyPTO may load it there, so nobody can tell
        whether it sees later writes to what it is a view of.
        """
        if name.around is None:
            return False
        depth = self.depth(name.part)
        return depth is not None and self.scopes[depth].in_core

    def _lies_in(self, name: TensorName, part: SSAValue) -> bool:
        while name.part is not part:
            if name.around is None:
                return False
            name = self.of(name.around)
        return True

    def told_by(self, value: SSAValue) -> SSAValue | None:
        """The newest name of the whole that a tensor is a view of, which can tell it of writes."""
        name = self.of(value)
        if name.around is None or self._is_loaded(name):
            return None
        while name.around is not None:
            name = self.of(name.around)
        names = self._newest.get(name.part, [])
        while names and self.depth(names[-1]) is None:
            # Of a region that has ended.
            names.pop()
        return names[-1] if names else name.part

    def by_whole(self, whole: SSAValue) -> Write:
        """What tells a view of a whole of all writes that a name of the whole has."""
        name = self.of(whole)
        return Write(name.moment, whole, name, name.place, False, False)

    def update(self, value: SSAValue, writes: Sequence[Write]) -> tuple[UpdatedOp, int]:
        """
        The next name of a tensor after writes that it is behind, and the depth of the outermost
        region that has all of them.
        """
        op = self.next_name(value, writes)
        op.result.name_hint = value.name_hint
        depths = [self.depth(operand) for operand in op.operands]
        innermost = len(self.scopes) - 1
        depth = max(innermost if found is None else found for found in depths)
        # What regions further in wrote is not known where the op goes.
        known = [scope.writes[-1].moment for scope in self.scopes[: depth + 1] if scope.writes]
        name = self.of(value)
        self._names[op.result] = name.at(max(name.moment, *known, 0))
        if name.around is None:
            self._newest.setdefault(name.part, []).append(op.result)
        self._made.append(op)
        return op, depth

    def next_name(self, value: SSAValue, writes: Sequence[Write]) -> UpdatedOp:
        """What gives a tensor its next name after writes that it is behind."""
        known = set(islice(_updates(value), MOST_KNOWN))
        op = UpdatedOp(value, [write.value for write in writes if write.value not in known])
        self._names[op.result] = self.of(value).at(self._now)
        return op

    def is_put_back(
        self, source: SSAValue, update: UpdatedOp, starts: Sequence[int | SSAValue]
    ) -> bool:
        """
        Whether a tensor is the window of another at `starts`, and the only one that an update of
        that, the last op that was made, is about.
        """
        part = self.of(source).part
        view = part.owner
        return (
            update.result.first_use is None
            and self._made[-1] is update
            and list(update.by) == [source]
            and isinstance(view, DeclaredOp)
            and isinstance(part, OpResult)
            and part.type == source.type
            and self.of(part).around is self.of(update.source).part
            and _are_same(view.window_start(part) or (), starts)
        )

    def unnamed(self, op: UpdatedOp) -> None:
        """An update follows a write that gave no name."""
        self._made.append(op)

    def take_back(self, op: UpdatedOp) -> None:
        """Remove an op that nothing uses."""
        assert self._made[-1] is op
        self._made.pop()
        op.detach()
        op.erase()

    @property
    def made(self) -> int:
        """How many updates were made so far."""
        return len(self._made)

    def forget(self, block: Block, since: int) -> None:
        """A block is read again: of the updates made since then those in it are gone."""
        self._made[since:] = [op for op in self._made[since:] if not _is_in(op, block)]

    # The end.

    def _tells(self, value: SSAValue) -> bool:
        """Whether a name follows a write, or has what others wrote."""
        is_update = isinstance(value, OpResult) and isinstance(value.op, UpdatedOp)
        return value in self._written or is_update

    def finish(self, replaced: Callable[[SSAValue, SSAValue], None]) -> None:
        """
        Remove the updates that nobody reads, or that turned out to follow no write: what a loop
        was thought to carry, it does not.
        """
        remove_unused(reversed(self._made))
        for op in self._made:
            if op.parent is None:
                continue
            known = set(islice(_updates(op.source), MOST_KNOWN))
            by = [v for v in dict.fromkeys(op.by) if self._tells(v) and v not in known]
            if len(by) == len(op.by):
                continue
            new = op.source
            if by:
                made = UpdatedOp(op.source, by)
                made.location = op.location
                made.result.name_hint = op.result.name_hint
                assert op.parent is not None
                op.parent.insert_op_before(made, op)
                new = made.result
            replaced(op.result, new)
            op.result.replace_all_uses_with(new)
            op.detach()
            op.erase()


def remove_unused(updates: Iterable[UpdatedOp]) -> bool:
    """Remove those of some updates that nobody uses, and what only these used; whether any was."""
    todo = list(updates)
    found = False
    for op in todo:
        if op.result.first_use or op.parent is None:
            continue
        todo += (v.op for v in op.operands if isinstance(v, OpResult) and _is_update(v.op))
        op.detach()
        op.erase()
        found = True
    return found


def _is_update(op: Operation) -> TypeGuard[UpdatedOp]:
    return isinstance(op, UpdatedOp)


def _updates(value: SSAValue) -> Iterable[SSAValue]:
    """The writes that a tensor is known to have."""
    while isinstance(value, OpResult) and isinstance(value.op, UpdatedOp):
        yield from value.op.by
        value = value.op.source


def _are_same(some: Sequence[int | SSAValue], others: Sequence[int | SSAValue]) -> bool:
    """Whether indices are the same, or computed in the same way."""
    pairs = list(zip(some, others, strict=False))
    if len(some) != len(others):
        return False
    for one, other in pairs:
        if one is other or one == other:
            continue
        if not isinstance(one, OpResult) or not isinstance(other, OpResult):
            return False
        if len(pairs) > LONGEST_INDEX or not isinstance(one.op, type(other.op)):
            return False
        if not is_side_effect_free(one.op) or one.op.properties != other.op.properties:
            return False
        if len(one.op.operands) != len(other.op.operands):
            return False
        pairs += zip(one.op.operands, other.op.operands, strict=True)
    return True


def _is_in(op: Operation, block: Block) -> bool:
    around = op.parent
    while around is not None and around is not block:
        around = around.parent_block()
    return around is not None
