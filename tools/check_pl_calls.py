"""
Checks that PyPTO has what programs printed with `-t pl` say.

    python tools/check_pl_calls.py PATH/TO/pypto [PROGRAM ...]

Each program, `.py` of the DSL or `.mlir`, is printed at every level that the DSL has words for
(`dsl_levels`); without programs, those of `docs/examples` are. Every call of `pl` in the text must
bind to the signature of the function that PyPTO's parser looks up for it, and every word like
`pl.Mem.Vec` must be there. Signatures are read from the sources of PyPTO, which are not run: that
needs no build of PyPTO, and tells nothing of what a function does with its arguments.

Prints each call that does not bind, with the programs that have it; the status is 1 if there are.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path

from dsl_levels import files_of, levels_of, modules_of

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.targets.pl.program import program_text

OPS = ("tile", "tensor", "system", "array", "prefetch")
"""Submodules of `pl` whose functions are ops."""

PARSED = frozenset(("attrs",))
"""Keywords that PyPTO's parser takes off any call before it looks the function up."""

NEWER = frozenset(("pl.set_cache_policy", "pl.CachePolicy", "pl.tile.load(cache=)"))
"""What only PyPTO's latest sources have."""

OWN_KEYWORDS = {
    # Of a tile that is split outside of a region that says how.
    "pl.tile.aiv_shard": ("split", "lane_stride"),
    "pl.tile.aic_gather": ("split",),
    "pl.submit": ("deps", "dumps", "allow_early_resolve", "predicate"),
    "pl.spmd_submit": (
        "core_num",
        "sync_start",
        "deps",
        "dumps",
        "allow_early_resolve",
        "predicate",
    ),
}
"""Calls that PyPTO's parser reads itself; in Python they take anything."""


class Sources:
    """The names that the modules of a checkout define, by reading them."""

    def __init__(self, checkout: Path):
        self.root = checkout / "python"
        self._modules: dict[ast.AST, str] = {}
        if not (self.root / "pypto" / "language" / "__init__.py").is_file():
            raise FileNotFoundError(f"{checkout} holds no python/pypto/language")

    def find(self, module: str, name: str) -> ast.FunctionDef | ast.ClassDef | str | None:
        """What a name of a module is: a function, a class, the module of that name, or nothing."""
        defined = self._names(module)
        found = defined.get(name)
        seen = {(module, name)}
        while isinstance(found, tuple):
            if found in seen:
                return None
            seen.add(found)
            module, name = found
            found = self._names(module).get(name)
            if found is None and self._path(f"{module}.{name}") is not None:
                return f"{module}.{name}"
        return found

    def module_of(self, found: ast.ClassDef) -> str:
        """The module that defines a class."""
        return self._modules[found]

    def members(self, found: ast.ClassDef) -> set[str]:
        """The names in a class."""
        names: set[str] = set()
        for statement in found.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                names.add(statement.target.id)
            elif isinstance(statement, ast.Assign):
                names |= {t.id for t in statement.targets if isinstance(t, ast.Name)}
            elif isinstance(statement, ast.FunctionDef):
                names.add(statement.name)
        return names

    def _path(self, module: str) -> Path | None:
        base = self.root.joinpath(*module.split("."))
        for path in (
            base.with_suffix(".py"),
            base.with_suffix(".pyi"),
            base / "__init__.py",
            base / "__init__.pyi",
        ):
            if path.is_file():
                return path
        return None

    @cache  # noqa: B019
    def _names(self, module: str) -> dict[str, ast.FunctionDef | ast.ClassDef | tuple[str, str]]:
        path = self._path(module)
        if path is None:
            return {}
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        names: dict[str, ast.FunctionDef | ast.ClassDef | tuple[str, str]] = {}
        for statement in _statements(ast.parse(path.read_text()).body):
            match statement:
                case ast.FunctionDef(name=name) if not _is_overload(statement):
                    names[name] = statement
                case ast.ClassDef(name=name):
                    names[name] = statement
                    self._modules[statement] = module
                case ast.ImportFrom(module=origin, names=imported, level=level):
                    base = package.rsplit(".", level - 1)[0] if level else ""
                    base = ".".join(part for part in (base, origin) if part)
                    for alias in imported:
                        names[alias.asname or alias.name] = (base, alias.name)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=value)):
                    names[name] = (module, value)
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Attribute(value=ast.Name(id=owner), attr=attribute),
                ) if isinstance(owners := names.get(owner), tuple):
                    names[name] = (".".join(owners), attribute)
                case _:
                    pass
        return names


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under conditions too; what runs comes last."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _statements((*statement.body, *statement.orelse))
        else:
            yield statement


def _is_overload(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(d).endswith("overload") for d in function.decorator_list)


