"""What every op of the `pto` dialect declares, once, and the questions others ask of it.

An op's operands are declared with their *role*, which says what the instruction does with each:

| role | operand |
|---|---|
| `READ` | a tile, view or pointer whose bytes are read |
| `WRITE` | one whose bytes are written without being read |
| `UPDATE` | one whose bytes are read and written |
| `SCRATCH` | workspace: written, its contents mean nothing before or after |
| `VALUE` | a number, read from a register |
| `VIEW` | a buffer of which only the address or extent is used |

A *family* is an ordinary xDSL base class that holds the operands and properties its ops share; an
op is one row of a family's table, made into a class by `declare`. A row gives the mnemonic, the
element types and rules that hold on A2/A3, the pipe, and in one line what the instruction does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    OptOperandDef,
    VarOperandDef,
    irdl_op_definition,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.enumerations import KernelKind, Pipe
from pypto_xdsl.dialects.pto.literals import parse_integer, parse_string

TARGET = "A2/A3"
"""The target whose rules the verifiers hold, as error texts name it."""


class Role(Enum):
    """What an instruction does with an operand; see the table above."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    SCRATCH = "scratch"
    VALUE = "value"
    VIEW = "view"

    @property
    def reads(self) -> bool:
        """Whether bytes of the operand that were there before are read."""
        return self in (Role.READ, Role.UPDATE)

    @property
    def writes(self) -> bool:
        """Whether bytes of the operand may change."""
        return self in (Role.WRITE, Role.UPDATE, Role.SCRATCH)


@dataclass(frozen=True)
class OperandConstraint(AttrConstraint[Attribute]):
    """The types an operand may have, and what the instruction does with it."""

    bases: tuple[type[Attribute], ...]
    role: Role
    what: str
    accepts: Callable[[Attribute], bool] | None = field(default=None, compare=False)
    only: Attribute | None = None
    """The one type, where there is only one; the text may leave it out."""
    needed_before_060: bool = False
    """Whether an operand that may be absent today may not in PTOAS before 0.60."""

    def verify(self, attr: Attribute, constraint_context: Any) -> None:
        if (
            not isinstance(attr, self.bases)
            or (self.accepts is not None and not self.accepts(attr))
            or (self.only is not None and attr != self.only)
        ):
            raise VerifyException(f"expects {self.what}, got {attr}")

    def can_infer(self, var_constraint_names: AbstractSet[str]) -> bool:
        return self.only is not None

    def infer(self, context: Any) -> Attribute:
        assert self.only is not None
        return self.only

    def get_bases(self) -> set[type[Attribute]] | None:
        return set(self.bases)

    def mapping_type_vars(self, type_var_mapping: Any) -> OperandConstraint:
        return self


@dataclass(frozen=True)
class PropertyConstraint(AttrConstraint[Attribute]):
    """The attribute class of a property, and how a plain Python value becomes one."""

    base: type[Attribute]
    make: Callable[[Any], Attribute] = field(compare=False)
    what: str
    accepts: Callable[[Attribute], bool] | None = field(default=None, compare=False)
    parse: Callable[[Parser], Any] | None = field(default=None, compare=False)
    """Reads the value where its kind is known and left out: `split = 0`."""

    def verify(self, attr: Attribute, constraint_context: Any) -> None:
        if not isinstance(attr, self.base) or (self.accepts is not None and not self.accepts(attr)):
            raise VerifyException(f"expects {self.what}, got {attr}")

    def get_bases(self) -> set[type[Attribute]] | None:
        return {self.base}

    def mapping_type_vars(self, type_var_mapping: Any) -> PropertyConstraint:
        return self


def word(attribute: type[Attribute]) -> PropertyConstraint:
    """A property that holds a word of an enumeration."""
    name = attribute.name.removeprefix("pto.")
    return PropertyConstraint(attribute, cast(Any, attribute), f"a {name} attribute")


def has_integer_type(attr: Attribute, element_type: IntegerType) -> bool:
    """Whether an attribute is an integer of this type."""
    return isinstance(attr, IntegerAttr) and cast(Any, attr).type == element_type


def integer(width: int) -> PropertyConstraint:
    """A property that holds a signless integer of so many bits."""
    element_type = IntegerType(width)

    def of_width(attr: Attribute) -> bool:
        return has_integer_type(attr, element_type)

    return PropertyConstraint(
        IntegerAttr,
        lambda value: IntegerAttr(value, element_type),
        f"an i{width} attribute",
        of_width,
        lambda parser: parse_integer(parser, width),
    )


def _is_bool(attr: Attribute) -> bool:
    return has_integer_type(attr, IntegerType(1))


