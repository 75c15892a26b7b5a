"""
Ops of `pto` that are not run, and why: each is an error at its line. What of them a 910B does not
have at all is refused by `convert-pto-to-ascend910b`, or when the text is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.op_tables import Run, implements

_OTHER_DEVICES = (
    "is about other devices, and one is run: run each device's kernels on their own, and copy "
    "between their tensors in the program that calls them"
)
_OTHER_CORE = (
    "is about another core, which only runs beside this one after convert-pto-to-ascend910b"
)
_NO_ADDRESSES = (
    "makes a number of a pointer, or the reverse, and no address is known: move a pointer by "
    "pto.addptr"
)
_A5 = "is no instruction of a 910B"

REFUSED: Mapping[type[Operation], str] = {
    **dict.fromkeys(
        (
            pto.BuildAsyncSessionOp,
            pto.TPutAsyncOp,
            pto.TGetAsyncOp,
            pto.TNotifyOp,
            pto.TWaitOp,
            pto.TTestOp,
            pto.TPutOp,
            pto.TGetOp,
            pto.TBroadcastOp,
            pto.CommTGatherOp,
            pto.CommTScatterOp,
            pto.TReduceOp,
        ),
        _OTHER_DEVICES,
    ),
    pto.PtrToIntOp: _NO_ADDRESSES,
    pto.IntToPtrOp: _NO_ADDRESSES,
    pto.TSyncOp: "waits for tiles, which PTOAS does not plan: use events",
    pto.InitializeL2LPipeOp: _A5,
    **dict.fromkeys((pto.GetBufOp, pto.RlsBufOp, pto.SetIntraBlockOp, pto.WaitIntraBlockOp), _A5),
}
"""The reason completes a sentence that begins with the op."""

OF_CORES: Mapping[type[Operation], str] = dict.fromkeys(
    (
        pto.AicInitializePipeOp,
        pto.AivInitializePipeOp,
        pto.ReserveBufferOp,
        pto.ImportReservedBufferOp,
        pto.TAllocToAivOp,
        pto.TAllocToAicOp,
        pto.TPushToAivOp,
        pto.TPushToAicOp,
        pto.TPopFromAicOp,
        pto.TPopFromAivOp,
        pto.TFreeFromAicOp,
        pto.TFreeFromAivOp,
        pto.DeclareGlobalOp,
        pto.DeclareTileOp,
        pto.InitializeL2G2LPipeOp,
        pto.TPushOp,
        pto.TPopOp,
        pto.TAllocOp,
        pto.TFreeOp,
        pto.SetQuantScalarOp,
        pto.SetQuantVectorOp,
        pto.SyncAllOp,
        pto.SyncSetOp,
        pto.SyncWaitOp,
    ),
    _OTHER_CORE,
)
"""Likewise, only where a kernel runs without its pipes and cores."""


def _refuse(op_class: type[Operation], reason: str) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        raise ProgramError(reason)

    return run


@register_impls
@implements({**REFUSED, **OF_CORES}, _refuse)
class PtoRefusedFunctions(InterpreterFunctions):
    """Raises for each of these."""
