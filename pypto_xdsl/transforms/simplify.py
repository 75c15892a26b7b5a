"""
simplify: folds computations on scalars, and control flow that they decide.

    scf.for %i = %c0 to %c8 step %c1 {
      %small = arith.cmpi slt, %i, %c100 : index
      scf.if %small {                                scf.for %i = %c0 to %c8 step %c1 {
        %row = arith.floordivsi %i, %c8 : index        orch.call @k(%c0) : (index) -> ()
        orch.call @k(%row) : (index) -> ()           }
      }
    }

* Constants are folded and merged, neutral and absorbing elements go, what a loop counts and what a
  branch has asked decides comparisons and divisions further in (`analysis/integer_ranges`,
  `rewriting/scalar_folding`).
* A branch whose condition is decided becomes the arm that is taken; a sequential loop of no round
  what it starts from, of one round its body. Loops of other kinds stay: they say how their rounds
  are scheduled, even if there is one.
* Results that nobody uses go, and what loops carry to no use (`rewriting/unused_carries`).
* A view that changes nothing is its source, a constant extent of a tensor a constant. The type of a
  new tensor says the extents that turn out to be constants.
* Computations on scalars that nobody uses go. Other ops stay, used or not: `dce` removes them.

Index arithmetic is taken not to overflow.

PyPTO's pass Simplify.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from pypto_xdsl.analysis.control_flow import constant_integer, constant_trip_count, terminator
from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.analysis.scalar_computation import is_scalar_computation
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.ptensor import (
    CreateOp,
    DimOp,
    TypeCastOp,
    explicit_strides_of,
    is_tensor_type,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.scalar_folding import constant, fold
from pypto_xdsl.rewriting.unused_carries import drop_unused_carries, drop_unused_results
from pypto_xdsl.syntax.lists import Index


@dataclass(frozen=True)
class SimplifyPass(CheckedPass):
    """Fold computations on scalars, and control flow that they decide."""

    name = "simplify"
    required: ClassVar[tuple[str, ...]] = ("SSAForm",)
    produced: ClassVar[tuple[str, ...]] = ("SSAForm",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        for op in tuple(walk(module)):
            if isinstance(op, FuncOp) and not op.is_declaration:
                while _Simplification().simplify(op):
                    # What went at the end of the text may have been all that used its beginning.
                    pass


class _Simplification:
    """One walk over a function, in the order of the text; regions are left clean."""

    def __init__(self) -> None:
        self._ranges = IntegerRanges()
        self._changed = False

    def simplify(self, function: FuncOp) -> bool:
        """Simplify a function; whether anything changed."""
        for block in blocks_inside(function):
            self._simplify_block(block)
        self._erase_unused(function)
        return self._changed

    def _simplify_block(self, block: Block) -> None:
        op = block.first_op
        while op is not None:
            following = op.next_op
            self._simplify_op(op)
            op = following

    def _simplify_op(self, op: Operation) -> None:
        match op:
            case scf.IfOp():
                self._simplify_branch(op)
            case scf.ForOp():
                self._simplify_loop(op)
            case _:
                if self._fold(op):
                    return
                for block in blocks_inside(op):
                    self._simplify_block(block)
        for result in op.results:
            # Asked here, where no more is assumed than holds wherever the value is seen.
            self._ranges.of(result)

    # Single ops.

    def _fold(self, op: Operation) -> bool:
        """Put something simpler in the place of an op, if there is; whether the op is gone."""
        if isinstance(op, CreateOp):
            folded, made = _create_of_constant_extents(op)
        elif isinstance(op, DeclaredOp):
            folded, made = _folded_tensor(op), list[Operation]()
        else:
            folded, made = fold(op, self._ranges)
        if folded is None:
            return False
        self._changed = True
        assert op.parent is not None
        if isinstance(folded, int):
            folded = constant(folded, op.results[0].type)
        if isinstance(folded, Operation):
            made.append(folded)
            value = folded.results[0]
            value.name_hint = op.results[0].name_hint
        else:
            value = folded
        for new in made:
            new.location = op.location
            op.parent.insert_op_before(new, op)
        op.results[0].replace_all_uses_with(value)
        op.parent.erase_op(op)
        self._ranges.of(value)
        if made and made[-1].results[0] is value:
            # There may be more to fold in what was made.
            self._fold(made[-1])
        return True

    # Control flow.

    def _simplify_branch(self, branch: scf.IfOp) -> None:
        chosen = self._ranges.of(branch.cond).constant
        if chosen is not None:
            self._changed = True
            region = branch.true_region if chosen else branch.false_region
            if region.first_block is None:
                _erase(branch)
            else:
                self._splice(branch, region)
            return
        for region, holds in ((branch.true_region, True), (branch.false_region, False)):
            if region.first_block is not None:
                with self._ranges.assuming(branch.cond, holds):
                    self._simplify_block(region.block)
        new = drop_unused_results(branch)
        if new is not None:
            self._changed = True
            branch = new
        if not branch.results and all(_is_empty(region) for region in branch.regions):
            self._changed = True
            _erase(branch)
        for result in branch.results:
            self._ranges.of(result)

    def _simplify_loop(self, loop: scf.ForOp) -> None:
        trips = constant_trip_count(loop)
        if trips == 0:
            self._changed = True
            for result, init in zip(loop.results, loop.iter_args, strict=True):
                result.replace_all_uses_with(init)
            _erase(loop)
            return
        if trips == 1 and not loop.attributes:
            self._changed = True
            counter, *carried = loop.body.block.args
            counter.replace_all_uses_with(loop.lb)
            for argument, init in zip(carried, loop.iter_args, strict=True):
                argument.replace_all_uses_with(init)
            self._splice(loop, loop.body)
            return
        self._ranges.of(loop.body.block.args[0])
        self._simplify_block(loop.body.block)
        if drop_unused_carries(loop) is not None:
            self._changed = True

    def _splice(self, op: Operation, region: Region) -> None:
        """Put the body of a region, which runs once, in the place of an op, and simplify it."""
        block, end = op.parent, terminator(region)
        assert block is not None
        spliced: list[Operation] = []
        for inner in tuple(region.block.ops):
            if inner is not end:
                inner.detach()
                block.insert_op_before(inner, op)
                spliced.append(inner)
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses_with(value)
        _erase(op)
        for inner in spliced:
            self._simplify_op(inner)

    def _erase_unused(self, function: FuncOp) -> None:
        """Erase computations on scalars that nobody uses, those that only they used too."""
        for op in reversed(list(walk(function))):
            if (
                op is not function
                and all(result.first_use is None for result in op.results)
                and (is_scalar_computation(op) or isinstance(op, DimOp))
            ):
                self._changed = True
                _erase(op)


def _create_of_constant_extents(op: CreateOp) -> tuple[Operation | None, list[Operation]]:
    """The buffer under a type that says the extents that are constants; and its first type."""
    tensor = tensor_of(op.result.type)
    extents = [
        extent if isinstance(extent, int) else constant_integer(extent) for extent in op.extents
    ]
    known = list(zip(symbolic_shape_of(tensor), extents, strict=False))
    if all(extent is None or (isinstance(size, int) and size >= 0) for size, extent in known):
        return None, []
    valid = valid_shape_of(tensor)
    specific = tensor_type(
        [size if extent is None else extent for size, extent in known],
        tensor.element_type,
        valid=None if valid == tensor.get_shape() else valid,
        strides=explicit_strides_of(tensor),
        layout=layout_of(tensor),
        pad=pad_value_of(tensor),
    )
    sizes: list[Index] = []
    if DYNAMIC_INDEX in specific.get_shape():
        sizes = [
            size if extent is None else extent
            for size, extent in zip(op.extents, extents, strict=True)
        ]
    new = CreateOp(specific, sizes)
    new.attributes.update(op.attributes)
    new.result.name_hint = op.result.name_hint
    if op.result.first_use is None:
        return new, []
    return TypeCastOp(new, tensor), [new]


def _folded_tensor(op: DeclaredOp) -> SSAValue | int | None:
    """What an op on a tensor is that asks for what is known, or changes nothing."""
    if len(op.results) != 1:
        return None
    result = op.results[0]
    if isinstance(op, DimOp):
        extent = tensor_of(op.source.type).get_shape()[op.axis.value.data]
        return None if extent == DYNAMIC_INDEX else extent
    if op.READS_ELEMENTS or len(op.operands) != 1 or not is_tensor_type(result.type):
        return None
    source = op.operands[0]
    if source.type != result.type or DYNAMIC_INDEX in result.type.get_shape():
        return None
    return source if op.named_operand(result) is source else None


def _is_empty(region: Region) -> bool:
    block = region.first_block
    return block is None or block.first_op is block.last_op


def _erase(op: Operation) -> None:
    assert op.parent is not None
    op.parent.erase_op(op)
