"""
What a region hands on of the buffers that it wrote.

    for i in pl.range(4):
        w = pl.slice(x, [1, 32], [i, 0])
        w = pl.store(t, [0, 0], w)
    y = pl.add(x, x)                    # the loop has to carry x: nothing else tells what w was

A write is handed on by a name of the part that was written, where that is there outside too; else
by a name of what the part is a view of. All other names of the buffer are behind after the region,
see `aliases.py`. Where nobody reads the buffer any more, nothing is handed on.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xdsl.ir import OpResult, SSAValue

from pypto_xdsl.dialects.ptensor.memory import UpdatedOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.frontend.pl import statements
from pypto_xdsl.frontend.pl.context import Context
from pypto_xdsl.frontend.pl.names import Frame
from pypto_xdsl.frontend.pl.values import is_value


@dataclass(frozen=True)
class HandedOn:
    """What tells after a region what it wrote."""

    names: Sequence[str] = ()
    """Names that stand for it."""
    roots: AbstractSet[SSAValue] = frozenset()
    """The buffers that it wrote."""

    def and_of(self, other: HandedOn) -> HandedOn:
        """What tells after two branches what they wrote."""
        names = dict.fromkeys((*self.names, *other.names))
        return HandedOn(list(names), self.roots | other.roots)


class Uncarried(Exception):
    """A loop writes buffers that names outside have, and carries none of them: read it again."""

    def __init__(self, names: Sequence[str]):
        super().__init__()
        self.names = names


def end_region(
    context: Context,
    statement: ast.stmt,
    frame: Frame,
    carried: Collection[str] | None = None,
    explicit: Iterable[SSAValue] = (),
    *,
    is_scope: bool = False,
) -> HandedOn:
    """
    At the end of a region: what tells after it what it wrote. Whatever is read after it is made
    current. A loop carries the names `carried`, and what it carries by `init_values` starts as
    `explicit`. Raises `Uncarried`.
    """
    aliases = context.names.aliases
    writes = [write for write in aliases.scopes[-1].writes if not write.is_entry]
    if not writes:
        return HandedOn()
    written = dict.fromkeys(write.name.part for write in writes)
    roots = dict.fromkeys(root for write in writes for root in write.place.roots)
    sharing = context.names.sharing(roots)
    if context.exact:
        # The text says itself what it hands on; a scope gives what is in use after it.
        if not is_scope:
            return HandedOn((), roots.keys())
        parts = _by_part(context, sharing)
        return HandedOn(_newest_inside(context, parts, written, frame), roots.keys())
    alive = [name for name in sharing if is_alive(context, statement, name, carried is not None)]
    if not alive:
        _fall_behind(context, frame, carried or ())
        return HandedOn()
    settled = {aliases.of(value).part for value in explicit if is_tensor_type(value.type)}
    # The next name of a tensor is one of the same part.
    parts = _by_part(context, sharing)
    handed: dict[str, None] = {}
    uncarried: list[str] = []
    todo = deque(written)
    while todo:
        part = todo.popleft()
        if part in settled:
            continue
        settled.add(part)
        names: list[str] = []
        if aliases.is_outside(part):
            names = [name for name in parts.get(part, ()) if name in frame]
        if carried is not None:
            outside = [name for name in names if context.names.is_outside(name)]
            names = [name for name in names if name in carried]
            if outside and not names:
                uncarried += outside
                continue
        if names:
            handed |= dict.fromkeys(_newest(context, names))
            continue
        for name in _around(context, parts, part) or alive:
            value = context.names.get(name)
            if is_value(value) and aliases.of(value).part not in settled:
                # It hands on what was written through others.
                new = context.current(value, statement)
                if name not in frame:
                    context.names.move(name, new)
                todo.append(aliases.of(value).part)
    if uncarried:
        raise Uncarried(uncarried)
    _fall_behind(context, frame, (*handed, *(carried or ())))
    for name in (*handed, *(name for name in (*alive, *(carried or ())) if name in frame)):
        _make_current(context, name, statement)
    return HandedOn(list(handed), roots.keys())


def _newest_inside(
    context: Context,
    parts: Mapping[SSAValue, Sequence[str]],
    written: Iterable[SSAValue],
    frame: Frame,
) -> list[str]:
    """The names that a region gave to the newest values of parts that are there outside."""
    found: list[str] = []
    for part in written:
        if context.names.aliases.is_outside(part):
            names = [name for name in parts.get(part, ()) if name in frame]
            found += _newest(context, names) if names else ()
    return found


def _fall_behind(context: Context, frame: Frame, but: Collection[str]) -> None:
    """
    Names that a region only read anew, after writes through others, need not be handed on: after
    the region they are as far behind as before it.
    """
    outer = context.names.frames[:-1]
    for name, value in list(frame.items()):
        if name in frame.assigned or name in but or not is_value(value):
            continue
        base = value
        while isinstance(base, OpResult) and isinstance(base.op, UpdatedOp):
            base = base.op.source
        before = next((around[name] for around in reversed(outer) if name in around), None)
        if base is not value and base is before:
            del frame[name]


def make_current(context: Context, names: Iterable[str], frame: Frame, statement: ast.stmt) -> None:
    """Make names current at the end of a region that was read already."""
    with context.again(frame):
        for name in names:
            _make_current(context, name, statement)


def _make_current(context: Context, name: str, statement: ast.stmt) -> None:
    value = context.names.get(name)
    if is_value(value) and is_tensor_type(value.type):
        context.current(value, statement)


def resume(context: Context, handed: HandedOn, results: Iterable[SSAValue] = ()) -> None:
    """
    After a region: what the names that hand on what it wrote stand for is newer than all other
    names; so are those of its `results` that are in buffers that it wrote.
    """
    aliases = context.names.aliases
    found: dict[SSAValue, None] = {}
    for result in results:
        if is_tensor_type(result.type) and not handed.roots.isdisjoint(
            aliases.of(result).place.roots
        ):
            found[result] = None
    for value in map(context.names.get, handed.names):
        if is_value(value) and is_tensor_type(value.type):
            found[value] = None
    for value in found:
        aliases.write(None, value)
    aliases.catch_up(found)


def enter(context: Context, values: Iterable[SSAValue], renamed: int = 0) -> None:
    """
    At the start of an iteration: earlier ones may have written through `values`, the first of
    which have names of the header's.
    """
    found: list[SSAValue] = []
    for place, value in enumerate(values):
        if is_tensor_type(value.type):
            found.append(value)
            context.names.aliases.write(None, value, is_entry=True, is_renamed=place < renamed)
    context.names.aliases.catch_up(found)


def is_alive(context: Context, statement: ast.stmt, name: str, is_loop: bool) -> bool:
    """Whether a name may be read after a statement, or in the next iteration of it."""
    if statements.is_live(context, statement, name):
        return True
    return (
        is_loop
        and name.startswith(context.prefix)
        and context.liveness.is_read_again(statement, name.removeprefix(context.prefix))
    )


def sharers_alive(context: Context, statement: ast.stmt, value: SSAValue) -> bool:
    """Whether a name of the buffer of a tensor may be read after a loop, or in it again."""
    if context.exact:
        return False
    roots = context.names.aliases.of(value).place.roots
    return any(is_alive(context, statement, name, True) for name in context.names.sharing(roots))


def _by_part(context: Context, names: Iterable[str]) -> Mapping[SSAValue, Sequence[str]]:
    """The names of tensors by the part that each is a name of."""
    found: dict[SSAValue, list[str]] = {}
    for name in names:
        value = context.names.get(name)
        if is_value(value):
            found.setdefault(context.names.aliases.of(value).part, []).append(name)
    return found


def _newest(context: Context, names: Iterable[str]) -> list[str]:
    """Of names of one part those that stand for its newest value."""
    aliases = context.names.aliases
    values = {name: context.names.get(name) for name in names}
    moments = {v: aliases.of(v).moment for v in values.values() if is_value(v)}
    newest = max(moments.values())
    return [name for name, v in values.items() if is_value(v) and moments[v] == newest]


def _around(context: Context, parts: Mapping[SSAValue, Sequence[str]], part: SSAValue) -> list[str]:
    """A name of the nearest part around one that has names and is there outside of the region."""
    aliases = context.names.aliases
    around = aliases.of(part).around
    while around is not None:
        names = parts.get(around, ()) if aliases.is_outside(around) else ()
        if names:
            return _newest(context, names)[:1]
        around = aliases.of(around).around
    return []
