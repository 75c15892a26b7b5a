"""Ops that move data: between global memory and tiles, between memories, within a tile."""

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
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, BLayout, Pad, Pipe, SLayout
from pypto_xdsl.dialects.pto.matmul import LONGEST
from pypto_xdsl.dialects.pto.operands import (
    I64,
    INDEX,
    NEEDED_SCRATCH_TILE,
    READ_TILE,
    READ_WINDOW,
    SCALAR,
    UPDATE_TILE,
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

VEC, MAT, ACC = AddressSpace.VEC, AddressSpace.MAT, AddressSpace.ACC
LEFT, RIGHT = AddressSpace.LEFT, AddressSpace.RIGHT
BIAS, SCALING = AddressSpace.BIAS, AddressSpace.SCALING

NO_RELU = a.ReluPreModeAttr(w.ReluPreMode.NO_RELU)


def _tile(op: PtoOp, name: str) -> TileBufType:
    tile = op.operand(name).type
    assert isinstance(tile, TileBufType)
    return tile


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
        r.in_space((VEC, MAT), "dst"),
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
        r.in_space((VEC, MAT), "dst"),
        r.same_width("src", "dst"),
    ],
)


def _store_pipe(op: PtoOp) -> Pipe:
    return Pipe.FIX if _tile(op, "src").space == ACC else Pipe.MTE3


def _same_count(op: PtoOp) -> str | None:
    window = op.operand("dst").type
    rows, cols = _tile(op, "src").valid_shape
    if not isinstance(window, PartitionTensorViewType) or DYNAMIC in (rows, cols):
        return None
    count = window.static_element_count
    if count is None or not rows * cols or count == rows * cols:
        return None
    return f"got {count} and {rows * cols}"


_FROM_ACC = ("i32", "f32", "f16", "bf16")


def _storable(op: PtoOp) -> str | None:
    tile = _tile(op, "src")
    source = r.dtype_name(tile.element_type, signless=True)
    window = op.operand("dst").type
    assert isinstance(window, PartitionTensorViewType)
    target = r.dtype_name(window.element_type, signless=True)
    quantised = op.optional_operand("pre_quant_scalar") is not None
    if tile.space != ACC:
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
    r.in_space((VEC, MAT, ACC), "src"),
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
        r.in_space(ACC, "src"),
        r.in_space(SCALING, "fp"),
        r.dtype("src", ("i32", "f32")),
    ],
    other_names={"0.60": "tstore"},
)

MOVES = {
    (MAT, LEFT): Pipe.MTE1,
    (MAT, RIGHT): Pipe.MTE1,
    (MAT, BIAS): Pipe.MTE1,
    (MAT, SCALING): Pipe.FIX,
    (VEC, VEC): Pipe.V,
    (ACC, MAT): Pipe.FIX,
    (ACC, VEC): Pipe.FIX,
}
"""The moves between two memories of a core, and the pipe of each."""


def _move_pipe(op: PtoOp) -> Pipe:
    return MOVES.get((_tile(op, "src").space, _tile(op, "dst").space), Pipe.V)


def _is_nz(tile: TileBufType) -> bool:
    return tile.blayout == BLayout.COL_MAJOR and tile.slayout == SLayout.ROW_MAJOR


def _movable(op: PtoOp) -> str | None:
    src, dst = _tile(op, "src"), _tile(op, "dst")
    pair = (src.space, dst.space)
    if pair not in MOVES:
        return f"a supported tmov address-space pair, got {src.space} to {dst.space}"
    if src.get_shape() != dst.get_shape():
        return (
            f"matching src/dst shapes, got {r.shape_text(src.get_shape())} and "
            f"{r.shape_text(dst.get_shape())}"
        )
    fp = op.optional_operand("fp") if any(i.name == "fp" for i in op.DECLARATION.operands) else None
    scalar = op.optional_operand("pre_quant_scalar")
    if fp is not None and scalar is not None:
        return "fp and preQuantScalar forms to be mutually exclusive"
    relu = "reluPreMode" in op.properties
    if src.space != ACC:
        for present, form in (
            (fp, "fp"),
            (scalar, "preQuantScalar"),
            (relu or None, "reluPreMode"),
        ):
            if present is not None:
                return f"{form} form to use loc=acc src"
    if "accToVecMode" in op.properties and pair != (ACC, VEC):
        return "accToVecMode to be used only for acc-to-vec tmov"
    if fp is not None:
        scale = _tile(op, "fp")
        if scale.space != SCALING:
            return f"fp to use loc=scaling, got loc={scale.space}"
        if r.dtype_name(src.element_type, signless=True) not in ("i32", "f32"):
            return f"fp form src element type to be f32 or i32, got {src.element_type}"
    if src.space == ACC and (fp is not None or relu) and not _is_nz(src):
        return "src to use blayout=col_major and slayout=row_major"
    if pair == (ACC, MAT) and dst.fractal != 512:
        return f"acc-to-mat destination fractal to be 512, got {dst.fractal}"
    return None


