"""Conditions that verifiers of several ops share; each is one `Rule`.

A rule completes the sentence "expects A2/A3 tadd ...". Dimensions that are known at run time only
agree with every other, as in PTOAS.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, OpResult, SSAValue

from pypto_xdsl.dialects.pto.declaration import PtoOp, Rule
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, BLayout, SLayout
from pypto_xdsl.dialects.pto.shaped_types import (
    DYNAMIC,
    PartitionTensorViewType,
    PtrType,
    TensorViewType,
    element_bits,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

Dtypes: TypeAlias = tuple[str, ...]
"""Names of element types; `i32` stands for `ui32` and `si32` too, unless the set says not."""

FLOATS: Dtypes = ("f16", "f32")
ARITHMETIC: Dtypes = ("i16", "i32", "f16", "f32")
BITWISE: Dtypes = ("i8", "i16")
INTEGERS: Dtypes = ("i8", "i16", "i32")
NARROW: Dtypes = ("i8", "i16", "i32", "f16", "bf16", "f32")
MOVABLE: Dtypes = ("i8", "i16", "i32", "i64", "f16", "bf16", "f32")


def element_of(value: SSAValue) -> Attribute | None:
    """The element type of a tile, view or pointer, None for anything else."""
    type_ = value.type
    if isinstance(type_, TileBufType | PartitionTensorViewType | TensorViewType | PtrType):
        return type_.element_type
    return None


@lru_cache(maxsize=256)
def dtype_name(element_type: Attribute, *, signless: bool = False) -> str:
    """`f32`, `ui8`; with `signless`, `i8` for `ui8`."""
    name = str(element_type)
    return name[1:] if signless and name[:2] in ("ui", "si") else name


def tile_operand(op: PtoOp, name: str) -> TileBufType:
    """The type of an operand that the op's declaration says is a tile, and is there."""
    tile = op.operand(name).type
    assert isinstance(tile, TileBufType)
    return tile


def tile_of(op: PtoOp, name: str) -> TileBufType | None:
    """The type of a tile operand; None where it is absent or a view."""
    value = getattr(op, name)
    if value is None or not isinstance(value.type, TileBufType):
        return None
    return value.type


def _join(names: Sequence[str], last: str = "and") -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def in_space(space: AddressSpace | tuple[AddressSpace, ...], *names: str) -> Rule:
    """These tiles are in this memory, or one of these."""
    spaces = (space,) if isinstance(space, AddressSpace) else space

    def check(op: PtoOp) -> str | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and tile.space not in spaces:
                return f"got {name} in loc={tile.space}"
        return None

    return Rule(f"{_join(names)} to use loc={_join([s.value for s in spaces], 'or')}", check)


def in_vec(*names: str) -> Rule:
    """These tiles are in the vector core's memory."""
    return in_space(AddressSpace.VEC, *names)


def dtype(name: str, dtypes: Dtypes, *, exact: bool = False) -> Rule:
    """The element type of a tile is one of these. `exact`: `i32` does not stand for `ui32`."""

    def check(op: PtoOp) -> str | None:
        value = getattr(op, name)
        element_type = None if value is None else (element_of(value) or value.type)
        if element_type is None or dtype_name(element_type, signless=not exact) in dtypes:
            return None
        return f"got {dtype_name(element_type)}"

    return Rule(f"{name} element type to be {_join(dtypes, 'or')}", check)


def same_dtype(*names: str) -> Rule:
    """These tiles have one element type."""

    def check(op: PtoOp) -> str | None:
        first = None
        for name in names:
            value = getattr(op, name)
            if value is None:
                continue
            element_type = element_of(value) or value.type
            if first is None:
                first = element_type
            elif element_type != first:
                return f"got {dtype_name(first)} and {dtype_name(element_type)}"
        return None

    return Rule(f"{_join(names)} to have the same element type", check)


def same_width(*names: str) -> Rule:
    """The elements of these tiles or views are equally wide."""

    def check(op: PtoOp) -> str | None:
        first = None
        for name in names:
            element_type = element_of(getattr(op, name))
            if element_type is None:
                continue
            bits = element_bits(element_type)
            if first is None:
                first = bits
            elif bits != first:
                return f"got {first} and {bits} bits"
        return None

    return Rule(f"{_join(names)} to have elements of the same bit width", check)


def row_major(*names: str) -> Rule:
    """These tiles are row-major."""

    def check(op: PtoOp) -> str | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and tile.blayout != BLayout.ROW_MAJOR:
                return f"got {name} with blayout={tile.blayout}"
        return None

    return Rule(f"{_join(names)} to use blayout=row_major", check)


def none_box(*names: str) -> Rule:
    """These tiles have no boxes."""

    def check(op: PtoOp) -> str | None:
        for name in names:
            tile = tile_of(op, name)
            if tile is not None and tile.slayout != SLayout.NONE_BOX:
                return f"got {name} with slayout={tile.slayout}"
        return None

    return Rule(f"{_join(names)} to use slayout=none_box", check)


def nd(*names: str) -> tuple[Rule, ...]:
    """These tiles are row-major without boxes."""
    return row_major(*names), none_box(*names)


Dimension: TypeAlias = Literal["row", "col"]


def _axis(dimension: Dimension) -> int:
    return 0 if dimension == "row" else 1


