"""Comparisons to packed masks, selection by them, and compare-gather."""

from __future__ import annotations

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.element_types import promote
from pypto_xdsl.dialects.ptensor.attributes import CompareMode
from pypto_xdsl.interpreters.elements import Mask, element_of
from pypto_xdsl.interpreters.elementwise import (
    Operand,
    broadcast_shape,
    computed_operands,
    finished,
    result_element,
    tile_of_region,
)
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.selection import COMPARISONS, compacted_columns, pack, unpack
from pypto_xdsl.interpreters.values import Tile, leading


def _compare(
    op: Operation, mode: CompareMode, lhs: Tile, rhs: Operand, type: tile.TileType
) -> Tile:
    """
    The packed mask of a comparison. A byte is defined where all columns that it tells of are; the
    ops that select know each bit.
    """
    shape = broadcast_shape((lhs, rhs))
    region = lhs.valid if shape == lhs.shape else shape
    promoted = (
        element_of(promote(lhs.element.type, rhs.element.type))
        if isinstance(rhs, Tile)
        else lhs.element
    )
    (left, right), defined = computed_operands(promoted, region, (lhs, rhs))
    bits = np.broadcast_to(COMPARISONS[mode](left, right), region)
    octets = pack(bits)
    width = type.get_shape()[-1]
    element = result_element(op)
    shape = (*shape[:-1], width)
    if defined is None:
        return tile_of_region(octets, None, element, shape, octets.shape)
    defined = np.broadcast_to(defined, region)
    made = tile_of_region(octets, ~_any_of_eight(~defined), element, shape, octets.shape)
    made.defined_bits = np.zeros((*shape[:-1], 8 * width), np.bool_)
    made.defined_bits[leading(region)] = defined
    return made


def _any_of_eight(bits: Mask) -> Mask:
    """Whether any of each eight truth values along the last dimension holds."""
    return pack(bits) != 0


def _mask_bits(mask: Tile, region: tuple[int, ...]) -> tuple[Mask, Mask | None]:
    """The bits of a packed mask over a region, and which of them are defined."""
    *rows, columns = region
    bits_each = 8 * mask.array.itemsize
    needed = -(-columns // bits_each)
    if any(have < need for have, need in zip(mask.shape, (*rows, needed), strict=True)):
        raise ProgramError(
            f"a mask of {list(mask.shape)} elements of {bits_each} bits does not cover a region "
            f"of {list(region)}"
        )
    stored, defined = mask.read(leading((*rows, needed)))
    bits = unpack(stored, columns)
    if mask.defined_bits is not None:
        defined = mask.defined_bits[leading(region)]
    elif defined is not None:
        defined = np.repeat(defined, bits_each, axis=-1)[..., :columns]
    return bits, defined


def _select(op: Operation, mask: Tile, lhs: Tile, rhs: Operand) -> Tile:
    shape = broadcast_shape((lhs, rhs))
    region = lhs.valid if shape == lhs.shape else shape
    element = result_element(op)
    bits, defined = _mask_bits(mask, region)
    (left,), left_defined = computed_operands(element, region, (lhs,))
    (right,), right_defined = computed_operands(element, region, (rhs,))
    stored, _ = finished(np.where(bits, left, right), None, element, region)
    if left_defined is not None or right_defined is not None:
        chosen = np.where(
            bits,
            True if left_defined is None else left_defined,
            True if right_defined is None else right_defined,
        )
        defined = chosen if defined is None else chosen & defined
    return tile_of_region(stored, defined, element, shape, region)


@register_impls
class TileSelectionFunctions(InterpreterFunctions):
    @impl(tile.CmpOp)
    def run_cmp(self, interpreter: Interpreter, op: tile.CmpOp, args: PythonValues) -> PythonValues:
        type = tile.TileType.of(op.result.type)
        return (_compare(op, op.cmp_type.data, args[0], args[1], type),)

    @impl(tile.CmpsOp)
    def run_cmps(
        self, interpreter: Interpreter, op: tile.CmpsOp, args: PythonValues
    ) -> PythonValues:
        type = tile.TileType.of(op.result.type)
        return (_compare(op, op.cmp_type.data, args[0], args[1], type),)

    @impl(tile.SelOp)
    def run_sel(self, interpreter: Interpreter, op: tile.SelOp, args: PythonValues) -> PythonValues:
        mask, lhs, rhs, _ = args
        return (_select(op, mask, lhs, rhs),)

    @impl(tile.SelsOp)
    def run_sels(
        self, interpreter: Interpreter, op: tile.SelsOp, args: PythonValues
    ) -> PythonValues:
        mask, source, _, scalar = args
        return (_select(op, mask, source, scalar),)

    @impl(tile.GatherCompareOp)
    def run_gather_compare(
        self, interpreter: Interpreter, op: tile.GatherCompareOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        (values, threshold), mask = computed_operands(source.element, source.valid, args[:2])
        # Where the columns of one element go depends on all elements before it.
        machine_of(interpreter).require_defined(op, mask)
        chosen = COMPARISONS[op.cmp_mode.data](values, threshold)
        width = op.out_cols.value.data
        indices, written, counts = compacted_columns(chosen, width, op.offset.value.data)
        rows, valid_rows = source.shape[0], source.valid[0]
        filled = np.zeros((rows, width), np.bool_)
        filled[:valid_rows] = written
        index_tile = tile_of_region(
            indices, None, result_element(op, 0), (rows, width), (valid_rows, width)
        )
        count_element = result_element(op, 1)
        count_tile = tile_of_region(
            count_element.narrow(counts[None, :]),
            None,
            count_element,
            (1, rows),
            (1, valid_rows),
        )
        # The types of the results say that they are valid as a whole.
        return (
            Tile(index_tile.array, index_tile.element, (rows, width), filled),
            Tile(count_tile.array, count_element, (1, rows), count_tile.defined),
        )
