"""How numpy computes while programs run; each thread has settings of its own."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

_BUFFERED = 2048
"""How many elements numpy converts at once, as of f32 that are summed in f64: 16 KiB of these."""


@contextmanager
def quiet_floats() -> Generator[None]:
    """Floats follow IEEE without warnings, and numpy converts in the first cache."""
    buffered = np.setbufsize(_BUFFERED)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        np.setbufsize(buffered)
