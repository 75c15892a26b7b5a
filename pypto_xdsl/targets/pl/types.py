"""Types as annotations of the DSL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType
from xdsl.ir import Attribute

from pypto_xdsl.dialects.orch.attributes import ArrayType
from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.dialects.ptensor.types import (
    TensorLayout,
    explicit_strides_of,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    valid_shape_of,
)
from pypto_xdsl.dialects.tile.storage import BufferType
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.vocabulary import DTYPE_NAMES, spell, spell_dtype
from pypto_xdsl.targets.pl.names import Names
from pypto_xdsl.targets.pl.symbols import Symbols


def annotation(
    type: Attribute,
    symbols: Symbols,
    buffer: str | None = None,
    *,
    signature: bool = False,
    valid: Sequence[str] | None = None,
) -> str | None:
    """
    A type as an annotation, None if it has none: extents that nothing names.

    `buffer` is the `pl.MemRef` of a tile that is placed, `valid` are the extents of its valid
    region where those known at run time have words. In a signature, which has to say everything,
    what the type leaves open gets symbols of its own.
    """
    if type in DTYPE_NAMES:
        return f"pl.Scalar[{spell_dtype(type)}]"
    match type:
        case TensorType():
            return _tensor(tensor_of(type), symbols, symbols.unknown if signature else None)
        case TileType():
            return _tile(type, buffer, valid)
        case ArrayType():
            return f"pl.Array[{type.extent.data}, {spell_dtype(type.element_type)}]"
        case BufferType():
            return "pl.Ptr"
        case _:
            return None


def whole_annotation(
    type: TensorType[Attribute], symbols: Symbols, names: Names, *, view: bool
) -> str | None:
    """
    A type of a tensor as an annotation in a body that says every extent, what it leaves open by a
    symbol that names nothing; and the view, even where it is the plain one. None if there is none.
    `names` are those of the function.
    """
    return _tensor(type, symbols, lambda _: symbols.unnamed(names), view=view)


def _tensor(
    type: TensorType[Attribute],
    symbols: Symbols,
    unknown: Callable[[str], str] | None,
    *,
    view: bool = False,
) -> str | None:
    """`unknown` gives a symbol for what a type leaves open; without it such a type has no words."""

    def extent(value: int | str, kind: str) -> str:
        if value == DYNAMIC_INDEX:
            assert unknown is not None
            return unknown(kind)
        return symbols.spelled(value) if isinstance(value, str) else str(value)

    says_all = unknown is not None
    shape = symbolic_shape_of(type)
    valid = valid_shape_of(type)
    strides = explicit_strides_of(type)
    if type.element_type not in DTYPE_NAMES or (DYNAMIC_INDEX in shape and not says_all):
        return None
    if not says_all and any(isinstance(value, str) for value in shape):
        plain = strides is None and layout_of(type) is TensorLayout.ND
        if plain and valid == type.get_shape() and pad_value_of(type) is PadValue.NULL:
            # The reader finds symbols itself, and does not take them from an annotation.
            return None
    extents = [extent(value, "dim") for value in shape]
    parts = [_list(extents), spell_dtype(type.element_type)]
    fields: list[str] = []
    partly = valid != type.get_shape() and (says_all or DYNAMIC_INDEX not in valid)
    if partly or view:
        found = [
            # A dimension that is valid as a whole says so by its own extent.
            own if value == whole == DYNAMIC_INDEX else extent(value, "valid")
            for own, value, whole in zip(extents, valid, type.get_shape(), strict=True)
        ]
        fields.append(f"valid_shape={_list(found)}")
    layout, pad = layout_of(type), pad_value_of(type)
    known = strides is not None and (says_all or DYNAMIC_INDEX not in strides)
    if known or layout is not TensorLayout.ND or pad is not PadValue.NULL or fields:
        shown = [extent(stride, "stride") for stride in strides or ()] if known else []
        fields.append(f"stride={_list(shown)}")
        fields.append(f"layout={spell('TensorLayout', layout)}")
    if pad is not PadValue.NULL:
        fields.append(f"pad={spell('PadValue', pad)}")
    if fields:
        parts.append(f"pl.TensorView({', '.join(fields)})")
    return f"pl.Tensor[{', '.join(parts)}]"


def _tile(type: TileType, buffer: str | None, said: Sequence[str] | None) -> str | None:
    shape, valid = type.get_shape(), type.valid_shape
    if DYNAMIC_INDEX in shape:
        return None
    parts = [_list(shape), spell_dtype(type.element_type)]
    if buffer is not None:
        parts.append(buffer)
    if type.memory_space is not None:
        parts.append(spell("Mem", type.memory_space))
    fields: list[str] = []
    if said is not None:
        fields.append(f"valid_shape={_list(said)}")
    elif valid != shape and DYNAMIC_INDEX not in valid:
        fields.append(f"valid_shape={_list(valid)}")
    stored = (type.blayout, type.slayout, type.fractal)
    if any(not isinstance(field, NoneAttr) for field in stored):
        layout = type.layout
        fields.append(f"blayout={spell('TileLayout', layout.blayout)}")
        fields.append(f"slayout={spell('TileLayout', layout.slayout)}")
        fields.append(f"fractal={layout.fractal}")
    if type.pad_value is not PadValue.NULL:
        fields.append(f"pad={spell('PadValue', type.pad_value)}")
    if type.is_compact:
        fields.append("compact=pl.CompactMode.normal")
    if fields:
        parts.append(f"pl.TileView({', '.join(fields)})")
    return f"pl.Tile[{', '.join(parts)}]"


def _list(elements: Sequence[Any]) -> str:
    return f"[{', '.join(map(str, elements))}]"
