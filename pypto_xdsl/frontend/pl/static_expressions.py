"""The values of expressions outside the DSL, worked out from the syntax tree."""

from __future__ import annotations

import ast
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pypto_xdsl.frontend.pl.python_operations import (
    BUILTINS,
    COMPARE,
    PLAIN,
    apply_binary,
    apply_unary,
    bounded,
    called,
    length_to_hold,
    method_called,
    method_of,
    product,
    unfolded,
)
from pypto_xdsl.frontend.pl.source import MAX_DEPTH, dotted_name
from pypto_xdsl.frontend.pl.static_values import (
    ClassDefinition,
    DslCall,
    DslName,
    DType,
    Function,
    Module,
    Record,
    Symbol,
    Unsettled,
    describe,
    dsl_constant,
)
from pypto_xdsl.frontend.pl.vocabulary import (
    EnumWord,
)

if TYPE_CHECKING:
    from pypto_xdsl.frontend.pl.compile_time import StaticScope

_ANNOTATION_HEADS = ("Tensor", "Tile", "Scalar", "Array", "Tuple", "Out", "InOut", "MemRef")


_MATH: dict[str, Any] = {
    name: getattr(math, name)
    for name in (
        "ceil",
        "floor",
        "sqrt",
        "log",
        "log2",
        "exp",
        "pi",
        "e",
        "inf",
        "nan",
        "gcd",
        "trunc",
        "sin",
        "cos",
    )
} | {"prod": product}


