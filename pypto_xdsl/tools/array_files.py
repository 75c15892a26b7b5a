"""Reading and writing `.npy` files: never unpickled, never half read, errors in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pypto_xdsl.tools.command_line import CommandLineError, describe_os_error


def load_array(path: str) -> npt.NDArray[Any]:
    """The array in a `.npy` file, in the byte order of this machine."""
    try:
        with open(path, "rb") as file:
            magic = file.read(len(np.lib.format.MAGIC_PREFIX))
    except OSError as e:
        raise CommandLineError(describe_os_error(e)) from e
    if magic != np.lib.format.MAGIC_PREFIX:
        raise CommandLineError(f"'{path}' is not a .npy file")
    try:
        # Mapping reads the header alone, so that neither a wrong length nor a huge shape costs
        # memory.
        mapped: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError, OverflowError, MemoryError) as e:
        raise CommandLineError(f"cannot read '{path}': {_reason(e)}") from e
    if mapped.dtype.names is not None or mapped.dtype.kind not in "fiubV":
        raise CommandLineError(f"'{path}' holds {mapped.dtype}, not numbers")
    try:
        return np.array(mapped, mapped.dtype.newbyteorder("="), order="C")
    except MemoryError as e:
        raise CommandLineError(f"cannot read '{path}': it does not fit into memory") from e


def _reason(error: Exception) -> str:
    """What is wrong with a file, from the words in which numpy puts it."""
    text = str(error).partition("\n")[0]
    if "Python objects" in text or "allow_pickle" in text:
        return "it holds pickled Python objects, which are never loaded"
    if "greater than file size" in text or isinstance(error, EOFError):
        return "it is truncated"
    if "empty file" in text:
        return "it holds no elements"
    if isinstance(error, OverflowError | MemoryError):
        return "its shape is beyond memory"
    return f"its header is damaged ({text})"


def save_array(path: str, array: npt.NDArray[Any]) -> None:
    """Write a `.npy` file."""
    try:
        with open(path, "wb") as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
    except OSError as e:
        reason = (e.strerror or str(e)).lower()
        raise CommandLineError(f"cannot write '{path}': {reason}") from e
