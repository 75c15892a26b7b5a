"""Task identities and the small arrays that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import TASK_ID, ArrayType, TaskIdType, is_array
from pypto_xdsl.dialects.orch.launch import TASKS, parse_tasks, print_tasks
from pypto_xdsl.syntax.attributes import parse_attributes
from pypto_xdsl.syntax.op_syntax import INDEX

MANUAL_DEP = "orch.manual_dep"
"""A discardable attribute of what allocates a tensor: tasks that are given it, and not a window of
it, neither wait for who wrote it nor are waited for; the user orders them by `deps`."""


@irdl_op_definition
class TaskInvalidOp(IRDLOperation):
    """The identity of no task: nothing waits for it."""

    name = "orch.task_invalid"

    task = result_def(TaskIdType)

    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__(result_types=[TASK_ID])


class _LaunchesTask(MemoryEffect):
    """A task that does nothing still orders others: it is not to be removed or merged."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE)}


@irdl_op_definition
class TaskDummyOp(IRDLOperation):
    """
    A task that does nothing but wait for others.

        %t = orch.task_dummy deps [%t0, %t1]
    """

    name = "orch.task_dummy"

    deps = var_operand_def(TASKS)
    task = result_def(TaskIdType)

    traits = traits_def(_LaunchesTask())

    def __init__(self, deps: Sequence[SSAValue | Operation]):
        super().__init__(operands=[deps], result_types=[TASK_ID])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        deps = parse_tasks(parser) if parser.parse_optional_keyword("deps") else []
        op = cls(deps)
        op.attributes |= parse_attributes(parser, cls)
        return op

    def print(self, printer: Printer) -> None:
        if self.deps:
            printer.print_string(" deps ")
            print_tasks(printer, self.deps)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class TaskIsValidOp(IRDLOperation):
    """Whether an identity is that of a task."""

    name = "orch.task_is_valid"

    task = operand_def(TaskIdType)
    result = result_def(i1)

    traits = traits_def(Pure())
    assembly_format = "$task attr-dict"

    def __init__(self, task: SSAValue | Operation):
        super().__init__(operands=[task], result_types=[i1])


def _element_type(array: SSAValue) -> Attribute:
    assert is_array(array.type)
    return array.type.element_type


@irdl_op_definition
class ArrayCreateOp(IRDLOperation):
    """An array of zeros, or of identities of no task."""

    name = "orch.array.create"

    result = result_def(base(ArrayType))

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: ArrayType):
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        element_type = _element_type(self.result)
        if not isinstance(element_type, IntegerType | IndexType | TaskIdType):
            raise VerifyException(f"an array holds integers or tasks, not {element_type}")


@irdl_op_definition
class ArrayGetOp(IRDLOperation):
    """
    An element of an array.

        %v = orch.array.get_element %a[%i] : !orch.array<4xi32>
    """

    name = "orch.array.get_element"

    array = operand_def(base(ArrayType))
    index = operand_def(IndexType)
    result = result_def()

    # Not `Pure`: an index outside fails, so it must not run where the program does not run it.
    traits = traits_def(NoMemoryEffect())

    def __init__(self, array: SSAValue | Operation, index: SSAValue | Operation):
        array = SSAValue.get(array)
        super().__init__(operands=[array, index], result_types=[_element_type(array)])

    def verify_(self) -> None:
        wanted = _element_type(self.array)
        if self.result.type != wanted:
            raise VerifyException(f"result should be {wanted}, got {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        array = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_operand(INDEX)
        attributes = parse_attributes(parser, cls)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not is_array(type):
            parser.raise_error("expected an array type")
        op = cls(parser.resolve_operand(array, type), index)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.array)
        printer.print_string("[")
        printer.print_ssa_value(self.index)
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.array.type)


@irdl_op_definition
class ArrayUpdateOp(IRDLOperation):
    """
    The array with one element replaced.

        %b = orch.array.update_element %v, %a[%i] : i32, !orch.array<4xi32>
    """

    name = "orch.array.update_element"

    T: ClassVar = VarConstraint("T", base(ArrayType))

    value = operand_def()
    array = operand_def(T)
    index = operand_def(IndexType)
    result = result_def(T)

    # Not `Pure`: an index outside fails, so it must not run where the program does not run it.
    traits = traits_def(NoMemoryEffect())
    assembly_format = "$value `,` $array `[` $index `]` attr-dict `:` type($value) `,` type($array)"

    def __init__(
        self,
        value: SSAValue | Operation,
        array: SSAValue | Operation,
        index: SSAValue | Operation,
    ):
        array = SSAValue.get(array)
        super().__init__(operands=[value, array, index], result_types=[array.type])

    def verify_(self) -> None:
        wanted = _element_type(self.array)
        if self.value.type != wanted:
            raise VerifyException(f"value should be {wanted}, got {self.value.type}")
