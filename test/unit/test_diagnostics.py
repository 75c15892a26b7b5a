"""What diagnostics say, and how they reach whoever listens."""

from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnregisteredOp,
)

from pypto_xdsl.diagnostics import (
    Diagnostic,
    DiagnosticsError,
    Note,
    OpError,
    collecting,
    diagnose,
    file_line_col,
    first_line,
    note,
    remark,
    report,
    warn,
)


def location(line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("a.mlir"), IntAttr(line), IntAttr(column))


def located_op(line: int, column: int) -> test.TestOp:
    op = test.TestOp()
    op.location = location(line, column)
    return op


def test_prints_as_mlir_does():
    diagnostic = Diagnostic("no", "a.mlir", 3, 4, notes=(Note("see here", "b.mlir", 1, 2),))
    assert str(diagnostic) == "a.mlir:3:4: error: no\nb.mlir:1:2: note: see here"
    assert str(Diagnostic("hm", "a.mlir", 3, 4, "warning")) == "a.mlir:3:4: warning: hm"


def test_op_error_knows_place_and_op():
    error = OpError(located_op(3, 4), "is wrong", [note(located_op(1, 1), "because of this")])
    assert str(error) == (
        "a.mlir:3:4: error: 'test.op' op is wrong\na.mlir:1:1: note: because of this"
    )
    assert error.diagnostics == (error.diagnostic,)


def test_position_inside_each_kind_of_location():
    here = location(7, 8)
    position = ("a.mlir", 7, 8)
    assert file_line_col(here) == position
    assert file_line_col(NameLoc(StringAttr("x"), here)) == position
    assert file_line_col(NameLoc(StringAttr("x"), NoneAttr())) is None
    assert file_line_col(CallSiteLoc(here, location(1, 1))) == position
    assert file_line_col(CallSiteLoc(UNKNOWN_LOC, here)) == position
    assert file_line_col(FusedLoc((UNKNOWN_LOC, here), NoneAttr())) == position
    assert file_line_col(UNKNOWN_LOC) is None


def test_op_without_location_is_shown():
    inner = test.TestOp()
    op = ModuleOp([inner])
    assert str(diagnose(inner, "is wrong")) == (
        "<unknown>:0:0: error: 'test.op' op is wrong\n"
        '<unknown>:0:0: note: see: "test.op"() : () -> ()'
    )
    assert first_line(op) == "builtin.module"


def test_first_line_of_a_long_op_is_cut():
    op = test.TestOp(attributes={"text": StringAttr("x" * 10_000)})
    assert len(first_line(op)) == 160


def test_unregistered_op_goes_by_its_own_name():
    op = UnregisteredOp.with_name("foo.bar").create()
    assert diagnose(op, "is wrong").message == "'foo.bar' op is wrong"


def test_note_at_a_value():
    producer = test.TestOp(result_types=[])
    producer.location = location(2, 3)
    block_owner = located_op(5, 6)
    assert note(producer, "here").line == 2
    from xdsl.dialects.builtin import i32
    from xdsl.ir import Block, Region

    block = Block(arg_types=[i32, i32])
    block.args[1].location = location(9, 9)
    block_owner.add_region(Region(block))
    # An argument without a location of its own is where its op is.
    assert note(block.args[0], "here").line == 5
    assert note(block.args[1], "here").line == 9


def test_warnings_go_to_whoever_listens(capsys: pytest.CaptureFixture[str]):
    op = located_op(1, 1)
    with collecting() as found:
        warn(op, "is odd")
        remark(op, "was seen", [Note("really")])
    assert [(d.severity, d.message) for d in found] == [
        ("warning", "'test.op' op is odd"),
        ("remark", "'test.op' op was seen"),
    ]
    assert capsys.readouterr().err == ""
    # Without a listener, as under a driver that is not ours, they are printed.
    warn(op, "is odd")
    assert capsys.readouterr().err == "a.mlir:1:1: warning: 'test.op' op is odd\n"


def test_errors_cannot_be_passed_over():
    with collecting() as found, pytest.raises(DiagnosticsError, match="is wrong"):
        report(diagnose(located_op(1, 1), "is wrong"))
    assert found == []


def test_a_message_is_one_line():
    # As xDSL words it.
    found = diagnose(located_op(1, 1), "operand at position 0 does not verify:\nwrong type\n")
    assert found.message == "'test.op' op operand at position 0 does not verify: wrong type"
