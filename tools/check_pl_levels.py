"""
Reads back what programs print with `-t pl`, at every level that the DSL has words for.

    python tools/check_pl_levels.py PATH/TO/pypto/examples PATH/TO/pypto-lib/models [--all]

Each program of the files, `.py` of the DSL or `.mlir`, is printed as it is read and after each pass
that changes it (`dsl_levels`), for the 910B. The text has to be a program again, verified, whose
text is the same, and the module the same up to what `check_pypto_pairs` sets aside.

Prints what does not come back, or has no words, by reason, with the programs and passes that it is
first seen after; the status is 1 if there is any. Of a large program only the levels are read back
that many passes lead to, unless `--all` is given.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from check_pypto_pairs import given_for, parametrized, problems, round_trip
from dsl_levels import files_of, levels_of, modules_of
from xdsl.dialects.builtin import ModuleOp, StringAttr

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import DiagnosticsError, collecting
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs

LARGE = 1000
"""So many ops are a large program."""
FEW = frozenset(
    (
        "reading",
        "outline-cluster-scopes",
        "infer-tile-memory-space",
        "expand-mixed-kernel",
        "derive-call-directions",
        "classify-iter-arg-carry",
    )
)
"""After which passes large programs are read back."""
SHOWN = 4
"""So many places are shown of each reason."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Read back what programs print in the DSL.")
    parser.add_argument("paths", nargs="+", type=Path, help="files, or folders of them")
    parser.add_argument("--all", action="store_true", help="also all levels of large programs")
    given = parser.parse_args(arguments)
    for path in given.paths:
        if not path.exists():
            parser.error(f"there is no {path}")
    found: dict[str, list[str]] = defaultdict(list)
    programs = texts = 0
    for path in files_of(given.paths):
        for name, module in _programs(path):
            programs += 1
            for level, reason in reasons(module, every=given.all):
                texts += 1
                if reason is not None:
                    found[_kind(reason)].append(f"{path.name}:{name} after {level}: {reason}")
    for kind, places in sorted(found.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(places)} times: {kind}")
        for place in places[:SHOWN]:
            print(f"    {place}")
    bad = sum(map(len, found.values()))
    print(f"{programs} programs, {texts} texts, {bad} that do not come back the same")
    return 1 if found else 0


def reasons(module: ModuleOp, *, every: bool) -> Iterator[tuple[str, str | None]]:
    """Each level of a program, by the pass that leads to it, with why it does not come back."""
    module.attributes["pto.target_arch"] = StringAttr("a2a3")
    is_large = sum(1 for _ in walk(module)) > LARGE
    with collecting():
        for level, lowered in levels_of(module):
            if every or not is_large or level in FEW:
                # What a program runs on is no part of its text.
                lowered.attributes.pop("pto.target_arch", None)
                yield level, round_trip(lowered)


def _programs(path: Path) -> Iterator[tuple[str, ModuleOp]]:
    """The programs of a file that are valid."""
    if path.suffix == ".mlir":
        yield from modules_of(path)
        return
    try:
        source = read_source(path.read_bytes(), str(path))
    except (DiagnosticsError, UnicodeDecodeError):
        return
    for candidate in find_programs(source):
        try:
            defines, types = given_for(source, candidate)
            with collecting():
                module = read_program(source, candidate, parametrized(candidate) | defines, types)
        except DiagnosticsError:
            continue
        if not problems(module):
            yield candidate.name, module


def _kind(reason: str) -> str:
    """A reason without the names and numbers of the program."""
    return re.sub(r"(?<=')[^']*(?=')|\d+|<[^ ]*>", "_", reason)


if __name__ == "__main__":
    sys.exit(main())
