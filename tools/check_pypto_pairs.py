"""
Reads the programs of a checkout of PyPTO, prints them back, and compares passes.

    python tools/check_pypto_pairs.py PATH/TO/pypto/tests/ut/ir/transforms [--failures]
    python tools/check_pypto_pairs.py PATH/TO/pypto/examples PATH/TO/pypto-lib/models

For each file: how many programs it holds, how many are read and verified, with the structural
properties that `pypto-opt` checks at the start, how many come back the
same after printing and reading, and, where a test has the classes `Before` and `Expected`, on how
many of these pairs our passes of the names that the test runs agree (`tested_passes` finds out
which these are, for either program). A `Before` that the test expects to stay as it is counts as
well. Programs are compared up to the names of values and the place of constants; tiles that are
loaded without a memory space count as tiles of the vector buffer, as PyPTO has it by default.
After passes that lower kernels, the order of independent ops and repeated computations do not
count either, nor after passes that fuse buffers the names of a buffer (`normal_form`).

Programs that are refused on purpose (`refused_on_purpose`) are counted apart. Pairs of these, and
pairs that do not agree for a reason that we know (`pypto_differences.txt`), are counted as known.
What no text settles about a program is in `pypto_arguments.txt`.
"""

from __future__ import annotations

import argparse
import ast
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from normal_form import (
    fold_constant_indices,
    hand_out_what_is_used,
    in_canonical_order,
    in_order_of_definition,
    without_names,
    without_writers,
)
from refused_on_purpose import purpose
from tested_passes import Comparison, Made, PassCall, comparisons
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, collecting
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.storage import AllocOp
from pypto_xdsl.frontend.pl import (
    parse_argument_types,
    parse_defines,
    read_program,
    read_source,
)
from pypto_xdsl.frontend.pl.discovery import Candidate, find_programs
from pypto_xdsl.frontend.pl.source import Source, dotted_name
from pypto_xdsl.frontend.pl.static_values import DType
from pypto_xdsl.frontend.pl.vocabulary import DTYPES
from pypto_xdsl.properties.holding import violations
from pypto_xdsl.properties.registry import structural_properties
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

NAMING_PASSES = frozenset(("fuse_create_assemble_to_slice",))
"""Passes after which a buffer may go by fewer names than it has with us."""


@dataclass
class Count:
    """What was found in a file."""

    programs: int = 0
    apart: int = 0
    """Programs that are refused on purpose."""
    read: int = 0
    same: int = 0
    pairs: int = 0
    agreed: int = 0
    known: int = 0
    """Pairs that differ, or are not read, for a reason that is written down."""
    failures: list[str] = field(default_factory=list[str])
    reasons: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: Count) -> None:
        self.programs += other.programs
        self.apart += other.apart
        self.read += other.read
        self.same += other.same
        self.pairs += other.pairs
        self.agreed += other.agreed
        self.known += other.known
        self.reasons += other.reasons

    def fail(self, kind: str, where: str, reason: str) -> None:
        self.reasons[f"{kind}: {reason}"] += 1
        self.failures.append(f"{kind}: {where}: {reason}")

    def row(self, name: str) -> str:
        return (
            f"{name:48} {self.programs:5} {self.apart:5} {self.read:5} {self.same:5} "
            f"{self.pairs:5} {self.agreed:5} {self.known:5}"
        )


_COLUMNS = ("progs", "apart", "read", "same", "pairs", "agree", "known")
HEAD = " ".join([f"{'file':48}", *(f"{column:>5}" for column in _COLUMNS)])
ARGUMENTS = Path(__file__).with_name("pypto_arguments.txt")
DIFFERENCES = Path(__file__).with_name("pypto_differences.txt")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Read the programs of a checkout of PyPTO, and compare passes."
    )
    parser.add_argument("paths", nargs="+", type=Path, help="files, or folders of them")
    parser.add_argument("--failures", action="store_true", help="list every failure")
    parser.add_argument("--reasons", type=int, default=0, help="show the most frequent reasons")
    given = parser.parse_args(arguments)
    for path in given.paths:
        if not path.exists():
            parser.error(f"there is no {path}")
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
    apart: set[str] = set()
    candidates = {candidate.name: candidate for candidate in find_programs(source)}
    for name, candidate in candidates.items():
        count.programs += 1
        before = count.apart
        module = _read(source, candidate, count)
        if count.apart > before:
            apart.add(name)
        if module is None:
            continue
        count.read += 1
        modules[name] = module
        if reason := round_trip(module):
            count.fail("print", f"{name}:{candidate.line}", reason)
        else:
            count.same += 1
    for name, candidate in candidates.items():
        if name.rpartition(".")[2] != "Before":
            continue
        outer = name.removesuffix("Before")
        tested = comparison_of(source, candidate, f"{outer}Expected" in candidates)
        if tested is not None:
            known = known_difference(path.name, name)
            if any(f"{outer}{side.program}" in apart for side in (tested.left, tested.right)):
                known = "one of the two is refused on purpose"
            _compare_pair(candidate, outer, tested, modules, known, count)
    return count


