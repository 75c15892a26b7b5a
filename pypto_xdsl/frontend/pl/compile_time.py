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
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from xdsl.ir import Attribute

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl.source import MAX_BYTES, MAX_DEPTH, Source, dotted_name
from pypto_xdsl.frontend.pl.vocabulary import (
    DTYPES,
    ENUMS,
    LAYOUT_WORDS,
    UNSUPPORTED_DTYPES,
    EnumWord,
)
from pypto_xdsl.syntax.spelling import did_you_mean

MAX_STEPS = 200_000
"""How many expressions may be evaluated at compile time in one program."""
MAX_BITS = 4096
"""How large an integer may get."""
MAX_LENGTH = 65_536
"""How long a sequence or a string may get."""
MAX_FILES = 64
"""How many files may be imported from."""

DSL_MODULES = {
    "pypto.language": "pl",
    "pypto.language.distributed": "pld",
}

Definition: TypeAlias = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class DslName:
    """A name of the DSL that is no constant: `pl.tile.add` is `DslName(("pl", "tile", "add"))`."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class DType:
    """`pl.FP32`: the type of elements."""

    name: str
    type: Attribute

    def __str__(self) -> str:
        return f"pl.{self.name}"


@dataclass(frozen=True)
class Symbol:
    """`pl.dynamic("M")`: an extent that is known at run time only."""

    name: str


@dataclass(frozen=True, eq=False)
class DslCall:
    """
    A call like `pl.MemRef(...)` or `pl.TensorView(...)` that only annotations give a meaning to,
    with the names around it.
    """

    path: tuple[str, ...]
    node: ast.Call
    scope: StaticScope
    name: str | None = None
    """The variable that it was assigned to."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function of Python, decorated or not, with the names around it."""

    node: ast.FunctionDef
    scope: StaticScope
    source: Source


@dataclass(frozen=True, eq=False)
class ClassDefinition:
    """A class, with the names around it."""

    node: ast.ClassDef
    scope: StaticScope
    source: Source


@dataclass(eq=False)
class Record:
    """An instance of a plain class (a dataclass, a configuration): its attributes."""

    type: ClassDefinition
    values: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Module:
    """A module that was imported from a file."""

    scope: StaticScope


class Unsettled(Exception):
    """The text does not say what a name or an expression is; `reason` says why."""

    def __init__(self, reason: str, node: ast.AST | None = None):
        super().__init__(reason)
        self.reason = reason
        self.node = node


