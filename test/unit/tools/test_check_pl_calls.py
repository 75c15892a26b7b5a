"""The tool that binds calls of printed programs to PyPTO's signatures, on sources made up here."""

from pathlib import Path

import pytest
from check_pl_calls import Calls

SOURCES = {
    "language/__init__.py": "from pypto.ir import View\nfrom .api import range, Mem\nFP32 = 1\n",
    "language/api.py": (
        "from enum import Enum\n"
        "class Mem(Enum):\n    Vec = 1\n"
        "def range(*args, init_values=None, attrs=None): ...\n"
    ),
    "language/op/__init__.py": "from . import tile_ops as tile\nfrom .tile_ops import add\n",
    "language/op/tile_ops.py": (
        "from typing import overload\n"
        "@overload\ndef store(tile, offsets): ...\n"
        "def store(tile, offsets, output, *, atomic=0): ...\n"
        "def add(lhs, rhs): ...\n"
    ),
    "ir/__init__.py": "from .type import View\n",
    "ir/type.py": (
        "class _Meta(type):\n    def __call__(cls, stride=None, layout=None): ...\n"
        "class View(metaclass=_Meta): ...\n"
    ),
    "ir/op/tile_ops.py": "def push(tile, *, split, span=None): ...\n",
}


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    for name, text in SOURCES.items():
        path = tmp_path / "python" / "pypto" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Calls(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "pl.tile.store(t, [0], x, atomic=1)",
        "pl.add(a, b)",
        "pl.tile.add(a, rhs=b)",
        # What PyPTO's own passes make is read by the makers of its ops.
        "pl.tile.push(t, split=0)",
        "pl.range(0, 4, init_values=(x,))",
        "pl.View(stride=[1], layout=pl.Mem.Vec)",
        "pl.tile.add(a, b, attrs={'x': 1})",
        "pl.FP32",
        "self.kernel(a, b, c=1)",
    ],
)
def test_what_pypto_has(calls: Calls, text: str) -> None:
    assert list(calls.problems(text)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pl.tile.store(t, [0])", "missing a required argument: 'output'"),
        ("pl.tile.store(t, [0], x, 1)", "too many positional arguments"),
        # Python 3.12 calls it a keyword-only argument.
        ("pl.tile.push(t)", "argument: 'split'"),
        ("pl.tile.nothing(t)", "pl.tile.nothing does not exist"),
        ("pl.View(pad=1)", "got an unexpected keyword argument 'pad'"),
        ("f(pl.Mem.Cache)", "pl.Mem.Cache does not exist"),
        ("f(pl.Word.Vec)", "pl.Word does not exist"),
    ],
)
def test_what_pypto_does_not_have(calls: Calls, text: str, problem: str) -> None:
    (found,) = set(calls.problems(text))
    assert problem in found


def test_a_folder_that_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no python/pypto/language"):
        Calls(tmp_path)
