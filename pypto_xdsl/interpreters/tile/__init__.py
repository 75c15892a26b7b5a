"""How the `tile` dialect runs, one file for each file of the dialect."""

from xdsl.interpreter import InterpreterFunctions

from pypto_xdsl.interpreters.tile.cross_core import TileCrossCoreFunctions
from pypto_xdsl.interpreters.tile.elementwise import TileElementwiseFunctions
from pypto_xdsl.interpreters.tile.grid import TileGridFunctions
from pypto_xdsl.interpreters.tile.memory import TileMemoryFunctions
from pypto_xdsl.interpreters.tile.rearrangement import TileRearrangementFunctions
from pypto_xdsl.interpreters.tile.reductions import TileReductionFunctions
from pypto_xdsl.interpreters.tile.selection import TileSelectionFunctions
from pypto_xdsl.interpreters.tile.storage import TileStorageFunctions
from pypto_xdsl.interpreters.tile.sync import TileSyncFunctions

TILE_FUNCTIONS: tuple[type[InterpreterFunctions], ...] = (
    TileElementwiseFunctions,
    TileReductionFunctions,
    TileSelectionFunctions,
    TileMemoryFunctions,
    TileRearrangementFunctions,
    TileGridFunctions,
    TileStorageFunctions,
    TileSyncFunctions,
    TileCrossCoreFunctions,
)
"""Implementations of the dialect. A file of a new family is added here."""
