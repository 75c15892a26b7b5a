"""
Stale reads among many windows and views of one buffer: none is imagined, however many there are,
and looking for them is linear. What is stale and why is in `filecheck/properties`.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from typing import cast

import pytest
from support.programs import program

from pypto_xdsl.properties.registry import get_property

V, K = "tensor<16x16xf32>", "orch.func incore @k(in {V}, inout {V}) -> {V} returns [1]\n"
CALL = f"({V}, {V}) -> {V}"


def _function(rows: int, body: list[str]) -> str:
    x = f"tensor<{rows}x16xf32>"
    lines = [line.replace("WHOLE", x) for line in body]
    return (
        K.format(V=V)
        + f"orch.func orchestration @main(inout %x : {x}, in %n : index) {{\n"
        + "\n".join(lines)
        + "\norch.return\n}\n"
    )


def apart(size: int) -> str:
    """Windows that do not meet are written one after the other, then all are read."""
    views = [f"%v{i} = ptensor.slice %x[{16 * i}, 0] : WHOLE -> {V}" for i in range(size)]
    calls = [f"%w{i} = orch.call @k(%v{i}, %v{i}) : {CALL}" for i in range(size)]
    others = [f"%o{i} = ptensor.create : {V}" for i in range(size)]
    reads = [f"%q{i} = orch.call @k(%w{i}, %o{i}) : {CALL}" for i in range(size)]
    return _function(16 * size, [*views, *others, *calls, *reads])


def in_columns(size: int) -> str:
    """A grid: on neither axis alone are the windows apart."""
    side = round(size**0.5)
    views = [
        f"%v{i} = ptensor.slice %x[{16 * (i // side)}, {16 * (i % side)}] : WHOLE -> {V}"
        for i in range(side * side)
    ]
    calls = [f"%w{i} = orch.call @k(%v{i}, %v{i}) : {CALL}" for i in range(side * side)]
    others = [f"%o{i} = ptensor.create : {V}" for i in range(side * side)]
    reads = [f"%q{i} = orch.call @k(%w{i}, %o{i}) : {CALL}" for i in range(side * side)]
    return _function(16 * side, [*views, *others, *calls, *reads]).replace(
        f"tensor<{16 * side}x16xf32>", f"tensor<{16 * side}x{16 * side}xf32>"
    )


def told_by_the_whole(size: int) -> str:
    """Views that all overlap, each told by a name of the whole of what was written before."""
    lines = [f"%v{i} = ptensor.slice %x[{i % 48}, 0] : WHOLE -> {V}" for i in range(size)]
    lines.append(f"%w0 = orch.call @k(%v0, %v0) : {CALL}")
    for i in range(1, size):
        older = "%x" if i == 1 else f"%x{i - 1}"
        lines += [
            f"%x{i} = ptensor.updated {older}, %w{i - 1} : WHOLE, {V}",
            f"%u{i} = ptensor.updated %v{i}, %x{i} : {V}, WHOLE",
            f"%w{i} = orch.call @k(%u{i}, %u{i}) : {CALL}",
        ]
    return _function(64, lines)


def views_of_views(size: int) -> str:
    """Each window is one of the window before."""
    lines = [f"%v0 = ptensor.slice %x[0, 0] : WHOLE -> {V}"]
    for i in range(1, size):
        lines.append(f"%v{i} = ptensor.slice %v{i - 1}[0, 0] : {V} -> {V}")
    for i in range(size):
        older = f"%v{size - 1}" if i == 0 else f"%w{i - 1}"
        lines.append(f"%w{i} = orch.call @k({older}, {older}) : {CALL}")
    return _function(16, lines)


PROGRAMS = [apart, in_columns, told_by_the_whole, views_of_views]


def check(text: str) -> tuple[int, list[str]]:
    """How many calls looking for stale reads takes, and what it finds."""
    module = program(text)
    profile = cProfile.Profile()
    found = profile.runcall(lambda: list(get_property("NoStaleRead").verifier(module)))
    calls = cast(int, pstats.Stats(profile).total_calls)  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]
    return calls, [diagnostic.message for diagnostic in found]


@pytest.mark.parametrize("made", PROGRAMS)
def test_nothing_is_stale_and_work_grows_linearly(made: Callable[[int], str]) -> None:
    check(made(9))
    small, found = check(made(144))
    assert not found
    large, found = check(made(576))
    assert not found
    assert large < 5.5 * small


def test_one_stale_window_among_many_is_found() -> None:
    """A write through another window, of all the rows, makes those older that lie in it."""
    text = apart(400).replace(
        "\norch.return",
        f"\n%all = ptensor.slice %x[6384, 0] : tensor<6400x16xf32> -> {V}"
        f"\n%b = orch.call @k(%w0, %all) : {CALL}\n%late = orch.call @k(%w399, %w5) : {CALL}"
        "\norch.return",
    )
    _, found = check(text)
    assert len(found) == 2
    assert "'orch.call' op reads %w399, which is older than a write" in found[-1]
