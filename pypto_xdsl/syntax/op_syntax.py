"""
The custom form shared by the ops of `ptensor` and `tile`, derived from their definitions:

    %t = tile.load %x[%i, 0], valid = [%n, 64] : tensor<128x64xf32> -> !tile.tile<64x64xf32, ...>
    %d, %c = tile.gather_compare %src, %k, %tmp, cmp_mode = gt : T1, f32, T2 -> R1, R2
    %s = tile.add %a, %b : !tile.tile<16xf32>

* Operands stand in the order of the definition. A *subscript*, a list of indices, follows the
  operand before it; other lists of indices and all properties are `keyword = value`.
* After the colon stand the types of the operands (a single one if all agree), then, after an
  arrow, those of the results. They are left out where every result has the *default* type: that
  of the operand it names the buffer of, else that of the first operand. Without operands the
  types are those of the results.
* A property that equals its default, and a list of indices that is empty, is left out.

The functions work from a plan that is made once for each op class, since text is the hot path.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Generic, Self, cast

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    I64,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    IntConstraint,
    IRDLOperation,
    OptOperandDef,
    VarOperandDef,
    VerificationContext,
    base,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.syntax.attributes import parse_attributes
from pypto_xdsl.syntax.lists import parse_indices, print_indices
from pypto_xdsl.syntax.spelling import did_you_mean

INDEX = IndexType()
_ASSIGNMENT = re.compile(r"\s*=")
_RESULTS = re.compile(r"%[\w$.-]+(:\d+)?(\s*,\s*%[\w$.-]+(:\d+)?)*\s*=(?!=)")
_I64_ATTR = cast(AttrConstraint[IntegerAttr[IntegerType]], IntegerAttr.constr(i64))
_AttributeT = TypeVar("_AttributeT", bound=Attribute, default=Attribute)


@dataclass(frozen=True)
class ValueSyntax(AttrConstraint[_AttributeT], ABC, Generic[_AttributeT]):
    """The constraint on a property that also knows how its value is written."""

    constraint: AttrConstraint[_AttributeT]

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        self.constraint.verify(attr, constraint_context)

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> Self:
        return replace(self, constraint=self.constraint.mapping_type_vars(type_var_mapping))

    @abstractmethod
    def parse(self, parser: Parser, keyword: str) -> _AttributeT:
        """Parse the value that stands after `keyword = `."""

    @abstractmethod
    def print(self, printer: Printer, value: Any) -> None: ...


@dataclass(frozen=True)
class WordSyntax(ValueSyntax[_AttributeT]):
    """A word of an enumeration: `mode = rint`."""

    enum: type[EnumAttribute[Any]]

    def parse(self, parser: Parser, keyword: str) -> _AttributeT:
        position = parser.pos
        word = parser.parse_optional_identifier()
        words = [member.value for member in self.enum.enum_type]
        if word not in words:
            got = "" if word is None else f", got '{word}'"
            parser.raise_error(f"'{keyword}' should be one of {', '.join(words)}{got}", position)
        return self.enum(self.enum.enum_type(word))  # pyright: ignore[reportReturnType]

    def print(self, printer: Printer, value: Any) -> None:
        printer.print_string(value.data.value)


@dataclass(frozen=True)
class IntegerSyntax(ValueSyntax[IntegerAttr[IntegerType]]):
    """A number, within bounds: `axis = 1`."""

    minimum: int | None = None
    maximum: int | None = None

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        super().verify(attr, constraint_context)
        assert isinstance(attr, IntegerAttr)
        value = attr.value.data
        if self.minimum is not None and value < self.minimum:
            raise VerifyException(f"{value} is less than {self.minimum}")
        if self.maximum is not None and value > self.maximum:
            raise VerifyException(f"{value} is greater than {self.maximum}")

    def parse(self, parser: Parser, keyword: str) -> IntegerAttr[IntegerType]:
        position = parser.pos
        value = parser.parse_integer(allow_boolean=False)
        if self.minimum is not None and value < self.minimum:
            parser.raise_error(f"'{keyword}' should be at least {self.minimum}", position)
        if self.maximum is not None and value > self.maximum:
            parser.raise_error(f"'{keyword}' should be at most {self.maximum}", position)
        return IntegerAttr(value, i64)

    def print(self, printer: Printer, value: Any) -> None:
        printer.print_string(str(value.value.data))


@dataclass(frozen=True)
class BooleanSyntax(ValueSyntax[BoolAttr]):
    """`transpose = true`"""

    def parse(self, parser: Parser, keyword: str) -> BoolAttr:
        return BoolAttr.from_bool(parser.parse_boolean())

    def print(self, printer: Printer, value: Any) -> None:
        printer.print_string("true" if value.value.data else "false")


@dataclass(frozen=True)
class AttributeSyntax(ValueSyntax[_AttributeT]):
    """Any attribute, as it prints."""

    def parse(self, parser: Parser, keyword: str) -> _AttributeT:
        return parser.parse_attribute()  # pyright: ignore[reportReturnType]

    def print(self, printer: Printer, value: Any) -> None:
        printer.print_attribute(value)


@dataclass(frozen=True)
class StaticIndices(AttrConstraint[DenseArrayBase[I64]]):
    """The static places of a list of indices; its dynamic operands carry the rest of the name."""

    subscript: bool
    keyword: str

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not (isinstance(attr, DenseArrayBase) and attr.elt_type == i64):  # pyright: ignore[reportUnknownMemberType]
            raise VerifyException(f"expected an array of i64, got {attr}")

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> Self:
        return self


_EnumAttributeT = TypeVar("_EnumAttributeT", bound=EnumAttribute[Any])


def word_prop(
    enum: type[_EnumAttributeT], default_value: _EnumAttributeT | None = None
) -> _EnumAttributeT:
    """A property that is one of an enum's words: `mode = round`."""
    return prop_def(WordSyntax(base(enum), enum), default_value)


