"""
Lowers gathers from global memory by index, and scatters to it.

An element is counted from where a tensor starts, so its elements must follow each other in memory;
a row only needs its own elements to. Indices of rows lie along a row, which the bytes of a column
do too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import pto, tile
from pypto_xdsl.dialects.ptensor import TensorLayout
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.tile import Coalesce, MemorySpace, TileType
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering
from pypto_xdsl.rewriting.global_views import Window
from pypto_xdsl.syntax.lists import Index


def gather(op: tile.MgatherOp, into: ControlFlowLowering) -> None:
    """Gather rows or elements of a tensor, into the vector buffer or L1."""
    buffers = into.buffers
    buffers.infer_extents(op, op.result)
    destination = buffers.allocate(op.result)
    by_row = op.coalesce.data is Coalesce.ROW
    source = into.window(op.source)
    table = _rows(op, source, into) if by_row else _elements(op, source, into)
    values: dict[str, SSAValue | Sequence[SSAValue]] = {"mem": _all(table, into)}
    type = TileType.of(op.result.type)
    if type.memory_space is MemorySpace.MAT:
        indices = into.window(op.indices)
        if not indices.has_rows:
            raise OpError(op, "takes indices that do not follow each other in global memory")
        values["idx"] = _all(indices, into)
        if op.scratch is not None and not by_row:
            scratch = into.window(op.scratch)
            if not scratch.lies_in_a_row:
                raise OpError(op, "has scratch whose elements do not follow each other")
            values["scratch"] = _all(scratch, into)
    else:
        values["idx"] = buffers.buffer(op.indices)
        if TileType.of(op.indices.type).is_column:
            values["idx"] = buffers.row(values["idx"])
            if not by_row:
                destination = buffers.row(destination)
    values["dst"] = destination
    properties = {
        "coalesce": pto.CoalesceAttr(pto.Coalesce(op.coalesce.data.value)),
        "gatherOob": pto.GatherOobAttr(pto.GatherOob(op.gather_oob.data.value)),
    }
    into.builder.insert_op(build(pto.MGatherOp, values, {}, (), properties))


def scatter(op: tile.MscatterOp, into: ControlFlowLowering) -> None:
    """Scatter the elements of a tile over a tensor."""
    buffers, window = into.buffers, into.window(op.destination)
    values: dict[str, SSAValue | Sequence[SSAValue]] = {
        "src": buffers.buffer(op.source),
        "idx": buffers.buffer(op.indices),
        "mem": _all(_elements(op, window, into), into),
    }
    # Said aloud: without it, the instruction takes the indices for those of rows.
    properties = {"coalesce": pto.CoalesceAttr(pto.Coalesce.ELEM)}
    into.builder.insert_op(build(pto.MScatterOp, values, {}, (), properties))
    into.windows[op.result] = window


def _all(window: Window, into: ControlFlowLowering) -> SSAValue:
    return window.partition((0,) * len(window.extents), window.extents, into.builder)


def _elements(op: Operation, window: Window, into: ControlFlowLowering) -> Window:
    """A window as a tensor whose elements lie one after the other."""
    if window.lies_in_a_row:
        return window
    row = (1, _product(window.extents, into))
    found = window.reshaped(row, TensorLayout.ND, window.view.hint, into.builder)
    if found is None:
        raise OpError(
            op,
            "counts the elements of a tensor, which do not follow each other in global memory",
        )
    return found


def _rows(op: Operation, window: Window, into: ControlFlowLowering) -> Window:
    """A window as a matrix of rows."""
    *outer, columns = window.extents
    found: Window | None = window
    if len(outer) > 1 and any(extent != 1 for extent in outer[:-1]):
        rows = (_product(outer, into), columns)
        found = window.reshaped(rows, TensorLayout.ND, window.view.hint, into.builder)
    if found is None or not found.has_rows:
        raise OpError(
            op, "counts the rows of a tensor, which do not lie one below the other in global memory"
        )
    return found


def _product(extents: Sequence[Index], into: ControlFlowLowering) -> Index:
    total: Index = 1
    for extent in extents:
        total = into.builder.multiply(total, extent)
    return total


LOWERINGS: Mapping[type[Operation], Callable[[Any, ControlFlowLowering], None]] = {
    tile.MgatherOp: gather,
    tile.MscatterOp: scatter,
}
"""Op class -> how it is lowered."""
