"""Ranges of integers: arithmetic on them, and comparisons at their ends."""

from __future__ import annotations

import pytest

from pypto_xdsl.analysis.integer_ranges import IntegerRanges, Range, compare, negated
from pypto_xdsl.dialects import tile

EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE = range(10)


@pytest.mark.parametrize(
    ("predicate", "left", "right", "verdict"),
    [
        (SLT, Range(0, 3), Range(4, 9), True),
        (SLT, Range(0, 4), Range(4, 9), None),
        (SLT, Range(4, 9), Range(0, 4), False),
        (SLT, Range(4, 9), Range(0, 5), None),
        (SLE, Range(0, 4), Range(4, 9), True),
        (SLE, Range(0, 5), Range(4, 9), None),
        (SLE, Range(5, 9), Range(0, 4), False),
        (SGT, Range(5, 9), Range(0, 4), True),
        (SGT, Range(4, 9), Range(0, 4), None),
        (SGE, Range(4, 9), Range(0, 4), True),
        (SGE, Range(3, 9), Range(0, 4), None),
        (EQ, Range(4, 4), Range(4, 4), True),
        (EQ, Range(0, 4), Range(4, 4), None),
        (EQ, Range(0, 3), Range(4, 4), False),
        (NE, Range(0, 3), Range(4, 4), True),
        (SLT, Range(None, 3), Range(4, None), True),
        (SLT, Range(0, None), Range(None, 0), False),
        (ULT, Range(0, 3), Range(4, 9), True),
        (ULT, Range(-1, 3), Range(4, 9), None),
        (ULT, Range(None, 3), Range(4, 9), None),
        (UGE, Range(4, None), Range(0, 4), True),
        (UGT, Range(5, 9), Range(-2, 4), None),
        (ULE, Range(0, 4), Range(4, 9), True),
    ],
)
def test_compare(predicate: int, left: Range, right: Range, verdict: bool | None) -> None:
    assert compare(predicate, left, right) is verdict
    opposite = None if verdict is None else not verdict
    assert compare(negated(predicate), left, right) is opposite


def test_every_verdict_is_that_of_the_numbers() -> None:
    """All ranges of small numbers: a verdict is given if and only if all pairs agree."""
    words = {
        EQ: int.__eq__, NE: int.__ne__, SLT: int.__lt__, SLE: int.__le__,
        SGT: int.__gt__, SGE: int.__ge__,
    }  # fmt: skip
    ranges = [Range(a, b) for a in range(-2, 3) for b in range(a, 3)]
    for predicate, holds in words.items():
        for left in ranges:
            for right in ranges:
                found = {holds(a, b) for a in numbers(left) for b in numbers(right)}
                wanted = found.pop() if len(found) == 1 else None
                assert compare(predicate, left, right) is wanted, (predicate, left, right)


def numbers(of: Range) -> range:
    assert of.low is not None
    assert of.high is not None
    return range(of.low, of.high + 1)


def test_arithmetic_is_that_of_the_numbers() -> None:
    """Sums, differences and products of all ranges of small numbers have tight bounds."""
    ranges = [Range(a, b) for a in range(-2, 3) for b in range(a, 3)]
    for left in ranges:
        for right in ranges:
            pairs = [(a, b) for a in numbers(left) for b in numbers(right)]
            for found, all_numbers in (
                (left + right, [a + b for a, b in pairs]),
                (left - right, [a - b for a, b in pairs]),
                (left * right, [a * b for a, b in pairs]),
            ):
                assert found == Range(min(all_numbers), max(all_numbers))
        for divisor in (1, 2, 3):
            quotients = [a // divisor for a in numbers(left)]
            assert left.divided_by(divisor) == Range(min(quotients), max(quotients))


def test_open_ends() -> None:
    assert Range(1, None) + Range(2, 3) == Range(3, None)
    assert Range(1, None) - Range(2, None) == Range(None, None)
    assert Range(1, None) * Range(2, 3) == Range(2, None)
    assert Range(-1, None) * Range(2, 3) == Range(None, None)
    assert Range(1, None).intersect(Range(None, 4)) == Range(1, 4)
    assert Range(1, 2).union(Range(None, 4)) == Range(None, 4)


def test_there_is_at_least_one_block() -> None:
    ranges = IntegerRanges()
    assert ranges.of(tile.GetBlockNumOp().result) == Range(1, None)
    assert ranges.of(tile.GetBlockIdxOp().result) == Range(0, None)
