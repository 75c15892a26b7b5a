"""The closed word lists of the `pto` dialect.

Each is a `StrEnum` whose values are the words of the text, in PTOAS's order, so that a member's
position is PTOAS's number where one is written as a number (`pad=1`, `compact=1`). `attributes.py`
makes the attributes of them.
"""

from xdsl.utils.str_enum import StrEnum


class AddressSpace(StrEnum):
    """Where bytes live: global memory and the on-chip memories of one core."""

    ZERO = "zero"
    GM = "gm"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    VEC = "vec"
    BIAS = "bias"
    SCALING = "scaling"


class BLayout(StrEnum):
    """Order of the boxes of a tile; of its elements where there are no boxes."""

    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


class SLayout(StrEnum):
    """Order of the elements in a box; `NONE_BOX` for a tile without boxes."""

    NONE_BOX = "none_box"
    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


class Pad(StrEnum):
    """What stands outside the valid region of a tile; written as a number in a type."""

    NULL = "null"
    ZERO = "zero"
    MAX = "max"
    MIN = "min"


class Compact(StrEnum):
    """Whether only the valid region of a tile is packed; written as a number in a type."""

    NULL = "null"
    NORMAL = "normal"
    ROW_PLUS_ONE = "row_plus_one"


class Layout(StrEnum):
    """Layout of a view of global memory. The last two exist for A5 only."""

    ND = "nd"
    DN = "dn"
    NZ = "nz"
    MX_A_ZZ = "mx_a_zz"
    MX_B_NN = "mx_b_nn"


class KernelKind(StrEnum):
    """The core a function runs on."""

    CUBE = "cube"
    VECTOR = "vector"


class Pipe(StrEnum):
    """A hardware queue of instructions that runs beside the others."""

    S = "PIPE_S"
    V = "PIPE_V"
    M = "PIPE_M"
    MTE1 = "PIPE_MTE1"
    MTE2 = "PIPE_MTE2"
    MTE3 = "PIPE_MTE3"
    ALL = "PIPE_ALL"
    MTE4 = "PIPE_MTE4"
    MTE5 = "PIPE_MTE5"
    V2 = "PIPE_V2"
    FIX = "PIPE_FIX"
    VIRTUAL_MTE2_L1A = "VIRTUAL_PIPE_MTE2_L1A"
    VIRTUAL_MTE2_L1B = "VIRTUAL_PIPE_MTE2_L1B"
    NUM = "PIPE_NUM"
    UNASSIGNED = "PIPE_UNASSIGNED"


class Event(StrEnum):
    """A flag between two pipes of one core."""

    ID0 = "EVENT_ID0"
    ID1 = "EVENT_ID1"
    ID2 = "EVENT_ID2"
    ID3 = "EVENT_ID3"
    ID4 = "EVENT_ID4"
    ID5 = "EVENT_ID5"
    ID6 = "EVENT_ID6"
    ID7 = "EVENT_ID7"


class SyncOpType(StrEnum):
    """A kind of instruction, standing for the pipe it runs on."""

    TLOAD = "TLOAD"
    TSTORE_ACC = "TSTORE_ACC"
    TSTORE_VEC = "TSTORE_VEC"
    TMOV_M2L = "TMOV_M2L"
    TMOV_M2S = "TMOV_M2S"
    TMOV_M2B = "TMOV_M2B"
    TMOV_M2V = "TMOV_M2V"
    TMOV_V2M = "TMOV_V2M"
    TMATMUL = "TMATMUL"
    TVEC = "TVEC"
    TVECWAIT_EVENT = "TVECWAIT_EVENT"


