"""Putting new ops beside what they come from."""

from __future__ import annotations

from xdsl.ir import Operation, OpResult
from xdsl.rewriter import InsertPoint

from pypto_xdsl.rewriting.locating import locate


class Inserter:
    """Puts new ops before an op, with its location."""

    def __init__(self, origin: Operation, point: InsertPoint | None = None):
        self.origin = origin
        """What the new ops come from: they get its location, and errors are at it."""
        self.point = point or InsertPoint.before(origin)

    def insert(self, op: Operation, hint: str | None = None) -> OpResult:
        """Insert `op`, and return its first result."""
        self.put(op)
        result = op.results[0]
        result.name_hint = hint
        return result

    def put(self, op: Operation) -> None:
        """Insert `op`, whatever its results."""
        locate(self.origin.location, op)
        if self.point.insert_before is None:
            self.point.block.add_op(op)
        else:
            self.point.block.insert_op_before(op, self.point.insert_before)
