"""
Reads the programs of a checkout of PyPTO, prints them back, and compares passes.

    python tools/check_pypto_pairs.py PATH/TO/pypto/tests/ut/ir/transforms [--failures]
    python tools/check_pypto_pairs.py PATH/TO/pypto/examples PATH/TO/pypto-lib/models

For each file: how many programs it holds, how many are read and verified, how many come back the
same after printing and reading, and, where a test has the classes `Before` and `Expected`, on how
many of these pairs our pass of the name that the test runs agrees. Programs are compared up to
the names of values and the place of constants; tiles that are loaded without a memory space count
as tiles of the vector buffer, as PyPTO has it by default. After passes that lower kernels, the
order of independent ops and repeated computations do not count either (`normal_form`). Where the
test runs the pass on both programs, so does this.

The types of `@pl.jit` entries are those of the torch tensors that the file calls them with.
"""

from __future__ import annotations

import argparse
import ast
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from normal_form import in_canonical_order
from torch_calls import TorchCalls
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError, collecting
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import Candidate, find_programs
from pypto_xdsl.frontend.pl.source import Source, dotted_name
from pypto_xdsl.targets.pl.program import program_text
from pypto_xdsl.universe import PYPTO_UNIVERSE

READER_PASSES = frozenset(
    (
        "convert_to_ssa",
        "inline_functions",
        "unroll_loops",
        "ctrl_flow_transform",
        "normalize_stmt_structure",
        "flatten_call_expr",
        "run_verifier",
    )
)
"""Passes of PyPTO whose work the front end does."""

LOWERING_PASSES = frozenset(
    (
        "convert_tensor_to_tile_ops",
        "flatten_tile_nd_to_2d",
        "infer_tile_memory_space",
        "legalize_tile_cast",
        "lower_composite_ops",
    )
)
"""Passes that compute the same values by other ops, in whatever order."""


@dataclass
class Count:
    """What was found in a file."""

    programs: int = 0
    read: int = 0
    same: int = 0
    pairs: int = 0
    agreed: int = 0
    failures: list[str] = field(default_factory=list[str])
    reasons: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: Count) -> None:
        self.programs += other.programs
        self.read += other.read
        self.same += other.same
        self.pairs += other.pairs
        self.agreed += other.agreed
        self.reasons += other.reasons

    def fail(self, kind: str, where: str, reason: str) -> None:
        self.reasons[f"{kind}: {reason}"] += 1
        self.failures.append(f"{kind}: {where}: {reason}")

    def row(self, name: str) -> str:
        return (
            f"{name:48} {self.programs:5} {self.read:5} {self.same:5} {self.pairs:5} "
            f"{self.agreed:5}"
        )


HEAD = f"{'file':48} {'progs':>5} {'read':>5} {'same':>5} {'pairs':>5} {'agree':>5}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Read the programs of a checkout of PyPTO, and compare passes."
    )
    parser.add_argument("paths", nargs="+", type=Path, help="files, or folders of them")
    parser.add_argument("--failures", action="store_true", help="list every failure")
    parser.add_argument("--reasons", type=int, default=0, help="show the most frequent reasons")
    given = parser.parse_args(arguments)
    total = Count()
    print(HEAD)
    for path in sorted(_files(given.paths)):
        count = check_file(path)
        if count.programs:
            print(count.row(path.name), flush=True)
        if given.failures:
            for failure in count.failures:
                print(f"    {failure}")
        total.add(count)
    print(total.row("total"))
    for reason, number in total.reasons.most_common(given.reasons):
        print(f"{number:5} {reason}")
    return 0


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from path.rglob("*.py") if path.is_dir() else (path,)


