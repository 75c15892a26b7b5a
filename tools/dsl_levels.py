"""A program at each level that has a spelling in PyPTO's DSL, for tools and tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError, collecting
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.pipelines import PIPELINES
from pypto_xdsl.syntax.parser import parse_module

NO_SPELLING = ("convert-tile-to-pto", "memory-reuse", "allocate-memory-addr")
"""Passes to, and on, the dialect of PTO, which the DSL does not have."""


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """The files with programs among these paths, and below those that are folders."""
    for path in paths:
        if path.is_dir():
            yield from sorted((*path.rglob("*.py"), *path.rglob("*.mlir")))
        else:
            yield path


def passes() -> list[str]:
    """The passes of the pipeline with named dependencies that stay at levels of the DSL."""
    pipeline = PIPELINES["named-dependencies-pipeline"]
    return [spec for spec in pipeline if not spec.startswith(NO_SPELLING)]


def context() -> Context:
    """A context that offers every dialect."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def modules_of(path: Path) -> Iterator[tuple[str, ModuleOp]]:
    """The programs of a file by their names; those that are not valid are left out."""
    if path.suffix == ".mlir":
        parts = path.read_text().split("// -----")
        for place, part in enumerate(parts):
            try:
                module = parse_module(context(), part, str(path))
            except DiagnosticsError:
                continue
            if not verify(module):
                yield str(place), module
        return
    source = read_source(path.read_bytes(), str(path))
    for candidate in find_programs(source):
        try:
            module = read_program(source, candidate)
        except DiagnosticsError:
            continue
        if not verify(module):
            yield candidate.name, module


def levels_of(module: ModuleOp) -> Iterator[tuple[str, ModuleOp]]:
    """
    A module as it is, and after each pass that changes it, up to the first that refuses it; with
    the name of the pass. What is told changes no more.
    """
    yield "reading", module.clone()
    module = module.clone()
    before = str(module)
    available = Universe.get_multiverse().all_passes
    for spec in passes():
        try:
            with collecting():
                PassPipeline.parse_spec(available, spec).apply(context(), module)
        except DiagnosticsError:
            return
        after = str(module)
        if after != before:
            before = after
            yield spec.partition("{")[0], module.clone()