def opt_word_prop(enum: type[_EnumAttributeT]) -> _EnumAttributeT | None:
    """An optional property that is one of an enum's words."""
    return opt_prop_def(WordSyntax(base(enum), enum))


def integer_prop(
    default_value: int | None = None, *, minimum: int | None = None, maximum: int | None = None
) -> IntegerAttr[IntegerType]:
    """An `i64` property in the given range: `offset = 4`."""
    default = None if default_value is None else IntegerAttr(default_value, i64)
    constraint = IntegerSyntax(_I64_ATTR, minimum, maximum)
    return prop_def(constraint, default)


def opt_integer_prop(
    *, minimum: int | None = None, maximum: int | None = None
) -> IntegerAttr[IntegerType] | None:
    """An optional `i64` property in the given range."""
    return opt_prop_def(IntegerSyntax(_I64_ATTR, minimum, maximum))


def string_prop() -> StringAttr:
    """A property that is a string: `name = "ring"`."""
    return prop_def(AttributeSyntax(base(StringAttr)))


def boolean_prop(default_value: bool) -> BoolAttr:
    """A boolean property: `high_precision = true`."""
    return prop_def(
        BooleanSyntax(BoolAttr.constr(IntegerType(1))), BoolAttr.from_bool(default_value)
    )


def type_prop(default_value: Attribute | None = None) -> Attribute:
    """A property that is a type: `count_dtype = i32`."""
    return prop_def(AttributeSyntax(base(TypeAttribute)), default_value)


def opt_type_prop() -> Attribute | None:
    """An optional property that is a type."""
    return opt_prop_def(AttributeSyntax(base(TypeAttribute)))


def indices_prop(keyword: str) -> DenseArrayBase[I64]:
    """The static places of a list of indices written `keyword = [%n, 64]`."""
    return prop_def(StaticIndices(subscript=False, keyword=keyword))


def subscript_prop() -> DenseArrayBase[I64]:
    """The static places of a list of indices written right after the operand before it."""
    return prop_def(StaticIndices(subscript=True, keyword=""))