def check_file(path: Path) -> Count:
    """Read, print and compare the programs of a file."""
    count = Count()
    try:
        source = read_source(path.read_bytes(), str(path))
    except (DiagnosticsError, UnicodeDecodeError) as e:
        count.fail("parse", path.name, str(e).splitlines()[0])
        return count
    modules: dict[str, ModuleOp] = {}
    calls = TorchCalls(source)
    candidates = {candidate.name: candidate for candidate in find_programs(source)}
    for name, candidate in candidates.items():
        count.programs += 1
        module = _read(source, candidate, calls, count)
        if module is None:
            continue
        count.read += 1
        modules[name] = module
        if reason := _round_trip(module):
            count.fail("print", f"{name}:{candidate.line}", reason)
        else:
            count.same += 1
    for name, candidate in candidates.items():
        if name.rpartition(".")[2] != "Before":
            continue
        expected = f"{name.removesuffix('Before')}Expected"
        if expected not in candidates:
            continue
        of_file = path.stem.removeprefix("test_").removesuffix("_pass")
        _compare_pair(candidate, name, expected, modules, count, of_file)
    return count


def _read(source: Source, candidate: Candidate, calls: TorchCalls, count: Count) -> ModuleOp | None:
    where = f"{candidate.name}:{candidate.line}"
    try:
        (entry, *_) = candidate.nodes
        types = calls.arguments_of(entry) if isinstance(entry, ast.FunctionDef) else {}
        defines = called_with(calls, candidate) | parametrized(candidate)
        module = read_program(source, candidate, defines, types)
        if errors := verify(module):
            raise DiagnosticsError(errors)
    except DiagnosticsError as e:
        count.fail("read", where, e.diagnostics[0].message)
        return None
    except Exception:
        count.fail("read", where, f"CRASH {traceback.format_exc().splitlines()[-1]}")
        return None
    return module


def _round_trip(module: ModuleOp) -> str | None:
    """Why a module does not come back the same; None if it does."""
    try:
        text = program_text(module)
        source = read_source(text.encode(), "<printed>")
        (candidate,) = find_programs(source)
        again = read_program(source, candidate)
        if errors := verify(again):
            raise DiagnosticsError(errors)
        if program_text(again) != text:
            return "the text differs"
    except DiagnosticsError as e:
        return e.diagnostics[0].message
    except Exception:
        return f"CRASH {traceback.format_exc().splitlines()[-1]}"
    return None if same(module, again) else "the module differs"


# Comparison


def same(first: ModuleOp, second: ModuleOp) -> bool:
    """Whether two programs are the same up to names and the place of constants."""
    return normalized(first).is_structurally_equivalent(normalized(second))


def normalized(module: ModuleOp) -> ModuleOp:
    """A copy with functions by name, each constant once at the start, no vector space."""
    module = module.clone()
    module.sym_name = None
    functions = [op for op in module.body.block.ops if isinstance(op, orch.FuncOp)]
    for function in functions:
        _gather_constants(function)
        _forget_vector_space(function)
        function.detach()
    for function in sorted(functions, key=lambda f: f.sym_name.data):
        module.body.block.add_op(function)
    return module


def reordered(module: ModuleOp) -> ModuleOp:
    """A copy without what order and repetition say."""
    module = module.clone()
    for op in module.body.block.ops:
        if isinstance(op, orch.FuncOp):
            in_canonical_order(op)
    return module


def _gather_constants(function: orch.FuncOp) -> None:
    block = function.body.first_block
    if block is None:
        return
    found: dict[Attribute, arith.ConstantOp] = {}
    for op in [op for op in function.walk() if isinstance(op, arith.ConstantOp)]:
        op.detach()
        first = found.setdefault(op.value, op)
        if first is not op:
            op.result.replace_all_uses_with(first.result)
    for value in sorted(found, key=str, reverse=True):
        if found[value].result.uses:
            first_op = block.first_op
            if first_op is None:
                block.add_op(found[value])
            else:
                block.insert_op_before(found[value], first_op)


def _forget_vector_space(function: orch.FuncOp) -> None:
    for op in function.walk():
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
        for value in values:
            type = value.type
            if isinstance(type, TileType) and type.memory_space is MemorySpace.VEC:
                value._type = type.with_space(None)  # pyright: ignore


# Pairs


