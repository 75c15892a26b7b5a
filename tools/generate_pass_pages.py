"""
Writes `docs/passes/`: a page for each pass, an index, and the properties that passes rely on.

    python tools/generate_pass_pages.py [--check]

Everything stands in the code: the documentation of a pass is that of its module, what it relies
on and its options are those of its class, a property is its summary and its module.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

from xdsl.passes import ModulePass

from pypto_xdsl.pipelines import PIPELINES
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.properties.registry import PROPERTIES, STRUCTURAL
from pypto_xdsl.properties.registry import module_name as property_module_name
from pypto_xdsl.tools.pass_flags import option_types
from pypto_xdsl.universe import PASSES, PYPTO_UNIVERSE, module_name

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "passes"
GENERATED = "<!-- Written by tools/generate_pass_pages.py from the code. -->"


def pages() -> dict[str, str]:
    """File name in `docs/passes/` -> its text."""
    found = {f"{name}.md": _pass_page(name) for name in PASSES}
    found["README.md"] = _index()
    found["properties.md"] = _properties()
    return found


def _pass_type(name: str) -> type[ModulePass]:
    return PYPTO_UNIVERSE.all_passes[name]()


def _summary(name: str) -> str:
    return (_pass_type(name).__doc__ or "").strip().partition("\n")[0]


def _title_and_body(docstring: str) -> tuple[str, str]:
    """The first paragraph, without the name that it starts with, and the rest."""
    title, _, body = docstring.strip().partition("\n\n")
    _, _, what = title.partition(": ")
    what = what or title
    return what[0].upper() + what[1:], body


def _markdown(docstring: str) -> str:
    """A module's documentation as Markdown: indented blocks become fenced ones."""
    lines: list[str] = []
    block: list[str] = []

    def end_block() -> None:
        while block and not block[-1]:
            block.pop()
        if block:
            language = "sh" if block[0].startswith(("pypto-", "xdsl-", "python")) else "mlir"
            lines.extend((f"```{language}", *block, "```", ""))
            block.clear()

    for line in docstring.strip("\n").splitlines():
        if line.startswith("    ") or (block and not line):
            block.append(line.removeprefix("    "))
            continue
        end_block()
        lines.append(line.rstrip())
    end_block()
    return "\n".join(lines).rstrip()


def _pass_page(name: str) -> str:
    pass_type = _pass_type(name)
    module = import_module(f"pypto_xdsl.transforms.{module_name(name)}")
    assert module.__doc__ is not None
    title, body = _title_and_body(module.__doc__)
    parts = [f"# `{name}`", GENERATED, title, _markdown(body)]
    rows = list(_facts(pass_type))
    if rows:
        parts.append("\n".join(("| | |", "|---|---|", *rows)))
    options = list(_options(pass_type))
    if options:
        head = ("## Options", "", "| option | type | default | |", "|---|---|---|---|")
        parts.append("\n".join((*head, *options)))
    return "\n\n".join(filter(None, parts)) + "\n"


def _facts(pass_type: type[ModulePass]) -> Iterator[str]:
    if not issubclass(pass_type, CheckedPass):
        return
    for word in ("required", "produced", "invalidated"):
        names: tuple[str, ...] = getattr(pass_type, word)
        links = ", ".join(f"[{name}](properties.md#{name.lower()})" for name in names)
        yield f"| {word} | {links or 'none'} |"


def _options(pass_type: type[ModulePass]) -> Iterator[str]:
    defaults = {field.name: field.default for field in fields(pass_type)}
    meanings = _documented_fields(pass_type)
    for name, hint in option_types(pass_type).items():
        kind = hint.__name__ if isinstance(hint, type) else str(hint)
        default = defaults[name]
        shown = "" if default is MISSING or default is None else f"`{default}`"
        kind = kind.replace("|", "\\|")
        yield f"| `{name.replace('_', '-')}` | `{kind}` | {shown} | {meanings[name]} |"


def _documented_fields(kind: type) -> dict[str, str]:
    """The strings below the fields of a class and of the classes it derives from."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("pypto_xdsl."):
            (definition,) = ast.parse(dedent(inspect.getsource(base))).body
            assert isinstance(definition, ast.ClassDef)
            for field, below in pairwise(definition.body):
                match field, below:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        found[name] = " ".join(text.split())
                    case _:
                        pass
    return found


def _index() -> str:
    lines = ["# Passes", "", GENERATED, "", "| pass | what it does |", "|---|---|"]
    lines += [f"| [`{name}`]({name}.md) | {_summary(name)} |" for name in PASSES]
    lines += ["", "## Pipelines", ""]
    seen: dict[str, list[str]] = {}
    for pipeline, passes in PIPELINES.items():
        names = seen[pipeline] = [spec.partition("{")[0] for spec in passes]
        base = next((n for n, of in seen.items() if n != pipeline and set(of) <= set(names)), None)
        if base is None:
            lines.append(f"`{pipeline}`, in this order:")
            lines += ["", *(f"1. [`{name}`]({name}.md)" for name in names), ""]
        else:
            added = [
                f"[`{name}`]({name}.md) after [`{before}`]({before}.md)"
                for before, name in pairwise(names)
                if name not in seen[base]
            ]
            lines += [f"`{pipeline}`: `{base}`, with {' and '.join(added)}.", ""]
    lines.append("What passes rely on is a [property](properties.md).")
    return "\n".join(lines) + "\n"


def _properties() -> str:
    lines = [
        "# Properties",
        "",
        GENERATED,
        "",
        "A property is a verifier that derives its verdict from the IR alone. Structural ones hold",
        "at all times; the others hold from the pass on that produces them.",
        "`pypto-opt --verify-property=NAME` checks one on any file.",
    ]
    for name in sorted(PROPERTIES):
        kind = "structural" if name in STRUCTURAL else "from some pass on"
        producers = [f"[`{p}`]({p}.md)" for p in PASSES if name in _produced(p)]
        module = import_module(f"pypto_xdsl.properties.{property_module_name(name)}")
        assert module.__doc__ is not None
        _, body = _title_and_body(module.__doc__)
        lines += ["", f"## {name}", "", f"Holds if {PROPERTIES[name]().summary}. ({kind})"]
        if body.strip():
            lines += ["", _markdown(body)]
        if producers:
            lines += ["", f"Produced by {', '.join(producers)}."]
    return "\n".join(lines) + "\n"


def _produced(name: str) -> tuple[str, ...]:
    pass_type = _pass_type(name)
    return pass_type.produced if issubclass(pass_type, CheckedPass) else ()


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Write the pages of the passes.")
    parser.add_argument("--check", action="store_true", help="fail if a page is not current")
    check = parser.parse_args().check
    wanted = pages()
    stale = [
        name
        for name, text in wanted.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text() != text
    ]
    stale += sorted({path.name for path in FOLDER.glob("*.md")} - set(wanted))
    if check:
        for name in stale:
            print(f"docs/passes/{name} is not current", file=sys.stderr)
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
