"""
Declarations that contradict themselves, found when a dialect is loaded.

An op that writes several results to destinations the hardware names as arguments declares its
inputs only: a destination is a result, and scratch says that it is `workspace`. An operand whose
effect nobody declared counts as read, so a forgotten write is a dependency that silently goes
missing; here it fails at once, and all offenders are named together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType

from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Operation

from pypto_xdsl.dialects.declared_op import (
    DeclarationError,
    DeclaredOp,
    OperandDeclaration,
    ResultDeclaration,
    ops_defined_in,
)


def declared_ops(*modules: ModuleType) -> list[type[Operation]]:
    """
    The ops that modules of a dialect define; raises `DeclarationError` if their declarations
    contradict themselves.
    """
    ops = ops_defined_in(*modules)
    check_declarations(op for op in ops if issubclass(op, DeclaredOp))
    return ops


def check_declarations(op_types: Iterable[type[DeclaredOp]]) -> None:
    """Raise `DeclarationError` with all offenders, by group, sorted by name."""
    op_types = sorted(op_types, key=lambda op_type: op_type.name)
    problems: list[str] = []
    for reason, find in _GROUPS:
        offenders = [
            f"  {op_type.name}: {offender}" for op_type in op_types for offender in find(op_type)
        ]
        if offenders:
            problems += [f"{reason}:", *offenders]
    if problems:
        raise DeclarationError("\n".join(problems))


Finder = Callable[[type[DeclaredOp]], Iterator[str]]


def _operands(op_type: type[DeclaredOp]) -> list[tuple[str, OperandDeclaration]]:
    """The operands of an op with several results; an op with one has its own rules."""
    declaration = op_type.declaration()
    return list(declaration.operands) if len(declaration.results) > 1 else []


def _undeclared(op_type: type[DeclaredOp]) -> Iterator[str]:
    for name, operand in _operands(op_type):
        if operand.effect is None:
            yield f"operand '{name}'"


def _destinations(op_type: type[DeclaredOp]) -> Iterator[str]:
    for name, operand in _operands(op_type):
        if operand.may_write and not operand.workspace:
            yield f"operand '{name}'"


def _unknown_operands(op_type: type[DeclaredOp]) -> Iterator[str]:
    declaration = op_type.declaration()
    known = {name for name, _ in declaration.operands}
    spoken_of: list[tuple[str, str | None]] = [
        ("NOT_IN_PLACE_WITH", name) for name in op_type.NOT_IN_PLACE_WITH
    ]
    for result, declared in declaration.results:
        spoken_of += [
            (f"result '{result}'", declared.names),
            (f"result '{result}'", declared.space_of),
        ]
    said = ", ".join(f"'{name}'" for name, _ in declaration.operands) or "none"
    for who, name in dict.fromkeys(spoken_of):
        if name is not None and name not in known:
            yield f"{who} speaks of '{name}', the operands are {said}"


def _unwritten_workspaces(op_type: type[DeclaredOp]) -> Iterator[str]:
    for name, operand in op_type.declaration().operands:
        if operand.workspace and not operand.may_write:
            yield f"operand '{name}'"


def _ambiguous_names(op_type: type[DeclaredOp]) -> Iterator[str]:
    results = op_type.declaration().results
    if len(results) > 1:
        for name, result in results:
            if result.names is not None:
                yield f"result '{name}' names '{result.names}'"


def _unclassified_names(op_type: type[DeclaredOp]) -> Iterator[str]:
    declaration = op_type.declaration()
    operands = dict(declaration.operands)
    for name, result in declaration.results:
        named = operands.get(result.names or "")
        if named is not None and named.effect is None:
            yield f"result '{name}' names '{result.names}'"


def _unplaced(op_type: type[DeclaredOp]) -> Iterator[str]:
    declaration = op_type.declaration()
    for name, declared in (*declaration.operands, *declaration.results):
        if isinstance(declared, OperandDeclaration):
            kind, known = "operand", declared.effect is not None
        else:
            kind, known = "result", declared.declared
        if not known and _holds_buffers(declared):
            yield f"{kind} '{name}'"


def _holds_buffers(declared: OperandDeclaration | ResultDeclaration) -> bool:
    return any(issubclass(kind, ShapedType) for kind in declared.get_bases() or ())


_GROUPS: tuple[tuple[str, Finder], ...] = (
    (
        "ops with several results declare the effect on every operand, since one that nobody "
        "declared cannot be told from a hidden destination",
        _undeclared,
    ),
    (
        "what an op with several results writes is scratch, then say `workspace`, or a "
        "destination, then make it a result",
        _destinations,
    ),
    ("declarations speak of operands that the op has", _unknown_operands),
    (
        "scratch is written by definition: correct the effect, or do not call it workspace",
        _unwritten_workspaces,
    ),
    (
        "of several results none names the buffer of an operand, since it could be any",
        _ambiguous_names,
    ),
    (
        "an operand whose buffer a result names has a declared effect, were it only `reads`",
        _unclassified_names,
    ),
    ("tiles and tensors have a declared effect, or place to live", _unplaced),
)
