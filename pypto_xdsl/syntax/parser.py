"""
Reading MLIR text: where each op was written, types read once, errors with their place.

`parse_module(ctx, text, name)` reads a whole file and raises `DiagnosticsError` for whatever is
wrong with it. `LocatingParser` is the parser behind it, a drop-in for xDSL's `Parser`:

* each op and block argument without a `loc(...)` gets the position of its name, as in MLIR;
* a type or attribute is interned by its source text: the second `tensor<16x256xf32>` of a file
  costs a look-up. Aliases keep this sound, since a file can define each only once and only
  before its use;
* errors of constraints and attribute verifiers, which xDSL raises without a position, get that
  of the type, or of the innermost op, being read;
* values that are never defined are all reported, each where it is first used;
* a misspelt op, type or attribute gets a suggestion;
* `loc(#loc3)` may stand before `#loc3 = loc(...)`, as MLIR prints it.

The syntax of dialects uses the interface of xDSL's `Parser` only, so all of them work with
both. Everything here takes time linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    LocationAttr,
    ModuleOp,
)
from xdsl.ir import Attribute, AttributeInvT, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRTokenKind,
    PunctuationSpelling,
)

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, Note
from pypto_xdsl.syntax.lexer import SourceLexer, SourceToken
from pypto_xdsl.syntax.locations import FileLocations
from pypto_xdsl.syntax.spelling import did_you_mean, similar

_BARE_IDENT = MLIRTokenKind.BARE_IDENT
_STRING_LIT = MLIRTokenKind.STRING_LIT
_PERCENT_IDENT = MLIRTokenKind.PERCENT_IDENT
_EXCLAMATION_IDENT = MLIRTokenKind.EXCLAMATION_IDENT
_HASH_IDENT = MLIRTokenKind.HASH_IDENT


def _balanced(depth: int) -> str:
    """Text from `<` to its `>`, with at most `depth` levels of `<>` inside and no comments."""
    inner = r'[^<>"/\-]++|->|-|/(?!/)|"[^"\\\n]*+"'
    if depth:
        inner += "|" + _balanced(depth - 1)
    return f"<(?:{inner})*+>"


_ANGLE_BRACKETS = re.compile(_balanced(4)).match
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\n\r\f\v]+|//[^\n]*)*+").match
_BRACKETED_TYPES = frozenset(("tensor", "memref", "vector", "complex", "tuple"))
WIDEST_INTEGER = (1 << 24) - 1
"""Bits of the widest integer type of MLIR."""
_LOCATION_ALIAS = re.compile(r"^[ \t]*(#[a-zA-Z0-9$._-]+)[ \t]*=(?=[ \t]*loc\b)", re.MULTILINE)


def parse_module(
    ctx: Context,
    text: str,
    name: str,
    *,
    line_offset: int = 0,
    allow_implicit_module: bool = True,
) -> ModuleOp:
    """
    The module that a text holds; `name` and `line_offset` say where the text comes from.

    Raises `DiagnosticsError` if the text is wrong. Only what parsing itself finds is reported:
    `pypto_xdsl.analysis.verification.verify` checks the rest.
    """
    parser = LocatingParser(ctx, text, name, line_offset)
    try:
        return parser.parse_module(allow_implicit_module)
    except ParseError as e:
        raise DiagnosticsError((parser.diagnose(e),)) from e


class _State(ParserState[MLIRTokenKind, str]):
    """The state of a parser over `SourceToken`s."""

    current_token: SourceToken  # pyright: ignore[reportIncompatibleVariableOverride]


class LocatingParser(Parser):
    """An MLIR parser that gives ops their locations; see the module's text."""

    _parser_state: _State

    def __init__(
        self, ctx: Context, input: str | bytes, name: str = "<unknown>", line_offset: int = 0
    ):
        text = input.decode() if isinstance(input, bytes) else input
        # The lexer of the base class reads one token, which is all it will ever read.
        super().__init__(ctx, "", name)
        self._content = text
        self._name = name
        self._locations = FileLocations(name)
        self._line_offset = line_offset
        # `Span.get_location` counts the lines from the start of the text on each call.
        self._line_starts = [0]
        self._line_starts.extend(m.end() for m in re.finditer("\n", text))
        self._interned_types: dict[str, TypeAttribute] = {}
        self._interned_attributes: dict[str, Attribute] = {}
        # Names defined so far, so that a region can forget its own: copying the table for each
        # region, as the base class does, is quadratic.
        self._defined_names: list[str] = []
        self._first_uses: dict[str, Span[str]] = {}
        # Location aliases: where those not read yet are defined, and those read ahead.
        self._later_location_aliases: dict[str, Position] | None = None
        self._known_ahead: set[str] = set()
        lexer: MLIRLexer = SourceLexer(Input(text, name))
        try:
            state = cast(_State, ParserState(lexer))
        except ParseError as e:
            raise DiagnosticsError((self.diagnose(e),)) from e
        self._parser_state = state  # pyright: ignore[reportIncompatibleVariableOverride]

    # Positions and locations

    def line_and_column(self, position: Position) -> tuple[int, int]:
        """The line and column in the file of a position in the text; both count from 1."""
        line = bisect_right(self._line_starts, position)
        return line + self._line_offset, position - self._line_starts[line - 1] + 1

    def location_at(self, position: Position) -> FileLineColLoc:
        """The location of a position in the text."""
        return self._locations.at(*self.line_and_column(position))

    def diagnose(self, error: ParseError) -> Diagnostic:
        """The diagnostic of an error that this parser raised."""
        line, column = self.line_and_column(error.span.start)
        notes: list[Note] = []
        if isinstance(error, MultipleSpansParseError):
            for span, message in error.refs:
                position = self.line_and_column(span.start)
                notes.append(
                    Note((message or error.ref_text or "").rstrip(":"), self._name, *position)
                )
        message = error.msg.strip().rstrip(".!") or "syntax error"
        return Diagnostic(message, self._name, line, column, notes=tuple(notes))

    def raise_error(
        self,
        msg: str,
        at_position: Span[str] | Position | None = None,
        end_position: Position | None = None,
    ) -> NoReturn:
        if at_position is None and msg[1:].startswith("xpected"):
            # What is missing at the end of a line is missing there, not at the next token.
            at_position = self._end_of_line_before(self._parser_state.current_token)
        if at_position is None:
            super().raise_error(msg)
        if end_position is None:
            super().raise_error(msg, at_position)
        assert isinstance(at_position, Position)
        super().raise_error(msg, at_position, end_position)

    def _end_of_line_before(self, token: SourceToken) -> Position | None:
        """The end of the last line with a token, if `token` is the first of its line."""
        line = bisect_right(self._line_starts, token.start) - 1
        if self._content[self._line_starts[line] : token.start].strip():
            return None
        while line > 0:
            line -= 1
            start = self._line_starts[line]
            text = self._content[start : self._line_starts[line + 1]].partition("//")[0].rstrip()
            if text:
                return start + len(text)
        return None

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as e:
            if e.msg.startswith("values used but not defined"):
                raise DiagnosticsError(self._undefined_values()) from e
            if e.msg.startswith("Could not parse entire input"):
                at_end = self._parser_state.current_token.kind is MLIRTokenKind.EOF
                self.raise_error("expected at least one op" if at_end else "expected an op")
            raise
        except RecursionError:
            self.raise_error("the program is nested too deeply")
        if not allow_implicit_module and self._parser_state.current_token.kind is not (
            MLIRTokenKind.EOF
        ):
            self.raise_error("expected the end of the text after the module")
        if module.location is UNKNOWN_LOC:
            module.location = self.location_at(0)
        return module

    def _undefined_values(self) -> Iterable[Diagnostic]:
        for name in self.forward_ssa_references:
            line, column = self.line_and_column(self._first_uses[name].start)
            message = f"use of undefined value '%{name}'"
            yield Diagnostic(message, self._name, line, column)

    # Tokens: the base class gets to them through several calls each.

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> SourceToken:
        state = self._parser_state
        token = state.current_token
        assert expected_kind is None or token.kind is expected_kind
        state.current_token = cast(SourceToken, state.lexer.lex())
        return token

    def _parse_optional_token(self, expected_kind: MLIRTokenKind) -> SourceToken | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            return None
        state.current_token = cast(SourceToken, state.lexer.lex())
        return token

    def parse_optional_characters(self, text: str) -> str | None:
        state = self._parser_state
        if state.current_token.text != text:
            return None
        state.current_token = cast(SourceToken, state.lexer.lex())
        return text

    def parse_optional_keyword(self, keyword: str) -> str | None:
        state = self._parser_state
        token = state.current_token
        if token.text != keyword or token.kind is not _BARE_IDENT:
            return None
        state.current_token = cast(SourceToken, state.lexer.lex())
        return keyword

    def parse_optional_punctuation(
        self, punctuation: PunctuationSpelling
    ) -> PunctuationSpelling | None:
        state = self._parser_state
        if state.current_token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            return None
        state.current_token = cast(SourceToken, state.lexer.lex())
        return punctuation

    def _raise_wrong_str_enum_value_error(self, enum_type: type[Enum], span: Span) -> NoReturn:
        values = [str(value) for value in enum_type]
        found = span.text.strip('"')
        self.raise_error(f"expected one of {', '.join(values)}{did_you_mean(found, values)}", span)

    def parse_punctuation(
        self, punctuation: PunctuationSpelling, context_msg: str = ""
    ) -> PunctuationSpelling:
        state = self._parser_state
        if state.current_token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            self.raise_error(f"Expected '{punctuation}'{context_msg}")
        state.current_token = cast(SourceToken, state.lexer.lex())
        return punctuation

    # Types and attributes

    def parse_optional_type(self) -> TypeAttribute | None:
        token = self._parser_state.current_token
        kind = token.kind
        text = token.text
        end: Position | None = token.end
        if (kind is _BARE_IDENT and text in _BRACKETED_TYPES) or kind is _EXCLAMATION_IDENT:
            end = self._end_of_brackets(end)
            if end is not None:
                text = self._content[token.start : end]
        elif kind is not _BARE_IDENT:
            end = None
        if end is not None and (interned := self._interned_types.get(text)) is not None:
            self._skip_to(end)
            return interned
        try:
            parsed = super().parse_optional_type()
        except VerifyException as e:
            self.raise_error(str(e), token.span)
        if parsed is not None and end is not None and self._stands_after(end):
            self._interned_types[text] = parsed
        return parsed

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        name = self._parser_state.current_token.text
        # Values of wider types do not fit in memory; nor are so many digits read.
        if len(name) > 8 and (width := self._builtin_integer_type_regex.match(name)) is not None:
            digits = width[1].lstrip("0")
            if len(digits) > 8 or int(digits or 0) > WIDEST_INTEGER:
                self.raise_error(f"integer bitwidth is limited to {WIDEST_INTEGER} bits")
        return super()._parse_optional_integer_or_float_type()

    def parse_optional_attribute(self) -> Attribute | None:
        token = self._parser_state.current_token
        kind = token.kind
        text = token.text
        if kind is _EXCLAMATION_IDENT or text in _BRACKETED_TYPES or text in self._interned_types:
            return self.parse_optional_type()
        end = None
        if kind is _HASH_IDENT and (end := self._end_of_brackets(token.end)) is not None:
            text = self._content[token.start : end]
            if (interned := self._interned_attributes.get(text)) is not None:
                self._skip_to(end)
                return interned
        try:
            parsed = super().parse_optional_attribute()
        except VerifyException as e:
            self.raise_error(str(e), token.span)
        if parsed is not None and end is not None and self._stands_after(end):
            self._interned_attributes[text] = parsed
        return parsed

    def _end_of_brackets(self, name_end: Position) -> Position | None:
        """The end of a name and of the `<...>` right after it; None if that is complicated."""
        if not self._content.startswith("<", name_end):
            return name_end
        match = _ANGLE_BRACKETS(self._content, name_end)
        return None if match is None else match.end()

    def _skip_to(self, end: Position) -> None:
        state = self._parser_state
        state.lexer.pos = end
        state.current_token = cast(SourceToken, state.lexer.lex())

    def _stands_after(self, end: Position) -> bool:
        """Whether all text up to `end`, and nothing more, has been read."""
        space = _SPACE_AND_COMMENTS(self._content, end)
        return space is not None and space.end() == self._parser_state.current_token.start

    def _parse_dialect_type_or_attribute_body(
        self,
        attr_name: str,
        is_type: bool,
        is_opaque: bool,
        starting_opaque_pos: Position | None,
    ):
        if "." in attr_name:
            known = self.ctx.get_optional_type if is_type else self.ctx.get_optional_attr
            if known(attr_name) is None:
                what, sigil = ("type", "!") if is_type else ("attribute", "#")
                known_names = self.ctx.loaded_types if is_type else self.ctx.loaded_attrs
                hint = did_you_mean(
                    sigil + attr_name, (f"{sigil}{known.name}" for known in known_names)
                )
                self.raise_error(f"unknown {what} '{sigil}{attr_name}'{hint}")
        return super()._parse_dialect_type_or_attribute_body(
            attr_name, is_type, is_opaque, starting_opaque_pos
        )

    def _parse_location(self) -> LocationAttr:
        token = self._parser_state.current_token
        if token.kind is _HASH_IDENT and token.text not in self.attribute_aliases:
            self._parse_later_location_alias(token.text)
        return super()._parse_location()

    def _parse_later_location_alias(self, name: str) -> None:
        """Read the definition of a location alias that stands further on in the text."""
        if self._later_location_aliases is None:
            self._later_location_aliases = {
                match[1]: match.end() for match in _LOCATION_ALIAS.finditer(self._content)
            }
        definition = self._later_location_aliases.pop(name, None)
        if definition is None:
            return
        here = self._parser_state.current_token.start
        self._resume_from(definition)
        location = self.parse_optional_location()
        self._resume_from(here)
        if location is not None:
            self.attribute_aliases[name] = location
            self._known_ahead.add(name)

    def _parse_alias_def(self):
        name = self._parser_state.current_token.text
        if name in self._known_ahead:
            self._known_ahead.remove(name)
            del self.attribute_aliases[name]
        super()._parse_alias_def()

    # Values

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        values = self.ssa_values.get(operand.span.text[1:])
        if values is not None and operand.index < len(values):
            value = values[operand.index]
            # Interned types are mostly identical.
            if value.type is type:
                return cast(SSAValue[AttributeInvT], value)
        else:
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        for value in self.forward_ssa_references.get(name, {}).values():
            if value.first_use is None:
                # Of an op around this one, which does not see what its regions define.
                self.raise_error(f"use of undefined value '%{name}'", self._first_uses[name])
        super()._register_ssa_definition(name, values, span)
        if name.startswith("_") and not name.strip("_0123456789"):
            # xDSL takes numbers at the end for its own, and then copies no name that has nothing.
            for value in values:
                value.name_hint = None
        self._defined_names.append(name)

    # Operations and regions

    def parse_operation(self) -> Operation:
        state = self._parser_state
        first = state.current_token
        results = self._parse_op_result_list() if first.kind is _PERCENT_IDENT else ()
        name = state.current_token
        try:
            op = self._parse_op_after_results(name)
        except VerifyException as e:
            # Constraints that infer types run while parsing: report the innermost op.
            self.raise_error(str(e), name.span)
        if op.location is UNKNOWN_LOC:
            op.location = self.location_at(name.start)
        for region in op.regions:
            # An end that is left out of the text is where its op is.
            block = region.last_block
            end = None if block is None else block.last_op
            if end is not None and end.location is UNKNOWN_LOC:
                end.location = op.location
        values = op.results
        if not results:
            return op
        bound = sum(size for _, size in results)
        if len(values) != bound:
            self.raise_error(
                f"op '{op.name}' has {len(values)} results, but {bound} names are given",
                first.span,
            )
        index = 0
        for span, size in results:
            self._register_ssa_definition(span.text[1:], values[index : index + size], span)
            index += size
        return op

    def _parse_op_after_results(self, name: SourceToken) -> Operation:
        dialect_stack = self._parser_state.dialect_stack
        if name.kind is _BARE_IDENT:
            op_type = self._get_op_by_name(name.text)
            self._consume_token()
            dialect_stack.append(op_type.dialect_name())
            op = op_type.parse(self)
            if (location := self.parse_optional_location()) is not None:
                op.location = location
        else:
            if name.kind is not _STRING_LIT:
                self.raise_error("expected the name of an op")
            op_type = self._get_op_by_name(name.text[1:-1])
            self._consume_token()
            dialect_stack.append(op_type.dialect_name())
            op = self._parse_generic_operation(op_type)
        dialect_stack.pop()
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        op_type = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if op_type is None:
            self.raise_error(f"unknown op '{name}'{self._similar_op(name)}")
        return op_type

    def _similar_op(self, name: str) -> str:
        dialect, dot, rest = name.partition(".")
        if dot and self.ctx.get_optional_dialect(dialect) is None:
            # Loading all dialects to look for the op would take seconds.
            if close := similar(dialect, self.ctx.registered_dialect_names):
                return f"; did you mean '{close}.{rest}'?"
            return ""
        known = [op.name for op in self.ctx.loaded_ops]
        # Within an op of a dialect, its ops go without the prefix.
        for prefix in {f"{around}." for around in self._parser_state.dialect_stack}:
            known += [full[len(prefix) :] for full in known if full.startswith(prefix)]
        return did_you_mean(name, known)

    def parse_region(self, arguments: Sequence[Parser.Argument] | None = None) -> Region:
        # xDSL prints the location of some ops (`scf.while`) after their types, and once more at
        # their ends, where it counts.
        self.parse_optional_location()
        return super().parse_region(arguments)

    def parse_optional_region(
        self, arguments: Sequence[Parser.Argument] | None = None
    ) -> Region | None:
        if self.parse_optional_punctuation("{") is None:
            return None
        region = Region()
        # A region sees the values around it and keeps its own values and blocks to itself.
        defined_around = len(self._defined_names)
        blocks, self.blocks = self.blocks, {}
        forward_blocks = self.forward_block_references
        self.forward_block_references = defaultdict(list)

        kind = self._parser_state.current_token.kind
        if arguments is not None:
            if kind is MLIRTokenKind.CARET_IDENT:
                self.raise_error("invalid block name in region with named arguments")
            block = Block(arg_types=[argument.type for argument in arguments])
            for value, argument in zip(block.args, arguments, strict=True):
                name = argument.name
                self._register_ssa_definition(name.text[1:], (value,), name)
                value.location = argument.location or self.location_at(name.start)
            self._parse_block_body(block)
            region.add_block(block)
        elif kind is not MLIRTokenKind.CARET_IDENT and kind is not MLIRTokenKind.R_BRACE:
            block = Block()
            self._parse_block_body(block)
            region.add_block(block)
        while self.parse_optional_punctuation("}") is None:
            region.add_block(self._parse_block())

        for name, spans in self.forward_block_references.items():
            self.raise_error(f"use of undefined block '^{name}'", spans[0])
        self.blocks = blocks
        self.forward_block_references = forward_blocks
        for name in self._defined_names[defined_around:]:
            del self.ssa_values[name]
        del self._defined_names[defined_around:]
        return region

    def _parse_block(self) -> Block:
        label = self._parser_state.current_token
        if label.kind is not MLIRTokenKind.CARET_IDENT:
            self.raise_error("expected '}' at the end of the region")
        name = label.text[1:]
        if not (Block.is_default_block_name(name) or Block.is_valid_name(name)):
            # xDSL keeps the name as a hint, which may not begin with a digit.
            self.raise_error(f"invalid block name '^{name}'", label.span)
        return super()._parse_block()

    def _parse_optional_block_arg_list(self, block: Block):
        first = self._parser_state.current_token
        if first.kind is not MLIRTokenKind.L_PAREN:
            return None

        def parse_argument() -> tuple[SourceToken, Attribute, LocationAttr | None]:
            name = self._parse_optional_token(_PERCENT_IDENT)
            if name is None:
                self.raise_error("block argument expected")
            self.parse_punctuation(":")
            return name, self.parse_attribute(), self.parse_optional_location()

        for name, type, location in self.parse_comma_separated_list(
            self.Delimiter.PAREN, parse_argument
        ):
            value = block.insert_arg(
                type, len(block.args), location or self.location_at(name.start)
            )
            self._register_ssa_definition(name.text[1:], (value,), name.span)
        return block
