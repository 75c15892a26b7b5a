"""The tool that compares passes on PyPTO's pairs of programs, on a test made up here."""

from pathlib import Path

import check_pypto_pairs
import pytest
from check_pypto_pairs import check_file, known_difference

TEST = """
import pypto.language as pl
from pypto import ir, passes


class TestFolding:
    def test_{name}(self):
        @pl.program
        class Before:
            @pl.function
            def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
                m = n * 1
                return m

        @pl.program
        class Expected:
            @pl.function
            def main(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
                return {result}

        After = passes.simplify()(Before)
        ir.assert_structural_equal(After, Expected)
"""


@pytest.mark.parametrize(
    ("name", "result", "agreed", "known", "failure"),
    [
        ("right", "n", 1, 0, None),
        (
            "wrong",
            "n + 1",
            0,
            0,
            "pair: TestFolding.test_wrong.Before:9: simplify: the result differs",
        ),
        (
            "on_purpose",
            "n + 1",
            0,
            1,
            "known: TestFolding.test_on_purpose.Before:9: we add nothing",
        ),
    ],
)
def test_a_pair(
    name: str,
    result: str,
    agreed: int,
    known: int,
    failure: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = tmp_path / "differences.txt"
    listed.write_text("# Why.\n\ntest_fold*.py TestFolding.*_on_purpose.Before we add nothing\n")
    monkeypatch.setattr(check_pypto_pairs, "DIFFERENCES", listed)
    path = tmp_path / "test_folding.py"
    path.write_text(TEST.format(name=name, result=result))
    count = check_file(path)
    assert (count.programs, count.read, count.same, count.pairs) == (2, 2, 2, 1)
    assert (count.agreed, count.known) == (agreed, known)
    assert count.failures == ([] if failure is None else [failure])


def test_reasons_are_for_pairs_of_a_file() -> None:
    assert known_difference("test_simplify_pass.py", "TestScalarDCE.test_other.Before") is None
    assert known_difference("test_memory_reuse.py", "TestBasic.test_simple.Before") is not None
