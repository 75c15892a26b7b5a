"""
The manners of our command lines: exit statuses, one-line errors, no tracebacks.

Exit status 0: done.  1: the program is wrong.  2: the command line is wrong (an unknown flag or
pass, a bad option, a file that cannot be read or written).  130: interrupted.  141: whoever read
our output closed it.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import BinaryIO, NoReturn, cast

from xdsl.ir import Operation
from xdsl.utils.exceptions import ArgSpecParseError

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose_at
from pypto_xdsl.garbage_collection import collecting_rarely

WRONG_PROGRAM = 1
WRONG_COMMAND_LINE = 2
INTERRUPTED = 130
"""As a shell reports a command that died from Ctrl-C."""
OUTPUT_CLOSED = 141
"""As a shell reports a command that died from a closed pipe."""

TRACEBACK_VARIABLE = "PYPTO_TRACEBACK"
"""Environment variable that makes an internal error print its Python traceback."""

RECURSION_LIMIT = 50_000
"""xDSL parses, prints and clones by recursion, some ten Python frames for each nested region."""


class CommandLineError(Exception):
    """The command line is wrong: one line says how."""


def run_tool(name: str, tool: Callable[[], int]) -> int:
    """
    Run a command-line tool; its exit status.

    `tool` returns its own status, and may raise `CommandLineError` and `DiagnosticsError`.
    """
    _stand_in_for_closed_streams()
    recursion_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(recursion_limit, RECURSION_LIMIT))
    try:
        with collecting_rarely():
            status = tool()
        sys.stdout.flush()
        return status
    except CommandLineError as e:
        return _complain(name, str(e), WRONG_COMMAND_LINE)
    except ArgSpecParseError as e:
        return _complain(name, _one_line(e), WRONG_COMMAND_LINE)
    except DiagnosticsError as e:
        print(e, file=sys.stderr)
        return WRONG_PROGRAM
    except BrokenPipeError:
        # The reader of our output has seen enough, as `head` does: nothing to complain about.
        _discard_stdout()
        return OUTPUT_CLOSED
    except KeyboardInterrupt:
        return _complain(name, "interrupted", INTERRUPTED)
    except OSError as e:
        return _complain(name, describe_os_error(e), WRONG_COMMAND_LINE)
    except Exception as e:
        print(internal_error(e, name), file=sys.stderr)
        return WRONG_PROGRAM
    finally:
        sys.setrecursionlimit(recursion_limit)


class _Closed(RawIOBase):
    """A standard stream that the caller closed."""

    def __init__(self, what: str):
        self._what = what

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def _refuse(self, _: object) -> NoReturn:
        raise OSError(errno.EBADF, f"standard {self._what} is closed")

    readinto = write = _refuse


def _stand_in_for_closed_streams() -> None:
    """
    Let a closed standard stream be an error when it is used, as any other file.

    Python has None for it; and what is printed to a closed stderr goes to stdout.
    """
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdin = TextIOWrapper(BufferedReader(_Closed("input")))
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        closed = cast(BinaryIO, _Closed("output"))
        sys.stdout = TextIOWrapper(closed, write_through=True)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _complain(name: str, message: str, status: int) -> int:
    print(f"{name}: error: {message}", file=sys.stderr)
    return status


def _one_line(error: ArgSpecParseError) -> str:
    """xDSL shows the specification, a line of carets, and below what it expected."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
    return f"bad pass specification '{lines[2]}': {lines[-1]}" if len(lines) > 3 else lines[-1]


def describe_os_error(error: OSError) -> str:
    """`cannot open 'x': no such file or directory`, as one line."""
    reason = (error.strerror or str(error)).lower()
    return f"cannot open '{error.filename}': {reason}" if error.filename else reason


def _discard_stdout() -> None:
    """Keep the interpreter from complaining when it flushes a closed stdout at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        # Not a real file, as in tests: there is nothing to flush.
        return


def internal_error(error: Exception, where: str) -> Diagnostic:
    """
    What to tell of an exception that nobody expected: a bug of ours, with the place in the
    program that brought it out, if one is at hand.
    """
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error, file=sys.stderr)
    reason = str(error).strip().partition("\n")[0]
    kind = type(error).__name__
    message = f"internal error in {where}: {kind}{': ' if reason else ''}{reason}"
    if isinstance(error, RecursionError):
        message = f"the program is nested too deeply for {where}"
    op = _op_at_hand(error)
    found = Diagnostic(message) if op is None else diagnose_at(op.location, message)
    return found.with_notes(found.note(f"set {TRACEBACK_VARIABLE}=1 to see the traceback"))


def located(error: Exception, message: str, file: str) -> Diagnostic:
    """
    An error of a program that knows no place: at the op that brought it out, if that is less than
    all of the program.
    """
    op = _op_at_hand(error)
    if op is None or op.parent is None:
        return Diagnostic(message, file)
    return diagnose_at(op.location, message)


def _op_at_hand(error: Exception) -> Operation | None:
    """The op that the innermost function on the way to the error was working on."""
    op: Operation | None = None
    frames = error.__traceback__
    while frames is not None:
        local = frames.tb_frame.f_locals.get("op")
        if isinstance(local, Operation):
            op = local
        frames = frames.tb_next
    return op
