"""
What becomes of an op on whole tensors once its operands are tiles.

A `ptensor` op and the `tile` op of the same name compute the same function: operands and
properties go by name, scratch is made where the tile op asks for it, result types follow. What
the tile op does not do for itself is put before it:

* Operands are cast to the element type of the result.
* A row or a column that meets a matrix is expanded: by the fused op where there is one
  (`tile.row_expand_sub`), and by `tile.row_expand` or `tile.col_expand` before the op otherwise.
  `column - matrix` is not `matrix - column`: the fused op takes the matrix first, so only an op
  that commutes may swap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    BoolAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, VarOperandDef
from xdsl.traits import Commutative
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import UI8, as_element_type
from pypto_xdsl.dialects.ptensor import RoundMode, valid_shape_of
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.dialects.tile.base import InferringTileOp
from pypto_xdsl.dialects.tile.counterparts import counterpart_on_tiles
from pypto_xdsl.dialects.tile.types import implicit_layout
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.tile_merges import brought_to, cast_valid
from pypto_xdsl.syntax.op_syntax import segments_property


def tile_type_of(type: Attribute, origin: Operation) -> TileType:
    """
    The type of the tile that holds a whole tensor; its memory space is not known yet.

    Raises `OpError` at `origin` for a tensor that no tile can hold, as one whose extents are known
    only at run time.
    """
    tensor = ptensor.tensor_of(type)
    if DYNAMIC_INDEX in tensor.get_shape():
        raise OpError(
            origin,
            f"computes on a {tensor}, but a tile has constant extents: take a slice of constant "
            "extents, and set its valid shape",
        )
    shape = tensor.get_shape()
    if not shape:
        raise OpError(origin, f"computes on a {tensor}, but a tile has at least one dimension")
    try:
        return TileType(
            shape,
            as_element_type(tensor.element_type),
            valid=valid_shape_of(tensor),
            # One column is stored as such, of however many dimensions it is.
            layout=implicit_layout((prod(shape[:-1]), shape[-1]), None),
        )
    except VerifyException as error:
        raise OpError(origin, f"computes on a {tensor}, but {error}") from error


def convert_op(
    op: DeclaredOp, tiles: Mapping[SSAValue, SSAValue], inserter: Inserter
) -> Sequence[OpResult]:
    """
    Compute on `tiles` what `op` computes on the tensors they stand for, before `op`; the results
    are one tile for each result of `op`.

    Raises `OpError` at `op` where there is no such tile op, or the tiles do not fit it.
    """
    operands = {name: tiles.get(value, value) for name, value, _ in op.declared_operands()}
    counterpart = counterpart_on_tiles(op)
    comparison = isinstance(op, ptensor.CmpOp | ptensor.CmpsOp)
    if (
        counterpart is None
        or not issubclass(counterpart, InferringTileOp)
        or not (op.SAME_ON_TILES or comparison)
    ):
        raise OpError(op, "has no counterpart on tiles yet")
    if _computes_in_result_type(op):
        result = ptensor.tensor_of(op.results[0].type)
        operands = {
            name: _cast(value, result.element_type, inserter) for name, value in operands.items()
        }
    if isinstance(op, ptensor.BinaryOp):
        counterpart, operands = _meet(op, counterpart, operands, inserter)
    if issubclass(counterpart, tile.RowExpandOp | tile.ColumnExpandOp):
        operands = _as_long_as_target(counterpart, operands, inserter)
    if counterpart.ELEMENTWISE and len(op.results) == 1:
        operands = _in_one_region(op, counterpart, operands, inserter)
    if comparison:
        return (_compare(op, counterpart, operands, inserter),)
    return _build(op, counterpart, operands, inserter)


def _in_one_region(
    op: DeclaredOp,
    counterpart: type[InferringTileOp],
    operands: Mapping[str, SSAValue],
    inserter: Inserter,
) -> Mapping[str, SSAValue]:
    """
    Operands of an elementwise op with one valid region: that of the result, which is all of it
    where theirs differ. Elements of which one is not defined are not defined then.
    """
    result = ptensor.tensor_of(op.results[0].type)
    boxes = {
        name: TileType.of(value.type)
        for name, value in operands.items()
        if isinstance(value.type, TileType)
        and TileType.of(value.type).get_shape() == result.get_shape()
    }
    if len({box.valid_shape for box in boxes.values()}) < 2:
        return operands
    if issubclass(counterpart, tile.PartOp):
        # The result is as much as the first has; which is first makes no other difference.
        whole = valid_shape_of(result)
        names = sorted(operands, key=lambda name: boxes[name].valid_shape != whole)
        return {name: operands[other] for name, other in zip(operands, names, strict=True)}
    return {
        name: cast_valid(value, result, inserter) if name in boxes else value
        for name, value in operands.items()
    }


def _as_long_as_target(
    counterpart: type[InferringTileOp], operands: Mapping[str, SSAValue], inserter: Inserter
) -> Mapping[str, SSAValue]:
    """The operands of an expansion, whose vector is valid as far as what it is stretched over."""
    target, vector = (TileType.of(operands[name].type) for name in ("target", "vector"))
    axis = -2 if issubclass(counterpart, tile.RowExpandOp) else -1
    wanted, have = target.valid_shape[axis], vector.valid_shape[axis]
    if wanted == have or DYNAMIC_INDEX in (wanted, have) or len(vector.get_shape()) < 2:
        return operands
    valid = list(vector.valid_shape)
    valid[axis] = wanted
    brought = brought_to(operands["vector"], vector.with_valid(valid), inserter)
    return {**operands, "vector": brought}


def _compare(
    op: DeclaredOp,
    counterpart: type[InferringTileOp],
    operands: Mapping[str, SSAValue],
    inserter: Inserter,
) -> OpResult:
    """1 where a comparison holds and 0 elsewhere: tiles compare to a packed mask, which selects."""
    (mask,) = _build(op, counterpart, operands, inserter)
    like = TileType.of(operands["lhs"].type).with_valid(None)
    if TileType.of(operands["lhs"].type).valid_shape != like.valid_shape:
        raise OpError(op, "compares tensors of which only a part is valid, which no tile op does")
    numbers: list[OpResult] = []
    for number, name in ((1, "one"), (0, "zero")):
        constant = (
            FloatAttr(number, like.element_type)
            if isinstance(like.element_type, AnyFloat)
            else IntegerAttr(number, like.element_type)
        )
        scalar = inserter.insert(arith.ConstantOp(constant))
        numbers.append(inserter.insert(tile.FullOp(scalar, like), name))
    scratch = inserter.insert(tile.CreateOp(TileType((1, 32), UI8)), "tmp")
    return inserter.insert(tile.SelOp(mask, *numbers, scratch), op.results[0].name_hint)


def _computes_in_result_type(op: DeclaredOp) -> bool:
    families = (ptensor.BinaryOp, ptensor.ScalarOp, ptensor.UnaryOp, ptensor.ExpandOp)
    return isinstance(op, families) and not isinstance(op, ptensor.CastOp)


def _cast(value: SSAValue, element_type: Attribute, inserter: Inserter) -> SSAValue:
    """A tile in another element type; a scalar stays."""
    if not isinstance(value.type, TileType) or value.type.element_type == element_type:
        return value
    hint = None if value.name_hint is None else f"{value.name_hint}_cast"
    # Promotion rounds to nearest even.
    return inserter.insert(tile.CastOp(value, element_type, RoundMode.RINT), hint)


# Broadcasting.


@cache
def _fused_expansions() -> Mapping[tuple[type[Operation], type[InferringTileOp]], type[DeclaredOp]]:
    """The op that fuses an elementwise op with an expansion, by the two."""
    return {
        (op.FUSES, family): op
        for op in tile.Tile.operations
        for family in (tile.RowExpandOp, tile.ColumnExpandOp)
        if issubclass(op, family) and op.FUSES is not None
    }


def _meet(
    op: ptensor.BinaryOp,
    counterpart: type[InferringTileOp],
    operands: dict[str, SSAValue],
    inserter: Inserter,
) -> tuple[type[InferringTileOp], dict[str, SSAValue]]:
    """Bring the operands of an op on two tiles to one shape."""
    shape = ptensor.tensor_of(op.result.type).get_shape()
    lhs = _padded(operands["lhs"], shape, inserter)
    rhs = _padded(operands["rhs"], shape, inserter)
    lhs_axes, rhs_axes = _stretched(lhs, shape), _stretched(rhs, shape)
    if not lhs_axes and not rhs_axes:
        return counterpart, {"lhs": lhs, "rhs": rhs}
    if lhs_axes and not rhs_axes and counterpart.has_trait(Commutative):
        lhs, rhs, lhs_axes, rhs_axes = rhs, lhs, rhs_axes, lhs_axes
    family = _expansion(rhs_axes, len(shape))
    fused = None if family is None else _fused_expansions().get((counterpart, family))
    precise = op.properties.get("high_precision") == BoolAttr.from_bool(True)
    if not lhs_axes and fused is not None and issubclass(fused, InferringTileOp) and not precise:
        return fused, {"target": lhs, "vector": rhs}
    if lhs_axes and rhs_axes:
        target = inserter.insert(tile.CreateOp(_of_shape(lhs, shape)), "shape")
    else:
        target = rhs if lhs_axes else lhs
    return counterpart, {
        "lhs": _expand(op, lhs, lhs_axes, target, inserter),
        "rhs": _expand(op, rhs, rhs_axes, target, inserter),
    }


def _of_shape(value: SSAValue, shape: Sequence[int]) -> TileType:
    return TileType.of(value.type).with_shape(shape)


def _padded(value: SSAValue, shape: Sequence[int], inserter: Inserter) -> SSAValue:
    """The tile with leading extents of 1, so that it has as many dimensions as the result."""
    type = TileType.of(value.type)
    missing = len(shape) - type.get_num_dims()
    if not missing:
        return value
    ones = (1,) * missing
    padded = type.with_shape((*ones, *type.get_shape()), (*ones, *type.valid_shape))
    return inserter.insert(tile.ReshapeOp(value, padded), value.name_hint)


def _stretched(value: SSAValue, shape: Sequence[int]) -> tuple[int, ...]:
    """The axes along which a tile has to stretch."""
    own = TileType.of(value.type).get_shape()
    return tuple(axis for axis, extent in enumerate(own) if extent != shape[axis])


def _expansion(axes: Sequence[int], rank: int) -> type[InferringTileOp] | None:
    """The family of ops that stretch along these axes, if there is one."""
    if rank < 2 or len(axes) != 1:
        return None
    return {rank - 1: tile.RowExpandOp, rank - 2: tile.ColumnExpandOp}.get(axes[0])


def _expand(
    op: Operation, value: SSAValue, axes: Sequence[int], target: SSAValue, inserter: Inserter
) -> SSAValue:
    if not axes:
        return value
    family = _expansion(axes, TileType.of(target.type).get_num_dims())
    expand = {
        tile.RowExpandOp: tile.RowExpandVectorOp,
        tile.ColumnExpandOp: tile.ColExpandVectorOp,
    }.get(family)  # pyright: ignore[reportArgumentType, reportCallIssue]
    if expand is None:
        raise OpError(
            op,
            f"broadcasts {TileType.of(value.type)} over {TileType.of(target.type)}, but a tile "
            "stretches along one of its two last dimensions only",
        )
    hint = None if value.name_hint is None else f"{value.name_hint}_expanded"
    brought = _as_long_as_target(expand, {"target": target, "vector": value}, inserter)
    return inserter.insert(expand(target, brought["vector"]), hint)


# Building.


def _build(
    op: DeclaredOp,
    counterpart: type[InferringTileOp],
    operands: Mapping[str, SSAValue],
    inserter: Inserter,
) -> Sequence[OpResult]:
    definition = counterpart.get_irdl_definition()
    declared = counterpart.declaration()
    given = [operands.get(name) for name, _ in declared.operands]
    types = [None if value is None else value.type for value in given]
    precise = op.properties.get("high_precision") == BoolAttr.from_bool(True)
    try:
        for place, (name, operand) in enumerate(declared.operands):
            # An op that has no other way to be precise is so with scratch.
            required = name in _required(counterpart) or (
                precise and "high_precision" not in definition.properties
            )
            if given[place] is None and operand.workspace and required:
                scratch = counterpart.workspace_type(name, types)
                given[place] = inserter.insert(tile.CreateOp(scratch), name)
                types[place] = scratch
        properties = {
            name: value for name, value in op.properties.items() if name in definition.properties
        }
        for name, value in op.properties.items():
            default = op.get_irdl_definition().properties[name].default_value
            said = name in properties or name == "high_precision" or value == default
            if not said and name != AttrSizedOperandSegments.attribute_name:
                raise VerifyException(f"it has no '{name}'")
        result_types = counterpart.inferred_types(types, properties)
    except VerifyException as error:
        raise OpError(op, f"does not fit '{counterpart.name}': {error}") from error
    if any(isinstance(option, AttrSizedOperandSegments) for option in definition.options):
        properties |= segments_property(tuple(0 if value is None else 1 for value in given))
    new = counterpart.create(
        operands=[value for value in given if value is not None],
        result_types=result_types,
        properties=properties,
        attributes=op.attributes,
    )
    inserter.insert(new)
    for result, old in zip(new.results, op.results, strict=True):
        result.name_hint = old.name_hint
    return new.results


@cache
def _required(op_type: type[InferringTileOp]) -> frozenset[str]:
    """The operands that the op always has."""
    return frozenset(
        name
        for name, operand in op_type.get_irdl_definition().operands
        if not isinstance(operand, VarOperandDef)
    )


def is_tensor(value: SSAValue) -> bool:
    """Whether a value names a buffer in global memory, or stands for one."""
    return isinstance(value.type, TensorType)
