"""The text that most ops of the dialect share: `pto.tadd ins(%a, %b : T, T) outs(%c : T)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i32
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from pypto_xdsl.dialects.pto.declaration import PropertyConstraint, PtoOp, has_integer_type
from pypto_xdsl.dialects.pto.operands import INDEX_TYPE


class Grammar(StrEnum):
    """A version of PTOAS whose spelling is printed. All are read."""

    V0_27 = "0.27"
    V0_57 = "0.57"
    V0_60 = "0.60"


def grammar_of(printer: Printer) -> Grammar:
    """The spelling that a printer asks for; 0.57 where it does not ask."""
    return getattr(printer, "pto_grammar", Grammar.V0_57)


@lru_cache(maxsize=1024)
def _segment_sizes(sizes: tuple[int, ...]) -> DenseArrayBase[Any]:
    """How many operands each name has; there are few such lists, and many ops."""
    return DenseArrayBase.from_list(i32, sizes)


OpT = TypeVar("OpT", bound=PtoOp)


def build(
    cls: type[OpT],
    values: Mapping[str, Any],
    attributes: Mapping[str, Attribute] = {},
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    regions: Sequence[Any] = (),
) -> OpT:
    """An op from its operands by name, without the checks that parsing has made.

    Attributes that the op defines become its properties.
    """
    declaration = cls.DECLARATION
    operands: list[SSAValue] = []
    sizes: list[int] = []
    for info in declaration.operands:
        value: Any = values.get(info.name)
        if value is None:
            sizes.append(0)
        elif isinstance(value, SSAValue):
            operands.append(cast(SSAValue, value))
            sizes.append(1)
        else:
            operands.extend(value)
            sizes.append(len(value))
    props = dict(properties)
    rest: dict[str, Attribute] = {}
    if attributes:
        known = cls.get_irdl_definition().properties
        for name, attribute in attributes.items():
            (props if name in known else rest)[name] = attribute
    if declaration.is_segmented:
        props[AttrSizedOperandSegments.attribute_name] = _segment_sizes(tuple(sizes))
    return cls.create(
        operands=operands,
        result_types=result_types,
        properties=props,
        attributes=rest,
        regions=regions,
    )


ParamT = TypeVar("ParamT", bound=ParametrizedAttribute)


def parse_type_of(parser: AttrParser, cls: type[ParamT]) -> ParamT:
    """A type of a known class, which may leave its name out: `<f32>` for `!pto.ptr<f32>`."""
    position = parser.pos
    content = parser.lexer.input.content
    if content[position : position + 1] in ("<", b"<"):
        return cls.new(cls.parse_parameters(parser))
    parsed = parser.parse_type()
    if not isinstance(parsed, cls):
        parser.raise_error(f"expected a !{cls.name} type, got {parsed}", position)
    return parsed


AttrT = TypeVar("AttrT", bound=Attribute)


def parse_word(parser: Parser, cls: type[AttrT]) -> AttrT:
    """An enumeration attribute, which may leave its name out: `<PIPE_V>`."""
    position = parser.pos
    content = parser.lexer.input.content
    if content[position : position + 1] in ("<", b"<"):
        return cls(cls.parse_parameter(parser))  # type: ignore[attr-defined]
    parsed = parser.parse_attribute()
    if not isinstance(parsed, cls):
        parser.raise_error(f"expected a #{cls.name} attribute, got {parsed}", position)
    return parsed


def print_word(printer: Printer, attribute: Attribute) -> None:
    """An enumeration attribute without its name: `<PIPE_V>`."""
    attribute.print_parameter(printer)  # type: ignore[attr-defined]


def print_attributes(printer: Printer, op: PtoOp, leave_out: Sequence[str] = ()) -> None:
    """The op's properties and attributes in one dictionary, if there are any."""
    segments = AttrSizedOperandSegments.attribute_name
    shown = {
        name: attribute
        for name, attribute in op.properties.items()
        if name != segments and name not in leave_out
    }
    shown.update(op.attributes)
    if shown:
        printer.print_string(" ")
        printer.print_attr_dict(shown)


def print_typed_operands(
    printer: Printer,
    values: Sequence[SSAValue],
    between: Mapping[str, Attribute] | None = None,
) -> None:
    """`%a, %b {attributes} : T, T`."""
    printer.print_list(values, printer.print_ssa_value)
    if between:
        printer.print_string(" ")
        printer.print_attr_dict(between)
    printer.print_string(" : ")
    printer.print_list(values, lambda value: printer.print_attribute(value.type))


