"""Which of the cores that run one kernel this one is."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.indices import index_value
from pypto_xdsl.interpreters.machine import machine_of


@register_impls
class TileGridFunctions(InterpreterFunctions):
    @impl(tile.GetBlockIdxOp)
    def run_get_block_idx(
        self, interpreter: Interpreter, op: tile.GetBlockIdxOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(machine_of(interpreter).grid.block_index),)

    @impl(tile.GetBlockNumOp)
    def run_get_block_num(
        self, interpreter: Interpreter, op: tile.GetBlockNumOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(machine_of(interpreter).grid.block_count),)

    @impl(tile.GetSubblockIdxOp)
    def run_get_subblock_idx(
        self, interpreter: Interpreter, op: tile.GetSubblockIdxOp, args: PythonValues
    ) -> PythonValues:
        return (index_value(machine_of(interpreter).grid.subblock_index),)
