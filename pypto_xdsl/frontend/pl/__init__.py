"""
PyPTO's Python DSL as a language that is read: `pypto-opt kernel.py --outline-incore-scopes`.

The file is parsed with `ast` and never executed or imported.

* `source` holds the file, `discovery` finds the programs in it.
* `compile_time` holds the names around them, `static_expressions` evaluates expressions of such
  names to `static_values` by `python_operations`: constants, arithmetic, imports.
* `program` reads functions, callees first; `function_options` their decorators, `jit` those that
  are specialised, where `call_sites` (with `torch_tensors`) tells what the file itself calls them
  with, `annotations` their types, in which `symbolic_extents` solves for symbols, `declared_types`
  those of variables.
* `statements`, `loops` (with `carries`) and `scopes` (with `scope_outputs`) build ops in SSA form,
  for which `liveness` tells what a region has to give to the code after it, and `control_flow`
  (with `early_returns` and `syntax_nodes`) removes jumps. `merging` is about values that meet,
  `aliases` (with `handed_on` and `viewed_names`) about names of one buffer.
* `expressions`, `scalars`, `subscripts`, `calls` (with `launches`) and `special_calls` are what
  statements hold; `operations` calls ops by their definitions. Those with a form of their own are
  in `structural_ops`, `tensor_forms`, `gather_forms`, `cross_core_forms` and `storage`.
* `vocabulary` is the table of words, shared with the target that prints the DSL.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.frontend import Frontend

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError
from pypto_xdsl.frontend.pl.discovery import Candidate, choose, find_programs, reader_of
from pypto_xdsl.frontend.pl.source import Source
from pypto_xdsl.frontend.pl.static_values import DType, ImportedName
from pypto_xdsl.frontend.pl.vocabulary import DTYPES
from pypto_xdsl.garbage_collection import collecting_rarely
from pypto_xdsl.properties.no_stale_read import stale_reads_in


@dataclass(frozen=True)
class PlFrontend(Frontend):
    """Reads a program of PyPTO's Python DSL."""

    name = "pl"

    program: str | None = None
    """The program to read, where the file holds several: its qualified name."""
    define: tuple[str, ...] = ()
    """`NAME=VALUE` for names outside that the text does not settle."""
    arg_type: tuple[str, ...] = ()
    """`NAME=128x128xf32`, or `NAME=4`, for parameters of a `@pl.jit` entry."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        source = read_source(input.read(), input_name)
        candidate = choose(source, find_programs(source), self.program)
        return read_program(
            source,
            candidate,
            parse_defines(source, self.define),
            parse_argument_types(ctx, source, self.arg_type),
        )


@collecting_rarely()
def read_source(data: bytes, name: str) -> Source:
    """A file's bytes as a parsed source. Raises `UnicodeDecodeError` for what is no text."""
    text = data.decode("utf-8-sig")
    path = None if name.startswith("<") else name
    return Source(text, name, path)


@collecting_rarely()
def read_program(
    source: Source,
    candidate: Candidate,
    defines: Mapping[str, Any] | None = None,
    argument_types: Mapping[str, Any] | None = None,
) -> ModuleOp:
    """A program of a source as a module."""
    module = _read(source, candidate, defines, argument_types)
    module.location = source.location(candidate.nodes[0])
    return module


def _read(
    source: Source,
    candidate: Candidate,
    defines: Mapping[str, Any] | None,
    argument_types: Mapping[str, Any] | None,
) -> ModuleOp:
    try:
        reader = reader_of(source, candidate, defines)
        reader.argument_types = dict(argument_types or {})
        if reader.strict_ssa:
            # Names are taken at their word, as long as that reads nothing older than a write.
            reader.exact = True
            module = reader.read()
            if not any(stale_reads_in(module)):
                return module
            reader = reader_of(source, candidate, defines)
            reader.argument_types = dict(argument_types or {})
        return reader.read()
    except RecursionError:
        raise source.error(candidate.nodes[0], "the program is nested too deeply") from None
    except MemoryError:
        raise source.error(candidate.nodes[0], "the program needs too much memory") from None


def program_names(source: Source) -> list[str]:
    """The names of the programs of a source."""
    return [candidate.name for candidate in find_programs(source)]


def parse_defines(source: Source, defines: Sequence[str]) -> dict[str, Any]:
    """
    `NAME=VALUE` pairs; a value is a Python literal, a dtype, or a function or constant of a file
    next to the program, `module.name`.
    """
    found: dict[str, Any] = {}
    for define in defines:
        name, equals, text = define.partition("=")
        if not equals or not name.isidentifier():
            raise _error(source, f"--define takes NAME=VALUE, got '{define}'")
        text = text.strip()
        word = text.removeprefix("pl.")
        if word in DTYPES:
            found[name] = DType(word, DTYPES[word])
            continue
        module, _, member = text.rpartition(".")
        if module and all(part.isidentifier() for part in text.split(".")):
            found[name] = ImportedName(module, member)
            continue
        try:
            found[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise _error(
                source,
                f"--define {name}: '{text}' is no constant, no dtype, and no 'module.name'",
            ) from None
    return found


def parse_argument_types(ctx: Context, source: Source, given: Sequence[str]) -> dict[str, Any]:
    """`NAME=128x128xf32` pairs: the type of a tensor or scalar, or a constant."""
    found: dict[str, Any] = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        text = text.strip()
        if not equals or not name.isidentifier() or not text:
            raise _error(source, f"--arg-type takes NAME=128x128xf32, got '{entry}'")
        try:
            found[name] = ast.literal_eval(text)
            continue
        except (ValueError, SyntaxError):
            pass
        if "x" in text and text[0] in "0123456789?" and not text.startswith("tensor<"):
            text = f"tensor<{text}>"
        if text in DTYPES:
            found[name] = DTYPES[text]
            continue
        try:
            found[name] = Parser(ctx, text).parse_type()
        except ParseError:
            raise _error(source, f"--arg-type {name}: '{text}' is no type") from None
    return found


def _error(source: Source, message: str) -> DiagnosticsError:
    return DiagnosticsError((Diagnostic(message, source.name, 1, 1),))
