"""
One name for each symbol of a signature.

A symbol says that run-time extents are equal. Reading the extent of one tensor here and of
another there gives one number two names, and what is computed from them no longer compares
equal. `name_symbols_once` replaces all these reads by one of the first parameter with the symbol.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.ptensor import DimOp, is_tensor_type, symbols_of, tensor_of


def name_symbols_once(function: FuncOp) -> None:
    """
    Read the extent of each symbol of the signature once, at the start of the function, wherever
    it is read now. Constant extents, and those without a symbol of the signature, stay.
    """
    declared: dict[str, tuple[SSAValue, int]] = {}
    for parameter in function.parameters:
        if is_tensor_type(parameter.type):
            for axis, symbol in enumerate(symbols_of(parameter.type)):
                if symbol is not None:
                    declared.setdefault(symbol, (parameter, axis))
    if not declared:
        return
    block = function.body.block
    reads: dict[str, DimOp] = {}
    for op in tuple(walk(function)):
        if not isinstance(op, DimOp):
            continue
        symbol = symbols_of(tensor_of(op.source.type))[op.axis.value.data]
        if symbol is None or symbol not in declared:
            continue
        if symbol not in reads:
            read = DimOp(*declared[symbol])
            read.location = op.location
            read.result.name_hint = symbol
            first = block.first_op
            assert first is not None
            if reads:
                block.insert_op_after(read, list(reads.values())[-1])
            else:
                block.insert_op_before(read, first)
            reads[symbol] = read
        op.result.replace_all_uses_with(reads[symbol].result)
        assert op.parent is not None
        op.parent.erase_op(op)
