"""The attributes of the `pto` dialect.

PTOAS spells its enumerations in two ways that never mix: `#pto.layout<nd>` (the word in angle
brackets) and `#pto<cmp eq>` (mnemonic and word, apart by a space). Inside an op some are written
without the mnemonic: `<PIPE_V>`.
"""

from typing import Any, ClassVar

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from pypto_xdsl.dialects.pto import enumerations as words


class _InAngleBrackets:
    """The word stands in angle brackets: `#pto.layout<nd>`. Goes before `EnumAttribute`."""

    data: Any
    enum_type: ClassVar[type[StrEnum]]

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cls.enum_type)


@irdl_attr_definition
class AddressSpaceAttr(_InAngleBrackets, EnumAttribute[words.AddressSpace]):
    """`#pto.address_space<vec>`"""

    name = "pto.address_space"


@irdl_attr_definition
class LayoutAttr(_InAngleBrackets, EnumAttribute[words.Layout]):
    """`#pto.layout<nd>`"""

    name = "pto.layout"


@irdl_attr_definition
class KernelKindAttr(_InAngleBrackets, EnumAttribute[words.KernelKind]):
    """`#pto.kernel_kind<vector>`"""

    name = "pto.kernel_kind"


@irdl_attr_definition
class PipeAttr(_InAngleBrackets, EnumAttribute[words.Pipe]):
    """`#pto.pipe<PIPE_V>`"""

    name = "pto.pipe"


@irdl_attr_definition
class EventAttr(_InAngleBrackets, EnumAttribute[words.Event]):
    """`#pto.event<EVENT_ID0>`"""

    name = "pto.event"


@irdl_attr_definition
class PipeEventTypeAttr(_InAngleBrackets, EnumAttribute[words.SyncOpType]):
    """`#pto.pipe_event_type<TLOAD>`"""

    name = "pto.pipe_event_type"


@irdl_attr_definition
class SyncOpTypeAttr(_InAngleBrackets, EnumAttribute[words.SyncOpType]):
    """`#pto.sync_op_type<TVEC>`"""

    name = "pto.sync_op_type"


@irdl_attr_definition
class MaskPatternAttr(_InAngleBrackets, EnumAttribute[words.MaskPattern]):
    """`#pto.mask_pattern<P0101>`"""

    name = "pto.mask_pattern"


@irdl_attr_definition
class AccToVecModeAttr(_InAngleBrackets, EnumAttribute[words.AccToVecMode]):
    """`#pto.acc_to_vec_mode<single_mode_vec0>`"""

    name = "pto.acc_to_vec_mode"


@irdl_attr_definition
class PadModeAttr(_InAngleBrackets, EnumAttribute[words.PadMode]):
    """`#pto.padmode<PadValue>`"""

    name = "pto.padmode"


@irdl_attr_definition
class PadValueAttr(_InAngleBrackets, EnumAttribute[words.Pad]):
    """`#pto.pad_value<zero>`"""

    name = "pto.pad_value"


@irdl_attr_definition
class TInsertModeAttr(_InAngleBrackets, EnumAttribute[words.TInsertMode]):
    """`#pto.tinsert_mode<split2>`"""

    name = "pto.tinsert_mode"


@irdl_attr_definition
class SyncAllModeAttr(_InAngleBrackets, EnumAttribute[words.SyncAllMode]):
    """`#pto.sync_all_mode<hard>`"""

    name = "pto.sync_all_mode"


@irdl_attr_definition
class SyncCoreTypeAttr(_InAngleBrackets, EnumAttribute[words.SyncCoreType]):
    """`#pto.sync_core_type<mix>`"""

    name = "pto.sync_core_type"


@irdl_attr_definition
class FenceScopeAttr(_InAngleBrackets, EnumAttribute[words.FenceScope]):
    """`#pto.fence_scope<gm>`"""

    name = "pto.fence_scope"