def _compare_pair(
    before: Candidate,
    name: str,
    expected: str,
    modules: dict[str, ModuleOp],
    count: Count,
    of_file: str,
) -> None:
    passes = [p for p in passes_of(before) if p not in READER_PASSES] or [of_file]
    known = PYPTO_UNIVERSE.all_passes
    ours = [p.replace("_", "-") for p in passes]
    if not ours or any(p not in known for p in ours):
        return
    count.pairs += 1
    where = f"{name}:{before.line}"
    if name not in modules or expected not in modules:
        count.fail("pair", where, "one of the two is not read")
        return
    after = modules[name].clone()
    try:
        with collecting():
            run_passes(after, ours)
    except DiagnosticsError as e:
        count.fail("pair", where, f"{ours[-1]}: {e.diagnostics[0].message}")
        return
    except Exception:
        count.fail("pair", where, f"CRASH {traceback.format_exc().splitlines()[-1]}")
        return
    wanted = modules[expected].clone()
    if runs_on_expected(before):
        with collecting():
            run_passes(wanted, ours)
    lowered = not LOWERING_PASSES.isdisjoint(passes)
    if same(after, wanted) or (lowered and same(reordered(after), reordered(wanted))):
        count.agreed += 1
    else:
        count.fail("pair", where, f"{','.join(ours)}: the result differs")


def run_passes(module: ModuleOp, names: Sequence[str]) -> None:
    """Run our passes of these names, for the 910B."""
    context = Context()
    for name, dialect in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, dialect)
    module.attributes["pto.target_arch"] = StringAttr("a2a3")
    for name in names:
        PYPTO_UNIVERSE.all_passes[name]()().apply(context, module)
    module.attributes.pop("pto.target_arch", None)


def passes_of(candidate: Candidate) -> list[str]:
    """The passes that the test around a program runs, in the order of the text."""
    if not candidate.around:
        return []
    found: list[tuple[int, str]] = []
    for node in ast.walk(candidate.around[-1]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            path = dotted_name(node.func.func)
            if path is not None and len(path) >= 2 and path[-2] == "passes":
                found.append((node.lineno, path[-1]))
    return list(dict.fromkeys(name for _, name in sorted(found)))


def runs_on_expected(candidate: Candidate) -> bool:
    """Whether the test around a program runs its passes on the expected program, too."""
    return bool(candidate.around) and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Call)
        and any(isinstance(name, ast.Name) and name.id == "Expected" for name in ast.walk(node))
        for node in ast.walk(candidate.around[-1])
    )


def parametrized(candidate: Candidate) -> dict[str, Any]:
    """The first values that `pytest.mark.parametrize` gives to names around a program."""
    values: dict[str, Any] = {}
    for around in candidate.around:
        for decorator in around.decorator_list:
            if not isinstance(decorator, ast.Call) or len(decorator.args) < 2:
                continue
            path = dotted_name(decorator.func)
            if path is None or path[-1] != "parametrize":
                continue
            try:
                given: Any = ast.literal_eval(decorator.args[0])
                listed = given.split(",") if isinstance(given, str) else given
                names = [str(name).strip() for name in listed]
                first: ast.expr = cast(ast.List, decorator.args[1]).elts[0]
            except (ValueError, AttributeError, IndexError):
                continue
            if isinstance(first, ast.Call):
                nodes: list[ast.expr] = first.args
            elif len(names) == 1:
                nodes = [first]
            else:
                nodes = first.elts if isinstance(first, ast.Tuple | ast.List) else []
            for name, node in zip(names, nodes, strict=False):
                try:
                    values[name] = ast.literal_eval(node)
                except ValueError:
                    continue
    return values


def called_with(calls: TorchCalls, candidate: Candidate) -> dict[str, Any]:
    """What the file passes to the functions that build a program."""
    found: dict[str, Any] = {}
    for around in candidate.around:
        if isinstance(around, ast.FunctionDef):
            found |= calls.arguments_of(around)
    return found


if __name__ == "__main__":
    sys.exit(main())
