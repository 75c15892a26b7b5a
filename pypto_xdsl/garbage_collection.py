"""How often Python looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collecting_rarely() -> Generator[None]:
    """
    Inside, garbage is looked for less often: IR is one large structure that lives long, and looking
    it over all the time costs a fifth of the run. What was made inside counts as old after it, so
    that it is not looked over at once either.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # There and back: the way of the collector to make everything old.
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*thresholds)
