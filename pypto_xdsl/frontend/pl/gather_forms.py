"""Calls of ops that gather, scatter, sort and generate, where the DSL spells them its own way."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.element_types import as_element_type
from pypto_xdsl.dialects.ptensor import fill as tensor_fill
from pypto_xdsl.dialects.ptensor import gather as tensor_gather
from pypto_xdsl.dialects.ptensor.types import tensor_of, tensor_type
from pypto_xdsl.dialects.tile import fill as tile_fill
from pypto_xdsl.dialects.tile import gather as tile_gather
from pypto_xdsl.dialects.tile.attributes import Coalesce, MemorySpace, OutOfBounds
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.arguments import Arguments, Bound, static_extents, symbolic_extents
from pypto_xdsl.frontend.pl.structural_ops import Form, emit
from pypto_xdsl.frontend.pl.values import Value, is_value

_EnumT = TypeVar("_EnumT", bound=Enum)


def generic(arguments: Arguments, level: str, name: str) -> Value:
    """The op of this name, called by its own operands and properties."""
    from pypto_xdsl.frontend.pl.operations import generic_call

    return generic_call(arguments, level, name)


def _rearranged(arguments: Arguments, bound: Bound, names: str) -> Arguments:
    """
    The same call with arguments in another order, those not given left out. `src=source` gives
    what the DSL calls `src` to the op's operand `source`.
    """
    made = Arguments(arguments.context, arguments.node, arguments.what)
    for word in names.split():
        name, _, operand = word.partition("=")
        if bound.has(name):
            made.keywords[operand or name] = (bound.get(name), bound.node_of(name))
    return made


# Gather and scatter


_WAYS_TO_GATHER = ("index", "mask_pattern", "kvalue")


def _tensor_gather(arguments: Arguments) -> Value:
    given = [name for name in _WAYS_TO_GATHER if name in arguments.keywords]
    if len(arguments.positional) > 1 and "index" not in given:
        given.insert(0, "index")
    if len(given) > 1:
        first, second, *_ = given
        _, node = arguments.keywords[second]
        raise arguments.context.error(
            node,
            f"{arguments.what}: {', '.join(_WAYS_TO_GATHER)} are mutually exclusive, and "
            f"'{first}' is given already",
        )
    if "mask_pattern" in arguments.keywords:
        bound = arguments.bind("input *mask_pattern *output_dtype?")
        made = _rearranged(arguments, bound, "input=source mask_pattern output_dtype")
        return generic(made, "tensor", "gather_mask")
    if "cmp_mode" in arguments.keywords or "kvalue" in arguments.keywords:
        bound = arguments.bind("input *kvalue *cmp_mode *out_cols *offset? *count_dtype?")
        made = _rearranged(
            arguments, bound, "input=source kvalue cmp_mode out_cols offset count_dtype"
        )
        return generic(made, "tensor", "gather_compare")
    # In the order of the wrapper, or of the op as PyPTO prints it.
    second = arguments.positional[1][0] if len(arguments.positional) > 1 else None
    order = "input index dim?" if is_value(second) else "input dim index"
    bound = arguments.bind(order)
    return generic(_axis(arguments, bound, "input=source index dim"), "tensor", "gather")


def _axis(arguments: Arguments, bound: Bound, names: str) -> Arguments:
    """The call with a negative `dim` counted from the first axis."""
    made = _rearranged(arguments, bound, names)
    if bound.has("dim"):
        value = bound.integer("dim")
        made.keywords["dim"] = (value, bound.node_of("dim"))
    return made


def _tensor_scatter(arguments: Arguments) -> Value:
    if "mask_pattern" in arguments.keywords:
        bound = arguments.bind("src *mask_pattern *dst")
        made = _rearranged(arguments, bound, "src=source dst=destination mask_pattern")
        return generic(made, "tensor", "scatter_mask")
    second = arguments.positional[1][0] if len(arguments.positional) > 1 else None
    order = "input index src dim?" if is_value(second) else "input dim index src"
    bound = arguments.bind(order)
    if bound.has("dim") and bound.integer("dim") not in (-1, 1):
        raise bound.error("dim", "a scatter is along the last dimension")
    return generic(
        _rearranged(arguments, bound, "input=destination index src=source"), "tensor", "scatter"
    )


def _scatter_update(level: str) -> Form:
    def form(arguments: Arguments) -> Value:
        second = arguments.positional[1][0] if len(arguments.positional) > 1 else None
        order = "input index src dim?" if is_value(second) else "input dim index src"
        bound = arguments.bind(order)
        if bound.has("dim") and bound.integer("dim") != -2:
            raise bound.error("dim", "an update is along the second last dimension")
        index = "index" if level == "tensor" else "index=indices"
        made = _rearranged(arguments, bound, f"input=destination {index} src=source")
        return generic(made, level, "scatter_update")

    return form


def _tile_gather(arguments: Arguments) -> Value:
    if "mask_pattern" in arguments.keywords:
        bound = arguments.bind("src *mask_pattern *output_dtype?")
        made = _rearranged(arguments, bound, "src=source mask_pattern output_dtype")
        return generic(made, "tile", "gather_mask")
    if "cmp_mode" in arguments.keywords:
        return _tile_gather_compare(arguments)
    return generic(arguments, "tile", "gather")


def _tile_gather_compare(arguments: Arguments) -> Value:
    bound = arguments.bind("src kvalue tmp *cmp_mode? *out_cols *offset? *count_dtype?")
    names = "src=source kvalue tmp cmp_mode out_cols offset count_dtype"
    made = _rearranged(arguments, bound, names)
    made.keywords.setdefault("cmp_mode", ("eq", arguments.node))
    return generic(made, "tile", "gather_compare")


def _tile_gather_row(arguments: Arguments) -> Value:
    bound = arguments.bind("dst src dst_offset src_offset shapes transpose? *valid_shape?")
    return emit(
        bound,
        lambda: tile_gather.GatherRowOp(
            bound.tile("dst"),
            bound.indices("dst_offset"),
            bound.tensor("src"),
            bound.indices("src_offset"),
            bound.indices("shapes"),
            bound.indices("valid_shape") if bound.has("valid_shape") else (),
            transpose=bound.boolean("transpose"),
        ),
    )


def _tensor_gather_row(arguments: Arguments) -> Value:
    bound = arguments.bind("acc src dst_offset src_offset shapes transpose? *valid_shape?")
    return emit(
        bound,
        lambda: tensor_gather.GatherRowOp(
            bound.tensor("acc"),
            bound.indices("dst_offset"),
            bound.tensor("src"),
            bound.indices("src_offset"),
            bound.indices("shapes"),
            bound.indices("valid_shape") if bound.has("valid_shape") else (),
            transpose=bound.boolean("transpose"),
        ),
    )


def _mgather(arguments: Arguments) -> Value:
    bound = arguments.bind("mem idx coalesce? *gather_oob? *target_memory? *scratch? *valid_shape?")
    source = bound.tensor_type("mem")
    coalesce = _enum(bound, "coalesce", Coalesce, Coalesce.ROW)
    bounds = _enum(bound, "gather_oob", OutOfBounds, OutOfBounds.UNDEFINED)
    index = bound.scalar("idx")
    space = bound.word("target_memory", MemorySpace)
    try:
        indices = index.type if isinstance(index.type, TileType) else tensor_of(index.type)
        result = tile_gather.MgatherOp.gathered(source, indices, coalesce, space)
    except VerifyException as error:
        raise bound.error("idx", str(error)) from error
    if bound.has("valid_shape"):
        result = result.with_valid(static_extents(bound.extents("valid_shape")))
    scratch = bound.tensor("scratch") if bound.has("scratch") else None
    return emit(
        bound,
        lambda: tile_gather.MgatherOp(
            bound.tensor("mem"), index, result, scratch, coalesce=coalesce, gather_oob=bounds
        ),
    )


def _enum(bound: Bound, name: str, kind: type[_EnumT], default: _EnumT) -> _EnumT:
    """A word that is given as a string, a number or a word of an enum."""
    if not bound.has(name):
        return default
    value = bound.get(name)
    members = list(kind)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(members):
        return members[value]
    word = getattr(value, "member", value)
    for member in members:
        if isinstance(word, str) and member.value == word.lower():
            return member
    raise bound.error(name, f"'{name}' should be one of {', '.join(m.value for m in members)}")


def _paged_gather(arguments: Arguments) -> Value:
    arguments.keywords.pop("space", None)
    return generic(arguments, "tensor", "paged_gather")


# Sorting


def _mrgsort(level: str) -> Form:
    def form(arguments: Arguments) -> Value:
        if "block_len" in arguments.keywords or len(arguments.positional) == 1:
            bound = arguments.bind("src0 block_len")
            made = Arguments(arguments.context, arguments.node, arguments.what)
            made.keywords["source"] = (bound.get("src0"), bound.node_of("src0"))
            length = bound.scalar("block_len", i32)
            made.keywords["block_len"] = (length, bound.node_of("block_len"))
            return generic(made, level, "mrgsort_format1")
        if level == "tensor":
            return generic(arguments, level, "mrgsort_format2")
        # Sources, then scratch.
        bound = arguments.bind("src0 src1 src2? src3? tmp? exhausted?")
        given = [n for n in ("src0", "src1", "src2", "src3", "tmp") if bound.has(n)]
        *sources, tmp = given
        made = Arguments(arguments.context, arguments.node, arguments.what)
        words = ("first", "second", "third", "fourth")
        for word, name in zip(words, sources, strict=False):
            made.keywords[word] = (bound.get(name), bound.node_of(name))
        made.keywords["tmp"] = (bound.get(tmp), bound.node_of(tmp))
        if bound.has("exhausted"):
            made.keywords["exhausted"] = (bound.get("exhausted"), bound.node_of("exhausted"))
        return generic(made, level, "mrgsort_format2")

    return form


# Generators


def _ci(level: str) -> Form:
    def form(arguments: Arguments) -> Value:
        bound = arguments.bind("start shape dtype? descending?")
        dtype = bound.dtype("dtype") if bound.has("dtype") else i32
        start = bound.get("start")
        number = getattr(start, "value", start) if not is_value(start) else start
        value = bound.context.materialize(number, bound.node_of("start"), dtype)
        shape = bound.extents("shape")
        descending = bound.boolean("descending")
        if level == "tile":
            extents = static_extents(shape)
            if DYNAMIC_INDEX in extents:
                raise bound.error("shape", "the shape of a tile must be constant")
            result = TileType(extents, as_element_type(dtype))
            return emit(bound, lambda: tile_fill.CiOp(value, result, descending=descending))
        tensor = tensor_type(symbolic_extents(shape), dtype)
        return emit(bound, lambda: tensor_fill.CiOp(value, tensor, descending=descending))

    return form


def _tri(arguments: Arguments) -> Value:
    bound = arguments.bind("diagonal shape valid_shape? dtype? upper?")
    dtype = bound.dtype("dtype") if bound.has("dtype") else i32
    extents = static_extents(bound.extents("shape"))
    valid = static_extents(bound.extents("valid_shape")) if bound.has("valid_shape") else None
    if DYNAMIC_INDEX in (*extents, *(valid or ())):
        raise bound.error("shape", "the shape of a tile must be constant")
    value = bound.scalar("diagonal", i32)
    result = TileType(extents, as_element_type(dtype), valid=valid)
    upper = bound.boolean("upper")
    return emit(bound, lambda: tile_fill.TriOp(value, result, upper=upper))


FORMS: Mapping[str, Form] = {
    "tensor.gather": _tensor_gather,
    "tensor.scatter": _tensor_scatter,
    "tensor.scatter_update": _scatter_update("tensor"),
    "tile.scatter_update": _scatter_update("tile"),
    "tile.gather": _tile_gather,
    "tile.gather_compare": _tile_gather_compare,
    "tile.gather_row": _tile_gather_row,
    "tensor.gather_row": _tensor_gather_row,
    "tile.mgather": _mgather,
    "tensor.paged_gather": _paged_gather,
    "tile.mrgsort": _mrgsort("tile"),
    "tensor.mrgsort": _mrgsort("tensor"),
    "tile.ci": _ci("tile"),
    "tensor.ci": _ci("tensor"),
    "tile.tri": _tri,
}
