"""Where the elements of a tile lie, and that tiles at one address share their bytes."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import f16, f32, i32

from pypto_xdsl.dialects.pto import AddressSpace, BLayout, SLayout, TileBufType
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.pto.memory import Core, element_places

ROW, COLUMN = BLayout.ROW_MAJOR, BLayout.COL_MAJOR
PLAIN, ROWS, COLUMNS = SLayout.NONE_BOX, SLayout.ROW_MAJOR, SLayout.COL_MAJOR


@pytest.mark.parametrize("outer", [ROW, COLUMN])
@pytest.mark.parametrize("inner", [PLAIN, ROWS, COLUMNS])
def test_each_element_has_a_place_of_its_own(outer: BLayout, inner: SLayout) -> None:
    places = element_places((32, 48), outer, inner, (16, 16))
    assert sorted(places.reshape(-1)) == list(range(32 * 48))


def test_places_by_layout() -> None:
    assert element_places((4, 8), ROW, PLAIN, (1, 1))[1, 2] == 10
    assert element_places((4, 8), COLUMN, PLAIN, (1, 1))[1, 2] == 9
    # Blocks of 16 by 16: column after column of blocks, each row by row.
    blocked = element_places((32, 32), COLUMN, ROWS, (16, 16))
    assert blocked[1, 0] == 16
    assert blocked[16, 0] == 256
    assert blocked[0, 16] == 512
    # Row after row of blocks, each column by column.
    right = element_places((32, 32), ROW, COLUMNS, (16, 16))
    assert right[1, 0] == 1
    assert right[0, 16] == 256
    assert right[16, 0] == 512


def vec(rows: int, columns: int, element_type: object = f32) -> TileBufType:
    return TileBufType((rows, columns), element_type, AddressSpace.VEC)  # pyright: ignore


def test_tiles_at_one_address_share_bytes() -> None:
    core = Core({AddressSpace.VEC: 1024})
    one = core.place(vec(2, 8), 64, (2, 8))
    other = core.place(vec(1, 16, i32), 64, (1, 16))
    _, defined = other.read()
    assert defined is not None
    assert not defined.any()
    one.write(np.full((1, 8), 1.0, np.float32))
    values, defined = other.read()
    assert values[0, 0] == 0x3F800000
    assert defined is not None
    assert list(defined[0]) == [True] * 8 + [False] * 8
    half = core.place(vec(1, 16, f16), 64, (1, 16))
    assert half.read()[1] is None


def test_windows_keep_the_pitch_of_their_tile() -> None:
    core = Core({AddressSpace.VEC: 1024})
    whole = core.place(vec(4, 8), 0, (4, 8))
    whole.write(np.arange(32, dtype=np.float32).reshape(4, 8))
    window = whole.window(vec(2, 4), (1, 2), (2, 4)).window(vec(1, 2), (1, 1), (1, 2))
    assert window.read()[0].tolist() == [[19.0, 20.0]]
    window.write(np.zeros((1, 2), np.float32))
    assert whole.read()[0][2].tolist() == [16.0, 17.0, 18.0, 0.0, 0.0, 21.0, 22.0, 23.0]
    with pytest.raises(ProgramError, match="outside"):
        whole.window(vec(2, 4), (3, 0), (2, 4))


def test_what_does_not_fit_is_told() -> None:
    core = Core({AddressSpace.VEC: 1024})
    with pytest.raises(ProgramError, match=r"lies at 1008\.\.1072, outside the 1024 bytes"):
        core.place(vec(2, 8), 1008, (2, 8))
    with pytest.raises(ProgramError, match="which the core does not have"):
        core.memory(AddressSpace.ACC)