class CmpMode(StrEnum):
    """A comparison of two elements."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"


class RoundMode(StrEnum):
    """How a conversion rounds; `RINT` is half to even, `ROUND` half away from zero."""

    NONE = "NONE"
    RINT = "RINT"
    ROUND = "ROUND"
    FLOOR = "FLOOR"
    CEIL = "CEIL"
    TRUNC = "TRUNC"
    ODD = "ODD"
    CAST_RINT = "CAST_RINT"


class SaturationMode(StrEnum):
    """Whether a conversion clamps (`ON`) or wraps (`OFF`)."""

    ON = "ON"
    OFF = "OFF"


class MaskPattern(StrEnum):
    """Which of each four elements count; read right to left, `P0101` keeps 0 and 2."""

    P0101 = "P0101"
    P1010 = "P1010"
    P0001 = "P0001"
    P0010 = "P0010"
    P0100 = "P0100"
    P1000 = "P1000"
    P1111 = "P1111"


class Precision(StrEnum):
    """Whether an op uses its slower, more exact form."""

    DEFAULT = "default"
    HIGH_PRECISION = "high_precision"


class Phase(StrEnum):
    """The place of one op in a chain that accumulates into one tile."""

    UNSPECIFIED = "unspecified"
    PARTIAL = "partial"
    FINAL = "final"


class AtomicType(StrEnum):
    """Whether a store adds to what is there."""

    NONE = "atomic_none"
    ADD = "atomic_add"


class ReluPreMode(StrEnum):
    """What is applied to accumulator values before they are converted."""

    NO_RELU = "no_relu"
    NORMAL_RELU = "normal_relu"
    SCALAR_RELU = "scalar_relu"
    VECTOR_RELU = "vector_relu"
    PWL = "pwl"


class AccToVecMode(StrEnum):
    """How an accumulator is divided over the two vector cores (A5)."""

    SINGLE_MODE_VEC0 = "single_mode_vec0"
    SINGLE_MODE_VEC1 = "single_mode_vec1"
    DUAL_MODE_SPLIT_M = "dual_mode_split_m"
    DUAL_MODE_SPLIT_N = "dual_mode_split_n"


class PadMode(StrEnum):
    """What a load writes beside what it read."""

    PAD_NULL = "PadNull"
    PAD_FIRST_ELEM = "PadFirstElem"
    PAD_VALUE = "PadValue"


class Coalesce(StrEnum):
    """Whether an index names a row or an element."""

    ROW = "row"
    ELEM = "elem"


class GatherOob(StrEnum):
    """What a gather does with an index out of bounds."""

    UNDEFINED = "undefined"
    CLAMP = "clamp"
    WRAP = "wrap"
    ZERO = "zero"


class ScatterOob(StrEnum):
    """What a scatter does with an index out of bounds."""

    UNDEFINED = "undefined"
    SKIP = "skip"
    CLAMP = "clamp"
    WRAP = "wrap"


class ScatterAtomicOp(StrEnum):
    """How a scatter combines with what is there."""

    NONE = "none"
    ADD = "add"
    MAX = "max"
    MIN = "min"


class ScatterConflict(StrEnum):
    """Which of two equal indices wins."""

    DEFAULT = "default"
    LAST = "last"


class QuantType(StrEnum):
    """The kind of a quantisation. The MX words exist for A5 only."""

    INT8_SYM = "INT8_SYM"
    INT8_ASYM = "INT8_ASYM"
    MXFP8 = "MXFP8"
    MXFP4_E2M1 = "MXFP4_E2M1"


class TInsertMode(StrEnum):
    """How many parts an insert is split into (A5)."""

    SPLIT2 = "split2"
    SPLIT4 = "split4"


class PrintFormat(StrEnum):
    """Width and digits of the numbers of a printed tile."""

    WIDTH8_PRECISION4 = "width8_precision4"
    WIDTH8_PRECISION2 = "width8_precision2"
    WIDTH10_PRECISION6 = "width10_precision6"


class SyncAllMode(StrEnum):
    """Whether all cores meet by hardware flags or by a counter in global memory."""

    HARD = "hard"
    SOFT = "soft"


class SyncCoreType(StrEnum):
    """Which cores meet."""

    AIV_ONLY = "aiv_only"
    AIC_ONLY = "aic_only"
    MIX = "mix"


class FenceScope(StrEnum):
    """Which memory a fence orders."""

    LOCAL_MEMORY = "local_memory"
    GM = "gm"
    ALL = "all"


class NotifyOp(StrEnum):
    """How a signal changes when it is notified."""

    ATOMIC_ADD = "atomic_add"
    SET = "set"


class ReduceOp(StrEnum):
    """How a collective combines contributions."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"


class FixpipeLayout(StrEnum):
    """Layout an accumulator is drained to."""

    NZ2ND = "nz2nd"
    NZ2DN = "nz2dn"
    NZ2NZ = "nz2nz"


class FixpipeQuant(StrEnum):
    """Conversion an accumulator is drained with."""

    NO_CONVERT = "no_convert"
    F32_F16 = "f32_f16"
    F32_BF16 = "f32_bf16"
    REQ8_SCALAR = "req8_scalar"
    REQ8_VEC = "req8_vec"
    DEQF16_SCALAR = "deqf16_scalar"
    DEQF16_VEC = "deqf16_vec"
    QF322B8_PRE_SCALAR = "qf322b8_pre_scalar"
    QF322B8_PRE_VEC = "qf322b8_pre_vec"
    QF322F16_PRE_SCALAR = "qf322f16_pre_scalar"
    QF322BF16_PRE_SCALAR = "qf322bf16_pre_scalar"
    QS322BF16_PRE_SCALAR = "qs322bf16_pre_scalar"
    QS322BF16_PRE_VEC = "qs322bf16_pre_vec"
    QF322HIF8_PRE_SCALAR = "qf322hif8_pre_scalar"
    QF322FP8_PRE_SCALAR = "qf322fp8_pre_scalar"


class FixpipeRelu(StrEnum):
    """What is applied to an accumulator as it is drained."""

    NO_RELU = "no_relu"
    NORMAL_RELU = "normal_relu"
