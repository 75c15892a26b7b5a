"""What names and expressions outside the DSL are worth, and when that is not settled."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Attribute

from pypto_xdsl.frontend.pl.source import Source, dotted_name
from pypto_xdsl.frontend.pl.vocabulary import (
    DTYPES,
    ENUMS,
    LAYOUT_WORDS,
    UNSUPPORTED_DTYPES,
    EnumWord,
)
from pypto_xdsl.syntax.spelling import did_you_mean

if TYPE_CHECKING:
    from pypto_xdsl.frontend.pl.compile_time import StaticScope

MAX_STEPS = 200_000
"""How many expressions may be evaluated at compile time in one program."""
MAX_ELEMENTS = 2_000_000
"""How many elements all sequences may have together that one program makes at compile time."""


DSL_MODULES = {
    "pypto.language": "pl",
    "pypto.language.distributed": "pld",
}


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


@dataclass(frozen=True)
class ImportedName:
    """A name of a module that is looked up next to the program: what the user says a name is."""

    module: str
    name: str


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
    elements: int = MAX_ELEMENTS
    files: dict[str, StaticScope | None] = field(default_factory=dict[str, "StaticScope | None"])
    modules: dict[tuple[str, str | None, int], StaticScope | None] = field(
        default_factory=dict[tuple[str, "str | None", int], "StaticScope | None"]
    )
    """What an import in a file, by its name and level, stands for."""
    unread: dict[tuple[str, str | None, int], str] = field(
        default_factory=dict[tuple[str, "str | None", int], str]
    )
    """Why the file of an import cannot be read, where there is one."""
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    """The imported files, parsed; they may be another budget's."""

    def spend(self, node: ast.AST) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Unsettled(f"takes more than {MAX_STEPS} steps to evaluate", node)

    def hold(self, count: int) -> None:
        """Account for the elements of a sequence that was made."""
        self.elements -= count
        if self.elements < 0:
            raise Unsettled(f"makes sequences of more than {MAX_ELEMENTS} elements in all")

    def look_through(self, count: int) -> None:
        """Account for going over the elements of sequences."""
        self.steps -= count // 8
        if self.steps < 0:
            raise Unsettled(f"takes more than {MAX_STEPS} steps to evaluate")


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


def is_dsl_decorator(node: ast.expr) -> bool:
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
