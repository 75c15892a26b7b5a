"""
How far a run of `pypto-run` is, on stderr: the loops it is in, the tasks launched, the time.

    main: block 12 of 32 (38 %), 49 tasks, 2.4 s

On a terminal one line is written again and again, after a first second in which nothing is shown;
elsewhere, where it was asked for, a line each second. Either way no more often than a few times a
second, whatever the program does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

from xdsl.dialects import scf
from xdsl.ir import Operation

_CLEAR = "\r\x1b[K"
_FIRST = 1.0
"""Seconds before anything is shown that nobody asked for."""


@dataclass
class _Loop:
    name: str
    count: int
    done: int = 0

    def __str__(self) -> str:
        share = 100 * self.done // max(self.count, 1)
        return f"{self.name} {self.done} of {self.count} ({share} %)"


@dataclass(eq=False)
class RunProgress:
    """Is told by the interpreter (`interpreters/progress.py`), and writes."""

    out: TextIO
    is_terminal: bool
    is_asked: bool = False
    clock: Callable[[], float] = time.monotonic
    _loops: dict[int, list[_Loop]] = field(default_factory=dict[int, list[_Loop]])
    """Those that each thread is in: the cores of a group run in threads."""
    _tasks: int = 0
    _task: str = ""
    _is_shown: bool = False

    def __post_init__(self) -> None:
        self._started = self.clock()
        self._next = self._started + (0.0 if self.is_asked else _FIRST)

    def enter(self, loop: Operation, count: int) -> None:
        """A loop begins."""
        mine = self._loops.setdefault(threading.get_ident(), [])
        mine.append(_Loop(_name_of(loop), count))

    def advance(self) -> None:
        """The innermost loop has done one more."""
        self._loops[threading.get_ident()][-1].done += 1
        self._look()

    def leave(self) -> None:
        """The innermost loop has ended."""
        self._loops[threading.get_ident()].pop()

    def launch(self, op: Operation, name: str) -> None:
        """A task is launched."""
        self._tasks += 1
        self._task = name
        self._look()

    def finish(self) -> None:
        """The run has ended: leave nothing on a terminal, else a last line."""
        if self.is_terminal:
            if self._is_shown:
                self.out.write(_CLEAR)
                self.out.flush()
        elif self.is_asked:
            self._write(f"done: {self._summary()}")

    def _look(self) -> None:
        now = self.clock()
        if now < self._next:
            return
        self._next = now + (0.2 if self.is_terminal else 1.0)
        loops = ", ".join(map(str, self._loops.get(threading.get_ident(), ())))
        where = f"{self._task}: " if self._task else ""
        self._write(f"{where}{loops}, {self._summary()}" if loops else where + self._summary())

    def _summary(self) -> str:
        plural = "" if self._tasks == 1 else "s"
        tasks = f"{self._tasks} task{plural}, " if self._tasks else ""
        return f"{tasks}{self.clock() - self._started:.1f} s"

    def _write(self, text: str) -> None:
        self._is_shown = True
        self.out.write(f"{_CLEAR}{text}" if self.is_terminal else f"{text}\n")
        self.out.flush()


def _name_of(loop: Operation) -> str:
    """The induction variable as the program spells it."""
    if isinstance(loop, scf.ForOp):
        return loop.body.block.args[0].name_hint or "iteration"
    return "iteration"
