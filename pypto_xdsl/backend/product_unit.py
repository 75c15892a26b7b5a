"""How a target's matrix unit is fed, and into which blocks it takes a large product apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class ProductBlocks:
    """The extents of the blocks of a product `[rows, depth] @ [depth, columns]`."""

    rows: int
    columns: int
    depth: int


@dataclass(frozen=True)
class ProductUnit:
    """
    The memories beside a matrix unit in bytes, and what feeding it costs in cycles.

    It multiplies fractals of 16x16 results and `fractal_bytes` of depth, one a cycle.
    """

    left_size: int
    right_size: int
    accumulator_size: int
    left_rate: float
    """Bytes that reach the left operand's memory in a cycle."""
    right_rate: float
    """Bytes that reach the right operand's memory in a cycle."""
    drain_rate: float
    """Bytes that leave the accumulator in a cycle."""
    drain_start: float
    drain_row: float
    """The least that the drain of a row takes."""
    drain_odd: float
    """What the drain of a row takes more for each odd factor of its bursts of 8 columns."""
    multiply_start: float
    fractal_bytes: int = 32
    fractal: int = 16

    def holds(self, rows: int, columns: int, depth: int, element_bytes: int) -> bool:
        """Whether a whole product is one block."""
        return (
            rows * depth * element_bytes <= self.left_size
            and depth * columns * element_bytes <= self.right_size
            and self.result_bytes(rows, columns, element_bytes) <= self.accumulator_size
        )

    def result_bytes(self, rows: int, columns: int, element_bytes: int) -> int:
        """The bytes of the accumulator that a result of 4-byte elements takes."""
        granule = self.row_granule(element_bytes)
        return -(-rows // granule) * granule * columns * 4

    def row_granule(self, element_bytes: int) -> int:
        """What the rows of a block are a multiple of."""
        # Accumulators of integers, which products of bytes have, come in 32 rows.
        return 32 if element_bytes == 1 else self.fractal

    def depth_granule(self, element_bytes: int) -> int:
        """What the depth and the columns of a block are a multiple of."""
        return max(self.fractal, self.fractal_bytes // element_bytes)

    def blocks(
        self, rows: int, columns: int, depth: int, element_bytes: int
    ) -> ProductBlocks | None:
        """
        The blocks that take the fewest cycles, None if no blocks tile the columns and the depth.
        Half of the memories of the operands stays free for the blocks that come next.

        Every extent of a block is a multiple of the unit's fractal, or the whole extent.
        """
        return _cheapest(self, rows, columns, depth, element_bytes)

    def cycles(
        self, blocks: ProductBlocks, rows: int, columns: int, depth: int, element_bytes: int
    ) -> float:
        """
        About how long a product takes in these blocks: operands come in while the block before
        is multiplied, results are drained when a block of them is complete.
        """
        cycles = 0.0
        for block_rows, row_blocks in _parts(rows, blocks.rows):
            for block_columns, column_blocks in _parts(columns, blocks.columns):
                block = self._drain(block_rows, block_columns)
                for block_depth, depth_blocks in _parts(depth, blocks.depth):
                    step = self._multiply(block_rows, block_columns, block_depth, element_bytes)
                    block += step * depth_blocks
                cycles += block * row_blocks * column_blocks
        return cycles

    def _multiply(self, rows: int, columns: int, depth: int, element_bytes: int) -> float:
        load = depth * element_bytes * (rows / self.left_rate + columns / self.right_rate)
        fractals = -(-rows // self.fractal) * -(-columns // self.fractal)
        fractals *= -(-depth * element_bytes // self.fractal_bytes)
        passes = 2 if element_bytes == 4 else 1
        return max(load, self.multiply_start + fractals * passes)

    def _drain(self, rows: int, columns: int) -> float:
        bursts = -(-columns // 8)
        odd_part = bursts // (bursts & -bursts)
        row = max(self.drain_row, columns * 4 / self.drain_rate)
        return self.drain_start + rows * (row + self.drain_odd * (odd_part - 1))


def _parts(extent: int, block: int) -> Iterator[tuple[int, int]]:
    """The extents of the blocks, each with how many there are: all are alike but the last."""
    count, rest = divmod(extent, block)
    if count:
        yield block, count
    if rest:
        yield rest, 1


def _candidates(extent: int, granule: int, most: int) -> list[int]:
    """
    The extents of blocks, of `most` or less, of which some number covers `extent` with the least
    left over.
    """
    if extent <= granule:
        return [extent]
    found: set[int] = set()
    for block in range(granule, min(most, extent + granule - 1) + 1, granule):
        count = -(-extent // block)
        found.add(min(-(-extent // (count * granule)) * granule, extent))
    return sorted(found, reverse=True)


@cache
def _cheapest(
    unit: ProductUnit, rows: int, columns: int, depth: int, element_bytes: int
) -> ProductBlocks | None:
    granule = unit.depth_granule(element_bytes)
    if columns % granule or depth % granule:
        return None
    best: tuple[float, ProductBlocks] | None = None
    # Two buffers of each operand fit, so that what is larger need not be looked at.
    row_granule, least = unit.row_granule(element_bytes), 2 * granule * element_bytes
    most_rows, most_columns = unit.left_size // least, unit.right_size // least
    most_depth = unit.left_size // (2 * element_bytes * max(1, min(rows, row_granule)))
    for block_rows in _candidates(rows, row_granule, most_rows):
        for block_columns in _candidates(columns, granule, most_columns):
            if unit.result_bytes(block_rows, block_columns, element_bytes) > unit.accumulator_size:
                continue
            for block_depth in _candidates(depth, granule, most_depth):
                line = block_depth * element_bytes
                if (
                    2 * line * block_rows > unit.left_size
                    or 2 * line * block_columns > unit.right_size
                ):
                    continue
                blocks = ProductBlocks(block_rows, block_columns, block_depth)
                cycles = unit.cycles(blocks, rows, columns, depth, element_bytes)
                if best is None or cycles < best[0]:
                    best = cycles, blocks
    return None if best is None else best[1]