BOOL = PropertyConstraint(
    IntegerAttr,
    BoolAttr.from_bool,
    "a boolean attribute",
    _is_bool,
    lambda parser: parser.parse_boolean(),
)
"""A property that holds `true` or `false`."""

STRING = PropertyConstraint(
    StringAttr,
    StringAttr,
    "a string attribute",
    parse=parse_string,
)
"""A property that holds text."""

SYMBOL = PropertyConstraint(
    SymbolRefAttr,
    SymbolRefAttr,
    "a symbol",
    parse=lambda parser: parser.parse_symbol_name(),
)
"""A property that names a function."""


@dataclass(frozen=True)
class OperandInfo:
    """One operand of a declaration."""

    name: str
    role: Role
    is_optional: bool
    is_variadic: bool
    what: str
    needed_before_060: bool


@dataclass(frozen=True)
class Rule:
    """One condition on an op.

    `text` completes "expects A2/A3 tadd ..."; `check` returns what is wrong instead, or None.
    A rule with an empty text states several conditions, and `check` completes the sentence.
    """

    text: str
    check: Callable[[PtoOp], str | None]


@dataclass(frozen=True)
class Declaration:
    """Everything declared about one op; filled by `declare`."""

    mnemonic: str
    summary: str
    family: str
    pipe: Pipe | Callable[[Any], Pipe] | None
    rules: tuple[Rule, ...]
    in_place: frozenset[str]
    """Sources that may be the same bytes as the destination, element for element."""
    distinct: tuple[tuple[str, str], ...]
    """Pairs of operands that the instruction does not take as one buffer."""
    operands: tuple[OperandInfo, ...]
    ins: tuple[str, ...]
    """Operands in the `ins(...)` of the text, in the order of the text."""
    outs: tuple[str, ...]
    required_ins: int
    is_segmented: bool
    defaults: Mapping[str, Attribute]
    """Properties that are left out where they have this value."""
    property_names: Mapping[str, str]
    """Python name of each property, and its name in the text."""
    core: KernelKind | None
    """The kind of core whose functions and sections alone have the op; None for any."""
    other_names: Mapping[str, str]
    """Versions of PTOAS that call it something else, and what."""
    newer: frozenset[str]
    """Workspace that 0.27 does not have; it plans its own."""

    @property
    def name(self) -> str:
        """The op's name: `pto.tadd`."""
        return f"pto.{self.mnemonic}"

    def operand(self, name: str) -> OperandInfo:
        """The operand of this name. Raises `KeyError`."""
        for info in self.operands:
            if info.name == name:
                return info
        raise KeyError(f"{self.name} has no operand {name}")


