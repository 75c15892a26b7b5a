"""
Outlining: a scope becomes a function, and a call or a submit of it.

    %y = orch.incore "square" -> (tensor<16xf32>) {     orch.func incore @square(
      %t = tile.load %x[0] ...                              in %x ..., out %out ...) -> ... {
      %s = tile.mul %t, %t ...                            %t = tile.load %x[0] ...
      %o = tile.store %s, %out[0] ...                     %s = tile.mul %t, %t ...
      orch.yield %o : tensor<16xf32>                      %o = tile.store %s, %out[0] ...
    }                                                     orch.return %out : tensor<16xf32>
                                                        }
                                                        %y = orch.call @square(%x, %out) : ...

* Parameters are what the scope reads from outside, in the order of first use (`analysis/live_in`).
  Their directions follow from what the body does with them (`analysis/tensor_accesses`). Constants
  are repeated in the function, and go from outside if nothing else uses them.
* Results are what is used after the scope, and the tensors from outside that it writes, whether
  its outputs said so or not (`rewriting/carries`). A result that is written back to a parameter
  is that parameter. They stand in the order of the parameters, if each is the write-back of one
  of its own; else in the order of their definition in the body, a written tensor at its first
  write.
* Scalars that leave a kernel are computed by the caller (`rewriting/scalar_hoist`).
* A scope with dependencies, a predicate, early resolve or a task becomes a submit.

`Outliner` does this for the kinds of scopes that one pass is about; `OutliningRules` says what is
particular to a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import UNKNOWN_LOC, FunctionType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.live_in import live_ins
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.tensor_accesses import (
    TensorAccesses,
    WriteFilter,
    is_store,
    tensor_accesses,
)
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError, note
from pypto_xdsl.dialects.orch import (
    CachePolicy,
    CallOp,
    DispatchOp,
    FuncOp,
    FunctionKind,
    FunctionKindAttr,
    HierarchyOp,
    Level,
    LevelAttr,
    OutlinableScopeOp,
    ReturnOp,
    Role,
    RoleAttr,
    SubmitOp,
    TaskIdType,
    is_array,
)
from pypto_xdsl.dialects.orch.function_marks import set_cache_policies
from pypto_xdsl.dialects.ptensor import TypeCastOp, tensor_of
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.rewriting.carries import carry_writes
from pypto_xdsl.rewriting.locating import at
from pypto_xdsl.rewriting.scalar_hoist import hoist_scalar_outputs
from pypto_xdsl.rewriting.symbol_names import SymbolNames


@dataclass(frozen=True)
class Launch:
    """On how many cores a task runs."""

    width: SSAValue | None = None
    sync_start: bool = False


def no_marks(scope: OutlinableScopeOp, function: FuncOp) -> None:
    """Nothing about this kind of scope is kept on the function."""


def own_launch(scope: OutlinableScopeOp, name: str) -> Launch:
    """The launch that the scope itself asks for."""
    return Launch(scope.launch, scope.sync_start is not None)


def no_level(scope: OutlinableScopeOp) -> tuple[Level | None, Role | None]:
    """The function runs where the scope does."""
    return None, None


@dataclass(frozen=True)
class OutliningRules:
    """What is particular to the scopes of one kind."""

    scope: type[OutlinableScopeOp]
    kind: FunctionKind
    suffix: Callable[[OutlinableScopeOp], str]
    """What stands between the name of the function around and the number, by default."""
    may_nest: bool = True
    """A scope of the kind may stand in another of it."""
    exports_writes: bool = True
    """Tensors from outside that the scope writes are results of the function."""
    returns_scalars: bool = False
    orders_results: bool = False
    """Results stand in the order of the parameters, where each is the write-back of one."""
    is_write: WriteFilter | None = None
    """Which of the writes that ops declare make a parameter more than an input."""
    prepare: Callable[[OutlinableScopeOp, str], Launch] = own_launch
    """Checks and changes the scope, which gets the given name, and says how it is launched."""
    mark: Callable[[OutlinableScopeOp, FuncOp], None] = no_marks
    """Keeps on the function what the scope says."""
    level: Callable[[OutlinableScopeOp], tuple[Level | None, Role | None]] = no_level
    """The level and the role of the function."""


class Outliner:
    """Outlines scopes of a program; errors are collected, and raised by `finish`."""

    def __init__(self, module: ModuleOp):
        self._calls = CallGraph(module)
        self._program = ReturnLineage(self._calls)
        self._names: dict[Block | None, SymbolNames] = {}
        self._siblings: dict[FuncOp, set[str]] = {}
        self._errors: list[Diagnostic] = []
        self._failed = set[Operation]()
        """Scopes with an error inside."""

    @property
    def functions(self) -> Sequence[FuncOp]:
        """The functions of the program that have a body, in the order of the text."""
        return [function for function in self._calls.functions if not function.is_declaration]

    def outline(self, function: FuncOp, *kinds: OutliningRules) -> int:
        """
        Outline the scopes of a function: all of the first kind, then all of the second, and so
        on. The number of scopes that were found.
        """
        rules = {kind.scope: kind for kind in kinds}
        found = [(s, around) for s, around in _scopes(function, rules)]
        if not found:
            return 0
        exporting = [scope for scope, _ in found if rules[type(scope)].exports_writes]
        carry_writes(function, exporting, self._program)
        for kind in kinds:
            self._outline_kind(function, kind)
        self._calls.add(function)
        return len(found)

    def finish(self) -> None:
        """Raise `DiagnosticsError` if scopes could not be outlined."""
        if self._errors:
            raise DiagnosticsError(self._errors)

    def _outline_kind(self, function: FuncOp, rules: OutliningRules) -> None:
        counters: dict[OutlinableScopeOp | None, int] = {}
        names: dict[OutlinableScopeOp | None, str] = {None: function.sym_name.data}
        open_scopes: list[OutlinableScopeOp] = []

        def close() -> None:
            scope = open_scopes.pop()
            around = open_scopes[-1] if open_scopes else None
            try:
                if around is not None and not rules.may_nest:
                    raise OpError(
                        scope,
                        f"is inside another '{scope.name}', but a kernel cannot launch a kernel",
                        [note(around, "the enclosing scope is here")],
                    )
                if scope not in self._failed:
                    _Outlining(self, function, scope, rules, names[scope]).run()
            except DiagnosticsError as error:
                self._errors += error.diagnostics
                # An error inside would only make others outside.
                self._failed.update(_around(scope))

        for scope, around in list(_scopes(function, {rules.scope: rules})):
            while open_scopes and open_scopes[-1] is not around:
                close()
            number = counters.get(around, 0)
            counters[around] = number + 1
            parent = names[around]
            wanted = scope.hint or f"{parent}{rules.suffix(scope)}{number}"
            names[scope] = self._take_name(function, wanted, parent)
            open_scopes.append(scope)
        while open_scopes:
            close()

    def _take_name(self, function: FuncOp, wanted: str, parent: str) -> str:
        table = function.parent
        if table not in self._names:
            self._names[table] = SymbolNames(() if table is None else table.ops)
        siblings = self._siblings.setdefault(function, set())
        return self._names[table].take(wanted, parent, siblings)

    def enter(self, function: FuncOp) -> None:
        """Take a function that is in the program now into account."""
        self._calls.add(function)

    @property
    def program(self) -> ReturnLineage:
        """Return lineage of the program, with the functions made so far."""
        return self._program


def _around(op: Operation) -> Iterator[Operation]:
    """The ops that an op stands in, from the inside out."""
    around = op.parent_op()
    while around is not None:
        yield around
        around = around.parent_op()


def _scopes(
    function: FuncOp, kinds: Mapping[type[OutlinableScopeOp], OutliningRules]
) -> Iterator[tuple[OutlinableScopeOp, OutlinableScopeOp | None]]:
    """The scopes of some kinds in a function, with the nearest scope of these kinds around."""
    for op in walk(function):
        if isinstance(op, OutlinableScopeOp) and type(op) in kinds:
            enclosing = (a for a in _around(op) if isinstance(a, OutlinableScopeOp))
            yield op, next((a for a in enclosing if type(a) in kinds), None)


@dataclass(frozen=True)
class _Result:
    """A result of the function."""

    output: OpResult
    """The output of the scope that it stands for."""
    value: SSAValue
    """What the function returns."""
    origin: SSAValue
    """Where in the body that is made; a parameter: where it is written first."""
    parameter: int | None
    """The parameter that this is."""


class _Outlining:
    """The outlining of one scope; what is inside is outlined already."""

    def __init__(
        self,
        outliner: Outliner,
        parent: FuncOp,
        scope: OutlinableScopeOp,
        rules: OutliningRules,
        name: str,
    ):
        self.outliner = outliner
        self.parent = parent
        self.scope = scope
        self.rules = rules
        self.name = name
        self.end = scope.yield_op
        self.outputs: Sequence[OpResult] = scope.results[: len(self.end.operands)]
        self._forwarded = set[OpResult]()
        """Outputs that turned out to be values from outside."""

    def run(self) -> None:
        scope = self.scope
        _check_predicate(scope)
        launch = self.rules.prepare(scope, self.name)
        if not self.rules.returns_scalars:
            hoist_scalar_outputs(scope)
        captured = live_ins(scope, besides=self.end)
        self._forward_unused(captured.values)
        self._check_boundary(captured.values)
        marks = self._argument_marks(captured.values)
        function = self._make_function(captured.values, captured.constants)
        accesses = tensor_accesses(function, self.outliner.program, is_write=self.rules.is_write)
        function.set_parameter_directions([accesses.direction(p) for p in function.parameters])
        self.rules.mark(scope, function)
        self._mark_cache_policies(function, captured.values)
        results = self._results(function, captured.values, accesses)
        self._return(function, results)
        self._dispatch(function, captured.values, results, launch, marks)

    def _forward_unused(self, captured: Sequence[SSAValue]) -> None:
        """What the scope yields of its surroundings and does not use is no output."""
        body, used = self.scope.body.block, set(captured)
        for output, value in zip(self.outputs, self.end.operands, strict=True):
            owner = value.owner
            inside = isinstance(owner, Operation) and owner.parent is body
            if not inside and value not in used:
                output.replace_all_uses_with(value)
                self._forwarded.add(output)

    # What the function is made of.

    def _check_boundary(self, captured: Sequence[SSAValue]) -> None:
        scope = self.scope
        for value in captured:
            if reason := _stays_inside(value):
                raise OpError(
                    scope,
                    f"uses {_name(value)}, {reason}",
                    [note(value, "it is defined here, outside the scope")],
                )
        for output, value in zip(self.outputs, self.end.operands, strict=True):
            if output.first_use is None:
                continue
            reason = _stays_inside(value)
            if isinstance(value.type, TaskIdType) and not self.rules.returns_scalars:
                reason = (
                    "the identity of a task, and a device function returns tensors only: "
                    "use the task of the scope itself"
                )
            if reason:
                raise OpError(
                    scope,
                    f"yields {_name(output)}, {reason}",
                    [note(value, "it is defined here, inside the scope")],
                )

    def _make_function(
        self, captured: Sequence[SSAValue], constants: Sequence[Operation]
    ) -> FuncOp:
        """The function with the body of the scope; `_return` completes it."""
        scope = self.scope
        level, role = self.rules.level(scope)
        function = FuncOp.create(
            properties={
                "sym_name": StringAttr(self.name),
                "kind": FunctionKindAttr(self.rules.kind),
            },
            location=scope.location,
            regions=[Region(Block(arg_types=[value.type for value in captured]))],
        )
        if level is not None:
            function.level = LevelAttr(level)
        if role is not None:
            function.role = RoleAttr(role)
        block = function.body.block
        inside: dict[SSAValue, SSAValue] = {}
        for value, parameter in zip(captured, block.args, strict=True):
            parameter.name_hint = value.name_hint
            parameter.location = _location_of(value) or scope.location
            inside[value] = parameter
        for constant in constants:
            block.add_op(constant.clone(inside))
        for op in tuple(scope.body.block.ops):
            op.detach()
            block.add_op(op)
            for inner in walk(op):
                if any(operand in inside for operand in inner.operands):
                    inner.operands = [inside.get(o, o) for o in inner.operands]
        for constant in constants:
            if all(result.first_use is None for result in constant.results):
                # It was there for the scope alone.
                assert constant.parent is not None
                constant.parent.erase_op(constant)
        table = self.parent.parent
        assert table is not None
        table.insert_op_before(function, self.parent)
        self.outliner.enter(function)
        return function

    # What comes back.

    def _results(
        self, function: FuncOp, captured: Sequence[SSAValue], accesses: TensorAccesses
    ) -> Sequence[_Result]:
        end = function.body.block.last_op
        assert end is not None
        directions = function.parameter_directions
        tracer = self.outliner.program.tracer(function)
        results: list[_Result] = []
        stored: dict[int, OpResult] = {}
        """A parameter -> the output that stands for all values stored to it."""
        unused: dict[int, OpResult] = {}
        for output, value in zip(self.outputs, end.operands, strict=True):
            if output in self._forwarded:
                continue
            if isinstance(value, BlockArgument) and not directions[value.index].writes:
                # It comes back as it went in.
                output.replace_all_uses_with(captured[value.index])
                continue
            lineage = tracer.trace(value)
            if lineage is None or not lineage.is_exact:
                if output.first_use is not None:
                    results.append(_Result(output, value, value, None))
                continue
            index = lineage.parameter
            parameter = function.parameters[index]
            if output.first_use is None:
                if self.rules.exports_writes and parameter in accesses.writes:
                    unused.setdefault(index, output)
                continue
            if isinstance(value, OpResult) and not is_store(value.op):
                results.append(_Result(output, parameter, value, index))
            elif index in stored:
                output.replace_all_uses_with(stored[index])
            else:
                stored[index] = output
                results.append(_Result(output, parameter, parameter, index))
        used = {result.parameter for result in results}
        results += [
            _Result(output, function.parameters[index], function.parameters[index], index)
            for index, output in unused.items()
            if index not in used
        ]
        return self._in_order(results, function, accesses)

    def _in_order(
        self, results: list[_Result], function: FuncOp, accesses: TensorAccesses
    ) -> Sequence[_Result]:
        directions = function.parameter_directions
        parameters = [result.parameter for result in results]
        if (
            self.rules.orders_results
            and all(p is not None and directions[p].writes for p in parameters)
            and len(set(parameters)) == len(parameters)
        ):
            return sorted(results, key=lambda result: result.parameter or 0)
        if len(results) > 1:
            place_of = {op: place for place, op in enumerate(walk(function))}

            def definition(result: _Result) -> tuple[int, int]:
                if isinstance(result.origin, OpResult):
                    return place_of[result.origin.op], result.origin.index
                first_write = accesses.writes.get(result.origin)
                return -1 if first_write is None else place_of[first_write], 0

            results.sort(key=definition)
        return results

    def _return(self, function: FuncOp, results: Sequence[_Result]) -> None:
        block = function.body.block
        end = block.last_op
        assert end is not None
        values = [result.value for result in results]
        # The end of a scope that yields nothing may be left out of the text.
        location = self.scope.location if end.location is UNKNOWN_LOC else end.location
        block.insert_op_before(ReturnOp.create(operands=values, location=location), end)
        block.erase_op(end)
        function.function_type = _function_type(
            tuple(parameter.type for parameter in block.args),
            tuple(value.type for value in values),
        )

    # What stands in place of the scope.

    def _argument_marks(self, captured: Sequence[SSAValue]) -> Mapping[str, Sequence[int]]:
        if not self.scope.operands:
            return {"no_dep": (), "dump": ()}
        place_of = {value: place for place, value in enumerate(captured)}
        for tensor in self.scope.no_dep:
            if tensor not in place_of:
                raise OpError(
                    self.scope,
                    f"no_dep lists {_name(tensor)}, which the scope does not use: "
                    "only tensors that are read or written in it can be listed",
                )
        for tensor, _ in self.scope.policies:
            if tensor not in place_of:
                raise OpError(
                    self.scope,
                    f"sets a cache policy for {_name(tensor)}, which the scope does not use: "
                    "only a tensor that is read in it can have one",
                )
        return {
            "no_dep": sorted({place_of[tensor] for tensor in self.scope.no_dep}),
            "dump": sorted({place_of[t] for t in self.scope.dump if t in place_of}),
        }

    def _mark_cache_policies(self, function: FuncOp, captured: Sequence[SSAValue]) -> None:
        if self.scope.cache_policies is None:
            return
        place_of = {value: place for place, value in enumerate(captured)}
        policies: dict[int, CachePolicy] = {}
        for tensor, policy in self.scope.policies:
            place = place_of[tensor]
            direction = function.parameter_directions[place]
            if policy is CachePolicy.BYPASS and direction.writes:
                raise OpError(
                    self.scope,
                    f"bypasses the cache for {_name(tensor)}, which the scope writes "
                    f"({direction.value}): it could read bytes older than its own writes; "
                    "leave the policy at default",
                )
            policies[place] = policy
        if policies:
            set_cache_policies(function, policies.items())

    def _dispatch(
        self,
        function: FuncOp,
        arguments: Sequence[SSAValue],
        results: Sequence[_Result],
        launch: Launch,
        marks: Mapping[str, Sequence[int]],
    ) -> None:
        scope = self.scope
        types = function.function_type.outputs.data
        dispatch: DispatchOp
        task = scope.results[-1] if len(scope.results) > len(self.outputs) else None
        if task is None and not scope.needs_task:
            dispatch = CallOp(
                self.name,
                arguments,
                types,
                no_dep=marks["no_dep"],
                dump=marks["dump"],
                launch=launch.width,
                sync_start=launch.sync_start,
            )
        else:
            dispatch = SubmitOp(
                self.name,
                arguments,
                types,
                deps=tuple(scope.deps),
                no_dep=marks["no_dep"],
                dump=marks["dump"],
                launch=launch.width,
                sync_start=launch.sync_start,
                predicate=scope.predicate,
                early_resolve=scope.early_resolve is not None,
            )
        dispatch.location = scope.location
        block = scope.parent
        assert block is not None
        block.insert_op_before(dispatch, scope)
        for result, value in zip(results, dispatch.callee_results, strict=True):
            value.name_hint = result.output.name_hint
            self._replace(result.output, value)
        if task is not None:
            assert dispatch.task is not None
            dispatch.task.name_hint = task.name_hint
            task.replace_all_uses_with(dispatch.task)
        block.erase_op(scope)

    def _replace(self, output: OpResult, value: SSAValue) -> None:
        if output.first_use is not None and output.type != value.type:
            cast = at(self.scope, TypeCastOp(value, tensor_of(output.type)))
            assert self.scope.parent is not None
            self.scope.parent.insert_op_before(cast, self.scope)
            value = cast.result
        output.replace_all_uses_with(value)


@lru_cache(maxsize=1024)
def _function_type(inputs: tuple[Attribute, ...], outputs: tuple[Attribute, ...]) -> FunctionType:
    # To make a type costs as much as all else about a small kernel, and many are alike.
    return FunctionType.from_lists(inputs, outputs)


def _check_predicate(scope: OutlinableScopeOp) -> None:
    if not scope.operands or scope.predicate_tensor is None:
        return
    for around in _around(scope):
        if isinstance(around, OutlinableScopeOp) and not isinstance(around, HierarchyOp):
            raise OpError(
                scope,
                f"has a predicate inside '{around.name}', which is one task: "
                "a predicate decides whether a whole task runs, so put it there",
                [note(around, "this is the task")],
            )


def _stays_inside(value: SSAValue) -> str | None:
    """Why a value cannot cross the boundary of a function, if it cannot."""
    if isinstance(value.type, TileType):
        return "a tile, which lives in one kernel: store it to a tensor and load that"
    if is_array(value.type):
        return "an array on the stack, which stays in its function: pass its elements one by one"
    return None


def _location_of(value: SSAValue):
    return value.location if isinstance(value, BlockArgument) else None


def _name(value: SSAValue) -> str:
    if value.name_hint:
        return f"%{value.name_hint}"
    assert isinstance(value, OpResult | BlockArgument)
    return f"value #{value.index}"
