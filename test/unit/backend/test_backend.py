"""Passes ask the backend and never know: a second, made-up target proves it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.programs import program
from xdsl.dialects.builtin import ModuleOp, StringAttr, bf16, f16, f32, i8, i16, i32, i64
from xdsl.ir import Attribute, Operation

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.backend.ascend910b import BACKEND as ASCEND910B
from pypto_xdsl.backend.ascend910b.casts import CASTS
from pypto_xdsl.backend.backend import Backend, Cores, Memory
from pypto_xdsl.backend.cast_chains import cast_chain
from pypto_xdsl.backend.layout_spec import LayoutSpec
from pypto_xdsl.backend.product_unit import ProductUnit
from pypto_xdsl.backend.registry import ARCHITECTURES, BACKENDS, backend_of
from pypto_xdsl.backend.rule import Holds, Rule, TileRule
from pypto_xdsl.diagnostics import DiagnosticsError, OpError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import UI8, UI32
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.dialects.tile import MemorySpace, TileLayout, TileType
from pypto_xdsl.transforms.resolve_backend_op_layouts import (
    ResolveBackendOpLayoutsPass,
    resolve_layouts,
)
from pypto_xdsl.transforms.verify_target import illegal_ops

COLUMN = TileLayout.COL_MAJOR
ROW = TileLayout.ROW_MAJOR


def _even(type: TileType) -> Iterator[str]:
    if type.get_shape()[0] % 2:
        yield f"rows come in pairs, got {type}"


TOY = Backend(
    name="toy",
    arch="toy1",
    layouts={
        # The other way round than on the 910B.
        tile.NegOp: LayoutSpec.throughout(tile.NegOp, COLUMN),
        # Of an op with two results, one operand and one result.
        tile.GatherCompareOp: LayoutSpec({"source": COLUMN}, {"indices": COLUMN}),
        # Of an op without results.
        tile.TpushToAicOp: LayoutSpec({"tile": ROW}),
        tile.MscatterOp: LayoutSpec({"source": ROW, "indices": ROW}),
    },
    memories={MemorySpace.VEC: Memory(1024, 16)},
    moves=frozenset(),
    casts=frozenset({(f32, f16)}),
    cores=Cores(1, 2),
    product_unit=ProductUnit(1024, 1024, 1024, 1, 1, 1, 0, 1, 0, 0),
    rules={tile.NegOp: (Rule("halves only", Holds((f16,))),)},
    tile_rules=(TileRule("pairs of rows", _even),),
)


def kernel(body: str, parameters: str = "") -> ModuleOp:
    return program(f"orch.func incore @kernel({parameters}) {{\n{body}\norch.return\n}}")


def ops_of(module: ModuleOp) -> list[Operation]:
    (function,) = module.body.block.ops
    return list(function.regions[0].block.ops)


def repaired(module: ModuleOp, backend: Backend = TOY) -> list[str]:
    """The ops of the kernel after the repair, as text."""
    resolve_layouts(module, backend)
    assert not verify(module)
    again = module.clone()
    resolve_layouts(again, backend)
    assert again.is_structurally_equivalent(module), "the repair is idempotent"
    return [str(op) for op in ops_of(module)[:-1]]


def test_another_target_wants_columns():
    """A row is seen as a column, a matrix copied to columns; what the 910B wants is no matter."""
    texts = repaired(
        kernel(
            """
            %r = tile.create : !tile.tile<1x16xf32, vec>
            %n = tile.neg %r : !tile.tile<1x16xf32, vec>
            %m = tile.create : !tile.tile<16x32xf32, vec>
            %o = tile.neg %m : !tile.tile<16x32xf32, vec>
            %a = tile.abs %m : !tile.tile<16x32xf32, vec>
            """
        )
    )
    assert texts == [
        "%r = tile.create : !tile.tile<1x16xf32, vec>",
        "%n_arg0_turned = tile.reshape %r : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>",
        "%n_col_major = tile.neg %n_arg0_turned : !tile.tile<16x1xf32, vec>",
        "%n = tile.reshape %n_col_major : !tile.tile<16x1xf32, vec> -> !tile.tile<1x16xf32, vec>",
        "%m = tile.create : !tile.tile<16x32xf32, vec>",
        "%o_arg_col_major = tile.move %m : !tile.tile<16x32xf32, vec> "
        "-> !tile.tile<16x32xf32, vec, blayout = col_major>",
        "%o_col_major = tile.neg %o_arg_col_major : "
        "!tile.tile<16x32xf32, vec, blayout = col_major>",
        "%o = tile.move %o_col_major : !tile.tile<16x32xf32, vec, blayout = col_major> "
        "-> !tile.tile<16x32xf32, vec>",
        "%a = tile.abs %m : !tile.tile<16x32xf32, vec>",
    ]


def test_an_op_with_two_results():
    """Only the operand and the result that are constrained are touched; the other one stays."""
    texts = repaired(
        kernel(
            """
            %s = tile.create : !tile.tile<16x32xf32, vec>
            %t = tile.create : !tile.tile<16x32xui8, vec>
            %d, %c = tile.gather_compare %s, %k, %t, cmp_mode = gt, out_cols = 8 :
              !tile.tile<16x32xf32, vec>, f32, !tile.tile<16x32xui8, vec>
              -> !tile.tile<16x8xi32, vec>, !tile.tile<1x16xi32, vec>
            %u = tile.abs %d : !tile.tile<16x8xi32, vec>
            %v = tile.abs %c : !tile.tile<1x16xi32, vec>
            """,
            "in %k : f32",
        )
    )
    moved, gathered, restored, *users = texts[2:]
    assert "tile.move %s" in moved
    assert (
        "-> !tile.tile<16x8xi32, vec, blayout = col_major>, !tile.tile<1x16xi32, vec>" in gathered
    )
    assert gathered.startswith("%d_col_major, %c = tile.gather_compare %d_arg_col_major, %k, %t")
    assert restored.startswith("%d = tile.move %d_col_major")
    assert users == [
        "%u = tile.abs %d : !tile.tile<16x8xi32, vec>",
        "%v = tile.abs %c : !tile.tile<1x16xi32, vec>",
    ]


def test_an_op_without_results():
    """B-T8: nothing to restore; the op keeps its attributes."""
    texts = repaired(
        kernel(
            """
            %s = tile.create : !tile.tile<16x32xf32, vec, blayout = col_major>
            tile.tpush_to_aic %s, split = up_down : !tile.tile<16x32xf32, vec, blayout = col_major>
            """
        )
    )
    assert texts[1:] == [
        "%layout_fix_arg_row_major = tile.move %s : "
        "!tile.tile<16x32xf32, vec, blayout = col_major> -> !tile.tile<16x32xf32, vec>",
        "tile.tpush_to_aic %layout_fix_arg_row_major, split = up_down : !tile.tile<16x32xf32, vec>",
    ]


@pytest.mark.parametrize("backend", [TOY, ASCEND910B], ids=lambda b: b.name)
def test_a_scatter_to_global_memory(backend: Backend):
    """B-T8: both columns are seen as rows, the tensor is untouched and named as before."""
    texts = repaired(
        kernel(
            """
            %s = tile.create : !tile.tile<16x1xf32, vec>
            %i = tile.create : !tile.tile<16x1xi32, vec>
            %y1 = tile.mscatter %s, %i, %y :
              !tile.tile<16x1xf32, vec>, !tile.tile<16x1xi32, vec>, tensor<64xf32>
            """,
            "out %y : tensor<64xf32>",
        ),
        backend,
    )
    assert texts[2:] == [
        "%y1_arg0_turned = tile.reshape %s : !tile.tile<16x1xf32, vec> "
        "-> !tile.tile<1x16xf32, vec>",
        "%y1_arg1_turned = tile.reshape %i : !tile.tile<16x1xi32, vec> "
        "-> !tile.tile<1x16xi32, vec>",
        "%y1 = tile.mscatter %y1_arg0_turned, %y1_arg1_turned, %y : "
        "!tile.tile<1x16xf32, vec>, !tile.tile<1x16xi32, vec>, tensor<64xf32>",
    ]


def test_locations_are_those_of_the_op():
    module = kernel(
        "%r = tile.create : !tile.tile<1x16xf32, vec>\n%n = tile.neg %r : !tile.tile<1x16xf32, vec>"
    )
    location = ops_of(module)[1].location
    resolve_layouts(module, TOY)
    assert [op.location for op in ops_of(module)[1:4]] == [location] * 3


def test_another_target_has_other_rules():
    module = kernel(
        """
        %m = tile.create : !tile.tile<3x32xf32, vec>
        %n = tile.neg %m : !tile.tile<3x32xf32, vec>
        """
    )
    assert [d.message for d in illegal_ops(module, TOY)] == [
        "'tile.create' op breaks a rule of toy (pairs of rows): "
        "rows come in pairs, got !tile.tile<3x32xf32, vec>",
        "'tile.neg' op breaks a rule of toy (halves only): "
        "operand 'operand' holds f32, expected f16",
    ]
    assert not list(illegal_ops(module, ASCEND910B))


# Which backend a program has.


def test_a_program_without_a_target_has_no_backend():
    assert backend_of(ModuleOp([])) is None


def test_the_target_names_the_backend_and_the_option_overrides_it():
    targeted = ModuleOp([], {TARGET_ARCH: StringAttr("a2a3")})
    assert backend_of(targeted) is ASCEND910B
    assert backend_of(ModuleOp([]), "ascend910b") is ASCEND910B
    for arch in ("a2", "a3"):
        # What the frontend reads, passes know.
        assert backend_of(ModuleOp([], {TARGET_ARCH: StringAttr(arch)})) is ASCEND910B


def test_a_target_without_a_backend_is_an_error():
    with pytest.raises(OpError, match="has the target"):
        backend_of(ModuleOp([], {TARGET_ARCH: StringAttr("a5")}))
    with pytest.raises(OpError, match="has the target"):
        backend_of(ModuleOp([], {TARGET_ARCH: i32}))


def test_an_unknown_backend_is_a_wrong_option():
    with pytest.raises(ValueError, match="unknown backend 'ascend910'; did you mean 'ascend910b'"):
        ResolveBackendOpLayoutsPass(backend="ascend910")


def test_backends_agree_with_their_names():
    assert set(ARCHITECTURES.values()) <= set(BACKENDS)
    for name, load in BACKENDS.items():
        assert load().name == name
        assert ARCHITECTURES[load().arch] == name


# The 910B.


def test_the_table_of_layouts_names_operands_that_exist():
    for op_type, spec in ASCEND910B.layouts.items():
        assert issubclass(op_type, DeclaredOp)
        declared = op_type.declaration()
        assert set(spec.operands) <= {name for name, _ in declared.operands}, op_type.name
        assert set(spec.results) <= {name for name, _ in declared.results}, op_type.name


ROW_MAJOR = """
    add and fmod maximum minimum mul or part_add part_max part_min part_mul rem shl shr sub xor abs
    exp sqrt not relu prelu adds subs muls divs fmods maximums lrelu addsc subsc sels sel gatherb
    div log recip cast rsqrt sort32 mrgsort_format1 mrgsort_format2
