"""
What calls, submits and scopes have in common: dependencies, launch width, predicate, marks.

All are clauses after the main part of the op, in this order, each left out when absent:

    deps [%t0, %ids : !orch.array<4x!orch.task_id>]   tasks that must end first
    launch %n sync_start                              on how many cores, starting together
    predicate(%flag[%i, 0] gt 0 : tensor<4x1xi32>)    evaluated by the scheduler when it launches
    early_resolve                                     dependents may start early

Whatever refers to a value is an operand: it is renamed, counted and kept alive like any other.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    opt_operand_def,
    opt_prop_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import (
    TASK_ID,
    ArrayType,
    Comparison,
    ComparisonAttr,
    TaskIdType,
    is_array,
)
from pypto_xdsl.dialects.ptensor.types import TENSOR, tensor_of
from pypto_xdsl.syntax.lists import (
    Index,
    mixed_indices,
    parse_indices,
    print_indices,
    split_indices,
)
from pypto_xdsl.syntax.op_syntax import INDEX, segments_property

TASKS = base(TaskIdType) | base(ArrayType)


@dataclass(frozen=True)
class Predicate:
    """A condition on one element of a tensor, read when the task is about to be launched."""

    tensor: SSAValue
    indices: Sequence[Index]
    comparison: Comparison
    value: int


def predicate_operands(
    predicate: Predicate | None,
) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """The operands beside the tensor, and the properties, that a predicate is stored as."""
    if predicate is None:
        return [], {}
    static, dynamic = split_indices(predicate.indices)
    return dynamic, {
        "static_predicate_indices": DenseArrayBase.from_list(i64, static),
        "predicate_comparison": ComparisonAttr(predicate.comparison),
        "predicate_value": IntegerAttr(predicate.value, i64),
    }


@dataclass
class Clauses:
    """The clauses of an op as they are parsed."""

    deps: list[SSAValue] = field(default_factory=list[SSAValue])
    launch: list[SSAValue] = field(default_factory=list[SSAValue])
    predicate: list[SSAValue] = field(default_factory=list[SSAValue])
    predicate_indices: list[SSAValue] = field(default_factory=list[SSAValue])
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])


class LaunchingOp(IRDLOperation, ABC):
    """An op that launches a task, or becomes one: its clauses."""

    deps = var_operand_def(TASKS)
    launch = opt_operand_def(IndexType)
    predicate_tensor = opt_operand_def(TENSOR)
    predicate_indices = var_operand_def(IndexType)
    static_predicate_indices = opt_prop_def(DenseArrayBase.constr(i64))
    predicate_comparison = opt_prop_def(ComparisonAttr)
    predicate_value = opt_prop_def(IntegerAttr[IntegerType])
    sync_start = opt_prop_def(UnitAttr)
    early_resolve = opt_prop_def(UnitAttr)

    @property
    def predicate(self) -> Predicate | None:
        """The condition under which the task runs, if it has one."""
        if self.predicate_tensor is None:
            return None
        assert self.static_predicate_indices is not None
        assert self.predicate_comparison is not None
        assert self.predicate_value is not None
        return Predicate(
            self.predicate_tensor,
            mixed_indices(self.static_predicate_indices, self.predicate_indices),
            self.predicate_comparison.data,
            self.predicate_value.value.data,
        )

    @property
    def needs_task(self) -> bool:
        """Whether only a task of its own can honour the clauses."""
        return bool(self.deps) or self.predicate_tensor is not None or bool(self.early_resolve)

    def set_deps(self, deps: Sequence[SSAValue]) -> None:
        """Replace the tasks that must end first."""
        self.set_operand_group("deps", deps)

    def set_operand_group(self, name: str, values: Sequence[SSAValue]) -> None:
        """Replace the operands of a name, however many these are."""
        groups = {
            name: self._operand_group(name) for name, _ in self.get_irdl_definition().operands
        }
        groups[name] = values
        self.operands = [operand for group in groups.values() for operand in group]
        self.properties.update(segments_property(tuple(map(len, groups.values()))))

    def _operand_group(self, name: str) -> Sequence[SSAValue]:
        group: SSAValue | Sequence[SSAValue] | None = getattr(self, name)
        return (group,) if isinstance(group, SSAValue) else (group or ())

    def verify_clauses(self) -> None:
        """Check what the operand types do not say."""
        for dep in self.deps:
            if is_array(dep.type) and dep.type.element_type != TASK_ID:
                raise VerifyException(
                    f"a dependency is a task or an array of tasks, got {dep.type}"
                )
        if self.sync_start is not None and self.launch is None:
            raise VerifyException("sync_start needs a launch width")
        parts = (
            self.predicate_tensor,
            self.static_predicate_indices,
            self.predicate_comparison,
            self.predicate_value,
        )
        if any(part is None for part in parts):
            if any(part is not None for part in parts):
                raise VerifyException("a predicate has a tensor, indices, a comparison and a value")
            return
        predicate = self.predicate
        assert predicate is not None
        rank = tensor_of(predicate.tensor.type).get_num_dims()
        if len(predicate.indices) != rank:
            raise VerifyException(f"a predicate needs {rank} indices, as its tensor has dimensions")

    # Text.

    @classmethod
    def parse_clauses(cls, parser: Parser) -> Clauses:
        """Parse the clauses, each at most once and in order."""
        clauses = Clauses()
        if parser.parse_optional_keyword("deps"):
            clauses.deps = parse_tasks(parser)
        if parser.parse_optional_keyword("launch"):
            clauses.launch.append(parser.parse_operand(INDEX))
            if parser.parse_optional_keyword("sync_start"):
                clauses.properties["sync_start"] = UnitAttr()
        if parser.parse_optional_keyword("predicate"):
            with parser.in_parens():
                tensor = parser.parse_unresolved_operand()
                static, dynamic = parse_indices(parser)
                clauses.properties |= {
                    "static_predicate_indices": DenseArrayBase.from_list(i64, static),
                    "predicate_comparison": ComparisonAttr(parser.parse_str_enum(Comparison)),
                    "predicate_value": IntegerAttr(parser.parse_integer(), i64),
                }
                parser.parse_punctuation(":")
                clauses.predicate.append(parser.resolve_operand(tensor, parser.parse_type()))
                clauses.predicate_indices = [parser.resolve_operand(i, INDEX) for i in dynamic]
        if parser.parse_optional_keyword("early_resolve"):
            clauses.properties["early_resolve"] = UnitAttr()
        return clauses

    def print_clauses(self, printer: Printer) -> None:
        """Print what `parse_clauses` reads."""
        if self.deps:
            printer.print_string(" deps ")
            print_tasks(printer, self.deps)
        if self.launch is not None:
            printer.print_string(" launch ")
            printer.print_ssa_value(self.launch)
            if self.sync_start is not None:
                printer.print_string(" sync_start")
        if self.predicate_tensor is not None:
            assert self.static_predicate_indices is not None
            assert self.predicate_comparison is not None
            assert self.predicate_value is not None
            printer.print_string(" predicate(")
            printer.print_ssa_value(self.predicate_tensor)
            static: DenseArrayBase[I64] = self.static_predicate_indices
            print_indices(printer, static.get_values(), self.predicate_indices)
            comparison, value = self.predicate_comparison.data, self.predicate_value.value.data
            printer.print_string(f" {comparison.value} {value} : ")
            printer.print_attribute(self.predicate_tensor.type)
            printer.print_string(")")
        if self.early_resolve is not None:
            printer.print_string(" early_resolve")


def parse_tasks(parser: Parser) -> list[SSAValue]:
    """Parse `[%t0, %ids : !orch.array<4x!orch.task_id>]`."""

    def task() -> SSAValue:
        operand = parser.parse_unresolved_operand()
        type = parser.parse_type() if parser.parse_optional_punctuation(":") else TASK_ID
        return parser.resolve_operand(operand, type)

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, task)


def print_tasks(printer: Printer, tasks: Sequence[SSAValue]) -> None:
    """Print what `parse_tasks` reads."""

    def task(value: SSAValue) -> None:
        printer.print_ssa_value(value)
        if value.type != TASK_ID:
            printer.print_string(" : ")
            printer.print_attribute(value.type)

    printer.print_string("[")
    printer.print_list(tasks, task)
    printer.print_string("]")


def parse_typed_values(parser: Parser) -> list[SSAValue]:
    """Parse `[%a : T, %b : U]`."""

    def value() -> SSAValue:
        operand: UnresolvedOperand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return parser.resolve_operand(operand, parser.parse_type())

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, value)


def print_typed_values(printer: Printer, values: Sequence[SSAValue]) -> None:
    """Print what `parse_typed_values` reads."""

    def value(operand: SSAValue) -> None:
        printer.print_ssa_value(operand)
        printer.print_string(" : ")
        printer.print_attribute(operand.type)

    printer.print_string("[")
    printer.print_list(values, value)
    printer.print_string("]")


def is_tensor(value: SSAValue) -> bool:
    """Whether a value names a buffer in global memory."""
    return isinstance(value.type, TensorType)
