"""
Reads every `.pto` file of a folder, prints it, reads that back, and tells what failed.

    python tools/read_pto_folder.py FOLDER... [--failures N] [--show FILE]

For checking the `pto` dialect against public files: PTOAS's own tests, or kernels that PyPTO
wrote. What a file's own tests expect is taken from its `RUN:` lines: `not ptoas` marks a file
that is to be refused, `--pto-arch=a5` one for another target. Where one line accepts the file for
A2/A3, it is to be read.

A file that is to be read passes if it parses, verifies, prints, and the print parses to the same
structure, in the custom and in the generic form. A file that is to be refused passes if there is
an error at one of its lines.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose
from pypto_xdsl.frontend.pto import PtoFrontend
from pypto_xdsl.properties.registry import get_property
from pypto_xdsl.targets.pto import level_problem

Expectation = Literal["read", "refused", "other target"]
Outcome = Literal["read", "refused", "not the same", "crash"]

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:(.*)$", re.MULTILINE)
_ARCH = re.compile(r"--pto-arch[= ]\s*(\w+)")
_LEVEL = re.compile(r"--pto-level[= ]\s*(\w+)")
_PROGRAM = re.compile(r"^\s*[^/\s]", re.MULTILINE)
_MODULE_ARCH = re.compile(r"pto\.target_arch\s*=\s*\"(\w+)\"")


@dataclass(frozen=True)
class Verdict:
    """What became of one file."""

    path: Path
    expected: Expectation
    outcome: Outcome
    message: str = ""

    @property
    def passed(self) -> bool:
        """Whether the outcome is what the file's tests expect."""
        return self.expected == "other target" or self.expected == self.outcome


def _commands(text: str) -> list[str]:
    """The command lines of a file's `RUN:` lines."""
    return _RUN.findall(re.sub(r"\\\n\s*(?://|#)\s*RUN:", " ", text))


def expectation(text: str) -> Expectation:
    """What PTOAS's own test of a file expects for A2/A3."""
    module_arch = _MODULE_ARCH.search(text)
    default = module_arch.group(1) if module_arch else "a5" if "Ascend950" in text else "a3"
    commands = _commands(text)
    verdicts: list[Expectation] = []
    for command in commands:
        if "ptoas" not in command:
            continue
        arch = _ARCH.search(command)
        if (arch.group(1) if arch else default).lower() == "a5":
            verdicts.append("other target")
        else:
            verdicts.append("refused" if re.search(r"\bnot\s+\S*ptoas", command) else "read")
    if not verdicts:
        return "other target" if default == "a5" else "read"
    for wanted in ("read", "refused"):
        if wanted in verdicts:
            return wanted
    return "other target"


def context() -> Context:
    """A context that knows every dialect of the environment, loaded when first used."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def levels(text: str) -> set[str]:
    """The levels at which a file's own tests assemble it for A2/A3."""
    found = {level for command in _commands(text) for level in _LEVEL.findall(command)}
    return found or {"level2"}


def read(text: str, name: str, *, checked_levels: Iterable[str] = ()) -> ModuleOp:
    """The verified module in a text. Raises `DiagnosticsError`."""
    module = PtoFrontend().parse(context(), io.BytesIO(text.encode()), name)
    errors = verify(module) or list(get_property("PtoFunctionsConsistent").verifier(module))
    for level in checked_levels:
        for op in walk(module):
            if not errors and (problem := level_problem(op, level)) is not None:
                errors = [diagnose(op, problem)]
    if errors:
        raise DiagnosticsError(errors)
    return module


def printed(module: ModuleOp, *, generic: bool = False) -> str:
    """The text of a module."""
    stream = io.StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    return stream.getvalue() + "\n"


def check(path: Path) -> Verdict:
    """Reads one file and its print."""
    text = path.read_text(errors="replace")
    expected = expectation(text)
    if not _PROGRAM.search(text):
        return Verdict(path, "other target", "read", "no program")
    try:
        module = read(text, str(path), checked_levels=levels(text) if expected == "refused" else ())
    except DiagnosticsError as e:
        first: Diagnostic = e.diagnostics[0]
        return Verdict(path, expected, "refused" if first.line else "crash", str(first))
    except Exception as e:  # a crash is what this script looks for
        return Verdict(path, expected, "crash", f"{type(e).__name__}: {e}")
    for generic in (False, True):
        form = "generic" if generic else "custom"
        try:
            again = read(printed(module, generic=generic), f"{path} ({form} print)")
        except Exception as e:
            return Verdict(path, expected, "not the same", f"{form}: {e}")
        if not module.is_structurally_equivalent(again):
            return Verdict(path, expected, "not the same", f"{form} print has another structure")
        if printed(again) != printed(module):
            return Verdict(path, expected, "not the same", f"{form} print prints differently")
    return Verdict(path, expected, "read")


def files(folders: list[Path]) -> Iterator[Path]:
    """The `.pto` files in folders, in order."""
    for folder in folders:
        yield from [folder] if folder.is_file() else sorted(folder.rglob("*.pto"))


def main() -> int:
    """Prints the table; 1 if a file failed."""
    parser = argparse.ArgumentParser(description="Reads .pto files and their prints.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--failures", type=int, default=40, help="failures to list")
    parser.add_argument("--all", action="store_true", help="one line a file")
    args = parser.parse_args()
    started = time.perf_counter()
    verdicts = [check(path) for path in files(args.folders)]
    seconds = time.perf_counter() - started
    table = Counter((v.expected, v.outcome, v.passed) for v in verdicts)
    print(f"{'expected':14}{'outcome':14}{'files':>6}")
    for (expected, outcome, passed), count in sorted(table.items()):
        print(f"{expected:14}{outcome:14}{count:6}{'' if passed else '  <- failed'}")
    failed = [v for v in verdicts if not v.passed]
    shown = verdicts if args.all else failed[: args.failures]
    for v in shown:
        print(f"{v.path}: expected {v.expected}, {v.outcome}: {v.message.splitlines()[0:1]}")
    print(f"{len(verdicts)} files in {seconds:.1f} s, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
