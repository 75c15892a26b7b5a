"""
Runs the RUN lines of a lit test inside this process.

lit starts a Python interpreter for each stage of each RUN line, most of whose time goes into
importing; here a stage is a function call, some thirty times faster.  What this little shell
does not understand, and commands that are not ours, run for real.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

RUN_LINE = re.compile(r"RUN:(.*)$")


class RunLineFailure(Exception):
    """A RUN line did not succeed; the text says which and why."""


@dataclass
class Outcome:
    """What a command did."""

    status: int
    stdout: bytes
    stderr: bytes


def run_lines(text: str) -> list[str]:
    """The commands of a test, those continued with a backslash put together."""
    commands: list[str] = []
    continued = False
    for line in text.splitlines():
        match = RUN_LINE.search(line)
        if match is None:
            continue
        command = match[1].strip()
        if continued:
            commands[-1] = f"{commands[-1][:-1].rstrip()} {command}"
        else:
            commands.append(command)
        continued = command.endswith("\\")
    return commands


def run_test(path: Path, scratch: Path) -> None:
    """
    Run a test file; `scratch` is a directory for its `%t`.

    Raises `RunLineFailure` at the first line that fails, or if there are none.
    """
    commands = run_lines(path.read_text())
    if not commands:
        raise RunLineFailure(f"{path}: no RUN line")
    for command in commands:
        run_command(_substitute(command, path, scratch), path.parent)


def _substitute(command: str, path: Path, scratch: Path) -> str:
    """The substitutions of lit that our tests use."""
    values = {
        "%%": "%",
        "%s": str(path),
        "%S": str(path.parent),
        "%t": str(scratch / f"{path.name}.tmp"),
        "%T": str(scratch),
    }
    return re.sub(r"%[%sStT]", lambda match: values[match[0]], command)


# Anything of a shell beyond pipes, `not`, `2>&1`, `< file`, `> file` and `2> file`.
_BEYOND = re.compile(r"&&|\|\||;|`|\$|>>|<<|\*|&(?!1)")


def run_command(command: str, directory: Path) -> None:
    """Run one pipeline; every stage must succeed, as with lit's `pipefail`."""
    if _BEYOND.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", command)):
        script = f'not() {{ ! "$@"; }}; set -o pipefail; {command}'
        outcome = _run_for_real(["bash", "-c", script], b"", directory)
        _expect_success(command, outcome, False)
        return
    data = b""
    for words in _stages(command):
        data = _run_stage(words, data, directory)


def _stages(command: str) -> Iterator[list[str]]:
    stage: list[str] = []
    for word in shlex.split(command):
        if word == "|":
            yield stage
            stage = []
        else:
            stage.append(word)
    yield stage


def _run_stage(words: list[str], data: bytes, directory: Path) -> bytes:
    """Run one command of a pipeline on its standard input; its standard output."""
    spelled = shlex.join(words)
    must_fail = words[0] == "not"
    words = words[must_fail:]
    merge = "2>&1" in words
    words = [word for word in words if word != "2>&1"]
    source, words = _redirection(words, "<")
    target, words = _redirection(words, ">")
    error_target, words = _redirection(words, "2>")
    if source is not None:
        data = (directory / source).read_bytes()
    outcome = _run_program(words, data, merge, directory)
    _expect_success(spelled, outcome, must_fail)
    if error_target is not None:
        (directory / error_target).write_bytes(outcome.stderr)
    if target is None:
        return outcome.stdout
    (directory / target).write_bytes(outcome.stdout)
    return b""


def _redirection(words: list[str], sign: str) -> tuple[str | None, list[str]]:
    if sign not in words:
        return None, words
    index = words.index(sign)
    return words[index + 1], words[:index] + words[index + 2 :]


def _expect_success(spelled: str, outcome: Outcome, must_fail: bool) -> None:
    if (outcome.status != 0) == must_fail:
        return
    said = (outcome.stdout + outcome.stderr).decode(errors="replace")
    raise RunLineFailure(f"{spelled}\nexit status {outcome.status}\n{said}")


def _run_program(words: list[str], data: bytes, merge: bool, directory: Path) -> Outcome:
    program, *arguments = words
    # This flag changes xDSL for the whole process.
    if program not in TOOLS or "--disable-verify" in arguments:
        outcome = _run_for_real(words, data, directory)
        if merge:
            outcome = Outcome(outcome.status, outcome.stdout + outcome.stderr, b"")
        return outcome
    out = _TextCapture()
    err = out if merge else _TextCapture()
    status = _call(TOOLS[program], program, arguments, data, out, err)
    return Outcome(status, out.captured(), b"" if merge else err.captured())


def _run_for_real(words: list[str], data: bytes, directory: Path) -> Outcome:
    here = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        words, input=data, capture_output=True, check=False, cwd=directory, env=environment
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


class _TextCapture(io.TextIOWrapper):
    """A text stream, as stdout is, that keeps what was written."""

    def __init__(self, content: bytes = b""):
        super().__init__(io.BytesIO(content), encoding="utf-8", write_through=True)

    def captured(self) -> bytes:
        """Everything written."""
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue()


def _call(
    tool: Callable[[], object],
    program: str,
    arguments: list[str],
    data: bytes,
    out: _TextCapture,
    err: _TextCapture,
) -> int:
    """Call the main function of a tool as if it were a process; its exit status."""
    saved = sys.stdin, sys.argv
    sys.stdin, sys.argv = _TextCapture(data), [program, *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = tool()
    except SystemExit as e:
        status = e.code
    except Exception as e:
        # What would have been a traceback and exit status 1.
        print(f"Traceback: {type(e).__name__}: {e}", file=err)
        status = 1
    finally:
        sys.stdin, sys.argv = saved
    if isinstance(status, str):
        print(status, file=err)
        return 1
    return int(status) if isinstance(status, int) else 0


def _main_of(module: str) -> Callable[[], object]:
    return lambda: import_module(module).main()


TOOLS: dict[str, Callable[[], object]] = {
    "pypto-opt": _main_of("pypto_xdsl.tools.pypto_opt"),
    "pypto-run": _main_of("pypto_xdsl.tools.pypto_run"),
    "xdsl-opt": _main_of("xdsl.tools.xdsl_opt"),
    "filecheck": _main_of("filecheck.main"),
}
