"""Matrix products: on the cube core, from left and right into an accumulator."""

from xdsl.irdl import operand_def, opt_prop_def

from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.attributes import AccPhaseAttr
from pypto_xdsl.dialects.pto.declaration import PtoOp, Rule, declare, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.operands import READ_TILE, WRITE_TILE
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC
from pypto_xdsl.dialects.pto.syntax import TileOp

M = Pipe.M
UNSPECIFIED = AccPhaseAttr(w.Phase.UNSPECIFIED)

LONGEST = 4095
"""Greatest extent of a matrix product in any direction."""

PRODUCTS = {
    ("i8", "i8"): "i32",
    ("f16", "f16"): "f32",
    ("bf16", "bf16"): "f32",
    ("f32", "f32"): "f32",
}
"""Element type of the accumulator, by those of left and right."""


class MatmulOp(TileOp):
    """`dst = lhs @ rhs`"""

    lhs = operand_def(READ_TILE)
    rhs = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    acc_phase = opt_prop_def(word(AccPhaseAttr), default_value=UNSPECIFIED, prop_name="accPhase")


class MatmulAccOp(TileOp):
    """`dst = acc_in + lhs @ rhs`"""

    acc_in = operand_def(READ_TILE)
    lhs = operand_def(READ_TILE)
    rhs = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    acc_phase = opt_prop_def(word(AccPhaseAttr), default_value=UNSPECIFIED, prop_name="accPhase")


class MatmulBiasOp(TileOp):
    """`dst = a @ b + bias`, the bias a row"""

    a = operand_def(READ_TILE)
    b = operand_def(READ_TILE)
    bias = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    acc_phase = opt_prop_def(word(AccPhaseAttr), default_value=UNSPECIFIED, prop_name="accPhase")


def _spaces(lhs: str, rhs: str) -> tuple[Rule, ...]:
    return (
        r.in_space(AddressSpace.LEFT, lhs),
        r.in_space(AddressSpace.RIGHT, rhs),
        r.in_space(AddressSpace.ACC, "dst"),
    )


def _element_types(lhs: str, rhs: str) -> Rule:
    def check(op: PtoOp) -> str | None:
        got: list[str] = []
        for name in ("dst", lhs, rhs):
            tile = r.tile_of(op, name)
            assert tile is not None
            got.append(r.dtype_name(tile.element_type, signless=True))
        dst, left, right = got
        return None if PRODUCTS.get((left, right)) == dst else f"got ({', '.join(got)})"

    return Rule(
        f"(dst, {lhs}, {rhs}) element types to be one of (i32, i8, i8), (f32, f16, f16), "
        "(f32, bf16, bf16), (f32, f32, f32)",
        check,
    )


def _extents(lhs: str, rhs: str) -> tuple[Rule, Rule]:
    def shapes(op: PtoOp) -> str | None:
        left, right, dst = (r.tile_of(op, name) for name in (lhs, rhs, "dst"))
        assert left is not None
        assert right is not None
        assert dst is not None
        (m, k), (k2, n), (m2, n2) = left.get_shape(), right.get_shape(), dst.get_shape()
        if (m, k, n) == (m2, k2, n2):
            return None
        return f"got {m}x{k}, {k2}x{n} and {m2}x{n2}"

    def valid(op: PtoOp) -> str | None:
        left, right = r.tile_of(op, lhs), r.tile_of(op, rhs)
        assert left is not None
        assert right is not None
        for extent in (*left.valid_shape, right.valid_shape[1]):
            if extent != DYNAMIC and not 0 <= extent <= LONGEST:
                return f"got {extent}"
        return None

    return (
        Rule(f"shapes {lhs}[M,K], {rhs}[K,N] and dst[M,N]", shapes),
        Rule(f"m, k and n valid sizes to be in [0, {LONGEST}]", valid),
    )


def _vector_extents(lhs: str, rhs: str) -> tuple[Rule, ...]:
    def check(op: PtoOp) -> str | None:
        left, right, dst = (r.tile_of(op, name) for name in (lhs, rhs, "dst"))
        assert left is not None
        assert right is not None
        assert dst is not None
        for one, other, what in (
            (left.valid_shape[1], right.valid_shape[0], "k"),
            (right.valid_shape[1], dst.valid_shape[1], "n"),
        ):
            if DYNAMIC not in (one, other) and one != other:
                return f"got {one} and {other} for {what}"
        return None

    return (
        r.valid_dim_is(lhs, "row", (1,)),
        r.valid_dim_is("dst", "row", (1,)),
        Rule(f"valid shapes {lhs}[1,K], {rhs}[K,N] and dst[1,N]", check),
    )


_BIAS = (
    r.in_space(AddressSpace.BIAS, "bias"),
    r.dim_is("bias", "row", 1),
    r.same_dtype("bias", "dst"),
)
_ACC = (
    r.in_space(AddressSpace.ACC, "acc_in"),
    r.same_dtype("acc_in", "dst"),
    r.same_box("acc_in", "dst"),
)
_LHS = (*_spaces("lhs", "rhs"), _element_types("lhs", "rhs"))
_A = (*_spaces("a", "b"), _element_types("a", "b"))

TMatmulOp = declare(
    MatmulOp,
    "TMatmulOp",
    "tmatmul",
    "dst = lhs @ rhs",
    pipe=M,
    rules=[*_LHS, *_extents("lhs", "rhs")],
)
TMatmulAccOp = declare(
    MatmulAccOp,
    "TMatmulAccOp",
    "tmatmul.acc",
    "dst = acc_in + lhs @ rhs",
    pipe=M,
    rules=[*_LHS, *_extents("lhs", "rhs"), *_ACC],
    in_place=["acc_in"],
)
TMatmulBiasOp = declare(
    MatmulBiasOp,
    "TMatmulBiasOp",
    "tmatmul.bias",
    "dst = a @ b + bias, the bias added to each row",
    pipe=M,
    rules=[*_A, *_extents("a", "b"), *_BIAS],
)
TGemvOp = declare(
    MatmulOp,
    "TGemvOp",
    "tgemv",
    "dst = lhs @ rhs, lhs one row",
    pipe=M,
    rules=[*_LHS, *_vector_extents("lhs", "rhs")],
)
TGemvAccOp = declare(
    MatmulAccOp,
    "TGemvAccOp",
    "tgemv.acc",
    "dst = acc_in + lhs @ rhs, lhs one row",
    pipe=M,
    rules=[*_LHS, *_vector_extents("lhs", "rhs"), *_ACC],
    in_place=["acc_in"],
)
TGemvBiasOp = declare(
    MatmulBiasOp,
    "TGemvBiasOp",
    "tgemv.bias",
    "dst = a @ b + bias, a one row",
    pipe=M,
    rules=[*_A, *_vector_extents("a", "b"), *_BIAS],
)