@dataclass
class _Operand:
    """An operand of the definition that is written as a value, with its place among the groups."""

    name: str
    group: int
    variadic: bool
    optional: bool
    subscript: _IndexList | None = None


@dataclass(frozen=True)
class _IndexList:
    name: str
    group: int
    static_name: str
    keyword: str


@dataclass
class _Plan:
    """What parsing and printing need to know of an op class."""

    groups: int
    operands: list[_Operand] = field(default_factory=list["_Operand"])
    index_lists: dict[str, _IndexList] = field(default_factory=dict[str, _IndexList])
    """By keyword."""
    values: dict[str, tuple[ValueSyntax[Any] | None, Attribute | None]] = field(
        default_factory=dict[str, tuple[ValueSyntax[Any] | None, Attribute | None]]
    )
    """By keyword: how the value of a property is written (None for a flag), and its default."""
    required: list[str] = field(default_factory=list[str])
    sized: bool = False
    results: int = 0
    may_be_empty: bool = False
    """Whether nothing need follow the name of the op."""

    @property
    def words(self) -> list[str]:
        return [*self.index_lists, *self.values]


def _is_keyword(parser: Parser, plan: _Plan) -> bool:
    """
    Whether the next word is a keyword of the op, or meant as one. Where all of an op is left out,
    the next word is the name of another op.
    """
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    if token.text in plan.words:
        return True
    return _ASSIGNMENT.match(token.span.input.content, token.span.end) is not None


def _is_next_op(parser: Parser) -> bool:
    """Whether a name that could be an operand begins the next op, of which it is a result."""
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    return _RESULTS.match(token.span.input.content, token.span.start) is not None


@cache
def _plan(op_type: type[IRDLOperation]) -> _Plan:
    definition = op_type.get_irdl_definition()
    plan = _Plan(len(definition.operands), results=len(definition.results))
    plan.sized = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
    lists: dict[str, tuple[str, StaticIndices]] = {}
    for name, property_def in definition.properties.items():
        constraint = property_def.constr
        if isinstance(constraint, StaticIndices):
            lists[name.removeprefix("static_")] = (name, constraint)
        elif isinstance(constraint, ValueSyntax):
            plan.values[name] = (constraint, property_def.default_value)
            if property_def.default_value is None and name not in _optional(op_type):
                plan.required.append(name)
        elif name != AttrSizedOperandSegments.attribute_name:
            plan.values[name] = (None, None)
    for group, (name, operand_def) in enumerate(definition.operands):
        if name in lists:
            static_name, constraint = lists[name]
            index_list = _IndexList(name, group, static_name, constraint.keyword)
            if constraint.subscript:
                plan.operands[-1].subscript = index_list
            else:
                plan.index_lists[constraint.keyword] = index_list
            continue
        optional = isinstance(operand_def, OptOperandDef)
        variadic = isinstance(operand_def, VarOperandDef) and not optional
        plan.operands.append(_Operand(name, group, variadic, optional))
    plan.may_be_empty = not plan.results and all(o.optional or o.variadic for o in plan.operands)
    return plan


def _optional(op_type: type[IRDLOperation]) -> set[str]:
    from xdsl.irdl import OptionalDef

    properties = op_type.get_irdl_definition().properties
    return {name for name, prop in properties.items() if isinstance(prop, OptionalDef)}


def _resolved(
    parser: Parser,
    plan: _Plan,
    groups: Sequence[Sequence[UnresolvedOperand]],
    operand_types: Sequence[Attribute],
) -> list[SSAValue]:
    """The operands, in the order of the definition; those of index lists have no written type."""
    resolve = parser.resolve_operand
    types = iter(operand_types)
    by_group: dict[int, list[SSAValue]] = {
        place.group: [resolve(o, next(types)) for o in groups[place.group]]
        for place in plan.operands
    }
    operands: list[SSAValue] = []
    for group, unresolved in enumerate(groups):
        resolved = by_group.get(group)
        operands += resolved if resolved is not None else [resolve(o, INDEX) for o in unresolved]
    return operands


