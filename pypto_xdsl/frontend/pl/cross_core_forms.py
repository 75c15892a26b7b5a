"""Calls of ops between the cores of a group, where the DSL spells them its own way."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import SSAValue

from pypto_xdsl.dialects.element_types import as_element_type
from pypto_xdsl.dialects.orch.attributes import SplitMode
from pypto_xdsl.dialects.ptensor.attributes import TransportSplit
from pypto_xdsl.dialects.tile import cross_core, sync
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.arguments import Arguments, Bound, static_extents
from pypto_xdsl.frontend.pl.gather_forms import generic
from pypto_xdsl.frontend.pl.structural_ops import Form
from pypto_xdsl.frontend.pl.values import Tuple, Typed, Value
from pypto_xdsl.frontend.pl.vocabulary import EnumWord
from pypto_xdsl.syntax.op_syntax import integer_attr

GM_SLOT_BUFFER = "gm_slot_buffer"
"""The mark of a set-up that names the tensor with the slots; PyPTO goes by a parameter's name."""
_SPLITS = {
    SplitMode.NONE: TransportSplit.NONE,
    SplitMode.UP_DOWN: TransportSplit.UP_DOWN,
    SplitMode.LEFT_RIGHT: TransportSplit.LEFT_RIGHT,
}


def _shard(level: str, name: str) -> Form:
    """A tile or tensor that crosses between cores, split as the region around says."""

    def form(arguments: Arguments) -> Value:
        context = arguments.context
        given = arguments.keywords.get("split")
        if given is None:
            if not context.split_modes:
                raise context.error(
                    arguments.node,
                    f"{arguments.what} needs split= outside a pl.split_aiv region",
                )
            split = _SPLITS[context.split_modes[-1]]
            arguments.keywords["split"] = (tuple(TransportSplit).index(split), arguments.node)
        elif isinstance(given[0], EnumWord) and isinstance(given[0].value, SplitMode):
            split = _SPLITS[given[0].value]
            arguments.keywords["split"] = (tuple(TransportSplit).index(split), given[1])
        return generic(arguments, level, name)

    return form


def _pop(name: str, kind: type[cross_core.PopOp], space: MemorySpace) -> Form:
    """A tile from the ring; its type is given, or follows from the annotation of the name."""

    def form(arguments: Arguments) -> Value:
        bound = arguments.bind("*shape? *dtype? *split? *id? *lane_stride?")
        declared = arguments.context.declared
        if bound.has("shape"):
            extents = static_extents(bound.extents("shape"))
            if DYNAMIC_INDEX in extents:
                raise bound.error("shape", "the shape of a tile must be constant")
            if not bound.has("dtype"):
                raise bound.error("shape", "a shape needs a dtype")
            result = TileType(extents, as_element_type(bound.dtype("dtype")), space)
        elif isinstance(declared, TileType):
            result = declared if declared.memory_space else declared.with_space(space)
        else:
            raise arguments.context.error(
                arguments.node,
                f"{arguments.what} needs shape= and dtype=, or the type of the name it is "
                "assigned to",
            )
        split = _transport(bound)
        op = kind(result, split)
        for word in ("id", "lane_stride"):
            if bound.has(word):
                op.properties[word] = integer_attr(bound.integer(word))
        return bound.context.emit(op, bound.node).result

    return form


def _transport(bound: Bound) -> TransportSplit:
    if not bound.has("split"):
        return TransportSplit.NONE
    value = bound.get("split")
    if isinstance(value, EnumWord) and isinstance(value.value, SplitMode):
        return _SPLITS[value.value]
    number = bound.integer("split")
    splits = tuple(TransportSplit)
    if not 0 <= number < len(splits):
        raise bound.error("split", f"there is no split {number}")
    return splits[number]


def _reserve_buffer(arguments: Arguments) -> Value:
    bound = arguments.bind("*name *size *base?")
    name = bound.get("name")
    if not isinstance(name, str):
        raise bound.error("name", "the name of a buffer is a string")
    op = cross_core.ReserveBufferOp(name, bound.integer("size"))
    given = bound.get("base")
    automatic = given is None or str(given) == "pl.AUTO"
    base = -1 if automatic else bound.integer("base")
    if base >= 0:
        op.properties["base"] = integer_attr(base)
    return bound.context.emit(op, bound.node).result


