"""
InOutUseValid: a tensor that a call writes is read by its next name afterwards.

    %y = orch.call @k(%x, %out) : ...     // %out is an `out` parameter of @k
    %z = tile.load %out[0] ...            // should read %y

PyPTO's name for a part of `NoStaleRead`, which holds at all times: the part about writes by calls
and submits.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import Diagnostic
from pypto_xdsl.dialects.orch import DispatchOp
from pypto_xdsl.properties.no_stale_read import describe, stale_reads_in
from pypto_xdsl.properties.registry import Property


def _reads_of_written(module: ModuleOp) -> Iterable[Diagnostic]:
    for read in stale_reads_in(module):
        if isinstance(read.write, DispatchOp):
            yield describe(read)


PROPERTY = Property(
    "InOutUseValid",
    "a tensor that a call writes is read by its next name afterwards",
    _reads_of_written,
)
