"""
Python at compile time: the values of names and expressions outside the DSL, worked out from the
syntax tree and never by running it.

What a program may use is small: constants, arithmetic, `min`/`max`/`len`/`range`, tuples, lists
and dicts, f-strings, names of enclosing functions and modules, constants imported from files next
to the program, calls of plain functions that only compute. Time and memory are bounded: by the
number of steps, the bits of integers and the length of sequences.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl.python_operations import apply_binary
from pypto_xdsl.frontend.pl.source import MAX_BYTES, MAX_DEPTH, Source, dotted_name
from pypto_xdsl.frontend.pl.static_expressions import ExpressionEvaluator
from pypto_xdsl.frontend.pl.static_values import (
    DSL_MODULES,
    Budget,
    ClassDefinition,
    DslCall,
    DslName,
    Function,
    ImportedName,
    Module,
    Record,
    Unsettled,
    describe,
    dsl_constant,
    elements_of,
    is_dsl_decorator,
)

MAX_FILES = 64
"""How many files may be imported from."""


_Binding: TypeAlias = tuple[int, ast.AST, Any]
"""Line of a binding, the node that binds, and how (see `_bind`)."""


class StaticScope:
    """The names of a module, or of a function around a program."""

    def __init__(
        self,
        source: Source,
        body: Sequence[ast.stmt],
        parent: StaticScope | None,
        budget: Budget,
        defines: Mapping[str, Any] | None = None,
        arguments: Mapping[str, Any] | None = None,
    ):
        self.source = source
        self.parent = parent
        self.budget = budget
        self.defines = dict(defines or {})
        """What the user says names are, whatever the text says."""
        self.values: dict[str, Any] = dict(arguments or {})
        self._memo: dict[tuple[str, int], Any] = {}
        self._bindings: dict[str, list[_Binding]] = {}
        self._star_imports: list[ast.ImportFrom] = []
        self._looking: set[str] = set()
        """Names that are looked for in modules of which all is imported."""
        self._evaluating: set[tuple[str, int]] = set()
        self._collect(body)

    # Which names there are

    def _collect(self, body: Sequence[ast.stmt]) -> None:
        pending = list(reversed(body))
        while pending:
            statement = pending.pop()
            match statement:
                case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
                    self._bind(statement.name, statement, "definition")
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bind_target(target, statement, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                    self._bind(name, statement, value)
                case ast.AugAssign(target=ast.Name(id=name)):
                    self._bind(name, statement, "loop")
                case ast.Import():
                    for alias in statement.names:
                        name = alias.asname or alias.name.partition(".")[0]
                        self._bind(name, statement, alias)
                case ast.ImportFrom():
                    for alias in statement.names:
                        if alias.name == "*":
                            self._star_imports.append(statement)
                        else:
                            self._bind(alias.asname or alias.name, statement, alias)
                case ast.For() | ast.AsyncFor():
                    for name in ast.walk(statement.target):
                        if isinstance(name, ast.Name):
                            self._bind(name.id, statement, "loop")
                    pending += reversed(statement.orelse)
                    pending += reversed(statement.body)
                case ast.If() | ast.While():
                    pending += reversed(statement.orelse)
                    pending += reversed(statement.body)
                case ast.With() | ast.AsyncWith():
                    for item in statement.items:
                        if isinstance(item.optional_vars, ast.Name):
                            self._bind(item.optional_vars.id, statement, "loop")
                    pending += reversed(statement.body)
                case ast.Try():
                    for handler in reversed(statement.handlers):
                        pending += reversed(handler.body)
                    pending += reversed(statement.finalbody)
                    pending += reversed(statement.orelse)
                    pending += reversed(statement.body)
                case _:
                    pass

    def _bind(self, name: str, node: ast.AST, how: Any) -> None:
        self._bindings.setdefault(name, []).append((getattr(node, "lineno", 0), node, how))

    def _bind_target(self, target: ast.expr, statement: ast.Assign, value: ast.expr) -> None:
        pending: list[tuple[ast.expr, tuple[int, ...]]] = [(target, ())]
        while pending:
            target, places = pending.pop()
            if isinstance(target, ast.Name):
                self._bind(target.id, statement, (value, places) if places else value)
            elif isinstance(target, ast.Tuple | ast.List):
                for place, element in enumerate(target.elts):
                    if isinstance(element, ast.Starred) and isinstance(element.value, ast.Name):
                        self._bind(element.value.id, statement, "starred")
                        break
                    pending.append((element, (*places, place)))

    def mark_unknown(self, argument: ast.arg) -> None:
        """A parameter of an enclosing function, whose value nobody gives."""
        self._bindings.setdefault(argument.arg, []).insert(
            0, (argument.lineno, argument, "parameter")
        )

    # What they are

    def lookup(self, name: str, line: int | None = None) -> Any:
        """
        What a name is, seen from a line. Raises `Unsettled` if the text does not say, `KeyError`
        if there is no such name.
        """
        if name in self.defines:
            return self._defined(self.defines[name])
        return self._lookup(name, line)

    def _defined(self, value: Any) -> Any:
        if not isinstance(value, ImportedName):
            return value
        module = self._load(value.module, 0)
        if module is None:
            raise Unsettled(f"module '{value.module}' is not next to the program")
        try:
            # What the file itself says: there the name may be this very one.
            return module._lookup(value.name)
        except KeyError:
            raise Unsettled(f"module '{value.module}' has no name '{value.name}'") from None

    def _lookup(self, name: str, line: int | None = None) -> Any:
        if name in self.values:
            return self.values[name]
        bindings = self._bindings.get(name)
        if bindings:
            visible = bindings[0] if len(bindings) == 1 else self._visible(bindings, line)
            return self._evaluate_binding(name, visible)
        found = self._imported_by_star(name)
        if found is not None:
            return found.lookup(name)
        if self.parent is not None:
            return self.parent.lookup(name)
        if name in ("pl", "pld"):
            return DslName((name,))
        raise KeyError(name)

    def _imported_by_star(self, name: str) -> StaticScope | None:
        """The module that `from module import *` takes a name from, if there is one."""
        if name in self._looking:
            # A module that imports all of one that imports all of it.
            return None
        self._looking.add(name)
        try:
            for statement in self._star_imports:
                module = self._imported_module(statement, statement.module)
                if isinstance(module, Module) and module.scope.has(name):
                    return module.scope
        finally:
            self._looking.discard(name)
        return None

    def has(self, name: str) -> bool:
        """Whether there is such a name."""
        if name in self.defines or name in self.values or name in self._bindings:
            return True
        if self.parent is not None and self.parent.has(name):
            return True
        return self._imported_by_star(name) is not None

    @staticmethod
    def _visible(bindings: Sequence[_Binding], line: int | None) -> _Binding:
        """The binding that a line sees: the last one before it."""
        if line is not None:
            for binding in reversed(bindings):
                if binding[0] < line:
                    return binding
        return bindings[-1]

    def _evaluate_binding(self, name: str, binding: _Binding) -> Any:
        line, node, how = binding
        key = (name, line)
        if key in self._memo:
            return self._memo[key]
        if key in self._evaluating:
            raise Unsettled(f"'{name}' is defined by itself", node)
        self._evaluating.add(key)
        try:
            value = self._bound_value(name, node, how)
        finally:
            self._evaluating.discard(key)
        self._memo[key] = value
        return value

    def _bound_value(self, name: str, node: ast.AST, how: Any) -> Any:
        match node, how:
            case ast.FunctionDef(), "definition":
                return Function(node, self, self.source)
            case ast.ClassDef(), "definition":
                return ClassDefinition(node, self, self.source)
            case ((ast.Import() | ast.ImportFrom()), ast.alias()):
                return self._imported(node, how)
            case _, ast.expr():
                value = Evaluator(self).evaluate(how)
                if isinstance(value, DslCall) and value.name is None:
                    value = DslCall(value.path, value.node, value.scope, name)
                return value
            case _, (ast.expr() as value, places):
                found = Evaluator(self).evaluate(value)
                for place in cast("tuple[int, ...]", places):
                    parts = elements_of(found)
                    if parts is None or place >= len(parts):
                        raise Unsettled(f"'{name}' is unpacked from something else", node)
                    found = parts[place]
                return found
            case _, "starred":
                raise Unsettled(f"'{name}' takes what other names leave", node)
            case _, "parameter":
                raise Unsettled(f"'{name}' is a parameter of the function around", node)
            case _:
                raise Unsettled(f"'{name}' changes while the program is built", node)

    # Imports

    def _imported(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Any:
        if isinstance(node, ast.Import):
            if alias.asname and alias.name in DSL_MODULES:
                return DslName((DSL_MODULES[alias.name],))
            # `import a.b` binds the package, of which `b` is then an attribute.
            full = alias.name if alias.asname else alias.name.partition(".")[0]
            if full in ("math", "pypto", "os", "sys", "dataclasses"):
                return DslName((full,))
            return self._imported_module(node, full)
        if node.level == 0 and node.module is not None:
            full = f"{node.module}.{alias.name}"
            if full in DSL_MODULES:
                return DslName((DSL_MODULES[full],))
            if node.module in DSL_MODULES:
                return dsl_constant((DSL_MODULES[node.module], alias.name))
            if node.module in ("math", "os", "sys", "dataclasses"):
                return DslName((node.module, alias.name))
            if node.module.partition(".")[0] == "pypto" and full not in self.budget.files:
                return dsl_constant(("pl", alias.name))
        scope = self._load(node.module, node.level)
        if scope is not None:
            try:
                return scope.lookup(alias.name)
            except KeyError:
                pass
        # `from package import module`
        name = alias.name if node.module is None else f"{node.module}.{alias.name}"
        inner = self._load(name, node.level)
        if inner is not None:
            return Module(inner)
        self._imported_module(node, node.module)
        raise Unsettled(f"module '{node.module or '.'}' has no name '{alias.name}'", node)

    def _imported_module(self, node: ast.Import | ast.ImportFrom, name: str | None) -> Any:
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        scope = self._load(name, level)
        if scope is None:
            why = self.budget.unread.get((self.source.path or "", name, level))
            told = "is not next to the program" if why is None else f"cannot be read: {why}"
            raise Unsettled(f"module '{name or '.'}' {told}", node)
        return Module(scope)

    def submodule(self, name: str) -> StaticScope | None:
        """A module of the package that this module is."""
        path = self.source.path
        is_package = path is not None and Path(path).name == "__init__.py"
        return self._load(name, 1) if is_package else None

    def _load(self, name: str | None, level: int) -> StaticScope | None:
        """The scope of a module: a file below a folder that holds this one."""
        if self.source.path is None:
            return None
        key = (self.source.path, name, level)
        modules = self.budget.modules
        if key not in modules:
            try:
                modules[key] = self._found(name, level, self.source.path)
            except (OSError, UnicodeDecodeError, DiagnosticsError) as e:
                modules[key] = None
                self.budget.unread[key] = _why(e)
        return modules[key]

    def _found(self, name: str | None, level: int, path: str) -> StaticScope | None:
        folder = Path(path).parent
        parts = (name or "").split(".") if name else []
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            roots = [folder]
        else:
            roots = [folder, *list(folder.parents)[:6]]
        for root in roots:
            base = root.joinpath(*parts)
            for candidate in (base.with_suffix(".py") if parts else None, base / "__init__.py"):
                if candidate is not None and candidate.is_file():
                    return self._read(candidate)
        return None

    def _read(self, path: Path) -> StaticScope | None:
        key = str(path.resolve())
        files = self.budget.files
        if key not in files:
            if len(files) >= MAX_FILES:
                raise Unsettled(f"imports from more than {MAX_FILES} files")
            source = self.budget.sources.get(key)
            if source is None:
                if path.stat().st_size > MAX_BYTES:
                    raise OSError(f"{path} has more than {MAX_BYTES // 1_000_000} MB of text")
                source = Source(path.read_text(encoding="utf-8-sig"), str(path), key)
                self.budget.sources[key] = source
            root = self
            while root.parent is not None:
                root = root.parent
            files[key] = StaticScope(source, source.tree.body, None, self.budget, root.defines)
        return files[key]


def _why(error: OSError | UnicodeDecodeError | DiagnosticsError) -> str:
    """Why a file cannot be read, in a line."""
    match error:
        case DiagnosticsError(diagnostics=(first, *_)):
            return f"{first.file}:{first.line}:{first.column}: {first.message}"
        case UnicodeDecodeError():
            return f"byte 0x{error.object[error.start]:02x} is not UTF-8 text"
        case OSError(strerror=str() as reason):
            return reason.lower()
        case _:
            return str(error)


class _Continue(Exception):
    pass


class _Break(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Any):
        self.value = value


class Evaluator(ExpressionEvaluator):
    """
    Evaluates expressions among the names of a scope, and runs the plain functions that they call.
    Raises `Unsettled`.
    """

    def closed(self) -> StaticScope:
        """The scope with the local names, for what is looked at later."""
        if not self.local:
            return self.scope
        return StaticScope(
            self.scope.source, (), self.scope, self.scope.budget, arguments=self.local
        )

    # Plain functions and classes

    def arguments_of(self, function: Function, node: ast.Call) -> dict[str, Any]:
        """The arguments of a call of a plain function by the names of its parameters."""
        spec = function.node.args
        names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
        given = self.elements(node.args)
        if len(given) > len(names):
            raise Unsettled(f"'{function.node.name}' takes {len(names)} arguments", node)
        bound = dict(zip(names, given, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in bound:
                raise Unsettled("passes arguments in a way that is not supported", node)
            bound[keyword.arg] = self.evaluate(keyword.value)
        return with_defaults(function, bound, node)

    def call_function(self, function: Function, node: ast.Call) -> Any:
        if any(is_dsl_decorator(decorator) for decorator in function.node.decorator_list):
            raise Unsettled(f"'{function.node.name}' is a function of the DSL", node)
        if self.depth > MAX_DEPTH // 4:
            raise Unsettled("calls functions too deeply", node)
        arguments = self.arguments_of(function, node)
        return run_function(function, arguments, self.depth)

    def call_method(self, instance: Record, name: str, node: ast.Call) -> Any:
        for statement in instance.type.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                function = Function(statement, instance.type.scope, instance.type.source)
                made = ast.copy_location(
                    ast.Call(node.func, [ast.Constant(None), *node.args], node.keywords), node
                )
                arguments = self.arguments_of(function, made)
                arguments[_instance_parameter(statement)] = instance
                return run_function(function, arguments, self.depth)
        raise Unsettled(f"'{instance.type.node.name}' has no method '{name}'", node)

    def construct(self, definition: ClassDefinition, node: ast.Call) -> Record:
        names: list[str] = []
        values: dict[str, Any] = {}
        for statement in definition.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                names.append(statement.target.id)
                if statement.value is not None:
                    values[statement.target.id] = Evaluator(definition.scope).evaluate(
                        statement.value
                    )
        if not definition.node.decorator_list or any(
            isinstance(s, ast.FunctionDef) and s.name == "__init__" for s in definition.node.body
        ):
            raise Unsettled(f"'{definition.node.name}' is no plain dataclass", node)
        given = self.elements(node.args)
        if len(given) > len(names):
            raise Unsettled(f"'{definition.node.name}' has {len(names)} fields", node)
        values |= dict(zip(names, given, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Unsettled("passes arguments in a way that is not supported", node)
            values[keyword.arg] = self.evaluate(keyword.value)
        return Record(definition, values)

    def class_attribute(
        self, definition: ClassDefinition, name: str, instance: Record | None
    ) -> Any:
        for statement in definition.node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    return Evaluator(_class_scope(definition)).evaluate(value)
                case ast.AnnAssign(target=ast.Name(id=target), value=value) if target == name:
                    if value is not None:
                        return Evaluator(_class_scope(definition)).evaluate(value)
                case ast.FunctionDef(name=target) if target == name:
                    if instance is not None and any(
                        dotted_name(d) in (("property",), ("cached_property",))
                        for d in statement.decorator_list
                    ):
                        function = Function(statement, definition.scope, definition.source)
                        parameter = _instance_parameter(statement)
                        return run_function(function, {parameter: instance}, 1)
                    break
                case _:
                    pass
        raise Unsettled(f"'{definition.node.name}' has no constant '{name}'")

    # Statements

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Run the statements of a plain function."""
        for statement in body:
            self.scope.budget.spend(statement)
            match statement:
                case ast.Return(value=value):
                    raise _Return(None if value is None else self.evaluate(value))
                case ast.Assign(targets=targets, value=value):
                    result = self.evaluate(value)
                    for target in targets:
                        self.assign(target, result)
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                    self.local[name] = self.evaluate(value)
                case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                    left = self.evaluate(ast.copy_location(ast.Name(name, ast.Load()), target))
                    self.local[name] = self.held(apply_binary(op, left, self.evaluate(value)))
                case ast.If(test=test, body=then, orelse=orelse):
                    self.run(then if self.evaluate(test) else orelse)
                case ast.For(target=target, iter=iterator, body=inner, orelse=[]):
                    values = self.evaluate(iterator)
                    for value in self.iterate(values, statement):
                        self.assign(target, value)
                        if not self._run_iteration(inner):
                            break
                case ast.While(test=test, body=inner, orelse=[]):
                    while self.evaluate(test):
                        self.scope.budget.spend(statement)
                        if not self._run_iteration(inner):
                            break
                case ast.Continue():
                    raise _Continue
                case ast.Break():
                    raise _Break
                case ast.FunctionDef(name=name):
                    inner_scope = StaticScope(
                        self.scope.source,
                        (),
                        self.scope,
                        self.scope.budget,
                        arguments=self.local,
                    )
                    self.local[name] = Function(statement, inner_scope, self.scope.source)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.Expr(value=ast.Call() as call):
                    self.evaluate(call)
                case ast.Assert(test=test):
                    if not self.evaluate(test):
                        raise Unsettled("an assertion does not hold", statement)
                case _:
                    raise Unsettled(
                        f"{describe(statement)} is not evaluated at compile time", statement
                    )

    def _run_iteration(self, body: Sequence[ast.stmt]) -> bool:
        """Run the body of a loop once; whether the loop goes on."""
        try:
            self.run(body)
        except _Continue:
            pass
        except _Break:
            return False
        return True