def parse_clauses(
    parser: Parser, kinds: Mapping[str, PropertyConstraint], required: Sequence[str]
) -> dict[str, Attribute]:
    """`{split = 0, id = 1}`: properties whose kinds are known, in any order."""
    position = parser.pos
    clauses: dict[str, Attribute] = {}

    def clause() -> None:
        name = parser.parse_identifier()
        if name not in kinds:
            parser.raise_error(f"unexpected clause {name}, expected one of {', '.join(kinds)}")
        if name in clauses:
            parser.raise_error(f"duplicate clause {name}")
        parser.parse_punctuation("=")
        kind = kinds[name]
        at = parser.pos
        value = (
            parse_word(parser, kind.base) if kind.parse is None else kind.make(kind.parse(parser))
        )
        if not isinstance(value, kind.base):
            parser.raise_error(f"{name} expects {kind.what}, got {value}", at)
        clauses[name] = value

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, clause)
    for name in required:
        if name not in clauses:
            parser.raise_error(f"expected a clause {name}", position)
    return clauses


def print_clauses(printer: Printer, op: PtoOp, names: Sequence[str]) -> None:
    """`{split = 0, id = 1}`: the properties of these names that are there."""
    first = True
    for name in names:
        attribute = op.properties.get(name)
        if attribute is None:
            continue
        printer.print_string(f"{'{' if first else ', '}{name} = ")
        first = False
        if isinstance(attribute, IntegerAttr):
            value = cast("IntegerAttr[Any]", attribute).value.data
            is_bool = has_integer_type(cast(Attribute, attribute), IntegerType(1))
            printer.print_string(("true" if value else "false") if is_bool else str(value))
        else:
            printer.print_attribute(attribute)
    printer.print_string("{}" if first else "}")


class FormattedOp(PtoOp):
    """Ops whose text xDSL's declarative format describes.

    The format is compiled when the first such op is read or printed: compiling those of the
    whole dialect would cost more than the rest of loading it.
    """

    FORMAT: ClassVar[str]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return _program(cls).parse(parser, cls)

    def print(self, printer: Printer) -> None:
        _program(type(self)).print(printer, self)


@cache
def _program(cls: type[FormattedOp]) -> FormatProgram:
    return FormatProgram.from_str(cls.FORMAT, cls.get_irdl_definition())


def at_value(parser: Parser) -> bool:
    """Whether an SSA value comes next."""
    content = parser.lexer.input.content
    return content[parser.pos : parser.pos + 1] in ("%", b"%")


