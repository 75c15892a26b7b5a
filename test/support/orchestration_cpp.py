"""
Runs the C++ of an orchestration function against a runtime that only records, and compares what it
submits with what the task graph of the same function says.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.scf import ForOp

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph import TaskNode, record
from pypto_xdsl.analysis.task_map import PREDICATE, EdgeKind
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.dialects.orch import DispatchOp, FuncOp, FunctionKind, is_sequential
from pypto_xdsl.dialects.ptensor.types import is_tensor_type
from pypto_xdsl.targets.orchestration import OrchestrationTarget
from pypto_xdsl.targets.orchestration.kernels import Kernels
from pypto_xdsl.targets.orchestration.scalars import data_type

RUNTIME = Path(__file__).parent / "orchestration_runtime"
COMPILER = shutil.which("g++") or shutil.which("clang++")
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", str(RUNTIME))
UNKNOWN_EXTENT = 64
"""The extents of dimensions that the program leaves to run time."""


def orchestrations(module: ModuleOp) -> list[FuncOp]:
    """The orchestration functions that a module has."""
    return [
        function
        for function in CallGraph(module).functions
        if function.kind.data is FunctionKind.ORCHESTRATION and not function.is_declaration
    ]


def generate(module: ModuleOp, function: str = "") -> str:
    """The C++ of a function."""
    output = StringIO()
    with collecting():
        OrchestrationTarget(function=function).emit(Context(), module, output)
    return output.getvalue()


def check_syntax(text: str, scratch: Path) -> None:
    """Let the compiler look at a file; no warning is let through."""
    source = scratch / "orchestration.cpp"
    source.write_text(text)
    assert COMPILER is not None
    command = [COMPILER, *FLAGS, "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{done.stderr}\n{text}"


def submitted(
    text: str,
    function: FuncOp,
    scratch: Path,
    scalars: Mapping[str, int] | None = None,
    contents: Mapping[str, Sequence[int]] | None = None,
) -> list[dict[str, Any]]:
    """
    What a file submits when it is run, in order.

    `scalars` are values of scalar parameters by name, zero where none is given; `contents` are the
    bytes of tensors.
    """
    source, program = scratch / "orchestration.cpp", scratch / "orchestration"
    source.write_text(text + _main(function, scalars or {}, contents or {}))
    assert COMPILER is not None
    done = subprocess.run(
        [COMPILER, *FLAGS, str(source), "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, f"{done.stderr}\n{text}"
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert not ran.returncode, f"{ran.stderr}\n{text}"
    return [json.loads(line) for line in ran.stdout.splitlines()]


def _main(
    function: FuncOp, scalars: Mapping[str, int], contents: Mapping[str, Sequence[int]]
) -> str:
    lines = ["int main() {", "ChipTaskArgs args;"]
    for position, parameter in enumerate(function.parameters):
        name = parameter.name_hint or f"arg{position}"
        if is_tensor_type(type := parameter.type):
            shape = [UNKNOWN_EXTENT if n == DYNAMIC_INDEX else n for n in type.get_shape()]
            extents = ", ".join(map(str, shape))
            given = contents.get(name)
            memory = "nullptr"
            lines.append("{")
            if given is not None:
                lines.append(f"uint8_t bytes[] = {{{', '.join(map(str, given))}}};")
                memory = "bytes"
            lines.append(f"uint32_t shape[] = {{{extents}}};")
            lines.append(
                f'args.tensors.push_back(Recorder::get().external("%{name}", shape, {len(shape)}, '
                f"{data_type(type.element_type)}, {memory}));"
            )
            lines.append("}")
        else:
            value = scalars.get(name, 0) & (1 << 64) - 1
            lines.append(f"args.scalars.push_back(UINT64_C({value}));")
    count = len(function.parameters)
    lines.append(f"if (aicpu_orchestration_config(args).expected_arg_count != {count}) return 4;")
    lines += ["aicpu_orchestration_entry(args);", "return 0;", "}"]
    return "\n".join(lines) + "\n"


def assert_same_tasks(
    module: ModuleOp,
    function: FuncOp,
    log: Sequence[Mapping[str, Any]],
    scalars: Mapping[str, int] | None = None,
) -> int:
    """
    Compare what a file submitted with the task graph of its function, task by task: kernels by
    kind, arguments with buffer, window and direction, dependencies, scopes.

    Gives the number of tasks; 0 where the graph depends on what only a run knows.
    """
    lineage = ReturnLineage(CallGraph(module))
    graph = record(function, lineage, scalars)
    if any(task.is_conditional for task in graph.tasks):
        return 0
    kernels = Kernels(module, lineage)
    is_parallel = any(isinstance(op, ForOp) and not is_sequential(op) for op in walk(function))
    explicit: dict[int, set[int]] = {}
    for edge in graph.edges:
        if edge.kind is EdgeKind.EXPLICIT:
            explicit.setdefault(edge.consumer, set()).add(edge.producer)
    # A dummy that waits for nothing is not submitted.
    wanted = [
        task
        for task in graph.tasks
        if not task.is_allocation and (task.name != "dummy" or explicit.get(task.number))
    ]
    got = [entry for entry in log if not (entry["dummy"] and not entry["deps"])]
    assert len(got) == len(wanted), [task.name for task in wanted]
    ids = {entry["id"]: task.number for entry, task in zip(got, wanted, strict=True)}
    buffers: dict[str, object] = {}
    for entry, task in zip(got, wanted, strict=True):
        _assert_same_task(entry, task, kernels, buffers)
        deps = {ids[dep] for dep in entry["deps"] if dep in ids}
        named = explicit.get(task.number, set()) & set(ids.values())
        # In a manual scope whoever waits for a parallel loop waits for every iteration of it.
        assert deps >= named, (task.name, entry)
        assert deps == named or (task.is_manual and is_parallel), (task.name, entry)
    return len(got)


def _assert_same_task(
    entry: Mapping[str, Any], task: TaskNode, kernels: Kernels, buffers: dict[str, object]
) -> None:
    assert entry["dummy"] == (task.name == "dummy")
    assert entry["manual"] == task.is_manual, task.name
    accesses = [access for access in task.accesses if access.name != PREDICATE]
    arguments = [argument for argument in entry["arguments"] if argument["direction"] != "output"]
    if isinstance(task.op, DispatchOp) and len(accesses) == len(arguments):
        # A wrapper hands on its parameters in an order of its own.
        tensors = [n for n, a in enumerate(task.op.arguments) if is_tensor_type(a.type)]
        order = [a.position for a in kernels.launch(task.op).arguments]
        accesses = [accesses[tensors.index(n)] for n in order if n is not None and n in tensors]
    assert len(arguments) == len(accesses), (task.name, entry)
    for argument, access in zip(arguments, accesses, strict=True):
        handle = access.handle
        where = (task.name, access.name, argument, handle)
        known = buffers.setdefault(argument["buffer"], handle.buffer)
        assert known is handle.buffer, where
        if handle.buffer.owner is None:
            assert argument["buffer"] == handle.buffer.name, where
        assert argument["direction"] == access.direction.value, where
        _assert_known(argument["start"], handle.start, where)
        assert len(argument["shape"]) == len(handle.shape), where
        for have, want in zip(argument["shape"], handle.shape, strict=True):
            _assert_known(have, want, where)
        for have, want in zip(argument["strides"], handle.strides, strict=True):
            _assert_known(have, want, where)


def _assert_known(have: int, want: int | None, where: object) -> None:
    assert want is None or have == want, where
