"""How a core of a chip is run: in which order its pipes go on, and what is only warned of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Check(Enum):
    """What a core is strict about."""

    UNDEFINED = "undefined"
    """Bytes are read that nobody wrote."""
    BOUNDS = "bounds"
    """A view reaches outside its memory."""
    ALIGNMENT = "alignment"
    """A view starts where its memory cannot be addressed."""
    ORDER = "order"
    """Two pipes touch the same bytes, one of them writes, and no event orders them."""
    EVENT = "event"
    """An event is set twice, or set and never waited for."""
    RULE = "rule"
    """The hardware has no such move, type or size."""


@dataclass(frozen=True)
class CoreSettings:
    """How cores are run."""

    seed: int | None = None
    """None: each instruction runs as soon as it may. A number: pipes take turns by chance."""
    lenient: frozenset[Check] = frozenset()
    """Checks that only warn."""


def parse_schedule(text: str) -> int | None:
    """The seed of `in-order` or `random:SEED`. Raises `ValueError`."""
    if text == "in-order":
        return None
    name, colon, seed = text.partition(":")
    if name != "random" or not colon or not seed.isdecimal():
        raise ValueError(f"expected in-order or random:SEED, got '{text}'")
    return int(seed)


def parse_checks(text: str) -> frozenset[Check]:
    """The checks of `undefined,order`, `all`, or of an empty text. Raises `ValueError`."""
    if text == "all":
        return frozenset(Check)
    if not text:
        return frozenset()
    known = {check.value: check for check in Check}
    found: list[Check] = []
    for name in text.split(","):
        if name not in known:
            raise ValueError(f"unknown check '{name}'; there are all, {_listed(known)}")
        found.append(known[name])
    return frozenset(found)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