class MoveBase(TileOp):
    """`dst = src`, between memories of one core"""

    PAIRWISE: ClassVar[bool] = True

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    fp = opt_operand_def(READ_TILE)
    pre_quant_scalar = opt_operand_def(I64)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if len(values) > 3:
            return super().assign_ins(parser, values, position)
        named: dict[str, Any] = {"src": values[0]}
        for value in values[1:]:
            name = "fp" if isinstance(value.type, TileBufType) else "pre_quant_scalar"
            if name in named:
                parser.raise_error(f"{cls.name} has {name} twice", position)
            named[name] = value
        return named


TMovOp = declare(
    MoveBase,
    "TMovOp",
    "tmov",
    "dst = src; from an accumulator it may round, scale and clamp",
    pipe=_move_pipe,
    rules=[Rule("", _movable)],
)


class MoveScaledBase(TileOp):
    """`dst = src` scaled column by column, from an accumulator"""

    src = operand_def(READ_TILE)
    fp = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        print_scaled_ins(self, printer, inside, ", ")


def _nz(name: str, fractal: int | None = None) -> Rule:
    def check(op: PtoOp) -> str | None:
        tile = r.tile_of(op, name)
        if tile is None:
            return None
        if not _is_nz(tile):
            return f"got blayout={tile.blayout} and slayout={tile.slayout}"
        if fractal is not None and tile.fractal != fractal:
            return f"got fractal={tile.fractal}"
        return None

    size = "" if fractal is None else f", and fractal={fractal}"
    return Rule(f"{name} to use blayout=col_major and slayout=row_major{size}", check)


_SCALED = (
    r.in_space(ACC, "src"),
    r.in_space(SCALING, "fp"),
    r.in_space(MAT, "dst"),
    r.dtype("src", ("i32", "f32")),
    _nz("src"),
    _nz("dst", 512),
)

TMovFPOp = declare(
    MoveScaledBase,
    "TMovFPOp",
    "tmov.fp",
    "dst = src scaled column by column by fp",
    pipe=Pipe.FIX,
    rules=_SCALED,
    other_names={"0.60": "tmov"},
)

SCALED_TO = {"f32": ("i8",), "i32": ("i8", "f16", "i16")}
"""Elements of an accumulator, and what they may be scaled to."""


def _scaled_pair(op: PtoOp) -> str | None:
    source = r.dtype_name(_tile(op, "src").element_type, signless=True)
    target = r.dtype_name(_tile(op, "dst").element_type, signless=True)
    return None if target in SCALED_TO.get(source, ()) else f"got {source} to {target}"


_SCALED_PAIR = Rule("element types to be f32 to i8, or i32 to i8, f16 or i16", _scaled_pair)

_PLAIN = ("i8", "f16", "bf16", "f32")


def _acc_pair(op: PtoOp) -> str | None:
    """The element types an accumulator is drained to."""
    source = r.dtype_name(_tile(op, "src").element_type, signless=True)
    target = r.dtype_name(_tile(op, "dst").element_type, signless=True)
    scaled = op.optional_operand("pre_quant_scalar") is not None
    by_column = getattr(op, "fp", None) is not None
    wanted: tuple[str, ...] = ()
    if scaled or by_column:
        wanted = SCALED_TO.get(source, ())
    if not scaled and source == "f32":
        wanted = (*wanted, "f16", "bf16")
    if target in wanted:
        return None
    return (
        "acc element types to be f32 to f16 or bf16, or with preQuantScalar f32 to i8 and i32 to "
        f"i8, f16 or i16, got {source} to {target}"
    )


def _drain(op: PtoOp) -> str | None:
    for rule in (_nz("src"), _nz("dst", 512)):
        if (problem := rule.check(op)) is not None:
            return f"{rule.text}, {problem}"
    return _acc_pair(op)