class OperandEffects(MemoryEffect):
    """The memory effects that follow from the roles of the operands."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, PtoOp)
        effects = set[EffectInstance]()
        for _, role, value in op.roles():
            if role.reads:
                effects.add(EffectInstance(MemoryEffectKind.READ, value))
            if role.writes:
                effects.add(EffectInstance(MemoryEffectKind.WRITE, value))
        if op.ALLOCATES:
            effects.update(EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results)
        if op.HAS_SIDE_EFFECTS:
            # Order among themselves matters and no value stands for what they touch.
            effects.add(EffectInstance(MemoryEffectKind.READ))
            effects.add(EffectInstance(MemoryEffectKind.WRITE))
        return effects


class PtoOp(IRDLOperation):
    """An op of the dialect, with the questions that memory planning and interpreters ask."""

    DECLARATION: ClassVar[Declaration]
    """What the op's row and family declare."""

    ALIASES: ClassVar[str | None] = None
    """The operand whose bytes the results are another name for."""

    ALLOCATES: ClassVar[bool] = False
    """Whether the results are new storage."""

    HAS_SIDE_EFFECTS: ClassVar[bool] = False
    """Whether the op does what no operand shows: synchronisation, queues, printing."""

    SINCE: ClassVar[str] = "0.27"
    """The first version of PTOAS, of those that text is written for, that has the op for A2/A3."""

    BEFORE: ClassVar[str] = "does not exist"
    """What the op is in the versions before."""

    INS: ClassVar[tuple[str, ...] | None] = None
    """The operands in `ins(...)`, where their order is not that of the declaration."""

    OUTS: ClassVar[tuple[str, ...] | None] = None
    """The operands in `outs(...)`, where they are not those that are written."""

    traits = traits_def(OperandEffects())

    def __init__(
        self,
        *operands: SSAValue | Operation | None,
        result_types: Sequence[Attribute] = (),
        attributes: Mapping[str, Attribute] | None = None,
        **named: Any,
    ) -> None:
        """Operands in the order of the text, or by name; properties by name.

        A property may be given as a plain value: a word of its enumeration, an integer, a
        boolean or a string.
        """
        declaration = self.DECLARATION
        values: dict[str, Any] = {}
        order = (*declaration.ins, *declaration.outs)
        if len(operands) > len(order):
            raise ValueError(
                f"{declaration.name} takes at most {len(order)} operands, got {len(operands)}"
            )
        for name, value in zip(order, operands, strict=False):
            values[name] = value
        properties: dict[str, Attribute | None] = {}
        op_def = self.get_irdl_definition()
        for name, value in named.items():
            if name in declaration.property_names:
                text_name = declaration.property_names[name]
                properties[text_name] = _as_attribute(op_def.properties[text_name].constr, value)
            elif name in values or not any(info.name == name for info in declaration.operands):
                raise ValueError(f"{declaration.name} has no free operand or property {name}")
            else:
                values[name] = value
        super().__init__(
            operands=[
                values.get(info.name, () if info.is_variadic and not info.is_optional else None)
                for info in declaration.operands
            ],
            result_types=[[*result_types]] if _has_variadic_result(op_def) else [*result_types],
            properties=properties,
            attributes=attributes,
        )

    def __post_init__(self) -> None:
        # One spelling a meaning: a default is left out. (Nothing is filled in here, unlike in
        # the base class, since no property of the dialect has a default that must be present.)
        properties = self.properties
        if properties:
            for name, default in self.DECLARATION.defaults.items():
                if properties.get(name) == default:
                    del properties[name]
        Operation.__post_init__(self)

    def verify_(self) -> None:
        declaration = self.DECLARATION
        for rule in declaration.rules:
            if (problem := rule.check(self)) is not None:
                text = f"{rule.text}, {problem}" if rule.text else problem
                raise VerifyException(f"expects {TARGET} {declaration.mnemonic} {text}")
        for left, right in declaration.distinct:
            value = self.optional_operand(left)
            if value is not None and value is self.optional_operand(right):
                raise VerifyException(
                    f"expects {TARGET} {declaration.mnemonic} {left} and {right} "
                    "to be different tiles"
                )

    # What the op does

    @property
    def pipe(self) -> Pipe | None:
        """The pipe the instruction runs on; None where it issues no instruction."""
        pipe = self.DECLARATION.pipe
        return pipe if pipe is None or isinstance(pipe, Pipe) else pipe(self)

    def role_of(self, info: OperandInfo) -> Role:
        """The role of an operand; some depend on the op's attributes."""
        return info.role

    def roles(self) -> Iterator[tuple[str, Role, SSAValue]]:
        """Name, role and value of each operand, in operand order."""
        declaration, operands = self.DECLARATION, self.operands
        if not declaration.is_segmented and len(operands) == len(declaration.operands):
            for info, value in zip(declaration.operands, operands, strict=True):
                yield info.name, self.role_of(info), value
            return
        for info in self.DECLARATION.operands:
            value = getattr(self, info.name)
            if value is None:
                continue
            role = self.role_of(info)
            if info.is_variadic and not info.is_optional:
                for element in value:
                    yield info.name, role, element
            else:
                yield info.name, role, value

    @property
    def reads(self) -> tuple[SSAValue, ...]:
        """Operands whose bytes are read."""
        return tuple(value for _, role, value in self.roles() if role.reads)

    @property
    def writes(self) -> tuple[SSAValue, ...]:
        """Operands whose bytes mean something after the op because of it; no workspace."""
        return tuple(value for _, role, value in self.roles() if role in (Role.WRITE, Role.UPDATE))

    @property
    def workspaces(self) -> tuple[SSAValue, ...]:
        """Workspace operands."""
        return tuple(value for _, role, value in self.roles() if role == Role.SCRATCH)

    def unwritable_in(self, version: str) -> str | None:
        """Why a version of PTOAS ("0.27", "0.57", "0.60") has no text for the op; else None."""
        if float(version) < float(self.SINCE):
            return f"{self.BEFORE} in PTOAS {version}; {TARGET} has it since {self.SINCE}"
        if version == "0.60":
            return None
        for info in self.DECLARATION.operands:
            if info.needed_before_060 and self.optional_operand(info.name) is None:
                return f"needs {info.name} in PTOAS {version}"
        return None

    @property
    def aliased(self) -> SSAValue | None:
        """The operand whose bytes the results name; None where they are not another name."""
        return None if self.ALIASES is None else cast(SSAValue, getattr(self, self.ALIASES))

    def may_share(self, source: str) -> bool:
        """Whether a source may be the same bytes as what is written, element for element."""
        return source in self.DECLARATION.in_place

    def may_narrow(self, source: str) -> bool:
        """
        Whether what is written may begin where a source does, though its elements are smaller:
        each is written where elements were that have been read by then.
        """
        return False

    def operand(self, name: str) -> SSAValue:
        """The operand of this name. Raises `KeyError` where it is not declared or absent."""
        value = self.optional_operand(name)
        if value is None:
            raise KeyError(f"{self.name} has no {name}")
        return value

    def optional_operand(self, name: str) -> SSAValue | None:
        """The operand of this name, None where it is absent. Raises `KeyError` if undeclared."""
        self.DECLARATION.operand(name)
        return cast("SSAValue | None", getattr(self, name))

    def operands_of(self, name: str) -> tuple[SSAValue, ...]:
        """The operands of this name, one, none or several. Raises `KeyError` if undeclared."""
        self.DECLARATION.operand(name)
        value: SSAValue | Sequence[SSAValue] | None = getattr(self, name)
        if value is None:
            return ()
        return (value,) if isinstance(value, SSAValue) else tuple(value)