class Calls:
    """Binds calls of a text to the signatures of a checkout."""

    def __init__(self, checkout: Path):
        self.sources = Sources(checkout)

    def problems(self, text: str) -> Iterator[str]:
        """What in a text PyPTO does not have."""
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                problem = self._call(node)
            elif isinstance(node, ast.Attribute):
                problem = self._word(node)
            else:
                continue
            if problem is not None:
                yield problem

    def _call(self, node: ast.Call) -> str | None:
        path: Sequence[str] | None = dotted_name(node.func)
        if path is None or path[0] != "pl" or not 2 <= len(path) <= 3:
            return None
        name = ".".join(path)
        if name in NEWER:
            return None
        keywords = [
            keyword.arg
            for keyword in node.keywords
            if keyword.arg is not None
            and keyword.arg not in PARSED
            and f"{name}({keyword.arg}=)" not in NEWER
        ]
        own = OWN_KEYWORDS.get(name)
        if own is not None:
            unknown = [keyword for keyword in keywords if keyword not in own]
            return f"{name} has no {', '.join(unknown)}" if unknown else None
        signatures = self._signatures(path)
        if not signatures:
            return f"{name} does not exist"
        reason = ""
        for signature in signatures:
            try:
                signature.bind(*node.args, **dict.fromkeys(keywords))
            except TypeError as e:
                reason = str(e)
            else:
                return None
        return f"{name}{signatures[0]}: {reason}"

    def _signatures(self, path: Sequence[str]) -> list[Signature]:
        """The ways to call `pl.a` or `pl.tile.a`; none where there is no such function."""
        if len(path) == 3 and path[1] in OPS:
            found = self.sources.find(f"pypto.language.op.{path[1]}_ops", path[2])
            if found is None:
                # What only PyPTO's own passes make is read by the makers of its ops.
                found = self.sources.find(f"pypto.ir.op.{path[1]}_ops", path[2])
        elif len(path) == 2:
            # Operations, and what is no operation: loops, scopes, types.
            found = self.sources.find("pypto.language.op", path[1])
            if found is None:
                found = self.sources.find("pypto.language", path[1])
        else:
            return []
        if isinstance(found, ast.FunctionDef):
            return [_signature(found)]
        if isinstance(found, ast.ClassDef):
            return self._makers(found)
        return []

    def _makers(self, found: ast.ClassDef) -> list[Signature]:
        """How instances of a class are made: by its metaclass, if it says how, else by itself."""
        makers = _methods(found, "__init__")
        for keyword in found.keywords:
            if keyword.arg == "metaclass" and isinstance(keyword.value, ast.Name):
                metaclass = self.sources.find(self.sources.module_of(found), keyword.value.id)
                if isinstance(metaclass, ast.ClassDef):
                    makers = _methods(metaclass, "__call__") or makers
        overloads = [maker for maker in makers if _is_overload(maker)]
        found_makers = [_signature(maker, is_method=True) for maker in overloads or makers]
        return found_makers or [Signature([])]

    def _word(self, node: ast.Attribute) -> str | None:
        """`pl.Mem.Vec` and the like."""
        path: Sequence[str] | None = dotted_name(node)
        if path is None or path[0] != "pl" or not 2 <= len(path) <= 3 or path[1] in OPS:
            return None
        if ".".join(path[:2]) in NEWER:
            return None
        found = self.sources.find("pypto.language", path[1])
        if found is None:
            found = self.sources.find("pypto.language.op", path[1])
        if found is None:
            return None if self._is_assigned(path[1]) else f"pl.{path[1]} does not exist"
        exists = True
        if len(path) == 3 and isinstance(found, ast.ClassDef):
            exists = path[2] in self.sources.members(found)
        elif len(path) == 3 and isinstance(found, str):
            exists = self.sources.find(found, path[2]) is not None
            exists |= self._is_assigned(path[2], found)
        return None if exists else f"{'.'.join(path)} does not exist"

    def _is_assigned(self, name: str, module: str = "pypto.language") -> bool:
        """Whether a module gives a value to a name: `FP32 = DataType.FP32`."""
        return name in self._assigned(module)

    @cache  # noqa: B019
    def _assigned(self, module: str) -> set[str]:
        path = self.sources._path(module)  # pyright: ignore[reportPrivateUsage]
        if path is None:
            return set()
        names: set[str] = set()
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.Assign):
                names |= {t.id for t in statement.targets if isinstance(t, ast.Name)}
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                names.add(statement.target.id)
        return names


def _methods(found: ast.ClassDef, name: str) -> list[ast.FunctionDef]:
    return [s for s in found.body if isinstance(s, ast.FunctionDef) and s.name == name]


def _signature(function: ast.FunctionDef, *, is_method: bool = False) -> Signature:
    given = function.args
    parameters: list[Parameter] = []
    places = [*given.posonlyargs, *given.args]
    required = len(places) - len(given.defaults)
    for place, argument in enumerate(places):
        if is_method and place == 0:
            continue
        kind = (
            Parameter.POSITIONAL_ONLY
            if place < len(given.posonlyargs)
            else Parameter.POSITIONAL_OR_KEYWORD
        )
        default = Parameter.empty if place < required else None
        parameters.append(Parameter(argument.arg, kind, default=default))
    if given.vararg is not None:
        parameters.append(Parameter(given.vararg.arg, Parameter.VAR_POSITIONAL))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parameters.append(
            Parameter(
                argument.arg,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if default is None else None,
            )
        )
    if given.kwarg is not None:
        parameters.append(Parameter(given.kwarg.arg, Parameter.VAR_KEYWORD))
    return Signature(parameters)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check printed programs against PyPTO's sources.")
    parser.add_argument("checkout", type=Path, help="the root of a checkout of PyPTO")
    parser.add_argument("programs", nargs="*", type=Path, help="files, or folders of them")
    given = parser.parse_args(arguments)
    examples = Path(__file__).parents[1] / "docs" / "examples"
    calls = Calls(given.checkout)
    found: dict[str, list[str]] = defaultdict(list)
    texts = 0
    for path in files_of(given.programs or [examples]):
        for name, module in modules_of(path):
            for level, lowered in levels_of(module):
                try:
                    text = program_text(lowered)
                except DiagnosticsError:
                    continue
                texts += 1
                for problem in calls.problems(text):
                    found[problem].append(f"{path.name}:{name} after {level}")
    for problem, places in sorted(found.items()):
        print(f"{problem}\n    {len(places)} times, first in {places[0]}")
    print(f"{texts} texts, {len(found)} calls or words that PyPTO does not have")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
