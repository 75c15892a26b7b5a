"""
inject-gm-pipe-buffer: gives the rings between cube and vector cores their slots in global memory.

The cores of a 910B share no memory: a tile that one pushes lies in a slot in global memory until
the other pops it. Every kernel that sets a ring up gets a tensor for the slots as its last
parameter, the kernels of a group the same one; who launches the group makes it:

    orch.func aic @cube(..., out %gm_pipe_buffer : tensor<4096xf32>) {
      tile.aic_initialize_pipe %c2v, %v2c, %gm_pipe_buffer, dir_mask = 3, ...

    orch.func group @mixed(..., out %gm_pipe_buffer : tensor<4096xf32>) {
      orch.call @cube(..., %gm_pipe_buffer)
      orch.call @vector(..., %gm_pipe_buffer)

    orch.func orchestration @main(...) {
      %gm_pipe_buffer = ptensor.create : tensor<4096xf32>
      orch.call @mixed(..., %gm_pipe_buffer)

A group that is launched on several cores at once would need slots for each: it is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.ptensor import tensor_type
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.output_parameters import (
    OutputParameters,
    append_arguments,
    append_parameter,
)
from pypto_xdsl.syntax.op_syntax import segments_property

_HINT = "gm_pipe_buffer"


@dataclass(frozen=True)
class InjectGmPipeBufferPass(CheckedPass):
    """Give the rings between cube and vector cores their slots in global memory."""

    name = "inject-gm-pipe-buffer"
    required = ("SSAForm",)
    produced = ("SSAForm",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        graph = CallGraph(module)
        groups: dict[orch.FuncOp, list[orch.FuncOp]] = {}
        rings: dict[orch.FuncOp, list[tile.InitializePipeOp]] = {}
        for kernel in kernels(module):
            rings[kernel] = [
                op
                for op in walk(kernel)
                if isinstance(op, tile.InitializePipeOp) and op.gm_slot_buffer is None
            ]
            if rings[kernel]:
                groups.setdefault(_group_of(kernel, graph), []).append(kernel)
        outputs = OutputParameters(module)
        for group, members in groups.items():
            _expect_one_launch(group, graph)
            sizes: dict[int, int] = {}
            for ring in (ring for kernel in members for ring in rings[kernel]):
                sizes[_id(ring)] = max(sizes.get(_id(ring), 0), ring.ring_size)
            for number, size in sizes.items():
                type = tensor_type((-(-size // 4),), f32)
                buffer = outputs.add(group, type, _HINT)
                buffer.name_hint = _HINT
                for kernel in members:
                    _give(kernel, [r for r in rings[kernel] if _id(r) == number], buffer, graph)
        outputs.update_callers()


def _id(ring: tile.InitializePipeOp) -> int:
    """Which of the rings of a group an end belongs to."""
    return 0 if ring.id is None else ring.id.value.data


def _give(
    kernel: orch.FuncOp,
    rings: Sequence[tile.InitializePipeOp],
    buffer: SSAValue,
    graph: CallGraph,
) -> None:
    """Give a kernel the slots of its end of a ring, from its group."""
    if not rings:
        return
    own = append_parameter(kernel, buffer.type, _HINT)
    for use in graph.uses_of(kernel):
        append_arguments(use, [buffer])
    for ring in rings:
        ends = ring.c2v_consumer_buf, ring.v2c_consumer_buf
        Rewriter.replace_op(
            ring,
            type(ring).create(
                operands=[*(end for end in ends if end is not None), own],
                properties={
                    **ring.properties,
                    **segments_property((*(int(end is not None) for end in ends), 1)),
                },
                attributes=ring.attributes,
                location=ring.location,
            ),
        )


def _expect_one_launch(group: orch.FuncOp, graph: CallGraph) -> None:
    for use in graph.uses_of(group):
        caller = graph.caller(use)
        if use.launch is not None or caller.kind.data is FunctionKind.SPMD:
            raise OpError(
                use,
                f"launches '{group.sym_name.data}' on several cores at once, whose ring between "
                "cube and vector cores has slots for one",
            )
        if caller.kind.data.is_wrapper:
            _expect_one_launch(caller, graph)


def _group_of(kernel: orch.FuncOp, graph: CallGraph) -> orch.FuncOp:
    """The group whose cube core and vector cores run together with a kernel."""
    callers = {graph.caller(use): use for use in graph.uses_of(kernel)}
    if len(callers) != 1 or next(iter(callers)).kind.data is not FunctionKind.GROUP:
        raise OpError(
            kernel,
            "sets a ring to another core up, and is used by "
            f"{len(callers)} functions: kernels that share a ring belong to one group",
        )
    return next(iter(callers))
