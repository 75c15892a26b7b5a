"""How often garbage is looked for, inside and after."""

import gc
import weakref

from pypto_xdsl.garbage_collection import collecting_rarely


class Node:
    """Something that can refer to itself."""

    def __init__(self) -> None:
        self.me = self


def test_thresholds_come_back_and_what_was_made_is_old():
    thresholds = gc.get_threshold()
    # Some versions of Python freeze what they start with: then nothing is made old.
    frozen = gc.get_freeze_count()
    with collecting_rarely():
        assert gc.get_threshold()[0] > thresholds[0]
        made = [list[int]() for _ in range(10 * thresholds[0])]
        assert gc.get_count()[0] > thresholds[0]
    assert gc.get_threshold() == thresholds
    assert frozen or gc.get_count()[0] < thresholds[0], "the next object has all looked over"
    assert len(made) == 10 * thresholds[0]


def test_garbage_that_was_made_inside_is_found_later():
    with collecting_rarely():
        gone = weakref.ref(Node())
    gc.collect()
    assert gone() is None


def test_what_the_program_around_froze_stays_so():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with collecting_rarely():
            pass
        assert gc.get_freeze_count() == frozen > 0
    finally:
        gc.unfreeze()