def _import_peer_buffer(arguments: Arguments) -> Value:
    bound = arguments.bind("*name *peer_func")
    name, peer = bound.get("name"), bound.get("peer_func")
    if not isinstance(name, str) or not isinstance(peer, str):
        raise bound.error("name", "the names of a buffer and its function are strings")
    known = bound.context.program.functions.get(peer)
    peer = peer if known is None else known.name
    return bound.context.emit(cross_core.ImportPeerBufferOp(name, peer), bound.node).result


def _initialize_pipe(name: str) -> Form:
    def form(arguments: Arguments) -> Value:
        words = ("c2v_consumer_buf", "v2c_consumer_buf")
        for word, argument in zip(words, arguments.positional, strict=False):
            arguments.keywords.setdefault(word, argument)
        arguments.positional = []
        for word in words:
            if word in arguments.keywords:
                value, node = arguments.keywords[word]
                if isinstance(value, Typed) and arguments.context.strict_ssa:
                    # A number of the program, whatever it stands for.
                    made = arguments.context.materialize(value, node)
                    arguments.keywords[word] = (made, node)
                    continue
                value = value.value if isinstance(value, Typed) else value
                if value == 0 and not isinstance(value, bool | SSAValue):
                    # Zero stands for no buffer.
                    arguments.keywords[word] = (None, node)
                elif isinstance(value, int):
                    made = arguments.context.materialize(value, node, i32)
                    arguments.keywords[word] = (made, node)
        return generic(arguments, "tile", name)

    return form


def gm_slot_buffer(marks: ast.expr) -> ast.expr | None:
    """The tensor that holds the slots of a ring, as the marks of its set-up name it."""
    if isinstance(marks, ast.Dict):
        for key, value in zip(marks.keys, marks.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == GM_SLOT_BUFFER:
                return value
    return None


def _flag(kind: type[sync.SyncSetOp | sync.SyncWaitOp]) -> Form:
    """A flag between cores, by a number that is known or not."""

    def form(arguments: Arguments) -> Value:
        name = kind.name.removeprefix("tile.")
        bound = arguments.bind("event_id *pipe *ffts_mode? *core_type?")
        number = bound.get("event_id")
        known = not isinstance(number, SSAValue)
        word = "event_id" if known else "event_id_dyn"
        made = Arguments(arguments.context, arguments.node, arguments.what)
        made.keywords[word] = (bound.get("event_id"), bound.node_of("event_id"))
        if not known:
            made.keywords["event_id"] = (0, arguments.node)
        for keyword in ("pipe", "ffts_mode", "core_type"):
            if bound.has(keyword):
                made.keywords[keyword] = (bound.get(keyword), bound.node_of(keyword))
        return generic(made, "tile", name)

    return form


def _cacheinvalid(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor? shapes? offsets?")
    if not bound.has("tensor"):
        bound.context.emit(sync.CacheinvalidOp(), bound.node)
        return Tuple(())
    sizes, offsets = bound.indices("shapes"), bound.indices("offsets")
    op = sync.CacheinvalidOp(bound.tensor("tensor"), offsets, sizes)
    bound.context.emit(op, bound.node)
    return Tuple(())


FORMS: Mapping[str, Form] = {
    "tile.aiv_shard": _shard("tile", "aiv_shard"),
    "tile.aic_gather": _shard("tile", "aic_gather"),
    "tensor.aiv_shard": _shard("tensor", "aiv_shard"),
    "tensor.aic_gather": _shard("tensor", "aic_gather"),
    "tile.tpop_from_aic": _pop("tpop_from_aic", cross_core.TpopFromAicOp, MemorySpace.VEC),
    "tile.tpop_from_aiv": _pop("tpop_from_aiv", cross_core.TpopFromAivOp, MemorySpace.MAT),
    "tile.reserve_buffer": _reserve_buffer,
    "tile.import_peer_buffer": _import_peer_buffer,
    "tile.aic_initialize_pipe": _initialize_pipe("aic_initialize_pipe"),
    "tile.aiv_initialize_pipe": _initialize_pipe("aiv_initialize_pipe"),
    "tile.sync_set": _flag(sync.SyncSetOp),
    "tile.sync_wait": _flag(sync.SyncWaitOp),
    "tile.cacheinvalid": _cacheinvalid,
}
