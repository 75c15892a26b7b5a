"""
What the ops declare: contradictions are found when a dialect is loaded, and the facts that passes
ask for are those of the hardware.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import DYNAMIC_INDEX, f16, f32, i1, i8, i16, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects import pld, ptensor, tile
from pypto_xdsl.dialects.declaration_checks import check_declarations
from pypto_xdsl.dialects.declared_op import (
    DeclarationError,
    DeclaredOp,
    Effect,
    OperandDeclaration,
    lives_in,
    lives_with,
    names,
    reads,
    workspace,
    writes,
)
from pypto_xdsl.dialects.element_types import UI8, UI16, UI32
from pypto_xdsl.dialects.ptensor import CompareMode, tensor_type
from pypto_xdsl.dialects.ptensor.types import TENSOR
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp
from pypto_xdsl.dialects.typed_op import Types

VEC = (MemorySpace.VEC,)
T = TileType((32, 64), f32, MemorySpace.VEC)


def value(type: Attribute) -> SSAValue:
    return test.TestOp(result_types=[type]).results[0]


def declared_ops() -> Iterable[type[DeclaredOp]]:
    for dialect in (tile.Tile, ptensor.PTensor, pld.Pld):
        for op in dialect.operations:
            assert issubclass(op, DeclaredOp)
            yield op


DECLARED = list(declared_ops())
MULTI_OUTPUT = [op for op in DECLARED if len(op.declaration().results) > 1]


class TwoResults(InferringTileOp):
    """A multi-output op as it should be; the broken ones differ in one declaration."""

    source = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    first = result_def(lives_in(MemorySpace.VEC, TILE))
    second = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return (TileType.of(operands[0]), TileType.of(operands[0]))


@irdl_op_definition
class UndeclaredOp(TwoResults):
    name = "broken.undeclared"

    source = operand_def(TILE)
    tmp = operand_def(workspace(TILE, spaces=VEC))


@irdl_op_definition
class DestinationOp(TwoResults):
    name = "broken.destination"

    source = operand_def(reads(TILE))
    tmp = operand_def(workspace(TILE))
    dst = operand_def(writes(TILE))


@irdl_op_definition
class ResolvedDestinationOp(TwoResults):
    """Its destination is written for some attributes only, which is as bad."""

    name = "broken.resolved_destination"

    source = operand_def(reads(TILE))
    dst = operand_def(OperandDeclaration(TILE, Effect.READ, resolve=lambda op: Effect.WRITE))


@irdl_op_definition
class TypoOp(TwoResults):
    name = "broken.typo"
    NOT_IN_PLACE_WITH: ClassVar[tuple[str, ...]] = ("tpm",)

    second = result_def(lives_with("sorce", TILE))


@irdl_op_definition
class UnwrittenWorkspaceOp(TwoResults):
    name = "broken.unwritten_workspace"

    source = operand_def(reads(TILE))
    tmp = operand_def(OperandDeclaration(TILE, Effect.READ, workspace=True))


@irdl_op_definition
class AliasOp(TwoResults):
    name = "broken.alias"

    second = result_def(names("source", TILE))


@irdl_op_definition
class UnclassifiedAliasOp(InferringTileOp):
    """Of a single result: it names an operand of which nobody said what happens to it."""

    name = "broken.unclassified_alias"

    source = operand_def(TILE)
    result = result_def(names("source", TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return (TileType.of(operands[0]),)


@irdl_op_definition
class UnplacedOp(InferringTileOp):
    """A tile result of which nobody said where it lives."""

    name = "broken.unplaced"

    source = operand_def(reads(TILE))
    result = result_def(TILE)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return (TileType.of(operands[0]),)


def test_a_sound_op_passes():
    check_declarations(MULTI_OUTPUT)
    check_declarations([])


@pytest.mark.parametrize(
    ("op", "group", "offender"),
    [
        # D-S1: an operand that nobody classified.
        (UndeclaredOp, "declare the effect on every operand", "operand 'source'"),
        # D-S2: a written operand that is no workspace.
        (
            DestinationOp,
            "say `workspace`, or a destination, then make it a result",
            "operand 'dst'",
        ),
        (ResolvedDestinationOp, "or a destination, then make it a result", "operand 'dst'"),
        # D-S3: a marker that names nothing, with what there is.
        (
            TypoOp,
            "declarations speak of operands that the op has",
            "NOT_IN_PLACE_WITH speaks of 'tpm', the operands are 'source', 'tmp'",
        ),
        (TypoOp, "speak of operands", "result 'second' speaks of 'sorce'"),
        # D-S4, D-S10: scratch that is never written.
        (UnwrittenWorkspaceOp, "scratch is written by definition", "operand 'tmp'"),
        # D-S5: "reuses input" with several results.
        (AliasOp, "of several results none names the buffer", "result 'second' names 'source'"),
        (UnclassifiedAliasOp, "has a declared effect", "result 'result' names 'source'"),
        (UnplacedOp, "or place to live", "result 'result'"),
    ],
)
def test_each_contradiction_is_named(op: type[DeclaredOp], group: str, offender: str):
    with pytest.raises(DeclarationError) as error:
        check_declarations([op])
    found = str(error.value)
    assert group in found
    assert f"  {op.name}: {offender}" in found


def test_all_offenders_are_reported_together_sorted_in_groups():
    ops = [TypoOp, AliasOp, UndeclaredOp, ResolvedDestinationOp, DestinationOp]
    with pytest.raises(DeclarationError) as error:
        check_declarations(ops)
    offenders = [
        line.strip().split(":")[0] for line in str(error.value).splitlines() if "  " in line
    ]
    assert offenders == [
        "broken.undeclared",
        "broken.destination",
        "broken.resolved_destination",
        "broken.typo",
        "broken.typo",
        "broken.alias",
        "broken.undeclared",
    ]


@pytest.mark.parametrize("op", MULTI_OUTPUT, ids=lambda op: op.name)
def test_every_multi_output_op_keeps_the_contract(op: type[DeclaredOp]):
    """D-S9: a new one is checked without anyone remembering."""
    declaration = op.declaration()
    for name, operand in declaration.operands:
        assert operand.effect is not None, name
        assert operand.workspace or not operand.may_write, name
        assert not operand.workspace or operand.effect is Effect.WRITE, name
    for name, result in declaration.results:
        assert result.names is None, name


def test_there_are_multi_output_ops():
    assert {op.name for op in MULTI_OUTPUT} == {"tile.gather_compare", "ptensor.gather_compare"}


@pytest.mark.parametrize("op", DECLARED, ids=lambda op: op.name)
def test_every_op_has_a_meaning_in_words(op: type[DeclaredOp]):
    assert op.__doc__
    assert op.__doc__.strip()
    assert op.__doc__ != op.__bases__[0].__doc__


@pytest.mark.parametrize("op", DECLARED, ids=lambda op: op.name)
def test_every_tile_and_tensor_is_classified(op: type[DeclaredOp]):
    """D-R58, D-R92: no tile op without a place for its tiles, no write that nobody declared."""
    check_declarations([op])


# What an op is built from: D.4.


def test_inference_that_disagrees_with_the_definition_is_an_internal_error():
    """D-S6, D-S7, D-S8: one result too few, and one too many."""

    @irdl_op_definition
    class TooFewOp(TwoResults):
        name = "broken.too_few"

        @classmethod
        def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
            return (TileType.of(operands[0]),)

    @irdl_op_definition
    class TooManyOp(TwoResults):
        name = "broken.too_many"

        @classmethod
        def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
            return (T, T, T)

    with pytest.raises(DeclarationError, match=r"too_few' declares 2 results, and infers 1"):
        TooFewOp(value(T), value(T))
    with pytest.raises(DeclarationError, match=r"too_many' declares 2 results, and infers 3"):
        TooManyOp(value(T), value(T))


def test_what_an_op_is_built_from_is_checked():
    with pytest.raises(ValueError, match="no property 'high_precison'; did you mean"):
        tile.LogOp(value(T), properties={"high_precison": i32})
    with pytest.raises(ValueError, match=r"'tile.cast' needs a property 'target_type'"):
        tile.InferringTileOp.__init__(tile.CastOp.__new__(tile.CastOp), value(T))
    with pytest.raises(TypeError, match=r"'tile.add' needs an operand 'rhs'"):
        tile.AddOp(value(T))
    with pytest.raises(TypeError, match=r"'tile.add' takes 2 operands, got 3"):
        tile.AddOp(value(T), value(T), value(T))


def test_the_accumulator_is_reached_by_products_only():
    """No move leads to L0C on any target, so that another space there is wrong at once."""
    product = TileType((16, 32), f32, MemorySpace.ACC)
    left = value(TileType((16, 64), f16, MemorySpace.LEFT))
    right = value(TileType((64, 32), f16, MemorySpace.RIGHT))
    assert tile.MatmulAccOp(value(product), left, right).result.type == product
    with pytest.raises(VerifyException, match="acc should be in acc memory"):
        tile.MatmulAccOp(value(TileType((16, 32), f32, MemorySpace.VEC)), left, right)


# tile.gather_compare: D.5.


def gather_compare(
    source: Attribute = f32,
    kvalue: Attribute | None = None,
    mode: CompareMode = CompareMode.EQ,
    count_dtype: Attribute = i32,
    offset: int = 0,
) -> tile.GatherCompareOp:
    return tile.GatherCompareOp(
        value(TileType((32, 64), source, MemorySpace.VEC)),  # pyright: ignore[reportArgumentType]
        value(kvalue or source),
        value(TileType((32, 64), UI8, MemorySpace.VEC)),
        cmp_mode=mode,
        out_cols=8,
        offset=offset,
        count_dtype=count_dtype,
    )


@pytest.mark.parametrize("dtype", [f16, f32, i16, i32], ids=str)
def test_gather_compare_types(dtype: Attribute):
    """D-T1, M1: two results in the vector buffer; the counts are one row of as many as rows."""
    op = gather_compare(dtype)
    assert op.indices.type == TileType((32, 8), i32, MemorySpace.VEC)
    assert op.counts.type == TileType((1, 32), i32, MemorySpace.VEC)
    op.verify()


@pytest.mark.parametrize("dtype", [UI16, UI32, UI8, i64], ids=str)
def test_gather_compare_refuses_other_sources(dtype: Attribute):
    """D-T2."""
    with pytest.raises(VerifyException, match="src dtype"):
        gather_compare(dtype)


def test_gather_compare_refuses_another_threshold():
    """D-T3."""
    with pytest.raises(VerifyException, match="kvalue dtype"):
        gather_compare(f32, f16)


def test_gather_compare_attributes():
    """D-T4, D-T5, D-T6, D-T9."""
    assert gather_compare().offset.value.data == 0
    op = gather_compare(mode=CompareMode.GT, offset=4)
    assert (op.cmp_mode.data, op.offset.value.data) == (CompareMode.GT, 4)
    assert gather_compare(mode=CompareMode.LT).cmp_mode.data is CompareMode.LT
    counted = gather_compare(count_dtype=UI32)
    assert counted.counts.type == TileType((1, 32), UI32, MemorySpace.VEC)
    assert counted.indices.type == TileType((32, 8), i32, MemorySpace.VEC)


def test_gather_compare_has_inputs_only():
    """D-T10: destinations are results."""
    declaration = tile.GatherCompareOp.declaration()
    assert [name for name, _ in declaration.operands] == ["source", "kvalue", "tmp"]
    assert [name for name, _ in declaration.results] == ["indices", "counts"]
    assert declaration.workspaces == ("tmp",)
    assert [operand.effect for _, operand in declaration.operands] == [
        Effect.READ,
        Effect.READ,
        Effect.WRITE,
    ]
    op = gather_compare()
    assert not op.may_share_storage(op.source)
    assert not op.may_share_storage(op.tmp)


@pytest.mark.parametrize("dtype", [f16, f32, i16, i32], ids=str)
def test_tensor_gather_compare(dtype: Attribute):
    """D-T11, with a number of rows known only at run time, by its symbol."""
    source = value(tensor_type(("M", 64), dtype))
    op = ptensor.GatherCompareOp(source, value(dtype), cmp_mode=CompareMode.GT, out_cols=8)
    assert op.indices.type == tensor_type(("M", 8), i32)
    assert op.counts.type == tensor_type((1, "M"), i32)
    assert len(ptensor.GatherCompareOp.declaration().operands) == 2


def test_tensor_gather_compare_refuses_other_inputs():
    """D-T12."""
    with pytest.raises(VerifyException, match="input dtype"):
        ptensor.GatherCompareOp(
            value(tensor_type((32, 64), UI16)), value(UI16), cmp_mode=CompareMode.EQ, out_cols=8
        )


# Effects and names that passes rely on: D-R74 to D-R93.


def effects(op: DeclaredOp) -> dict[str, Effect]:
    return {
        name: op.effect_on(name)
        for name, operand in op.declaration().operands
        if operand.constraint in (TILE, TENSOR)
    }


def test_declared_writes():
    """D-R79: what each op writes, of those that write an operand."""
    written = {
        op.name: tuple(n for n, o in op.declaration().operands if o.may_write and not o.workspace)
        for op in DECLARED
    }
    assert {name: operands for name, operands in written.items() if operands} == {
        "pld.system.notify": ("target",),
        "pld.tile.put": ("destination",),
        # The slots of a ring are the cores' on both ends.
        "tile.aic_initialize_pipe": ("gm_slot_buffer",),
        "tile.aiv_initialize_pipe": ("gm_slot_buffer",),
        "ptensor.assemble": ("destination",),
        "ptensor.expand_clone": ("target",),
        "ptensor.write": ("destination",),
        "tile.assemble": ("destination",),
        "tile.batch_matmul_acc": ("acc",),
        "tile.fillpad_inplace": ("source",),
        "tile.gather_row": ("destination",),
        "tile.gemv_acc": ("acc",),
        "tile.matmul_acc": ("acc",),
        "tile.mgather": ("scratch",),
        "tile.mscatter": ("destination",),
        "tile.scatter": ("destination",),
        "tile.scatter_mask": ("destination",),
        "tile.scatter_update": ("destination",),
        "tile.store": ("destination",),
        "tile.syncall": ("gm_workspace",),
        "tile.write": ("destination",),
    }


def test_declared_names():
    """D-R93: which operand's buffer the result is; writing does not imply it, nor the reverse."""
    named = {
        op.name: op.declaration().results[0][1].names
        for op in DECLARED
        if op.declaration().results and op.declaration().results[0][1].names
    }
    assert named == {
        "ptensor.assemble": "destination",
        "ptensor.expand_clone": "target",
        "ptensor.reinterpret_view": "source",
        "ptensor.reshape": "source",
        "ptensor.set_validshape": "source",
        "ptensor.slice": "source",
        "ptensor.transpose": "source",
        "ptensor.type_cast": "source",
        "ptensor.updated": "source",
        "ptensor.view": "source",
        "ptensor.write": "destination",
        "tile.assemble": "destination",
        "tile.batch_matmul_acc": "acc",
        "tile.fillpad_inplace": "source",
        "tile.gather_row": "destination",
        "tile.gemv_acc": "acc",
        "tile.matmul_acc": "acc",
        "tile.mscatter": "destination",
        "tile.place": "source",
        "tile.reinterpret_view": "source",
        "tile.reshape": "source",
        "tile.scatter": "destination",
        "tile.scatter_mask": "destination",
        "tile.scatter_update": "destination",
        "tile.set_validshape": "source",
        "tile.slice": "source",
        "tile.store": "destination",
        "tile.transpose_view": "source",
        "tile.write": "destination",
    }