class TileOp(PtoOp):
    """Ops written `ins(...) outs(...)`."""

    ATTRIBUTES_IN_INS: ClassVar[tuple[str, ...]] = ()
    """Attributes that stand in `ins(...)`, before the colon, instead of behind `outs(...)`."""

    ATTRIBUTES_BEHIND: ClassVar[bool] = True
    """Whether attributes may stand behind `outs(...)`; else all stand in `ins(...)`."""

    PAIRWISE: ClassVar[bool] = False
    """Whether each operand in `ins(...)` is followed by its own type: `%a : T, %b : T`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        position = parser.pos
        parser.parse_punctuation("(")
        operands, attributes = cls.parse_ins(parser)
        parser.parse_punctuation(")")
        values = cls.assign_ins(parser, operands, position)
        parser.parse_keyword("outs")
        position = parser.pos
        parser.parse_punctuation("(")
        outs = parse_operand_list(parser)
        parser.parse_punctuation(":")
        values.update(
            cls.assign_outs(parser, resolve(parser, outs, parse_type_list(parser)), position)
        )
        parser.parse_punctuation(")")
        attributes |= cls.parse_behind(parser)
        return build(cls, values, attributes)

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        """What stands between the parentheses of `ins(...)`."""
        attributes: dict[str, Attribute] = {}
        values: list[SSAValue] = []
        while True:
            names = (
                [parser.parse_unresolved_operand()]
                if cls.PAIRWISE
                else (parse_operand_list(parser))
            )
            if cls.ATTRIBUTES_IN_INS or not cls.ATTRIBUTES_BEHIND:
                attributes |= parser.parse_optional_attr_dict()
            parser.parse_punctuation(":")
            if not cls.PAIRWISE:
                return resolve(parser, names, parse_type_list(parser)), attributes
            values.append(parser.resolve_operand(names[0], parser.parse_type()))
            if parser.parse_optional_punctuation(",") is None:
                return values, attributes

    @classmethod
    def parse_behind(cls, parser: Parser) -> dict[str, Attribute]:
        """What follows `outs(...)`."""
        if cls.ATTRIBUTES_BEHIND:
            return parser.parse_optional_attr_dict()
        position = parser.pos
        if parser.parse_optional_punctuation("{") is not None:
            parser.raise_error(f"attributes of {cls.name} stand in ins(...), before ':'", position)
        return {}

    @classmethod
    def assign_ins(
        cls, parser: Parser, values: Sequence[SSAValue], position: int
    ) -> dict[str, SSAValue | Sequence[SSAValue]]:
        """Names for the operands in `ins(...)`."""
        names = cls.DECLARATION.ins
        fewest = cls.DECLARATION.required_ins
        if not fewest <= len(values) <= len(names):
            _raise_count(parser, cls, "ins", fewest, len(names), len(values), position)
        return dict(zip(names, values, strict=False))

    @classmethod
    def assign_outs(
        cls, parser: Parser, values: Sequence[SSAValue], position: int
    ) -> dict[str, SSAValue | Sequence[SSAValue]]:
        """Names for the operands in `outs(...)`."""
        names = cls.DECLARATION.outs
        if len(values) != len(names):
            _raise_count(parser, cls, "outs", len(names), len(names), len(values), position)
        return dict(zip(names, values, strict=True))

    def present(self, names: Sequence[str]) -> Iterator[SSAValue]:
        """The operands of these names that are there, in this order."""
        for name in names:
            value = getattr(self, name)
            if isinstance(value, SSAValue):
                yield value
            elif value is not None:
                yield from value

    def print(self, printer: Printer) -> None:
        declaration = self.DECLARATION
        inside = {
            name: self.properties[name]
            for name in self.ATTRIBUTES_IN_INS
            if name in self.properties
        }
        if not self.ATTRIBUTES_BEHIND:
            inside.update(self.attributes)
        printer.print_string(" ins(")
        self.print_ins(printer, inside)
        printer.print_string(") outs(")
        print_typed_operands(printer, tuple(self.present(declaration.outs)))
        printer.print_string(")")
        if self.ATTRIBUTES_BEHIND:
            print_attributes(printer, self, self.ATTRIBUTES_IN_INS)

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        """What stands between the parentheses of `ins(...)`."""
        names = self.DECLARATION.ins
        if self.DECLARATION.newer and grammar_of(printer) == Grammar.V0_27:
            names = [name for name in names if name not in self.DECLARATION.newer]
        values = tuple(self.present(names))
        if not self.PAIRWISE:
            print_typed_operands(printer, values, inside)
            return
        for number, value in enumerate(values):
            if number:
                printer.print_string(", ")
            print_typed_operands(printer, (value,))


def _raise_count(
    parser: Parser, cls: type[PtoOp], group: str, fewest: int, most: int, got: int, position: int
) -> None:
    expected = str(fewest) if fewest == most else f"{fewest} to {most}"
    operands = "operand" if most == 1 else "operands"
    parser.raise_error(
        f"{cls.name} expects {expected} {operands} in {group}(...), got {got}", position
    )


def parse_operand_list(parser: Parser) -> list[UnresolvedOperand]:
    """`%a, %b`."""
    names = [parser.parse_unresolved_operand()]
    while parser.parse_optional_punctuation(",") is not None:
        names.append(parser.parse_unresolved_operand())
    return names


def parse_type_list(parser: Parser) -> list[Attribute]:
    """`T, T`."""
    types: list[Attribute] = [parser.parse_type()]
    while parser.parse_optional_punctuation(",") is not None:
        types.append(parser.parse_type())
    return types


def resolve(
    parser: Parser, names: Sequence[UnresolvedOperand], types: Sequence[Attribute]
) -> list[SSAValue]:
    """The values of these names and types. An error where the numbers differ."""
    if len(names) != len(types):
        parser.raise_error(f"expected {len(names)} operand types but had {len(types)}")
    return [parser.resolve_operand(n, t) for n, t in zip(names, types, strict=True)]


def parse_index_list(parser: Parser, keyword: str) -> list[UnresolvedOperand]:
    """`shape = [%a, %b]`"""
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )


def resolve_indices(parser: Parser, names: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    """The index values of these names."""
    return [parser.resolve_operand(name, INDEX_TYPE) for name in names]
