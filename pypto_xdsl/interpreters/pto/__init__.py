"""
How the `pto` dialect runs: on the bytes of one core and of global memory, in program order.

`PTO_FUNCTIONS` are the implementations; `call_implementation` runs the lowered kernel that a
declaration of orchestration names.
"""

from xdsl.interpreter import InterpreterFunctions

from pypto_xdsl.interpreters.pto.gathering import PtoGatherFunctions
from pypto_xdsl.interpreters.pto.global_gathering import PtoGlobalGatherFunctions
from pypto_xdsl.interpreters.pto.instructions import PtoInstructionFunctions
from pypto_xdsl.interpreters.pto.kernels import (
    PtoKernelFunctions,
    call_implementation,
    run_group,
    run_kernel,
)
from pypto_xdsl.interpreters.pto.movement import PtoMovementFunctions
from pypto_xdsl.interpreters.pto.partial import PtoPartialFunctions
from pypto_xdsl.interpreters.pto.products import PtoProductFunctions
from pypto_xdsl.interpreters.pto.quantization import PtoQuantizationFunctions
from pypto_xdsl.interpreters.pto.rearrangement import PtoRearrangementFunctions
from pypto_xdsl.interpreters.pto.refused import PtoRefusedFunctions
from pypto_xdsl.interpreters.pto.scalars import PtoScalarFunctions
from pypto_xdsl.interpreters.pto.sorting import PtoSortFunctions
from pypto_xdsl.interpreters.pto.views import PtoViewFunctions

PTO_FUNCTIONS: tuple[type[InterpreterFunctions], ...] = (
    PtoViewFunctions,
    PtoMovementFunctions,
    PtoInstructionFunctions,
    PtoPartialFunctions,
    PtoQuantizationFunctions,
    PtoProductFunctions,
    PtoRearrangementFunctions,
    PtoGatherFunctions,
    PtoGlobalGatherFunctions,
    PtoSortFunctions,
    PtoScalarFunctions,
    PtoRefusedFunctions,
    PtoKernelFunctions,
)
"""Implementations of the dialect."""

__all__ = ["PTO_FUNCTIONS", "call_implementation", "run_group", "run_kernel"]
