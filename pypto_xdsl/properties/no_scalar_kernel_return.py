"""
NoScalarKernelReturn: a device function returns tensors only.

The runtime passes scalars into a task by value and has no way back for them. The identity of a
task is known to whoever launches it, not to the task.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch import FuncOp, TaskIdType
from pypto_xdsl.properties.registry import Property


def _scalar_results(module: ModuleOp) -> Iterable[Diagnostic]:
    for function in walk(module):
        if not isinstance(function, FuncOp) or not function.kind.data.is_device:
            continue
        where = f"{function.kind.data.value} function '{function.sym_name.data}'"
        for index, type in enumerate(function.function_type.outputs.data):
            if is_element_type(type):
                yield diagnose(
                    function,
                    f"result #{index} of {where} is a scalar ({type}), but a task returns tensors "
                    "only: write it to a tensor of one element and read that with ptensor.read, "
                    "or compute it in the caller",
                )
            elif isinstance(type, TaskIdType):
                yield diagnose(
                    function,
                    f"result #{index} of {where} is the identity of a task, which only the "
                    "function that launches it knows: take it from the orch.submit there",
                )


PROPERTY = Property("NoScalarKernelReturn", "device functions return tensors only", _scalar_results)
