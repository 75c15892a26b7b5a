"""The reference of the `pto` dialect says what its tables say."""

from __future__ import annotations

from generate_pto_reference import PAGE, reference

from pypto_xdsl.dialects import pto


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == reference(), "run tools/generate_pto_reference.py"


def test_every_op_is_there() -> None:
    text = reference()
    for op in pto.OPS:
        assert f"#### `{op.name}`\n" in text
        assert f"`pto.{op.__name__}`" in text
