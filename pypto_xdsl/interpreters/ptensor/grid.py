"""Which of the cores that run one kernel this one is, as the code on whole tensors says it."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import ptensor
from pypto_xdsl.interpreters.indices import index_value
from pypto_xdsl.interpreters.machine import machine_of


@register_impls
class TensorGridFunctions(InterpreterFunctions):
    @impl(ptensor.GetBlockIdxOp)
    def run_get_block_idx(
        self, interpreter: Interpreter, op: ptensor.GetBlockIdxOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(machine_of(interpreter).grid.block_index),)

    @impl(ptensor.GetBlockNumOp)
    def run_get_block_num(
        self, interpreter: Interpreter, op: ptensor.GetBlockNumOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(machine_of(interpreter).grid.block_count),)

    @impl(ptensor.GetSubblockIdxOp)
    def run_get_subblock_idx(
        self, interpreter: Interpreter, op: ptensor.GetSubblockIdxOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(machine_of(interpreter).grid.subblock_index),)
