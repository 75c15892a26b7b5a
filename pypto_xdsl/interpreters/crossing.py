"""
What passes between the cube core and the two vector cores of a group, while both are one body:
`aiv_shard` and `aic_gather`.

Where they gather, the two vector cores of a region run at the same time, and each has the whole
tile once both have given their parts. Where nothing says that both run, one core has its part
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, register_impls
from xdsl.ir import Region

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.interpreters.blocks import make_block
from pypto_xdsl.interpreters.core_groups import core_if_any
from pypto_xdsl.interpreters.elements import Array, Mask
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import implements
from pypto_xdsl.interpreters.values import Block, leading


def _all_of(block: Block) -> tuple[Array, Mask]:
    """The elements of the physical shape, and which are defined."""
    values, mask = block.read()
    return values, np.ones(values.shape, np.bool_) if mask is None else mask


def _scaled(
    extents: tuple[int, ...], axis: int | None, scale: Callable[[int], int]
) -> tuple[int, ...]:
    return tuple(scale(extent) if place == axis else extent for place, extent in enumerate(extents))


def _shard(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
    source: Block = args[0]
    axis: int | None = op.split.data.axis
    values, defined = _all_of(source)
    if axis is None:
        return (make_block(interpreter, op, values.copy(), defined, source.shape),)
    extent: int = -(-source.shape[axis] // 2)
    stride = extent
    if isinstance(op, tile.AivShardOp) and op.lane_stride is not None:
        stride = op.lane_stride.value.data
    first = machine_of(interpreter).grid.subblock_index * stride
    window: list[slice] = [slice(None)] * len(source.shape)
    window[axis] = slice(first, min(first + extent, source.shape[axis]))
    shape = list(source.shape)
    shape[axis] = extent
    array, mask = source.element.poison(shape), np.zeros(shape, np.bool_)
    part = values[tuple(window)]
    array[leading(part.shape)] = part
    mask[leading(part.shape)] = defined[tuple(window)]
    made = make_block(interpreter, op, array, mask, shape)
    made.valid = _scaled(source.region, axis, lambda whole: max(0, min(whole - first, extent)))
    return (made,)


def _gather(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
    source: Block = args[0]
    axis: int | None = op.split.data.axis
    machine = machine_of(interpreter)
    values, defined = _all_of(source)
    shape = list(source.shape)
    if axis is not None:
        shape[axis] *= 2
    array, mask = source.element.poison(shape), np.zeros(shape, np.bool_)
    core = core_if_any(machine)
    parts = [(values, defined)]
    if core is not None and core.group.passes_halves:
        parts = core.gather(op, parts[0])
    for place, (part, held) in enumerate(parts):
        window = list(leading(part.shape))
        if axis is not None:
            start = place * part.shape[axis]
            window[axis] = slice(start, start + part.shape[axis])
        elif place:
            # Without a split both cores have all of it.
            break
        array[tuple(window)] = part
        mask[tuple(window)] = held
    made = make_block(interpreter, op, array, mask, shape)
    made.valid = _scaled(source.region, axis, lambda half: 2 * half)
    return (made,)


def gathers(region: Region) -> bool:
    """Whether vector cores that run a region give each other tiles there."""
    return any(isinstance(op, tile.AicGatherOp | ptensor.AicGatherOp) for op in region.walk())


@register_impls
@implements(
    {
        tile.AivShardOp: _shard,
        ptensor.AivShardOp: _shard,
        tile.AicGatherOp: _gather,
        ptensor.AicGatherOp: _gather,
    },
    lambda _, run: run,
)
class CrossingFunctions(InterpreterFunctions):
    """The boundary between the cores of a group."""
