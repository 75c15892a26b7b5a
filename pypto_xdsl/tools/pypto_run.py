"""
`pypto-run`: runs a function of a program on numpy arrays.

    pypto-run kernel.mlir --arg x=randn:16xf32:seed=0 --expect b=wanted.npy

* The input is read as by `pypto-opt`: `.mlir`, any language with a frontend, or standard input;
  passes as flags run first, in the order written.
* `--function` names the function; without it there must be only one candidate.
* `--arg name=value` gives an argument, by name or position: a `.npy` file, a generator (`randn`,
  `uniform`, `randint`, `zeros`, `ones`, `arange`, `full:V`) with a shape where the type does not
  tell it (`randn:64x128xf32:seed=0`), or a number. `out` parameters may be left out. Pointers of
  a `.pto` function need a shape, and all of them count as written.
* What is written and returned is printed, unless it is saved (`--save out=path.npy`) or compared
  (`--expect out=path.npy`, within `--atol` and `--rtol`). Results are called result0, result1, ...;
  where there is only one value its name may be left out.
* `--bisect-passes` runs the function before the passes and after each one, and names the first
  that changes what it does.

Arrays of bf16 are uint16 in `.npy` files: the bits. An element that a result depends on and
nobody wrote is an error at the op that makes it so; with `--lenient` a warning. Programs of a core
(dialect `ascend910b`) have more checks, which `--lenient=CHECK,...` chooses from.

With `--schedule=random:SEED` what may run in several orders does so by chance: the pipes of a
core, the cores of a group, and the tasks of an orchestration function, in an order that the
runtime's task graph allows.

Exit status: see `command_line`; a value that is not as expected counts as a wrong program.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError
from pypto_xdsl.syntax.spelling import did_you_mean
from pypto_xdsl.tools.command_line import WRONG_PROGRAM, CommandLineError, run_tool
from pypto_xdsl.tools.pypto_opt import PyptoOptMain

if TYPE_CHECKING:
    from xdsl.interpreter import Interpreter

    from pypto_xdsl.interpreters.arguments import Argument
    from pypto_xdsl.interpreters.core_settings import CoreSettings
    from pypto_xdsl.interpreters.run import RunResult
    from pypto_xdsl.tools.argument_specs import ValueSpec
    from pypto_xdsl.tools.run_progress import RunProgress
    from pypto_xdsl.tools.run_report import Output

_READING_FLAGS = (
    "-f",
    "--frontend",
    "-p",
    "--passes",
    "--no-implicit-module",
    "--program",
    "--define",
    "--arg-type",
    "--verify-each",
    "--print-ir-before-all",
    "--print-ir-after-all",
    "--print-ir-after-change",
)
"""The flags of `pypto-opt` that say how a program is read and changed."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CommandLineError(message)


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"expected a number from 0 up, got '{text}'")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pypto-run",
        usage="%(prog)s [option]... [--<pass>[='<options>']]... [input]",
        description="Runs a function of a program on numpy arrays.",
        epilog="Values are .npy files, numbers, or generators: randn, uniform, randint, zeros, "
        "ones, arange, full:V; with shape and options after colons, as in "
        "x=randn:64x128xf32:seed=0. The flags of pypto-opt that read a program, and passes as "
        "flags, work as there.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--version", action="version", version=f"pypto-run {version('pypto-xdsl')}")
    add("--function", metavar="NAME", help="the function to run (default: the only candidate)")
    add("--arg", metavar="NAME=VALUE", action="append", default=[], help="an argument")
    add("--default-arg", metavar="VALUE", help="for tensors that are read and have no --arg")
    add("--save", metavar="[NAME=]PATH", action="append", default=[], help="save as .npy")
    add(
        "--expect", metavar="[NAME=]VALUE", action="append", default=[], help="compare with a value"
    )
    add("--rtol", type=_tolerance, default=0.0, help="relative tolerance of --expect (default: 0)")
    add("--atol", type=_tolerance, default=0.0, help="absolute tolerance of --expect (default: 0)")
    add("--quiet", "-q", action="store_true", help="print no values")
    add("--lenient", action="store_true", help="only warn of what is wrong while running")
    add(
        "--lenient-checks",
        metavar="CHECK,...",
        default="",
        help="of programs of a core, only warn of these: undefined, bounds, alignment, order, "
        "event, rule; also written --lenient=CHECK,...",
    )
    add(
        "--schedule",
        metavar="ORDER",
        default="in-order",
        help="how tasks, and the pipes of a core, take turns: in-order or random:SEED",
    )
    add("--bisect-passes", action="store_true", help="find the first pass that breaks the function")
    add("--print-op-counts", action="store_true", help="print how often each op ran")
    add(
        "--progress",
        action="store_true",
        help="show on stderr how far the run is (default: on a terminal, after a second)",
    )
    add("--trace", action="store_true", help="print each op that runs, on stderr")
    return parser


