"""Ops as calls of the DSL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    UnregisteredOp,
    i1,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.ptensor.attributes import (
    MaskPatternAttr,
    PadValueAttr,
    RoundModeAttr,
)
from pypto_xdsl.dialects.tile import cross_core
from pypto_xdsl.dialects.tile.attributes import AccPhaseAttr
from pypto_xdsl.dialects.tile.memory import ValidDimOp
from pypto_xdsl.frontend.pl.launches import constant_attribute
from pypto_xdsl.frontend.pl.op_table import SPELLED, Parameter, signature
from pypto_xdsl.frontend.pl.vocabulary import DTYPE_NAMES, spell, spell_dtype
from pypto_xdsl.syntax.lists import mixed_indices
from pypto_xdsl.targets.pl import cross_core_forms, task_forms, tensor_forms, tile_forms
from pypto_xdsl.targets.pl.cross_core_forms import place_of
from pypto_xdsl.targets.pl.parts import Parts, call, listed, quoted
from pypto_xdsl.targets.pl.scalars import float_text
from pypto_xdsl.targets.pl.shared_forms import Form

FORMS: Mapping[type[Operation], Form] = {
    **tile_forms.FORMS,
    **tensor_forms.FORMS,
    **cross_core_forms.FORMS,
    **task_forms.FORMS,
}
"""Ops whose calls in the DSL are not just their operands and properties."""

_OWN = (ValidDimOp,)
"""Ops that PyPTO has none like."""

_LEVELS = {"tile": "tile", "ptensor": "tensor"}


def op_call(op: Operation, functions: Mapping[str, str]) -> Parts:
    """
    An op as a call of the DSL; `functions` is what the text calls the functions of the program.
    Raises `OpError` for one that the DSL has no words for.
    """
    if isinstance(op, cross_core.ImportPeerBufferOp):
        return cross_core_forms.import_peer_buffer(op, functions)
    form = FORMS.get(type(op))
    if form is not None:
        return form(op)
    dialect, _, name = op.name.partition(".")
    if dialect not in _LEVELS or not isinstance(op, DeclaredOp) or isinstance(op, _OWN):
        raise OpError(op, "has no spelling in the DSL")
    arguments: list[Parts] = []
    positional = True
    for parameter in signature(type(op)).parameters:
        if parameter.kind == "property":
            value = op.properties.get(parameter.name)
            if value is not None and value != parameter.default:
                arguments.append([f"{parameter.name}={property_text(op, parameter, value)}"])
                positional = False
            continue
        if parameter.kind == "indices":
            static = op.properties[parameter.static_name]
            indices = mixed_indices(cast(Any, static), getattr(op, parameter.name))
            arguments.append([f"{parameter.name}=", *listed(indices)])
            positional = False
            continue
        operand = getattr(op, parameter.name)
        if operand is not None and not isinstance(operand, SSAValue):
            raise OpError(op, "has no spelling in the DSL")
        if operand is None:
            positional = False
            continue
        prefix: Parts = [] if positional else [f"{parameter.name}="]
        arguments.append([*prefix, operand])
    return call(f"{_LEVELS[dialect]}.{SPELLED.get(name, name)}", *arguments)


def property_text(op: Operation, parameter: Parameter, value: Attribute) -> str:
    """A property as the DSL spells it."""
    match value:
        case UnitAttr():
            return "True"
        case PadValueAttr():
            return spell("PadValue", value.data)
        case MaskPatternAttr():
            return str(place_of(value) + 1)
        case RoundModeAttr() | AccPhaseAttr():
            return repr(value.data.value)
        case EnumAttribute():
            return str(place_of(value))
        case IntegerAttr():
            return str(_python_integer(value))
        case StringAttr():
            return repr(value.data)
        case _ if value in DTYPE_NAMES:
            return spell_dtype(value)
        case _:
            raise OpError(op, f"has a {parameter.name} that the DSL has no word for: {value}")


def attribute_text(op: Operation, name: str, value: Attribute) -> str:
    """
    A discardable attribute as an entry of a dict of Python's constants. Raises `OpError` for one
    that would come back as another.
    """
    match value:
        case IntegerAttr():
            constant: bool | int | float | str = _python_integer(value)
            text = str(constant)
        case FloatAttr():
            constant = value.value.data
            text = float_text(op, constant)
        case StringAttr():
            constant = value.data
            text = repr(constant)
        case _:
            constant = text = ""
    if constant_attribute(constant) != value:
        raise OpError(op, f"has an attribute '{name}' that the DSL has no word for: {value}")
    return f"{quoted(name.removeprefix('pl.'))}: {text}"


def _python_integer(value: IntegerAttr[Any]) -> int:
    return bool(value.value.data) if value.type == i1 else value.value.data


_ATTRIBUTES_ARE_SAID = (scf.ForOp, orch.DispatchOp)
"""Ops whose attributes are part of their statements."""


def check_attributes(op: Operation) -> None:
    """Raise `OpError` where an op says more than there are words for in the DSL."""
    if isinstance(op, UnregisteredOp):
        raise OpError(op, "has no spelling in the DSL")
    for name in op.attributes:
        by_hand = name == orch.MANUAL_DEP and isinstance(op, ptensor.CreateOp | ptensor.FullOp)
        if not by_hand and not isinstance(op, _ATTRIBUTES_ARE_SAID):
            raise OpError(op, f"has an attribute '{name}' that the DSL has no words for")
    for value in op.properties.values():
        has_flags = isinstance(value, arith.FastMathFlagsAttr | arith.IntegerOverflowAttr)
        if has_flags and value.data:
            raise OpError(op, f"has flags that the DSL has no words for: {value}")