"""


def test_which_ops_want_rows():
    """The whole table: all tiles, or some of them; no other op is constrained."""
    layouts = {op_type.name: spec for op_type, spec in ASCEND910B.layouts.items()}
    some = {"tile.cmps", "tile.mscatter", "tile.full", "tile.tri"}
    assert set(layouts) == {f"tile.{name}" for name in ROW_MAJOR.split()} | some
    for op_type, spec in ASCEND910B.layouts.items():
        assert {*spec.operands.values(), *spec.results.values()} == {ROW}
        if op_type.name not in some:
            assert issubclass(op_type, DeclaredOp)
            assert spec == LayoutSpec.throughout(op_type, ROW)
    assert layouts["tile.cmps"] == LayoutSpec({"lhs": ROW}, {"result": ROW})
    assert layouts["tile.mscatter"] == LayoutSpec({"source": ROW, "indices": ROW})
    assert layouts["tile.full"] == layouts["tile.tri"] == LayoutSpec(results={"result": ROW})


def test_no_op_with_several_results_has_its_results_constrained():
    for op_type, spec in ASCEND910B.layouts.items():
        assert issubclass(op_type, DeclaredOp)
        assert len(op_type.declaration().results) < 2 or not spec.results


def test_memories():
    sizes = {space.value: memory.size for space, memory in ASCEND910B.memories.items()}
    kib = 1024
    assert sizes == {
        "vec": 184 * kib,
        "mat": 512 * kib,
        "left": 64 * kib,
        "right": 64 * kib,
        "acc": 128 * kib,
        "bias": kib,
    }
    aligned = {space.value: memory.alignment for space, memory in ASCEND910B.memories.items()}
    assert aligned == {"vec": 32, "mat": 32, "left": 512, "right": 512, "acc": 512, "bias": 32}
    assert ASCEND910B.cores == Cores(cube=24, vector=48)


def test_moves():
    assert {(a.value, b.value) for a, b in ASCEND910B.moves} == {
        ("mat", "left"),
        ("mat", "right"),
        ("mat", "bias"),
        ("acc", "mat"),
        ("vec", "vec"),
    }


# What PyPTO's documentation lists for the 910B, and what follows from the same rule.
CHAINS: dict[tuple[Attribute, Attribute], tuple[Attribute, ...] | None] = {
    (f32, f16): (),
    (bf16, f16): (f32,),
    (bf16, i16): (f32,),
    (bf16, i8): (f32, f16),
    (f32, i8): (f16,),
    (f32, UI8): (f16,),
    (i16, bf16): (f32,),
    (i16, i8): (f16,),
    (i32, bf16): (f32,),
    (i32, UI8): (f16,),
    (i64, f16): (f32,),
    (i64, bf16): (f32,),
    (i64, i16): (i32,),
    (UI8, i8): (f16,),
    (f16, bf16): (f32,),
    # Every i16 is an f32.
    (i16, i32): (f32,),
    (i8, f32): (f16,),
    (i8, i32): (f16,),
    # No f32 holds every i64 or i32 that the other end does.
    (i8, i64): (f16, f32),
    (i32, UI32): None,
}


@pytest.mark.parametrize(("pair", "chain"), CHAINS.items())
def test_cast_chains(pair: tuple[Attribute, Attribute], chain: tuple[Attribute, ...] | None):
    assert cast_chain(CASTS, *pair) == chain


def test_each_rule_is_about_an_op_on_tiles():
    for op_type, rules in ASCEND910B.rules.items():
        assert op_type.name.startswith("tile.")
        assert rules


def test_errors_are_collected():
    module = program(
        """
        builtin.module attributes {pto.target_arch = "a2a3"} {
        orch.func incore @kernel() {
          %m = tile.create : !tile.tile<16x16xf32, vec>
          %c = tile.create : !tile.tile<16x1xf32, vec>
          %a = tile.add %m, %c : !tile.tile<16x16xf32, vec>, !tile.tile<16x1xf32, vec>
            -> !tile.tile<16x16xf32, vec>
          %b = tile.sub %m, %c : !tile.tile<16x16xf32, vec>, !tile.tile<16x1xf32, vec>
            -> !tile.tile<16x16xf32, vec>
          orch.return
        }
        }
        """
    )
    before = str(module)
    with pytest.raises(DiagnosticsError) as error:
        resolve_layouts(module, ASCEND910B)
    assert len(error.value.diagnostics) == 2
    assert str(module) == before
