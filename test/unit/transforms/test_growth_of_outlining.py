"""
Outlining, and what comes before it, does linear work: eight times as many scopes, functions,
calls or loops cost less than ten times the calls of Python functions.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable

import pytest
from support.programs import context, program

from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.universe import PYPTO_UNIVERSE

SMALL, LARGE = 60, 480
LIMIT = 10.0
T = "tensor<64xf32>"
TILE = "!tile.tile<64xf32>"
WORK = f"""
    %t = tile.load %x[0] : {T} -> {TILE}
    %u = tile.add %t, %t : {TILE}
    %o = tile.store %u, %out[0] : {TILE}, {T}
"""


def function(body: str, name: str = "main") -> str:
    return f"""
orch.func opaque @{name}(in %x : {T}, out %out : {T}, in %n : index, in %m : index) -> {T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
{body}
  orch.return %out : {T}
}}
"""


def scopes(count: int) -> str:
    """One function, all scopes of one name, and none says what it writes."""
    return function(f'  orch.incore "work" {{ {WORK} }}\n' * count)


def functions(count: int) -> str:
    """As many functions with one scope each, of one name."""
    one = f'  orch.incore "work" {{ {WORK} }}'
    return "".join(function(one, f"main_{k}") for k in range(count))


def loops(count: int) -> str:
    """Each scope in a loop and a branch of its own, which come to carry what it writes."""
    return function(
        f"""
  scf.for %i = %c0 to %c4 step %c1 {{
    %c = arith.cmpi slt, %i, %n : index
    scf.if %c {{ orch.incore {{ {WORK} }} }}
  }}
"""
        * count
    )


def clusters(count: int) -> str:
    """Clusters of an spmd scope, whose width is computed."""
    return function(
        "".join(
            f"""
  %w{k} = arith.addi %n, %m : index
  orch.cluster {{ orch.spmd launch %w{k} {{ {WORK} }} }}
"""
            for k in range(count)
        )
    )


def levels(count: int) -> str:
    """Scopes of another level, each with one inside, that yield what they write."""
    return function(
        f"""
  orch.hierarchy host orchestrator {{
    %y = orch.hierarchy chip -> ({T}) {{
      %a = ptensor.assemble %x, %out[0] : {T}
      orch.yield %a : {T}
    }}
  }}
"""
        * count
    )


def helpers(count: int) -> str:
    """One helper that calls another, called over and over."""
    calls = f"  %y = orch.call @outer(%x, %out) : ({T}, {T}) -> {T}\n"
    return (
        function("".join(calls.replace("%y", f"%y{k}") for k in range(count)))
        + f"""
orch.func inline @outer(in %x : {T}, in %out : {T}) -> {T} {{
  %y = orch.call @inner(%x, %out) : ({T}, {T}) -> {T}
  orch.return %y : {T}
}}
orch.func inline @inner(in %x : {T}, in %out : {T}) -> {T} {{ {WORK} orch.return %o : {T} }}
"""
    )


def unrolled(count: int) -> str:
    """Loops of four rounds."""
    loop = "  scf.for %i = %c0 to %c4 step %c1 { %s = arith.addi %i, %n : index }"
    return function(f"{loop} {{orch.loop = #orch<loop unroll>}}\n" * count)


def scalars(count: int) -> str:
    """A chain of sums to merge, with branches on it that are decided."""
    lines: list[str] = ["  %s0 = arith.addi %n, %c1 : index"]
    for k in range(count):
        lines.append(f"  %s{k + 1} = arith.addi %s{k}, %c4 : index")
        lines.append(f"  %d{k} = arith.cmpi slt, %c{k % 2}, %c4 : index")
        lines.append(f"  scf.if %d{k} {{ {WORK} }}")
        lines.append(
            f"  scf.for %i{k} = %c0 to %c4 step %c1 iter_args(%a{k} = %s{k}) -> (index) "
            f"{{ scf.yield %a{k} : index }}".replace("  scf.for", f"  %r{k} = scf.for")
        )
    return function("\n".join(lines))


CASES: list[tuple[str, Callable[[int], str]]] = [
    ("outline-incore-scopes", scopes),
    ("outline-incore-scopes", functions),
    ("outline-incore-scopes", loops),
    ("outline-cluster-scopes", clusters),
    ("outline-hierarchy-scopes", levels),
    ("inline-functions", helpers),
    ("unroll-loops", unrolled),
    ("simplify", scalars),
]


def calls_of(name: str, text: str) -> int:
    """How many Python calls a pass makes on a program."""
    module = program(text)
    profile = cProfile.Profile()
    with collecting():
        profile.runcall(PYPTO_UNIVERSE.all_passes[name]()().apply, context(), module)
    return pstats.Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]


@pytest.mark.parametrize(("name", "make"), CASES)
def test_work_grows_linearly(name: str, make: Callable[[int], str]) -> None:
    calls_of(name, make(2))  # Imports what the pass needs.
    small, large = calls_of(name, make(SMALL)), calls_of(name, make(LARGE))
    assert small > SMALL * 50  # It did something.
    assert large < LIMIT * small
