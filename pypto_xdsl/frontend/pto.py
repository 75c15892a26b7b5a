"""
The frontend `pto`: reads the text of PTOAS, `.pto`.

A `.pto` file is MLIR text, so this is the parser of the `pto` dialect with what holds for a whole
file: the target it is written for, and the attributes PTOAS knows on functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.frontend import Frontend

from pypto_xdsl.backend.registry import ARCHITECTURES
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.syntax.parser import parse_module


@dataclass(frozen=True)
class PtoFrontend(Frontend):
    """Reads `.pto`; refuses a file for another target than A2/A3."""

    name = "pto"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        """
        The module in a file.

        Raises `DiagnosticsError` where the text is wrong, or for another target.
        """
        module = parse_module(ctx, input.read().decode(), input_name)
        check_target(module)
        return module


def check_target(module: ModuleOp) -> None:
    """Raises `OpError` if a module is for another target than A2/A3."""
    arch = module.attributes.get(TARGET_ARCH)
    if arch is None:
        return
    if not isinstance(arch, StringAttr) or arch.data not in ARCHITECTURES:
        raise OpError(
            module,
            f"is for {TARGET_ARCH} = {arch}, but only A2/A3 is supported "
            f"({', '.join(ARCHITECTURES)})",
        )
