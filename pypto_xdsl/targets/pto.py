"""
The target `pto`: writes a program as PTOAS reads it.

    pypto-opt kernel.mlir -t pto
    pypto-opt kernel.mlir -t 'pto{unit="softmax"}'
    pypto-opt kernel.mlir -t 'pto{grammar="0.60" level="level2"}'

A module of kernels is written as it is. A program that holds several units, each a nested
`module @unit attributes {pto.target_arch = "a2a3"}`, is written unit by unit, with a comment line
`// -----` between them, which is where `--split-input-file` and a person would cut; `unit` picks
one. What the assembler cannot read is left out: attributes with a prefix other than `pto.`, as
memory planning uses them on `alloc_tile`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer
from xdsl.utils.target import Target

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto.queue import number_of
from pypto_xdsl.dialects.pto.queue_buffer import ReserveBase
from pypto_xdsl.dialects.pto.tile_types import TileBufType
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.rewriting.value_names import settle_hints

UNIT_BORDER = "// -----\n"

Level = Literal["", "level1", "level2", "level3"]
"""Who plans memory: the assembler (1, 2) or the producer of the text (3)."""


class PtoPrinter(Printer):
    """Prints in the spelling of one version of PTOAS."""

    def __init__(
        self, stream: IO[str], grammar: pto.Grammar, *, short_types: bool, locations: bool
    ):
        super().__init__(stream, print_debuginfo=locations)
        self.pto_grammar = grammar
        self._short_types = short_types

    def print_op(self, op: Operation) -> None:
        if isinstance(op, ModuleOp):
            # The assembler writes these without their dialect.
            self.print_string("module")
            self.enter_scope()
            op.print(self)
            self.exit_scope()
            self._print_location(op)
        elif isinstance(op, ReturnOp):
            self.print_string("return")
            op.print(self)
            self._print_location(op)
        elif isinstance(op, pto.PtoOp) and self.pto_grammar in op.DECLARATION.other_names:
            self._print_results(op)
            self.print_string(f"pto.{op.DECLARATION.other_names[self.pto_grammar]}")
            op.print(self)
            self._print_location(op)
        else:
            super().print_op(op)

    def _print_location(self, op: Operation) -> None:
        if self.print_debuginfo:
            self.print_string(" ")
            self.print_attribute(op.location)

    def print_attribute(self, attribute: Attribute) -> None:
        if self._short_types and isinstance(attribute, TileBufType):
            self.print_string(attribute.short_spelling())
        else:
            super().print_attribute(attribute)


@dataclass(frozen=True)
class PtoTarget(Target):
    """Writes `.pto` text."""

    name = "pto"

    unit: str = ""
    """The nested module to write; all of them if empty."""
    grammar: Literal["0.27", "0.57", "0.60"] = "0.57"
    """The version of PTOAS whose spelling is written."""
    level: Level = ""
    """Checks what the assembler's `--pto-level` demands; nothing if empty."""
    short_types: bool = False
    """Writes `!pto.tile_buf<vec, 16x64xf32>` instead of the long spelling."""
    locations: bool = False
    """Writes `loc(...)` behind each op."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """
        Writes the units of a program.

        Raises `DiagnosticsError` where there is none, or where one cannot be written.
        """
        units = self._chosen(module)
        for unit in units:
            _expect_lowered(unit)
        errors = [error for unit in units for error in self._errors(unit)]
        if errors:
            raise DiagnosticsError(errors)
        for number, unit in enumerate(units):
            if number:
                output.write(UNIT_BORDER)
            self._write(unit, output)

    def _chosen(self, module: ModuleOp) -> list[ModuleOp]:
        units = list(units_of(module))
        if self.unit:
            named = [unit for unit in units if unit_name(unit) == self.unit]
            if not named:
                known = ", ".join(filter(None, map(unit_name, units))) or "none"
                raise DiagnosticsError(
                    (diagnose(module, f"has no unit @{self.unit}; it has {known}"),)
                )
            return named
        if not units:
            raise DiagnosticsError((diagnose(module, "has no kernel to write as .pto"),))
        return units

    def _errors(self, unit: ModuleOp) -> Iterator[Diagnostic]:
        for op in walk(unit):
            if (reason := _unwritable(op)) is not None:
                yield diagnose(op, reason)
            if self.level and (reason := level_problem(op, self.level)) is not None:
                yield diagnose(op, reason)
            if not isinstance(op, pto.PtoOp):
                continue
            if (reason := op.unwritable_in(self.grammar)) is not None:
                yield diagnose(op, reason)

    def _write(self, unit: ModuleOp, output: IO[str]) -> None:
        # The program is not ours to change.
        unit = unit.clone()
        unit.sym_name = None
        settle_hints(unit)
        for op in walk(unit):
            for name in [name for name in op.attributes if not _is_readable(name)]:
                del op.attributes[name]
        printer = PtoPrinter(
            output,
            pto.Grammar(self.grammar),
            short_types=self.short_types,
            locations=self.locations,
        )
        printer.print_op(unit)
        output.write("\n")


def _expect_lowered(unit: ModuleOp) -> None:
    """Raises `DiagnosticsError` if a unit is a program that was not lowered at all."""
    if not any(op.name == "orch.func" for op in unit.body.ops):
        return
    # Files of kernels have no need of the dialect.
    from pypto_xdsl.dialects.orch import FuncOp, IncoreOp

    functions = [op for op in unit.body.ops if isinstance(op, FuncOp)]
    error = diagnose(functions[0], "is not lowered to pto")
    runs = any(f.kind.data.is_in_core for f in functions) or any(
        isinstance(op, IncoreOp) for op in walk(unit)
    )
    note = (
        "run 'default-pipeline' first"
        if runs
        else "nothing in this program runs on a core: what does belongs in a function of kind "
        "incore, or in an 'orch.incore' scope"
    )
    raise DiagnosticsError((error.with_notes(error.note(note)),))


def unit_name(unit: ModuleOp) -> str | None:
    """The name of a unit, None for the module of a `.pto` file."""
    return unit.sym_name.data if isinstance(unit.sym_name, StringAttr) else None


def units_of(module: ModuleOp) -> Iterator[ModuleOp]:
    """The modules of a program that are each a `.pto` file, in order."""
    nested = [op for op in module.body.ops if isinstance(op, ModuleOp)]
    units = [op for op in nested if TARGET_ARCH in op.attributes]
    if units:
        yield from units
    elif module.body.ops.first is not None:
        yield module


READABLE_DIALECTS = frozenset(("pto", "func", "arith", "scf", "cf", "builtin"))
"""Dialects of the ops in a `.pto` file."""


def _unwritable(op: Operation) -> str | None:
    """Why the assembler cannot read an op; None if it can."""
    if op.name.partition(".")[0] not in READABLE_DIALECTS:
        return "is no op that PTOAS reads"
    if op.name == "arith.addf":
        return "is not lowered by PTOAS; subtract the negated operand instead"
    return None


def level_problem(op: Operation, level: str) -> str | None:
    """Why an op is refused at a `--pto-level`; None if it is not."""
    planned = level == "level3"
    match op:
        case pto.AllocTileOp() | pto.AllocMultiTileOp():
            if planned and op.addr is None:
                return "requires an 'addr' operand at level3"
            if not planned and op.addr is not None:
                return "has an 'addr' operand, which is only supported at level3"
        case pto.TAssignOp() if not planned:
            return "is only supported at level3"
        case ReserveBase():
            automatic = bool(number_of(op.auto))
            if planned and (automatic or op.base is None):
                return "requires 'auto = false' and explicit 'base' at level3"
            if not planned and not automatic:
                return f"with explicit 'base' (auto = false) is not supported at {level}"
            if not planned and op.base is not None:
                return f"has a 'base' although it is automatic, at {level}"
        case _:
            pass
    return None


def _is_readable(name: str) -> bool:
    """Whether an attribute means something to the assembler."""
    prefix, dot, _ = name.partition(".")
    return not dot or prefix == "pto"
