"""Suggestions for a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: `; did you mean 'x'?`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, set(known), n=1, cutoff=0.7)
    return f"; did you mean '{close[0]}'?" if close else ""
