"""
Calls and submits of functions, behind one interface, so that no pass forgets the second.

    %y = orch.call @k(input %x, inout %y0) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %y, %t = orch.submit @k(%x) deps [%t0] : (tensor<16xf32>) -> (tensor<16xf32>, !orch.task_id)

The directions of the arguments stand before them once they are derived; `no_dep` and `dump` list
arguments by position.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    FunctionType,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import (
    TASK_ID,
    ArgDirection,
    ArgDirectionAttr,
)
from pypto_xdsl.dialects.orch.launch import LaunchingOp, Predicate, is_tensor, predicate_operands
from pypto_xdsl.syntax.attributes import parse_attributes
from pypto_xdsl.syntax.op_syntax import segments_property


class DispatchOp(LaunchingOp, ABC):
    """
    A use of a function: `orch.call` or `orch.submit`.

    Arguments stand for the callee's parameters by position. A call has all of them, a submit may
    leave out trailing `out` parameters, which the runtime then allocates.
    """

    RETURNS_TASK: ClassVar[bool]
    """Whether the last result is the task's identity."""

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    arg_directions = opt_prop_def(ArrayAttr[ArgDirectionAttr])
    no_dep = opt_prop_def(DenseArrayBase.constr(i64))
    """Arguments whose order the user answers for, whatever is derived."""
    dump = opt_prop_def(DenseArrayBase.constr(i64))
    """Arguments whose contents the runtime dumps."""

    @property
    def callee_name(self) -> str:
        """The name of the function that is used."""
        return self.callee.string_value()

    @property
    def callee_results(self) -> Sequence[OpResult]:
        """The results that the callee returns, without the task's identity."""
        return self.results[:-1] if self.RETURNS_TASK else self.results

    @property
    def task(self) -> OpResult | None:
        """The task's identity, of a submit."""
        return self.results[-1] if self.RETURNS_TASK else None

    @property
    def directions(self) -> tuple[ArgDirection, ...] | None:
        """The direction of each argument, once it is derived."""
        if self.arg_directions is None:
            return None
        return tuple(direction.data for direction in self.arg_directions)

    @property
    def no_dep_arguments(self) -> tuple[int, ...]:
        """The positions of arguments whose order the user answers for."""
        return () if self.no_dep is None else tuple(self.no_dep.get_values())

    def set_directions(self, directions: Sequence[ArgDirection] | None) -> None:
        """Replace the directions."""
        self.arg_directions = None if directions is None else _attribute_of(tuple(directions))

    def with_results(self, result_types: Sequence[Attribute]) -> Self:
        """The same use, not yet inserted, with other types of results."""
        return type(self).create(
            operands=self.operands,
            result_types=result_types,
            properties=self.properties,
            attributes=self.attributes,
            location=self.location,
        )

    def verify_(self) -> None:
        self.verify_clauses()
        directions = self.directions
        if directions is not None and len(directions) != len(self.arguments):
            raise VerifyException(
                f"'{self.callee_name}' is given {len(self.arguments)} arguments "
                f"and {len(directions)} directions"
            )
        for word, places in (("no_dep", self.no_dep), ("dump", self.dump)):
            for place in () if places is None else places.get_values():
                if not 0 <= place < len(self.arguments):
                    raise VerifyException(
                        f"{word} names argument {place} of {len(self.arguments)} "
                        f"of '{self.callee_name}'"
                    )
                if not is_tensor(self.arguments[place]):
                    raise VerifyException(f"{word} names argument {place}, which is no tensor")

    # Text.

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = SymbolRefAttr(parser.parse_symbol_name())
        directions: list[ArgDirectionAttr] = []

        def argument() -> tuple[int, UnresolvedOperand]:
            position = parser.pos
            direction = parser.parse_optional_str_enum(ArgDirection)
            operand = parser.parse_unresolved_operand()
            if direction is not None:
                directions.append(ArgDirectionAttr(direction))
            return position, operand

        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        if directions and len(directions) != len(arguments):
            parser.raise_error("either all arguments have directions or none", arguments[0][0])
        properties: dict[str, Attribute] = {"callee": callee}
        if directions:
            properties["arg_directions"] = ArrayAttr(directions)
        for word in ("no_dep", "dump"):
            if parser.parse_optional_keyword(word):
                places = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, parser.parse_integer
                )
                properties[word] = DenseArrayBase.from_list(i64, places)
        clauses = cls.parse_clauses(parser)
        attributes = parse_attributes(parser, cls)
        parser.parse_punctuation(":")
        position = parser.pos
        function_type = parser.parse_function_type()
        operands = parser.resolve_operands(
            [operand for _, operand in arguments], function_type.inputs.data, position
        )
        groups = (
            operands,
            clauses.deps,
            clauses.launch,
            clauses.predicate,
            clauses.predicate_indices,
        )
        return cls.create(
            operands=[operand for group in groups for operand in group],
            result_types=function_type.outputs.data,
            properties={
                **properties,
                **clauses.properties,
                **segments_property(tuple(len(group) for group in groups)),
            },
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        printer.print_string("(")
        directions = self.directions
        for place, argument in enumerate(self.arguments):
            if place:
                printer.print_string(", ")
            # An invalid op is printed as well, where something has to be said of it.
            if directions is not None and place < len(directions):
                printer.print_string(f"{directions[place].value} ")
            printer.print_ssa_value(argument)
        printer.print_string(")")
        for word, places in (("no_dep", self.no_dep), ("dump", self.dump)):
            if places is not None:
                printer.print_string(f" {word} {list(places.get_values())}")
        self.print_clauses(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        types = FunctionType.from_lists(self.arguments.types, self.result_types)
        printer.print_attribute(types)

    @classmethod
    def build_operands(
        cls,
        arguments: Sequence[SSAValue | Operation],
        deps: Sequence[SSAValue | Operation] = (),
        launch: SSAValue | Operation | None = None,
        predicate: Predicate | None = None,
    ) -> tuple[list[SSAValue], Mapping[str, Attribute]]:
        """The operands and the properties that go with them."""
        indices, properties = predicate_operands(predicate)
        groups: tuple[Sequence[SSAValue | Operation], ...] = (
            arguments,
            deps,
            () if launch is None else (launch,),
            () if predicate is None else (predicate.tensor,),
            indices,
        )
        segments = segments_property(tuple(len(group) for group in groups))
        operands = [SSAValue.get(operand) for group in groups for operand in group]
        return operands, {**properties, **segments}


@cache
def _attribute_of(directions: tuple[ArgDirection, ...]) -> ArrayAttr[ArgDirectionAttr]:
    return ArrayAttr(ArgDirectionAttr(direction) for direction in directions)


def _marks(
    arg_directions: Sequence[ArgDirection] | None,
    no_dep: Sequence[int],
    dump: Sequence[int],
    sync_start: bool,
    early_resolve: bool,
) -> dict[str, Attribute]:
    """The properties that mark a use."""
    properties: dict[str, Attribute] = {}
    if arg_directions is not None:
        properties["arg_directions"] = _attribute_of(tuple(arg_directions))
    if no_dep:
        properties["no_dep"] = DenseArrayBase.from_list(i64, no_dep)
    if dump:
        properties["dump"] = DenseArrayBase.from_list(i64, dump)
    if sync_start:
        properties["sync_start"] = UnitAttr()
    if early_resolve:
        properties["early_resolve"] = UnitAttr()
    return properties


@irdl_op_definition
class CallOp(DispatchOp):
    """Use a function, in program order; of a device function the runtime makes a task."""

    name = "orch.call"
    RETURNS_TASK: ClassVar[bool] = False

    outputs = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        callee: str,
        arguments: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        *,
        arg_directions: Sequence[ArgDirection] | None = None,
        no_dep: Sequence[int] = (),
        dump: Sequence[int] = (),
        launch: SSAValue | Operation | None = None,
        sync_start: bool = False,
    ):
        operands, properties = self.build_operands(arguments, launch=launch)
        Operation.__init__(
            self,
            operands=operands,
            result_types=result_types,
            properties={
                "callee": SymbolRefAttr(callee),
                **properties,
                **_marks(arg_directions, no_dep, dump, sync_start, early_resolve=False),
            },
        )

    def verify_(self) -> None:
        super().verify_()
        if self.needs_task:
            raise VerifyException(
                "only a submit has dependencies, a predicate or early_resolve: use orch.submit"
            )


@irdl_op_definition
class SubmitOp(DispatchOp):
    """Launch a function as a task; the last result is the task's identity."""

    name = "orch.submit"
    RETURNS_TASK: ClassVar[bool] = True

    outputs = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        callee: str,
        arguments: Sequence[SSAValue | Operation],
        callee_result_types: Sequence[Attribute],
        *,
        deps: Sequence[SSAValue | Operation] = (),
        arg_directions: Sequence[ArgDirection] | None = None,
        no_dep: Sequence[int] = (),
        dump: Sequence[int] = (),
        launch: SSAValue | Operation | None = None,
        sync_start: bool = False,
        predicate: Predicate | None = None,
        early_resolve: bool = False,
    ):
        """`callee_result_types` are the callee's; the task's identity is added."""
        operands, properties = self.build_operands(arguments, deps, launch, predicate)
        Operation.__init__(
            self,
            operands=operands,
            result_types=[*callee_result_types, TASK_ID],
            properties={
                "callee": SymbolRefAttr(callee),
                **properties,
                **_marks(arg_directions, no_dep, dump, sync_start, early_resolve),
            },
        )

    def verify_(self) -> None:
        super().verify_()
        if not self.results or self.results[-1].type != TASK_ID:
            raise VerifyException(f"the last result of a submit is its task, of type {TASK_ID}")