@dataclass
class Budget:
    """What evaluation may still cost, shared by all of one program."""

    steps: int = MAX_STEPS
    files: dict[str, StaticScope | None] = field(default_factory=dict[str, "StaticScope | None"])

    def spend(self, node: ast.AST) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Unsettled(f"takes more than {MAX_STEPS} steps to evaluate", node)


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
        if isinstance(target, ast.Name):
            self._bind(target.id, statement, value)
        elif isinstance(target, ast.Tuple | ast.List):
            for place, element in enumerate(target.elts):
                if isinstance(element, ast.Name):
                    self._bind(element.id, statement, (value, place))

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
            return self.defines[name]
        if name in self.values:
            return self.values[name]
        bindings = self._bindings.get(name)
        if bindings:
            return self._evaluate_binding(name, self._visible(bindings, line))
        for statement in self._star_imports:
            module = self._imported_module(statement, statement.module)
            if isinstance(module, Module):
                try:
                    return module.scope.lookup(name)
                except KeyError:
                    continue
        if self.parent is not None:
            return self.parent.lookup(name)
        if name in ("pl", "pld"):
            return DslName((name,))
        raise KeyError(name)

    @staticmethod
    def _visible(bindings: Sequence[_Binding], line: int | None) -> _Binding:
        """The binding that a line sees: the last one before it."""
        if line is not None:
            before = [binding for binding in bindings if binding[0] < line]
            if before:
                return before[-1]
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
            case _, (ast.expr() as value, int() as place):
                sequence = Evaluator(self).evaluate(value)
                parts = elements_of(sequence)
                if parts is None or place >= len(parts):
                    raise Unsettled(f"'{name}' is unpacked from something else", node)
                return parts[place]
            case _, "parameter":
                raise Unsettled(f"'{name}' is a parameter of the function around", node)
            case _:
                raise Unsettled(f"'{name}' changes while the program is built", node)

    # Imports

    def _imported(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Any:
        if isinstance(node, ast.Import):
            for module, word in DSL_MODULES.items():
                if alias.name == module:
                    return DslName((word,))
            if alias.name in ("math", "pypto", "os", "sys", "dataclasses"):
                return DslName((alias.name,))
            return self._imported_module(node, alias.name)
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
        module = self._imported_module(node, node.module)
        if isinstance(module, Module):
            try:
                return module.scope.lookup(alias.name)
            except KeyError:
                pass
        # `from package import module`
        name = alias.name if node.module is None else f"{node.module}.{alias.name}"
        inner = self._imported_module(node, name)
        if isinstance(inner, Module):
            return inner
        raise Unsettled(f"'{alias.name}' is imported from '{node.module or '.'}'", node)

    def _imported_module(self, node: ast.Import | ast.ImportFrom, name: str | None) -> Any:
        scope = self._load(name, node.level if isinstance(node, ast.ImportFrom) else 0)
        if scope is None:
            raise Unsettled(f"module '{name or '.'}' is not next to the program", node)
        return Module(scope)

    def _load(self, name: str | None, level: int) -> StaticScope | None:
        """The scope of a module: a file below a folder that holds this one."""
        if self.source.path is None:
            return None
        folder = Path(self.source.path).parent
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
            files[key] = None
            try:
                if path.stat().st_size > MAX_BYTES:
                    return None
                source = Source(path.read_text(encoding="utf-8"), str(path), key)
            except (OSError, UnicodeDecodeError, DiagnosticsError):
                return None
            root = self
            while root.parent is not None:
                root = root.parent
            files[key] = StaticScope(source, source.tree.body, None, self.budget, root.defines)
        return files[key]


def dsl_constant(path: tuple[str, ...]) -> Any:
    """What a dotted name of the DSL is: a dtype, a word of an enum, or just a name."""
    module, *rest = path
    if module != "pl" or not rest:
        return DslName(path)
    if len(rest) == 1:
        name = rest[0]
        if name in DTYPES:
            return DType(name, DTYPES[name])
        if name in LAYOUT_WORDS:
            return EnumWord("TensorLayout", name, LAYOUT_WORDS[name])
        if name in UNSUPPORTED_DTYPES:
            raise Unsettled(f"element type pl.{name} is not supported")
    else:
        enum, member = rest[-2:]
        if enum in ENUMS:
            words = ENUMS[enum]
            if member not in words:
                if member in ("LeftScale", "RightScale"):
                    raise Unsettled(f"memory space pl.{enum}.{member} is not supported")
                raise Unsettled(f"pl.{enum} has no member '{member}'{did_you_mean(member, words)}")
            return EnumWord(enum, member, words[member])
        if enum == "DataType" and member in DTYPES:
            return DType(member, DTYPES[member])
    return DslName(path)


def elements_of(value: Any) -> Sequence[Any] | None:
    """The elements of a list or tuple, None for anything else."""
    return cast(Sequence[Any], value) if isinstance(value, tuple | list) else None


def _listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives a list where the function gives an iterator."""

    def listed(*arguments: Any) -> Any:
        return list(function(*arguments))

    return listed


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_BUILTINS: dict[str, Callable[..., Any]] = {
    "len": len,
    "max": max,
    "min": min,
    "abs": abs,
    "sum": sum,
    "round": round,
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "set": set,
    "sorted": sorted,
    "enumerate": _listed(enumerate),
    "zip": _listed(zip),
    "reversed": _listed(reversed),
    "divmod": divmod,
    "all": all,
    "any": any,
}
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
        "prod",
        "gcd",
        "trunc",
        "sin",
        "cos",
    )
}
_PLAIN = (bool, int, float, str, type(None), tuple, list, dict, set, range)
_ANNOTATION_HEADS = ("Tensor", "Tile", "Scalar", "Array", "Tuple", "Out", "InOut", "MemRef")


def apply_binary(op: ast.operator, left: Any, right: Any) -> Any:
    """A binary operation of Python, within bounds. Raises `Unsettled`."""
    function = _BINARY.get(type(op))
    if function is None:
        raise Unsettled("uses an operator that is not supported")
    if isinstance(op, ast.Pow | ast.LShift) and isinstance(left, int) and isinstance(right, int):
        grows = right if isinstance(op, ast.LShift) else right * max(left.bit_length(), 1)
        if grows > MAX_BITS:
            raise Unsettled(f"makes an integer of more than {MAX_BITS} bits")
    if isinstance(op, ast.Mult):
        for sequence, count in ((left, right), (right, left)):
            if isinstance(sequence, str | list | tuple) and isinstance(count, int):
                if _length(sequence) * count > MAX_LENGTH:
                    raise Unsettled(f"makes a sequence of more than {MAX_LENGTH} elements")
    if isinstance(op, ast.Mod) and isinstance(left, str):
        raise Unsettled("formats a string with %; use an f-string")
    try:
        value = function(left, right)
    except (ArithmeticError, TypeError, ValueError) as e:
        raise Unsettled(str(e)) from None
    return bounded(value)


def apply_unary(op: ast.unaryop, operand: Any) -> Any:
    """A unary operation of Python. Raises `Unsettled`."""
    try:
        return _UNARY[type(op)](operand)
    except TypeError as e:
        raise Unsettled(str(e)) from None


def _length(value: Any) -> int:
    return len(value)


def bounded(value: Any) -> Any:
    """`value`, or `Unsettled` if it is larger than the evaluator may hold."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise Unsettled(f"makes an integer of more than {MAX_BITS} bits")
    if isinstance(value, str | list | tuple | dict | set | range) and _length(value) > MAX_LENGTH:
        raise Unsettled(f"makes a sequence of more than {MAX_LENGTH} elements")
    return value


_METHODS: dict[type, tuple[str, ...]] = {
    str: ("lower", "upper", "strip", "split", "startswith", "endswith", "replace", "join"),
    list: ("append", "extend", "index", "count", "copy", "pop", "insert"),
    tuple: ("index", "count"),
    dict: ("get", "items", "keys", "values", "copy", "update"),
    int: ("bit_length",),
}
"""The methods of plain values that may be called."""


def _method(base: Any, name: str) -> Callable[..., Any] | None:
    for type, names in _METHODS.items():
        if isinstance(base, type) and not isinstance(base, bool) and name in names:
            method: Callable[..., Any] = getattr(type, name)
            if type is dict and name in ("items", "keys", "values"):
                return _listed(method)
            return method
    return None


class _Continue(Exception):
    pass


class _Break(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Any):
        self.value = value


class Evaluator:
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
                    value = apply_binary(inner.op, value, self.evaluate(inner.right))
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
                return tuple(self._elements(elements))
            case ast.List(elts=elements):
                return self._elements(elements)
            case ast.Set(elts=elements):
                return set(self._elements(elements))
            case ast.Dict(keys=keys, values=values):
                return {
                    self.evaluate(key): self.evaluate(value)
                    for key, value in zip(keys, values, strict=True)
                    if key is not None
                }
            case ast.JoinedStr(values=values):
                return bounded("".join(self._formatted(value) for value in values))
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
                return set(self._comprehension(element, generators))
            case ast.DictComp(key=key, value=value, generators=generators):
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), node)
                return dict(self._comprehension(pair, generators))
            case _:
                raise Unsettled(f"{describe(node)} is not evaluated at compile time", node)

    def _name(self, name: str, node: ast.Name) -> Any:
        if name in self.local:
            return self.local[name]
        try:
            return self.scope.lookup(name, node.lineno)
        except KeyError:
            if name in _BUILTINS or name in ("range", "isinstance"):
                return DslName(("builtins", name))
            raise Unsettled(f"name '{name}' is not defined", node) from None

    def _elements(self, nodes: Sequence[ast.expr]) -> list[Any]:
        elements: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                elements += self._iterate(self.evaluate(node.value), node)
            else:
                elements.append(self.evaluate(node))
        return bounded(elements)

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
        if not isinstance(base, str | list | tuple | dict | range):
            raise Unsettled("takes an element of something that has none", node)
        try:
            return base[index]
        except (LookupError, TypeError, ValueError) as e:
            raise Unsettled(f"cannot take this element: {e}", node) from None

    def _attribute(self, node: ast.Attribute) -> Any:
        base = self.evaluate(node.value)
        name = node.attr
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
                    raise Unsettled(f"the module has no name '{name}'", node) from None
            case Record(values=values) if name in values:
                return values[name]
            case Record(type=type):
                return _class_attribute(type, name, base)
            case ClassDefinition():
                return _class_attribute(base, name, None)
            case EnumWord(value=value) if name == "value" and isinstance(value, int):
                return value
            case _:
                raise Unsettled(f"attribute '{name}' is not evaluated at compile time", node)

    def _call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            base = self.evaluate(node.func.value)
            method = _method(base, node.func.attr)
            if method is not None:
                arguments = self._elements(node.args)
                if any(not isinstance(argument, _PLAIN) for argument in arguments):
                    raise Unsettled("calls a method that is not supported", node)
                try:
                    return bounded(method(base, *arguments))
                except (LookupError, TypeError, ValueError) as e:
                    raise Unsettled(str(e), node) from None
            if isinstance(base, Record):
                return self._call_method(base, node.func.attr, node)
        function = self.evaluate(node.func)
        match function:
            case DslName(path=("builtins", name)):
                return self._builtin(name, node)
            case DslName(path=("math", name)):
                arguments = self._elements(node.args)
                try:
                    return bounded(_MATH[name](*arguments))
                except (KeyError, ArithmeticError, TypeError, ValueError) as e:
                    raise Unsettled(str(e), node) from None
            case DslName(path=("os", "environ", "get") | ("os", "getenv")):
                # A program is read without an environment: what it says if nothing is set.
                arguments = self._elements(node.args)
                return arguments[1] if len(arguments) > 1 else None
            case DslName(path=("dataclasses", "replace")):
                (record,) = self._elements(node.args)
                if not isinstance(record, Record):
                    raise Unsettled("replaces fields of something that is no dataclass", node)
                changed = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg}
                return Record(record.type, {**record.values, **changed})
            case DslName(path=("os" | "sys" | "dataclasses", *_)):
                raise Unsettled("asks the machine that it runs on", node)
            case DslName(path=("pl", "dynamic")):
                arguments = self._elements(node.args)
                if len(arguments) != 1 or not isinstance(arguments[0], str):
                    raise Unsettled("pl.dynamic takes the name of a symbol", node)
                return Symbol(arguments[0])
            case DslName(path=("pl", "const")) if len(node.args) == 2:
                return self.evaluate(node.args[0])
            case DslName(path=path):
                return DslCall(path, node, self._closed())
            case Function():
                return self._call_function(function, node)
            case ClassDefinition():
                return self._construct(function, node)
            case _:
                pass
        if isinstance(node.func, ast.Attribute) and isinstance(function, DType):
            raise Unsettled("is no function", node)
        raise Unsettled("calls something that is not evaluated at compile time", node)

    def _closed(self) -> StaticScope:
        """The scope with the local names, for what is looked at later."""
        if not self.local:
            return self.scope
        return StaticScope(
            self.scope.source, (), self.scope, self.scope.budget, arguments=self.local
        )

    def _builtin(self, name: str, node: ast.Call) -> Any:
        arguments = self._elements(node.args)
        keywords = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg is not None}
        if any(not isinstance(argument, _PLAIN) for argument in arguments):
            if name in ("len", "list", "tuple") and isinstance(arguments[0], list | tuple):
                pass
            else:
                raise Unsettled(f"{name}(...) of this is not evaluated at compile time", node)
        if keywords and name not in ("max", "min", "dict", "sorted"):
            raise Unsettled(f"{name}(...) takes no keywords here", node)
        try:
            if name == "range":
                return bounded(range(*arguments))
            if name == "isinstance":
                raise Unsettled("isinstance(...) is not evaluated at compile time", node)
            if name == "int" and arguments and isinstance(arguments[0], str):
                if len(arguments[0]) > 1000:
                    raise Unsettled("makes too large an integer", node)
            return bounded(_BUILTINS[name](*arguments, **keywords))
        except (ArithmeticError, LookupError, TypeError, ValueError) as e:
            raise Unsettled(str(e), node) from None

    def _iterate(self, value: Any, node: ast.AST) -> list[Any]:
        if isinstance(value, list | tuple | range | str | set | dict):
            return list(value)
        raise Unsettled("goes over something that is no sequence", node)

    def _comprehension(
        self, element: ast.expr, generators: Sequence[ast.comprehension]
    ) -> list[Any]:
        first, *rest = generators
        found: list[Any] = []
        saved = dict(self.local)
        for value in self._iterate(self.evaluate(first.iter), element):
            self._assign(first.target, value)
            if all(self.evaluate(condition) for condition in first.ifs):
                if rest:
                    found += self._comprehension(element, rest)
                else:
                    found.append(self.evaluate(element))
            bounded(found)
        self.local = saved
        return found

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self.local[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = self._iterate(value, target)
                if len(values) != len(elements):
                    raise Unsettled(f"unpacks {len(values)} values to {len(elements)} names")
                for element, part in zip(elements, values, strict=True):
                    self._assign(element, part)
            case _:
                raise Unsettled("assigns to something that is no name", target)

    # Plain functions and classes

    def arguments_of(self, function: Function, node: ast.Call) -> dict[str, Any]:
        """The arguments of a call of a plain function by the names of its parameters."""
        spec = function.node.args
        names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
        given = self._elements(node.args)
        if len(given) > len(names):
            raise Unsettled(f"'{function.node.name}' takes {len(names)} arguments", node)
        bound = dict(zip(names, given, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in bound:
                raise Unsettled("passes arguments in a way that is not supported", node)
            bound[keyword.arg] = self.evaluate(keyword.value)
        return with_defaults(function, bound, node)

    def _call_function(self, function: Function, node: ast.Call) -> Any:
        if any(_is_dsl_decorator(decorator) for decorator in function.node.decorator_list):
            raise Unsettled(f"'{function.node.name}' is a function of the DSL", node)
        if self.depth > MAX_DEPTH // 4:
            raise Unsettled("calls functions too deeply", node)
        arguments = self.arguments_of(function, node)
        return run_function(function, arguments, self.depth)

    def _call_method(self, instance: Record, name: str, node: ast.Call) -> Any:
        for statement in instance.type.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                function = Function(statement, instance.type.scope, instance.type.source)
                made = ast.copy_location(
                    ast.Call(node.func, [ast.Constant(None), *node.args], node.keywords), node
                )
                arguments = self.arguments_of(function, made)
                arguments[statement.args.args[0].arg] = instance
                return run_function(function, arguments, self.depth)
        raise Unsettled(f"'{instance.type.node.name}' has no method '{name}'", node)

    def _construct(self, definition: ClassDefinition, node: ast.Call) -> Record:
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
        values |= dict(zip(names, self._elements(node.args), strict=False))
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Unsettled("passes arguments in a way that is not supported", node)
            values[keyword.arg] = self.evaluate(keyword.value)
        return Record(definition, values)


def _class_attribute(definition: ClassDefinition, name: str, instance: Record | None) -> Any:
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
                    return run_function(function, {statement.args.args[0].arg: instance}, 1)
                break
            case _:
                pass
    raise Unsettled(f"'{definition.node.name}' has no constant '{name}'")


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
        _run(evaluator, function.node.body)
    except _Return as e:
        return e.value
    return None


def _run(evaluator: Evaluator, body: Sequence[ast.stmt]) -> None:
    """Run the statements of a plain function."""
    for statement in body:
        evaluator.scope.budget.spend(statement)
        match statement:
            case ast.Return(value=value):
                raise _Return(None if value is None else evaluator.evaluate(value))
            case ast.Assign(targets=targets, value=value) if not any(
                isinstance(target, ast.Subscript) for target in targets
            ):
                result = evaluator.evaluate(value)
                for target in targets:
                    evaluator._assign(target, result)  # pyright: ignore[reportPrivateUsage]
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                evaluator.local[name] = evaluator.evaluate(value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                left = evaluator.evaluate(ast.copy_location(ast.Name(name, ast.Load()), target))
                evaluator.local[name] = apply_binary(op, left, evaluator.evaluate(value))
            case ast.If(test=test, body=then, orelse=orelse):
                _run(evaluator, then if evaluator.evaluate(test) else orelse)
            case ast.For(target=target, iter=iterator, body=inner, orelse=[]):
                values = evaluator.evaluate(iterator)
                for value in evaluator._iterate(values, statement):  # pyright: ignore[reportPrivateUsage]
                    evaluator._assign(target, value)  # pyright: ignore[reportPrivateUsage]
                    if not _run_iteration(evaluator, inner):
                        break
            case ast.While(test=test, body=inner, orelse=[]):
                while evaluator.evaluate(test):
                    evaluator.scope.budget.spend(statement)
                    if not _run_iteration(evaluator, inner):
                        break
            case ast.Continue():
                raise _Continue
            case ast.Break():
                raise _Break
            case ast.FunctionDef(name=name):
                inner_scope = StaticScope(
                    evaluator.scope.source,
                    (),
                    evaluator.scope,
                    evaluator.scope.budget,
                    arguments=evaluator.local,
                )
                evaluator.local[name] = Function(statement, inner_scope, evaluator.scope.source)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as call):
                evaluator.evaluate(call)
            case ast.Assign(targets=[ast.Subscript()]):
                pass
            case ast.Assert(test=test):
                if not evaluator.evaluate(test):
                    raise Unsettled("an assertion does not hold", statement)
            case _:
                raise Unsettled(
                    f"{describe(statement)} is not evaluated at compile time", statement
                )


def _run_iteration(evaluator: Evaluator, body: Sequence[ast.stmt]) -> bool:
    """Run the body of a loop once; whether the loop goes on."""
    try:
        _run(evaluator, body)
    except _Continue:
        pass
    except _Break:
        return False
    return True


def _is_dsl_decorator(node: ast.expr) -> bool:
    name = dotted_name(node.func if isinstance(node, ast.Call) else node)
    return name is not None and ("jit" in name or name[-1] in ("function", "inline"))


_DESCRIPTIONS: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.IfExp: "a conditional expression",
    ast.NamedExpr: "':='",
    ast.Await: "'await'",
    ast.Yield: "'yield'",
    ast.YieldFrom: "'yield from'",
    ast.Starred: "'*'",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.GeneratorExp: "a generator expression",
    ast.JoinedStr: "an f-string",
    ast.Try: "'try'",
    ast.Raise: "'raise'",
    ast.Assert: "'assert'",
    ast.Delete: "'del'",
    ast.Global: "'global'",
    ast.Nonlocal: "'nonlocal'",
    ast.Import: "'import'",
    ast.ImportFrom: "'import'",
    ast.FunctionDef: "a nested function",
    ast.AsyncFunctionDef: "an async function",
    ast.ClassDef: "a nested class",
    ast.Match: "'match'",
    ast.AsyncFor: "'async for'",
    ast.AsyncWith: "'async with'",
    ast.While: "'while'",
    ast.With: "'with'",
    ast.Slice: "a slice",
    ast.Attribute: "an attribute",
}


def describe(node: ast.AST) -> str:
    """A construct in words."""
    return _DESCRIPTIONS.get(type(node), f"'{type(node).__name__}'")
