"""
SSA dominance: every use lies where the definition is certain to have run.

xDSL verifies types but not this. The check is iterative and takes time linear in the IR (with
the near-linear dominator tree of Cooper, Harvey and Kennedy where a region has several blocks).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.post_order import PostOrderIterator
from xdsl.traits import IsolatedFromAbove


def dominator_tree(region: Region) -> dict[Block, list[Block]]:
    """The blocks that each block immediately dominates; unreachable blocks do not appear."""
    entry = region.first_block
    assert entry is not None
    order = list(PostOrderIterator(entry))
    number = {block: i for i, block in enumerate(order)}
    idom = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            new: Block | None = None
            for pred in block.predecessors():
                if pred not in idom:
                    continue
                if new is None:
                    new = pred
                while new is not pred:
                    while number[new] < number[pred]:
                        new = idom[new]
                    while number[pred] < number[new]:
                        pred = idom[pred]
            assert new is not None
            if idom.get(block) is not new:
                idom[block] = new
                changed = True
    children: dict[Block, list[Block]] = {}
    for block, parent in idom.items():
        if block is not entry:
            children.setdefault(parent, []).append(block)
    return children


class _BlockVisit:
    """A block being walked: what is left of it, and the values to forget at its end."""

    __slots__ = ("block_tree", "children", "defined", "op", "pending", "visible")

    def __init__(self, block: Block, block_tree: dict[Block, list[Block]], visible: set[SSAValue]):
        self.block_tree = block_tree
        self.visible = visible
        """The values that may be used now; shared with the blocks around."""
        self.defined: list[SSAValue] = []
        self.pending: Sequence[SSAValue] = block.args
        """Defined by the op last visited: visible after it, but not inside its regions."""
        self.op = block.first_op
        self.children = block_tree.get(block, [])[::-1]

    def reveal_pending(self) -> None:
        if self.pending:
            self.defined.extend(self.pending)
            self.visible.update(self.pending)
            self.pending = ()


def _visit_region(region: Region, visible: set[SSAValue]) -> _BlockVisit | None:
    if (entry := region.first_block) is None:
        return None
    return _BlockVisit(entry, {} if entry.next_block is None else dominator_tree(region), visible)


def undominated_uses(module: Operation) -> Iterator[tuple[Operation, int]]:
    """
    Each op inside the module with the place of an operand that is not defined on every way to it.

    Blocks that control never reaches are not checked, as in MLIR.
    """
    stack: list[_BlockVisit] = []

    def enter(op: Operation, visible: set[SSAValue]) -> None:
        for region in reversed(op.regions):
            isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            visit = _visit_region(region, set() if isolated else visible)
            if visit is not None:
                stack.append(visit)

    enter(module, set())
    while stack:
        visit = stack[-1]
        visit.reveal_pending()
        if (op := visit.op) is not None:
            visit.op = op.next_op
            for index, operand in enumerate(op.operands):
                if operand not in visit.visible:
                    yield op, index
            visit.pending = op.results
            if op.regions:
                enter(op, visit.visible)
        elif visit.children:
            stack.append(_BlockVisit(visit.children.pop(), visit.block_tree, visit.visible))
        else:
            visit.visible.difference_update(visit.defined)
            stack.pop()
