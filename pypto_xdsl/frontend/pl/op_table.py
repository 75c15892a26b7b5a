"""
The ops that the DSL can call, found in the dialects: name, operands and properties come from the
op's own definition, so that a new op needs no entry here.

Only what the DSL spells differently is listed: other names of ops, other names of parameters, and
parameters in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrSizedOperandSegments, OptOperandDef, OptPropertyDef, VarOperandDef

from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import SCALAR
from pypto_xdsl.dialects.ptensor import PTensor
from pypto_xdsl.dialects.tile import Tile
from pypto_xdsl.syntax.op_syntax import StaticIndices, ValueSyntax

LEVELS: Mapping[str, str] = {"tile": "tile", "tensor": "ptensor"}
"""Submodule of the DSL -> dialect."""

OP_NAMES: Mapping[str, str] = {
    "create_tile": "create",
    "create_tensor": "create",
    "arange": "ci",
    "and_": "and",
    "or_": "or",
    "not_": "not",
}
"""The DSL's names of ops that differ."""

SPELLED = {"and": "and_", "or": "or_", "not": "not_"}
"""How names of ops that Python reserves are printed."""

PARAMETER_NAMES: Mapping[str, Sequence[str]] = {
    "tile": ("operand", "source", "target"),
    "tensor": ("operand", "source", "target"),
    "input": ("operand", "source", "target", "destination"),
    "src": ("source", "operand"),
    "data": ("source", "operand"),
    "tmp_tile": ("tmp",),
    "row_vec": ("vector",),
    "col_vec": ("vector",),
    "col_tile": ("vector",),
    "rhs2": ("third",),
    "scalar": ("rhs",),
    "slope": ("rhs",),
    "src0": ("lhs",),
    "src1": ("rhs",),
    "idx": ("indices",),
    "index": ("indices", "index"),
    "indexes": ("indices",),
    "dst": ("destination", "target"),
    "output_tensor": ("destination",),
    "mem": ("source",),
}
"""The DSL's names of parameters -> what ops call them."""

_EXPANSIONS = ("", "_add", "_sub", "_mul", "_div", "_max", "_min", "_expdif")
_PLACES: Mapping[str, str] = {
    **{f"row_expand{what}": "lhs rhs" for what in _EXPANSIONS},
    **{f"col_expand{what}": "lhs rhs" for what in _EXPANSIONS},
    "fillpad": "value",
    "fillpad_expand": "value shape",
    "gather_row": "dst src dst_offset src_offset shapes",
    "mrgsort": "src0 src1 src2 src3",
    "read": "src offset",
    "reshape": "input shape",
    "set_validshape": "input valid_rows valid_cols",
    "slice": "input shape offset",
    "transpose": "input axis1 axis2",
    "write": "dst offset value",
    "tensor.fillpad": "tensor",
    "tensor.fillpad_expand": "tensor shape",
    "tensor.mrgsort": "src0 src1 src2 src3",
    "tile.alloc": "memory_space size",
    "tile.gatherb": "src offset",
    "tile.lrelu": "tile slope",
    "tile.mrgsort": "src0 src1 src2 src3",
    "tile.reshape": "tile shape",
}
"""
What the DSL calls the first parameters of an op, where the op's level, or the operands that decide
it, do not tell: a function for both levels has names of its own.
"""

ORDER: Mapping[str, Sequence[str]] = {}
"""The DSL's order of parameters where it is not operands, then properties."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of an op as the DSL calls it."""

    name: str
    kind: str
    """`value`, `scalar`, `index`, `indices` or `property`."""
    optional: bool
    default: Attribute | None = None
    syntax: ValueSyntax[Any] | None = None
    static_name: str = ""
    """Of `indices`: the property of the static places."""
    group: int = 0


@dataclass(frozen=True)
class Signature:
    """How the DSL calls an op."""

    op: type[DeclaredOp]
    parameters: tuple[Parameter, ...]
    sized: bool
    groups: int

    def parameter(self, keyword: str) -> Parameter | None:
        """The parameter that a keyword names."""
        by_name = {parameter.name: parameter for parameter in self.parameters}
        if keyword in by_name:
            return by_name[keyword]
        for name in PARAMETER_NAMES.get(keyword, ()):
            if name in by_name:
                return by_name[name]
        return None


