"""Ops that move data between global memory and tiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import BOOL, OperandInfo, PtoOp, Role, Rule, declare, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.matmul import LONGEST
from pypto_xdsl.dialects.pto.operands import (
    I64,
    INDEX,
    READ_TILE,
    READ_WINDOW,
    SCALAR,
    WRITE_TILE,
    WRITE_WINDOW,
)
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC, PartitionTensorViewType
from pypto_xdsl.dialects.pto.syntax import (
    Grammar,
    TileOp,
    build,
    grammar_of,
    print_attributes,
    print_typed_operands,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

NO_RELU = a.ReluPreModeAttr(w.ReluPreMode.NO_RELU)


def _no_empty_window(name: str) -> Rule:
    def check(op: PtoOp) -> str | None:
        window = op.operand(name).type
        if isinstance(window, PartitionTensorViewType):
            for axis, dim in enumerate(window.get_shape()):
                if dim != DYNAMIC and dim <= 0:
                    return f"got {dim} for shape[{axis}]"
        return None

    return Rule(f"{name} shape to be positive", check)


class LoadBase(PtoOp):
    """`dst = src`, from global memory"""

    src = operand_def(READ_WINDOW)
    dst = operand_def(WRITE_TILE)
    pad_mode = opt_prop_def(word(a.PadModeAttr))
    pad_value = opt_operand_def(SCALAR)
    left_padding_num = opt_operand_def(INDEX)
    right_padding_num = opt_operand_def(SCALAR)
    init_out_buffer = opt_prop_def(BOOL, default_value=BoolAttr.from_bool(False))
    init_condition = opt_operand_def(SCALAR)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    INS: ClassVar[tuple[str, ...] | None] = (
        "src",
        "pad_value",
        "left_padding_num",
        "right_padding_num",
        "init_condition",
    )
    CLAUSES: ClassVar[tuple[str, ...]] = (
        "pad_mode",
        "pad_value",
        "left_padding_num",
        "init_out_buffer",
        "right_padding_num",
        "init_condition",
    )
    """What may follow the operands, in the order of the text."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values: dict[str, Any] = {}
        for group, name in (("ins", "src"), ("outs", "dst")):
            parser.parse_keyword(group)
            parser.parse_punctuation("(")
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values[name] = parser.resolve_operand(value, parser.parse_type())
            parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        for clause in cls.CLAUSES:
            if parser.parse_optional_keyword(clause) is None:
                continue
            parser.parse_punctuation("=")
            if clause in ("pad_mode", "init_out_buffer"):
                attributes[clause] = parser.parse_attribute()
                continue
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values[clause] = parser.resolve_operand(value, parser.parse_type())
        return build(cls, values, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        print_typed_operands(printer, (self.src,))
        printer.print_string(") outs(")
        print_typed_operands(printer, (self.dst,))
        printer.print_string(")")
        print_attributes(printer, self, ("pad_mode", "init_out_buffer"))
        for clause in self.CLAUSES:
            value = getattr(self, clause)
            if value is None or (clause == "init_out_buffer" and clause not in self.properties):
                continue
            printer.print_string(f" {clause} = ")
            if isinstance(value, Attribute):
                printer.print_attribute(value)
            else:
                print_typed_operands(printer, self.operands_of(clause))


TLoadOp = declare(
    LoadBase,
    "TLoadOp",
    "tload",
    "dst[valid] = src, a window of global memory; boxed layouts are made on the way",
    pipe=Pipe.MTE2,
    rules=[
        _no_empty_window("src"),
        r.dtype("dst", r.MOVABLE),
        r.in_space((AddressSpace.VEC, AddressSpace.MAT), "dst"),
        r.same_width("src", "dst"),
    ],
)


class WindowToTileOp(TileOp):
    """`f(src, dst)`, from a window of global memory"""

    src = operand_def(READ_WINDOW)
    dst = operand_def(WRITE_TILE)


TPrefetchOp = declare(
    WindowToTileOp,
    "TPrefetchOp",
    "tprefetch",
    "brings src nearer, as dst would be loaded; changes no data",
    pipe=Pipe.MTE2,
    rules=[
        _no_empty_window("src"),
        r.in_space((AddressSpace.VEC, AddressSpace.MAT), "dst"),
        r.same_width("src", "dst"),
    ],
)


def _store_pipe(op: PtoOp) -> Pipe:
    return Pipe.FIX if r.tile_operand(op, "src").space == AddressSpace.ACC else Pipe.MTE3


def _same_count(op: PtoOp) -> str | None:
    window = op.operand("dst").type
    rows, cols = r.tile_operand(op, "src").valid_shape
    if not isinstance(window, PartitionTensorViewType) or DYNAMIC in (rows, cols):
        return None
    count = window.static_element_count
    if count is None or not rows * cols or count == rows * cols:
        return None
    return f"got {count} and {rows * cols}"


_FROM_ACC = ("i32", "f32", "f16", "bf16")


def _storable(op: PtoOp) -> str | None:
    tile = r.tile_operand(op, "src")
    source = r.dtype_name(tile.element_type, signless=True)
    window = op.operand("dst").type
    assert isinstance(window, PartitionTensorViewType)
    target = r.dtype_name(window.element_type, signless=True)
    quantised = op.optional_operand("pre_quant_scalar") is not None
    if tile.space != AddressSpace.ACC:
        if quantised:
            return "preQuantScalar form to use loc=acc src"
        if "reluPreMode" in op.properties:
            return "reluPreMode form to use loc=acc src"
        if source not in r.MOVABLE:
            return f"src element type to be one of {', '.join(r.MOVABLE)}, got {source}"
        problem = r.same_width("src", "dst").check(op)
        return problem and f"src and dst element types to have the same bitwidth, {problem}"
    if (exact := r.dtype_name(tile.element_type)) not in ("i32", "f32"):
        return f"acc src element type to be i32 or f32, got {exact}"
    wanted = _FROM_ACC
    if quantised:
        wanted = ("i8", "f16") if source == "i32" else ("i8",)
    if target not in wanted:
        return f"acc dst element type to be {' or '.join(wanted)}, got {target}"
    for what, cols, least in (
        ("cols", tile.get_shape()[1], 1),
        ("valid_shape[1]", tile.valid_shape[1], 0),
    ):
        if cols != DYNAMIC and not least <= cols <= LONGEST:
            return f"acc src {what} to be in [{least}, {LONGEST}], got {cols}"
    return None


class StoreBase(TileOp):
    """`dst = src`, to global memory"""

    PAIRWISE: ClassVar[bool] = True

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_WINDOW)
    pre_quant_scalar = opt_operand_def(I64)
    st_phase = opt_prop_def(
        word(a.STPhaseAttr),
        default_value=a.STPhaseAttr(w.Phase.UNSPECIFIED),
        prop_name="stPhase",
    )
    atomic_type = opt_prop_def(
        word(a.AtomicTypeAttr),
        default_value=a.AtomicTypeAttr(w.AtomicType.NONE),
        prop_name="atomicType",
    )
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        # 0.60 writes the scales of tstore_fp as `tstore ins(%src : T fp %scales : S)`.
        op = super().parse(parser)
        scales = op.operands[-1] if len(op.operands) == 3 else None
        if scales is None or not isinstance(scales.type, TileBufType):
            return op
        values = {"src": op.operands[0], "fp": scales, "dst": op.operands[1]}
        return build(TStoreFPOp, values, dict(op.attributes))

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        values, attributes = super().parse_ins(parser)
        if len(values) == 1 and parser.parse_optional_keyword("fp") is not None:
            scales = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values.append(parser.resolve_operand(scales, parser.parse_type()))
        return values, attributes

    @property
    def is_atomic(self) -> bool:
        """Whether the store adds to what is there."""
        return "atomicType" in self.properties

    def role_of(self, info: OperandInfo) -> Role:
        return Role.UPDATE if info.name == "dst" and self.is_atomic else info.role


