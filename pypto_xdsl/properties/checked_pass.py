"""
Passes and targets that declare the properties they rely on.

A pass of the package derives from `CheckedPass`, names what it requires, produces and
invalidates, and does its work in `run`:

    @dataclass(frozen=True)
    class NormalizeReturnOrderPass(CheckedPass):
        \"\"\"...\"\"\"

        name = "normalize-return-order"
        required = ("SplitIncoreOrch", "IncoreTileOps")
        produced = ("ReturnParamsExplicit",)

        def run(self, ctx: Context, module: ModuleOp) -> None: ...

The checks are part of `apply`, so they hold under `pypto-opt`, plain `xdsl-opt` and a
`PassPipeline` in Python alike. A violated requirement is an error at each op at fault, which
names the pass, the property, and the pass to run first. A pass that asks the backend derives from
`properties.backend_pass.BackendPass`; a target derives from `CheckedTarget` and does its work in
`write`.

All passes follow structured control flow only, and so each requires `NormalizedStmtStructure`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, ClassVar, final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.target import Target

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, Note
from pypto_xdsl.properties.holding import Verdict, forget, settle, violations
from pypto_xdsl.properties.registry import get_property

_ALWAYS_REQUIRED = ("NormalizedStmtStructure",)


@dataclass(frozen=True)
class CheckedPass(ModulePass):
    """A pass whose declared properties are checked before and after it runs."""

    required: ClassVar[tuple[str, ...]] = ()
    """Properties that must hold before the pass."""
    produced: ClassVar[tuple[str, ...]] = ()
    """Properties that hold after the pass."""
    invalidated: ClassVar[tuple[str, ...]] = ()
    """Properties that may not hold any more after the pass."""

    @abstractmethod
    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the module in place; it verifies and has the required properties."""

    @final
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require(f"pass '{self.name}'", (*_ALWAYS_REQUIRED, *self.required), op)
        self.run(ctx, op)
        settle(op)
        forget(self.invalidated)
        try:
            verdicts = violations(self.produced, op)
        except Exception:
            # Verifiers of properties expect valid IR; a pass may have left something else.
            if invalid := verify(op):
                raise DiagnosticsError(
                    _blame(f"pass '{self.name}' left invalid IR", error) for error in invalid
                ) from None
            raise
        errors = [
            _blame(f"pass '{self.name}' did not establish property {name}", error)
            for name, verdict in verdicts.items()
            for error in verdict
        ]
        if errors:
            raise DiagnosticsError(errors)


@dataclass(frozen=True)
class CheckedTarget(Target):
    """A target whose required properties are checked before it writes."""

    required: ClassVar[tuple[str, ...]] = ()
    """Properties that must hold for the program to leave in this language."""

    @abstractmethod
    def write(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write the module, which verifies and has the required properties."""

    @final
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        require(f"target '{self.name}'", self.required, module)
        self.write(ctx, module, output)


def require(who: str, names: tuple[str, ...], module: ModuleOp) -> None:
    """Raise `DiagnosticsError` for each violation of the properties that `who` requires."""
    errors = [
        error
        for name, verdict in violations(names, module).items()
        for error in _unmet(who, name, verdict)
    ]
    if errors:
        raise DiagnosticsError(errors)


def _unmet(who: str, name: str, verdict: Verdict) -> Iterator[Diagnostic]:
    for number, error in enumerate(verdict):
        blamed = _blame(f"{who} requires property {name}", error)
        if number == 0:
            # Said once: a program that misses a property mostly does so at many ops.
            blamed = blamed.with_notes(*_advice(name, blamed))
        yield blamed


def _blame(reason: str, error: Diagnostic) -> Diagnostic:
    return Diagnostic(
        f"{reason}: {error.message}",
        error.file,
        error.line,
        error.column,
        error.severity,
        error.notes,
    )


def _advice(name: str, error: Diagnostic) -> Iterator[Note]:
    yield error.note(f"property {name} holds if {get_property(name).summary}")
    producers = passes_producing(name)
    if producers:
        yield error.note("run " + " or ".join(f"'{producer}'" for producer in producers) + " first")


def passes_producing(name: str) -> list[str]:
    """
    The registered passes to run for a property: those that produce it without requiring it.

    Loads every pass of the plug-ins, and so is for error messages only.
    """
    from xdsl.universe import XDSL_UNIVERSE, Universe

    found: list[str] = []
    for pass_name, factory in Universe.get_multiverse().all_passes.items():
        if pass_name in XDSL_UNIVERSE.all_passes:
            continue
        try:
            pass_type = factory()
        except ImportError:
            # A broken plug-in must not hide the error that this is a hint for.
            continue
        if (
            issubclass(pass_type, CheckedPass)
            and name in pass_type.produced
            and name not in (*_ALWAYS_REQUIRED, *pass_type.required)
        ):
            found.append(pass_name)
    return found
