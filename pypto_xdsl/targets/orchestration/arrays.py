"""
Small arrays in C++. An array is a value: an update makes another. It is written over the one it
was made from where nobody can see that one any more, else into a copy.
"""

from __future__ import annotations

from bisect import bisect_left

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from pypto_xdsl.analysis.control_flow import is_loop
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch import TASK_ID, is_array
from pypto_xdsl.targets.orchestration.body import Body, Part, Writers
from pypto_xdsl.targets.orchestration.names import base_name

MOST_ALTERNATIVES = 8
"""So many later uses are looked at for one that excludes them; with more an array is copied."""


def extent(value: SSAValue) -> int:
    """The number of elements of an array."""
    assert is_array(value.type)
    return value.type.extent.data


def is_last_use(body: Body, value: SSAValue, op: Operation) -> bool:
    """Whether nobody uses a value after an op that does, not in another iteration either."""
    home = value.owner if isinstance(value.owner, Block) else value.owner.parent
    around: Operation | None = op
    while around is not None and around.parent is not home:
        around = around.parent_op()
        if around is not None and is_loop(around):
            return False
    uses = body.uses_in_order(value)
    first = bisect_left(uses, body.order.read(op), key=body.order.read)
    at_once = first
    while at_once < len(uses) and uses[at_once] is op:
        at_once += 1
    later = uses[at_once:]
    return (
        at_once - first == 1
        and len(later) <= MOST_ALTERNATIVES
        and all(_are_alternatives(user, op) for user in later)
    )


def _are_alternatives(one: Operation, other: Operation) -> bool:
    """Whether two ops stand in different arms of a branch."""
    regions: dict[Operation, Region] = {}
    region = one.parent_region()
    while region is not None and (parent := region.parent) is not None:
        regions[parent] = region
        region = parent.parent_region()
    region = other.parent_region()
    while region is not None and (parent := region.parent) is not None:
        if parent in regions:
            return isinstance(parent, scf.IfOp) and regions[parent] is not region
        region = parent.parent_region()
    return False


def own_copy(body: Body, value: SSAValue, op: Operation, base: str) -> str:
    """The name of an array with the elements of `value` that `op` may write over."""
    if is_last_use(body, value, op):
        return body.of(value)
    name, count = body.declare(base), extent(value)
    body.line(f"{body.type_of(value)} {name}[{count}];")
    body.assign(body.text, name, count, body.parts(value))
    return name


def _create(body: Body, op: Operation) -> None:
    assert isinstance(op, orch.ArrayCreateOp)
    name, count = body.declare(base_name(op.result)), extent(op.result)
    body.declaration(body.text, body.type_of(op.result), name, count)
    body.bind(op.result, Part(name, count))


def _get(body: Body, op: Operation) -> None:
    assert isinstance(op, orch.ArrayGetOp)
    name = body.declare(base_name(op.result))
    body.line(f"{body.type_of(op.result)} {name} = {body.of(op.array)}[{body.of(op.index)}];")
    body.bind(op.result, name)


def _update(body: Body, op: Operation) -> None:
    assert isinstance(op, orch.ArrayUpdateOp)
    is_task = op.value.type == TASK_ID
    value = body.of_task(op.value, op) if is_task else body.of(op.value)
    name = own_copy(body, op.array, op, base_name(op.result))
    body.line(f"{name}[{body.of(op.index)}] = {value};")
    body.bind(op.result, Part(name, extent(op.result)))


WRITERS: Writers = {
    orch.ArrayCreateOp: _create,
    orch.ArrayGetOp: _get,
    orch.ArrayUpdateOp: _update,
}