_STORE = (
    _no_empty_window("dst"),
    r.in_space((AddressSpace.VEC, AddressSpace.MAT, AddressSpace.ACC), "src"),
    Rule("dst static element count to match that of src valid_shape", _same_count),
)

TStoreOp = declare(
    StoreBase,
    "TStoreOp",
    "tstore",
    "dst = src[valid], in global memory; from an accumulator it may round, scale and clamp",
    pipe=_store_pipe,
    rules=[*_STORE, Rule("", _storable)],
)


def print_scaled_ins(
    op: TileOp, printer: Printer, inside: Mapping[str, Attribute], before_scales: str
) -> None:
    """`%src, %scales : T, S`; in 0.60 the scales follow the types: `%src : T fp %scales : S`."""
    if grammar_of(printer) != Grammar.V0_60:
        TileOp.print_ins(op, printer, inside)
        return
    scales = op.operand("fp")
    others = tuple(v for v in op.present(op.DECLARATION.ins) if v is not scales)
    print_typed_operands(printer, others)
    printer.print_string(before_scales)
    print_typed_operands(printer, (scales,))


class StoreScaledBase(TileOp):
    """`dst = src` scaled column by column, to global memory"""

    src = operand_def(READ_TILE)
    fp = operand_def(READ_TILE)
    dst = operand_def(WRITE_WINDOW)

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        print_scaled_ins(self, printer, inside, " fp ")


TStoreFPOp = declare(
    StoreScaledBase,
    "TStoreFPOp",
    "tstore_fp",
    "dst = src[valid] scaled column by column by fp, in global memory",
    pipe=Pipe.FIX,
    rules=[
        r.in_space(AddressSpace.ACC, "src"),
        r.in_space(AddressSpace.SCALING, "fp"),
        r.dtype("src", ("i32", "f32")),
    ],
    other_names={"0.60": "tstore"},
)
