"""The blocks of products: they fit, and no others take fewer cycles."""

from __future__ import annotations

from itertools import product

import pytest

from pypto_xdsl.backend.ascend910b import BACKEND
from pypto_xdsl.backend.product_unit import ProductBlocks, ProductUnit

UNIT = BACKEND.product_unit


def test_cycles_of_one_block():
    """64x64 by 64x64 halves, by hand."""
    # 8192 bytes come at 129.7 and 85.4 bytes a cycle: longer than 21 + 4 * 4 * 4 fractals.
    load = 8192 / 129.7 + 8192 / 85.4
    # Rows of 256 bytes leave at 4.45 cycles; 8 bursts of 8 columns have no odd factor.
    drain = 164 + 64 * 4.45
    assert UNIT.cycles(ProductBlocks(64, 64, 64), 64, 64, 64, 2) == pytest.approx(load + drain)


def test_cycles_of_blocks_and_rests():
    """96 rows in blocks of 64 and 32; the depth of 160 in 64, 64 and 32. Floats take two passes."""
    unit = ProductUnit(
        1, 1, 1, 1e9, 1e9, 1e9, drain_start=10, drain_row=2, drain_odd=1, multiply_start=5
    )

    def multiply(rows: int, depth: int) -> int:
        return 5 + 2 * (rows // 16) * (48 // 16) * (depth * 4 // 32)

    def drain(rows: int) -> int:
        # 48 columns are 6 bursts, of which 3 is the odd factor.
        return 10 + rows * (2 + 1 * (3 - 1))

    wanted = sum(
        drain(rows) + sum(multiply(rows, depth) for depth in (64, 64, 32)) for rows in (64, 32)
    )
    assert unit.cycles(ProductBlocks(64, 48, 64), 96, 48, 160, 4) == pytest.approx(wanted)


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
@pytest.mark.parametrize(
    ("rows", "columns", "depth"),
    [(256, 256, 256), (512, 128, 320), (64, 64, 1024), (16, 512, 512), (1, 256, 512)],
)
def test_blocks_fit_and_no_others_are_much_better(
    rows: int, columns: int, depth: int, element_bytes: int
):
    found = UNIT.blocks(rows, columns, depth, element_bytes)
    assert found is not None

    def fits(block: ProductBlocks) -> bool:
        # Two blocks of each operand at once.
        return (
            2 * block.rows * block.depth * element_bytes <= 65536
            and 2 * block.depth * block.columns * element_bytes <= 65536
            and UNIT.result_bytes(block.rows, block.columns, element_bytes) <= 131072
        )

    assert fits(found)
    step = 32 if element_bytes == 1 else 16
    every = [
        ProductBlocks(*extents)
        for extents in product(
            range(min(step, rows), rows + 1, step),
            range(step, columns + 1, step),
            range(step, depth + 1, step),
        )
    ]
    best = min(
        UNIT.cycles(block, rows, columns, depth, element_bytes) for block in every if fits(block)
    )
    assert UNIT.cycles(found, rows, columns, depth, element_bytes) == pytest.approx(best)


def test_products_without_blocks():
    assert UNIT.blocks(64, 64, 1000, 2) is None
    assert UNIT.blocks(64, 1000, 64, 2) is None
    # Any number of rows will do.
    assert UNIT.blocks(1000, 64, 1024, 2) is not None


def test_accumulators_of_integers_come_in_more_rows():
    assert UNIT.result_bytes(16, 64, 1) == 32 * 64 * 4
    assert UNIT.result_bytes(16, 64, 2) == 16 * 64 * 4


def test_blocks_are_as_many_as_the_memories_hold_however_large_a_product_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[ProductBlocks] = []
    cycles = ProductUnit.cycles

    def counted(unit: ProductUnit, blocks: ProductBlocks, *extents: int) -> float:
        compared.append(blocks)
        return cycles(unit, blocks, *extents)

    monkeypatch.setattr(ProductUnit, "cycles", counted)
    found = UNIT.blocks(10**12, 64, 64, 4)
    assert found == min(compared, key=lambda b: cycles(UNIT, b, 10**12, 64, 64, 4))
    assert len(compared) < 1000
