"""A program: its functions, in the order of their calls, as one module."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import Lineage, ReturnLineage, Tracer
from pypto_xdsl.analysis.tensor_accesses import tensor_accesses
from pypto_xdsl.dialects.orch.attributes import CachePolicy, Direction, FunctionKind
from pypto_xdsl.dialects.orch.calls import DispatchOp
from pypto_xdsl.dialects.orch.function_marks import set_cache_policies
from pypto_xdsl.dialects.orch.functions import NO_PARAMETER, FuncOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.frontend.pl import control_flow, function_options, jit, statements
from pypto_xdsl.frontend.pl.annotations import Annotation, AnnotationReader
from pypto_xdsl.frontend.pl.compile_time import Evaluator, StaticScope
from pypto_xdsl.frontend.pl.context import Context, hint
from pypto_xdsl.frontend.pl.expressions import read as read_expression
from pypto_xdsl.frontend.pl.function_options import Options
from pypto_xdsl.frontend.pl.liveness import Liveness
from pypto_xdsl.frontend.pl.source import Source, descendants, dotted_name
from pypto_xdsl.frontend.pl.special_calls import function_decorator, is_dsl_function
from pypto_xdsl.frontend.pl.static_values import Function, Unsettled
from pypto_xdsl.frontend.pl.values import Value, is_tensor
from pypto_xdsl.frontend.pl.viewed_names import all_viewed
from pypto_xdsl.frontend.pl.vocabulary import INDEX
from pypto_xdsl.frontend.pl.written_names import WrittenNames

MAX_FUNCTIONS = 5000
MAX_NESTED_FUNCTIONS = 12
"""How deep functions that are found by their name alone may call each other."""


@dataclass(eq=False)
class FunctionInfo:
    """What is known of one function of the program."""

    name: str
    function: Function
    options: Options
    parameters: list[ast.arg]
    parameter_annotations: list[Annotation | None] = field(
        default_factory=list["Annotation | None"]
    )
    parameter_types: list[Attribute] = field(default_factory=list[Attribute])
    directions: list[Direction] = field(default_factory=list[Direction])
    declared_results: list[Annotation] | None = None
    result_types: list[Attribute] = field(default_factory=list[Attribute])
    lineage: list[int | None] = field(default_factory=list["int | None"])
    constants: dict[str, Any] = field(default_factory=dict[str, Any])
    """The parameters whose values are known at compile time."""
    op: FuncOp | None = None
    reading: bool = False
    specializations: dict[Any, FunctionInfo] = field(default_factory=dict[Any, "FunctionInfo"])
    traces: tuple[Lineage | None, ...] = ()
    cache_policies: list[tuple[int, CachePolicy]] = field(
        default_factory=list[tuple[int, CachePolicy]]
    )

    @property
    def kind(self) -> FunctionKind:
        return self.options.kind

    @property
    def spliced(self) -> bool:
        """Whether calls are replaced by the body while reading."""
        return self.options.spliced

    @property
    def jit(self) -> bool:
        return self.options.jit

    @property
    def accepts_keywords(self) -> bool:
        return self.options.jit

    @property
    def parameter_names(self) -> list[str]:
        return [parameter.arg for parameter in self.parameters]


class _Lineages(ReturnLineage):
    """The lineages of the functions read so far."""

    def __init__(self, program: ProgramReader):
        self._program = program

    def of_result(self, dispatch: DispatchOp, result: OpResult) -> Lineage | None:
        if result is dispatch.task:
            return None
        info = self._program.by_symbol.get(dispatch.callee_name)
        if info is None or result.index >= len(info.traces):
            return None
        return info.traces[result.index]


class ProgramReader:
    """Reads the functions of a program."""

    def __init__(self, name: str, source: Source, scope: StaticScope):
        self.name = name
        self.source = source
        self.scope = scope
        self.functions: dict[str, FunctionInfo] = {}
        """The members, by name, in the order of the text."""
        self.by_symbol: dict[str, FunctionInfo] = {}
        """Everything that has a `orch.func`, by its symbol."""
        self._by_node: dict[tuple[int, int], FunctionInfo] = {}
        self._bodies: dict[ast.FunctionDef, tuple[list[ast.stmt], Liveness]] = {}
        self.written_names = WrittenNames(self._member)
        self._prefixes = 0
        self._order: list[FunctionInfo] = []
        self._lineages = _Lineages(self)
        self._nested = 0
        self._rebound: list[tuple[FunctionInfo, SSAValue, ast.expr]] = []
        """Functions that let the name of a parameter stand for something else."""
        self.strict_ssa = False
        """Whether each name is assigned once, as the program says of itself."""
        self.exact = False
        """Whether a name stands for one value whatever is written through others."""
        self.statements = 0
        """How many statements were read, those that are written out several times each time."""
        self.argument_types: dict[str, Any] = {}
        """What the user says of the parameters of a `@pl.jit` entry: types, or constants."""

    # Members

    def _member(self, name: str) -> Function | None:
        info = self.functions.get(name)
        return None if info is None else info.function

    def add_member(self, node: ast.FunctionDef) -> None:
        """Register a function of the program."""
        function = Function(node, self.scope, self.source)
        if node.name in self.functions:
            raise self.source.error(node, f"the program has two functions '{node.name}'")
        info = self._describe(function)
        self.functions[node.name] = info
        self._by_node[(id(node), id(function.scope))] = info

    def _describe(self, function: Function) -> FunctionInfo:
        node = function.node
        options = function_options.read(function)
        parameters = [*node.args.posonlyargs, *node.args.args]
        if parameters and parameters[0].arg == "self" and parameters[0].annotation is None:
            parameters = parameters[1:]
        extra = node.args.vararg or node.args.kwarg
        if extra is not None:
            raise function.source.error(extra, "'*' parameters are not part of the DSL")
        if node.args.kwonlyargs:
            parameters += node.args.kwonlyargs
        names: set[str] = set()
        for parameter in parameters:
            if parameter.arg in names:
                raise function.source.error(parameter, f"two parameters are '{parameter.arg}'")
            names.add(parameter.arg)
        info = FunctionInfo(options.symbol or node.name, function, options, parameters)
        self._read_signature(info)
        return info

    def _read_signature(self, info: FunctionInfo) -> None:
        function = info.function
        source = function.source
        incomplete = info.jit or info.spliced
        reader = AnnotationReader(source, function.scope)
        for parameter in info.parameters:
            if parameter.annotation is None:
                if not info.spliced and not info.jit:
                    raise source.error(parameter, f"parameter '{parameter.arg}' needs a type")
                info.parameter_annotations.append(None)
                info.directions.append(Direction.IN)
                continue
            annotation = reader.read(parameter.annotation, allow_incomplete=incomplete)
            if annotation.kind == "Tuple" and not info.spliced:
                raise source.error(parameter, f"parameter '{parameter.arg}' cannot be a tuple")
            if annotation.kind == "Tile" and not (info.spliced or info.kind is FunctionKind.INLINE):
                raise source.error(
                    parameter,
                    f"parameter '{parameter.arg}' cannot be a tile: pass a tensor and load it",
                )
            if annotation.kind == "Array" and not info.spliced:
                raise source.error(
                    parameter, f"parameter '{parameter.arg}' cannot be an array: it stays inside"
                )
            info.parameter_annotations.append(annotation)
            info.directions.append(annotation.direction)
            if annotation.type is not None:
                info.parameter_types.append(annotation.type)
        returns = function.node.returns
        if returns is not None and not (
            isinstance(returns, ast.Constant) and returns.value is None
        ):
            if info.jit and not _is_complete(returns):
                return
            declared = reader.read(returns, allow_incomplete=incomplete)
            if declared.kind == "Ignored":
                raise source.error(returns, f"cannot read type '{ast.unparse(returns)}'")
            if declared.direction is not Direction.IN:
                raise source.error(returns, "a result has no direction")
            flat = declared.flat_types()
            if all(part.type is not None for part in flat) and not info.spliced:
                info.declared_results = flat
        elif returns is not None and not info.jit:
            raise source.error(returns, "a function without results has no '->'")

    def declared_parameters(self, function: Function) -> dict[str, Attribute]:
        """The types that another function of the DSL declares of its parameters."""
        if not is_dsl_function(function):
            return {}
        info = self._describe(function)
        return {
            parameter.arg: annotation.type
            for parameter, annotation in zip(
                info.parameters, info.parameter_annotations, strict=True
            )
            if annotation is not None and annotation.type is not None
        }

    def adopt(self, context: Context, function: Function, node: ast.Call) -> FunctionInfo:
        """A function that is called by its name, as a function of the program."""
        key = (id(function.node), id(function.scope))
        info = self._by_node.get(key)
        if info is None:
            if len(self._by_node) >= MAX_FUNCTIONS:
                raise context.error(node, f"the program has more than {MAX_FUNCTIONS} functions")
            info = self._describe(function)
            if not info.jit and not info.spliced:
                clash = self.functions.get(info.name)
                if clash is not None:
                    info.name = self.free_name(info.name)
                self.functions[info.name] = info
            self._by_node[key] = info
        if not info.jit and not info.spliced and info.op is None:
            self._ensure(context, info, node)
        return info

    def free_name(self, name: str) -> str:
        number = 1
        taken = {**self.functions, **self.by_symbol}
        candidate = name
        while candidate in taken:
            candidate = f"{name}_{number}"
            number += 1
        return candidate

    def read_nested(self, context: Context, info: FunctionInfo, node: ast.Call) -> None:
        """Read a function in the middle of its caller."""
        if self._nested >= MAX_NESTED_FUNCTIONS:
            raise context.error(node, "functions call each other too deeply")
        self._nested += 1
        try:
            self.read_function(info)
        finally:
            self._nested -= 1

    def constant(self, info: FunctionInfo, node: ast.expr) -> Any:
        """A constant expression outside a function, None if it is not one."""
        return evaluated(info.function.scope, node)

    def _ensure(self, context: Context, info: FunctionInfo, node: ast.Call) -> None:
        """Read a function before its caller goes on."""
        if info.op is not None:
            return
        if info.reading:
            raise context.error(node, f"function '{info.name}' calls itself")
        self.read_nested(context, info, node)

    def specialized(
        self,
        context: Context,
        info: FunctionInfo,
        arguments: Sequence[tuple[Value, ast.expr]],
        node: ast.Call,
    ) -> FunctionInfo:
        """The function for arguments of these types; the function itself unless it is `@pl.jit`."""
        if not info.jit:
            self._ensure(context, info, node)
            return info
        return jit.specialize(self, context, info, arguments, node)

    # Bodies

    def lowered_body(self, function: Function) -> tuple[list[ast.stmt], Liveness]:
        """The body without `break`, `continue` and early returns, and its names."""
        known = self._bodies.get(function.node)
        if known is None:
            known = self._bodies[function.node] = self._lowered_body(function)
        return known

    def _lowered_body(self, function: Function) -> tuple[list[ast.stmt], Liveness]:
        body = control_flow.lower(
            function.source, function.node, lambda node: evaluated(function.scope, node)
        )
        if self.strict_ssa:
            # Writes give other names.
            return body, Liveness(body, lambda call: ())
        written = self.written_names
        views = written.views(function, body)
        return body, Liveness(
            body,
            lambda call: written.by_call(function.scope, call),
            lambda name: all_viewed(views, name),
        )

    def fresh_prefix(self, name: str) -> str:
        """What keeps the names of one splice apart."""
        self._prefixes += 1
        return f"{self._prefixes}:{name}:"

    # Reading

    def read(self) -> ModuleOp:
        """The program as a module."""
        for info in self._in_call_order():
            if info.op is None and not info.spliced:
                if info.jit:
                    info.op = jit.read_entry(self, info).op
                else:
                    self.read_function(info)
        module = self.module()
        self._refuse_lost_writes(module)
        return module

    def _refuse_lost_writes(self, module: ModuleOp) -> None:
        """
        Refuse functions that let the name of a parameter stand for another tensor and never write
        the parameter: `out = pl.add(a, b)` leaves the caller's tensor as it was.
        """
        if not self._rebound:
            return
        lineages = ReturnLineage(CallGraph(module))
        for info, parameter, target in self._rebound:
            assert info.op is not None
            if parameter not in tensor_accesses(info.op, lineages).writes:
                name = parameter.name_hint or "the parameter"
                raise info.function.source.error(
                    target,
                    f"this gives '{name}' another tensor, and nothing writes the parameter: write "
                    f"'{name}[...] = ...', or use pl.store or pl.assemble",
                )

    def module(self) -> ModuleOp:
        """The functions read so far: members in the order of the text, then what they need."""
        ops: list[FuncOp] = []
        seen: set[int] = set()
        for info in (*self.functions.values(), *self._order):
            if info.op is not None and id(info.op) not in seen:
                seen.add(id(info.op))
                ops.append(info.op)
        module = ModuleOp(list(ops))
        if hint(self.name) is not None:
            from xdsl.dialects.builtin import StringAttr

            module.sym_name = StringAttr(self.name)
        return module

    def _in_call_order(self) -> list[FunctionInfo]:
        """The members, callees first."""
        order: list[FunctionInfo] = []
        done: set[str] = set()
        entered: set[str] = set()
        for root in list(self.functions.values()):
            stack = [(root, iter(self._callees(root)))]
            if root.name in done:
                continue
            entered.add(root.name)
            while stack:
                info, callees = stack[-1]
                found = next(callees, None)
                if found is None:
                    stack.pop()
                    if info.name not in done:
                        done.add(info.name)
                        order.append(info)
                    continue
                callee, node = found
                if callee.name in done:
                    continue
                if callee.name in entered:
                    raise info.function.source.error(
                        node,
                        f"function '{callee.name}' calls itself"
                        + ("" if callee is info else f", through '{info.name}'"),
                    )
                entered.add(callee.name)
                stack.append((callee, iter(self._callees(callee))))
        return order

    def _callees(self, info: FunctionInfo) -> list[tuple[FunctionInfo, ast.Attribute]]:
        found: list[tuple[FunctionInfo, ast.Attribute]] = []
        if info.options.external or info.jit:
            # A specialized function calls others by their names, not as members of a class.
            return found
        for node in descendants(info.function.node):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
                and node.attr in self.functions
            ):
                found.append((self.functions[node.attr], node))
        return sorted(found, key=lambda call: (call[1].lineno, call[1].col_offset))

    def read_function(self, info: FunctionInfo) -> FuncOp:
        """Read one function whose callees are read."""
        function = info.function
        node, source = function.node, function.source
        info.reading = True
        options = info.options
        if options.external:
            self._external(info)
            region = Region()
        else:
            block = Block(arg_types=info.parameter_types)
            region = Region(block)
            context = self._context(info, block)
            body, _ = self.lowered_body(function)
            statements.read_function_body(context, info, body)
            tracer = self._trace(info, block)
            for target, (name, value) in context.rebound.items():
                lineage = tracer.trace(value)
                parameter = context.outputs[name]
                if lineage is None or block.args[lineage.parameter] is not parameter:
                    self._rebound.append((info, parameter, target))
        parameters = list(zip(info.directions, info.parameter_types, strict=True))
        op = FuncOp(
            info.name,
            info.kind,
            parameters,
            info.result_types,
            region,
            level=options.level,
            role=options.role,
        )
        op.attributes |= options.attributes
        op.location = source.location(node)
        if options.external and any(place is not None for place in info.lineage):
            places = [NO_PARAMETER if place is None else place for place in info.lineage]
            op.returns = DenseArrayBase.from_list(i64, places)
        if info.cache_policies:
            set_cache_policies(op, info.cache_policies)
        info.op = op
        info.reading = False
        self.by_symbol[info.name] = info
        self._order.append(info)
        return op

    def _external(self, info: FunctionInfo) -> None:
        """
        The results of a function whose body is not ours: those declared, each the parameter that
        is written at its place; of a `@pl.jit.extern` that declares one without its shape, the
        first parameter that it writes.
        """
        returns = info.function.node.returns
        written = [place for place, d in enumerate(info.directions) if d is not Direction.IN]
        if info.declared_results is not None:
            info.result_types = [a.type for a in info.declared_results if a.type is not None]
            info.lineage = [
                written[place]
                if place < len(written) and info.parameter_types[written[place]] == type
                else None
                for place, type in enumerate(info.result_types)
            ]
        elif info.jit and returns is not None and written:
            info.result_types = [info.parameter_types[written[0]]]
            info.lineage = [written[0]]
        info.traces = tuple(
            None if place is None else Lineage(place, info.parameter_types[place], True)
            for place in info.lineage
        )

    def _context(self, info: FunctionInfo, block: Block) -> Context:
        function = info.function
        _, liveness = self.lowered_body(function)
        context = Context(
            self,
            function.source,
            function.scope,
            info.kind,
            liveness,
            block,
            read_expression,
            auto_scope=info.options.auto_scope,
            strict_ssa=self.strict_ssa,
            exact=self.exact,
            strict_types=not info.jit,
            block_entry=block,
        )
        for argument, parameter, annotation in zip(
            block.args, info.parameters, info.parameter_annotations, strict=True
        ):
            argument.name_hint = hint(parameter.arg)
            argument.location = function.source.location(parameter)
            value = info.constants.get(parameter.arg, argument)
            context.names.bind(parameter.arg, value)
            if is_tensor_type(argument.type):
                if annotation is not None and annotation.direction is not Direction.IN:
                    context.outputs[parameter.arg] = argument
                self.bind_symbols(context, function, annotation, argument)
        for argument, parameter in zip(block.args, info.parameters, strict=True):
            if argument.type == INDEX and parameter.arg in context.symbols:
                context.symbol_values[parameter.arg] = argument
        return context

    def bind_symbols(
        self,
        context: Context,
        function: Function,
        annotation: Annotation | None,
        value: Value,
    ) -> None:
        """Let the symbols in the shape of a parameter stand for the extents of its argument."""
        if not is_tensor(value):
            return
        from pypto_xdsl.dialects.ptensor.types import symbolic_shape_of, tensor_of

        for axis, extent in enumerate(symbolic_shape_of(tensor_of(value.type))):
            if isinstance(extent, str):
                context.symbols.setdefault(extent, (value, axis))
        if annotation is not None and is_tensor_type(annotation.type):
            shape = symbolic_shape_of(tensor_of(annotation.type))
            actual = symbolic_shape_of(tensor_of(value.type))
            for axis, (wanted, have) in enumerate(zip(shape, actual, strict=False)):
                if isinstance(wanted, str) and wanted != have:
                    context.symbols.setdefault(wanted, (value, axis))

    def _trace(self, info: FunctionInfo, block: Block) -> Tracer:
        """Find which parameter each result is."""
        end = block.last_op
        assert end is not None
        tracer = Tracer(
            block.args, self._lineages, through_merges=info.kind is not FunctionKind.GRAPH
        )
        info.traces = tuple(tracer.trace(value) for value in end.operands)
        info.lineage = [None if trace is None else trace.parameter for trace in info.traces]
        return tracer


def _is_complete(node: ast.expr) -> bool:
    """Whether a result's type is said whole: no bare `pl.Tensor` in it."""
    if not isinstance(node, ast.Subscript):
        return False
    head = dotted_name(node.value)
    if head is None or head[-1].lower() != "tuple":
        return True
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return all(_is_complete(part) for part in parts)


def members(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """The functions of a program class."""
    return [
        statement
        for statement in node.body
        if isinstance(statement, ast.FunctionDef)
        and any(function_decorator(d) is not None for d in statement.decorator_list)
    ]


def read_class(node: ast.ClassDef, source: Source, scope: StaticScope) -> ProgramReader:
    """The reader of an `@pl.program` class."""
    program = ProgramReader(node.name, source, scope)
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        for argument in decorator.args:
            raise source.error(argument, "options of a program are keywords")
        for keyword in decorator.keywords:
            if keyword.arg is None:
                raise source.error(keyword.value, "'**' is not part of the DSL")
            if keyword.arg != "strict_ssa":
                raise source.error(keyword.value, f"a program has no option '{keyword.arg}'")
            program.strict_ssa = evaluated(scope, keyword.value) is True
    found = members(node)
    if not found:
        raise source.error(node, f"program '{node.name}' has no @pl.function")
    for member in found:
        program.add_member(member)
    return program


def evaluated(scope: StaticScope, node: ast.expr) -> Any:
    """A constant expression, None if it is not one."""
    try:
        return Evaluator(scope).evaluate(node)
    except Unsettled:
        return None
