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

A group that is launched on several cores at once has slots for each, one block behind the other:

    orch.func aic @cube(..., out %gm_pipe_buffer : tensor<16384xf32>) {
      %block = tile.get_block_idx : index
      %start = arith.muli %block, %c4096 : index
      %own = ptensor.slice %gm_pipe_buffer[%start] : tensor<16384xf32> -> tensor<4096xf32>
      tile.aic_initialize_pipe %c2v, %v2c, %own, dir_mask = 3, ...

On how many has to be bounded by a number that the program says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.integer_ranges import IntegerRanges
from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.ptensor import tensor_type
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.locating import locate
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
            blocks = _blocks(group, graph)
            sizes: dict[int, int] = {}
            for ring in (ring for kernel in members for ring in rings[kernel]):
                sizes[_id(ring)] = max(sizes.get(_id(ring), 0), ring.ring_size)
            for number, size in sizes.items():
                elements = -(-size // 4)
                type = tensor_type((blocks * elements,), f32)
                buffer = outputs.add(group, type, _HINT)
                buffer.name_hint = _HINT
                for kernel in members:
                    ends = [r for r in rings[kernel] if _id(r) == number]
                    _give(kernel, ends, buffer, elements, graph)
        outputs.update_callers()


def _id(ring: tile.InitializePipeOp) -> int:
    """Which of the rings of a group an end belongs to."""
    return 0 if ring.id is None else ring.id.value.data


def _give(
    kernel: orch.FuncOp,
    rings: Sequence[tile.InitializePipeOp],
    buffer: SSAValue,
    elements: int,
    graph: CallGraph,
) -> None:
    """Give a kernel the slots of its end of a ring, from its group; so many elements a block."""
    if not rings:
        return
    all_blocks = append_parameter(kernel, buffer.type, _HINT)
    for use in graph.uses_of(kernel):
        append_arguments(use, [buffer])
    for ring in rings:
        own = _of_this_block(all_blocks, elements, ring)
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


def _of_this_block(buffer: SSAValue, elements: int, ring: Operation) -> SSAValue:
    """The slots of the block that this core belongs to."""
    type = tensor_type((elements,), f32)
    if buffer.type == type:
        return buffer
    block = tile.GetBlockIdxOp()
    size = arith.ConstantOp.from_int_and_width(elements, IndexType())
    start = arith.MuliOp(block.result, size.result)
    own = ptensor.SliceOp(buffer, (start.result,), type)
    own.result.name_hint = f"{_HINT}_block"
    for op in (block, size, start, own):
        locate(ring.location, op)
        Rewriter.insert_op(op, InsertPoint.before(ring))
    return own.result


def _blocks(group: orch.FuncOp, graph: CallGraph) -> int:
    """
    How many blocks of a group one launch has at most.

    Raises `OpError` for a launch on a number of cores that nothing bounds.
    """
    most = 1
    for use in graph.uses_of(group):
        if use.launch is not None:
            bound = IntegerRanges().of(use.launch).high
            if bound is None:
                raise OpError(
                    use,
                    f"launches '{group.sym_name.data}' on a number of cores that is known at run "
                    "time only, and the ring between its cube and vector cores needs slots for "
                    "each: launch it on a constant number, or on the minimum with one",
                    [note(use.launch, "the number is made here")],
                )
            most = max(most, bound)
        elif (caller := graph.caller(use)).kind.data.is_wrapper:
            most = max(most, _blocks(caller, graph))
    return most


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
