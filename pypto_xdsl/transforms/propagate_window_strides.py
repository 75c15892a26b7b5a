"""
propagate-window-strides: tells kernels how far apart the rows of the windows they are given lie.

A lowered kernel gets a pointer, and finds the elements by the type of its parameter. The rows of
a window lie as far apart as those of the tensor that it is a window of, so the parameter must say
so:

    orch.func incore @k(in %x : tensor<32x32xf32>, ...)
    ...
    %w = ptensor.slice %t[0, 32] : tensor<64x64xf32> -> tensor<32x32xf32>
    orch.call @k(%w, %o)

becomes

    orch.func incore @k(in %x : tensor<32x32xf32, #ptensor.view<strides = [64, 1]>>, ...)

Wrappers (`group`, `spmd`) are told too, and tell what they call. Where calls of one function do
not agree it is there once for each kind of call: as it is for those whose tensors lie as its
signature says, else for the first, and as `@k_strided`, `@k_strided_0`, ... for the others. What
has the parameter's name in the function gets its type; where a loop or a branch hands on either
it or another, it is used there under its old type (`ptensor.type_cast`, free).

A parameter whose strides the user spells out is an error where a call does not keep to them, and
so is a declaration, which cannot change. Steps that only a run knows cannot be told to a kernel:
where they may differ from what it expects, a warning says so. Extents of 1 have no step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pypto_xdsl.analysis.buffer_roots import BufferRoots, ProgramRoots
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.tensor_strides import Strides, TensorStrides, fits
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose, note, warn
from pypto_xdsl.dialects.orch import DispatchOp, FuncOp
from pypto_xdsl.dialects.ptensor import TypeCastOp
from pypto_xdsl.dialects.ptensor.types import (
    explicit_strides_of,
    is_tensor_type,
    layout_of,
    pad_value_of,
    strides_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.locating import at
from pypto_xdsl.rewriting.symbol_names import SymbolNames

Wanted = tuple[tuple[int, ...] | None, ...]
"""The strides that each parameter has to say; None where it says them already."""


@dataclass(frozen=True)
class PropagateWindowStridesPass(CheckedPass):
    """Give parameters of kernels the strides of the windows that are passed."""

    name = "propagate-window-strides"
    required = ("SplitIncoreOrch",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        _Propagation(module).run()


@dataclass
class _Needs:
    """What the uses of a function want of it, the kinds of uses in the order of the text."""

    kinds: dict[Wanted, list[DispatchOp]] = field(default_factory=dict[Wanted, list[DispatchOp]])


class _Propagation:
    def __init__(self, module: ModuleOp):
        self._calls = CallGraph(module)
        self._roots = ProgramRoots(ReturnLineage(self._calls))
        self._needs: dict[FuncOp, _Needs] = {}
        self._names: dict[Block | None, SymbolNames] = {}
        self._siblings: dict[FuncOp, set[str]] = {}
        self._errors: list[Diagnostic] = []

    def run(self) -> None:
        # Callers come before callees: a wrapper is told before it tells its kernels.
        for component in reversed(self._calls.components()):
            for function in component:
                versions = [function]
                if function in self._needs:
                    versions = list(self._specialize(function, self._needs[function]))
                for version in versions:
                    self._visit(version)
        if self._errors:
            raise DiagnosticsError(self._errors)

    def _visit(self, function: FuncOp) -> None:
        """Find out what a function, which says where its own parameters lie, passes on."""
        uses = [
            (dispatch, callee)
            for dispatch in self._calls.uses_in(function)
            if (callee := self._calls.callee(dispatch)) is not None
            and callee.kind.data.is_device
            and any(isinstance(argument.type, TensorType) for argument in dispatch.arguments)
        ]
        if not uses:
            return
        strides = TensorStrides(self._roots.of(function))
        for dispatch, callee in uses:
            wanted = tuple(self._wanted(dispatch, callee, strides))
            if any(wanted) and (callee.is_declaration or self._calls.is_recursive(dispatch)):
                what = "only declared" if callee.is_declaration else "used by itself"
                self._fail(dispatch, callee, wanted, f"it is {what}")
                continue
            self._needs.setdefault(callee, _Needs()).kinds.setdefault(wanted, []).append(dispatch)

    def _wanted(
        self, dispatch: DispatchOp, callee: FuncOp, strides: TensorStrides
    ) -> Iterator[tuple[int, ...] | None]:
        """The strides that each parameter has to say for one use."""
        types = callee.function_type.inputs.data
        for index, type in enumerate(types):
            if not is_tensor_type(type) or index >= len(dispatch.arguments):
                yield None
                continue
            argument = dispatch.arguments[index]
            given = strides.of(argument)
            yield self._difference(dispatch, callee, index, tensor_of(argument.type), given, type)

    def _difference(
        self,
        dispatch: DispatchOp,
        callee: FuncOp,
        index: int,
        argument: TensorType[Attribute],
        given: Strides,
        parameter: TensorType[Attribute],
    ) -> tuple[int, ...] | None:
        explicit = explicit_strides_of(parameter)
        alike = explicit_strides_of(argument) == explicit
        if given.as_typed and alike and layout_of(argument) is layout_of(parameter):
            return None
        if len(given.steps) != parameter.get_num_dims() or fits(given.steps, parameter):
            return None
        steps = [
            wanted if extent == 1 and wanted != DYNAMIC_INDEX else step
            for step, wanted, extent in zip(
                given.steps, strides_of(parameter), parameter.get_shape(), strict=True
            )
        ]
        if explicit is not None and any(
            DYNAMIC_INDEX not in (step, wanted) and step != wanted
            for step, wanted in zip(steps, explicit, strict=True)
        ):
            self._errors.append(
                diagnose(
                    dispatch,
                    f"argument {index} lies in steps of {steps}, where parameter {index} of "
                    f"'{callee.sym_name.data}' is said to lie in steps of {list(explicit)}",
                    [note(callee, f"'{callee.sym_name.data}' is defined here")],
                )
            )
            return None
        if explicit is not None or DYNAMIC_INDEX in steps:
            warn(
                dispatch,
                f"argument {index} lies in steps that only a run knows, of which "
                f"'{callee.sym_name.data}' cannot be told: it expects those of {parameter}",
            )
            return None
        return tuple(steps)

    def _fail(self, dispatch: DispatchOp, callee: FuncOp, wanted: Wanted, reason: str) -> None:
        index, steps = next((i, steps) for i, steps in enumerate(wanted) if steps is not None)
        name = callee.sym_name.data
        self._errors.append(
            diagnose(
                dispatch,
                f"argument {index} is a window in steps of {list(steps)}, of which '{name}' cannot "
                f"be told: {reason}",
                [note(callee, f"'{name}' expects {callee.function_type.inputs.data[index]}")],
            )
        )

    def _specialize(self, function: FuncOp, needs: _Needs) -> Iterator[FuncOp]:
        """A function for each kind of use, the function itself among them."""
        kinds = list(needs.kinds)
        plain = [wanted for wanted in kinds if not any(wanted)]
        own = plain[0] if plain else kinds[0]
        clones: list[tuple[FuncOp, Wanted]] = []
        after = function
        for wanted in kinds:
            if wanted != own:
                clone = self._clone(function, after)
                after = clone
                clones.append((clone, wanted))
                for dispatch in needs.kinds[wanted]:
                    dispatch.callee = SymbolRefAttr(clone.sym_name.data)
        _retype(function, own, self._roots.lineage)
        yield function
        for clone, wanted in clones:
            self._calls.add(clone)
            _retype(clone, wanted, self._roots.lineage)
            yield clone

    def _clone(self, function: FuncOp, after: FuncOp) -> FuncOp:
        table = function.parent
        if table not in self._names:
            self._names[table] = SymbolNames(() if table is None else table.ops)
        siblings = self._siblings.setdefault(function, set())
        name = function.sym_name.data
        clone = function.clone()
        for old, new in zip(walk(function), walk(clone), strict=True):
            new.location = old.location
        clone.sym_name = StringAttr(self._names[table].take(f"{name}_strided", name, siblings))
        Rewriter().insert_op(clone, InsertPoint.after(after))
        return clone


def _retype(function: FuncOp, wanted: Wanted, lineage: ReturnLineage) -> None:
    """Let parameters, and what has their names, say their strides."""
    if not any(wanted):
        return
    types = list(function.function_type.inputs.data)
    roots = BufferRoots(function, lineage)
    users: dict[SSAValue, list[SSAValue]] = {}
    for value in roots.places:
        for source in roots.sources(value):
            users.setdefault(source, []).append(value)
    for index, steps in enumerate(wanted):
        if steps is not None:
            parameter, old = function.parameters[index], tensor_of(types[index])
            types[index] = new = with_strides(old, steps)
            names = _names(parameter, users, roots)
            if names is None:
                _cast(parameter, new)
                continue
            for value in names:
                Rewriter.replace_value_with_new_type(value, new)
    returned = function.return_op
    outputs = function.function_type.outputs.data
    if returned is not None:
        outputs = tuple(value.type for value in returned.operands)
    function.function_type = FunctionType.from_lists(types, outputs)


def _names(
    parameter: BlockArgument, users: Mapping[SSAValue, Sequence[SSAValue]], roots: BufferRoots
) -> Iterable[SSAValue] | None:
    """
    The values that are the parameter under its own type, itself among them; None where it is only
    one of those that a loop or a branch hands on.
    """
    names: dict[SSAValue, None] = {parameter: None}
    todo: list[SSAValue] = [parameter]
    while todo:
        for value in users.get(todo.pop(), ()):
            is_own = isinstance(value, OpResult) and isinstance(value.op, TypeCastOp)
            alike = value.type == parameter.type and roots.view(value) is None
            if alike and not is_own and value not in names:
                names[value] = None
                todo.append(value)
    for value in names:
        if value is not parameter and any(source not in names for source in roots.sources(value)):
            return None
    return names


def _cast(parameter: BlockArgument, type: TensorType[Attribute]) -> None:
    """Let a parameter say its strides, and use it under its old type."""
    block, old = parameter.owner, tensor_of(parameter.type)
    new = Rewriter.replace_value_with_new_type(parameter, type)
    first = block.first_op
    assert first is not None
    cast = at(first, TypeCastOp(new, old))
    cast.result.name_hint = new.name_hint
    block.insert_op_before(cast, first)
    for use in list(new.uses):
        if use.operation is not cast and not isinstance(use.operation, DispatchOp):
            use.operation.operands[use.index] = cast.result


def with_strides(type: TensorType[Attribute], strides: Sequence[int]) -> TensorType[Attribute]:
    """The same tensor type with other strides."""
    return tensor_type(
        symbolic_shape_of(type),
        type.element_type,
        valid=valid_shape_of(type),
        strides=strides,
        layout=layout_of(type),
        pad=pad_value_of(type),
    )
