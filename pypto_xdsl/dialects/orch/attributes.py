"""The words and types of the `orch` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeGuard

from typing_extensions import TypeVar
from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from pypto_xdsl.dialects.tile.attributes import CachePolicy


class FunctionKind(StrEnum):
    """What a function is for, and so where it runs."""

    OPAQUE = "opaque"
    """Not said yet."""
    ORCHESTRATION = "orchestration"
    """Runs on the host side of the chip and launches tasks."""
    GRAPH = "graph"
    """A recordable fragment of orchestration; called by the entry, never the entry."""
    INCORE = "incore"
    """A kernel, not yet specialised to a cube or a vector core."""
    AIC = "aic"
    """A kernel of a cube core."""
    AIV = "aiv"
    """A kernel of a vector core."""
    GROUP = "group"
    """A wrapper: the kernels of one cube core and its vector cores, scheduled together."""
    SPMD = "spmd"
    """A wrapper: one kernel on many cores."""
    INLINE = "inline"
    """Spliced into its callers."""

    @property
    def is_in_core(self) -> bool:
        """Whether the body is a kernel."""
        return self in (FunctionKind.INCORE, FunctionKind.AIC, FunctionKind.AIV)

    @property
    def is_wrapper(self) -> bool:
        """Whether the body only launches kernels as one task."""
        return self in (FunctionKind.GROUP, FunctionKind.SPMD)

    @property
    def is_device(self) -> bool:
        """Whether a call of it is a task on device."""
        return self.is_in_core or self.is_wrapper

    @property
    def is_orchestration_like(self) -> bool:
        """Whether the body launches tasks."""
        return self in (FunctionKind.ORCHESTRATION, FunctionKind.GRAPH)


class Direction(StrEnum):
    """What a function does to a parameter: the contract of its signature."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"

    @property
    def reads(self) -> bool:
        return self is not Direction.OUT

    @property
    def writes(self) -> bool:
        return self is not Direction.IN


class ArgDirection(StrEnum):
    """What a task's submission says of an argument: the dependencies it makes."""

    INPUT = "input"
    OUTPUT = "output"
    """The runtime allocates the buffer. Never derived."""
    INOUT = "inout"
    OUTPUT_EXISTING = "output_existing"
    """Written without waiting for earlier accesses."""
    NO_DEP = "no_dep"
    """Neither looked up nor published: the user answers for the order."""
    SCALAR = "scalar"


class Level(StrEnum):
    """A level of the machine's hierarchy."""

    AIV = "aiv"
    AIC = "aic"
    CORE_GROUP = "core_group"
    CHIP_DIE = "chip_die"
    CHIP = "chip"
    HOST = "host"
    CLUSTER_0 = "cluster0"
    CLUSTER_1 = "cluster1"
    CLUSTER_2 = "cluster2"
    GLOBAL = "global"


class Role(StrEnum):
    """Who runs a function of a level: who launches, or who works."""

    ORCHESTRATOR = "orchestrator"
    SUB_WORKER = "sub_worker"


class SplitMode(StrEnum):
    """How the two vector cores of a group share a tile."""

    NONE = "none"
    """They do not: each region of work is written for one of them."""
    UP_DOWN = "up_down"
    """Rows halved."""
    LEFT_RIGHT = "left_right"
    """Columns halved."""


class LoopKind(StrEnum):
    """The kind of an `scf.for`, carried as its `orch.loop` attribute; absent: sequential."""

    PARALLEL = "parallel"
    UNROLL = "unroll"
    PIPELINE = "pipeline"


class ScopeMode(StrEnum):
    """Who orders the tasks of a task scope."""

    AUTO = "auto"
    """The runtime, from the directions of their arguments."""
    MANUAL = "manual"
    """The program, by explicit dependencies alone."""


class Comparison(StrEnum):
    """The comparison of a launch predicate."""

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"


@irdl_attr_definition
class FunctionKindAttr(EnumAttribute[FunctionKind], SpacedOpaqueSyntaxAttribute):
    """`#orch<kind opaque>`"""

    name = "orch.kind"


@irdl_attr_definition
class DirectionAttr(EnumAttribute[Direction], SpacedOpaqueSyntaxAttribute):
    """`#orch<direction in>`"""

    name = "orch.direction"


@irdl_attr_definition
class ArgDirectionAttr(EnumAttribute[ArgDirection], SpacedOpaqueSyntaxAttribute):
    """`#orch<arg_direction input>`"""

    name = "orch.arg_direction"


@irdl_attr_definition
class LevelAttr(EnumAttribute[Level], SpacedOpaqueSyntaxAttribute):
    """`#orch<level aiv>`"""

    name = "orch.level"


@irdl_attr_definition
class RoleAttr(EnumAttribute[Role], SpacedOpaqueSyntaxAttribute):
    """`#orch<role orchestrator>`"""

    name = "orch.role"


@irdl_attr_definition
class SplitModeAttr(EnumAttribute[SplitMode], SpacedOpaqueSyntaxAttribute):
    """`#orch<split none>`"""

    name = "orch.split"


@irdl_attr_definition
class LoopKindAttr(EnumAttribute[LoopKind], SpacedOpaqueSyntaxAttribute):
    """`#orch<loop parallel>`"""

    name = "orch.loop"


@irdl_attr_definition
class ScopeModeAttr(EnumAttribute[ScopeMode], SpacedOpaqueSyntaxAttribute):
    """`#orch<scope_mode auto>`"""

    name = "orch.scope_mode"


@irdl_attr_definition
class CachePolicyAttr(EnumAttribute[CachePolicy], SpacedOpaqueSyntaxAttribute):
    """`#orch<cache default>`"""

    name = "orch.cache"


@irdl_attr_definition
class ComparisonAttr(EnumAttribute[Comparison], SpacedOpaqueSyntaxAttribute):
    """`#orch<comparison eq>`"""

    name = "orch.comparison"


@irdl_attr_definition
class TaskIdType(ParametrizedAttribute, TypeAttribute):
    """The identity of a launched task, opaque: later tasks can depend on it."""

    name = "orch.task_id"


_ElementT = TypeVar("_ElementT", bound=Attribute, default=Attribute, covariant=True)


@irdl_attr_definition
class ArrayType(ParametrizedAttribute, TypeAttribute, Generic[_ElementT]):
    """`!orch.array<4xi32>`: a small array on the stack, a value that stays in its function."""

    name = "orch.array"

    extent: IntAttr
    element_type: _ElementT

    def __init__(self, extent: int, element_type: _ElementT):
        super().__init__(IntAttr(extent), element_type)

    def verify(self) -> None:
        if self.extent.data <= 0:
            raise VerifyException(f"an array has a positive extent, got {self.extent.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            extent = parser.parse_shape_dimension(allow_dynamic=False)
            parser.parse_shape_delimiter()
            return IntAttr(extent), parser.parse_type()

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.extent.data}x")
            printer.print_attribute(self.element_type)


TASK_ID = TaskIdType()


def is_array(type: Attribute) -> TypeGuard[ArrayType]:
    """Whether `type` is an array on the stack."""
    return isinstance(type, ArrayType)
