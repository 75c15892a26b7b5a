"""
Whether a module changed, without copying or printing it.

A `Snapshot` remembers which objects a module consists of, in order: ops, operands, types,
attributes, blocks. Attributes and types are immutable, and what the snapshot saw it keeps
alive, so the same objects in the same order are the same program. The reverse need not hold: a
pass that replaces an op by an equal one has changed the module. Locations and name hints do not
count.
"""

from __future__ import annotations

from operator import is_

from xdsl.ir import Operation

from pypto_xdsl.analysis.walk import walk

_END_OF_REGION = object()


class Snapshot:
    """The state of a module at one moment; linear in the module to take and to compare."""

    def __init__(self, module: Operation):
        self._parts = _parts_of(module)

    def __eq__(self, other: object) -> bool:
        """Whether the module was the same at both moments."""
        return (
            isinstance(other, Snapshot)
            and len(other._parts) == len(self._parts)
            and all(map(is_, other._parts, self._parts))
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def is_current(self, module: Operation) -> bool:
        """Whether the module is now as it was then."""
        return self == Snapshot(module)


def _parts_of(module: Operation) -> list[object]:
    parts: list[object] = []
    add, extend = parts.append, parts.extend
    for op in walk(module):
        add(op)
        extend(op.operands)
        extend(result.type for result in op.results)
        for name, value in op.properties.items():
            add(name)
            add(value)
        for name, value in op.attributes.items():
            add(name)
            add(value)
        extend(op.successors)
        for region in op.regions:
            # The shape of the regions: which blocks they hold, where each ends.
            block = region.first_block
            while block is not None:
                add(block)
                extend(block.args)
                extend(argument.type for argument in block.args)
                add(block.last_op)
                block = block.next_block
            add(_END_OF_REGION)
    return parts
