"""
The task graph of each orchestration function, as DOT or as JSON.

    pypto-opt --derive-call-directions -t task-graph in.mlir | dot -Tsvg > graph.svg
    pypto-opt --derive-call-directions -t 'task-graph{format="json"}' in.mlir

The graph is the one that the runtime would build, see `analysis/task_graph.py`. Each edge says
which task waits for which, because of which buffer, and why. Of a graph with many tasks, all that
one call launches are shown as one, with how many they are, unless `tasks="each"` asks for all.
Solid edges come from buffers, bold ones from `deps`; dashed ones depend on what only a run knows.

Loops are followed trip by trip. One whose trips make the graph too large is an error at once, with
its place: `scalars` gives bounds that are parameters smaller numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph import TaskGraph, TaskNode, record
from pypto_xdsl.analysis.task_map import Access, Edge, EdgeKind
from pypto_xdsl.diagnostics import DiagnosticsError, diagnose, file_line_col
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.properties.checked_pass import CheckedTarget
from pypto_xdsl.syntax.spelling import did_you_mean

ON_A_PAGE = 50
"""A graph of more tasks is summarised, call by call."""


@dataclass(frozen=True)
class TaskGraphTarget(CheckedTarget):
    """Writes what the runtime would make of an orchestration function: tasks and their order."""

    name = "task-graph"
    required = ("NormalizedStmtStructure", "SplitIncoreOrch", "CallDirectionsResolved")

    function: str = ""
    """The function to write; all orchestration functions if empty."""
    format: Literal["dot", "json"] = "dot"
    tasks: Literal["auto", "each", "calls"] = "auto"
    """Shows each task, or the tasks of each call as one; `auto` does the first for small graphs."""
    allocations: bool = False
    """Shows the allocations of buffers, which tasks wait for as well, but are complete at once."""
    scalars: str = ""
    """Values of scalar parameters, `"n=4,m=2"`, so that loops and branches are followed exactly."""

    def write(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """
        Raises `DiagnosticsError` for an unknown function, and for a graph that is too large.
        """
        lineage = ReturnLineage(CallGraph(module))
        functions = self._chosen(module, lineage.calls)
        scalars = _parse_scalars(self.scalars, module)
        drawings = [self._drawing(record(function, lineage, scalars)) for function in functions]
        if self.format == "json":
            output.write('{"functions": [\n')
            output.write(",\n".join(drawing.as_json() for drawing in drawings))
            output.write("\n]}\n")
        else:
            for drawing in drawings:
                output.writelines(drawing.as_dot())

    def _chosen(self, module: ModuleOp, calls: CallGraph) -> list[FuncOp]:
        functions = [function for function in calls.functions if function.is_orchestration]
        if not self.function:
            if not functions:
                raise DiagnosticsError((diagnose(module, "has no orchestration function"),))
            return functions
        for function in calls.functions:
            if function.sym_name.data == self.function and not function.is_declaration:
                return [function]
        hint = did_you_mean(self.function, (f.sym_name.data for f in functions))
        raise DiagnosticsError(
            (diagnose(module, f"has no function '{self.function}' with a body{hint}"),)
        )

    def _drawing(self, graph: TaskGraph) -> _Drawing:
        shown = [task for task in graph.tasks if self.allocations or not task.is_allocation]
        as_calls = self.tasks == "calls" or (self.tasks == "auto" and len(shown) > ON_A_PAGE)
        nodes: dict[Operation | int, _Node] = {}
        node_of: dict[int, _Node] = {}
        for task in shown:
            key = task.op if as_calls else task.number
            node = nodes.setdefault(key, _Node(len(nodes) if as_calls else task.number, []))
            node.tasks.append(task)
            node_of[task.number] = node
        edges: dict[tuple[int, int, EdgeKind, str], _Arrow] = {}
        for edge in graph.edges:
            if edge.producer not in node_of:
                continue
            producer, consumer = node_of[edge.producer], node_of[edge.consumer]
            key = (producer.number, consumer.number, edge.kind, edge.buffer)
            edges.setdefault(key, _Arrow(producer, consumer, [])).edges.append(edge)
        return _Drawing(graph, list(nodes.values()), list(edges.values()))


@dataclass
class _Node:
    """A task, or the tasks that one call launches."""

    number: int
    tasks: list[TaskNode]


@dataclass
class _Arrow:
    """An edge, or those between the tasks of two calls for one reason."""

    producer: _Node
    consumer: _Node
    edges: list[Edge]


@dataclass
class _Drawing:
    graph: TaskGraph
    nodes: list[_Node]
    arrows: list[_Arrow]

    # JSON.

    def as_json(self) -> str:
        """A task or an edge a line."""
        tasks = ",\n".join("    " + json.dumps(_json_task(node)) for node in self.nodes)
        edges = ",\n".join("    " + json.dumps(_json_edge(arrow)) for arrow in self.arrows)
        name = json.dumps(self.graph.function.sym_name.data)
        return f'{{"name": {name},\n  "tasks": [\n{tasks}],\n  "edges": [\n{edges}]}}'

    # DOT.

    def as_dot(self) -> Iterator[str]:
        yield f"digraph {_quoted(self.graph.function.sym_name.data)} {{\n"
        yield '  node [shape=box, fontname="monospace"];\n'
        yield '  edge [fontname="monospace"];\n'
        for node in self.nodes:
            yield f"  t{node.number} [{_dot_task(node)}];\n"
        for arrow in self.arrows:
            yield f"  t{arrow.producer.number} -> t{arrow.consumer.number} [{_dot_edge(arrow)}];\n"
        yield "}\n"


def _json_task(node: _Node) -> Mapping[str, object]:
    first = node.tasks[0]
    found: dict[str, object] = {"id": node.number, "callee": first.name, "location": _place(first)}
    if len(node.tasks) > 1:
        found["count"] = len(node.tasks)
    elif first.trips:
        found["trips"] = list(first.trips)
    found |= {
        "conditional": any(task.is_conditional for task in node.tasks),
        "manual": first.is_manual,
        "ring": first.ring,
        "arguments": [_json_access(access) for access in first.accesses],
    }
    return found


def _json_access(access: Access) -> Mapping[str, object]:
    handle = access.handle
    return {
        "name": access.name,
        "direction": access.direction.value,
        "buffer": handle.buffer.name,
        "start": handle.start,
        "shape": list(handle.shape),
        "strides": list(handle.strides),
    }


def _json_edge(arrow: _Arrow) -> Mapping[str, object]:
    first = arrow.edges[0]
    found: dict[str, object] = {
        "producer": arrow.producer.number,
        "consumer": arrow.consumer.number,
        "kind": first.kind.value,
        "buffer": first.buffer or None,
        "why": first.why,
        "certain": all(edge.is_certain for edge in arrow.edges),
        "retains": any(edge.retains for edge in arrow.edges),
    }
    if len(arrow.edges) > 1:
        found["count"] = len(arrow.edges)
    return found


def _dot_task(node: _Node) -> str:
    first = node.tasks[0]
    title = f"{node.number}: {first.name}"
    if len(node.tasks) > 1:
        title += f" x{len(node.tasks)}"
    elif first.trips:
        title += f" {list(first.trips)}"
    place = _place(first)
    if place:
        title += f"\n{place}"
    label = f"label={_quoted(title)}"
    if any(task.is_conditional for task in node.tasks):
        label += ", style=dashed"
    return label


def _dot_edge(arrow: _Arrow) -> str:
    first = arrow.edges[0]
    text = first.buffer if first.kind is not EdgeKind.EXPLICIT else "deps"
    if len(arrow.edges) > 1:
        text += f" x{len(arrow.edges)}"
    parts = [f"label={_quoted(text)}", f"tooltip={_quoted(first.why)}"]
    if not all(edge.is_certain for edge in arrow.edges):
        parts.append("style=dashed")
    elif first.kind is EdgeKind.EXPLICIT:
        parts.append("style=bold")
    return ", ".join(parts)


def _place(task: TaskNode) -> str:
    found = file_line_col(task.op.location)
    return "" if found is None else f"{found[0]}:{found[1]}:{found[2]}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _parse_scalars(text: str, module: ModuleOp) -> dict[str, int]:
    """`n=4,m=2` as names and values."""
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, equals, number = part.partition("=")
        try:
            found[name.strip().removeprefix("%")] = int(number)
        except ValueError:
            equals = ""
        if not equals:
            raise DiagnosticsError(
                (diagnose(module, f"scalars are given as 'n=4,m=2', not as '{part}'"),)
            )
    return found
