"""Collects the lit tests under `filecheck/`, so that one `pytest` runs everything."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from lit_runner import RunLineFailure, run_test

FILECHECK = Path(__file__).parent / "filecheck"

# What a busy machine takes longer for is no failure, and a change does not fail for what it did not
# touch: the programs drawn are the same each time, but for `--hypothesis-profile=anew`.
settings.register_profile("anew", parent=settings(), deadline=None)
settings.register_profile("same", parent=settings(), deadline=None, derandomize=True)
settings.load_profile("same")


class LitTest(pytest.Item):
    """All RUN lines of one file."""

    def runtest(self) -> None:
        with TemporaryDirectory() as scratch:
            run_test(self.path, Path(scratch))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None):
        if isinstance(excinfo.value, RunLineFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, str(self.path.relative_to(FILECHECK))


class LitFile(pytest.File):
    """A file with RUN lines."""

    def collect(self) -> Iterable[pytest.Item]:
        yield LitTest.from_parent(self, name="lit")  # pyright: ignore[reportUnknownMemberType]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LitFile | None:
    if file_path.suffix not in (".mlir", ".pto", ".py") or "Inputs" in file_path.parts:
        return None
    if not file_path.is_relative_to(FILECHECK):
        return None
    if file_path.suffix == ".py" and "RUN:" not in file_path.read_text():
        return None
    return LitFile.from_parent(  # pyright: ignore[reportUnknownMemberType]
        parent, path=file_path
    )
