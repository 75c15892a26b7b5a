"""
Modules with odd names, numbers and attributes: each comes back the same from its text, or what of
it the DSL has no words for is an error at its place.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from support.dsl_round_trip import assert_comes_back
from support.programs import program

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.targets.pl.program import program_text

CONSTANTS = [
    *(("i8", v) for v in (-128, 127)),
    *(("i16", v) for v in (-32768, 32767)),
    *(("i32", v) for v in (-(2**31), 2**31 - 1)),
    *(("i64", v) for v in (-(2**63), 2**63 - 1)),
    *(("index", v) for v in (-1, 2**63 - 1, -(2**63))),
    *(("i4", v) for v in (-8, 7)),
    # The least that is no zero, the largest, both infinities, the negative zero, the usual NaN.
    *(("f32", v) for v in ("0x00000001", "0x7F7FFFFF", "0x7F800000", "0xFF800000")),
    *(("f32", v) for v in ("-0.0", "0x7FC00000", "0.1", "1.0e10", "1.0e-10", "123456789.0")),
    *(("f16", v) for v in ("0x0001", "0x7BFF", "0x7C00", "0xFC00", "0x8000", "0x7E00", "0.1")),
    *(("bf16", v) for v in ("0x0001", "0x7F7F", "0x7F80", "0xFF80", "0x8000", "0x7FC0", "0.1")),
]


@pytest.mark.parametrize(("type", "value"), CONSTANTS)
def test_constants(type: str, value: int | str) -> None:
    assert_comes_back(
        program(
            f"orch.func opaque @f() -> {type} {{\n"
            f"  %c = arith.constant {value} : {type}\n"
            f"  orch.return %c : {type}\n"
            "}"
        )
    )


@pytest.mark.parametrize(
    "type",
    [
        *("i1", "i4", "i8", "i16", "i32", "i64"),
        *("ui8", "ui16", "ui32", "ui64"),
        "f16",
        "bf16",
        "f32",
        "index",
    ],
)
def test_parameters(type: str) -> None:
    assert_comes_back(
        program(
            f"orch.func opaque @f(in %a : {type}, inout %b : tensor<4x{type}>) -> {type} {{\n"
            f"  orch.return %a : {type}\n"
            "}"
        )
    )


NAMES = "for None True self pl_ range_ len print int match type x.y x$z _ __ nan float tuple"


def test_names_of_values() -> None:
    """Words of Python, names of what it has built in, and what is no name."""
    names = [f"%{name}" for name in NAMES.split()]
    lines = [f"{name} = arith.addi {before}, {before} : index" for before, name in pairwise(names)]
    assert_comes_back(
        program(
            f"orch.func opaque @class(in {names[0]} : index) -> index {{\n"
            + "\n".join(lines)
            + f"\norch.return {names[-1]} : index\n}}"
        )
    )


@pytest.mark.parametrize(
    "functions",
    [
        ("pl", "range", "self", "__init__", "__private", "nan", "for"),
        # Calls of these names are read by their names.
        ("yield", "yield_", "cond", "get_block_idx", "reserve_buffer", "func_attr"),
        # The second is made from what the first is called.
        ("f r", "f_r", "f\\C3\\BCr", "f_r_"),
    ],
)
def test_names_of_functions(functions: tuple[str, ...]) -> None:
    first, *others = functions
    text = f'orch.func opaque @"{first}"(in %a : index) -> index {{ orch.return %a : index }}\n'
    callee = first
    for name in others:
        text += (
            f'orch.func opaque @"{name}"(in %a : index) -> index {{\n'
            f'  %b = orch.call @"{callee}"(%a) : (index) -> index\n'
            "  orch.return %b : index\n"
            "}\n"
        )
        callee = name
    assert_comes_back(program(text))


@pytest.mark.parametrize("name", ["m n", "\\C3\\A4", "_", "for", "pl"])
def test_names_of_programs(name: str) -> None:
    assert_comes_back(
        program(f'builtin.module @"{name}" {{ orch.func opaque @a() {{ orch.return }} }}')
    )


BUFFER = """
orch.func incore @a(in %x : tensor<16x16xf32>) {{
  %b = tile.alloc buffer = "{}", {} : !tile.buffer
  %t = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %s = tile.place %t, %b[0]{} : !tile.tile<16x16xf32, vec>, !tile.buffer
  orch.return
}}
"""


@pytest.mark.parametrize("name", ["x", "t", "b", "a\\22b\\\\c\\n", "for"])
def test_names_of_buffers(name: str) -> None:
    """Also those that a parameter has, or the value that stands for the buffer does not."""
    assert_comes_back(program(BUFFER.format(name, "pinned", "")))
    if name.isidentifier() and name != "for":
        placed = BUFFER.format(name, "space = vec, size = 1024", ", size = 1024")
        assert_comes_back(program(placed))


@pytest.mark.parametrize("dims", ["for, pl", "range, a", '"N * 2", N', '"N + M", "N - 1"'])
def test_symbols(dims: str) -> None:
    assert_comes_back(
        program(
            f"orch.func opaque @a(in %n : tensor<?x?xf32, #ptensor.view<dims = [N, M]>>,\n"
            f"    in %x : tensor<?x?xf32, #ptensor.view<dims = [{dims}]>>) {{ orch.return }}"
        )
    )


def test_attributes_of_functions() -> None:
    assert_comes_back(
        program(
            "orch.func opaque @a() attributes "
            '{pl.x = -3 : i64, pl.y = "s\\22t\\n", pl.z = 1.5 : f64, pl.b = true, '
            '"pl.a b" = 1 : i64, "pl.q\\22r" = false} { orch.return }'
        )
    )


def body(text: str, parameters: str = "in %x : index") -> str:
    return f"orch.func opaque @a({parameters}) {{\n{text}\n  orch.return\n}}"


SCOPE = """
orch.func opaque @a(in %x : tensor<16xf32>) {{
  orch.incore "{}" {{ %t = ptensor.neg %x : tensor<16xf32> }}
  orch.return
}}
"""

REFUSED = {
    body(
        "%y = arith.constant 0x7FC00001 : f32\n%z = arith.negf %y : f32"
    ): "a NaN with bits of its own",
    body("", "in %x : f64"): "has a type that the DSL has no words for: f64",
    body("", "in %x : i128"): "has a type that the DSL has no words for: i128",
    body("%y = arith.addi %x, %x {foo} : index"): "'arith.addi' op has an attribute 'foo'",
    body("%y = arith.constant {foo} 4 : index"): "'arith.constant' op has an attribute 'foo'",
    body("scf.if %x { } {foo}", "in %x : i1"): "'scf.if' op has an attribute 'foo'",
    body("%y = arith.addi %x, %x overflow<nsw> : index"): "flags that the DSL has no words for",
    body("%y = arith.addf %x, %x fastmath<fast> : f32", "in %x : f32"): "fastmath<fast>",
    body("%y = arith.cmpi eq, %x, %x : i1", "in %x : i1"): "in the DSL for truth values",
    "orch.func private opaque @a() { orch.return }": "is private",
    "builtin.module attributes {foo} { }": "'builtin.module' op has an attribute 'foo'",
    SCOPE.format("a b"): "'a b' is no name",
    BUFFER.format("for", "space = vec, size = 1024", ", size = 1024"): "cannot be called 'for'",
    body("", 'in %x : tensor<?xf32, #ptensor.view<dims = ["a b"]>>'): "has an extent 'a b'",
    body("", 'in %x : tensor<?xf32, #ptensor.view<dims = ["1"]>>'): "has an extent '1'",
    **{
        f"orch.func opaque @a() attributes {{{name} = {value}}} {{ orch.return }}": message
        for name, value, message in (
            ("foo.x", "3 : i64", "has an attribute 'foo.x' that the DSL has no words for"),
            ("pl.x", "3 : i8", "has an attribute 'pl.x' that the DSL has no word for: 3 : i8"),
            ("pl.x", "1.5 : f32", "has an attribute 'pl.x' that the DSL has no word for"),
            ("pl.x", "[1, 2]", "has an attribute 'pl.x' that the DSL has no word for"),
            ("pl.split", "1 : i64", "'pl.split', which says something else in the DSL"),
        )
    },
    "orch.func incore @k() { orch.return }\n"
    + body("orch.call @k() {pl.core_num = 1 : i64} : () -> ()"): "'pl.core_num', which says",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    module = program(text)
    with pytest.raises(DiagnosticsError) as error:
        program_text(module)
    assert REFUSED[text] in str(error.value)


def test_a_long_chain_of_names_that_nobody_uses() -> None:
    """Neither as deep as it is long nor as slow as its square; nothing of it is written."""
    lines = [f"%x{n + 1} = ptensor.updated %x{n} : tensor<4xf32>" for n in range(5000)]
    text = program_text(program(body("\n".join(lines), "inout %x0 : tensor<4xf32>")))
    assert len(text.splitlines()) == 9


@pytest.mark.parametrize("depth", [97, 98])
def test_nests(depth: int) -> None:
    """As deep as Python reads, and no deeper."""
    heads = "".join(f"%r{n} = scf.if %x -> (index) {{\n" for n in range(depth))
    ends = [
        "} else {\n  scf.yield %n : index\n}\n" + (f"scf.yield %r{n} : index\n" if n else "")
        for n in reversed(range(depth))
    ]
    text = heads + "scf.yield %n : index\n" + "".join(ends) + "%s = arith.addi %r0, %n : index"
    module = program(body(text, "in %x : i1, in %n : index"))
    if depth == 97:
        assert_comes_back(module)
    else:
        with pytest.raises(DiagnosticsError, match="more than Python reads"):
            program_text(module)
