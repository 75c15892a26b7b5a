"""How the `ptensor` dialect runs, one file for each file of the dialect."""

from xdsl.interpreter import InterpreterFunctions

from pypto_xdsl.interpreters.ptensor.aliases import TensorAliasFunctions
from pypto_xdsl.interpreters.ptensor.elementwise import TensorElementwiseFunctions
from pypto_xdsl.interpreters.ptensor.grid import TensorGridFunctions
from pypto_xdsl.interpreters.ptensor.memory import TensorMemoryFunctions
from pypto_xdsl.interpreters.ptensor.reductions import TensorReductionFunctions
from pypto_xdsl.interpreters.ptensor.selection import TensorSelectionFunctions

TENSOR_FUNCTIONS: tuple[type[InterpreterFunctions], ...] = (
    TensorElementwiseFunctions,
    TensorReductionFunctions,
    TensorSelectionFunctions,
    TensorMemoryFunctions,
    TensorAliasFunctions,
    TensorGridFunctions,
)
"""Implementations of the dialect. A file of a new family is added here."""
