"""Our lexer makes exactly the tokens, and the errors, of xDSL's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from pypto_xdsl.syntax.lexer import SourceLexer

WORDS = """
%a %a-b %0 %0x -> - {-# #-} #a #- !t.x ^bb0 ^ 0x1F 0x 0xg 1.5e-3 1. 12 1e5 @f @ @"g h" ... .
é ² / // :: { } < > x _y a.b$c ( ) [ ] ? * | = + , : \\ "s" "a\\n" "\\FF" "
"""
PIECES = (*WORDS.split(), " ", "\n", "//c\n", "\t", "\x0b")


def tokens(lexer: MLIRLexer) -> list[object]:
    found: list[object] = []
    while True:
        try:
            token = lexer.lex()
        except ParseError as e:
            return [*found, (e.msg, e.span.start, e.span.end)]
        found.append((token.kind, token.text, token.span.start, token.span.end))
        if token.kind is MLIRTokenKind.EOF:
            return found


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_same_tokens_as_xdsl(text: str):
    assert tokens(SourceLexer(Input(text, "a"))) == tokens(MLIRLexer(Input(text, "a")))


def test_an_unterminated_string_takes_no_time():
    """In xDSL each character doubles it."""
    text = '"' + "x" * 100_000
    assert tokens(SourceLexer(Input(text, "a"))) == [
        ("End of file reached before closing string literal.", 0, 1)
    ]


@given(st.text(max_size=30))
def test_same_tokens_as_xdsl_of_noise(text: str):
    assert tokens(SourceLexer(Input(text, "a"))) == tokens(MLIRLexer(Input(text, "a")))
