"""Calls and submits of functions, and what loops, calls and scopes say beside their operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch.launch import Predicate
from pypto_xdsl.frontend.pl.loops import POSITIVE_MARK, REBOUND_MARK, SLOTS_MARK
from pypto_xdsl.frontend.pl.vocabulary import spell
from pypto_xdsl.targets.pl.calls import attribute_text
from pypto_xdsl.targets.pl.parts import Parts, call, listed

_TAKEN = frozenset(
    (
        "arg_directions",
        "arg_direction_overrides",
        "dump_vars",
        "core_num",
        "sync_start",
        "allow_early_resolve",
        "predicate",
        "manual_dep_edges",
        "compiler_manual_dep_edges",
    )
)
"""What `attrs` of calls and loops have words for."""

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def dispatch(op: orch.DispatchOp, functions: Mapping[str, str]) -> Parts:
    """`self.k(a, b)` or `pl.submit(self.k, a, b, deps=[t])`."""
    callee = functions.get(op.callee_name, op.callee_name)
    attributes: list[str] = []
    if op.directions is not None:
        words = ", ".join(spell("adir", direction) for direction in op.directions)
        attributes.append(f'"arg_directions": [{words}]')
    if op.no_dep_arguments:
        attributes.append(f'"arg_direction_overrides": {list(op.no_dep_arguments)}')
    arguments: list[Parts] = [[argument] for argument in op.arguments]
    submit = isinstance(op, orch.SubmitOp)
    if submit and op.deps:
        arguments.append(["deps=", *listed(list(op.deps))])
    if op.dump is not None:
        dumped = [op.arguments[place] for place in op.dump.get_values()]
        arguments.append(["dumps=", *listed(dumped)])
    tail: list[Parts] = []
    if op.launch is not None:
        if submit:
            arguments.append(["core_num=", op.launch])
            if op.sync_start is not None:
                arguments.append(["sync_start=True"])
        else:
            tail.append(['"core_num": ', op.launch])
            if op.sync_start is not None:
                attributes.append('"sync_start": True')
    if op.predicate is not None:
        arguments.append(["predicate=", *predicate(op.predicate)])
    if op.early_resolve is not None:
        arguments.append(["allow_early_resolve=True"])
    attributes += marks(op)
    if attributes or tail:
        parts: Parts = ["attrs={", ", ".join(attributes)]
        for place, part in enumerate(tail):
            parts += [", " if attributes or place else "", *part]
        arguments.append([*parts, "}"])
    if not submit:
        return [f"self.{callee}(", *call("", *arguments)[1:]]
    name = "spmd_submit" if op.launch is not None else "submit"
    return call(name, [f"self.{callee}"], *arguments)


def marks(op: Operation, known: Sequence[str] = ()) -> list[str]:
    """The discardable attributes that the DSL has, as entries of `attrs={...}`."""
    found: list[str] = []
    for name, value in op.attributes.items():
        if name in known:
            continue
        if not name.startswith("pl."):
            raise OpError(op, f"has an attribute '{name}' that the DSL has no words for")
        word = name.removeprefix("pl.")
        if word in _TAKEN or word.startswith((REBOUND_MARK, SLOTS_MARK, POSITIVE_MARK)):
            raise OpError(op, f"has an attribute '{name}', which says something else in the DSL")
        found.append(attribute_text(op, name, value))
    return found


def predicate(condition: Predicate) -> Parts:
    """`(t[i, 0] > 0)`."""
    sign = _SIGNS[condition.comparison.value]
    return ["(", condition.tensor, *listed(condition.indices), f" {sign} {condition.value})"]
