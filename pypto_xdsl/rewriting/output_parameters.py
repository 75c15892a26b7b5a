"""
Giving functions more `out` parameters, and every use of them the buffers to pass.

A kernel that returns what it computed needs a place to put it. The parameter is appended; a call
or submit in an ordinary function makes the buffer (`ptensor.create`) right before it, a wrapper
(`group`, `spmd`) appends the parameter to itself and passes it on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor
from pypto_xdsl.dialects.orch import ArgDirection, Direction, DirectionAttr
from pypto_xdsl.dialects.ptensor import tensor_of
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.syntax.lists import Index
from pypto_xdsl.syntax.op_syntax import segments_property

Extents = Callable[[orch.DispatchOp], Sequence[Index]]
"""The run-time extents of the buffer that is made for a use, with what computes them before it."""


def _none(use: orch.DispatchOp) -> Sequence[Index]:
    return ()


class OutputParameters:
    """The parameters added to functions of a module, until their uses are brought in line."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._added: dict[orch.FuncOp, list[BlockArgument]] = {}
        self._extents: dict[BlockArgument, Extents] = {}

    def add(
        self, function: orch.FuncOp, type: Attribute, hint: str | None, extents: Extents = _none
    ) -> BlockArgument:
        """
        Append an `out` parameter; its uses are updated by `update_callers`. Those in ordinary
        functions make buffers of `extents`, where the type leaves them open.
        """
        parameter = append_parameter(function, type, "out" if hint is None else f"{hint}_out")
        self._added.setdefault(function, []).append(parameter)
        self._extents[parameter] = extents
        return parameter

    def update_callers(self) -> None:
        """Pass a buffer for each added parameter at every call and submit."""
        if not self._added:
            return
        graph = CallGraph(self._module)
        # Callees come before callers, so that what a wrapper gains is known when it is used.
        for component in graph.components():
            for function in component:
                added = self._added.get(function)
                if not added:
                    continue
                if len(component) > 1 or function in graph.callees(function):
                    raise OpError(function, "calls itself, and so cannot gain an output")
                for use in graph.uses_of(function):
                    self._pass(graph.caller(use), use, function, added)

    def _pass(
        self,
        caller: orch.FuncOp,
        use: orch.DispatchOp,
        callee: orch.FuncOp,
        added: Sequence[BlockArgument],
    ) -> None:
        if caller.kind.data.is_in_core:
            raise OpError(use, "is a call in a kernel, which cannot make the buffer of a result")
        missing = len(callee.parameter_directions) - len(added) - len(use.arguments)
        if missing:
            # The runtime allocates the outputs that a submit leaves out, these with them.
            return
        buffers: list[SSAValue] = []
        for parameter in added:
            hint = parameter.name_hint
            if caller.kind.data.is_wrapper:
                name = None if hint is None else hint.removesuffix("_out")
                extents = self._extents[parameter]
                buffers.append(self.add(caller, parameter.type, name, extents))
                continue
            sizes = self._extents[parameter](use)
            create = ptensor.CreateOp(tensor_of(parameter.type), sizes)
            locate(use.location, create)
            create.result.name_hint = hint
            block = use.parent_block()
            assert block is not None
            block.insert_op_before(create, use)
            buffers.append(create.result)
        append_arguments(use, buffers)


def append_parameter(function: orch.FuncOp, type: Attribute, hint: str) -> BlockArgument:
    """Append an `out` parameter to a function, whose uses are to be brought in line."""
    block = function.body.block
    parameter = block.insert_arg(type, len(block.args))
    parameter.name_hint = hint
    parameter.location = function.location
    inputs = (*function.function_type.inputs.data, type)
    function.function_type = FunctionType.from_lists(inputs, function.function_type.outputs.data)
    function.directions = ArrayAttr((*function.directions.data, DirectionAttr(Direction.OUT)))
    return parameter


def append_arguments(use: orch.DispatchOp, values: Sequence[SSAValue]) -> None:
    """Give a call or submit more arguments, after those it has."""
    arguments = tuple(use.arguments)
    others = use.operands[len(arguments) :]
    sizes: list[int] = []
    for name, _ in use.get_irdl_definition().operands:
        group: Operation | SSAValue | Sequence[SSAValue] | None = getattr(use, name)
        sizes.append(
            len(arguments) + len(values)
            if name == "arguments"
            else 0
            if group is None
            else 1
            if isinstance(group, SSAValue)
            else len(group)  # pyright: ignore[reportArgumentType]
        )
    directions = use.directions
    use.operands = (*arguments, *values, *others)
    use.properties[AttrSizedOperandSegments.attribute_name] = segments_property(tuple(sizes))[
        AttrSizedOperandSegments.attribute_name
    ]
    if directions is not None:
        use.set_directions((*directions, *(ArgDirection.OUTPUT_EXISTING for _ in values)))
