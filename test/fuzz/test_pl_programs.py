"""Programs of the DSL, damaged at random: an error at a place, or a valid module; never a crash."""

import random
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import choose, find_programs

EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.py"))
TEXTS = [path.read_text() for path in EXAMPLES]
WORDS = [
    "pl",
    "self",
    "x",
    "0",
    "-1",
    "1.5",
    "None",
    "True",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    "+",
    "*",
    "pl.yield_",
    "pl.range",
    "pl.load",
    "pl.Tensor",
    "[0, 0]",
    "init_values=(x,)",
    "if",
    "for",
    "return",
    "break",
]


def read(text: str) -> None:
    """Read a text; whatever is wrong with it is told in one error at a line of it."""
    try:
        source = read_source(text.encode(), "p.py")
        module = read_program(source, choose(source, find_programs(source), None))
    except DiagnosticsError as e:
        (diagnostic,) = e.diagnostics
        assert diagnostic.line >= 1
        assert diagnostic.column >= 1
        return
    # What is read may be invalid in ways that ops tell; it never breaks the verifier.
    verify(module)


@settings(max_examples=60)
@given(st.integers(min_value=0))
def test_damaged_text(seed: int) -> None:
    chance = random.Random(seed)
    text = chance.choice(TEXTS)
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(text))
        end = min(len(text), start + chance.choice([0, 1, 3, 8]))
        text = text[:start] + chance.choice(["", *WORDS]) + text[end:]
    read(text)


@settings(max_examples=60)
@given(st.integers(min_value=0))
def test_exchanged_words(seed: int) -> None:
    chance = random.Random(seed)
    text = chance.choice(TEXTS)
    lines = text.splitlines()
    for _ in range(chance.randint(1, 2)):
        place = chance.randrange(len(lines))
        words = lines[place].split(" ")
        words[chance.randrange(len(words))] = chance.choice(WORDS)
        lines[place] = " ".join(words)
    read("\n".join(lines))


@settings(max_examples=40)
@given(st.integers(min_value=0))
def test_lines_left_out_and_repeated(seed: int) -> None:
    chance = random.Random(seed)
    lines = chance.choice(TEXTS).splitlines()
    place = chance.randrange(len(lines))
    if chance.random() < 0.5:
        del lines[place]
    else:
        lines.insert(place, lines[place])
    read("\n".join(lines))
