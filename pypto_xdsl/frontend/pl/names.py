"""
What names stand for while a function is read.

Names are kept in frames, one for each region that is being read, so that what a region changed is
what its frame holds. A name that names a tensor moves on when the tensor is written through any
other name: `rename` binds all names of the old value to the new one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from xdsl.ir import SSAValue

from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.frontend.pl.aliases import Aliases, Scope
from pypto_xdsl.frontend.pl.values import Unavailable, Value, is_tile, is_value

_UNDEFINED = Unavailable("is not defined here")


class Frame(dict[str, Value]):
    """What names stand for in a region, as far as the region changed it."""

    def __init__(self) -> None:
        super().__init__()
        self.assigned: dict[str, Value] = {}
        """What the text itself assigned, before later writes moved names on."""
        self.scope: Scope | None = None
        """The region, if it is one that ops are read into."""


class Names:
    """What names stand for, in frames; the last frame is the innermost region."""

    def __init__(self) -> None:
        self.frames: list[Frame] = [Frame()]
        self._named = defaultdict[SSAValue, list[str]](list)
        self.aliases = Aliases()
        self._sharing = defaultdict[SSAValue, dict[str, None]](dict)
        """The names that stood for tensors in each buffer."""

    def lookup(self, name: str) -> Value:
        """What a name stands for. Raises `KeyError`."""
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        raise KeyError(name)

    def get(self, name: str) -> Value:
        """What a name stands for, `Unavailable` if nothing."""
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return _UNDEFINED

    def assigned(self, name: str) -> Value:
        """
        What the text last assigned to a name, whatever was written through it since. It names the
        same tensor.
        """
        for frame in reversed(self.frames):
            if name in frame.assigned:
                return frame.assigned[name]
        return self.get(name)

    def bind(self, name: str, value: Value) -> None:
        """Let a name stand for a value, in the innermost frame."""
        self.frames[-1].assigned[name] = value
        self.move(name, value)

    def move(self, name: str, value: Value) -> None:
        """Let a name stand for the next value of the tensor that it names."""
        self._move(name, value, self.frames[-1])

    def _move(self, name: str, value: Value, frame: Frame) -> None:
        frame[name] = value
        if not is_value(value):
            return
        if is_tensor_type(value.type):
            for root in self.aliases.of(value).place.roots:
                self._sharing[root][name] = None
        elif not is_tile(value):
            return
        self._named[value].append(name)

    def is_outside(self, name: str) -> bool:
        """Whether a name stands for something outside of the innermost region."""
        return any(name in frame for frame in self.frames[:-1])

    def sharing(self, roots: Iterable[SSAValue]) -> list[str]:
        """The names that now stand for tensors in one of these buffers."""
        found: dict[str, None] = {}
        for root in roots:
            names = self._sharing[root]
            for name in list(names):
                value = self.get(name)
                if not is_value(value) or not is_tensor_type(value.type):
                    if not any(name in frame for frame in self.frames):
                        del names[name]
                elif root in self.aliases.of(value).place.roots:
                    found[name] = None
        return list(found)

    def names_of(self, value: SSAValue) -> list[str]:
        """The names that now stand for a tensor."""
        found = dict.fromkeys(self._named.get(value, ()))
        return [name for name in found if self.get(name) is value]

    def rename(self, old: SSAValue, new: SSAValue, frame: int | None = None) -> None:
        """
        Let every name of a tensor stand for the tensor's next value, in the innermost frame or,
        where it stood for the old one further out, in that of the given place at the outermost.
        """
        if old is new:
            return
        for name in self.names_of(old):
            place = len(self.frames) - 1
            while frame is not None and place > frame and name not in self.frames[place]:
                place -= 1
            self._move(name, new, self.frames[place])

    def leave(self, name: str, value: Value, *regions: Frame) -> None:
        """Let a name stand for what regions gave it: assigned there, or moved on."""
        if any(name in region.assigned for region in regions):
            self.bind(name, value)
        else:
            self.move(name, value)

    @contextmanager
    def frame(self) -> Generator[Frame]:
        """A frame for a region; it holds what the region changed, also afterwards."""
        frame = Frame()
        self.frames.append(frame)
        try:
            yield frame
        finally:
            self.frames.pop()