def _window_in(large: str, small: str, *, by_valid: bool) -> Rule:
    def check(op: PtoOp) -> str | None:
        big, little = _tile(op, large), _tile(op, small)
        extents = little.valid_shape if by_valid else little.get_shape()
        for name, extent, room in zip(
            ("index_row", "index_col"), extents, big.get_shape(), strict=True
        ):
            at = r.constant_value(op.operand(name))
            if at is None:
                continue
            if at < 0:
                return f"got {at} for {name}"
            if extent != DYNAMIC and at + extent > room:
                return f"got {name}={at}, {extent} of {room}"
        return None

    return Rule(f"the window of {small} to lie in {large}", check)


def _extract_pipe(op: PtoOp) -> Pipe:
    return {MAT: Pipe.MTE1, ACC: Pipe.FIX}.get(_tile(op, "src").space, Pipe.V)


def _extractable(op: PtoOp) -> str | None:
    src, dst = _tile(op, "src"), _tile(op, "dst")
    if src.space != ACC and src.element_type != dst.element_type:
        return (
            "src and dst to have the same element type, got "
            f"{r.dtype_name(src.element_type)} and {r.dtype_name(dst.element_type)}"
        )
    scalar = op.optional_operand("pre_quant_scalar")
    target = r.dtype_name(dst.element_type, signless=True)
    if target not in _PLAIN and not (src.space == ACC and scalar is not None and target == "i16"):
        return f"element type to be i8/f16/bf16/f32, got {target}"
    if src.space != ACC:
        if scalar is not None:
            return "preQuantScalar form to use loc=acc src"
        if "reluPreMode" in op.properties:
            return "reluPreMode form to use loc=acc src"
    if "accToVecMode" in op.properties:
        return "no accToVecMode, which exists on A5 only"
    match src.space, dst.space:
        case (AddressSpace.VEC, AddressSpace.VEC):
            return None
        case (AddressSpace.ACC, AddressSpace.MAT):
            return _drain(op)
        case (AddressSpace.MAT, AddressSpace.LEFT):
            # PTOAS reads either blayout of a left tile as the one of the target.
            if dst.slayout != SLayout.ROW_MAJOR:
                return f"left dst to use row_major slayout, got {dst.slayout}"
        case (AddressSpace.MAT, AddressSpace.RIGHT):
            if (dst.blayout, dst.slayout) != (BLayout.ROW_MAJOR, SLayout.COL_MAJOR):
                return (
                    "right dst to use row_major blayout and col_major slayout, got "
                    f"{dst.blayout} and {dst.slayout}"
                )
        case _:
            return (
                "to go from mat to left or right, from acc to mat, or from vec to vec, got "
                f"{src.space} to {dst.space}"
            )
    if src.blayout != BLayout.ROW_MAJOR and src.slayout != SLayout.ROW_MAJOR:
        return (
            "src to use a supported mat blayout/slayout combination, got "
            f"{src.blayout} and {src.slayout}"
        )
    return None


CLAUSES = ("fp", "pre_quant")
"""What 0.60 writes behind the operands of textract and tinsert; 0.57 for tinsert only."""


def parse_scale_clauses(parser: Parser, values: list[SSAValue]) -> None:
    """`fp %s : S`, `pre_quant %q : i64`, appended to the operands read so far."""
    for keyword in CLAUSES:
        if parser.parse_optional_keyword(keyword) is not None:
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values.append(parser.resolve_operand(value, parser.parse_type()))


class ExtractBase(TileOp):
    """`dst = src[index_row + r, index_col + c]`"""

    src = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    pre_quant_scalar = opt_operand_def(I64)
    dst = operand_def(WRITE_TILE)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        # 0.60 writes textract_fp as textract with `fp`.
        op = super().parse(parser)
        if len(op.operands) != 5 or not isinstance(op.operands[3].type, TileBufType):
            return op
        names = ("src", "index_row", "index_col", "fp", "dst")
        values: dict[str, Any] = dict(zip(names, op.operands, strict=True))
        return build(TExtractFPOp, values, {**op.properties, **op.attributes})

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        values, attributes = super().parse_ins(parser)
        if len(values) == 3:
            parse_scale_clauses(parser, values)
        return values, attributes


TExtractOp = declare(
    ExtractBase,
    "TExtractOp",
    "textract",
    "dst[r, c] = src[index_row + r, index_col + c]",
    pipe=_extract_pipe,
    rules=[_window_in("src", "dst", by_valid=False), Rule("", _extractable)],
)


class ExtractScaledBase(TileOp):
    """`dst = src[index_row + r, index_col + c]` scaled column by column"""

    src = operand_def(READ_TILE)
    fp = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    dst = operand_def(WRITE_TILE)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        print_scaled_ins(self, printer, inside, " fp ")