@dataclass
class _Runner:
    """Runs the function of a program as the command line says."""

    options: argparse.Namespace
    arguments: Sequence[Argument] | None = None
    """Of the first run; later ones, after passes, have the same."""
    baseline: RunResult | None = None
    function_name: str | None = None
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def run(self, module: ModuleOp) -> _Run:
        """Run the function of a module."""
        from xdsl.interpreter import OpCounter

        from pypto_xdsl.interpreters.run import ArgumentError
        from pypto_xdsl.tools.run_listeners import Trace
        from pypto_xdsl.tools.run_progress import RunProgress

        listeners: list[Interpreter.Listener] = []
        counter = OpCounter()
        is_asked, is_terminal = self.options.progress, sys.stderr.isatty()
        progress = None
        if is_asked or (is_terminal and not self.options.trace):
            progress = RunProgress(sys.stderr, is_terminal=is_terminal, is_asked=is_asked)
        if self.options.print_op_counts:
            listeners.append(counter)
        if self.options.trace:
            listeners.append(Trace())
        try:
            found = self._run(module, listeners, progress)
        except ArgumentError as e:
            raise CommandLineError(str(e)) from e
        finally:
            if progress is not None:
                progress.finish()
        self.counts = dict(counter.ops)
        return found

    def _run(
        self,
        module: ModuleOp,
        listeners: Sequence[Interpreter.Listener],
        progress: RunProgress | None,
    ) -> _Run:
        from pypto_xdsl.dialects.orch import FuncOp
        from pypto_xdsl.interpreters.run import find_function, run
        from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder
        from pypto_xdsl.tools.run_arguments import arguments_for
        from pypto_xdsl.tools.run_report import written_parameters

        options = self.options
        cores = _core_settings(options)
        name, strict = self.function_name or options.function, not options.lenient
        if not any(isinstance(op, FuncOp) for op in module.ops):
            from pypto_xdsl.tools.run_lowered import find_lowered_function, run_lowered

            lowered = find_lowered_function(module, name)
            if lowered is not None:
                self.function_name = lowered.name
                result = run_lowered(
                    module,
                    lowered,
                    options.arg,
                    options.default_arg,
                    strict=strict,
                    cores=cores,
                    listeners=listeners,
                    progress=progress,
                )
                return _Run(result, lowered.parameter_names, order_of_results=True)
        function = find_function(module, name)
        self.function_name = function.sym_name.data
        if self.arguments is None:
            self.arguments = arguments_for(function, options.arg, options.default_arg)
        result = run(
            module,
            function,
            self.arguments,
            strict=strict,
            listeners=listeners,
            scheduler=None if cores.seed is None else TaskGraphOrder(cores.seed),
            cores=cores,
            progress=progress,
        )
        ordered = not function.kind.data.is_device
        return _Run(result, written_parameters(function), order_of_results=ordered)


def _core_settings(options: argparse.Namespace) -> CoreSettings:
    """How cores are run, from the command line."""
    from pypto_xdsl.interpreters.core_settings import CoreSettings, parse_checks, parse_schedule

    try:
        seed = parse_schedule(options.schedule)
    except ValueError as e:
        raise CommandLineError(f"--schedule: {e}") from e
    try:
        checks = parse_checks(options.lenient_checks)
    except ValueError as e:
        raise CommandLineError(f"--lenient: {e}") from e
    return CoreSettings(seed, checks)


@dataclass(frozen=True)
class _Run:
    """One run of the function."""

    result: RunResult
    written: Sequence[str]
    """The parameters that it may write."""
    order_of_results: bool
    """Whether the order of results is part of what the function does."""


class _Reader(PyptoOptMain):
    """Reads a program and runs the passes, as `pypto-opt` does."""

    def __init__(self, args: Sequence[str], runner: _Runner):
        self.runner = runner
        self.module: ModuleOp | None = None
        super().__init__(args)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        self.module = prog
        return ""

    def _between(
        self, previous: ModulePass | None, module: ModuleOp, next: ModulePass | None
    ) -> None:
        super()._between(previous, module, next)
        if not self.runner.options.bisect_passes:
            return
        if previous is None:
            self.runner.baseline = self.runner.run(module).result
            return
        self._compare(previous, module)

    def _compare(self, previous: ModulePass, module: ModuleOp) -> None:
        from pypto_xdsl.interpreters.differential import Tolerance, compare_runs

        runner = self.runner
        assert runner.baseline is not None
        about = f"pass '{previous.name}' changes what '{runner.function_name}' does"
        try:
            found = runner.run(module)
        except CommandLineError as e:
            raise DiagnosticsError((self._found(f"{about}: {e}"),)) from e
        except DiagnosticsError as e:
            first, *rest = e.diagnostics
            raise DiagnosticsError((first.with_notes(first.note(about)), *rest)) from e
        difference = compare_runs(
            found.result,
            runner.baseline,
            Tolerance(runner.options.rtol, runner.options.atol),
            order_of_results=found.order_of_results,
        )
        if difference is not None:
            raise DiagnosticsError((self._found(f"{about}: {difference}"),))

    def _found(self, message: str) -> Diagnostic:
        return Diagnostic(message, self.get_input_name())


