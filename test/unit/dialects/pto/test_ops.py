"""Building ops, and what planning and interpreters ask of them."""

from __future__ import annotations

import pytest
from pto_programs import FORMS, parse
from xdsl.dialects import test
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, f16, f32, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import MemoryEffectKind, Pure, get_effects, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace, Pipe, Role

TILE = pto.TileBufType((32, 32), f32)


def value(type_: Attribute = TILE) -> SSAValue:
    return test.TestOp(result_types=[type_]).results[0]


def test_operands_in_the_order_of_the_text() -> None:
    a, b, c = value(), value(), value()
    op = pto.TAddOp(a, b, c)
    op.verify()
    assert (op.operand("src0"), op.operand("src1"), op.operand("dst")) == (a, b, c)
    # The order of the text, not that of the operands: `ins(%src, %tmp) outs(%dst)`.
    sqrt = pto.TRsqrtOp(a, b, c)
    assert (sqrt.operand("src"), sqrt.operand("tmp"), sqrt.operand("dst")) == (a, b, c)


def test_operands_and_properties_by_name() -> None:
    source, dst = value(), value(TILE.with_(element_type=f16))
    op = pto.TCvtOp(source, dst=dst, rmode=pto.RoundMode.RINT)
    op.verify()
    assert op.optional_operand("tmp") is None
    assert op.properties["rmode"] == pto.RoundModeAttr(pto.RoundMode.RINT)
    with pytest.raises(KeyError, match="has no operand temporary"):
        op.optional_operand("temporary")
    with pytest.raises(KeyError, match="has no tmp"):
        op.operand("tmp")


def test_mistakes_in_building() -> None:
    a = value()
    with pytest.raises(ValueError, match="takes at most 3 operands, got 4"):
        pto.TAddOp(a, a, a, a)
    with pytest.raises(ValueError, match="no free operand or property src2"):
        pto.TAddOp(a, a, a, src2=a)
    with pytest.raises(ValueError, match="no free operand or property src0"):
        pto.TAddOp(a, a, a, src0=a)


def test_properties_at_their_default_are_left_out() -> None:
    op = pto.TExpOp(value(), value(), precision_type=pto.Precision.DEFAULT)
    assert not op.properties


def test_addresses() -> None:
    zero = ConstantOp(IntegerAttr(4096, i64))
    op = pto.AllocTileOp(addr=zero.result, result_types=[TILE])
    op.verify()
    assert pto.constant_value(op.operand("addr")) == 4096
    assert op.ALLOCATES
    assert op.aliased is None


@pytest.mark.parametrize(
    ("op", "reads", "writes", "workspaces", "pipe"),
    [
        (pto.TAddOp, ["src0", "src1"], ["dst"], [], Pipe.V),
        (pto.TRowSumOp, ["src"], ["dst"], ["tmp"], Pipe.V),
        (pto.TSelOp, ["mask", "src0", "src1"], ["dst"], ["tmp"], Pipe.V),
        (pto.TSort32Op, ["src", "idx"], ["dst"], ["tmp"], Pipe.V),
        # One element of a tile changes; the others stay.
        (pto.TSetValOp, ["dst"], ["dst"], [], Pipe.S),
    ],
)
def test_roles(
    op: type[pto.PtoOp], reads: list[str], writes: list[str], workspaces: list[str], pipe: Pipe
) -> None:
    roles = {info.name: info.role for info in op.DECLARATION.operands}
    assert [name for name, role in roles.items() if role.reads] == reads
    assert [n for n, role in roles.items() if role in (Role.WRITE, Role.UPDATE)] == writes
    assert [name for name, role in roles.items() if role == Role.SCRATCH] == workspaces
    assert op.DECLARATION.pipe == pipe


def test_accumulating_reads_and_writes_the_accumulator() -> None:
    acc = TILE.with_(
        space=AddressSpace.ACC,
        config=(pto.BLayout.COL_MAJOR, pto.SLayout.ROW_MAJOR, 1024, pto.Pad.NULL, pto.Compact.NULL),
    )
    left = TILE.with_(
        element_type=f16,
        space=AddressSpace.LEFT,
        config=(pto.BLayout.ROW_MAJOR, pto.SLayout.ROW_MAJOR, 512, pto.Pad.NULL, pto.Compact.NULL),
    )
    right = left.with_(
        space=AddressSpace.RIGHT,
        config=(pto.BLayout.ROW_MAJOR, pto.SLayout.COL_MAJOR, 512, pto.Pad.NULL, pto.Compact.NULL),
    )
    total, a, b = value(acc), value(left), value(right)
    op = pto.TMatmulAccOp(total, a, b, total)
    op.verify()
    assert op.reads == (total, a, b)
    assert op.writes == (total,)
    assert op.pipe == Pipe.M
    assert op.may_share("acc_in")


def test_effects_name_the_operand() -> None:
    a, b, c = value(), value(), value()
    effects = get_effects(pto.TAddOp(a, b, c))
    assert effects is not None
    assert {(e.kind, e.value) for e in effects} == {
        (MemoryEffectKind.READ, a),
        (MemoryEffectKind.READ, b),
        (MemoryEffectKind.WRITE, c),
    }


def test_views_are_pure_and_alias() -> None:
    tile = value()
    reshape = pto.TReshapeOp(tile, result_types=[TILE.with_(shape=(64, 16), valid_shape=(64, 16))])
    reshape.verify()
    assert reshape.aliased is tile
    assert is_side_effect_free(reshape)
    bits = pto.BitcastOp(tile, result_types=[TILE.with_(element_type=i32)])
    bits.verify()
    assert bits.aliased is tile


def test_parts_of_a_tile() -> None:
    tile = value()
    at = ConstantOp(IntegerAttr(16, IndexType()))
    type_ = pto.SubViewOp.result_type(TILE, [32, 16])
    assert type_ == TILE.with_(shape=(32, 16), valid_shape=(32, 16))
    op = pto.SubViewOp(tile, offsets=[at, at], sizes=[32, 16], result_types=[type_])
    with pytest.raises(VerifyException, match="window to lie in the source"):
        op.verify()


def test_every_op_answers() -> None:
    """The questions have an answer for every op of every form."""
    for path in sorted(FORMS.glob("*.pto")):
        if path.name.startswith("invalid_"):
            continue
        for op in parse(path.read_text()).walk():
            if not isinstance(op, pto.PtoOp):
                continue
            assert op.pipe is None or isinstance(op.pipe, Pipe)
            # Each operand has one role, in order.
            assert [v for _, _, v in op.roles()] == list(op.operands)
            assert set(op.reads) <= set(op.operands)
            if op.ALIASES is not None and op.has_trait(Pure):
                assert op.aliased in op.operands
            # An op that issues an instruction on tiles writes something, or does more than that.
            if op.pipe is not None:
                assert op.writes or op.results or op.HAS_SIDE_EFFECTS, op.name


def test_in_place_sources_are_of_the_same_element_width() -> None:
    """What may be written over what is read has as many bytes an element."""
    for path in sorted(FORMS.glob("*.pto")):
        if path.name.startswith("invalid_"):
            continue
        for op in parse(path.read_text()).walk():
            if not isinstance(op, pto.PtoOp):
                continue
            for name in op.DECLARATION.in_place:
                source, dst = op.optional_operand(name), op.writes[0]
                if source is None or not isinstance(source.type, pto.TileBufType):
                    continue  # A number where the other forms have a tile.
                assert isinstance(dst.type, pto.TileBufType)
                bits = pto.element_bits(dst.type.element_type)
                assert pto.element_bits(source.type.element_type) == bits, op.name
