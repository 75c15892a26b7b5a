"""
Writes the reference of the dialects `tile`, `ptensor`, `orch` and `pld` from the declarations of
their ops, and their tests: an op of which no test has a line is an error.

    python tools/generate_reference.py            # writes docs/dialects/<dialect>.md
    python tools/generate_reference.py --check    # fails if a page is not what it would be

`page(name)` is the text.
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

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    OptionalDef,
    VariadicDef,
)
from xdsl.utils.str_enum import StrEnum

from pypto_xdsl.backend.ascend910b import BACKEND
from pypto_xdsl.backend.rule import Holds
from pypto_xdsl.dialects import orch, pld, ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp, OperandDeclaration
from pypto_xdsl.syntax.op_syntax import StaticIndices

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "dialects"
FORMS = ROOT / "test" / "filecheck" / "dialects"
"""The tests of the dialects, which have a line for each op."""

DIALECTS: dict[str, Dialect] = {
    "tile": tile.Tile,
    "ptensor": ptensor.PTensor,
    "orch": orch.Orch,
    "pld": pld.Pld,
}

SEGMENTS = frozenset(
    option.attribute_name for option in (AttrSizedOperandSegments, AttrSizedResultSegments)
)
"""What the form of an op shows otherwise."""

LEGEND = """\
How to read the tables:

| mark | on an operand |
|---|---|
| | read |
| `!` | written, and not read |
| `&` | read and written |
| `!&` | written or updated: an attribute decides |
| `~` | scratch: the compiler supplies it, the hardware writes it, nobody reads it |
| `#` | a number, or a list of numbers in brackets |
| `?` | may be absent |
| `*` | any number of them |

Behind an operand that is a tile stand the memories in which it may be, behind a result the one
that it is in, or the operand whose memory it shares. A result written `= name` is that operand's
buffer, `within name` a window of it or the same bytes in another shape. An attribute with a default
is shown with it; one in _italics_ may be absent.
"""

NUMERICS = """\
## Numerics

What differs from the obvious, as the 910B computes it:

- **Integers wrap**, in every op. `div` truncates towards zero; `divs` of integers goes through f32.
- **`fmod`** has the sign of the dividend, **`rem`** that of the divisor; `rem` computes in f32, so
  that i32 is exact up to 2^24 only.
- **`cast`** rounds by `mode`: `rint` to nearest, ties to even; `round` ties away from zero;
  `floor`, `ceil`, `trunc`, and `odd`. f16 to i8, ui8 and i16, f32 to i16, i32 to i16 and i64 to i32
  wrap what does not fit; other pairs saturate. Pairs that are no instruction are chains.
- **Comparisons** give packed masks: bit `c % 8` of byte `c // 8` tells of column `c`, a row takes
  whole blocks of 32 bytes, unused bits are 0. nan compares false, except by `ne`.
- **`scatter` and `scatter_mask`** clear the destination first: what is not written becomes 0.
- **Pad values** `max` and `min` are infinite for floats, the extremes of the type for integers.
- **Products** of floats are summed in f32, of integers in i32, which wraps.
- **Sorted pairs** take eight bytes: two columns of f32, four of f16.
- **`part_*`** combine where both operands are valid, and copy where one is.
"""

VALID = """\
## Valid regions

A type says which leading rows and columns of a tile are valid. Where PyPTO's types claim more than
the hardware delivers, these say what is so: a concatenation has as many valid columns as its
operands together, a transpose swaps them, a gather has those of its indices, and the result of a
reshape has the same elements, or is an error where they are no rectangle.
"""

ABSENT = """\
## What PyPTO has and this dialect does not

| op | why |
|---|---|
| `tile.matmul_mx`, `tile.matmul_mx_acc`, `tile.matmul_mx_bias` | block-scaled products: A5 only |
| `tile.tget_scale_addr` | A5 only |
| `tile.random`, `tensor.random` | A5 only |
| `prefetch.*` | a hint that changes no value |
| `builtin.tensor.*`, `pld.*` but `pld.system.notify` and `pld.tile.put` | several cards |
| `tensor.alloc` | a buffer in global memory is `ptensor.create` |