def _run(args: Sequence[str]) -> int:
    parser = _parser()
    # A flag that may have a value, but never takes the next argument for it.
    args = [
        f"--lenient-checks={argument.partition('=')[2]}"
        if argument.startswith("--lenient=")
        else argument
        for argument in args
    ]
    options, rest = parser.parse_known_args(args)
    runner = _Runner(options)
    reader = _Reader(_checked(rest, parser), runner)
    if options.bisect_passes and not reader.pipeline.passes:
        raise CommandLineError("--bisect-passes needs passes, as in --default-pipeline")
    reader.run()
    if reader.module is None:
        return reader.finish()
    if options.bisect_passes:
        names = [p.name for p in reader.pipeline.passes]
        print(f"'{runner.function_name}' does the same after each of {len(names)} passes")
        return 0
    return _report(options, runner, runner.run(reader.module))


def _checked(rest: Sequence[str], parser: argparse.ArgumentParser) -> Sequence[str]:
    """The arguments that are not ours: passes, the input, and how to read it."""
    from xdsl.universe import Universe

    passes = Universe.get_multiverse().all_passes
    for argument in rest:
        flag = argument.partition("=")[0]
        if not flag.startswith("-") or flag == "-":
            continue
        if flag not in _READING_FLAGS and flag.removeprefix("--") not in passes:
            own = [s for action in parser._actions for s in action.option_strings]  # pyright: ignore[reportPrivateUsage]
            known = {*own, *_READING_FLAGS, *(f"--{name}" for name in passes)}
            raise CommandLineError(f"unknown flag '{flag}'{did_you_mean(flag, known)}")
    return rest


def _report(options: argparse.Namespace, runner: _Runner, run: _Run) -> int:
    """Save, compare and print; the exit status."""
    from pypto_xdsl.tools.argument_specs import parse_value, split_name
    from pypto_xdsl.tools.run_report import (
        joined,
        only_output,
        op_counts,
        output_named,
        outputs,
    )

    found = outputs(run.written, run.result)
    known = {output.name: output for output in found}
    only = only_output(found)
    for text in options.save:
        name, path = split_name("--save", text, only)
        _save(output_named(name, known), path)
    problems = [
        problem
        for spec in (parse_value("--expect", text, only) for text in options.expect)
        if (problem := _unexpected(output_named(spec.name, known), spec, options)) is not None
    ]
    if not (options.quiet or options.save or options.expect):
        sys.stdout.write(joined(map(str, found)))
    if options.print_op_counts:
        sys.stdout.write(joined(op_counts(runner.counts)))
    for problem in problems:
        print(f"pypto-run: error: {problem}", file=sys.stderr)
    return WRONG_PROGRAM if problems else 0


def _save(output: Output, path: str) -> None:
    import numpy as np

    from pypto_xdsl.interpreters.run import TensorValue
    from pypto_xdsl.tools.array_files import save_array

    if not isinstance(output.value, TensorValue):
        save_array(path, np.asarray(output.value))
        return
    if output.value.defined is not None:
        missing = int(np.count_nonzero(~output.value.defined))
        print(
            f"pypto-run: warning: {missing} of {output.value.array.size} elements of "
            f"'{output.name}' are undefined",
            file=sys.stderr,
        )
    save_array(path, output.value.array)


def _unexpected(output: Output, spec: ValueSpec, options: argparse.Namespace) -> str | None:
    """How a value differs from what was expected, or None."""
    from pypto_xdsl.interpreters.differential import Tolerance, difference
    from pypto_xdsl.interpreters.run import TensorValue

    value = output.value
    if not isinstance(value, TensorValue):
        if not spec.is_scalar:
            raise CommandLineError(f"'{output.name}' is a number, '{spec.text}' is an array")
        assert spec.number is not None
        allowed = options.atol + options.rtol * abs(spec.number)
        same = value == spec.number or abs(value - spec.number) <= allowed
        return None if same else f"'{output.name}' is {value}, expected {spec.number}"
    if spec.is_scalar:
        raise CommandLineError(f"'{output.name}' is an array, '{spec.text}' is a number")
    if spec.path is None:
        wanted = spec.generate(value.element, value.array.shape)
    else:
        wanted = spec.load()
        if wanted.dtype != value.element.storage:
            raise CommandLineError(
                f"'{spec.path}' holds {wanted.dtype}, '{output.name}' is {value.element.storage}"
            )
    expected = TensorValue(value.type, wanted, None, value.element)
    found = difference(value, expected, Tolerance(options.rtol, options.atol))
    return None if found is None else f"'{output.name}' {found}"


def main(args: Sequence[str] | None = None) -> int:
    """The console script: runs on the arguments of the process, or those given."""
    return run_tool("pypto-run", lambda: _run(sys.argv[1:] if args is None else args))


if __name__ == "__main__":
    sys.exit(main())
