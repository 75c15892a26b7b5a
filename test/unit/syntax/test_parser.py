"""The locating parser: the same IR as xDSL's parser, with places, and types read once."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import BytesAttr, FileLineColLoc, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.universe import XDSL_UNIVERSE

from pypto_xdsl.diagnostics import DiagnosticsError, file_line_col
from pypto_xdsl.syntax.parser import LocatingParser, parse_module


def context() -> Context:
    ctx = Context()
    for name, factory in XDSL_UNIVERSE.all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def parse(text: str, line_offset: int = 0) -> ModuleOp:
    return parse_module(context(), text, "a.mlir", line_offset=line_offset)


def errors_of(text: str, line_offset: int = 0) -> list[str]:
    with pytest.raises(DiagnosticsError) as raised:
        parse(text, line_offset)
    return [str(diagnostic) for diagnostic in raised.value.diagnostics]


def generic_form(module: ModuleOp) -> str:
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(module)
    return out.getvalue()


def position(op: Operation) -> tuple[int, int]:
    found = file_line_col(op.location)
    assert found is not None
    return found[1:]


PROGRAMS = {
    "regions": """
func.func @f(%lo: index, %hi: index, %t: f32) -> f32 {
  %r = scf.for %i = %lo to %hi step %lo iter_args(%x = %t) -> (f32) {
    %y = arith.addf %x, %x : f32
    scf.yield %y : f32
  }
  %q = scf.for %i = %lo to %hi step %lo iter_args(%x = %r) -> (f32) {
    %y = arith.mulf %x, %x : f32
    scf.yield %y : f32
  }
  func.return %q : f32
}""",
    "types": """
!t = tensor<4x?xf32>
#map = affine_map<(d0) -> (d0)>
func.func @f(%a: !t, %b: tensor<4x?xf32>, %c: tuple<!t, !t>, %d: memref<4xf32, #map>,
    %e: memref<4xf32, strided<[1], offset: ?>>, %g: vector<4xf32>, %h: complex<f32>,
    %i: (!t, i32) -> (tensor<*xf32>), %j: tensor<4xf32, "a>b"> , %k: tensor<2x!t>)
    attributes {x = #map, y = tensor<4x?xf32>, z = [#map, i32, 3 : i8, dense<1> : tensor<2xi8>]} {
  func.return
}""",
    "blocks": """
func.func @f(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^bb1(%a : i32), ^bb2
^bb1(%b: i32):
  cf.br ^bb1(%b : i32)
^bb2:
  func.return %a : i32
}""",
    "generic": """
"builtin.module"() ({
  %0:2 = "test.op"() {a, b = unit, c = 1.5 : f32} : () -> (i32, f32)
  "test.op"(%0#0, %0#1) <{p = "q"}> ({
  ^bb0(%x: i32):
    "test.op"(%x) : (i32) -> ()
  }, {}) : (i32, f32) -> ()
}) : () -> ()""",
    "forward": """
