"""Each layer imports only layers below it, in the order in which docs/design.md lists them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pypto_xdsl"
LAYERS = re.findall(
    r"^\| `(\w+)(?:/|\.py)` \|", (ROOT / "docs" / "design.md").read_text(), re.MULTILINE
)
"""From the highest to the lowest."""


def files_of(layer: str) -> list[Path]:
    module = PACKAGE / f"{layer}.py"
    return [module] if module.exists() else sorted((PACKAGE / layer).rglob("*.py"))


def imported_layers(path: Path) -> Iterator[tuple[int, str]]:
    """The line of each import from the package, also of those in functions, and its layer."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.ImportFrom(module="pypto_xdsl"):
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module)) if module.startswith("pypto_xdsl."):
                names = [module.split(".")[1]]
            case ast.Import():
                names = [
                    alias.name.split(".")[1]
                    for alias in node.names
                    if alias.name.startswith("pypto_xdsl.")
                ]
            case _:
                continue
        yield from ((node.lineno, name) for name in names)


def test_the_page_lists_every_layer() -> None:
    found = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert set(LAYERS) == found - {"__init__"}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_those_below(layer: str) -> None:
    below = set(LAYERS[LAYERS.index(layer) :])
    upward = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files_of(layer)
        for line, name in imported_layers(path)
        if name not in below
    ]
    assert not upward
