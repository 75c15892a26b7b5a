"""The constructors of ops in the shared form: what they fill in, and what they refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, f32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    var_operand_def,
)

from pypto_xdsl.dialects.declared_op import DeclarationError, reads
from pypto_xdsl.dialects.element_types import SCALAR
from pypto_xdsl.dialects.typed_op import InferringOp, TypedOp, Types
from pypto_xdsl.syntax.op_syntax import (
    indices_attr,
    indices_prop,
    integer_attr,
    integer_prop,
    opt_integer_prop,
)


@irdl_op_definition
class EveryKindOp(TypedOp):
    """One operand and one property of each kind."""

    name = "test.every_kind"

    source = operand_def(reads(SCALAR))
    extra = opt_operand_def(reads(SCALAR))
    more = var_operand_def(reads(SCALAR))
    offsets = var_operand_def(IndexType)
    static_offsets = indices_prop("at")
    needed = integer_prop()
    defaulted = integer_prop(7)
    maybe = opt_integer_prop()
    result = result_def(SCALAR)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        properties: Mapping[str, Attribute] | None = None,
        types: Any = (f32,),
        **operands: Any,
    ):
        self._fill(types, properties, **operands)


@irdl_op_definition
class DoubledOp(InferringOp):
    """An op whose `infer` returns what a test wants."""

    name = "test.doubled"

    operand = operand_def(reads(SCALAR))
    second = opt_operand_def(reads(SCALAR))
    result = result_def(SCALAR)

    COUNT: ClassVar[int] = 1

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        first, second = operands
        assert first is not None
        return (first if second is None else second,) * cls.COUNT


INDEX = IndexType()


def value(type: Attribute = f32) -> SSAValue:
    return test.TestOp(result_types=[type]).results[0]


NEEDED = {"needed": integer_attr(1)}


def test_what_is_given_and_what_is_not():
    source, extra, first, second, index = (value(), value(), value(), value(), value(INDEX))
    full = EveryKindOp(
        {**NEEDED, "maybe": integer_attr(3), "defaulted": integer_attr(4)},
        source=source,
        extra=extra,
        more=[first, second],
        offsets=[5, index, 6],
    )
    assert list(full.operands) == [source, extra, first, second, index]
    assert full.static_offsets == indices_attr((5, DYNAMIC_INDEX, 6))
    assert (full.needed, full.defaulted, full.maybe) == tuple(map(integer_attr, (1, 4, 3)))
    full.verify()

    bare = EveryKindOp(NEEDED, source=source, offsets=[])
    assert list(bare.operands) == [source]
    assert bare.extra is None
    assert (list(bare.more), list(bare.offsets)) == ([], [])
    assert bare.static_offsets == indices_attr(())
    assert (bare.defaulted, bare.maybe) == (integer_attr(7), None)
    bare.verify()


def test_an_operation_stands_for_its_result():
    producer = test.TestOp(result_types=[f32])
    op = EveryKindOp(NEEDED, source=producer, more=[producer], offsets=[])
    assert list(op.operands) == [producer.results[0]] * 2


@pytest.mark.parametrize(
    ("properties", "operands", "error"),
    [
        (NEEDED, {"offsets": []}, "'test.every_kind' needs an operand 'source'"),
        (NEEDED, {"sauce": None}, "'test.every_kind' needs an operand 'source'"),
        (
            NEEDED,
            {"source": value(), "offset": [1]},
            "'test.every_kind' has no operand 'offset'; did you mean 'offsets'?",
        ),
        ({}, {"source": value(), "offsets": []}, "'test.every_kind' needs a property 'needed'"),
        (
            {**NEEDED, "default": integer_attr(1)},
            {"source": value(), "offsets": []},
            "'test.every_kind' has no property 'default'; did you mean 'defaulted'?",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    properties: Mapping[str, Attribute], operands: Mapping[str, Any], error: str
):
    with pytest.raises((TypeError, ValueError)) as raised:
        EveryKindOp(properties, **operands)
    assert str(raised.value) == error


def test_inference_sees_each_operand_of_the_definition():
    seen: list[Types] = []

    def infer(types: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        seen.append(types)
        assert properties["defaulted"] == integer_attr(7)
        return (i64,)

    op = EveryKindOp(
        NEEDED, infer, source=value(), more=[value(i64), value()], offsets=[value(INDEX)]
    )
    assert op.result.type == i64
    assert seen == [[f32, None, i64, INDEX]]


def test_an_inferring_op_takes_its_operands_in_order():
    assert DoubledOp(value()).result.type == f32
    assert DoubledOp(value(), value(i64)).result.type == i64
    assert DoubledOp(value(), None, result_types=[i64]).result.type == i64
    with pytest.raises(TypeError, match=r"'test\.doubled' takes 2 operands, got 3"):
        DoubledOp(value(), value(), value())


def test_inference_gives_one_type_a_result(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(DoubledOp, "COUNT", 2)
    with pytest.raises(DeclarationError, match="declares 1 results, and infers 2"):
        DoubledOp(value())