@irdl_attr_definition
class CmpModeAttr(EnumAttribute[words.CmpMode], SpacedOpaqueSyntaxAttribute):
    """`#pto<cmp eq>`"""

    name = "pto.cmp"


@irdl_attr_definition
class RoundModeAttr(EnumAttribute[words.RoundMode], SpacedOpaqueSyntaxAttribute):
    """`#pto<round_mode RINT>`"""

    name = "pto.round_mode"


@irdl_attr_definition
class SaturationModeAttr(EnumAttribute[words.SaturationMode], SpacedOpaqueSyntaxAttribute):
    """`#pto<saturation_mode ON>`"""

    name = "pto.saturation_mode"


@irdl_attr_definition
class DivPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<div_precision high_precision>`"""

    name = "pto.div_precision"


@irdl_attr_definition
class ExpPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<exp_precision high_precision>`"""

    name = "pto.exp_precision"


@irdl_attr_definition
class LogPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<log_precision high_precision>`"""

    name = "pto.log_precision"


@irdl_attr_definition
class RecipPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<recip_precision high_precision>`"""

    name = "pto.recip_precision"


@irdl_attr_definition
class RemPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<rem_precision high_precision>`"""

    name = "pto.rem_precision"


@irdl_attr_definition
class RsqrtPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<rsqrt_precision high_precision>`"""

    name = "pto.rsqrt_precision"


