"""What cores know of each other, and which accesses that orders."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from pypto_xdsl.interpreters.core_clocks import Clocks, SharedMemory
from pypto_xdsl.interpreters.elements import Array
from pypto_xdsl.interpreters.values import Buffer


def ignore(kind: Literal["read", "write"], buffer: Buffer, view: Array) -> None:
    """Who wants to know of no access."""


@pytest.fixture
def shared() -> tuple[SharedMemory, Buffer]:
    memory, buffer = SharedMemory(Clocks.of(3)), Buffer(np.zeros((8, 8), np.float32))
    memory.watch([buffer], ignore)
    return memory, buffer


Shared = tuple[SharedMemory, Buffer]


def test_who_is_told_knows_what_came_before(shared: Shared) -> None:
    memory, buffer = shared
    x = buffer.memory
    assert memory.touch(0, "write", buffer, x[:4]) is None
    told = memory.clocks.tell(0)
    assert memory.touch(1, "read", buffer, x[:4]) == (0, "write")
    memory.clocks.hear(1, [told])
    assert memory.touch(1, "read", buffer, x[:4]) is None
    # What the first does later, it was not told of.
    assert memory.touch(0, "write", buffer, x[4:]) is None
    assert memory.touch(1, "read", buffer, x[3:5]) == (0, "write")


def test_what_is_told_is_told_on(shared: Shared) -> None:
    memory, buffer = shared
    assert memory.touch(0, "write", buffer, buffer.memory) is None
    memory.clocks.hear(1, [memory.clocks.tell(0)])
    memory.clocks.hear(2, [memory.clocks.tell(1)])
    assert memory.touch(2, "write", buffer, buffer.memory) is None


def test_two_that_read_need_no_order_and_one_that_writes_does(shared: Shared) -> None:
    memory, buffer = shared
    assert memory.touch(0, "read", buffer, buffer.memory) is None
    assert memory.touch(1, "read", buffer, buffer.memory) is None
    assert memory.touch(1, "write", buffer, buffer.memory[2:3]) == (0, "read")


def test_elements_beside_each_other_are_apart(shared: Shared) -> None:
    memory, buffer = shared
    x = buffer.memory
    assert memory.touch(0, "write", buffer, x[:, :4]) is None
    assert memory.touch(1, "write", buffer, x[:, 4:]) is None
    assert memory.touch(2, "read", buffer, x[5:6, 3:4]) == (0, "write")


def test_the_same_bytes_as_smaller_elements(shared: Shared) -> None:
    memory, buffer = shared
    small: Any = buffer.memory.view(np.uint16)
    assert memory.touch(0, "write", buffer, buffer.memory[:1]) is None
    assert memory.touch(1, "write", buffer, small[1:, 1:2]) is None
    assert memory.touch(1, "read", buffer, small[0, 5:6]) == (0, "write")
    assert memory.touch(2, "read", buffer, buffer.memory[1, 1:]) is None
    assert memory.touch(2, "read", buffer, buffer.memory[1, :1]) == (1, "write")


def test_who_was_told_of_accesses_still_is() -> None:
    seen: list[str] = []

    def see(kind: Literal["read", "write"], buffer: Buffer, view: Array) -> None:
        seen.append(kind)

    first = Buffer(np.zeros(4), observer=see)
    memory = SharedMemory(Clocks.of(2))
    before = first.observer
    memory.watch([first, first], ignore)
    memory.tell_others("read", first, first.memory)
    assert seen == ["read"]
    memory.release()
    assert first.observer is before
