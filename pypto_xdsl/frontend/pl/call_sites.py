"""
What a file itself calls its functions with: the shapes and dtypes of torch tensors, numbers, words.

A `@pl.jit` entry has the types of what it is called with, and a function that builds a program its
arguments; where a file holds such a call, its text settles them. The file is not executed; what
the text does not settle stays unknown.

Seen are calls of the function (`f(a, b)`, `f.lower(a, b)`), of names and dicts that hold it
(`for f, k in ((entry, 128), ...)`, `MODES[mode](a, b)`), tuples of it and its arguments, a harness
that is given it and specifications of its arguments (`run(fn=f, specs=[TensorSpec(...), ...])`),
and calls in another entry that hand on its parameters. Plain functions that make the arguments are
followed. Of several calls the first counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, cast

from pypto_xdsl.frontend.pl.compile_time import Evaluator, StaticScope
from pypto_xdsl.frontend.pl.source import Source, descendants, dotted_name
from pypto_xdsl.frontend.pl.static_values import (
    DSL_MODULES,
    Budget,
    DslName,
    DType,
    Function,
    Unsettled,
    is_dsl_decorator,
)
from pypto_xdsl.frontend.pl.torch_tensors import (
    ArgumentSpec,
    TorchDType,
    TorchTensor,
    combined,
    is_float,
    made,
    method,
    spec,
    torch_name,
    transposed,
)

MAX_VISITS = 20_000
"""How many statements are gone over, those of loops once a round; later ones settle nothing."""
MAX_CALLED = 20_000
"""How many statements of functions that make arguments are gone over for all their calls."""
MAX_CALL_DEPTH = 8
MAX_ELEMENTS = 4096
"""How many elements a list may get of which each is known."""


_SELF = ("self", "cls")
"""What methods call the object that they belong to."""


def _parameters(function: ast.FunctionDef) -> list[str]:
    """The parameters of a function that calls give by their places."""
    spec = function.args
    return [a.arg for a in (*spec.posonlyargs, *spec.args) if a.arg not in _SELF]


def call_sites(source: Source, budget: Budget) -> CallSites:
    """The calls in a file, worked out once. The files parsed for `budget` are not parsed again."""
    known = source.call_sites
    if not isinstance(known, CallSites):
        known = source.call_sites = CallSites(source, budget.sources)
    return known


class CallSites(ast.NodeVisitor):
    """Goes over a file in the order of the text and notes the calls of each function."""

    def __init__(self, source: Source, sources: dict[str, Source]):
        self.scope = StaticScope(source, source.tree.body, None, Budget(sources=sources))
        self.names: dict[str, Any] = {}
        self.found: dict[int, tuple[Sequence[Any], dict[str, Any]]] = {}
        self.handed_on: dict[int, list[tuple[ast.FunctionDef, ast.Call]]] = {}
        """Calls of a function in another, of which nothing is known by themselves."""
        self._inside: list[ast.FunctionDef] = []
        self._left = MAX_VISITS
        self._left_called = MAX_CALLED
        self._results: list[list[Any]] = []
        """What the functions that are followed return, outermost first."""
        self._around: dict[int, dict[str, Any]] = {}
        """The names around each nested function."""
        self._of_dsl: dict[str, bool] = {}
        """Whether names of the module are modules of the DSL."""
        self._methods: list[dict[str, Function]] = []
        """The methods of the classes around, outermost first."""
        try:
            self.block(source.tree.body)
        except RecursionError:
            # What is nested so deeply settles nothing.
            return

    def arguments_of(self, function: ast.FunctionDef) -> dict[str, Any]:
        """What the file passes for the parameters of a function; types for tensors."""
        found = self._arguments_of(function, ())
        return {
            name: value.type if isinstance(value, TorchTensor) else value
            for name, value in found.items()
        }

    def _arguments_of(
        self, function: ast.FunctionDef, around: tuple[ast.FunctionDef, ...]
    ) -> dict[str, Any]:
        names = _parameters(function)
        settled = self.found.get(id(function))
        if settled is not None:
            given, named = settled
            bound = dict(zip(names, given, strict=False)) | named
            allowed = {*names, *(argument.arg for argument in function.args.kwonlyargs)}
            return {n: v for n, v in bound.items() if v is not None and n in allowed}
        for caller, passed in self.handed_on_by(function):
            if caller in around:
                continue
            outer = self._arguments_of(caller, (*around, function))
            found = {name: outer[given] for name, given in passed.items() if given in outer}
            if found:
                return found
        return {}

    def handed_on_by(
        self, function: ast.FunctionDef
    ) -> Iterator[tuple[ast.FunctionDef, dict[str, str]]]:
        """The functions that hand on their parameters to a function, by its parameters' names."""
        names = _parameters(function)
        for caller, call in self.handed_on.get(id(function), ()):
            pairs: list[tuple[str, ast.expr]] = [*zip(names, call.args, strict=False)]
            pairs += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
            if caller is not function:
                yield caller, {n: v.id for n, v in pairs if isinstance(v, ast.Name)}

    # Statements

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            if self._results:
                self._left_called -= 1
            else:
                self._left -= 1
            if self._left < 0 or self._left_called < 0:
                return
            self.visit(statement)
            if isinstance(statement, ast.Return):
                return

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if self._inside or self._results:
            self.names[node.name] = Function(node, self.scope, self.scope.source)
        self._around[id(node)] = outer = self.names
        if self._results:
            # Followed where it is called.
            return
        self.names = dict(outer)
        spec = node.args
        for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            self.names[argument.arg] = None
        for argument, default in zip(reversed(spec.args), reversed(spec.defaults), strict=False):
            self.names[argument.arg] = self.value(default)
        self._inside.append(node)
        self.block(node.body)
        self._inside.pop()
        self.names = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        functions = [statement for statement in node.body if isinstance(statement, ast.FunctionDef)]
        methods = {f.name: Function(f, self.scope, self.scope.source) for f in functions}
        self._methods.append(methods)
        outer, self.names = self.names, dict(self.names)
        self.block(node.body)
        self.names = outer
        self._methods.pop()

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        if self._results:
            self._results[-1].append(self.value(node.value))
        else:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.bind(node.target, self.value(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            combined = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
            self.names[node.target.id] = self.value(combined)

    def bind(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                parts = cast(Sequence[Any], value) if isinstance(value, tuple) else ()
                for element, part in zip_longest(elements, parts[: len(elements)]):
                    self.bind(element, part)
            case ast.Subscript(value=ast.Name(id=name), slice=place):
                holder = self.names.get(name)
                if isinstance(holder, dict):
                    key = self.value(place)
                    changed: dict[Any, Any] = {**holder, key: value}
                    self.names[name] = changed if isinstance(key, str | int) else None
            case _:
                pass

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        test = self.value(node.test)
        if self._results and isinstance(test, bool):
            self.block(node.body if test else node.orelse)
            return
        self.block(node.body)
        self.block(node.orelse)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        rounds = self.value(node.iter)
        for part in cast(Sequence[Any], rounds) if isinstance(rounds, tuple) else (None,):
            self.bind(node.target, part)
            self.block(node.body)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """`(entry, (a, b))` and `("name", entry, (a, b))` are a call to be made."""
        parts = [self.value(part) for part in node.elts]
        for part in parts:
            for arguments in parts:
                if isinstance(part, Function) and isinstance(arguments, tuple):
                    self.note(part, cast(Sequence[Any], arguments), {})
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        callee = node.func
        if self._is_dsl(callee):
            return
        if isinstance(callee, ast.Attribute) and callee.attr == "append" and len(node.args) == 1:
            self._append(callee.value, node.args[0])
            return
        if isinstance(callee, ast.Attribute) and callee.attr in ("lower", "compile", "run"):
            callee = callee.value
        function = self.value(callee)
        if isinstance(function, dict):
            return
        given, named = self.arguments(node)
        for one in cast(Sequence[Any], function) if isinstance(function, tuple) else (function,):
            if isinstance(one, Function) and not self.note(one, given, named) and self._inside:
                passed = self.handed_on.setdefault(id(one.node), [])
                passed.append((self._inside[-1], node))
        self._note_harness((*given, *named.values()))

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, by place and by name."""
        given: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                inner = self.value(argument.value)
                given += cast(Sequence[Any], inner) if isinstance(inner, tuple) else ()
            else:
                given.append(self.value(argument))
        return given, {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}

    def note(self, function: Function, given: Sequence[Any], named: dict[str, Any]) -> bool:
        """Keep a call of which something is known; whether it is one."""
        known = any(value is not None for value in (*given, *named.values()))
        if known:
            self.found.setdefault(id(function.node), (given, named))
        return known

    def _note_harness(self, given: Iterable[Any]) -> None:
        """Keep what a harness calls a function with that it is given beside specifications."""
        values = list(given)
        functions = [value for value in values if isinstance(value, Function)]
        for value in values:
            parts = cast(Sequence[Any], value) if isinstance(value, tuple) else ()
            specs = [part for part in parts if isinstance(part, ArgumentSpec)]
            if specs and functions:
                self.note(functions[0], (), {spec.name: spec.value for spec in specs})

    def _append(self, target: ast.expr, argument: ast.expr) -> None:
        if isinstance(target, ast.Name) and isinstance(held := self.names.get(target.id), tuple):
            elements = (*cast("tuple[Any, ...]", held), self.value(argument))
            self.names[target.id] = elements if len(elements) <= MAX_ELEMENTS else None

    # Values

    def value(self, node: ast.expr) -> Any:
        """A tensor, a dtype of torch, a number, a function, tuples and dicts of them; or None."""
        match node:
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return self._elements(parts)
            case ast.Dict(keys=keys, values=values):
                return {
                    key.value if isinstance(key, ast.Constant) else key: self.value(value)
                    for key, value in zip(keys, values, strict=True)
                }
            case ast.Subscript(value=base, slice=place):
                return self._element(node, self.value(base), place)
            case ast.Attribute(value=base, attr=name):
                if isinstance(base, ast.Name) and base.id == "torch":
                    return torch_name(name)
                if isinstance(base, ast.Name) and base.id in _SELF and self._methods:
                    return self._methods[-1].get(name)
                if not self._is_dsl(base):
                    held = self.value(base)
                    if isinstance(held, TorchTensor):
                        return self._attribute(held, name)
            case ast.BinOp(left=left, op=op, right=right):
                first, second = self.value(left), self.value(right)
                tensors = [part for part in (first, second) if isinstance(part, TorchTensor)]
                if tensors:
                    divides = isinstance(op, ast.Div) and not is_float(tensors[0])
                    return None if divides else combined(first, second)
                if isinstance(op, ast.Add) and isinstance(first, tuple):
                    return self._joined(cast("tuple[Any, ...]", first), second)
            case ast.ListComp(elt=element, generators=[generator]):
                return self._comprehension(element, generator)
            case ast.Call(func=function):
                # An op of the DSL gives nothing that is known here.
                return None if self._is_dsl(function) else self._call(node)
            case _:
                pass
        return self.constant(node)

    def _is_dsl(self, node: ast.expr) -> bool:
        """Whether an expression is a module of the DSL, or something in one: `pl.tile.add`."""
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.names:
            return False
        name = node.id
        if name not in self._of_dsl:
            try:
                found = self.scope.lookup(name)
            except (KeyError, Unsettled):
                found = None
            self._of_dsl[name] = (
                isinstance(found, DslName) and found.path[0] in DSL_MODULES.values()
            )
        return self._of_dsl[name]

    def _elements(self, nodes: Sequence[ast.expr]) -> Any:
        found: list[Any] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found.append(self.value(node))
                continue
            inner = self.value(node.value)
            if not isinstance(inner, tuple):
                return None
            found += cast(Sequence[Any], inner)
        return tuple(found) if len(found) <= MAX_ELEMENTS else None

    def _element(self, node: ast.Subscript, holder: Any, place: ast.expr) -> Any:
        if isinstance(holder, dict):
            held = cast("dict[Any, Any]", holder)
            key = self.value(place)
            if isinstance(key, str | int) and key in held:
                return held[key]
            # Whichever it is: all of them.
            return tuple(held.values())
        if isinstance(holder, tuple):
            parts = cast("tuple[Any, ...]", holder)
            at = self.value(place)
            if type(at) is int:
                return parts[at] if -len(parts) <= at < len(parts) else None
        if isinstance(holder, TorchTensor):
            return None
        return self.constant(node)

    @staticmethod
    def _attribute(tensor: TorchTensor, name: str) -> Any:
        if name == "shape":
            return tensor.shape
        if name == "dtype":
            return TorchDType(tensor.dtype)
        return transposed(tensor) if name == "T" else None

    @staticmethod
    def _joined(first: tuple[Any, ...], second: Any) -> Any:
        if not isinstance(second, tuple):
            return None
        parts = (*first, *cast("tuple[Any, ...]", second))
        return parts if len(parts) <= MAX_ELEMENTS else None

    def _comprehension(self, element: ast.expr, generator: ast.comprehension) -> Any:
        rounds = self.value(generator.iter)
        if not isinstance(rounds, tuple) or generator.ifs or len(cast(Any, rounds)) > MAX_ELEMENTS:
            return None
        outer, self.names = self.names, dict(self.names)
        found: list[Any] = []
        for part in cast("tuple[Any, ...]", rounds):
            self._left -= 1
            if self._left < 0:
                break
            self.bind(generator.target, part)
            found.append(self.value(element))
        self.names = outer
        return tuple(found)

    def _call(self, node: ast.Call) -> Any:
        path = dotted_name(node.func)
        if path is not None and path[0] == "torch":
            return made(path[-1], *self.arguments(node))
        if path is not None and path[-1] in ("TensorSpec", "ScalarSpec"):
            return spec(path[-1], *self.arguments(node))
        if path in (("list",), ("tuple",)) and len(node.args) == 1:
            held = self.value(node.args[0])
            if isinstance(held, tuple):
                return cast(Any, held)
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value)
            if isinstance(base, dict) and node.func.attr == "items":
                return tuple(cast("dict[Any, Any]", base).items())
            if isinstance(base, TorchTensor):
                given, named = self.arguments(node)
                return method(base, node.func.attr, [*given, *named.values()])
        if isinstance(function := self.value(node.func), Function):
            settled = self.constant(node)
            return self._result(function, node) if settled is None else settled
        return self.constant(node)

    def _result(self, function: Function, node: ast.Call) -> Any:
        """What a plain function returns for these arguments, if all that is known agrees."""
        if any(is_dsl_decorator(decorator) for decorator in function.node.decorator_list):
            return None
        if len(self._results) >= MAX_CALL_DEPTH or function.source is not self.scope.source:
            return None
        spec = function.node.args
        parameters = [a for a in (*spec.posonlyargs, *spec.args) if a.arg not in _SELF]
        names = dict(self._around.get(id(function.node), self.names))
        names |= dict.fromkeys(a.arg for a in (*parameters, *spec.kwonlyargs))
        defaults = dict(zip(reversed(parameters), reversed(spec.defaults), strict=False))
        defaults |= {a: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d}
        names |= {argument.arg: self.value(default) for argument, default in defaults.items()}
        given, named = self.arguments(node)
        names |= dict(zip((a.arg for a in parameters), given, strict=False)) | named
        outer, self.names = self.names, names
        self._results.append([])
        self.block(function.node.body)
        results = [result for result in self._results.pop() if result is not None]
        self.names = outer
        agree = bool(results) and all(result == results[0] for result in results)
        return results[0] if agree and self._left_called >= 0 else None

    def constant(self, node: ast.expr) -> Any:
        local = {
            name.id: value
            for name in descendants(node)
            if isinstance(name, ast.Name) and (value := self.names.get(name.id)) is not None
        }
        try:
            value: Any = Evaluator(self.scope, local).evaluate(node)
        except Unsettled:
            return None
        if isinstance(value, list):
            value = tuple(cast("list[Any]", value))
        known = isinstance(value, bool | int | float | str | tuple | DType | Function)
        return cast(Any, value) if known else None
