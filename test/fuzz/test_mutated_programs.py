"""
Whatever the text, `pypto-opt` answers with the program or with located errors.

The programs of the lit tests, with a few words deleted, doubled, exchanged or replaced by words of
other programs, are run through the driver: there is no traceback, no internal error, no hanging,
and what is accepted prints and parses back, also after any one pass.
"""

from __future__ import annotations

import io
import random
import re
import sys
from pathlib import Path

import pytest

from pypto_xdsl.pipelines import PIPELINES
from pypto_xdsl.tools import pypto_opt
from pypto_xdsl.universe import PASSES

WORD = re.compile(r"\s+|[%@!#^]?[\w.$]+|.")
FILECHECK = Path(__file__).parent.parent / "filecheck"
PASS_FLAGS = [f"--{name}" for name in (*PASSES, *PIPELINES) if name != "verify-property"]
PROGRAMS_A_SEED = 30
SEEDS = 8


def programs() -> list[list[str]]:
    """
    The words of each part of each lit test, but those that say where they come from, and but what
    xDSL prints wrongly: an `scf.execute_region` of several blocks comes without its terminators.
    """
    parts = [
        part
        for path in sorted(FILECHECK.rglob("*.mlir"))
        for part in path.read_text().split("// -----")
    ]
    return [
        words
        for part in parts
        if "loc(" not in part
        and not ("scf.execute_region" in part and "^" in part)
        and len(words := WORD.findall(part)) > 1
    ]


def mutate(words: list[str], foreign: list[str], rng: random.Random) -> str:
    words = words.copy()
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(words))
        match rng.randrange(5):
            case 0:
                words[place] = ""
            case 1:
                words[place] = rng.choice(foreign)
            case 2:
                words.insert(place, rng.choice(foreign))
            case 3:
                words.insert(place, words[place])
            case _:
                other = rng.randrange(len(words))
                words[place], words[other] = words[other], words[place]
    return "".join(words)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_internal_error(
    seed: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    rng = random.Random(seed)
    known = programs()
    foreign = [word for words in known for word in words]

    def run(text: str, *flags: str) -> str | None:
        """What a program is turned into; None if it is refused as it should be."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        status = pypto_opt.main(flags)
        captured = capsys.readouterr()
        shown = f"{flags}\n{text}"
        assert status in (0, 1), shown
        assert "internal error" not in captured.err, shown
        if status == 0:
            return captured.out
        errors = [line for line in captured.err.splitlines() if ": error: " in line]
        assert errors, shown
        assert all(re.match(r"<stdin>:[1-9]\d*:[1-9]\d*: ", error) for error in errors), shown
        return None

    for _ in range(PROGRAMS_A_SEED):
        text = mutate(rng.choice(known), foreign, rng)
        if (printed := run(text)) is None:
            continue
        assert run(printed) == printed, text
        if (changed := run(printed, rng.choice(PASS_FLAGS))) is not None:
            assert run(changed) == changed, text
