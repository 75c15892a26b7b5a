"""The text of an orchestration function: a file for the runtime's orchestrator thread."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType

from pypto_xdsl.diagnostics import OpError, warn
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.targets.orchestration import tensors
from pypto_xdsl.targets.orchestration.body import TENSOR, Body
from pypto_xdsl.targets.orchestration.kernels import Kernels
from pypto_xdsl.targets.orchestration.names import base_name
from pypto_xdsl.targets.orchestration.scalars import scalar_type
from pypto_xdsl.targets.orchestration.statements import write_op
from pypto_xdsl.targets.orchestration.text import Text

ENTRY = "aicpu_orchestration_entry"
CONFIGURATION = "aicpu_orchestration_config"
_EXPORTED = '__attribute__((visibility("default")))'


def function_text(function: FuncOp, kernels: Kernels) -> Text:
    """The file of a function. Raises `OpError` where C++ has no spelling for what it does."""
    kernels.restart()
    text = Text()
    text.comment(f"Orchestration of @{function.sym_name.data}.")
    numbers = text.place()
    for header in ("stddef.h", "stdint.h", "stdio.h"):
        text.line(f"#include <{header}>")
    text.line()
    text.line('#include "pto_orchestration_api.h"')
    text.line()
    text.line('extern "C" {')
    text.line()
    text.line(_EXPORTED)
    text.line(f"PTO2OrchestrationConfig {CONFIGURATION}(const ChipTaskArgs& orch_args) {{")
    inner = text.place(1)
    inner.line("(void)orch_args;")
    inner.line("return PTO2OrchestrationConfig{")
    text.place(2).line(f".expected_arg_count = {len(function.parameters)},")
    text.place(1).line("};")
    text.line("}")
    text.line()
    text.line(_EXPORTED)
    text.line(f"void {ENTRY}(const ChipTaskArgs& orch_args) {{")
    body = Body(function, kernels, text.place(1), write_op)
    _parameters(body)
    tensors.allocate_early(body, function.body.block, body.place())
    body.ops(function.body.block)
    _returns(body)
    text.line("}")
    text.line()
    text.line('}  // extern "C"')
    for number, name, core in kernels.used():
        numbers.comment(f"Kernel {number}: {name} ({core.name})")
    return text


def _parameters(body: Body) -> None:
    """Unpack the arguments: tensors and scalars are counted apart."""
    function = body.function
    tensor_lines: list[str] = []
    scalar_lines: list[str] = []
    for position, parameter in enumerate(function.parameters):
        base = base_name(parameter) if parameter.name_hint else f"arg{position}"
        mark = "" if body.liveness.is_needed(parameter) else "[[maybe_unused]] "
        if isinstance(parameter.type, TensorType):
            name = body.declare(f"ext_{base}")
            source = f"orch_args.tensor({len(tensor_lines)}).ref()"
            tensor_lines.append(f"{mark}const {TENSOR}& {name} = {source};")
        else:
            type = scalar_type(parameter.type)
            if type is None:
                raise OpError(
                    function,
                    f"has parameter {position} of type {parameter.type}; orchestration is given "
                    "tensors and scalars",
                )
            name = body.declare(base)
            source = f"orch_args.scalar({len(scalar_lines)})"
            scalar_lines.append(f"{mark}{type} {name} = from_u64<{type}>({source});")
        body.bind(parameter, name)
    for title, lines in (("External tensors", tensor_lines), ("Scalar params", scalar_lines)):
        if lines:
            body.line(f"// {title}")
            body.lines(lines)
            body.line()
    if not tensor_lines and not scalar_lines:
        body.line("(void)orch_args;")


def _returns(body: Body) -> None:
    """Nothing is returned; what is no parameter is lost, and that is told."""
    end = body.function.return_op
    if end is None:
        return
    lineage = body.kernels.lineage.of(body.function)
    for position, (value, found) in enumerate(zip(end.values, lineage, strict=False)):
        if found is None:
            what = f"%{value.name_hint}" if value.name_hint else f"result {position}"
            warn(end, f"returns {what}, which is no parameter: nobody gets it from the runtime")
