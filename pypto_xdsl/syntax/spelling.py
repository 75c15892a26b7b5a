"""Suggestions for a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable


def similar(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one, if any is like it."""
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(set(known)), n=1, cutoff=0.7)
    return close[0] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: `; did you mean 'x'?`, or nothing."""
    close = similar(name, known)
    return f"; did you mean '{close}'?" if close else ""
