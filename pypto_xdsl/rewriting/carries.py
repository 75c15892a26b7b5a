"""
Carrying the next names of written tensors out of scopes and through control flow.

A scope that writes a tensor from outside has its next name as an output, and whatever stands
around the scope hands that on, so that the order of writes and later uses is plain to see:

    scf.for ... {                       %r = scf.for ... iter_args(%o = %out) {
      orch.incore {                       %o1 = orch.incore -> (tensor<16xf32>) {
        tile.store %t, %out[0]              %o2 = tile.store %t, %o[0]
      }                                     orch.yield %o
    }                                     }
                                          scf.yield %o1
    orch.return %out                    }
                                        orch.return %r

A program whose scopes yield what they write already is left alone. Inside the scope the tensor
itself is yielded: it names the buffer, whichever part of the body wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from xdsl.dialects import scf
from xdsl.dialects.builtin import I32, DenseArrayBase, TensorType, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedResultSegments

from pypto_xdsl.analysis.control_flow import terminator
from pypto_xdsl.analysis.live_in import live_ins
from pypto_xdsl.analysis.return_lineage import ReturnLineage, Tracer
from pypto_xdsl.analysis.tensor_accesses import tensor_accesses
from pypto_xdsl.analysis.walk import blocks_inside
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import FuncOp, OutlinableScopeOp, ScopeOp, YieldOp


def carry_writes(
    function: FuncOp, scopes: Iterable[OutlinableScopeOp], program: ReturnLineage
) -> None:
    """
    Give those of the scopes in a function that write a tensor without yielding its next name an
    output for it, and hand that on to all later uses.
    """
    carried: dict[Operation, dict[SSAValue, None]] = {}
    for scope in scopes:
        for tensor in _uncarried(scope, program):
            _carry_out(scope, tensor, carried)
    if carried:
        _Renaming(carried).rename(function)


def _uncarried(scope: OutlinableScopeOp, program: ReturnLineage) -> Iterable[SSAValue]:
    """The tensors from outside that the scope writes and does not yield, by their first write."""
    if all(_is_plain(op) for op in scope.body.block.ops):
        return _uncarried_plainly(scope)
    writes = tensor_accesses(scope, program).writes
    if not writes:
        return ()
    captured = [v for v in live_ins(scope).values if isinstance(v.type, TensorType)]
    tracer = Tracer(captured, program)
    lineages = [tracer.trace(value) for value in scope.yield_op.values]
    yielded = {captured[found.parameter] for found in lineages if found and found.is_exact}
    missing = set(captured) - yielded
    return [tensor for tensor in writes if tensor in missing]


def _uncarried_plainly(scope: OutlinableScopeOp) -> Iterable[SSAValue]:
    """The same where the body is plain: each tensor in it has one origin, found by its names."""
    body = scope.body.block
    origins: dict[SSAValue, SSAValue] = {}
    """A tensor of the body -> the value outside, or the op in the body, where it comes from."""
    exact: dict[SSAValue, bool] = {}
    """Whether that is the same tensor, of the same type, and no window of it."""
    written = dict[SSAValue, None]()
    for op in body.ops:
        if not isinstance(op, DeclaredOp) or not any(_is_tensor(o) for o in op.operands):
            continue
        for result in op.results:
            named = op.named_operand(result) if _is_tensor(result) else None
            if named is not None:
                origins[result] = origins.get(named, named)
                same = result.type == named.type and not op.is_view(result)
                exact[result] = same and exact.get(named, True)
        if _may_write(type(op)):
            for operand, effect in op.operand_effects():
                if effect.writes and _is_tensor(operand):
                    written.setdefault(origins.get(operand, operand))
    yielded = {
        origins.get(value, value) for value in scope.yield_op.values if exact.get(value, True)
    }
    return [
        tensor for tensor in written if tensor not in yielded and not _is_defined_in(tensor, body)
    ]


def _is_plain(op: Operation) -> bool:
    """Whether all that an op does to tensors is what it declares."""
    if isinstance(op, DeclaredOp | YieldOp):
        return not op.regions
    return not op.regions and not any(_is_tensor(operand) for operand in op.operands)


def _is_tensor(value: SSAValue) -> bool:
    # Asked of every operand of a scope: the class, not a check of the type.
    return value.type.__class__ is TensorType


@cache
def _may_write(op_type: type[DeclaredOp]) -> bool:
    return any(operand.may_write for _, operand in op_type.declaration().operands)


def _is_defined_in(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return owner is block or (isinstance(owner, Operation) and owner.parent is block)


def _carry_out(
    scope: Operation, tensor: SSAValue, carried: dict[Operation, dict[SSAValue, None]]
) -> None:
    """Note the tensor for the scope and all that stands around it, where it is defined outside."""
    owner = tensor.owner
    home = owner if isinstance(owner, Block) else owner.parent
    op: Operation | None = scope
    while op is not None and tensor not in carried.setdefault(op, {}):
        carried[op][tensor] = None
        if op.parent is home:
            return
        op = op.parent_op()


class _Renaming:
    """A walk in the order of the text that keeps the newest name of each carried tensor."""

    def __init__(self, carried: dict[Operation, dict[SSAValue, None]]):
        self._carried = carried
        self._newest: dict[SSAValue, SSAValue] = {}
        self._replaced: dict[SSAValue, SSAValue] = {}
        """Results of ops that got more of them -> the same results of the new op."""

    def rename(self, function: FuncOp) -> None:
        for block in blocks_inside(function):
            self._rename_block(block)

    def _rename_block(self, block: Block) -> None:
        op = block.first_op
        while op is not None:
            following = op.next_op
            self._rename_op(op)
            op = following

    def _rename_op(self, op: Operation) -> None:
        self._rename_operands(op)
        if not op.regions:
            return
        if op not in self._carried:
            for block in blocks_inside(op):
                self._rename_block(block)
            return
        tensors = [self._replaced.get(tensor, tensor) for tensor in self._carried[op]]
        match op:
            case scf.ForOp():
                new = self._carry_through_for(op, tensors)
            case scf.WhileOp():
                new = self._carry_through_while(op, tensors)
            case scf.IfOp() | scf.IndexSwitchOp() | scf.ExecuteRegionOp():
                new = self._carry_through_branches(op, tensors)
            case ScopeOp():
                new = self._carry_through_scope(op, tensors)
            case _:
                raise OpError(
                    op,
                    "stands around a scope that writes a tensor from outside, and has no way to "
                    "hand on its next name: use scf.for, scf.while or scf.if",
                    [note(tensor, "this is the tensor") for tensor in tensors],
                )
        self._replace(op, new, tensors)

    def _rename_operands(self, op: Operation) -> None:
        if any(operand in self._newest for operand in op.operands):
            op.operands = self._names(op.operands)

    def _names(self, tensors: Iterable[SSAValue]) -> list[SSAValue]:
        return [self._newest.get(tensor, tensor) for tensor in tensors]

    def _enter(self, block: Block, tensors: Sequence[SSAValue]) -> None:
        """In a block the tensors have the names of new arguments."""
        around = block.parent_op()
        assert around is not None
        for tensor in tensors:
            argument = block.insert_arg(tensor.type, len(block.args), around.location)
            argument.name_hint = tensor.name_hint
            self._newest[tensor] = argument

    def _leave(self, region: Region, tensors: Sequence[SSAValue]) -> None:
        """The end of a region hands on the newest names."""
        end = terminator(region)
        end.operands = [*end.operands, *self._names(tensors)]

    def _carry_through_for(self, op: scf.ForOp, tensors: Sequence[SSAValue]) -> Operation:
        operands = [*op.operands, *self._names(tensors)]
        self._enter(op.body.block, tensors)
        self._rename_block(op.body.block)
        self._leave(op.body, tensors)
        return rebuilt(op, operands, [*op.result_types, *_types(tensors)])

    def _carry_through_while(self, op: scf.WhileOp, tensors: Sequence[SSAValue]) -> Operation:
        operands = [*op.operands, *self._names(tensors)]
        for region in (op.before_region, op.after_region):
            self._enter(region.block, tensors)
            self._rename_block(region.block)
            self._leave(region, tensors)
        return rebuilt(op, operands, [*op.result_types, *_types(tensors)])

    def _carry_through_branches(
        self, op: scf.IfOp | scf.IndexSwitchOp | scf.ExecuteRegionOp, tensors: Sequence[SSAValue]
    ) -> Operation:
        entry = self._names(tensors)
        for region in op.regions:
            self._newest.update(zip(tensors, entry, strict=True))
            if region.first_block is None:
                region.add_block(Block([scf.YieldOp()]))
                terminator(region).location = op.location
            self._rename_block(region.block)
            self._leave(region, tensors)
        return rebuilt(op, op.operands, [*op.result_types, *_types(tensors)])

    def _carry_through_scope(self, op: ScopeOp, tensors: Sequence[SSAValue]) -> Operation:
        entry = self._names(tensors)
        count = len(terminator(op.body).operands)
        self._rename_block(op.body.block)
        self._leave(op.body, tensors)
        # What follows has the name of the output, but for this scope's own operands.
        self._newest.update(zip(tensors, entry, strict=True))
        types = _types(op.results)
        new = rebuilt(op, op.operands, [*types[:count], *_types(tensors), *types[count:]])
        segments = AttrSizedResultSegments.attribute_name
        if segments in new.properties:
            new.properties[segments] = _segments(count + len(tensors), len(types) - count)
        return new

    def _replace(self, op: Operation, new: Operation, tensors: Sequence[SSAValue]) -> None:
        """Put the new op in place of the old; its added results are the tensors' newest names."""
        block = op.parent
        assert block is not None
        block.insert_op_before(new, op)
        first = len(op.results)
        if isinstance(op, ScopeOp):
            # A task may come after what is yielded.
            first = len(terminator(new.regions[0]).operands) - len(tensors)
        added = new.results[first : first + len(tensors)]
        kept = (*new.results[:first], *new.results[first + len(tensors) :])
        for old, result in zip(op.results, kept, strict=True):
            old.replace_all_uses_with(result)
            self._replaced[old] = result
        for tensor, result in zip(tensors, added, strict=True):
            result.name_hint = tensor.name_hint
            self._newest[tensor] = result
        block.erase_op(op)


def rebuilt(
    op: Operation, operands: Sequence[SSAValue], result_types: Sequence[Attribute]
) -> Operation:
    """The same op, not yet inserted, with other operands and results; it takes the regions."""
    return type(op).create(
        operands=operands,
        result_types=result_types,
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
        regions=[op.detach_region(region) for region in op.regions],
    )


@cache
def _segments(outputs: int, tasks: int) -> DenseArrayBase[I32]:
    return DenseArrayBase.from_list(i32, [outputs, tasks])


def _types(values: Iterable[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]