TExtractFPOp = declare(
    ExtractScaledBase,
    "TExtractFPOp",
    "textract_fp",
    "dst[r, c] = src[index_row + r, index_col + c] scaled column by column by fp",
    pipe=Pipe.FIX,
    rules=[*_SCALED, _SCALED_PAIR, _window_in("src", "dst", by_valid=False)],
    other_names={"0.60": "textract"},
)


class InsertScaledBase(TileOp):
    """`dst[index_row + r, index_col + c] = src` scaled column by column"""

    src = operand_def(READ_TILE)
    fp = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    dst = operand_def(UPDATE_TILE)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        print_scaled_ins(self, printer, inside, " fp ")


TInsertFPOp = declare(
    InsertScaledBase,
    "TInsertFPOp",
    "tinsert_fp",
    "dst[index_row + r, index_col + c] = src[r, c] scaled column by column by fp",
    pipe=Pipe.FIX,
    rules=[*_SCALED, _SCALED_PAIR, _window_in("dst", "src", by_valid=True)],
    other_names={"0.60": "tinsert"},
)


def _insert_pipe(op: PtoOp) -> Pipe:
    return Pipe.FIX if _tile(op, "src").space == ACC else Pipe.V


def _insertable(op: PtoOp) -> str | None:
    src, dst = _tile(op, "src"), _tile(op, "dst")
    fp, scalar = op.optional_operand("fp"), op.optional_operand("pre_quant_scalar")
    if fp is not None and scalar is not None:
        return "fp and preQuantScalar to be mutually exclusive"
    for name in ("accToVecMode", "tinsertMode"):
        if name in op.properties:
            return f"no {name}, which exists on A5 only"
    pair = (src.space, dst.space)
    if pair == (VEC, VEC):
        if fp is not None or scalar is not None or "reluPreMode" in op.properties:
            return "the vec to vec form without fp, preQuantScalar and reluPreMode"
        dtype = r.dtype_name(src.element_type, signless=True)
        if src.element_type != dst.element_type or dtype not in _PLAIN:
            return (
                "src and dst to have one element type of i8/f16/bf16/f32, got "
                f"{r.dtype_name(src.element_type)} and {r.dtype_name(dst.element_type)}"
            )
        return None
    if pair != (ACC, MAT):
        return f"to use acc to mat or vec to vec, got {src.space} to {dst.space}"
    if fp is not None and _tile(op, "fp").space != SCALING:
        return f"fp to use loc=scaling, got loc={_tile(op, 'fp').space}"
    return _drain(op)


class InsertBase(TileOp):
    """`dst[index_row + r, index_col + c] = src`"""

    src = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    dst = operand_def(UPDATE_TILE)
    fp = opt_operand_def(READ_TILE)
    pre_quant_scalar = opt_operand_def(I64)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )
    tinsert_mode = opt_prop_def(word(a.TInsertModeAttr), prop_name="tinsertMode")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        values, attributes = super().parse_ins(parser)
        if len(values) == 3:
            parse_scale_clauses(parser, values)
        return values, attributes

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        named = super().assign_ins(parser, values[:3], position)
        for value in values[3:]:
            is_tile = isinstance(value.type, TileBufType)
            named["fp" if is_tile else "pre_quant_scalar"] = value
        return named

    def print_ins(self, printer: Printer, inside: Any) -> None:
        print_typed_operands(printer, (self.src, self.index_row, self.index_col))
        for keyword, value in zip(CLAUSES, (self.fp, self.pre_quant_scalar), strict=True):
            if value is not None:
                printer.print_string(f" {keyword} ")
                print_typed_operands(printer, (value,))


TInsertOp = declare(
    InsertBase,
    "TInsertOp",
    "tinsert",
    "dst[index_row + r, index_col + c] = src[r, c]",
    pipe=_insert_pipe,
    rules=[_window_in("dst", "src", by_valid=True), Rule("", _insertable)],
)


def _fill_pipe(op: PtoOp) -> Pipe:
    return Pipe.MTE2 if _tile(op, "dst").space == MAT else Pipe.V


def _padded(op: PtoOp) -> str | None:
    if _tile(op, "dst").pad == Pad.NULL:
        return "got pad=0"
    return None


_FILL = (
    r.in_space((VEC, MAT), "src", "dst"),
    r.same_width("src", "dst"),
    r.dtype("src", r.NARROW),
)
_PAD = Rule("dst pad not to be null", _padded)


