"""
Keeping source locations while rewriting.

xDSL makes new ops without a location. A pass that builds an op in the place of another wraps
it once, `at(old, NewOp(...))`; a pass made of patterns runs them with `rewrite`, and every op
that a pattern inserts gets the location of the op it matched.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp
from xdsl.ir import Operation, Region
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)

from pypto_xdsl.analysis.walk import walk

_OpT = TypeVar("_OpT", bound=Operation)


def at(origin: Operation, op: _OpT) -> _OpT:
    """
    The new op `op`, as coming from `origin`: it and the ops inside get the location of
    `origin`, and its results the name hints of the results of `origin`, one by one, where they
    have none of their own.
    """
    locate(origin.location, op)
    for new, old in zip(op.results, origin.results, strict=False):
        if new.name_hint is None:
            new.name_hint = old.name_hint
    return op


def locate(location: LocationAttr, op: Operation) -> None:
    """Give the op and the ops inside a location, where they have none of their own."""
    if not op.regions:
        if op.location is UNKNOWN_LOC:
            op.location = location
        return
    for inner in walk(op):
        if inner.location is UNKNOWN_LOC:
            inner.location = location


class _LocatingPattern(RewritePattern):
    """Runs a pattern; its listener gives inserted ops the location of the matched op."""

    def __init__(self, pattern: RewritePattern):
        self.pattern = pattern
        self.location: LocationAttr = UNKNOWN_LOC

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self.location = op.location
        self.pattern.match_and_rewrite(op, rewriter)

    def located(self, op: Operation) -> None:
        locate(self.location, op)


def rewrite(
    root: ModuleOp | Region,
    *patterns: RewritePattern,
    recursively: bool = False,
    erase_dead: bool = False,
    reverse: bool = False,
    regions_first: bool = False,
    listener: PatternRewriterListener | None = None,
) -> bool:
    """
    Apply patterns to each op inside `root`, the first that matches; True if the IR changed.

    One sweep, unless `recursively`: then to a fixpoint, also over the ops made, so patterns
    must come to an end. `erase_dead` erases trivially dead ops on the way. `reverse` visits
    uses before definitions, `regions_first` ops before the one around them. `listener` hears
    of every change.
    """
    pattern = _LocatingPattern(GreedyRewritePatternApplier(list(patterns), dce_enabled=erase_dead))
    heard = PatternRewriterListener(operation_insertion_handler=[pattern.located])
    if listener is not None:
        heard.extend_from_listener(listener)
    walker = PatternRewriteWalker(
        pattern,
        walk_regions_first=regions_first,
        apply_recursively=recursively,
        walk_reverse=reverse,
        listener=heard,
    )
    return walker.rewrite_region(root if isinstance(root, Region) else root.body)