@irdl_attr_definition
class SqrtPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<sqrt_precision high_precision>`"""

    name = "pto.sqrt_precision"


@irdl_attr_definition
class FmodPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<fmod_precision high_precision>`"""

    name = "pto.fmod_precision"


@irdl_attr_definition
class PowPrecisionAttr(EnumAttribute[words.Precision], SpacedOpaqueSyntaxAttribute):
    """`#pto<pow_precision high_precision>`"""

    name = "pto.pow_precision"


@irdl_attr_definition
class STPhaseAttr(EnumAttribute[words.Phase], SpacedOpaqueSyntaxAttribute):
    """`#pto<st_phase final>`"""

    name = "pto.st_phase"


@irdl_attr_definition
class AccPhaseAttr(EnumAttribute[words.Phase], SpacedOpaqueSyntaxAttribute):
    """`#pto<acc_phase final>`"""

    name = "pto.acc_phase"


@irdl_attr_definition
class AtomicTypeAttr(EnumAttribute[words.AtomicType], SpacedOpaqueSyntaxAttribute):
    """`#pto<atomic_type atomic_add>`"""

    name = "pto.atomic_type"


@irdl_attr_definition
class ReluPreModeAttr(EnumAttribute[words.ReluPreMode], SpacedOpaqueSyntaxAttribute):
    """`#pto<relu_pre_mode normal_relu>`"""

    name = "pto.relu_pre_mode"


@irdl_attr_definition
class CoalesceAttr(EnumAttribute[words.Coalesce], SpacedOpaqueSyntaxAttribute):
    """`#pto<coalesce row>`"""

    name = "pto.coalesce"


@irdl_attr_definition
class GatherOobAttr(EnumAttribute[words.GatherOob], SpacedOpaqueSyntaxAttribute):
    """`#pto<gather_oob clamp>`"""

    name = "pto.gather_oob"


@irdl_attr_definition
class ScatterOobAttr(EnumAttribute[words.ScatterOob], SpacedOpaqueSyntaxAttribute):
    """`#pto<scatter_oob skip>`"""

    name = "pto.scatter_oob"


@irdl_attr_definition
class ScatterAtomicOpAttr(EnumAttribute[words.ScatterAtomicOp], SpacedOpaqueSyntaxAttribute):
    """`#pto<scatter_atomic_op add>`"""

    name = "pto.scatter_atomic_op"


@irdl_attr_definition
class ScatterConflictAttr(EnumAttribute[words.ScatterConflict], SpacedOpaqueSyntaxAttribute):
    """`#pto<scatter_conflict last>`"""

    name = "pto.scatter_conflict"


@irdl_attr_definition
class QuantTypeAttr(EnumAttribute[words.QuantType], SpacedOpaqueSyntaxAttribute):
    """`#pto<quant_type INT8_SYM>`"""

    name = "pto.quant_type"


@irdl_attr_definition
class PrintFormatAttr(EnumAttribute[words.PrintFormat], SpacedOpaqueSyntaxAttribute):
    """`#pto<print_format width8_precision4>`"""

    name = "pto.print_format"


@irdl_attr_definition
class NotifyOpAttr(EnumAttribute[words.NotifyOp], SpacedOpaqueSyntaxAttribute):
    """`#pto<notify_op set>`"""

    name = "pto.notify_op"


@irdl_attr_definition
class WaitCmpAttr(EnumAttribute[words.CmpMode], SpacedOpaqueSyntaxAttribute):
    """`#pto<wait_cmp ge>`"""

    name = "pto.wait_cmp"


@irdl_attr_definition
class ReduceOpAttr(EnumAttribute[words.ReduceOp], SpacedOpaqueSyntaxAttribute):
    """`#pto<reduce_op sum>`"""

    name = "pto.reduce_op"


@irdl_attr_definition
class AccPushEpilogueAttr(Data[tuple[words.FixpipeLayout, words.FixpipeQuant, words.FixpipeRelu]]):
    """`#pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>`"""

    name = "pto.acc_push_epilogue"

    @classmethod
    def parse_parameter(
        cls, parser: AttrParser
    ) -> tuple[words.FixpipeLayout, words.FixpipeQuant, words.FixpipeRelu]:
        with parser.in_angle_brackets():
            parser.parse_keyword("layout")
            parser.parse_punctuation("=")
            layout = parser.parse_str_enum(words.FixpipeLayout)
            parser.parse_punctuation(",")
            parser.parse_keyword("quant")
            parser.parse_punctuation("=")
            quant = parser.parse_str_enum(words.FixpipeQuant)
            parser.parse_punctuation(",")
            parser.parse_keyword("relu")
            parser.parse_punctuation("=")
            relu = parser.parse_str_enum(words.FixpipeRelu)
        return layout, quant, relu

    def print_parameter(self, printer: Printer) -> None:
        layout, quant, relu = self.data
        with printer.in_angle_brackets():
            printer.print_string(f"layout = {layout}, quant = {quant}, relu = {relu}")


ATTRIBUTES = [
    AccPhaseAttr,
    AccPushEpilogueAttr,
    AccToVecModeAttr,
    AddressSpaceAttr,
    AtomicTypeAttr,
    CmpModeAttr,
    CoalesceAttr,
    DivPrecisionAttr,
    EventAttr,
    ExpPrecisionAttr,
    FenceScopeAttr,
    FmodPrecisionAttr,
    GatherOobAttr,
    KernelKindAttr,
    LayoutAttr,
    LogPrecisionAttr,
    MaskPatternAttr,
    NotifyOpAttr,
    PadModeAttr,
    PadValueAttr,
    PipeAttr,
    PipeEventTypeAttr,
    PowPrecisionAttr,
    PrintFormatAttr,
    QuantTypeAttr,
    RecipPrecisionAttr,
    ReduceOpAttr,
    ReluPreModeAttr,
    RemPrecisionAttr,
    RoundModeAttr,
    RsqrtPrecisionAttr,
    STPhaseAttr,
    SaturationModeAttr,
    ScatterAtomicOpAttr,
    ScatterConflictAttr,
    ScatterOobAttr,
    SqrtPrecisionAttr,
    SyncAllModeAttr,
    SyncCoreTypeAttr,
    SyncOpTypeAttr,
    TInsertModeAttr,
    WaitCmpAttr,
]
"""Every attribute of the dialect."""