class FillPadBase(TileOp):
    """`dst = src`, padded"""

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        # 0.60 has one name for both.
        op = super().parse(parser)
        src, dst = r.tile_of(op, "src"), r.tile_of(op, "dst")
        if cls is not TFillPadOp or src is None or dst is None or op.properties:
            return op
        larger = src.get_shape() != dst.get_shape() and _no_smaller(op) is None
        return TFillPadExpandOp.create(operands=op.operands) if larger else op


def _no_smaller(op: PtoOp) -> str | None:
    src, dst = _tile(op, "src").get_shape(), _tile(op, "dst").get_shape()
    if dst[0] >= src[0] and dst[1] >= src[1]:
        return None
    return f"got {r.shape_text(src)} and {r.shape_text(dst)}"


def _matching_pad(op: PtoOp) -> str | None:
    value: Any = op.properties.get("padValue")
    src, dst = _tile(op, "src"), _tile(op, "dst")
    if src.space == MAT and dst.space == MAT and src != dst:
        return f"src and dst in mat to have the same type, got {src} and {dst}"
    if value is None:
        return None
    if dst.space != MAT:
        return f"padValue only for loc=mat, got loc={dst.space}"
    if value.data != dst.pad:
        return f"padValue to match the pad of dst, got {value.data} and {dst.pad}"
    return None


TFillPadOp = declare(
    FillPadBase,
    "TFillPadOp",
    "tfillpad",
    "dst = src where src is valid, the pad value in the rest of the box",
    pipe=_fill_pipe,
    rules=[*_FILL, _PAD, r.same_box("src", "dst"), Rule("", _matching_pad)],
    in_place=["src"],
    pad_value=opt_prop_def(word(a.PadValueAttr), prop_name="padValue"),
)
TFillPadExpandOp = declare(
    FillPadBase,
    "TFillPadExpandOp",
    "tfillpad_expand",
    "dst = src where src is valid, the pad value in the rest of a box that may be larger",
    pipe=_fill_pipe,
    rules=[*_FILL, _PAD, Rule("dst shape to be no smaller than that of src", _no_smaller)],
    other_names={"0.60": "tfillpad"},
)
TFillPadInplaceOp = declare(
    FillPadBase,
    "TFillPadInplaceOp",
    "tfillpad_inplace",
    "as tfillpad, src and dst being the same bytes",
    pipe=_fill_pipe,
    rules=[*_FILL, _PAD, r.same_box("src", "dst")],
    in_place=["src"],
    other_names={"0.60": "tfillpad"},
)


class TransposeBase(TileOp):
    """`dst[c, r] = src[r, c]`"""

    src = operand_def(READ_TILE)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TTransOp = declare(
    TransposeBase,
    "TTransOp",
    "ttrans",
    "dst[c, r] = src[r, c]",
    pipe=Pipe.V,
    rules=[
        r.in_vec("src", "tmp", "dst"),
        r.row_major("src"),
        r.same_dtype("src", "tmp", "dst"),
        r.dtype("src", r.NARROW),
    ],
)


class ConcatBase(TileOp):
    """`dst = [src0 | src1]`"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


def _columns_fit(op: PtoOp) -> str | None:
    src0, src1, dst = (_tile(op, name) for name in ("src0", "src1", "dst"))
    widths = (src0.valid_shape[1], src1.valid_shape[1])
    if DYNAMIC in widths or sum(widths) <= dst.get_shape()[1]:
        return None
    return f"got {widths[0]} and {widths[1]} in {dst.get_shape()[1]}"


_CONCAT = (
    r.in_vec("src0", "src1", "dst"),
    r.same_dtype("src0", "src1", "dst"),
    r.dtype("dst", r.NARROW),
    r.same_valid_dim("row", "src0", "src1", "dst"),
)

TConcatOp = declare(
    ConcatBase,
    "TConcatOp",
    "tconcat",
    "dst = the columns of src0, then those of src1",
    pipe=Pipe.V,
    rules=[*_CONCAT, Rule("the valid columns of src0 and src1 to fit in dst", _columns_fit)],
)


class ConcatIdxBase(TileOp):
    """`dst = [src0 | src1]`, each as far as its index tile says"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    src0_idx = operand_def(READ_TILE)
    src1_idx = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


TConcatIdxOp = declare(
    ConcatIdxBase,
    "TConcatIdxOp",
    "tconcatidx",
    "dst = the columns of src0, then those of src1, each as many as its index tile says",
    pipe=Pipe.V,
    rules=[*_CONCAT, r.in_vec("src0_idx", "src1_idx")],
)
