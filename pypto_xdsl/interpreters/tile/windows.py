"""Parts of a tile: named (`slice`), copied out (`extract`), written (`assemble`)."""

from __future__ import annotations

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from pypto_xdsl.dialects import tile
from pypto_xdsl.interpreters.blocks import result_element, tile_of_region
from pypto_xdsl.interpreters.elements import Mask
from pypto_xdsl.interpreters.indices import given, known, take_indices
from pypto_xdsl.interpreters.values import Tile, leading, window_at


def _window_of(source: Tile, offsets: tuple[int, ...], shape: tuple[int, ...]) -> Tile:
    """A window of a tile, valid where the tile is."""
    window = window_at("the tile", offsets, shape, source.shape)
    valid = tuple(
        max(0, min(extent - offset, size))
        for extent, offset, size in zip(source.valid, offsets, shape, strict=True)
    )
    defined: tuple[int, ...] | Mask
    if isinstance(source.defined, tuple):
        # A region at the origin meets a window in a region at the window's origin.
        defined = tuple(
            max(0, min(extent - offset, size))
            for extent, offset, size in zip(source.defined, offsets, shape, strict=True)
        )
        if 0 in defined:
            defined = (0,) * len(shape)
    else:
        defined = source.defined[window]
    return Tile(source.array[window], source.element, valid, defined)


@register_impls
class TileWindowFunctions(InterpreterFunctions):
    @impl(tile.SliceOp)
    def run_slice(
        self, interpreter: Interpreter, op: tile.SliceOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        type = tile.TileType.of(op.result.type)
        offsets, rest = take_indices(op.static_offsets, args[1:])
        listed, _ = take_indices(op.static_valid, rest)
        valid = given(type.valid_shape, listed)
        made = _window_of(source, offsets, given(type.get_shape(), valid))
        if known(valid):
            made.valid = valid
        return (made,)

    @impl(tile.ExtractOp)
    def run_extract(
        self, interpreter: Interpreter, op: tile.ExtractOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        type = tile.TileType.of(op.result.type)
        offsets, _ = take_indices(op.static_offsets, args[1:])
        made = _window_of(source, offsets, given(type.get_shape(), source.shape))
        valid = type.valid_shape if known(type.valid_shape) else made.valid
        element = result_element(op)
        stored, mask = made.read(leading(valid))
        if element is not source.element:
            stored = element.narrow(element.compute_from(stored, source.element))
        return (tile_of_region(stored, mask, element, made.shape, valid),)

    @impl(tile.AssembleOp)
    def run_assemble(
        self, interpreter: Interpreter, op: tile.AssembleOp, args: PythonValues
    ) -> PythonValues:
        source: Tile = args[0]
        destination: Tile = args[1]
        offsets, _ = take_indices(op.static_offsets, args[2:])
        window = window_at("the destination", offsets, source.shape, destination.shape)
        element = destination.element
        stored = source.array
        if source.element is not element:
            stored = element.narrow(element.compute_from(stored, source.element))
        array = destination.array.copy()
        array[window] = stored
        type = tile.TileType.of(op.result.type)
        valid = type.valid_shape if known(type.valid_shape) else destination.valid
        if source.is_defined and destination.is_defined:
            return (Tile(array, element, valid, array.shape),)
        defined = destination.full_mask().copy()
        defined[window] = source.full_mask()
        return (Tile(array, element, valid, array.shape if defined.all() else defined),)