def test_effects_that_depend_on_attributes():
    """D-R80 to D-R84: atomic writes read, notification accumulates unless it sets."""
    tensor = value(tensor_type((128, 64), f32))
    plain = tile.StoreOp(value(T), tensor, [0, 0])
    atomic = tile.StoreOp(value(T), tensor, [0, 0], atomic=ptensor.AtomicKind.ADD)
    assert plain.effect_on("destination") is Effect.WRITE
    assert atomic.effect_on("destination") is Effect.READ_WRITE
    part = value(tensor_type((32, 64), f32))
    written = ptensor.AssembleOp(part, tensor, [0, 0])
    added = ptensor.AssembleOp(part, tensor, [0, 0], atomic=ptensor.AtomicKind.ADD)
    assert written.effect_on("destination") is Effect.WRITE
    assert added.effect_on("destination") is Effect.READ_WRITE
    signal, number = value(tensor_type((16,), i32)), value(i32)
    notify = pld.NotifyOp(signal, [0], number, number)
    assert notify.effect_on("target") is Effect.READ_WRITE
    sets = pld.NotifyOp(signal, [0], number, number, pld.NotifyKind.SET)
    assert sets.effect_on("target") is Effect.WRITE


@pytest.mark.parametrize(
    ("space", "coalesce", "effect"),
    [
        (MemorySpace.MAT, tile.Coalesce.ELEM, Effect.WRITE),
        (MemorySpace.MAT, tile.Coalesce.ROW, Effect.READ),
        (MemorySpace.VEC, tile.Coalesce.ELEM, Effect.READ),
    ],
)
def test_mgather_scratch(space: MemorySpace, coalesce: tile.Coalesce, effect: Effect):
    """D-R83: scratch in global memory is written on the way to L1, by element, alone."""
    op = tile.MgatherOp(
        value(tensor_type((128, 64), f32)),
        value(tensor_type((16, 64), i32)),
        TileType((16, 64), f32, space),
        value(tensor_type((128, 64), f32)),
        coalesce=coalesce,
    )
    assert op.effect_on("scratch") is effect


