"""
What a file itself calls its functions with: the shapes and dtypes of torch tensors, numbers, words.

A `@pl.jit` entry has the types of what it is called with, and a function that builds a program its
arguments; where a file holds such a call, its text settles them. The file is not executed; what
the text does not settle stays unknown.

Seen are calls of the function (`f(a, b)`, `f.lower(a, b)`), of names and dicts that hold it
(`for f, k in ((entry, 128), ...)`, `MODES[mode](a, b)`), tuples of it and its arguments, and calls
in another entry that hand on its parameters. Of several calls the first counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import TensorType

from pypto_xdsl.frontend.pl.compile_time import Evaluator, StaticScope
from pypto_xdsl.frontend.pl.source import Source, descendants, dotted_name
from pypto_xdsl.frontend.pl.static_values import Budget, DType, Function, Unsettled
from pypto_xdsl.frontend.pl.vocabulary import DTYPES

TORCH_DTYPES = {
    "float32": "FP32",
    "float": "FP32",
    "float16": "FP16",
    "half": "FP16",
    "bfloat16": "BF16",
    "int8": "INT8",
    "uint8": "UINT8",
    "int16": "INT16",
    "int32": "INT32",
    "int": "INT32",
    "int64": "INT64",
    "long": "INT64",
    "bool": "BOOL",
}
_MAKERS = ("full", "zeros", "ones", "rand", "randn", "empty")


@dataclass(frozen=True)
class _Tensor:
    """A torch tensor: its shape and dtype."""

    shape: tuple[int, ...]
    dtype: str


MAX_VISITS = 20_000
"""How many statements are gone over, those of loops once a round; later ones settle nothing."""


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
        self.found: dict[str, tuple[Sequence[Any], dict[str, Any]]] = {}
        self.handed_on: dict[str, list[tuple[ast.FunctionDef, ast.Call]]] = {}
        """Calls of a function in another, of which nothing is known by themselves."""
        self._inside: list[ast.FunctionDef] = []
        self._left = MAX_VISITS
        try:
            self.block(source.tree.body)
        except RecursionError:
            # What is nested so deeply settles nothing.
            return

    def arguments_of(self, function: ast.FunctionDef) -> dict[str, Any]:
        """What the file passes for the parameters of a function; types for tensors."""
        found = self._arguments_of(function, ())
        return {
            name: TensorType(DTYPES[v.dtype], v.shape) if isinstance(v, _Tensor) else v
            for name, v in found.items()
        }

    def _arguments_of(
        self, function: ast.FunctionDef, around: tuple[ast.FunctionDef, ...]
    ) -> dict[str, Any]:
        spec = function.args
        names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
        settled = self.found.get(function.name)
        if settled is not None:
            given, named = settled
            bound = dict(zip(names, given, strict=False)) | named
            allowed = {*names, *(argument.arg for argument in spec.kwonlyargs)}
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
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        for caller, call in self.handed_on.get(function.name, ()):
            pairs: list[tuple[str, ast.expr]] = [*zip(names, call.args, strict=False)]
            pairs += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
            if caller is not function:
                yield caller, {n: v.id for n, v in pairs if isinstance(v, ast.Name)}

    # Statements

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self._left -= 1
            if self._left < 0:
                return
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = dict(self.names)
        spec = node.args
        for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            self.names[argument.arg] = None
        for argument, default in zip(reversed(spec.args), reversed(spec.defaults), strict=False):
            self.names[argument.arg] = self.value(default)
        self._inside.append(node)
        self.block(node.body)
        self._inside.pop()
        self.names = outer

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.bind(target, self.value(node.value))

    def bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            parts = cast(Sequence[Any], value) if isinstance(value, tuple) else ()
            for element, part in zip(target.elts, parts, strict=False):
                self.bind(element, part)

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
        if isinstance(callee, ast.Attribute) and callee.attr in ("lower", "compile", "run"):
            callee = callee.value
        function = self.value(callee)
        if isinstance(function, dict):
            return
        given: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                inner = self.value(argument.value)
                given += cast(Sequence[Any], inner) if isinstance(inner, tuple) else ()
            else:
                given.append(self.value(argument))
        named = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        for one in cast(Sequence[Any], function) if isinstance(function, tuple) else (function,):
            if isinstance(one, Function) and not self.note(one, given, named) and self._inside:
                passed = self.handed_on.setdefault(one.node.name, [])
                passed.append((self._inside[-1], node))

    def note(self, function: Function, given: Sequence[Any], named: dict[str, Any]) -> bool:
        """Keep a call of which something is known; whether it is one."""
        known = any(value is not None for value in (*given, *named.values()))
        if known:
            self.found.setdefault(function.node.name, (given, named))
        return known

    # Values

    def value(self, node: ast.expr) -> Any:
        """A tensor, a number, a function, a tuple of them; None for anything else."""
        match node:
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.Dict(keys=keys, values=values):
                return {
                    key.value if isinstance(key, ast.Constant) else key: self.value(value)
                    for key, value in zip(keys, values, strict=True)
                }
            case ast.Subscript(value=base):
                holder = self.value(base)
                if isinstance(holder, dict):
                    # Whichever it is: all of them.
                    return tuple(cast("dict[Any, Any]", holder).values())
            case ast.Call(func=ast.Attribute(value=base, attr="items")):
                holder = self.value(base)
                if isinstance(holder, dict):
                    return tuple(cast("dict[Any, Any]", holder).items())
            case ast.Call():
                made = self.tensor(node)
                if made is not None:
                    return made
            case _:
                pass
        return self.constant(node)

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
        known = isinstance(value, bool | int | float | str | tuple | DType | Function)
        return cast(Any, value) if known else None

    def tensor(self, node: ast.Call) -> _Tensor | None:
        path = dotted_name(node.func)
        if path is None or path[0] != "torch":
            # A method of a tensor, or of what made one.
            if not isinstance(node.func, ast.Attribute):
                return None
            base = self.value(node.func.value)
            if not isinstance(base, _Tensor):
                return None
            dtype = TORCH_DTYPES.get(node.func.attr, base.dtype)
            for word in _dtypes(node.args):
                dtype = word
            return _Tensor(base.shape, dtype)
        maker = path[-1]
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        default = "INT64" if maker in ("randint", "arange") else "FP32"
        dtype = next(iter(_dtypes([named["dtype"]] if "dtype" in named else [])), default)
        if maker.endswith("_like") and node.args:
            base = self.value(node.args[0])
            return base if isinstance(base, _Tensor) else None
        if maker == "tensor" and node.args:
            data = self.value(node.args[0])
            return _Tensor((len(cast(Sequence[Any], data)),), dtype) if _is_tuple(data) else None
        sizes: list[ast.expr] = []
        if maker in _MAKERS:
            sizes = node.args[:1] if maker == "full" else node.args
        elif maker == "randint":
            sizes = node.args[-1:]
        sizes = [named["size"]] if "size" in named else sizes
        extents = [self.value(size) for size in sizes]
        if len(extents) == 1 and _is_tuple(extents[0]):
            extents = list(cast(Sequence[Any], extents[0]))
        if not extents or not all(isinstance(extent, int) for extent in extents):
            return None
        return _Tensor(tuple(cast("list[int]", extents)), dtype)


def _is_tuple(value: Any) -> bool:
    return isinstance(value, tuple)


def _dtypes(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        path = dotted_name(node)
        if path is not None and path[0] == "torch" and path[-1] in TORCH_DTYPES:
            yield TORCH_DTYPES[path[-1]]
