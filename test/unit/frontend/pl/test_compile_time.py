"""Python at compile time: what it is worth, and its bounds in time and memory."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import choose, find_programs

PROGRAM = """\
@pl.program
class P:
    @pl.function
    def f(self, x: pl.Tensor[[N, 2], pl.FP32]):
        pass
"""


def extent(before: str, path: Path | None = None) -> str:
    """The first extent of the parameter, `N` as the text before the program says it."""
    text = f"import pypto.language as pl\n{before}\n{PROGRAM}"
    name = "p.py"
    if path is not None:
        (path / "p.py").write_text(text)
        name = str(path / "p.py")
    source = read_source(text.encode(), name)
    module = str(read_program(source, choose(source, find_programs(source), None)))
    return module.partition("tensor<")[2].partition("x")[0]


def refusal(before: str, path: Path | None = None) -> str:
    """The one error, within bounds of time and memory."""
    start, held = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DiagnosticsError) as caught:
        extent(before, path)
    (found,) = caught.value.diagnostics
    assert found.line == before.count("\n") + 6
    assert found.column == 31
    assert time.perf_counter() - start < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 200_000
    return found.message


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("[a, (b, N)] = 1, (2, 3)", "3"),
        ("N = getattr(pl, 'FP16') == pl.FP16 and 5", "5"),
        ("from math import prod\nN = prod([2, 3])", "6"),
        ("import math\nN = math.prod((4, 5)) + round(2.5) + sum((1, 2))", "25"),
        ("N = len('a,b'.replace(',', '--').join(['x', 'y']))", "6"),
        (
            "def f():\n    l = [1]\n    l.extend([2, 3])\n    l += [4]\n    return len(l)\nN = f()",
            "4",
        ),
        ("N = {(1, 2): 7}[1, 2]", "7"),
        ("N = max({3, 4} | {5})", "5"),
        ("N = dict([(1, 2)])[1]", "2"),
    ],
)
def test_values(before: str, value: str) -> None:
    assert extent(before) == value


def loop(body: str, result: str, rounds: int = 60_000) -> str:
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    start = "    a, b, d, s = [], [], {}, 'a' * 60000\n"
    return f"def f():\n{start}    for i in range({rounds}):\n{lines}    return {result}\nN = f()"


@pytest.mark.parametrize(
    "before",
    [
        "N = len([[0] * 60000 for a in range(60000)])",
        loop("a.append([0] * 60000)", "len(a)"),
        loop("d[i] = [0] * 60000", "len(d)"),
        loop("b = b + [1]; a.append(b)", "len(a)"),
        loop("a.append(1); a.extend(a)", "len(a)"),
        loop("a.append(1); a += a", "len(a)"),
        # Much from little: strings, and integers.
        "N = len(('a' * 60000).replace('a', 'b' * 60000))",
        "N = len(('a' * 60000).join(['b'] * 60000))",
        "N = b'a' * 10 ** 9",
        "N = round(5, -10 ** 9)",
        "import math\nN = math.prod([1 << 4000] * 60000)",
        "N = sum([[0] * 60000] * 60000, [])",
        "N = f'{1:{10 ** 9}}'",
        # Values of which each holds the one before twice.
        loop("a, b = (a, a), (b, b)", "a == b", 100),
        loop("a = (a, a)", "{a: 1}", 100),
        loop("a = (a, a)", "len(str(a))", 100),
        loop("a = (a, a)", "sorted([a, a])", 100),
        loop("a, b = (a, a), (b, b)", "a in [b]", 100),
        loop("a = (a, a)", "d[a]", 100),
        loop("a = (a,)", "{a: 1}"),
        # Values that hold themselves.
        "def f():\n    a = [1]\n    a[0] = a\n    return str(a)\nN = f()",
        "def f():\n    a, b = [1], [1]\n    a[0], b[0] = a, b\n    return a == b\nN = f()",
    ],
)
def test_time_and_memory_are_bounded(before: str) -> None:
    message = refusal(before)
    assert "extent 'N'" in message


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("N = {[]: 1}", "unhashable type: 'list'"),
        ("N = {1, []}", "unhashable type: 'list'"),
        ("N = {a: 1 for a in [[]]}", "unhashable type: 'list'"),
        ("N = {**{}}", "has '**' in a dict"),
        ("N = 1j", "a value that the DSL has no use for"),
        ("N = (-8) ** 0.5", "a value that the DSL has no use for"),
        ("N = 10 ** 30", "extent 'N' is out of reach"),
        ("N = -2", "extent 'N' is out of reach"),
        ("N = getattr(pl)", "getattr(...) takes an object and a name here"),
        ("a, *N = 1, 2", "'N' takes what other names leave"),
        ("def f():\n    break\nN = f()", "'f' jumps outside a loop"),
        ("def f():\n    continue\nN = f()", "'f' jumps outside a loop"),
        ("@dataclass\nclass A:\n    a: int\nN = A(1, 2).a", "'A' has 1 fields"),
        ("@dataclass\nclass A:\n    @property\n    def a():\n        pass\nN = A().a", "no object"),
        ("import dataclasses\nN = dataclasses.replace()", "replaces fields of something"),
        ("N = pl.dynamic('a b')", "the name of a symbol is an identifier"),
        ("def f():\n    return f()\nN = f()", "calls functions too deeply"),
    ],
)
def test_what_has_no_value(before: str, message: str) -> None:
    assert message in refusal(before)


def test_shapes_outside_are_checked_by_element() -> None:
    for shape in ("['a', 2]", "(1.5, 2)", "[[1], 2]", "(True, 2)", "[-7, 2]"):
        text = f"import pypto.language as pl\nS = {shape}\n{PROGRAM.replace('[N, 2]', 'S')}"
        source = read_source(text.encode(), "p.py")
        with pytest.raises(DiagnosticsError, match=r"p\.py:6:30: error: extent '"):
            read_program(source, choose(source, find_programs(source), None))


# Other files


def test_files_that_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import *\nQ = 1\n")
    (tmp_path / "b.py").write_text("from a import *\nN = 4\n")
    assert extent("from a import *", tmp_path) == "4"
    (tmp_path / "b.py").write_text("from a import *\n")
    # A name that nobody defines is a symbol of its own.
    assert extent("from a import *", tmp_path) == "?"
    (tmp_path / "c.py").write_text("from d import N\n")
    (tmp_path / "d.py").write_text("from c import N\n")
    assert "'N' is defined by itself" in refusal("from c import N", tmp_path)


def test_packages(tmp_path: Path) -> None:
    package = tmp_path / "a" / "b"
    package.mkdir(parents=True)
    (tmp_path / "a" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "c.py").write_text("\ufeffN = 4\n")
    assert extent("import a.b.c\nN = a.b.c.N", tmp_path) == "4"
    assert extent("import a.b.c as d\nN = d.N", tmp_path) == "4"
    assert extent("from a.b import c\nN = c.N", tmp_path) == "4"
    assert "the module has no name 'd'" in refusal("import a.b\nN = a.b.d", tmp_path)
    assert "module 'a.b' has no name 'd'" in refusal("from a.b import d as N", tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"N = (\n", "module 'a' cannot be read: {}:1:5: invalid Python: '(' was never closed"),
        (b"N = 4 # \xff\n", "module 'a' cannot be read: byte 0xff is not UTF-8 text"),
        (b"N = 4\0\n", "module 'a' cannot be read: {}:1:1: invalid Python"),
        (b"#" * 9_000_000, "module 'a' cannot be read: {} has more than 8 MB of text"),
        (None, "module 'a' is not next to the program"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes | None, message: str) -> None:
    file = tmp_path / "a.py"
    if data is None:
        # A link that leads nowhere but to itself.
        file.symlink_to(file)
    else:
        file.write_bytes(data)
    assert message.format(file) in refusal("from a import N", tmp_path)
    # What the program does not need does no harm.
    assert extent("import a\nfrom a import M\nN = 3", tmp_path) == "3"


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").mkdir()
    (tmp_path / "b.py").symlink_to("/dev/zero")
    for name in ("a", "b", "c" * 300):
        assert f"module '{name}'" in refusal(f"from {name} import N", tmp_path)


def test_a_file_is_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "a.py").write_text(f"import os\nos.system('touch {mark}')\nN = 4\n")
    assert extent("import a\nfrom a import N", tmp_path) == "4"
    assert not mark.exists()