def _instance_parameter(method: ast.FunctionDef) -> str:
    """What a method calls the object that it belongs to."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters:
        raise Unsettled(f"'{method.name}' takes no object", method)
    return parameters[0].arg


def _class_scope(definition: ClassDefinition) -> StaticScope:
    scope = definition.scope
    return StaticScope(definition.source, definition.node.body, scope, scope.budget)


def with_defaults(function: Function, bound: dict[str, Any], node: ast.AST) -> dict[str, Any]:
    """The arguments with the defaults of those not given; `Unsettled` if one is missing."""
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args]
    defaults = dict(zip([a.arg for a in reversed(names)], reversed(spec.defaults), strict=False))
    defaults |= {
        a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None
    }
    for argument in (*names, *spec.kwonlyargs):
        if argument.arg not in bound:
            if argument.arg not in defaults:
                raise Unsettled(f"'{function.node.name}' needs an argument '{argument.arg}'", node)
            bound[argument.arg] = Evaluator(function.scope).evaluate(defaults[argument.arg])
    return bound


def function_scope(function: Function, arguments: Mapping[str, Any]) -> StaticScope:
    """The names inside a function that is called with these arguments."""
    scope = function.scope
    return StaticScope(
        function.source, function.node.body, scope, scope.budget, arguments=arguments
    )


def run_function(function: Function, arguments: Mapping[str, Any], depth: int) -> Any:
    """
    What a plain function returns.

    A function that defines a function of the DSL and returns it (a factory) gives that definition
    among the names of this call.
    """
    *_, last = function.node.body
    nested = [s for s in function.node.body if isinstance(s, ast.If | ast.For | ast.While)]
    if not nested and isinstance(last, ast.Return) and isinstance(last.value, ast.Name):
        inner = last.value.id
        for statement in function.node.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == inner:
                return function_scope(function, arguments).lookup(inner)
    evaluator = Evaluator(function.scope, arguments)
    evaluator.depth = depth + 4
    try:
        evaluator.run(function.node.body)
    except _Return as e:
        return e.value
    except (_Break, _Continue):
        raise Unsettled(f"'{function.node.name}' jumps outside a loop", function.node) from None
    return None