@cache
def op_classes() -> Mapping[str, type[Operation]]:
    """The ops of the dialects by their names in the DSL: `tile.add`, `tensor.add`."""
    found: dict[str, type[Operation]] = {}
    for level, dialect in (("tile", Tile), ("tensor", PTensor)):
        for op in dialect.operations:
            found[f"{level}.{op.name.partition('.')[2]}"] = op
    return found


def op_class(level: str, name: str) -> type[DeclaredOp] | None:
    """The op that the DSL calls `pl.<level>.<name>`, if there is one."""
    found = op_classes().get(f"{level}.{OP_NAMES.get(name, name)}")
    return found if found is not None and issubclass(found, DeclaredOp) else None


@cache
def signature(op: type[DeclaredOp]) -> Signature:
    """How the DSL calls an op: operands in the order of the definition, then properties."""
    definition = op.get_irdl_definition()
    lists = {
        name.removeprefix("static_"): name
        for name, prop in definition.properties.items()
        if isinstance(prop.constr, StaticIndices)
    }
    declared = dict(op.declaration().operands)
    parameters: list[Parameter] = []
    for group, (name, operand) in enumerate(definition.operands):
        optional = isinstance(operand, OptOperandDef | VarOperandDef)
        if name in lists:
            parameters.append(
                Parameter(name, "indices", optional, static_name=lists[name], group=group)
            )
            continue
        constraint = declared[name].constraint
        kind = "scalar" if constraint is SCALAR else "value"
        if constraint.get_bases() == {IndexType}:
            kind = "index"
        parameters.append(Parameter(name, kind, optional, group=group))
    for name, prop in definition.properties.items():
        if isinstance(prop.constr, StaticIndices) or name == "operandSegmentSizes":
            continue
        syntax = prop.constr if isinstance(prop.constr, ValueSyntax) else None
        optional = isinstance(prop, OptPropertyDef) or prop.default_value is not None
        parameters.append(Parameter(name, "property", optional, prop.default_value, syntax))
    if op.name in ORDER:
        by_name = {parameter.name: parameter for parameter in parameters}
        parameters = [by_name[name] for name in ORDER[op.name]]
    sized = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
    return Signature(op, tuple(parameters), sized, len(definition.operands))


@cache
def gives_view(name: str) -> bool:
    """Whether what `pl.<name>` gives names the buffer of a tensor that it does not write."""
    op = op_class("tensor", name)
    if op is None:
        return False
    declaration = op.declaration()
    return any(
        result.names is not None and not declaration.operand(result.names).may_write
        for _, result in declaration.results
    )


def places(name: str, level: str | None) -> Sequence[str]:
    """What `pl.<level>.<name>` calls its first parameters, where the op does not say it."""
    return _PLACES.get(name if level is None else f"{level}.{name}", "").split()


_DESTINATIONS: Mapping[str, tuple[int, str]] = {
    "store": (2, "output_tensor"),
    "assemble": (0, "target"),
    "write": (0, "tensor"),
}
"""Of ops with a form of their own: the argument that is written, by place and keyword."""


@cache
def written_parameters(name: str, level: str | None) -> Sequence[tuple[int, str]]:
    """
    The arguments of `pl.<level>.<name>` whose buffer the op writes and the result names, by place
    and keyword; `level` is None where the operands decide.
    """
    found: dict[tuple[int, str], None] = {}
    called = places(name, level)
    name = OP_NAMES.get(name, name)
    for place, parameter in _written(name, level):
        found[place, parameter] = None
        if place < len(called):
            found[place, called[place]] = None
    return tuple(found)


def _written(name: str, level: str | None) -> Iterator[tuple[int, str]]:
    if name in _DESTINATIONS:
        yield _DESTINATIONS[name]
        return
    for candidate in LEVELS if level is None else (level,):
        op = op_class(candidate, name)
        if op is None:
            continue
        declaration = op.declaration()
        named = {result.names for _, result in declaration.results}
        for place, parameter in enumerate(signature(op).parameters):
            if parameter.kind != "value" or parameter.name not in named:
                continue
            if declaration.operand(parameter.name).may_write:
                yield place, parameter.name


def all_op_names() -> Iterator[str]:
    """The names of all ops in the DSL, for suggestions."""
    yield from op_classes()
