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

Where a number of the program bounds on how many, the tensor has slots for the most that a launch
has. Else each launch makes it for as many as it has, which is known when it is launched:

    orch.func orchestration @main(in %n : index, ...) {
      %extent = arith.muli %n, %c4096 : index
      %gm_pipe_buffer = ptensor.create [%extent] : tensor<?xf32>
      orch.call @mixed(..., %gm_pipe_buffer) launch %n

The cores that the target has would bound nothing: a launch may be on more blocks than there are
cores, and those that wait for a core have their slots as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, ModuleOp, f32
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
from pypto_xdsl.rewriting.index_sums import multiply
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.rewriting.output_parameters import (
    OutputParameters,
    append_arguments,
    append_parameter,
)
from pypto_xdsl.syntax.lists import Index
from pypto_xdsl.syntax.op_syntax import segments_property

_HINT = "gm_pipe_buffer"


@dataclass(frozen=True)
class InjectGmPipeBufferPass(CheckedPass):
    """Give the rings between cube and vector cores their slots in global memory."""

    name = "inject-gm-pipe-buffer"
    required = ("SSAForm", "SplitIncoreOrch")
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
            blocks = _Blocks(group, graph)
            sizes: dict[int, int] = {}
            for ring in (ring for kernel in members for ring in rings[kernel]):
                sizes[_id(ring)] = max(sizes.get(_id(ring), 0), ring.ring_size)
            for number, size in sizes.items():
                elements = -(-size // 4)
                extent = DYNAMIC_INDEX if blocks.most is None else blocks.most * elements
                type = tensor_type((extent,), f32)
                buffer = outputs.add(group, type, _HINT, partial(_extents, blocks, elements))
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


def _extents(blocks: _Blocks, elements: int, use: orch.DispatchOp) -> Sequence[Index]:
    """The extents of the slots that a use is given, so many elements a block."""
    if blocks.most is not None:
        return ()
    inserter = Inserter(use)
    extent = multiply(blocks.at(use), elements, inserter)
    if isinstance(extent, int):
        # Known here, but not in the type, which is for all launches.
        extent = inserter.insert(arith.ConstantOp.from_int_and_width(extent, IndexType()))
    return (extent,)


class _Blocks:
    """
    On how many blocks a group is launched at once.

    Raises `OpError` for a launch by a wrapper on a number of cores that nothing bounds.
    """

    def __init__(self, group: orch.FuncOp, graph: CallGraph):
        self._graph = graph
        self._within = {group: 1}
        """How many a use of a function has by what the function itself launches."""
        self.most = self._of(group)
        """Of any launch; None where nothing bounds them."""

    def at(self, use: orch.DispatchOp) -> Index:
        """How many a use of the group, or of what launches it, has."""
        if use.launch is not None:
            return use.launch
        callee = self._graph.callee(use)
        assert callee is not None
        return self._within[callee]

    def _of(self, function: orch.FuncOp) -> int | None:
        most: int | None = 1
        for use in self._graph.uses_of(function):
            blocks = self._within[function]
            if use.launch is not None:
                blocks = IntegerRanges().of(use.launch).high
            caller = self._graph.caller(use)
            if caller.kind.data.is_wrapper:
                if blocks is None:
                    assert use.launch is not None
                    raise OpError(
                        use,
                        f"launches '{function.sym_name.data}' on a number of cores that is known "
                        "at run time only, and the ring between its cube and vector cores needs "
                        "slots for each, which who launches all makes: launch "
                        f"'{caller.sym_name.data}' on that number",
                        [note(use.launch, "the number is made here")],
                    )
                self._within[caller] = max(blocks, self._within.get(caller, 1))
                blocks = self._of(caller)
            most = None if most is None or blocks is None else max(most, blocks)
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
