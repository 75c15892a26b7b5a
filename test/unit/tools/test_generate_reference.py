"""The committed reference pages are those that the declarations give."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def _generator() -> ModuleType:
    path = ROOT / "tools" / "generate_reference.py"
    spec = importlib.util.spec_from_file_location("generate_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["tile", "ptensor", "orch", "pld"])
def test_the_page_is_current(name: str):
    text = (ROOT / "docs" / "dialects" / f"{name}.md").read_text()
    assert text == _generator().page(name), "run python tools/generate_reference.py"


def test_every_op_is_on_its_page():
    generator = _generator()
    for name, dialect in generator.DIALECTS.items():
        text = generator.page(name)
        for op in dialect.operations:
            assert f"| `{op.name}` |" in text


def test_what_a_row_says():
    lines = _generator().page("tile").splitlines()
    (store,) = [line for line in lines if line.startswith("| `tile.store` |")]
    assert "`destination`!&" in store
    assert "`source` (vec, acc)" in store
    assert "`result` = destination" in store
    assert "atomic = none" in store
    (gather,) = [line for line in lines if line.startswith("| `tile.gather_compare` |")]
    assert "`tmp`~ (vec)" in gather
    assert "`indices` (vec)<br>`counts` (vec)" in gather
    (product,) = [line for line in lines if line.startswith("| `tile.matmul_acc` |")]
    assert "`acc`& (acc)" in product
    assert "`init_cond`#?" in product
