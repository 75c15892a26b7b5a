"""
Scalars that leave a kernel are computed by its caller instead: the runtime returns tensors only.

    %y, %off = orch.incore -> (tensor<16xf32>, index) {    %off = arith.muli %i, %c32 : index
      %off1 = arith.muli %i, %c32 : index                  %y = orch.incore -> (tensor<16xf32>) {
      ...                                                    ...
      orch.yield %y1, %off1 : tensor<16xf32>, index          orch.yield %y1 : tensor<16xf32>
    }                                                      }
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, SSAValue

from pypto_xdsl.analysis.scalar_computation import is_scalar_computation
from pypto_xdsl.diagnostics import Note, OpError, note
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch import OutlinableScopeOp


def hoist_scalar_outputs(scope: OutlinableScopeOp) -> None:
    """
    Move what the used scalar outputs of a scope are computed from before the scope, and use it
    there. Raises `OpError` for a scalar that only the device knows.
    """
    body = scope.body.block
    # The outputs come first; to count them by what is yielded costs less than to ask for them.
    outputs = [
        (output, value)
        for output, value in zip(scope.results, scope.yield_op.operands, strict=False)
        if output.first_use is not None and is_element_type(value.type)
    ]
    moved = dict[Operation, None]()
    for output, value in outputs:
        _collect(scope, output, value, body, moved)
    if moved:
        for op in tuple(body.ops):
            if op in moved:
                op.detach()
                assert scope.parent is not None
                scope.parent.insert_op_before(op, scope)
    for output, value in outputs:
        output.replace_all_uses_with(value)


def _collect(
    scope: OutlinableScopeOp,
    output: OpResult,
    value: SSAValue,
    body: Block,
    moved: dict[Operation, None],
) -> None:
    """Add the ops of the body that compute `value` to `moved`."""
    todo = [value]
    while todo:
        op = todo.pop().owner
        if not isinstance(op, Operation) or op.parent is not body or op in moved:
            continue
        if not _is_known_to_caller(op, body):
            raise OpError(
                scope,
                f"yields the scalar {_name(output)}, which only the device knows: "
                "a kernel returns tensors",
                _advice(output, op),
            )
        moved[op] = None
        todo += op.operands


def _is_known_to_caller(op: Operation, body: Block) -> bool:
    if is_scalar_computation(op):
        return True
    # The extents of a tensor that the caller has.
    return (
        isinstance(op, DeclaredOp)
        and not op.IS_ACCESS
        and all(is_element_type(result.type) for result in op.results)
        and not any(_is_defined_in(operand, body) for operand in op.operands)
    )


def _is_defined_in(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return owner is block or (isinstance(owner, Operation) and owner.parent is block)


def _advice(output: OpResult, op: Operation) -> list[Note]:
    return [
        note(op, f"{_name(output)} is computed from this"),
        note(
            output,
            "write it to a tensor of one element and read that with ptensor.read after the "
            "scope, or compute it before the scope",
        ),
    ]


def _name(output: OpResult) -> str:
    return f"%{output.name_hint}" if output.name_hint else f"#{output.index}"
