"""
Everything wrong with a module, each error at its op, in time linear in the IR.

`verify` replaces `ModuleOp.verify` of xDSL, which stops at the first error, does not say at
which op, does not check dominance, counts the blocks of a region for each of its ops, and
recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, ErasedSSAValue, Operation
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsTerminator, NoTerminator, SymbolTable
from xdsl.utils.exceptions import DiagnosticException

from pypto_xdsl.analysis.dominance import undominated_uses
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose, note
from pypto_xdsl.syntax.spelling import did_you_mean, similar

_UNKNOWN_PROPERTY = re.compile(r"property '([^']*)' is not defined by the operation")
_MISSING = re.compile(r"(property|attribute) '([^']*)' expected in operation")
_SAID_BY_DOMINANCE = "Operation using value defined out of its IsolatedFromAbove parent"
"""An error that xDSL puts at the isolated op; the dominance check puts it at the use."""


def verify(module: Operation) -> list[Diagnostic]:
    """
    Everything wrong with the module, in the order of the text: the rules of each op, of block
    ends, of symbol names, and SSA dominance. Empty if the module is valid.
    """
    found: list[Diagnostic] = []
    for op in walk(module):
        found.extend(_errors_of(op))
    found.extend(dominance_errors(module))
    return sorted(found, key=lambda d: (d.line, d.column))


def dominance_errors(module: Operation) -> Iterator[Diagnostic]:
    """Each use of a value that is not defined on every way to it."""
    for op, index in undominated_uses(module):
        operand = op.operands[index]
        if isinstance(operand, ErasedSSAValue):
            # Verification says so; there is no definition to point to.
            continue
        name = f" (%{operand.name_hint})" if operand.name_hint else ""
        yield diagnose(
            op,
            f"operand #{index}{name} does not dominate this use",
            [note(operand, "the value is defined here")],
        )


def _errors_of(op: Operation) -> Iterator[Diagnostic]:
    """What is wrong with one op, the ops inside left aside."""
    if any(isinstance(operand, ErasedSSAValue) for operand in op.operands):
        yield diagnose(op, "uses a value whose op was erased")
        return
    own: list[Diagnostic] = []
    if op.successors:
        own.extend(_errors_of_successors(op))
    for block in blocks_inside(op):
        own.extend(_errors_of_block_end(op, block))
    if _is_symbol_table(op):
        own.extend(_duplicate_symbols(op))
    if own:
        # The op's own verifier would stumble over the same.
        yield from own
        return
    try:
        # `Operation.verify` would print the whole module into a note of the exception.
        op.verify_()
    except DiagnosticsError as e:
        yield from e.diagnostics
    except DiagnosticException as e:
        message = str(e)
        if not message.startswith(_SAID_BY_DOMINANCE):
            yield diagnose(op, _with_suggestion(op, message))


def _with_suggestion(op: Operation, message: str) -> str:
    """xDSL's message about an unknown or missing property, with the name probably meant."""
    if not isinstance(op, IRDLOperation):
        return message
    definition = op.get_irdl_definition()
    if unknown := _UNKNOWN_PROPERTY.match(message):
        hint = did_you_mean(unknown[1], definition.properties)
        return f"has no property '{unknown[1]}'{hint}"
    if missing := _MISSING.match(message):
        kind, name = missing.groups()
        known = {*definition.properties, *definition.attributes}
        given = [n for n in (*op.properties, *op.attributes) if n not in known]
        close = similar(name, given)
        return f"lacks {kind} '{name}'" + (f"; is '{close}' a misspelling?" if close else "")
    return message


def _errors_of_successors(op: Operation) -> Iterator[Diagnostic]:
    block = op.parent
    if block is None or block.parent is None:
        yield diagnose(op, "has successors, but is in no region")
    elif op.next_op is not None:
        yield diagnose(op, "has successors, but is not at the end of its block")
    elif any(successor.parent is not block.parent for successor in op.successors):
        yield diagnose(op, "branches to a block of another region")


def _errors_of_block_end(op: Operation, block: Block) -> Iterator[Diagnostic]:
    region = block.parent
    assert region is not None
    if region.first_block is region.last_block and op.has_trait(NoTerminator):
        return
    last = block.last_op
    if last is None:
        yield diagnose(op, "has an empty block, without a terminator")
    elif not last.has_trait(IsTerminator):
        yield diagnose(last, "is at the end of a block, but is not a terminator")


def _is_symbol_table(op: Operation) -> bool:
    return bool(op.regions) and op.has_trait(SymbolTable, value_if_unregistered=False)


def _duplicate_symbols(table: Operation) -> Iterator[Diagnostic]:
    """A second symbol of the same name, with where the first one stands."""
    first: dict[str, Operation] = {}
    for block in blocks_inside(table):
        for op in block.ops:
            name = op.get_attr_or_prop("sym_name")
            if not isinstance(name, StringAttr):
                continue
            if name.data in first:
                yield diagnose(
                    op,
                    f"redefines symbol '@{name.data}'",
                    [note(first[name.data], f"'@{name.data}' is first defined here")],
                )
            else:
                first[name.data] = op
