"""
Which properties hold now: verified when asked, remembered until the module changes.

`violations(names, module)` is how passes and drivers ask, `violations_of` how the user does.
Under a driver that opened `remembering()`, as `pypto-opt` and the named pipelines do, a verdict
is derived once and kept while the module stays as it is; under any other driver each question is
answered afresh. `not_checking()` answers passes and drivers that all holds, for
`--disable-verify`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.snapshot import Snapshot
from pypto_xdsl.diagnostics import Diagnostic, report
from pypto_xdsl.properties.registry import get_property

Verdict = tuple[Diagnostic, ...]


def derive(name: str, module: ModuleOp) -> Verdict:
    """The errors of a property, from the IR; its warnings and remarks are reported."""
    errors: list[Diagnostic] = []
    for diagnostic in get_property(name).verifier(module):
        if diagnostic.is_error:
            errors.append(diagnostic)
        else:
            report(diagnostic)
    return tuple(errors)


class KnownVerdicts:
    """
    What was derived about a module, for as long as it does not change.

    Only what runs between two questions can change it: a `CheckedPass` settles by itself, a
    driver settles after every other pass.
    """

    def __init__(self):
        self._module: ModuleOp | None = None
        self._snapshot: Snapshot | None = None
        self._verdicts: dict[str, Verdict] = {}
        self.is_valid_ir = False
        """The module verified, and has not changed since; set by the driver."""

    def settle(self, module: ModuleOp) -> None:
        """Something may have changed the module: forget what was known if it did."""
        if self._module is module and self._snapshot is not None:
            now = Snapshot(module)
            if now == self._snapshot:
                return
            self._snapshot = now
        self._start_over(module)

    def verdicts(self, names: Iterable[str], module: ModuleOp) -> dict[str, Verdict]:
        """The verdict of each property, deriving those not known."""
        self.look_at(module)
        for name in names:
            if name not in self._verdicts:
                self._verdicts[name] = derive(name, module)
        return {name: self._verdicts[name] for name in names}

    def look_at(self, module: ModuleOp) -> None:
        """Speak of this module from now on."""
        if self._module is not module:
            self._snapshot = Snapshot(module)
            self._start_over(module)

    def _start_over(self, module: ModuleOp) -> None:
        self._module = module
        self._verdicts = {}
        self.is_valid_ir = False

    def forget(self, names: Iterable[str]) -> None:
        """Derive these again when asked next, even if the module stays as it is."""
        for name in names:
            self._verdicts.pop(name, None)


class _NoQuestions(KnownVerdicts):
    def settle(self, module: ModuleOp) -> None:
        pass

    def verdicts(self, names: Iterable[str], module: ModuleOp) -> dict[str, Verdict]:
        return dict.fromkeys(names, ())


_known: ContextVar[KnownVerdicts | None] = ContextVar("verdicts of properties", default=None)


@contextmanager
def remembering() -> Generator[KnownVerdicts]:
    """Keep verdicts inside, until the module changes."""
    known = KnownVerdicts()
    token = _known.set(known)
    try:
        yield known
    finally:
        _known.reset(token)


@contextmanager
def not_checking() -> Generator[None]:
    """Take all properties for granted inside."""
    token = _known.set(_NoQuestions())
    try:
        yield
    finally:
        _known.reset(token)


def violations(names: Iterable[str], module: ModuleOp) -> dict[str, Verdict]:
    """Property name -> its errors in the module, none if it holds."""
    names = tuple(names)
    known = _known.get()
    if known is None:
        return {name: derive(name, module) for name in names}
    return known.verdicts(names, module) if names else {}


def violations_of(name: str, module: ModuleOp) -> Verdict:
    """The errors of a property that the user asks about, which `not_checking()` is not about."""
    known = _known.get()
    if known is None or isinstance(known, _NoQuestions):
        return derive(name, module)
    return known.verdicts((name,), module)[name]


def settle(module: ModuleOp) -> None:
    """A pass ran: what was known about the module holds only if it changed nothing."""
    known = _known.get()
    if known is not None:
        known.settle(module)


def forget(names: Iterable[str]) -> None:
    """A pass said that these may not hold any more."""
    known = _known.get()
    if known is not None:
        known.forget(names)
