"""
legalize-tile-cast: converts step by step where the target has no single conversion.

    %y = tile.cast %x, target_type = f16, mode = rint : !tile.tile<9x9xbf16> -> !tile.tile<9x9xf16>

becomes

    %y_f32 = tile.cast %x, target_type = f32, mode = rint : ... -> !tile.tile<9x9xf32>
    %y = tile.cast %y_f32, target_type = f16, mode = rint : ... -> !tile.tile<9x9xf16>

The types between lose nothing that arrives (`backend/cast_chains.py`). Each step rounds as the
cast does, but for a step to f16 on the way to something narrower: to round to nearest twice is not
to round to nearest, and so it rounds to odd, which the next step makes right. Without a target
there is nothing to do; a conversion that the target has no chain for is an error at its line.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f16, f32
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.cast_chains import cast_chain
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.ptensor import RoundMode
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.properties.backend_pass import BackendPass
from pypto_xdsl.rewriting.inserter import Inserter

_NEAREST = (RoundMode.NONE, RoundMode.RINT, RoundMode.ROUND)


@dataclass(frozen=True)
class LegalizeTileCastPass(BackendPass):
    """Convert step by step where the target has no single conversion."""

    name = "legalize-tile-cast"
    required = ("SSAForm", "SplitIncoreOrch", "IncoreTileOps")
    produced = ("SSAForm", "IncoreTileOps")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        if backend is None:
            return
        errors: list[Diagnostic] = []
        for kernel in kernels(module):
            for op in tuple(walk(kernel)):
                if isinstance(op, tile.CastOp):
                    try:
                        _legalize(op, backend)
                    except OpError as error:
                        errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)


def _legalize(op: tile.CastOp, backend: Backend) -> None:
    source = TileType.of(op.operand.type).element_type
    target = TileType.of(op.result.type).element_type
    between = cast_chain(backend.casts, source, target)
    if between is None:
        raise OpError(
            op,
            f"converts {source} to {target}, for which {backend.name} has no instruction nor any "
            "chain of them that keeps the values",
        )
    if not between:
        return
    inserter = Inserter(op)
    value: SSAValue = op.operand
    mode = op.mode.data
    for type in between:
        hint = None if op.result.name_hint is None else f"{op.result.name_hint}_{type}"
        step = _rounding(TileType.of(value.type).element_type, type, mode)
        value = inserter.insert(tile.CastOp(value, type, step), hint)
    op.operands = [value]


def _rounding(source: Attribute, target: Attribute, mode: RoundMode) -> RoundMode:
    """How a step rounds that is not the last."""
    return RoundMode.ODD if (source, target) == (f32, f16) and mode in _NEAREST else mode
