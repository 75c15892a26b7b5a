"""
How PyPTO's Python DSL spells the words of the dialects.

One table a kind of word, used in both directions: by the front end to read, by the target `pl` to
print.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    IndexType,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

from pypto_xdsl.dialects.orch.attributes import (
    TASK_ID,
    ArgDirection,
    CachePolicy,
    FunctionKind,
    Level,
    Role,
    SplitMode,
)
from pypto_xdsl.dialects.ptensor.attributes import (
    AtomicKind,
    CompareMode,
    MaskPattern,
    PadValue,
)
from pypto_xdsl.dialects.ptensor.types import TensorLayout
from pypto_xdsl.dialects.tile.attributes import MemorySpace, TileLayout

INDEX = IndexType()


def _unsigned(width: int) -> IntegerType:
    return IntegerType(width, Signedness.UNSIGNED)


DTYPES: Mapping[str, Attribute] = {
    "BOOL": i1,
    "INT4": IntegerType(4),
    "INT8": i8,
    "INT16": i16,
    "INT32": i32,
    "INT64": i64,
    "INDEX": INDEX,
    "UINT4": _unsigned(4),
    "UINT8": _unsigned(8),
    "UINT16": _unsigned(16),
    "UINT32": _unsigned(32),
    "UINT64": _unsigned(64),
    "FP8E4M3FN": Float8E4M3FNType(),
    "FP8E5M2": Float8E5M2Type(),
    "FP16": f16,
    "FP32": f32,
    "BF16": bf16,
    "TASK_ID": TASK_ID,
}
"""`pl.X` -> the type of a scalar, or of the elements of a tensor or tile."""

DTYPE_NAMES: Mapping[Attribute, str] = {type: name for name, type in DTYPES.items()}

UNSUPPORTED_DTYPES = ("FP4", "FP8E8M0", "FP64", "HF4", "HF8")
"""Element types of PyPTO that no op of ours has."""


UNNAMED = re.compile(r"_\d+")
"""The names of symbols for extents that have none, which signatures cannot leave out."""


@dataclass(frozen=True)
class EnumWord:
    """A word like `pl.Mem.Vec`: the name of the enum, that of the member, and what it means."""

    enum: str
    member: str
    value: Enum | int | str

    def __str__(self) -> str:
        return f"pl.{self.enum}.{self.member}"


_MEMORY: dict[str, Enum | int | str] = {
    "Vec": MemorySpace.VEC,
    "Mat": MemorySpace.MAT,
    "Left": MemorySpace.LEFT,
    "Right": MemorySpace.RIGHT,
    "Acc": MemorySpace.ACC,
    "Bias": MemorySpace.BIAS,
    "DDR": "DDR",
}
_FUNCTION_KINDS: dict[str, Enum | int | str] = {
    "Opaque": FunctionKind.OPAQUE,
    "Orchestration": FunctionKind.ORCHESTRATION,
    "InCore": FunctionKind.INCORE,
    "AIC": FunctionKind.AIC,
    "AIV": FunctionKind.AIV,
    "Group": FunctionKind.GROUP,
    "Spmd": FunctionKind.SPMD,
    "Inline": FunctionKind.INLINE,
    "Graph": FunctionKind.GRAPH,
}
_LEVELS: dict[str, Enum | int | str] = {
    "AIV": Level.AIV,
    "AIC": Level.AIC,
    "CORE_GROUP": Level.CORE_GROUP,
    "CHIP_DIE": Level.CHIP_DIE,
    "CHIP": Level.CHIP,
    "HOST": Level.HOST,
    "CLUSTER_0": Level.CLUSTER_0,
    "CLUSTER_1": Level.CLUSTER_1,
    "CLUSTER_2": Level.CLUSTER_2,
    "GLOBAL": Level.GLOBAL,
    "L2CACHE": Level.CHIP_DIE,
    "PROCESSOR": Level.CHIP,
    "UMA": Level.CHIP,
    "NODE": Level.HOST,
    "POD": Level.CLUSTER_0,
    "CLOS1": Level.CLUSTER_1,
    "CLOS2": Level.CLUSTER_2,
}
_LAYOUTS: dict[str, Enum | int | str] = {
    "ND": TensorLayout.ND,
    "DN": TensorLayout.DN,
    "NZ": TensorLayout.NZ,
    "MX_A_ZZ": "MX_A_ZZ",
    "MX_B_NN": "MX_B_NN",
}

ENUMS: Mapping[str, Mapping[str, Enum | int | str]] = {
    "Mem": _MEMORY,
    "MemorySpace": _MEMORY,
    "FunctionType": _FUNCTION_KINDS,
    "Level": _LEVELS,
    "Role": {
        "Orchestrator": Role.ORCHESTRATOR,
        "SubWorker": Role.SUB_WORKER,
        "Worker": Role.SUB_WORKER,
    },
    "SplitMode": {
        "NONE": SplitMode.NONE,
        "UP_DOWN": SplitMode.UP_DOWN,
        "LEFT_RIGHT": SplitMode.LEFT_RIGHT,
    },
    "TensorLayout": _LAYOUTS,
    "TileLayout": {
        "none_box": TileLayout.NONE_BOX,
        "row_major": TileLayout.ROW_MAJOR,
        "col_major": TileLayout.COL_MAJOR,
    },
    "PadValue": {
        "null": PadValue.NULL,
        "zero": PadValue.ZERO,
        "max": PadValue.MAX,
        "min": PadValue.MIN,
    },
    "CompactMode": {"null": 0, "normal": 1},
    "ScopeMode": {"AUTO": "auto", "MANUAL": "manual"},
    "AtomicType": {"None_": AtomicKind.NONE, "Add": AtomicKind.ADD},
    "CachePolicy": {"DEFAULT": CachePolicy.DEFAULT, "BYPASS": CachePolicy.BYPASS},
    "CmpMode": {
        "EQ": CompareMode.EQ,
        "NE": CompareMode.NE,
        "LT": CompareMode.LT,
        "LE": CompareMode.LE,
        "GT": CompareMode.GT,
        "GE": CompareMode.GE,
    },
    "PipeType": {
        "MTE1": 0,
        "MTE2": 1,
        "MTE3": 2,
        "M": 3,
        "V": 4,
        "S": 5,
        "FIX": 6,
        "ALL": 7,
    },
    "CoreType": {"CUBE": 0, "VECTOR": 1},
    "MaskPattern": {pattern.value.upper(): pattern for pattern in MaskPattern},
    "adir": {
        "input": ArgDirection.INPUT,
        "output": ArgDirection.OUTPUT,
        "inout": ArgDirection.INOUT,
        "output_existing": ArgDirection.OUTPUT_EXISTING,
        "no_dep": ArgDirection.NO_DEP,
        "scalar": ArgDirection.SCALAR,
    },
}
"""`pl.<enum>.<member>` -> what it means."""

LAYOUT_WORDS = _LAYOUTS
"""`pl.ND` and the like: layouts that need no enum."""

COMPARE_MODES = tuple(CompareMode)
"""The comparisons in the order of PyPTO's numbers."""


def spell(enum: str, value: Any) -> str:
    """The DSL's word for a value: `spell("Mem", MemorySpace.VEC)` is `pl.Mem.Vec`."""
    for member, meaning in ENUMS[enum].items():
        if meaning == value and type(meaning) is type(value):
            return f"pl.{enum}.{member}"
    raise KeyError(f"pl.{enum} has no word for {value}")


def spell_dtype(type: Attribute) -> str:
    """The DSL's word for the type of a scalar: `pl.FP32`."""
    return f"pl.{DTYPE_NAMES[type]}"