PyPTO's `system.*` ops of a core are here: `tile.bar_v`, `tile.sync_src`, `tile.aic_initialize_pipe`
and so on; those on tasks are `orch.task_*`. Its `array.*` ops are `orch.array.*`, its `tensor.*`
ops `ptensor.*`.
"""

INTRODUCTIONS: dict[str, tuple[str, ...]] = {
    "tile": (LEGEND, NUMERICS, VALID, ABSENT),
    "ptensor": (
        LEGEND,
        "Ops that are PyPTO's `tensor.*` carry the same names. `ptensor.type_cast` changes what a\n"
        "type says of a tensor, and nothing else; PyPTO's conversion of elements is\n"
        "`ptensor.cast`.\n",
    ),
    "orch": (
        "In the tables, `?` stands behind what may be absent and `*` behind any number; an\n"
        "attribute in _italics_ may be absent.\n",
    ),
    "pld": (LEGEND,),
}


def page(name: str) -> str:
    """The page of a dialect."""
    dialect = DIALECTS[name]
    package = sys.modules[type_module(name)]
    return "\n".join(
        (
            f"# The `{name}` dialect\n",
            "<!-- Written by tools/generate_reference.py from the declarations of the ops. -->\n",
            f"{inspect.getdoc(package) or ''}\n",
            *INTRODUCTIONS[name],
            *_types(dialect),
            *_families(dialect),
        )
    )


def type_module(name: str) -> str:
    """The package of a dialect."""
    return f"pypto_xdsl.dialects.{name}"


def _types(dialect: Dialect) -> Iterator[str]:
    rows: list[str] = []
    words: list[str] = []
    for attribute in dialect.attributes:
        if issubclass(attribute, EnumAttribute):
            enum: type[StrEnum] = attribute.enum_type  # pyright: ignore[reportUnknownMemberType]
            values = ", ".join(f"`{member.value}`" for member in enum)
            owner, _, kind = attribute.name.partition(".")
            words.append(f"| `#{owner}<{kind} ...>` | {values} | {_first(enum)} |")
        else:
            rows.append(f"| `{_sigil(attribute)}{attribute.name}` | {_first(attribute)} |")
    if rows:
        yield "\n".join(("## Types and attributes\n", "| | |", "|---|---|", *rows, ""))
    if words:
        yield "\n".join(("## Words\n", "| attribute | words | |", "|---|---|---|", *words, ""))


def _sigil(attribute: type[Attribute]) -> str:
    return "!" if issubclass(attribute, TypeAttribute) else "#"


def _families(dialect: Dialect) -> Iterator[str]:
    yield "## Ops\n"
    for module, ops in groupby(dialect.operations, key=lambda op: op.__module__):
        heading = module.rpartition(".")[2].replace("_", " ").capitalize()
        if module != type_module(dialect.name):
            yield f"### {heading}\n"
            yield f"{_first(sys.modules[module])}\n"
        table = [_row(op) for op in ops]
        on_target = any(row[-1] for row in table)
        columns = ["op", "meaning", "operands", "attributes", "results"]
        columns += ["on the 910B"] if on_target else []
        yield "\n".join(
            (
                f"| {' | '.join(columns)} |",
                f"|{'---|' * len(columns)}",
                *(f"| {' | '.join(row[: len(columns)])} |" for row in table),
                "",
            )
        )
        written = _examples(dialect.name)
        lines = [written[op.name] for op in dialect.operations if op.__module__ == module]
        yield "\n".join(("As written:\n", "```mlir", *lines, "```", ""))


@cache
def _examples(dialect: str) -> dict[str, str]:
    """The first line of the tests of a dialect with each op."""
    found: dict[str, str] = {}
    opened = re.compile(rf" *(?:%[^=]*= )?({dialect}\.[a-z_0-9.]+)")
    for path in sorted((FORMS / dialect).glob("*.mlir")):
        if path.stem != "invalid":
            for line in path.read_text().splitlines():
                if match := opened.match(line):
                    rest = " ... }" if line.endswith("{") else ""
                    found.setdefault(match[1], line.strip() + rest)
    return found


def _row(op: type[Operation]) -> list[str]:
    meaning = _doc(op)
    assert issubclass(op, IRDLOperation)
    if not issubclass(op, DeclaredOp):
        definition = op.get_irdl_definition()
        operands = [f"`{name}`{_count(operand)}" for name, operand in definition.operands]
        results = [f"`{name}`{_count(result)}" for name, result in definition.results]
        attributes = "<br>".join(_attributes(op))
        return [
            f"`{op.name}`",
            meaning,
            "<br>".join(operands),
            attributes,
            "<br>".join(results),
            "",
        ]
    return [
        f"`{op.name}`",
        meaning,
        "<br>".join(_operands(op)),
        "<br>".join(_attributes(op)),
        "<br>".join(_results(op)),
        "<br>".join(_target(op)),
    ]


def _count(defined: object) -> str:
    if isinstance(defined, OptionalDef):
        return "?"
    return "\\*" if isinstance(defined, VariadicDef) else ""


def _operands(op: type[DeclaredOp]) -> Iterator[str]:
    definition = dict(op.get_irdl_definition().operands)
    for name, declared in op.declaration().operands:
        defined = definition[name]
        count = "" if _is_list(op, name) else _count(defined)
        spaces = f" ({', '.join(declared.spaces)})" if declared.spaces else ""
        yield f"`{name}`{_mark(declared)}{count}{spaces}"


def _is_list(op: type[DeclaredOp], name: str) -> bool:
    return f"static_{name}" in op.get_irdl_definition().properties


def _mark(declared: OperandDeclaration) -> str:
    if declared.workspace:
        return "~"
    if declared.resolve is not None:
        return "!&"
    if not (declared.get_bases() or set()) & {tile.TileType, ptensor.TensorType}:
        return "#"
    effect = declared.effect
    if effect is None or not effect.writes:
        return ""
    return "&" if effect.reads else "!"


def _attributes(op: type[IRDLOperation]) -> Iterator[str]:
    for name, declared in op.get_irdl_definition().properties.items():
        if isinstance(declared.constr, StaticIndices) or name in SEGMENTS:
            continue
        if isinstance(declared, OptionalDef):
            yield f"_{name}_"
        elif declared.default_value is not None:
            yield f"{name} = {_value(declared.default_value)}"
        else:
            yield name


def _value(attribute: Attribute) -> str:
    data = getattr(attribute, "data", None)
    if data is not None:
        return str(data)
    text = str(attribute)
    return text.partition(" : ")[0]


def _results(op: type[DeclaredOp]) -> Iterator[str]:
    for name, declared in op.declaration().results:
        if declared.names is not None:
            relation = "within" if declared.view else "="
            yield f"`{name}` {relation} {declared.names}"
        elif declared.space is not None:
            yield f"`{name}` ({declared.space})"
        elif declared.space_of is not None:
            yield f"`{name}` (as {declared.space_of})"
        else:
            yield f"`{name}`"


def _target(op: type[DeclaredOp]) -> Iterator[str]:
    if op.TAKEN_APART_BY:
        yield f"composed of others by `{op.TAKEN_APART_BY}`"
    layout = BACKEND.layout_spec(op)
    if layout is not None:
        declared = op.declaration()
        constrained = {*layout.operands, *layout.results}
        everything = {name for name, _ in (*declared.operands, *declared.results)}
        where = "" if constrained == everything else f" ({', '.join(sorted(constrained))})"
        yield f"rows{where}"
    for rule in BACKEND.rules.get(op, ()):
        if isinstance(rule.check, Holds):
            where = "" if rule.check.at is None else f"{', '.join(rule.check.at)}: "
            yield where + ", ".join(map(str, rule.check.types))
        else:
            yield rule.name


def _doc(op: type[Operation]) -> str:
    return _cell(" ".join((inspect.getdoc(op) or "").split()))


def _first(thing: object) -> str:
    """The first paragraph of a documentation."""
    doc = inspect.getdoc(thing) or ""
    return _cell(" ".join(doc.split("\n\n")[0].split()))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Write the reference of the dialects.")
    parser.add_argument("--check", action="store_true", help="fail if a page is not current")
    check = parser.parse_args().check
    stale = 0
    for name in DIALECTS:
        path = FOLDER / f"{name}.md"
        text = page(name)
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} is not current: run python {Path(__file__).name}", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