func.func @f() {
  "test.op"(%0#1, %1) : (i32, f32) -> ()
  %0:2 = "test.op"() : () -> (i32, i32)
  %1 = "test.op"() : () -> f32
  func.return
}""",
    "escapes": '"test.op"() {"a b" = "x\\22y\\n", c = @"s y"::@t} : () -> ()',
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_ir_as_xdsl(name: str):
    text = PROGRAMS[name]
    ours = parse(text)
    theirs = Parser(context(), text, "a.mlir").parse_module()
    assert generic_form(ours) == generic_form(theirs)
    assert str(ours) == str(theirs)
    # Names too: hints of results and block arguments are part of what is printed.
    assert str(parse(str(ours))) == str(ours)


def test_text_is_a_string_however_it_is_escaped():
    """xDSL escapes all but ASCII, and would read it as bytes; what is no text stays bytes."""
    text = """"test.op"() {s = "caf\\C3\\A9 \\22q\\22", b = "\\FF\\00", "k\\C3\\A9y"} : () -> ()"""
    module = parse(text)
    (op,) = module.body.block.ops
    assert op.attributes == {
        "s": StringAttr('café "q"'),
        "b": BytesAttr(b"\xff\x00"),
        "kéy": UnitAttr(),
    }
    assert str(parse(str(module))) == str(module)


def test_the_generic_form_keeps_names_of_any_text():
    text = 'func.func @"caf\\C3\\A9 \\22\\0A"() {\n  func.return\n}'
    module = parse(text)
    assert text.splitlines()[0] in str(module)
    assert str(parse(generic_form(module))) == str(module)


def test_ops_know_where_their_name_stands():
    module = parse(PROGRAMS["regions"])
    positions = [position(op) for op in module.walk()]
    assert positions == [
        (1, 1),
        (2, 1),
        (3, 8),
        (4, 10),
        (5, 5),
        (7, 8),
        (8, 10),
        (9, 5),
        (11, 3),
    ]


def test_block_arguments_know_where_they_stand():
    func = parse(PROGRAMS["blocks"]).body.block.first_op
    assert func is not None
    entry, first, _ = func.regions[0].blocks
    assert [file_line_col(arg.location) for arg in (*entry.args, *first.args)] == [
        ("a.mlir", 2, 14),
        ("a.mlir", 2, 22),
        ("a.mlir", 4, 6),
    ]


def test_a_part_of_a_file_starts_at_its_line():
    module = parse("\n  func.func @f() { func.return }", line_offset=40)
    func = module.body.block.first_op
    assert func is not None
    assert position(func) == (42, 3)
    assert errors_of("\n  foo.bar", line_offset=40)[0].startswith("a.mlir:42:3: error:")


def test_written_locations_are_kept():
    (op,) = parse('"test.op"() : () -> () loc("b.py":3:4)').body.block.ops
    assert isinstance(op.location, FileLineColLoc)
    assert file_line_col(op.location) == ("b.py", 3, 4)


def test_the_end_of_a_region_that_is_left_out_is_where_its_op_is():
    (func,) = parse(
        """
func.func @f(%i: index) {
  scf.for %j = %i to %i step %i {
  }
  func.return
}"""
    ).body.block.ops
    assert [position(op) for op in func.walk() if op.name == "scf.yield"] == [(3, 3)]


def test_locations_that_are_printed_in_the_middle_of_an_op_are_read():
    # xDSL prints that of `scf.while` after its types as well as at its end.
    (func,) = parse(
        """
func.func @f(%c: i1, %i: index) {
  scf.while (%a = %i) : (index) -> index {
    scf.condition(%c) %a : index
  } do {
  ^bb0(%b: index):
    scf.yield %b : index
  }
  func.return
}"""
    ).body.block.ops
    out = StringIO()
    Printer(out, print_debuginfo=True).print_op(func)
    assert out.getvalue().count('loc("a.mlir":3:3)') == 2
    (again,) = parse(out.getvalue()).body.block.ops
    read_back = StringIO()
    Printer(read_back, print_debuginfo=True).print_op(again)
    assert read_back.getvalue() == out.getvalue()


def test_location_alias_after_its_use():
    text = """
"test.op"() : () -> () loc(#loc2)
"test.op"() : () -> () loc(#loc1)
#loc1 = loc("b.py":3:4)
#loc2 = loc("name"(#loc1))"""
    first, second = parse(text).body.block.ops
    assert file_line_col(first.location) == file_line_col(second.location) == ("b.py", 3, 4)
    assert errors_of('"test.op"() : () -> () loc(#nowhere)') == [
        "a.mlir:1:36: error: undefined symbol alias '#nowhere'"
    ]
    assert "re-declaration" in errors_of('#a = loc("b":1:1)\n#a = loc("b":1:1)')[0]


def test_types_of_the_same_text_are_the_same_object():
    func = parse("func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32 >)")
    (op,) = func.body.block.ops
    a, b, c = op.properties["function_type"].inputs  # pyright: ignore
    assert a is b  # pyright: ignore[reportUnknownVariableType]
    assert a == c  # pyright: ignore[reportUnknownVariableType]


def test_a_text_with_an_alias_means_what_the_alias_means():
    """Each parser has its own aliases: an interned text must not outlive them."""
    ctx = context()
    for element in ("f32", "i8"):
        text = f'!t = {element}\n"test.op"() {{a = tensor<4x!t>, b = tuple<!t>}} : () -> ()'
        (op,) = parse_module(ctx, text, "a.mlir").body.block.ops
        assert str(op.attributes["a"]) == f"tensor<4x{element}>"
        assert str(op.attributes["b"]) == f"tuple<{element}>"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "a.mlir:1:1: error: expected at least one op"),
        ("// nothing\n", "a.mlir:2:1: error: expected at least one op"),
        ("}", "a.mlir:1:1: error: expected an op"),
        ("builtin.module {", "a.mlir:1:17: error: "),
        ('"test.op"() : ()', "a.mlir:1:17: error: Expected '->'"),
        ('"test.op"()\n\n// comment\n"test.op"', "a.mlir:1:12: error: Expected ':'"),
        (
            "builtin.module {\n  builtin.module {",
            "a.mlir:2:19: error: expected '}' at the end of",
        ),
        ("builtin.module { 3 }", "a.mlir:1:18: error: expected '}' at the end of the region"),
        ("func.func @f() { %a = arith.cmpi slt, 1 }", "a.mlir:1:39: error: "),
        ('%a = "test.op"() : () -> ()', "a.mlir:1:1: error: op 'test.op' has 0 results, but 1"),
        ("\x01", "a.mlir:1:1: error: Unexpected character"),
        ('"test.op', "a.mlir:1:1: error: "),
        ("func.func @f(%a: tensor<0x>) ", "a.mlir:1:27: error: Expected shape type"),
        ('"test.op"() {a = [1, 300 : i8]} : () -> ()', "a.mlir:1:22: error: Integer value 300"),
        ("func.func @f(%a: i32, %a: i32) {}", "a.mlir:1:23: error: SSA value %a is already"),
        ("func.func @f() { cf.br ^bb1 }", "a.mlir:1:24: error: use of undefined block '^bb1'"),
    ],
)
def test_errors_have_a_place(text: str, error: str):
    assert errors_of(text)[0].startswith(error)