def same_valid(*names: str) -> Rule:
    """These tiles have one valid shape."""

    def check(op: PtoOp) -> str | None:
        shapes = [t.valid_shape for n in names if (t := tile_of(op, n)) is not None]
        for axis in (0, 1):
            known = {shape[axis] for shape in shapes if shape[axis] != DYNAMIC}
            if len(known) > 1:
                return f"got {_join([_shape_text(s) for s in shapes])}"
        return None

    return Rule(f"{_join(names)} to have the same valid_shape", check)


def same_valid_dim(dimension: Dimension, *names: str) -> Rule:
    """These tiles have as many valid rows, or columns."""
    axis = _axis(dimension)

    def check(op: PtoOp) -> str | None:
        dims = [t.valid_shape[axis] for n in names if (t := tile_of(op, n)) is not None]
        known = [d for d in dims if d != DYNAMIC]
        if len(set(known)) > 1:
            return f"got {_join([str(d) for d in known])}"
        return None

    return Rule(f"{_join(names)} to have the same valid_shape[{axis}]", check)


def same_box(*names: str) -> Rule:
    """These tiles have one physical shape."""

    def check(op: PtoOp) -> str | None:
        shapes = [t.get_shape() for n in names if (t := tile_of(op, n)) is not None]
        if len(set(shapes)) > 1:
            return f"got {_join([_shape_text(s) for s in shapes])}"
        return None

    return Rule(f"{_join(names)} to have the same shape", check)


def valid_dim_is(name: str, dimension: Dimension, allowed: tuple[int, ...]) -> Rule:
    """A tile has this many valid rows, or columns."""
    axis = _axis(dimension)

    def check(op: PtoOp) -> str | None:
        tile = tile_of(op, name)
        if tile is None or tile.valid_shape[axis] in (DYNAMIC, *allowed):
            return None
        return f"got {tile.valid_shape[axis]}"

    wanted = _join([str(a) for a in allowed], "or")
    return Rule(f"{name} valid_shape[{axis}] to be {wanted}", check)


def dim_is(name: str, dimension: Dimension, wanted: int) -> Rule:
    """A tile's box has this many rows, or columns."""
    axis = _axis(dimension)

    def check(op: PtoOp) -> str | None:
        tile = tile_of(op, name)
        if tile is None or tile.get_shape()[axis] == wanted:
            return None
        return f"got {tile.get_shape()[axis]}"

    return Rule(f"{name} shape[{axis}] to be {wanted}", check)


def scalar_of(scalar: str, tile: str) -> Rule:
    """A number has the type of a tile's elements."""

    def check(op: PtoOp) -> str | None:
        value = getattr(op, scalar)
        element_type = element_of(getattr(op, tile))
        if value is None or element_type is None or value.type == element_type:
            return None
        return f"got {dtype_name(value.type)} and {dtype_name(element_type)}"

    return Rule(f"{scalar} to have the element type of {tile}", check)


def at_least_valid(large: str, small: str) -> Rule:
    """A tile's valid region is no smaller than another's."""

    def check(op: PtoOp) -> str | None:
        big, little = tile_of(op, large), tile_of(op, small)
        if big is None or little is None:
            return None
        for have, need in zip(big.valid_shape, little.valid_shape, strict=True):
            if DYNAMIC not in (have, need) and have < need:
                return f"got {_shape_text(big.valid_shape)} and {_shape_text(little.valid_shape)}"
        return None

    return Rule(f"{large} valid_shape to be no smaller than that of {small}", check)


def bytes_at_least(name: str, wanted: int) -> Rule:
    """A tile is at least so many bytes."""

    def check(op: PtoOp) -> str | None:
        tile = tile_of(op, name)
        if tile is None or tile.size_in_bytes >= wanted:
            return None
        return f"got {tile.size_in_bytes}"

    return Rule(f"{name} to have at least {wanted} bytes", check)


def _shape_text(shape: Sequence[int]) -> str:
    return "x".join("?" if d == DYNAMIC else str(d) for d in shape)


shape_text = _shape_text


def constant_value(value: SSAValue) -> int | None:
    """The number that an integer or index value is known to be, None where it is not."""
    while isinstance(value, OpResult):
        owner = value.op
        # arith is not imported for this: the attribute is enough, and xDSL's dialect is large.
        if owner.name == "arith.constant":
            attribute = owner.properties.get("value")
            return attribute.value.data if isinstance(attribute, IntegerAttr) else None
        if owner.name not in _CASTS or len(owner.operands) != 1:
            return None
        value = owner.operands[0]
    return None


_CASTS = frozenset(
    (
        "arith.index_cast",
        "arith.extsi",
        "arith.extui",
        "arith.trunci",
        "builtin.unrealized_conversion_cast",
    )
)


def constant_at_least(name: str, least: int) -> Rule:
    """A number, where it is known, is not below this."""

    def check(op: PtoOp) -> str | None:
        value = getattr(op, name)
        if value is None or (known := constant_value(value)) is None or known >= least:
            return None
        return f"got {known}"

    wanted = "non-negative" if least == 0 else f"at least {least}"
    return Rule(f"{name} to be {wanted}", check)


def no_property(name: str, why: str = "which exists on A5 only") -> Rule:
    """An op does not have this property."""

    def check(op: PtoOp) -> str | None:
        return why if name in op.properties else None

    return Rule(f"no {name}", check)


def first_problem(op: PtoOp, rules: Sequence[Rule]) -> str | None:
    """What the first rule that does not hold says, to complete "expects A2/A3 tadd ..."."""
    for rule in rules:
        if (problem := rule.check(op)) is not None:
            return f"{rule.text}, {problem}" if rule.text else problem
    return None
