"""
Damaged `.pto` text is an error where it is damaged, never a crash, in bounded time.

Lines of `test/filecheck/dialects/pto` are damaged in ways that leave an error, and in ways that
may not. `PYPTO_FUZZ_ROUNDS` asks for more of the latter.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from functools import cache

import pytest
from pto_programs import FORMS, context, show
from xdsl.context import Context

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.syntax.parser import parse_module

ROUNDS = int(os.environ.get("PYPTO_FUZZ_ROUNDS", "1"))
SECONDS = 5.0
"""More than any of these texts may take, on a busy machine."""

FILES = sorted(path.name for path in FORMS.glob("*.pto") if not path.name.startswith("invalid_"))


@cache
def ctx() -> Context:
    return context()


@cache
def functions(name: str) -> tuple[tuple[str, ...], ...]:
    """The lines of each function of a file, without comments."""
    found: list[list[str]] = []
    for line in (FORMS / name).read_text().splitlines():
        if line.startswith("  func.func"):
            found.append([line])
        elif found and line.startswith("  ") and not line.lstrip().startswith("//"):
            found[-1].append(line)
    return tuple(map(tuple, found))


def is_tile_op(line: str) -> bool:
    return re.match(r" *pto\.[\w.]+ ins\(%.*\) outs\(", line) is not None


def read(text: str) -> list[int]:
    """The lines of the errors of a text; none if it is valid, and then it prints and reads back."""
    begin = time.monotonic()
    try:
        module = parse_module(ctx(), text, "damaged.pto")
    except DiagnosticsError as error:
        found = list(error.diagnostics)
    else:
        found = verify(module)
        if not found:
            printed = show(module)
            assert show(parse_module(ctx(), printed, "printed.pto")) == printed
    assert time.monotonic() - begin < SECONDS
    assert all(diagnostic.message for diagnostic in found)
    return [diagnostic.line for diagnostic in found]


def drop_operand(line: str) -> str:
    return re.sub(r"ins\((%\w+), ", "ins(", line, count=1)


def drop_type(line: str) -> str:
    return re.sub(r"( : !pto\.\w+<[^<>]*>), !pto\.\w+<[^<>]*>", r"\1", line, count=1)


def drop_outs(line: str) -> str:
    return line[: line.index(" outs(")]


def empty_outs(line: str) -> str:
    return re.sub(r"outs\(.*\)", "outs()", line)


def other_type(line: str) -> str:
    return re.sub(r"(!pto\.tile_buf<\w+, )\d+x", r"\g<1>48x", line, count=1)


def other_element(line: str) -> str:
    return re.sub(r"(!pto\.\w+<[^<>]*\dx)\w+", r"\1f64", line, count=1)


def other_word(line: str) -> str:
    return re.sub(r"(#pto(?:\.\w+)?<(?:\w+ )?)\w+>", r"\1nonsense>", line, count=1)


def other_key(line: str) -> str:
    return re.sub(r"(!pto\.tile_buf<\w+, [^<>]*)>", r"\1, shade=1>", line, count=1)


def unclosed(line: str) -> str:
    return line.replace(")", "", 1)


def other_name(line: str) -> str:
    return re.sub(r"pto\.(\w)", r"pto.z\1", line, count=1)


def undefined(line: str) -> str:
    return re.sub(r"ins\(%\w+", "ins(%nowhere", line, count=1)


CERTAIN: tuple[Callable[[str], str], ...] = (
    drop_operand,
    drop_type,
    drop_outs,
    empty_outs,
    other_type,
    other_element,
    other_word,
    other_key,
    unclosed,
    other_name,
    undefined,
)
"""Damage after which no line is valid."""


@pytest.mark.parametrize("name", FILES)
def test_certain_damage_is_an_error_at_the_line(name: str) -> None:
    for program in functions(name):
        # Of the other ops only those that define something.
        kept = [line for line in program if not is_tile_op(line)]
        for line in filter(is_tile_op, program):
            for damage in CERTAIN:
                damaged = damage(line)
                if damaged == line:
                    continue  # The line has nothing of the kind.
                last = len(kept) - 2
                errors = read("\n".join((*kept[:last], damaged, *kept[last:])))
                assert errors, f"{damage.__name__}: {damaged}"
                # A missing bracket is noticed where the next line begins.
                assert errors[0] in (last + 1, last + 2), f"{damage.__name__}: {damaged}"


TOKEN = re.compile(r"%\w+|[\w.#!]+|\S")


def damage_token(line: str, rng: random.Random) -> str:
    """A line with one token dropped, repeated, exchanged or spoiled."""
    tokens = list(TOKEN.finditer(line))
    token = rng.choice(tokens)
    other = rng.choice(tokens)
    text = token[0]
    new = rng.choice(
        (
            "",
            text + " " + text,
            other[0],
            text[:-1],
            "?",
            "-1",
            "99999999999999999999",
            '"',
            "<",
            "}",
            "\u20ac",
            "\x00",
        )
    )
    return line[: token.start()] + new + line[token.end() :]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("round_", range(ROUNDS))
def test_any_damage_is_no_crash(name: str, round_: int) -> None:
    rng = random.Random(f"{name} {round_}")
    for program in functions(name):
        for number, line in enumerate(program):
            read("\n".join((*program[:number], damage_token(line, rng), *program[number + 1 :])))


@pytest.mark.parametrize(
    "text",
    [
        "!pto.struct<" * 20_000,
        "!pto.multi_tile_buf<" * 20_000,
        "!pto.tile_buf<" + "loc=vec, " * 50_000,
        "!pto.tensor_view<" + "1x" * 100_000 + "f32>",
        "!pto.ptr<" + "!pto.ptr<" * 20_000,
        "!pto.tile_buf<vec, 99999999999999999999x1xf32>",
        "!pto.tile_buf<vec, 1x1xi99999999999>",
        "!pto.local_array<" + "9x" * 100_000 + "i32>",
        "#pto<" * 20_000,
    ],
    ids=lambda text: text[:32],
)
def test_hostile_types(text: str) -> None:
    kind = "attributes {a = %s}" if text.startswith("#") else "(%%x: %s)"
    if text.startswith("#"):
        errors = read(f"func.func @f() {kind % text} {{\nreturn\n}}")
    else:
        errors = read(f"func.func @f{kind % text} {{\nreturn\n}}")
    assert errors in ([1], [])


HUGE = "9" * 5_000


@pytest.mark.parametrize(
    "line",
    [
        "%a = arith.constant {} : i32",
        "%a = arith.constant 0x{} : i32",
        "%a = arith.constant dense<{}> : vector<4xi32>",
        "%a = arith.constant 1 : i{}",
        "%a = pto.alloc_tile : !pto.tile_buf<vec, {}x1xf32>",
        "%a = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows={}, cols=1>",
        "%a = pto.declare_eventid_array -> !pto.eventid_array<{}>",
        "pto.barrier <PIPE_V> {{a = {} : i64}}",
        "%a:{} = arith.constant 1 : i32",
        'pto.barrier <PIPE_V> loc("x":{}:1)',
    ],
)
def test_huge_numbers(line: str) -> None:
    assert read(f"func.func @f() {{\n{line.format(HUGE)}\nreturn\n}}") == [2]


def test_many_operands() -> None:
    names = ", ".join(["%a"] * 20_000)
    types = ", ".join(["f32"] * 20_000)
    text = f"func.func @f(%a: f32) {{\npto.tadd ins({names} : {types}) outs(%a : f32)\nreturn\n}}"
    assert read(text) == [2]