def test_an_op_does_not_see_what_its_regions_define():
    text = """
func.func @f(%z: index) {
  scf.for %i = %z to %z step %inner {
    %inner = arith.addi %i, %z : index
  }
  func.return
}"""
    assert errors_of(text) == ["a.mlir:3:30: error: use of undefined value '%inner'"]


def test_all_undefined_values_are_reported():
    text = '"test.op"(%a) : (i32) -> ()\n"test.op"(%b, %a) : (i32, i32) -> ()'
    assert errors_of(text) == [
        "a.mlir:1:11: error: use of undefined value '%a'",
        "a.mlir:2:11: error: use of undefined value '%b'",
    ]


def test_a_module_must_be_all_of_the_text():
    parser = LocatingParser(context(), "builtin.module {} foo", "a.mlir")
    with pytest.raises(Exception, match="expected the end of the text"):
        parser.parse_module(allow_implicit_module=False)


def test_values_of_a_region_are_forgotten_after_it():
    text = """
func.func @f() {
  "test.op"() ({
    %x = "test.op"() : () -> i32
  }) : () -> ()
  "test.op"(%x) : (i32) -> ()
}"""
    assert errors_of(text) == ["a.mlir:6:13: error: use of undefined value '%x'"]


@pytest.mark.parametrize("name", ["_1", "_2_3", "__4"])
def test_names_that_are_numbers_are_none(name: str) -> None:
    """xDSL keeps nothing of them, and does not copy values that have nothing for a name."""
    body = f'^bb0(%{name}_5 : i32): "test.termop"() : () -> ()'
    module = parse(f'%{name} = "test.op"() ({{ {body} }}) : () -> i32')
    assert str(module.clone().clone()) == str(module)