class ExpressionEvaluator(ABC):
    """Evaluates expressions among the names of a scope. Raises `Unsettled`."""

    def __init__(self, scope: StaticScope, overlay: Mapping[str, Any] | None = None):
        self.scope = scope
        self.local: dict[str, Any] = dict(overlay or {})
        self.depth = 0

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression."""
        self.scope.budget.spend(node)
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise Unsettled("is nested too deeply", node)
            return self._evaluate(node)
        except Unsettled as e:
            if e.node is None:
                e.node = node
            raise
        finally:
            self.depth -= 1

    def _evaluate(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return bounded(value)
            case ast.Name(id=name):
                return self._name(name, node)
            case ast.BinOp(op=op):
                # A long sum leans to the left: walk down without recursion.
                spine: list[ast.BinOp] = []
                left: ast.expr = node
                while isinstance(left, ast.BinOp):
                    spine.append(left)
                    left = left.left
                value = self.evaluate(left)
                for inner in reversed(spine):
                    value = self.held(apply_binary(inner.op, value, self.evaluate(inner.right)))
                return value
            case ast.UnaryOp(op=op, operand=operand):
                return apply_unary(op, self.evaluate(operand))
            case ast.BoolOp(op=op, values=values):
                value = None
                for operand in values:
                    value = self.evaluate(operand)
                    if bool(value) != isinstance(op, ast.And):
                        break
                return value
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.evaluate(body if self.evaluate(test) else orelse)
            case ast.Tuple(elts=elements):
                return tuple(self.elements(elements))
            case ast.List(elts=elements):
                return self.elements(elements)
            case ast.Set(elts=elements):
                return set(self._hashed(self.elements(elements)))
            case ast.Dict(keys=keys, values=values):
                if None in keys:
                    raise Unsettled("has '**' in a dict", node)
                found = self._hashed([self.evaluate(key) for key in keys if key is not None])
                return self.held(dict(zip(found, map(self.evaluate, values), strict=True)))
            case ast.JoinedStr(values=values):
                return self.held(bounded("".join(self._formatted(value) for value in values)))
            case ast.Subscript():
                return self._subscript(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case (
                ast.ListComp(elt=element, generators=generators)
                | ast.GeneratorExp(elt=element, generators=generators)
            ):
                return self._comprehension(element, generators)
            case ast.SetComp(elt=element, generators=generators):
                return set(self._hashed(self._comprehension(element, generators)))
            case ast.DictComp(key=key, value=value, generators=generators):
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), node)
                pairs = self._comprehension(pair, generators)
                self._hashed([name for name, _ in pairs])
                return dict(pairs)
            case _:
                raise Unsettled(f"{describe(node)} is not evaluated at compile time", node)

    def _name(self, name: str, node: ast.Name) -> Any:
        if name in self.local:
            return self.local[name]
        try:
            return self.scope.lookup(name, node.lineno)
        except KeyError:
            if name in BUILTINS or name in ("range", "isinstance", "getattr"):
                return DslName(("builtins", name))
            raise Unsettled(f"name '{name}' is not defined", node) from None

    def held(self, value: Any) -> Any:
        """A value that was made, accounted for."""
        self.scope.budget.hold(length_to_hold(value))
        return value

    def _look_through(self, *values: Any) -> None:
        """Account for comparing, hashing or printing values."""
        self.scope.budget.look_through(unfolded(*values))

    def _hashed(self, values: list[Any]) -> list[Any]:
        """Values that can be keys."""
        self._look_through(values)
        for value in values:
            try:
                hash(value)
            except TypeError as e:
                raise Unsettled(str(e)) from None
        return values

    def elements(self, nodes: Sequence[ast.expr]) -> list[Any]:
        elements: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                elements += self.iterate(self.evaluate(node.value), node)
            else:
                elements.append(self.evaluate(node))
        return self.held(bounded(elements))

    def _formatted(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value)
        if not isinstance(node, ast.FormattedValue):
            raise Unsettled("has an f-string that is not supported", node)
        value = self.evaluate(node.value)
        if not isinstance(value, int | float | str | bool):
            raise Unsettled("puts more than numbers and strings into an f-string", node)
        spec = "" if node.format_spec is None else str(self.evaluate(node.format_spec))
        if len(spec) > 8:
            raise Unsettled("has a format that is not supported", node)
        try:
            return format(value, spec)
        except ValueError as e:
            raise Unsettled(str(e), node) from None

    def _compare(self, node: ast.Compare) -> Any:
        left = self.evaluate(node.left)
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(operand)
            self._look_through(left, right)
            try:
                if not COMPARE[type(op)](left, right):
                    return False
            except TypeError as e:
                raise Unsettled(str(e), node) from None
            left = right
        return True

    def _subscript(self, node: ast.Subscript) -> Any:
        head = dotted_name(node.value)
        if head is not None and head[-1] in _ANNOTATION_HEADS:
            raise Unsettled("is a type, not a value", node)
        base = self.evaluate(node.value)
        if isinstance(base, DslCall):
            raise Unsettled("is no constant", node)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            index: Any = slice(*(None if part is None else self.evaluate(part) for part in parts))
        else:
            index = self.evaluate(node.slice)
            self._look_through(index)
        if not isinstance(base, str | list | tuple | dict | range):
            raise Unsettled("takes an element of something that has none", node)
        try:
            return cast(Any, base)[index]
        except (LookupError, TypeError, ValueError) as e:
            raise Unsettled(f"cannot take this element: {e}", node) from None

    def _attribute(self, node: ast.Attribute) -> Any:
        return self._attribute_of(self.evaluate(node.value), node.attr, node)

    def _attribute_of(self, base: Any, name: str, node: ast.expr) -> Any:
        match base:
            case DslName(path=("math",)):
                if name in _MATH:
                    return _MATH[name] if not callable(_MATH[name]) else DslName(("math", name))
                raise Unsettled(f"math.{name} is not evaluated at compile time", node)
            case DslName(path=("sys",)) if name == "argv":
                return [self.scope.source.name]
            case DslName(path=("os" | "sys" | "dataclasses" as module, *rest)):
                return DslName((module, *rest, name))
            case DslName(path=("pypto",)):
                return DslName(("pl",)) if name == "language" else DslName(("pypto", name))
            case DslName(path=path):
                return dsl_constant((*path, name))
            case Module(scope=scope):
                try:
                    return scope.lookup(name)
                except KeyError:
                    inner = scope.submodule(name)
                    if inner is not None:
                        return Module(inner)
                    raise Unsettled(f"the module has no name '{name}'", node) from None
            case Record(values=values) if name in values:
                return values[name]
            case Record(type=type):
                return self.class_attribute(type, name, base)
            case ClassDefinition():
                return self.class_attribute(base, name, None)
            case EnumWord(value=value) if name == "value" and isinstance(value, int):
                return value
            case _:
                raise Unsettled(f"attribute '{name}' is not evaluated at compile time", node)

    def _call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            base = self.evaluate(node.func.value)
            method = method_of(base, node.func.attr)
            if method is not None:
                arguments = self.elements(node.args)
                if any(not isinstance(argument, PLAIN) for argument in arguments):
                    raise Unsettled("calls a method that is not supported", node)
                self._look_through(*arguments, *((base,) if method.__name__ != "append" else ()))
                try:
                    return self.held(method_called(method, base, arguments))
                except (LookupError, TypeError, ValueError) as e:
                    raise Unsettled(str(e), node) from None
            if isinstance(base, Record):
                return self.call_method(base, node.func.attr, node)
        function = self.evaluate(node.func)
        match function:
            case DslName(path=("builtins", name)):
                return self._builtin(name, node)
            case DslName(path=("math", name)):
                arguments = self.elements(node.args)
                try:
                    return bounded(_MATH[name](*arguments))
                except (KeyError, ArithmeticError, TypeError, ValueError) as e:
                    raise Unsettled(str(e), node) from None
            case DslName(path=("os", "environ", "get") | ("os", "getenv")):
                # A program is read without an environment: what it says if nothing is set.
                arguments = self.elements(node.args)
                return arguments[1] if len(arguments) > 1 else None
            case DslName(path=("dataclasses", "replace")):
                arguments = self.elements(node.args)
                record = arguments[0] if len(arguments) == 1 else None
                if not isinstance(record, Record):
                    raise Unsettled("replaces fields of something that is no dataclass", node)
                changed = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg}
                return Record(record.type, {**record.values, **changed})
            case DslName(path=("os" | "sys" | "dataclasses", *_)):
                raise Unsettled("asks the machine that it runs on", node)
            case DslName(path=("pl", "dynamic")):
                arguments = self.elements(node.args)
                if len(arguments) != 1 or not isinstance(arguments[0], str):
                    raise Unsettled("pl.dynamic takes the name of a symbol", node)
                if not arguments[0].isidentifier():
                    raise Unsettled("the name of a symbol is an identifier", node)
                return Symbol(arguments[0])
            case DslName(path=("pl", "const")) if len(node.args) == 2:
                return self.evaluate(node.args[0])
            case DslName(path=path):
                return DslCall(path, node, self.closed())
            case Function():
                return self.call_function(function, node)
            case ClassDefinition():
                return self.construct(function, node)
            case _:
                pass
        if isinstance(node.func, ast.Attribute) and isinstance(function, DType):
            raise Unsettled("is no function", node)
        raise Unsettled("calls something that is not evaluated at compile time", node)

    def _builtin(self, name: str, node: ast.Call) -> Any:
        arguments = self.elements(node.args)
        if name == "getattr":
            if len(arguments) != 2 or not isinstance(arguments[1], str) or node.keywords:
                raise Unsettled("getattr(...) takes an object and a name here", node)
            return self._attribute_of(arguments[0], arguments[1], node)
        keywords = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg is not None}
        if any(not isinstance(argument, PLAIN) for argument in arguments):
            if name in ("len", "list", "tuple") and isinstance(arguments[0], list | tuple):
                pass
            else:
                raise Unsettled(f"{name}(...) of this is not evaluated at compile time", node)
        if keywords and name not in ("max", "min", "dict", "sorted"):
            raise Unsettled(f"{name}(...) takes no keywords here", node)
        if name == "isinstance":
            raise Unsettled("isinstance(...) is not evaluated at compile time", node)
        if name not in ("len", "range"):
            self._look_through(*arguments)
        try:
            if name == "range":
                return bounded(range(*arguments))
            return self.held(called(name, arguments, keywords))
        except (ArithmeticError, LookupError, TypeError, ValueError) as e:
            raise Unsettled(str(e), node) from None

    def iterate(self, value: Any, node: ast.AST) -> list[Any]:
        if isinstance(value, list | tuple | range | str | set | dict):
            return list(cast(Any, value))
        raise Unsettled("goes over something that is no sequence", node)

    def _comprehension(
        self, element: ast.expr, generators: Sequence[ast.comprehension]
    ) -> list[Any]:
        first, *rest = generators
        found: list[Any] = []
        saved = dict(self.local)
        for value in self.iterate(self.evaluate(first.iter), element):
            self.assign(first.target, value)
            if all(self.evaluate(condition) for condition in first.ifs):
                if rest:
                    found += self._comprehension(element, rest)
                else:
                    found.append(self.evaluate(element))
            bounded(found)
        self.local = saved
        return self.held(found)

    def assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.local[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = self.iterate(value, target)
                if len(values) != len(elements):
                    raise Unsettled(f"unpacks {len(values)} values to {len(elements)} names")
                for element, part in zip(elements, values, strict=True):
                    self.assign(element, part)
            case ast.Subscript(value=ast.Name(id=name), slice=place) if name in self.local:
                container = self.local[name]
                if not isinstance(container, list | dict):
                    raise Unsettled("sets an element of something that has none to set", target)
                index = self.evaluate(place)
                self._look_through(index)
                try:
                    cast(Any, container)[index] = value
                except (LookupError, TypeError, ValueError) as e:
                    raise Unsettled(str(e), target) from None
                bounded(container)
            case ast.Subscript(value=base) if dotted_name(base) == ("sys", "argv"):
                # The program has no arguments, whatever is taken off them.
                pass
            case _:
                raise Unsettled("assigns to something that is no name", target)

    @abstractmethod
    def closed(self) -> StaticScope:
        """The scope with the local names, for what is looked at later."""

    @abstractmethod
    def call_function(self, function: Function, node: ast.Call) -> Any:
        """What a plain function returns."""

    @abstractmethod
    def call_method(self, instance: Record, name: str, node: ast.Call) -> Any:
        """What a method of a plain class returns."""

    @abstractmethod
    def construct(self, definition: ClassDefinition, node: ast.Call) -> Record:
        """An instance of a dataclass."""

    @abstractmethod
    def class_attribute(
        self, definition: ClassDefinition, name: str, instance: Record | None
    ) -> Any:
        """A constant of a class, or a property of an instance."""
