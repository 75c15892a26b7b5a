"""
Programs of several cores that run one at a time, and wait for each other.

    turns = Turns(deadlock=lambda: [diagnose(...)])
    turns.run([cube, first_vector, second_vector])      # each calls `turns.wait` where it waits

Each runs in a thread of its own, because a program is deep inside an interpreter where it waits.
One goes on until it has to wait, or ends, and hands over to the next that can go on, in a fixed
order, or by chance. When none can, who is at work raises what `deadlock` says of it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError
from pypto_xdsl.interpreters.float_settings import quiet_floats

_STACK, _STACK_OF_MANY = 256 * 1024 * 1024, 32 * 1024 * 1024
"""Bytes: deep nests take many Python frames; of many programs, each has less."""

_MANY = 8

_GIVE_WAY = 0.5
"""How likely a program lets others go on before it has to, where chance decides."""


class Deadlock(DiagnosticsError):
    """No program can go on: what each of them waits for is told already."""


class _Stopped(Exception):
    """Another program found an error."""


def _nothing() -> None:
    """Nothing goes on beside the programs."""


@dataclass(eq=False)
class Turns:
    """Programs that take turns, known by their places."""

    deadlock: Callable[[], Sequence[Diagnostic]]
    """Explains that none can go on, while some are not done."""
    settle: Callable[[], object] = _nothing
    """Lets go on what needs no program, before one looks who may."""
    chance: random.Random | None = None
    """Decides who goes on of those that can; None: the next one."""
    _count: int = 1
    _turn: int = 0
    _waiting: dict[int, Callable[[], bool]] = field(default_factory=dict[int, Callable[[], bool]])
    """What each program that waits is waiting for, by its place."""
    _done: set[int] = field(default_factory=set[int])
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _error: BaseException | None = None

    def run(self, programs: Sequence[Callable[[], None]]) -> None:
        """Run programs to their ends. Raises what the first that fails raises."""
        self._count = len(programs)
        if self.chance is not None:
            self._turn = self.chance.randrange(self._count)
        if len(programs) == 1:
            programs[0]()
            return
        previous = threading.stack_size(_STACK if len(programs) < _MANY else _STACK_OF_MANY)
        try:
            threads = [
                # Warnings are told to who listens where the programs were started.
                threading.Thread(
                    target=copy_context().run, args=(self._program, place, program), daemon=True
                )
                for place, program in enumerate(programs)
            ]
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(previous)
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def wait(self, place: int, is_ready: Callable[[], bool]) -> None:
        """The program at a place, which is at work, goes on once something is the case."""
        self._waiting[place] = is_ready
        while True:
            self.settle()
            if is_ready():
                break
            if self._count == 1:
                raise Deadlock(self.deadlock())
            self._hand_over(place)
            self._await_turn(place)
        del self._waiting[place]

    def offer(self, place: int) -> None:
        """Where chance decides, let another go on than the program at a place, which is at work."""
        if self.chance is not None and self._count > 1 and self.chance.random() < _GIVE_WAY:
            self._hand_over(place)
            self._await_turn(place)

    @property
    def at_work(self) -> int:
        """The place of the program that goes on now."""
        return self._turn

    def is_done(self, place: int) -> bool:
        """Whether the program at a place has come to its end."""
        return place in self._done

    def _program(self, place: int, program: Callable[[], None]) -> None:
        try:
            self._await_turn(place)
            with quiet_floats():
                program()
            self._done.add(place)
            self._hand_over(place)
        except _Stopped:
            pass
        except BaseException as e:
            self._stop(e)

    def _stop(self, error: BaseException) -> None:
        with self._changed:
            if self._error is None:
                self._error = error
            self._changed.notify_all()

    def _await_turn(self, place: int) -> None:
        with self._changed:
            while self._turn != place and self._error is None:
                self._changed.wait()
            if self._error is not None:
                raise _Stopped

    def _hand_over(self, place: int) -> None:
        """Let the next program that can go on, if one is left."""
        self.settle()
        others = (other % self._count for other in range(place + 1, place + 1 + self._count))
        ready = filter(self._can_go_on, others)
        if self.chance is None:
            chosen = next(ready, None)
        else:
            found = list(ready)
            chosen = self.chance.choice(found) if found else None
        if chosen is not None:
            with self._changed:
                self._turn = chosen
                self._changed.notify_all()
        elif len(self._done) < self._count:
            raise Deadlock(self.deadlock())

    def _can_go_on(self, place: int) -> bool:
        if place in self._done:
            return False
        is_ready = self._waiting.get(place)
        return is_ready is None or is_ready()