def _read(source: Source, candidate: Candidate, count: Count) -> ModuleOp | None:
    where = f"{candidate.name}:{candidate.line}"
    try:
        defines, types = given_for(source, candidate)
        module = read_program(source, candidate, parametrized(candidate) | defines, types)
        if errors := problems(module):
            raise DiagnosticsError(errors)
    except DiagnosticsError as e:
        message = e.diagnostics[0].message
        reason = purpose(candidate, message)
        if reason is None:
            count.fail("read", where, message)
        else:
            count.apart += 1
            count.fail("apart", where, reason)
        return None
    except Exception:
        count.fail("read", where, f"CRASH {traceback.format_exc().splitlines()[-1]}")
        return None
    return module


def problems(module: ModuleOp) -> list[Diagnostic]:
    """What `pypto-opt` finds wrong with a program that it is given."""
    if errors := verify(module):
        return list(errors)
    verdicts = violations(structural_properties(), module)
    return [error for verdict in verdicts.values() for error in verdict]


def given_for(source: Source, candidate: Candidate) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is known of a program beside its text: constants, and types of parameters."""
    for line in ARGUMENTS.read_text().splitlines():
        path, _, rest = line.partition(" ")
        name, *options = rest.split()
        if not source.name.endswith(path) or name != candidate.name:
            continue
        pairs = list(zip(options[::2], options[1::2], strict=True))
        context = Context()
        context.load_dialect(Builtin)
        return (
            parse_defines(source, [value for word, value in pairs if word == "--define"]),
            parse_argument_types(
                context, source, [value for word, value in pairs if word == "--arg-type"]
            ),
        )
    return {}, {}


def round_trip(module: ModuleOp) -> str | None:
    """Why a module does not come back the same; None if it does."""
    try:
        text = program_text(module)
        source = read_source(text.encode(), "<printed>")
        (candidate,) = find_programs(source)
        again = read_program(source, candidate)
        if errors := problems(again):
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
    """
    A copy with functions by name, buffers and each constant once at the start, no vector space, no
    branch in which nothing happens, no result of a scope that nobody uses.
    """
    module = module.clone()
    module.sym_name = None
    functions = [op for op in module.body.block.ops if isinstance(op, orch.FuncOp)]
    for function in functions:
        _forget_empty_branches(function)
        fold_constant_indices(function)
        _gather_buffers(function)
        _gather_constants(function)
        without_writers(function)
        hand_out_what_is_used(function)
        scopes = [op for op in walk(function) if isinstance(op, orch.ScopeOp)]
        for op in reversed(scopes):
            # Those inside first: what they hand out is what those around do.
            in_order_of_definition(op)
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


def _forget_empty_branches(function: orch.FuncOp) -> None:
    """Take out branches in which nothing happens."""
    for op in walk(function):
        if not isinstance(op, scf.IfOp) or op.results:
            continue
        block = op.false_region.blocks.first
        if block is not None and isinstance(block.first_op, scf.YieldOp):
            op.false_region.detach_block(block)
            block.erase()


def _gather_buffers(function: orch.FuncOp) -> None:
    """Declare buffers at the start, by their names."""
    found = [op for op in walk(function) if isinstance(op, AllocOp)]
    for op in sorted(found, key=lambda op: op.buffer.data, reverse=True):
        block = function.body.block
        op.detach()
        first = block.first_op
        assert first is not None
        block.insert_op_before(op, first)


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


def comparison_of(source: Source, candidate: Candidate, is_pair: bool) -> Comparison | None:
    """
    What the test around a `Before` compares it with: `Expected`, or itself without the passes.

    Where the test cannot be followed, the passes are those that it mentions, or that of the file.
    """
    for tested in comparisons(source, candidate):
        sides = (tested, Comparison(tested.right, tested.left))
        for side in sides:
            left, right = side.left, side.right
            programs = ("Before", "Expected" if is_pair else "Before")
            is_more = is_pair or len(left.passes) > len(right.passes)
            if (left.program, right.program) == programs and is_more:
                ours = Comparison(_ours(left), _ours(right))
                if ours.left.passes and all(_is_ours(p) for p in ours.left.passes):
                    return ours
    if not is_pair:
        return None
    of_file = Path(source.name).stem.removeprefix("test_").removesuffix("_pass")
    passes = [PassCall(name) for name in mentioned_passes(candidate) or [of_file]]
    return Comparison(Made("Before", tuple(passes)), Made("Expected"))


def _is_ours(called: PassCall) -> bool:
    return _kebab(called.name) in PYPTO_UNIVERSE.all_passes


def _ours(made: Made) -> Made:
    return Made(made.program, tuple(p for p in made.passes if p.name not in READER_PASSES))


def _compare_pair(
    before: Candidate,
    outer: str,
    tested: Comparison,
    modules: dict[str, ModuleOp],
    known: str | None,
    count: Count,
) -> None:
    if not all(_is_ours(p) for p in tested.left.passes):
        return
    count.pairs += 1
    where = f"{outer}{tested.left.program}:{before.line}"
    wrong = _difference(outer, tested, modules)
    if wrong is None:
        count.agreed += 1
    elif known is None:
        count.fail("pair", where, wrong)
    else:
        count.known += 1
        count.fail("known", where, known)


def known_difference(file: str, program: str) -> str | None:
    """Why a pair of a file differs on purpose, None if it should agree."""
    for line in DIFFERENCES.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        files, programs, reason = line.split(maxsplit=2)
        if fnmatchcase(file, files) and fnmatchcase(program, programs):
            return reason
    return None


def _difference(outer: str, tested: Comparison, modules: dict[str, ModuleOp]) -> str | None:
    """What is wrong with a pair, None if it agrees."""
    passes = [p.name for p in tested.left.passes]
    made: list[ModuleOp] = []
    for side in (tested.left, tested.right):
        if (module := modules.get(f"{outer}{side.program}")) is None:
            return "one of the two is not read"
        made.append(module.clone())
        try:
            with collecting():
                run_passes(made[-1], side.passes)
        except DiagnosticsError as e:
            return f"{passes[-1]}: {e.diagnostics[0].message}"
        except Exception:
            return f"CRASH {traceback.format_exc().splitlines()[-1]}"
    after, wanted = made
    return None if _agree(after, wanted, passes) else f"{','.join(passes)}: the result differs"


def _agree(after: ModuleOp, wanted: ModuleOp, passes: Sequence[str]) -> bool:
    if same(after, wanted):
        return True
    if not LOWERING_PASSES.isdisjoint(passes):
        return same(reordered(after), reordered(wanted))
    if not NAMING_PASSES.isdisjoint(passes):
        after, wanted = after.clone(), wanted.clone()
        without_names(after)
        without_names(wanted)
        return same(after, wanted)
    return False


def _kebab(name: str) -> str:
    return name.replace("_", "-")


def run_passes(module: ModuleOp, passes: Sequence[PassCall]) -> None:
    """
    Run our passes of these names, for the 910B unless they run for no target, with the options that
    they have as well.
    """
    context = Context()
    for name, dialect in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, dialect)
    if all(called.has_target for called in passes):
        module.attributes["pto.target_arch"] = StringAttr("a2a3")
    for called in passes:
        pass_type = PYPTO_UNIVERSE.all_passes[_kebab(called.name)]()
        known = {field.name for field in fields(pass_type)}
        options = {name: value for name, value in called.options if name in known}
        pass_type(**options).apply(context, module)
    module.attributes.pop("pto.target_arch", None)


def mentioned_passes(candidate: Candidate) -> list[str]:
    """The passes that the test around a program mentions, in the order of the text."""
    if not candidate.around:
        return []
    found: list[tuple[int, str]] = []
    for node in ast.walk(candidate.around[-1]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            path = dotted_name(node.func.func)
            if path is not None and len(path) >= 2 and path[-2] == "passes":
                found.append((node.lineno, path[-1]))
    return [n for n in dict.fromkeys(name for _, name in sorted(found)) if n not in READER_PASSES]


def parametrized(candidate: Candidate) -> dict[str, Any]:
    """
    The first values that `pytest.mark.parametrize` gives to names around a program, where one can
    be told for all of them; of others what can be told.
    """
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
                sets = cast(ast.List, decorator.args[1]).elts
            except (ValueError, AttributeError):
                continue
            found: list[dict[str, Any]] = []
            for one in sets:
                if isinstance(one, ast.Call):
                    nodes: list[ast.expr] = one.args
                elif len(names) == 1:
                    nodes = [one]
                else:
                    nodes = one.elts if isinstance(one, ast.Tuple | ast.List) else []
                given = {n: _parameter(node) for n, node in zip(names, nodes, strict=False)}
                found.append({n: value for n, value in given.items() if value is not _UNTOLD})
            whole = (one for one in found if len(one) == len(names))
            values |= next(whole, found[0] if found else {})
    return values


_UNTOLD = object()


def _parameter(node: ast.expr) -> Any:
    """A constant or a dtype that a test is given, `_UNTOLD` for anything else."""
    path = dotted_name(node)
    if path is not None and path[-1] in DTYPES:
        return DType(path[-1], DTYPES[path[-1]])
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _UNTOLD


if __name__ == "__main__":
    sys.exit(main())