class DefinitionSyntaxOp(IRDLOperation, ABC):
    """An op that is written in the form of this module."""

    @classmethod
    def default_result_operand(cls) -> int:
        """The place, among the written operands, of the one whose type is a result's default."""
        return 0

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        plan = _plan(cls)
        groups: list[list[UnresolvedOperand]] = [[] for _ in range(plan.groups)]
        properties: dict[str, Attribute] = {}
        slot = 0
        written: list[UnresolvedOperand] = []
        start = parser.pos
        while True:
            operand = None
            if written or not plan.may_be_empty or not _is_next_op(parser):
                operand = parser.parse_optional_unresolved_operand()
            if operand is not None:
                if slot >= len(plan.operands):
                    parser.raise_error(f"'{cls.name}' has no operand here", operand.span)
                place = plan.operands[slot]
                groups[place.group].append(operand)
                written.append(operand)
                if place.subscript is not None:
                    static, groups[place.subscript.group] = parse_indices(parser)
                    properties[place.subscript.static_name] = indices_attr(static)
                if not place.variadic:
                    slot += 1
            else:
                position = parser.pos
                begun = bool(written or properties)
                word = None
                if begun or _is_keyword(parser, plan):
                    word = parser.parse_optional_identifier()
                if word is None:
                    if begun:
                        parser.raise_error("expected an operand or `keyword = value`")
                    break
                cls._parse_keyword(parser, plan, word, position, groups, properties)
            if parser.parse_optional_punctuation(",") is None:
                break
        cls._complete(parser, plan, slot, properties, start)
        attributes = parse_attributes(parser, cls)
        operand_types, result_types = cls._parse_types(parser, plan, len(written))
        operands = _resolved(parser, plan, groups, operand_types)
        if plan.sized:
            sizes = tuple(len(group) for group in groups)
            properties[AttrSizedOperandSegments.attribute_name] = _segments(sizes)
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    @classmethod
    def _complete(
        cls,
        parser: Parser,
        plan: _Plan,
        written: int,
        properties: dict[str, Attribute],
        start: int,
    ) -> None:
        """Give what is not written its default; an error where there is none."""
        for place in plan.operands[written:]:
            if not (place.optional or place.variadic):
                parser.raise_error(
                    f"'{cls.name}' expects an operand '{place.name}'", start, parser.pos
                )
            if place.subscript is not None:
                properties.setdefault(place.subscript.static_name, indices_attr(()))
        for index_list in plan.index_lists.values():
            properties.setdefault(index_list.static_name, indices_attr(()))
        for name, (_, default) in plan.values.items():
            if default is not None:
                properties.setdefault(name, default)
        for name in plan.required:
            if name not in properties:
                parser.raise_error(f"'{cls.name}' expects `{name} = ...`", start, parser.pos)

    @classmethod
    def _parse_keyword(
        cls,
        parser: Parser,
        plan: _Plan,
        word: str,
        position: int,
        groups: list[list[UnresolvedOperand]],
        properties: dict[str, Attribute],
    ) -> None:
        index_list = plan.index_lists.get(word)
        name = word if index_list is None else index_list.static_name
        if name in properties:
            parser.raise_error(f"'{word}' is given twice", position)
        if index_list is not None:
            parser.parse_punctuation("=")
            static, groups[index_list.group] = parse_indices(parser)
            properties[name] = indices_attr(static)
        elif (value := plan.values.get(word)) is not None:
            syntax, _ = value
            if syntax is None:
                properties[name] = UnitAttr()
                return
            parser.parse_punctuation("=")
            properties[name] = syntax.parse(parser, word)
        else:
            hint = did_you_mean(word, plan.words)
            if not hint:
                hint = (
                    f"; expected one of {', '.join(plan.words)}" if plan.words else "; it has none"
                )
            parser.raise_error(f"'{cls.name}' has no keyword '{word}'{hint}", position)

    @classmethod
    def _parse_types(
        cls, parser: Parser, plan: _Plan, written: int
    ) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
        """The types of the written operands and of the results."""
        if not written and not plan.results:
            return (), ()
        parser.parse_punctuation(":")
        position = parser.pos
        types: list[Attribute] = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_type
        )
        if not written:
            return (), types
        if len(types) == 1:
            types *= written
        elif len(types) != written:
            parser.raise_error(
                f"expected {written} operand types, or one for all, got {len(types)}", position
            )
        if not plan.results:
            return types, ()
        if parser.parse_optional_punctuation("->") is None:
            return types, [types[cls.default_result_operand()]] * plan.results
        return types, parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)

    def print(self, printer: Printer) -> None:
        plan = _plan(type(self))
        separator = " "
        written: list[SSAValue] = []
        for place in plan.operands:
            group = self._group(place.name, place.variadic, place.optional)
            for operand in group:
                printer.print_string(separator)
                printer.print_ssa_value(operand)
                written.append(operand)
                separator = ", "
            if place.subscript is not None and group:
                self._print_indices(printer, place.subscript)
        for keyword, index_list in plan.index_lists.items():
            if self.properties[index_list.static_name] != indices_attr(()):
                printer.print_string(f"{separator}{keyword} = ")
                self._print_indices(printer, index_list)
                separator = ", "
        for name, (syntax, default) in plan.values.items():
            value = self.properties.get(name)
            if value is None or value == default:
                continue
            printer.print_string(f"{separator}{name}")
            if syntax is not None:
                printer.print_string(" = ")
                syntax.print(printer, value)
            separator = ", "
        printer.print_op_attributes(self.attributes)
        self._print_types(printer, [operand.type for operand in written])

    def _print_types(self, printer: Printer, operand_types: list[Attribute]) -> None:
        if not operand_types and not self.results:
            return
        printer.print_string(" : ")
        if not operand_types:
            printer.print_list(self.result_types, printer.print_attribute)
            return
        default = operand_types[self.default_result_operand()]
        if all(type == operand_types[0] for type in operand_types[1:]):
            operand_types = operand_types[:1]
        printer.print_list(operand_types, printer.print_attribute)
        if any(type != default for type in self.result_types):
            printer.print_string(" -> ")
            printer.print_list(self.result_types, printer.print_attribute)

    def _group(self, name: str, variadic: bool, optional: bool) -> Sequence[SSAValue]:
        value = getattr(self, name)
        if variadic:
            return value
        return () if optional and value is None else (value,)

    def _print_indices(self, printer: Printer, index_list: _IndexList) -> None:
        static = self.properties[index_list.static_name]
        assert isinstance(static, DenseArrayBase)
        print_indices(printer, static.get_values(), getattr(self, index_list.name))  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType]


@lru_cache(maxsize=1024)
def indices_attr(indices: tuple[int, ...]) -> DenseArrayBase[I64]:
    """The value of an `indices_prop` or a `subscript_prop`."""
    return DenseArrayBase.from_list(i64, indices)


@lru_cache(maxsize=1024)
def _segments(sizes: tuple[int, ...]) -> Attribute:
    return DenseArrayBase.from_list(i32, sizes)


def integer_attr(value: int) -> IntegerAttr[IntegerType]:
    """The value of an `integer_prop`."""
    return IntegerAttr(value, i64)


def boolean_attr(value: bool) -> BoolAttr:
    """The value of a `boolean_prop`."""
    return BoolAttr.from_bool(value)


def indices_properties(**lists: Sequence[int]) -> Mapping[str, Attribute]:
    """The properties of lists of indices: `indices_properties(static_offsets=(0, 0))`."""
    return {name: indices_attr(tuple(indices)) for name, indices in lists.items()}


def segments_property(sizes: tuple[int, ...]) -> Mapping[str, Attribute]:
    """The property that says how many operands each group of an op has."""
    return {AttrSizedOperandSegments.attribute_name: _segments(sizes)}
