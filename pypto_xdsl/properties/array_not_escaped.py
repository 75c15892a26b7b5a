"""ArrayNotEscaped: an array lives on the stack of one function, and does not cross its boundary."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose
from pypto_xdsl.dialects.orch import FuncOp, FunctionKind, is_array
from pypto_xdsl.properties.registry import Property


def _escaping_arrays(module: ModuleOp) -> Iterable[Diagnostic]:
    for function in walk(module):
        # An inline function has no stack of its own.
        if not isinstance(function, FuncOp) or function.kind.data is FunctionKind.INLINE:
            continue
        types = function.function_type
        for place, found in (("parameter", types.inputs), ("result", types.outputs)):
            for index, type in enumerate(found):
                if is_array(type):
                    yield diagnose(
                        function,
                        f"{place} #{index} of '{function.sym_name.data}' is an array ({type}), "
                        "which stays on the stack of one function: pass its elements one by one, "
                        "or a tensor",
                    )


PROPERTY = Property(
    "ArrayNotEscaped", "no function has an array as parameter or result", _escaping_arrays
)
