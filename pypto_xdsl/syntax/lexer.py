"""
The lexer of MLIR text, one regular expression for all frequent tokens.

Splitting text into tokens is the hottest part of reading a program. This lexer makes the same
tokens as xDSL's, in a third of the time; a token knows its text and makes its span on demand.
One kind differs: text that is escaped, as xDSL prints all but ASCII, is read as a string, and
only what is no text as bytes.
"""

from __future__ import annotations

import re

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Position, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRTokenKind,
    StringLiteral,
)


class SourceToken(Token[MLIRTokenKind, str]):
    """A token of MLIR text."""

    __slots__ = ("end", "input", "kind", "start", "text")

    kind: MLIRTokenKind
    text: str
    start: Position
    end: Position
    input: Input[str]

    def __init__(
        self, kind: MLIRTokenKind, text: str, start: Position, end: Position, input: Input[str]
    ):
        self.kind = kind
        self.text = text  # pyright: ignore[reportIncompatibleMethodOverride]
        self.start = start
        self.end = end
        self.input = input

    @property
    def span(self) -> Span[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where the token stands; made on demand, since few tokens are asked."""
        return Span(self.start, self.end, self.input)

    @property
    def content(self) -> str:
        return self.text


# White space and comments, then at most one token. The groups are, in order: prefixed
# identifiers, bare identifiers, punctuation, numbers, symbol names, strings without escapes.
# What no group matches (escapes, `...`, the end, errors) is left to xDSL's lexer.
_TOKEN = re.compile(
    r"(?:[ \t\n\r\f\v]+|//[^\n]*)*+"
    r"(?:([%!^]|\#(?!-\}))(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*)"
    r"|([a-zA-Z_][a-zA-Z0-9_$.]*)"
    r"|(->|\{-\#|\#-\}|[:,(){}\[\]<>=+/*?|-])"
    r"|(0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]*(?:[eE][+-]?[0-9]+)?)?)"
    r"|(@[a-zA-Z_][a-zA-Z0-9_$.]*)"
    r'|("[^"\\\n\v\f]*")'
    r")?"
).match

_KIND_BY_PREFIX = {
    "%": MLIRTokenKind.PERCENT_IDENT,
    "!": MLIRTokenKind.EXCLAMATION_IDENT,
    "^": MLIRTokenKind.CARET_IDENT,
    "#": MLIRTokenKind.HASH_IDENT,
}
_BARE_IDENT = MLIRTokenKind.BARE_IDENT

LONGEST_NUMBER = 3000
"""Characters of a number; Python does not convert, or print, one of many more."""


def _is_text(literal: Span[str]) -> bool:
    """Whether the bytes of a string literal are UTF-8 text."""
    try:
        StringLiteral.from_span(literal).bytes_contents.decode()
    except UnicodeDecodeError:
        return False
    return True


class SourceLexer(MLIRLexer):
    """Makes the tokens of `MLIRLexer`, as `SourceToken`s."""

    # xDSL's expression tries every way to cut an unterminated string: time exponential in its
    # length. Possessive, this one matches the same strings in one go.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def __init__(self, input: Input[str]):
        super().__init__(input)
        self._content = input.content

    def lex(self) -> SourceToken:
        match = _TOKEN(self._content, self.pos)
        assert match is not None
        group = match.lastindex
        self.pos = end = match.end()
        if group is None:
            token = super().lex()
            kind, span = token.kind, token.span
            if kind is MLIRTokenKind.BYTES_LIT and _is_text(span):
                kind = MLIRTokenKind.STRING_LIT
            return SourceToken(kind, span.text, span.start, span.end, self.input)
        start = match.start(group)
        if end - start > LONGEST_NUMBER and (group == 4 or match[group][0] == "#"):
            raise ParseError(Span(start, end, self.input), "number is too long")
        if group == 1:
            kind = _KIND_BY_PREFIX[match[1]]
        elif group == 2:
            kind = _BARE_IDENT
        elif group == 3:
            kind = KIND_BY_PUNCTUATION_SPELLING[match[3]]
        elif group == 4:
            kind = MLIRTokenKind.FLOAT_LIT if "." in match[4] else MLIRTokenKind.INTEGER_LIT
        elif group == 5:
            kind = MLIRTokenKind.AT_IDENT
        else:
            kind = MLIRTokenKind.STRING_LIT
        return SourceToken(kind, self._content[start:end], start, end, self.input)
