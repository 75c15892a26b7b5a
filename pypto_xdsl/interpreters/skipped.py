"""What a task returns that its predicate kept from running: the buffers it would have written."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.interpreter import PythonValues
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue

from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch.functions import NO_PARAMETER
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import Machine


def results_of_skipped(
    machine: Machine,
    op: orch.LaunchingOp,
    callee: orch.FuncOp | None,
    arguments: PythonValues,
) -> PythonValues:
    """
    The results of a call or submit of `callee`, or of a scope, that did not run.

    A result that names a parameter (or a tensor from outside the scope) is that; any other would
    have been computed, and using it is not possible.
    """
    if callee is None:
        assert isinstance(op, orch.OutlinableScopeOp)
        origins = [_origin(machine, value, op.body) for value in op.yield_op.values]
        return tuple(
            _skipped(op, place) if origin is None else machine.get_values((origin,))[0]
            for place, origin in enumerate(origins)
        )
    return tuple(
        _skipped(op, place) if parameter is None else arguments[parameter]
        for place, parameter in enumerate(named_parameters(machine, callee))
    )


def _skipped(op: Operation, place: int) -> None:
    raise ProgramError(f"was kept from running by its predicate, but returns result {place} anew")


def named_parameters(machine: Machine, function: orch.FuncOp) -> list[int | None]:
    """The parameter that each result of a function names."""
    if function.is_declaration:
        returns = () if function.returns is None else function.returns.get_values()
        return [None if parameter == NO_PARAMETER else parameter for parameter in returns]
    if function.return_op is None:
        return []
    found: list[int | None] = []
    for value in function.return_op.values:
        origin = _origin(machine, value, function.body)
        is_parameter = isinstance(origin, BlockArgument) and origin.block is function.body.block
        found.append(origin.index if is_parameter else None)
    return found


def _origin(machine: Machine, value: SSAValue, body: Region) -> SSAValue | None:
    """The value from outside a body, or its parameter, whose buffer a value names."""
    current: SSAValue | None = value
    while current is not None:
        block = current.owner if isinstance(current, BlockArgument) else current.owner.parent
        if not _inside(block, body):
            return current
        if isinstance(current, BlockArgument):
            if current.block.parent is body:
                return current
            loop = current.block.parent_op()
            if not isinstance(loop, scf.ForOp) or current.index == 0:
                return None
            current = loop.iter_args[current.index - 1]
            continue
        assert isinstance(current, OpResult)
        current = _named(machine, current, body)
    return None


def _named(machine: Machine, result: OpResult, body: Region) -> SSAValue | None:
    op = result.op
    match op:
        case DeclaredOp():
            return op.named_operand(result)
        case scf.ForOp():
            return op.iter_args[result.index]
        case scf.IfOp():
            origins = {
                _origin(machine, region.block.last_op.operands[result.index], body)
                for region in op.regions
                if region.blocks and region.block.last_op is not None
            }
            return origins.pop() if len(origins) == 1 else None
        case orch.DispatchOp():
            callee = machine.symbol(op, op.callee_name)
            if not isinstance(callee, orch.FuncOp) or result is op.task:
                return None
            parameter = named_parameters(machine, callee)[result.index]
            return None if parameter is None else op.arguments[parameter]
        case orch.ScopeOp():
            if result.index >= len(op.outputs):
                return None
            return op.yield_op.values[result.index]
        case _:
            return None


def _inside(block: Block | None, body: Region) -> bool:
    while block is not None:
        if block.parent is body:
            return True
        op = block.parent_op()
        block = None if op is None else op.parent
    return False
