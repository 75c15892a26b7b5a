"""
verify-target: refuses what the target cannot run, at the user's line, and changes nothing.

An op may be sound PyPTO and yet no instruction of the target: an element type that it does not
compute, a comparison that it lacks, a move between memories with no way between them. Found here,
it is an error that names the op and the target's rule; found by the assembler, it would be one
about text that nobody wrote:

    tile.not's operand holds i32, expected i16 or ui16

Kernels without a target are an error: that nothing is found must not mean that nobody looked.

The rules stand in `backend/<name>/rules.py`. Only kernels are looked at. Moves between a cube
core's memories and a vector core's are legal in a kernel that is not specialised yet: they become
transfers when mixed kernels are expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.properties.backend_pass import BackendPass, no_target


@dataclass(frozen=True)
class VerifyTargetPass(BackendPass):
    """Refuse what the target cannot run."""

    name = "verify-target"
    required = ("SplitIncoreOrch",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        if backend is None:
            if any(not kernel.is_declaration for kernel in kernels(module)):
                raise no_target(module)
            return
        if errors := list(illegal_ops(module, backend)):
            raise DiagnosticsError(errors)


def illegal_ops(module: ModuleOp, backend: Backend) -> Iterator[Diagnostic]:
    """What the backend cannot run of the module's kernels, in the order of the text."""
    verdicts = _TileVerdicts(backend)
    for kernel in kernels(module):
        for op in walk(kernel):
            for rule in backend.rules.get(type(op), ()):
                for message in rule.check(op):
                    yield _refusal(op, backend, rule.name, message)
            for result in op.results:
                # A type is wrong where it first appears, not wherever it goes from there.
                if isinstance(result.type, TileType) and result.type not in op.operand_types:
                    for rule_name, message in verdicts.of(result.type):
                        yield _refusal(op, backend, rule_name, message)


def _refusal(op: Operation, backend: Backend, rule: str, message: str) -> Diagnostic:
    return diagnose(op, f"breaks a rule of {backend.name} ({rule}): {message}")


class _TileVerdicts:
    """What is wrong with each type of tile, found once."""

    def __init__(self, backend: Backend):
        self.backend = backend
        self._verdicts: dict[TileType, tuple[tuple[str, str], ...]] = {}

    def of(self, type: TileType) -> tuple[tuple[str, str], ...]:
        """The rules that tiles of the type break, each with what is wrong."""
        found = self._verdicts.get(type)
        if found is None:
            found = tuple(
                (rule.name, message)
                for rule in self.backend.tile_rules
                for message in rule.check(type)
            )
            self._verdicts[type] = found
        return found
