"""
Writes the reference of the `pto` dialect from its tables.

    python tools/generate_pto_reference.py            # writes docs/dialects/pto.md
    python tools/generate_pto_reference.py --check    # fails if the file is not what it would be

`reference()` is the text.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto.attributes import ATTRIBUTES
from pypto_xdsl.dialects.pto.declaration import PtoOp
from pypto_xdsl.dialects.pto.dialect import TYPES
from pypto_xdsl.dialects.pto.other_versions import REFUSED, RENAMED

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "dialects" / "pto.md"
FORMS = ROOT / "test" / "filecheck" / "dialects" / "pto"
"""The tests of the dialect, which have a line for each op."""

INTRODUCTION = """\
# The `pto` dialect

<!-- Written by tools/generate_pto_reference.py from the tables of the dialect. -->

PTOAS's language in PTOAS's own text: what is printed here, the assembler (0.57) reads, and what
it and PyPTO write for A2/A3 is read here.

    pypto-opt kernel.pto                       # the frontend `pto` reads files so named
    pypto-opt kernel.mlir -t pto               # writes .pto, one file a unit
    pypto-opt kernel.mlir -t 'pto{level="level3" grammar="0.60" short-types=true}'

A program of any other dialect may hold `pto` ops; the generic form and `loc(...)` are read and
printed as usual. Verifiers hold the rules of A2/A3. What functions of a module must agree on
(queues, buffers, flags, sections) is the structural property `PtoFunctionsConsistent`.
"""

ROLES = """\
## Operands

Each operand has a role:

| mark | role | what the instruction does with the operand |
|---|---|---|
| | read | reads its bytes |
| `!` | write | writes its bytes without reading them |
| `&` | update | reads and writes them |
| `~` | scratch | uses it as workspace; its contents mean nothing before or after |
| `#` | value | a number |
| `@` | view | uses only its address or extent |

`?` stands behind an operand that may be absent, `*` behind any number of them. A source in
_italics_ may be the same bytes as the destination.
"""

MARKS = {
    pto.Role.READ: "",
    pto.Role.WRITE: "!",
    pto.Role.UPDATE: "&",
    pto.Role.SCRATCH: "~",
    pto.Role.VALUE: "#",
    pto.Role.VIEW: "@",
}


def reference() -> str:
    """The page."""
    return "\n".join((INTRODUCTION, _types(), _attributes(), ROLES, *_families(), _others()))


def _first_line(thing: object) -> str:
    doc = inspect.getdoc(thing) or ""
    paragraph = " ".join(doc.split("\n\n")[0].split())
    return _cell(paragraph)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _types() -> str:
    rows = [f"| `!{type_.name}` | {_first_line(type_)} |" for type_ in TYPES]
    return "\n".join(("## Types\n", "| type | |", "|---|---|", *rows, ""))


def _attributes() -> str:
    rows = [f"| `#{attribute.name}` | {_first_line(attribute)} |" for attribute in ATTRIBUTES]
    return "\n".join(("## Attributes\n", "| attribute | |", "|---|---|", *rows, ""))


def _families() -> Iterator[str]:
    yield "## Ops\n"
    for module, ops in groupby(pto.OPS, key=lambda op: op.__module__):
        yield f"### {module.rpartition('.')[2].replace('_', ' ').capitalize()}\n"
        yield f"{_first_line(sys.modules[module])}\n"
        for op in ops:
            yield from _op(op)


@cache
def _examples() -> dict[str, str]:
    """The first line of the tests with each op, from the file of its module or near it."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(FORMS.glob("*.pto")):
        if path.name.startswith("invalid_"):
            continue
        lines = found.setdefault(path.stem, {})
        for line in path.read_text().splitlines():
            match = re.match(r" +(?:%[^=]*= )?(pto\.[a-z_0-9.]+)", line)
            if match is not None:
                lines.setdefault(match[1], line.strip())
    examples: dict[str, str] = {}
    for module, ops in groupby(pto.OPS, key=lambda op: op.__module__):
        family = module.rpartition(".")[2]
        names = [op.name for op in ops]

        def nearness(stem: str, family: str = family, names: list[str] = names) -> tuple[bool, int]:
            return family.startswith(stem), sum(name in found[stem] for name in names)

        for stem in sorted(found, key=nearness, reverse=True):
            for name in names:
                if name in found[stem]:
                    examples.setdefault(name, found[stem][name])
    return examples


def _op(op: type[PtoOp]) -> Iterator[str]:
    declaration = op.DECLARATION
    yield f"#### `{declaration.name}`\n"
    yield f"`pto.{op.__name__}`: {declaration.summary}.\n"
    if (example := _examples().get(declaration.name)) is not None:
        yield f"```mlir\n{example}{' ... }' if example.endswith('{') else ''}\n```\n"
    if facts := list(_facts(op)):
        yield "\n".join((*facts, ""))


def _facts(op: type[PtoOp]) -> Iterator[str]:
    declaration = op.DECLARATION
    operands = [
        (f"_{info.name}_" if info.name in declaration.in_place else info.name)
        + MARKS[info.role]
        + ("?" if info.is_optional else "\\*" if info.is_variadic else "")
        for info in declaration.operands
    ]
    if operands:
        yield f"- operands: {', '.join(operands)}"
    if declaration.property_names:
        yield f"- attributes: {', '.join(f'`{n}`' for n in declaration.property_names.values())}"
    if declaration.pipe is not None:
        named = isinstance(declaration.pipe, pto.Pipe)
        yield f"- pipe: {declaration.pipe if named else 'that of its operands'}"
    if declaration.core is not None:
        yield f"- only on a {declaration.core} core"
    if op.ALIASES is not None:
        yield f"- its result is another name of the bytes of `{op.ALIASES}`"
    if op.ALLOCATES:
        yield "- its result is new storage"
    for left, right in declaration.distinct:
        yield f"- `{left}` and `{right}` are different buffers"
    if op.SINCE != PtoOp.SINCE:
        yield f"- since PTOAS {op.SINCE}; it {op.BEFORE} before"
    for version, name in declaration.other_names.items():
        yield f"- `pto.{name}` in PTOAS {version}"
    for rule in declaration.rules:
        if rule.text:
            yield f"- expects {rule.text}"
        elif rule.check.__doc__:
            yield f"- {_first_line(rule.check)}"


def _others() -> str:
    lines = ["## Other names\n", "| read as | |", "|---|---|"]
    lines += [f"| `pto.{name}` | `{op.name}` |" for name, op in RENAMED.items()]
    lines += ["", "## Ops that no A2/A3 program can use\n", "| op | |", "|---|---|"]
    lines += [f"| `pto.{name}` | {reason} |" for name, reason in REFUSED.items()]
    return "\n".join((*lines, ""))


def main(arguments: list[str] | None = None) -> int:
    """Writes the page, or says whether it is up to date."""
    parser = argparse.ArgumentParser(description="Writes the reference of the pto dialect.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args(arguments)
    text = reference()
    if options.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"{PAGE} is out of date; run tools/generate_pto_reference.py", file=sys.stderr)
            return 1
        return 0
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
