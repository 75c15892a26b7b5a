"""
Which backends there are, and which one a program is for.

A program names its target by the module attribute `pto.target_arch = "a2a3"`; a pass option
(`backend=ascend910b`) overrides it. Where the outermost module names none, the modules inside that
hold kernels may. There is no other state: a program that names no target has no backend, and
passes that ask one have nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp, StringAttr

from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.syntax.spelling import did_you_mean


def _lazily(name: str) -> Callable[[], Backend]:
    return lambda: import_module(f"pypto_xdsl.backend.{name}").BACKEND


BACKENDS: Mapping[str, Callable[[], Backend]] = {"ascend910b": _lazily("ascend910b")}
"""Backend name -> what imports it: `BACKEND` in the package of that name."""

ARCHITECTURES: Mapping[str, str] = dict.fromkeys(("a2a3", "a2", "a3"), "ascend910b")
"""Value of `pto.target_arch` -> backend name. PTOAS has one set of rules for A2 and A3."""


def check_backend_name(name: str | None) -> None:
    """Raise `ValueError` unless a pass option names a backend, or none."""
    if name is not None and name not in BACKENDS:
        hint = did_you_mean(name, BACKENDS)
        known = "" if hint else f"; there are {', '.join(BACKENDS)}"
        raise ValueError(f"unknown backend '{name}'{hint}{known}")


def backend_of(module: ModuleOp, name: str | None = None) -> Backend | None:
    """
    The backend of that name, else that of the program's target, else None.

    Raises `OpError` at the module if its target has no backend here.
    """
    if name is not None:
        return BACKENDS[name]()
    found = _named_by(module)
    if found is None:
        inside = {_named_by(op) for op in _modules_with_kernels(module)} - {None}
        if len(inside) > 1:
            raise OpError(module, "has kernels for several targets: run passes on one at a time")
        found = next(iter(inside), None)
    return None if found is None else BACKENDS[found]()


def _named_by(module: ModuleOp) -> str | None:
    """The name of the backend of a module's target, None if it names no target."""
    arch = module.attributes.get(TARGET_ARCH)
    if arch is None:
        return None
    found = ARCHITECTURES.get(arch.data) if isinstance(arch, StringAttr) else None
    if found is None:
        raise OpError(module, f"has the target {arch}, which is none of {', '.join(ARCHITECTURES)}")
    return found


def _modules_with_kernels(module: ModuleOp) -> Iterator[ModuleOp]:
    """The modules inside that hold kernels on tensors or tiles: no lowered ones."""
    for op in module.body.ops:
        if isinstance(op, ModuleOp):
            functions = (inner for inner in op.ops if isinstance(inner, FuncOp))
            if any(f.kind.data.is_in_core and not f.is_declaration for f in functions):
                yield op
            yield from _modules_with_kernels(op)
