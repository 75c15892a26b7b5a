"""
`pypto-opt`: runs passes over a program, with the manners of `mlir-opt`.

    pypto-opt [option]... [--<pass>[='<options>']]... [input]

It is xDSL's driver with all its options, and:

* passes and named pipelines are flags, run in the order written, with their options after `=`;
  `-p` remains, and `--list-passes` lists them;
* the input is `.mlir` or a language that a frontend reads, by its ending or `-f`; `-` or no
  input is standard input;
* whatever is wrong is reported, one line each: `file:line:col: error: 'op' op message`;
* `--verify-diagnostics` checks the `// expected-error @+1 {{...}}` comments of the input;
* the IR is verified, with SSA dominance, at the start and after each pass that changed it;
  structural properties at the start and, with `--verify-each`, after each pass;
* `--print-ir-{before-all,after-all,after-change}` show the IR between passes, on stderr.

Exit status: see `command_line`.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from inspect import signature
from io import BytesIO
from typing import IO, NoReturn, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec, parse_spec
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, handling
from pypto_xdsl.pipelines import PIPELINES, expand_pipelines
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.properties.holding import KnownVerdicts, not_checking, remembering
from pypto_xdsl.properties.registry import structural_properties
from pypto_xdsl.rewriting.value_names import settle_hints
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.syntax.spelling import did_you_mean
from pypto_xdsl.tools.command_line import (
    WRONG_PROGRAM,
    CommandLineError,
    internal_error,
    located,
    run_tool,
)
from pypto_xdsl.tools.ir_dumps import IRDumps
from pypto_xdsl.tools.pass_flags import configured, split_pass_flags

_CHUNK_BORDER = re.compile(r"^// -----[^\n]*", re.MULTILINE)
_OUTPUT_BORDER = "// -----\n"
_MODULE_TEXT = "mlir"
_DSL = "pl"
_FRONTEND_OF_ENDING = {"py": _DSL}
"""Frontends that `pypto-opt` picks by an ending that is not their name."""


def _refuse(message: str) -> NoReturn:
    raise CommandLineError(message)


class PyptoOptMain(xDSLOptMain):
    """The driver behind `pypto-opt`."""

    version_format = f"pypto-opt {version('pypto-xdsl')} on xDSL {{xdsl_version}}"

    def __init__(self, args: Sequence[str]):
        self.passes, self._arguments = split_pass_flags(args, Universe.get_multiverse().all_passes)
        self.diagnostics: list[Diagnostic] = []
        """What was found in the chunk at hand."""
        self.problems: list[str] = []
        """What to print in the end; the run failed if there is any."""
        self._known = KnownVerdicts()
        self._running = ""
        """What is at work, for errors that do not know better."""
        self._started = 0.0
        super().__init__("Runs passes over a program.", self._arguments)

    # The command line

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser):
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "pypto-opt"
        arg_parser.usage = "%(prog)s [option]... [--<pass>[='<options>']]... [input]"
        arg_parser.allow_abbrev = False
        arg_parser.epilog = (
            "Passes and pipelines are flags, run in the order written, with their options after "
            "'=': --my-pass='n=1 fast'. --list-passes lists them. Exit status: 0 done, 1 the "
            "program is wrong, 2 the command line is wrong."
        )
        for action in arg_parser._actions:  # pyright: ignore[reportPrivateUsage]
            if action.dest == "verify_diagnostics":
                action.help = (
                    "Check that the input's expected-error comments, and no more, come true"
                )
        arg_parser.add_argument(
            "--list-passes", action="store_true", help="List the passes and pipelines, and exit"
        )
        arg_parser.add_argument(
            "--verify-each",
            action="store_true",
            help="Check structural properties after each pass, not only at the start",
        )
        arg_parser.add_argument(
            "--list-programs",
            action="store_true",
            help="List the programs that a Python file holds, and exit",
        )
        arg_parser.add_argument(
            "--program", metavar="NAME", help="The program to read from a Python file"
        )
        arg_parser.add_argument(
            "--define",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="The value of a name outside a Python program that its text does not settle: a "
            "constant, a dtype, or module.name of a file next to it",
        )
        arg_parser.add_argument(
            "--arg-type",
            action="append",
            default=[],
            metavar="NAME=128x128xf32",
            help="The type of a parameter of a @pl.jit entry, or its value",
        )
        for when, said in (
            ("before-all", "before each pass"),
            ("after-all", "after each pass"),
            ("after-change", "after each pass that changed it"),
        ):
            arg_parser.add_argument(
                f"--print-ir-{when}",
                f"--mlir-print-ir-{when}",
                action="store_true",
                help=f"Print the IR {said}, on stderr",
            )
        arg_parser.error = _refuse
        options, unknown = arg_parser.parse_known_args(self._arguments)
        for argument in unknown:
            if argument == "-" or not argument.startswith("-"):
                raise CommandLineError(f"unexpected argument '{argument}': one input at a time")
            flag = argument.partition("=")[0]
            known = {*re.findall(r"--[a-z-]+", arg_parser.format_help())}
            known.update(f"--{name}" for name in self.available_passes)
            raise CommandLineError(f"unknown flag '{flag}'{did_you_mean(flag, known)}")
        self._check_choice("target", options.target, self.available_targets)
        self._check_target_options(parse_spec(options.target))
        if options.frontend:
            self._check_choice("frontend", options.frontend, self.available_frontends)

    @staticmethod
    def _check_choice(what: str, text: str, known: Iterable[str]) -> None:
        name = parse_spec(text).name
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise CommandLineError(f"unknown {what} '{name}'{hint}")

    def _check_target_options(self, spec: ArgSpec) -> None:
        entry = self.available_targets[spec.name]
        # A target in xDSL's old style is the printing function itself, and takes no options.
        if spec.parameters and not signature(entry).parameters:
            configured("target", cast(Callable[[], type[Target]], entry)(), spec)

    def setup_pipeline(self):
        passes: list[ModulePass] = []
        for wanted in self.passes:
            if wanted.name in PIPELINES:
                expanded = expand_pipelines(wanted.name).split(",")
                passes.extend(
                    split_pass_flags(["-p", ",".join(expanded)], self.available_passes)[0]
                )
            else:
                passes.append(wanted)
        self._dumps = IRDumps(
            self.args.print_ir_before_all,
            self.args.print_ir_after_all,
            self.args.print_ir_after_change,
            self.args.print_op_generic,
        )
        self.pipeline = PassPipeline(tuple(passes), self._between)

    # The input

    def get_input_name(self) -> str:
        return "<stdin>" if self.args.input_file in (None, "-") else self.args.input_file

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.args.input_file in (None, "-"):
            return sys.stdin.buffer, _MODULE_TEXT
        stream, ending = super().get_input_stream()
        return stream, _FRONTEND_OF_ENDING.get(ending, ending)

    def _read_input(self) -> tuple[bytes, str]:
        stream, ending = self.get_input_stream()
        with stream:
            if not self.args.frontend and ending not in self.available_frontends:
                endings = (*_FRONTEND_OF_ENDING, *self.available_frontends)
                known = ", ".join(f".{name}" for name in endings)
                raise CommandLineError(
                    f"cannot tell the language of '{self.get_input_name()}' from its ending; "
                    f"known are {known}, or choose one with -f"
                )
            language = self.args.frontend or ending
            if language != _DSL and (flag := self._flag_of_python_programs()) is not None:
                name = self.get_input_name()
                raise CommandLineError(
                    f"{flag} is about Python programs; '{name}' holds {language}"
                )
            return stream.read().removeprefix(BOM_UTF8), ending

    def _flag_of_python_programs(self) -> str | None:
        """A flag that was given and only says how a Python program is read."""
        args = self.args
        given = {
            "--list-programs": args.list_programs,
            "--program": args.program,
            "--define": args.define,
            "--arg-type": args.arg_type,
        }
        return next((flag for flag, value in given.items() if value), None)

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        if (self.args.frontend or file_extension) != _MODULE_TEXT:
            # A frontend learns of no offset: it counts the lines before its part itself.
            padded = BytesIO(b"\n" * start_offset + chunk.read())
            if (self.args.frontend or file_extension) == _DSL:
                from pypto_xdsl.frontend.pl import PlFrontend

                args = self.args
                frontend = PlFrontend(args.program, tuple(args.define), tuple(args.arg_type))
                return frontend.parse(self.ctx, padded, self.get_input_name())
            return super().parse_chunk(padded, file_extension)
        return parse_module(
            self.ctx,
            chunk.read().decode(),
            self.get_input_name(),
            line_offset=start_offset,
            allow_implicit_module=not self.args.no_implicit_module,
        )

    # The run

    def run(self) -> None:
        source, ending = self._read_input()
        output: list[str] = []
        for chunk, offset in self._chunks(source):
            self.diagnostics.clear()
            if (printed := self._run_chunk(chunk, ending, offset)) is not None:
                output.append(printed)
            if self.args.verify_diagnostics:
                from pypto_xdsl.tools.expected_diagnostics import check_expected

                text = chunk.decode(errors="replace")
                self.problems.extend(
                    check_expected(text, self.diagnostics, self.get_input_name(), offset)
                )
                continue
            for diagnostic in self.diagnostics:
                if diagnostic.is_error:
                    self.problems.append(str(diagnostic))
                else:
                    print(diagnostic, file=sys.stderr)
        self._write_output(_OUTPUT_BORDER.join(output))

    def list_programs(self) -> None:
        """Print the names of the programs in a Python file."""
        from pypto_xdsl.frontend.pl import program_names, read_source

        source, _ = self._read_input()
        try:
            for name in program_names(read_source(source, self.get_input_name())):
                print(name)
        except DiagnosticsError as e:
            self.problems.extend(map(str, e.diagnostics))
        except UnicodeDecodeError as e:
            self.problems.append(str(self._not_text(e, source, 0)))

    def _chunks(self, source: bytes) -> list[tuple[bytes, int]]:
        """The parts of the input that are processed one by one, each with its line offset."""
        if not self.args.split_input_file:
            return [(source, 0)]
        # Latin-1 keeps every byte apart, also of input that is not UTF-8.
        chunks = _CHUNK_BORDER.split(source.decode("latin-1"))
        found: list[tuple[bytes, int]] = []
        offset = 0
        for chunk in chunks:
            if _has_program(chunk):
                found.append((chunk.encode("latin-1"), offset))
            offset += chunk.count("\n")
        return found or [(source, 0)]

    def _run_chunk(self, chunk: bytes, ending: str, offset: int) -> str | None:
        """What a chunk is turned into; None if it is wrong, as `diagnostics` then tell."""
        self._running = "the parser"
        with ExitStack() as stack:
            self._known = stack.enter_context(remembering())
            if self.args.disable_verify:
                stack.enter_context(not_checking())
            stack.enter_context(handling(self.diagnostics.append))
            try:
                module = self._parse(chunk, ending, offset)
                if module is None:
                    return None
                self.apply_passes(module)
                self._running = f"target '{self.args.target}'"
                settle_hints(module)
                return self.output_resulting_program(module)
            except ShrinkException:
                raise
            except DiagnosticsError as e:
                self.diagnostics.extend(e.diagnostics)
            except UnicodeDecodeError as e:
                self.diagnostics.append(self._not_text(e, chunk, offset))
            except ParseError as e:
                # Of a frontend that uses xDSL's own parser.
                _, line, column = e.span.get_location()
                self.diagnostics.append(Diagnostic(e.msg, self.get_input_name(), line, column))
            except DiagnosticException as e:
                message = f"{self._running}: {e}"
                self.diagnostics.append(located(e, message, self.get_input_name()))
            except (BrokenPipeError, CommandLineError):
                raise
            except Exception as e:
                self.diagnostics.append(internal_error(e, self._running))
        return None

    def _parse(self, chunk: bytes, ending: str, offset: int) -> ModuleOp | None:
        """The module of a chunk; None if it is wrong and only that is wanted to be seen."""
        try:
            return self.parse_chunk(BytesIO(chunk), ending, offset)
        except (DiagnosticsError, ParseError) as e:
            if not self.args.parsing_diagnostics:
                raise
            print(e)
            return None

    def _not_text(self, error: UnicodeDecodeError, chunk: bytes, offset: int) -> Diagnostic:
        before = error.object[: error.start].decode()
        # What a frontend got begins with the lines before it.
        line = before.count("\n") + 1 + (offset if len(error.object) == len(chunk) else 0)
        column = len(before) - (before.rfind("\n") + 1) + 1
        byte = error.object[error.start]
        message = f"byte 0x{byte:02x} is not UTF-8 text"
        return Diagnostic(message, self.get_input_name(), line, column)

    def _between(
        self, previous: ModulePass | None, module: ModuleOp, next: ModulePass | None
    ) -> None:
        """Runs before the first pass, between passes, and after the last."""
        now = time.perf_counter()
        if previous is not None:
            if self.args.time_passes:
                seconds = now - self._started
                print(f"pass '{previous.name}' took {seconds:.6f} s", file=sys.stderr)
            if next is not None and self.args.print_between_passes:
                self._dumps.show(f"After {previous.name}", module)
            self._dumps.after(previous.name, module)
        self._verify(module, previous)
        if next is not None:
            self._dumps.before(next.name, module)
            self._running = f"pass '{next.name}'"
            self._started = time.perf_counter()

    def _verify(self, module: ModuleOp, previous: ModulePass | None) -> None:
        """Check what holds between passes; a module that did not change costs a look."""
        if self.args.disable_verify:
            return
        self._running = "the verifier"
        known = self._known
        known.look_at(module)
        if previous is not None and not isinstance(previous, CheckedPass):
            known.settle(module)
        after = "" if previous is None else f" after pass '{previous.name}'"
        if not known.is_valid_ir:
            if errors := verify(module):
                if after:
                    first, *rest = errors
                    errors = [first.with_notes(first.note(f"the IR is not valid{after}")), *rest]
                raise DiagnosticsError(errors)
            known.is_valid_ir = True
        if previous is None or self.args.verify_each:
            found: list[Diagnostic] = []
            for name, verdict in known.verdicts(structural_properties(), module).items():
                for number, error in enumerate(verdict):
                    note = error.note(f"structural property {name} does not hold{after}")
                    found.append(error if number else error.with_notes(note))
            if found:
                raise DiagnosticsError(sorted(found, key=lambda d: (d.line, d.column)))

    # The output

    def _write_output(self, text: str) -> None:
        path = self.args.output_file
        if path in (None, "-"):
            sys.stdout.write(text)
        elif not self.problems:
            try:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            except OSError as e:
                reason = (e.strerror or str(e)).lower()
                raise CommandLineError(f"cannot write '{path}': {reason}") from e

    def finish(self) -> int:
        """Print what was found; the exit status."""
        for problem in self.problems:
            print(problem, file=sys.stderr)
        return WRONG_PROGRAM if self.problems else 0


def _has_program(text: str) -> bool:
    """Whether a text holds more than white space and comments."""
    return any(
        stripped and not stripped.startswith("//") for stripped in map(str.strip, text.splitlines())
    )


def _run(args: Sequence[str]) -> int:
    tool = PyptoOptMain(args)
    if tool.args.list_passes:
        from pypto_xdsl.tools.pass_list import pass_list

        sys.stdout.write(pass_list())
        return 0
    try:
        if tool.args.list_programs:
            tool.list_programs()
        else:
            tool.run()
    except ShrinkException:
        print("Success, can shrink")
        return 0
    if tool.args.shrink:
        print("Failure, can't shrink")
        return WRONG_PROGRAM
    return tool.finish()


def main(args: Sequence[str] | None = None) -> int:
    """The console script: runs on the arguments of the process, or those given."""
    return run_tool("pypto-opt", lambda: _run(sys.argv[1:] if args is None else args))


if __name__ == "__main__":
    sys.exit(main())
