"""
Functions and their returns.

    orch.func incore @kernel(in %x : tensor<16xf32>, out %a : tensor<16xf32>) -> tensor<16xf32> {
      ...
      orch.return %a1 : tensor<16xf32>
    }

A lowered kernel stays as a declaration: its directions, the parameter that each result names
(`_` for none), and where its code went.

    orch.func incore @kernel(in tensor<16xf32>, out tensor<16xf32>) -> tensor<16xf32>
      returns [1] implemented_by @unit::@kernel
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    ReturnLike,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import (
    Direction,
    DirectionAttr,
    FunctionKind,
    FunctionKindAttr,
    Level,
    LevelAttr,
    Role,
    RoleAttr,
)
from pypto_xdsl.dialects.ptensor.types import is_tensor_type, verify_tensor_type
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.syntax.attributes import parse_attributes

NO_PARAMETER = -1
"""In `FuncOp.returns`: the result names no parameter."""


class _FuncOpCallable(CallableOpInterface):
    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, FuncOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.outputs.data


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function of any kind, with a direction on each parameter."""

    name = "orch.func"

    sym_name = prop_def(SymbolNameConstraint())
    sym_visibility = opt_prop_def(StringAttr)
    kind = prop_def(FunctionKindAttr)
    function_type = prop_def(FunctionType)
    directions = prop_def(ArrayAttr[DirectionAttr])
    level = opt_prop_def(LevelAttr)
    role = opt_prop_def(RoleAttr)
    returns = opt_prop_def(DenseArrayBase.constr(i64))
    """Of a declaration: the parameter that each result names, or `NO_PARAMETER`."""
    implementation = opt_prop_def(SymbolRefAttr)
    """Of a declaration: the lowered function."""
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), _FuncOpCallable())

    def __init__(
        self,
        name: str,
        kind: FunctionKind,
        parameters: Sequence[tuple[Direction, Attribute]],
        results: Sequence[Attribute],
        body: Region | None = None,
        *,
        level: Level | None = None,
        role: Role | None = None,
        visibility: str | None = None,
    ):
        """Without a `body` the function gets one with an empty block that has the parameters."""
        types = [type for _, type in parameters]
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "sym_visibility": StringAttr(visibility) if visibility else None,
                "kind": FunctionKindAttr(kind),
                "function_type": FunctionType.from_lists(types, results),
                "directions": ArrayAttr(DirectionAttr(direction) for direction, _ in parameters),
                "level": LevelAttr(level) if level else None,
                "role": RoleAttr(role) if role else None,
            },
            regions=[Region(Block(arg_types=types)) if body is None else body],
        )

    @property
    def is_declaration(self) -> bool:
        """Whether the function has no body here."""
        return self.body.first_block is None

    @property
    def is_orchestration(self) -> bool:
        """Whether this is an orchestration function, and not only a declaration of one."""
        return self.kind.data is FunctionKind.ORCHESTRATION and not self.is_declaration

    @property
    def parameters(self) -> Sequence[BlockArgument]:
        """The values of the parameters in the body; empty for a declaration."""
        block = self.body.first_block
        return () if block is None else block.args

    @property
    def parameter_directions(self) -> tuple[Direction, ...]:
        """The direction of each parameter."""
        return tuple(direction.data for direction in self.directions)

    @property
    def return_op(self) -> ReturnOp | None:
        """The return at the end of the body, if there is a body."""
        block = self.body.last_block
        last = None if block is None else block.last_op
        return last if isinstance(last, ReturnOp) else None

    def set_parameter_directions(self, directions: Sequence[Direction]) -> None:
        """Replace the directions."""
        self.directions = ArrayAttr(DirectionAttr(direction) for direction in directions)

    def set_results(self, types: Sequence[Attribute]) -> None:
        """Replace the result types; the return has to be brought in line."""
        self.function_type = FunctionType.from_lists(self.function_type.inputs.data, types)

    def verify_(self) -> None:
        inputs = self.function_type.inputs.data
        if len(self.directions) != len(inputs):
            raise VerifyException(
                f"expected a direction for each of {len(inputs)} parameters, "
                f"got {len(self.directions)}"
            )
        for place, types in (("parameter", inputs), ("result", self.function_type.outputs.data)):
            for index, type in enumerate(types):
                _verify_boundary_type(f"{place} {index}", type)
        for index, (direction, type) in enumerate(
            zip(self.parameter_directions, inputs, strict=True)
        ):
            if direction is not Direction.IN and not isinstance(type, TensorType):
                raise VerifyException(
                    f"parameter {index} of type {type} is passed by value and cannot be "
                    f"{direction.value}: only a tensor can"
                )
        if self.is_declaration:
            self._verify_declaration()
            return
        if self.returns is not None or self.implementation is not None:
            raise VerifyException("only a declaration says `returns` or `implemented_by`")
        types = tuple(parameter.type for parameter in self.parameters)
        if types != inputs:
            raise VerifyException("the entry block should have the types of the parameters")

    def _verify_declaration(self) -> None:
        if self.returns is None:
            return
        inputs, outputs = self.function_type.inputs.data, self.function_type.outputs.data
        returns = self.returns.get_values()
        if len(returns) != len(outputs):
            raise VerifyException(
                f"returns names {len(returns)} parameters for {len(outputs)} results"
            )
        for parameter in returns:
            if parameter != NO_PARAMETER and not 0 <= parameter < len(inputs):
                raise VerifyException(f"returns names parameter {parameter} of {len(inputs)}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_visibility_keyword()
        kind = parser.parse_str_enum(FunctionKind)
        level = parser.parse_str_enum(Level) if parser.parse_optional_keyword("level") else None
        role = parser.parse_str_enum(Role) if parser.parse_optional_keyword("role") else None
        name = parser.parse_symbol_name()

        directions: list[DirectionAttr] = []
        types: list[Attribute] = []
        arguments: list[Parser.Argument] = []

        def parameter() -> None:
            position = parser.pos
            directions.append(DirectionAttr(parser.parse_str_enum(Direction)))
            argument = parser.parse_optional_argument()
            if argument is not None:
                argument.location = parser.parse_optional_location()
                arguments.append(argument)
            elif arguments:
                parser.raise_error("expected a named parameter", position)
            types.append(parser.parse_type() if argument is None else argument.type)
            if arguments and len(arguments) != len(types):
                parser.raise_error("either all parameters have names or none", position)

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parameter)
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            listed = parser.parse_optional_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_type
            )
            results = [parser.parse_type()] if listed is None else list(listed)
        returns: DenseArrayBase[I64] | None = None
        if parser.parse_optional_keyword("returns"):

            def returned() -> int:
                if parser.parse_optional_keyword("_"):
                    return NO_PARAMETER
                return parser.parse_integer(allow_negative=False)

            places = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, returned)
            returns = DenseArrayBase.from_list(i64, places)
        implementation: SymbolRefAttr | None = None
        if parser.parse_optional_keyword("implemented_by"):
            reference = parser.parse_attribute()
            if not isinstance(reference, SymbolRefAttr):
                parser.raise_error("expected a symbol")
            implementation = reference
        attributes = parse_attributes(parser, cls, after_keyword=True)
        region = parser.parse_optional_region(arguments)
        if region is None and arguments:
            parser.raise_error("a declaration has no parameter names")
        op = cls(name.data, kind, [], [], Region() if region is None else region)
        op.properties |= {
            "function_type": FunctionType.from_lists(types, results),
            "directions": ArrayAttr(directions),
        }
        op.sym_visibility = visibility
        op.level = None if level is None else LevelAttr(level)
        op.role = None if role is None else RoleAttr(role)
        op.returns = returns
        op.implementation = implementation
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        printer.print_string(f" {self.kind.data.value} ")
        if self.level is not None:
            printer.print_string(f"level {self.level.data.value} ")
        if self.role is not None:
            printer.print_string(f"role {self.role.data.value} ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string("(")
        parameters = self.parameters
        for index, (direction, type) in enumerate(
            zip(self.parameter_directions, self.function_type.inputs.data, strict=True)
        ):
            printer.print_string(f"{', ' if index else ''}{direction.value} ")
            if parameters:
                printer.print_block_argument(parameters[index])
            else:
                printer.print_attribute(type)
        printer.print_string(")")
        results = self.function_type.outputs.data
        if results:
            printer.print_string(" -> ")
            if len(results) == 1 and not isinstance(results[0], FunctionType):
                printer.print_attribute(results[0])
            else:
                printer.print_string("(")
                printer.print_list(results, printer.print_attribute)
                printer.print_string(")")
        if self.returns is not None:
            words = ("_" if p == NO_PARAMETER else str(p) for p in self.returns.get_values())
            printer.print_string(f" returns [{', '.join(words)}]")
        if self.implementation is not None:
            printer.print_string(" implemented_by ")
            printer.print_attribute(self.implementation)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if not self.is_declaration:
            printer.print_string(" ")
            printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _verify_boundary_type(place: str, type: Attribute) -> None:
    if is_tensor_type(type):
        verify_tensor_type(type)
    elif isinstance(type, TileType):
        raise VerifyException(
            f"{place} is a tile, which lives in one kernel: pass a tensor, and load or store it"
        )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The end of a function. Returning a tensor names its buffer, it does not read it."""

    name = "orch.return"

    values = var_operand_def()

    traits = traits_def(HasParent(FuncOp), IsTerminator(), ReturnLike())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])

    def verify_(self) -> None:
        function = self.parent_op()
        assert isinstance(function, FuncOp)
        wanted = function.function_type.outputs.data
        returned = self.values.types
        if tuple(returned) != wanted:
            raise VerifyException(
                f"function '{function.sym_name.data}' declares results "
                f"({', '.join(map(str, wanted))}), got ({', '.join(map(str, returned))})"
            )