def _has_variadic_result(op_def: Any) -> bool:
    return any(type(definition).__name__ != "ResultDef" for _, definition in op_def.results)


def _as_attribute(constraint: AttrConstraint[Attribute], value: Any) -> Attribute | None:
    if value is None or isinstance(value, Attribute):
        return value
    if not isinstance(constraint, PropertyConstraint):
        raise ValueError(f"{value!r} is not an attribute")
    return constraint.make(value)


FamilyT = TypeVar("FamilyT", bound=PtoOp)


def declare(
    family: type[FamilyT],
    class_name: str,
    mnemonic: str,
    summary: str,
    *,
    pipe: Pipe | Callable[[Any], Pipe] | None = None,
    rules: Iterable[Rule] = (),
    in_place: Iterable[str] = (),
    distinct: Iterable[tuple[str, str]] = (),
    core: KernelKind | None = None,
    other_names: Mapping[str, str] | None = None,
    newer: Iterable[str] = (),
    **fields: Any,
) -> type[FamilyT]:
    """An op: one row of a family's table.

    `fields` are properties that this op has beyond those of its family, and in capitals what it
    says otherwise than its family.
    """
    cls = cast(
        "type[FamilyT]",
        type(
            class_name,
            (family,),
            {
                "__doc__": f"`pto.{mnemonic}`: {summary}",
                "__module__": family.__module__,
                "__annotations__": {key: ClassVar[Any] for key in fields if key.isupper()},
                "name": f"pto.{mnemonic}",
                **fields,
            },
        ),
    )
    cls = irdl_op_definition(cls)
    cls.DECLARATION = _declaration(
        cls,
        family,
        mnemonic,
        summary,
        pipe,
        tuple(rules),
        frozenset(in_place),
        tuple(distinct),
        core,
        other_names or {},
        frozenset(newer),
    )
    return cls


def _declaration(
    cls: type[PtoOp],
    family: type[PtoOp],
    mnemonic: str,
    summary: str,
    pipe: Pipe | Callable[[Any], Pipe] | None,
    rules: tuple[Rule, ...],
    in_place: frozenset[str],
    distinct: tuple[tuple[str, str], ...],
    core: KernelKind | None,
    other_names: Mapping[str, str],
    newer: frozenset[str],
) -> Declaration:
    op_def = cls.get_irdl_definition()
    operands: list[OperandInfo] = []
    for name, definition in op_def.operands:
        constraint = definition.constr
        while not isinstance(constraint, OperandConstraint) and constraint is not None:
            # Constraints on a number of operands wrap the one on each operand.
            constraint = getattr(constraint, "constraint", getattr(constraint, "constr", None))
        if not isinstance(constraint, OperandConstraint):
            raise TypeError(f"{cls.name}: operand {name} declares no role")
        operands.append(
            OperandInfo(
                name,
                constraint.role,
                isinstance(definition, OptOperandDef),
                isinstance(definition, VarOperandDef),
                constraint.what,
                constraint.needed_before_060,
            )
        )
    names = {info.name for info in operands}
    is_output = (Role.WRITE, Role.UPDATE)
    outs = cls.OUTS
    if outs is None:
        outs = tuple(info.name for info in operands if info.role in is_output)
    ins = cls.INS
    if ins is None:
        ins = tuple(info.name for info in operands if info.name not in outs)
    named = {*ins, *outs, *in_place, *(name for pair in distinct for name in pair)}
    if not named <= names:
        raise TypeError(f"{cls.name}: {sorted(named - names)} are not operands")
    optional = {info.name for info in operands if info.is_optional}
    return Declaration(
        mnemonic,
        summary,
        family.__name__,
        pipe,
        rules,
        in_place,
        distinct,
        tuple(operands),
        ins,
        outs,
        sum(name not in optional for name in ins),
        bool(op_def.options),
        {
            name: definition.default_value
            for name, definition in op_def.properties.items()
            if definition.default_value is not None
        },
        {python: text for python, (text, _) in op_def.accessor_names.items()},
        core,
        other_names,
        newer,
    )
