"""Programs of one core for tests, and how to run them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.dialects.pto import PtrType
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.pto import run_kernel
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.run import machine_for, running
from pypto_xdsl.syntax.parser import parse_module
from support.programs import context

FILE = "program.mlir"


def parsed(text: str, passes: str = "") -> ModuleOp:
    """A module, after some passes."""
    ctx = context()
    module = parse_module(ctx, text, FILE)
    module.verify()
    if passes:
        PassPipeline.parse_spec(Universe.get_multiverse().all_passes, passes).apply(ctx, module)
        module.verify()
    return module


def run_core(
    text: str | ModuleOp,
    arguments: Mapping[str, Any],
    *,
    passes: str = "",
    seed: int | None = None,
    strict: bool = True,
    cores: CoreSettings | None = None,
    name: str | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """
    Run the first `func.func`, or the one of a name; arrays are by parameter name, `None` makes
    16 x 64 undefined elements, numbers are indices. Returns the arrays after the run.
    """
    module = text if isinstance(text, ModuleOp) else parsed(text, passes)
    functions = [op for op in module.walk() if isinstance(op, func.FuncOp)]
    function = next(f for f in functions if name in (None, f.sym_name.data))
    machine = machine_for(module, strict=strict, cores=cores or CoreSettings(seed))
    tensors: dict[str, Any] = {}
    values: list[Any] = []
    for argument in function.body.block.args:
        given = arguments[argument.name_hint or ""]
        if isinstance(argument.type, PtrType):
            element = element_of(argument.type.element_type)
            if given is None:
                tensor = machine.undefined_tensor((16, 64), element)
            else:
                tensor = machine.new_tensor(np.array(given, element.storage), element)
            tensors[argument.name_hint or ""] = tensor
            values.append(Pointer.to(tensor))
        else:
            values.append(IntegerAttr(given, IndexType() if argument.type == IndexType() else 64))
    with running():
        run_kernel(machine, function, tuple(values))
    return {key: tensor.array for key, tensor in tensors.items()}