def test_a_hard_syncall_leaves_the_workspace_alone():
    """D-R90."""
    space = value(tensor_type((16,), i32))
    assert tile.SyncallOp(space).effect_on("gm_workspace") is Effect.READ
    soft = tile.SyncallOp(space, mode=tile.SyncMode.SOFT)
    assert soft.effect_on("gm_workspace") is Effect.READ_WRITE


# Memory spaces: D-R31 to D-R57.


def spaces(op: type[DeclaredOp]) -> tuple[tuple[tuple[str, ...], ...], str | None]:
    declaration = op.declaration()
    operands = tuple(
        operand.spaces for _, operand in declaration.operands if operand.constraint == TILE
    )
    return operands, declaration.results[0][1].space


@pytest.mark.parametrize(
    ("op", "operands", "result"),
    [
        (tile.MatmulOp, (("left",), ("right",)), "acc"),
        (tile.MatmulAccOp, (("acc",), ("left",), ("right",)), None),
        (tile.MatmulBiasOp, (("left",), ("right",), ("bias",)), "acc"),
        (tile.GemvOp, (("left",), ("right",)), "acc"),
        (tile.GemvAccOp, (("acc",), ("left",), ("right",)), None),
        (tile.GemvBiasOp, (("left",), ("right",), ("bias",)), "acc"),
        (tile.BatchMatmulOp, (("left",), ("right",)), "acc"),
        (tile.StoreOp, (("vec", "acc"),), None),
        (tile.AddOp, (("vec",), ("vec",)), "vec"),
        (tile.NegOp, (("vec",),), "vec"),
        (tile.AddsOp, (("vec",),), "vec"),
        (tile.RowSumOp, (("vec",), ("vec",)), "vec"),
        (tile.RowExpandAddOp, (("vec",), ("vec",), ("vec",)), "vec"),
        (tile.FullOp, (), "vec"),
        (tile.LoadOp, (), None),
        (tile.MoveOp, ((),), None),
        (tile.CreateOp, (), None),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_spaces(op: type[DeclaredOp], operands: tuple[tuple[str, ...], ...], result: str | None):
    assert spaces(op) == (operands, result)


@pytest.mark.parametrize(
    "op", [tile.ReshapeOp, tile.SliceOp, tile.TransposeOp, tile.AssembleOp, tile.SetValidShapeOp]
)
def test_views_live_where_their_operand_does(op: type[DeclaredOp]):
    """D-R35."""
    assert op.declaration().results[0][1].space_of in ("source", "destination")


def test_a_result_lives_where_its_op_puts_it():
    misplaced = tile.AddOp.create(
        operands=[value(T), value(T)], result_types=[T.with_space(MemorySpace.MAT)]
    )
    with pytest.raises(VerifyException, match=r"result.* should be"):
        misplaced.verify()


# In-place safety: the ops that must not write over what they still read.


def test_in_place_safety():
    unsafe = {op.name for op in DECLARED if not op.IN_PLACE and op.name.startswith("tile.")}
    listed = """
        ands fillpad_expand fmod ors xors recip rsqrt prelu
        row_sum row_max row_min row_prod row_argmax row_argmin col_argmax col_argmin
        concat extract transpose gather gather_mask gather_compare gatherb mgather
        sort32 mrgsort_format1 mrgsort_format2 move aiv_shard aic_gather
    """
    assert unsafe >= {f"tile.{name}" for name in listed.split()}
    assert tile.RowExpandMulOp.NOT_IN_PLACE_WITH == ("vector",)
    assert tile.ColExpandMulOp.NOT_IN_PLACE_WITH == ("vector",)
    assert tile.SelOp.NOT_IN_PLACE_WITH == ("mask", "tmp")
    assert tile.SelsOp.NOT_IN_PLACE_WITH == ("mask",)


# Side effects that no operand shows.


def test_synchronisation_is_never_removed():
    barrier, pure = tile.BarAllOp(), tile.AddOp(value(T), value(T))
    assert not is_side_effect_free(barrier)
    assert is_side_effect_free(pure)


def test_conditions_of_products_are_truth_values():
    acc = value(TileType((16, 32), f32, MemorySpace.ACC))
    left = value(TileType((16, 64), f16, MemorySpace.LEFT))
    right = value(TileType((64, 32), f16, MemorySpace.RIGHT))
    tile.MatmulAccOp(acc, left, right, value(i1)).verify()
    with pytest.raises(VerifyException):
        tile.MatmulAccOp(acc, left, right, value(i8)).verify()


def test_extents_known_at_run_time_are_inferred():
    partial = TileType((32, 64), f32, MemorySpace.VEC, valid=(DYNAMIC_INDEX, 64))
    assert tile.ExpOp(value(partial)).result.type == partial
    summed = tile.RowSumOp(value(partial), value(T)).result.type
    assert summed == TileType((32, 1), f32, MemorySpace.VEC, valid=(DYNAMIC_INDEX, 1))
