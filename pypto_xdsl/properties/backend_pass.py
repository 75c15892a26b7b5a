"""Passes that ask for facts about the target: they have the option `backend` in common."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.registry import backend_of, check_backend_name
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.properties.checked_pass import CheckedPass


@dataclass(frozen=True)
class BackendPass(CheckedPass):
    """A pass that asks a backend; where no target is named it has nothing to ask for."""

    backend: str | None = None
    """The target's name; without it the module's `pto.target_arch` names the target."""

    def __post_init__(self) -> None:
        check_backend_name(self.backend)

    def backend_of(self, module: ModuleOp) -> Backend | None:
        """The target of a module; raises `OpError` where there is no such target."""
        return backend_of(module, self.backend)


def no_target(op: Operation) -> OpError:
    """Of an op that a pass cannot handle without a target."""
    return OpError(
        op,
        f'has no target: name one by the module attribute {TARGET_ARCH} = "a2a3" '
        "or the pass option backend",
    )
