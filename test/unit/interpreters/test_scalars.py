"""Scalars of `arith`, against Python's integers and floats."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.programs import program

from pypto_xdsl.interpreters.run import run

SHORT = st.integers(-(2**15), 2**15 - 1)


def unsigned(value: int) -> int:
    return value % 2**16


def signed(value: int) -> int:
    return (value + 2**15) % 2**16 - 2**15


def truncated(lhs: int, rhs: int) -> int:
    return abs(lhs) // abs(rhs) * (1 if (lhs < 0) == (rhs < 0) else -1)


MEANINGS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "divsi": truncated,
    "remsi": lambda a, b: a - truncated(a, b) * b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "divui": lambda a, b: unsigned(a) // unsigned(b),
    "remui": lambda a, b: unsigned(a) % unsigned(b),
    "ceildivui": lambda a, b: -(-unsigned(a) // unsigned(b)),
    "maxsi": max,
    "minsi": min,
    "maxui": lambda a, b: max(unsigned(a), unsigned(b)),
    "minui": lambda a, b: min(unsigned(a), unsigned(b)),
}


@pytest.mark.parametrize("op", MEANINGS)
@settings(max_examples=20)
@given(lhs=SHORT, rhs=SHORT.filter(bool))
def test_integers(op: str, lhs: int, rhs: int):
    module = program(
        "orch.func opaque @f(in %a : i16, in %b : i16) -> i16 {"
        f" %r = arith.{op} %a, %b : i16 orch.return %r : i16 }}"
    )
    assert run(module, "f", [lhs, rhs]).results == (signed(MEANINGS[op](lhs, rhs)),)


@settings(max_examples=20)
@given(value=SHORT, count=st.integers(0, 15))
def test_shifts_and_widths(value: int, count: int):
    module = program(
        """
        orch.func opaque @f(in %a : i16, in %n : i16) -> (i16, i16, i16, i64, i64, i8, index) {
          %l = arith.shli %a, %n : i16
          %s = arith.shrsi %a, %n : i16
          %u = arith.shrui %a, %n : i16
          %x = arith.extsi %a : i16 to i64
          %y = arith.extui %a : i16 to i64
          %t = arith.trunci %a : i16 to i8
          %i = arith.index_cast %a : i16 to index
          orch.return %l, %s, %u, %x, %y, %t, %i : i16, i16, i16, i64, i64, i8, index
        }
        """
    )
    assert run(module, "f", [value, count]).results == (
        signed(value << count),
        value >> count,
        signed(unsigned(value) >> count),
        value,
        unsigned(value),
        (value + 128) % 256 - 128,
        value,
    )


@settings(max_examples=30)
@given(a=st.floats(width=32), b=st.floats(width=32))
def test_floats_round_to_their_type(a: float, b: float):
    module = program(
        """
        orch.func opaque @f(in %a : f32, in %b : f32) -> (f32, f32, f32, f32, f16, f32) {
          %p = arith.addf %a, %b : f32
          %q = arith.divf %a, %b : f32
          %m = arith.maxnumf %a, %b : f32
          %n = arith.negf %a : f32
          %h = arith.truncf %a : f32 to f16
          %w = arith.extf %h : f16 to f32
          orch.return %p, %q, %m, %n, %h, %w : f32, f32, f32, f32, f16, f32
        }
        """
    )
    x, y = np.float32(a), np.float32(b)
    with np.errstate(all="ignore"):
        maximum = float(np.fmax(x, y))
        expected = [x + y, x / y, maximum, -x, np.float16(x), np.float32(np.float16(x))]
    for got, wanted in zip(run(module, "f", [a, b]).results, map(float, expected), strict=True):
        assert got == wanted or (math.isnan(got) and math.isnan(wanted))


def test_conversions_between_integers_and_floats():
    module = program(
        """
        orch.func opaque @f(in %a : f32, in %i : i8) -> (i32, i8, f32, f32, f16) {
          %s = arith.fptosi %a : f32 to i32
          %u = arith.fptoui %a : f32 to i8
          %x = arith.sitofp %i : i8 to f32
          %y = arith.uitofp %i : i8 to f32
          %h = arith.sitofp %s : i32 to f16
          orch.return %s, %u, %x, %y, %h : i32, i8, f32, f32, f16
        }
        """
    )
    assert run(module, "f", [200.9, -1]).results == (200, -56, -1.0, 255.0, 200.0)


@settings(max_examples=30)
@given(value=st.floats(width=32))
def test_functions_of_floats_do_not_raise(value: float):
    module = program(
        """
        orch.func opaque @f(in %a : f32) -> (f32, f32, f32, f32) {
          %e = math.exp %a : f32
          %l = math.log %a : f32
          %s = math.sqrt %a : f32
          %p = math.powf %a, %a : f32
          orch.return %e, %l, %s, %p : f32, f32, f32, f32
        }
        """
    )
    wide = np.float64(np.float32(value))
    with np.errstate(all="ignore"):
        functions = (np.exp(wide), np.log(wide), np.sqrt(wide), np.power(wide, wide))
        expected = [float(np.float32(number)) for number in functions]
    for got, wanted in zip(run(module, "f", [value]).results, expected, strict=True):
        assert got == wanted or (math.isnan(got) and math.isnan(wanted))


def test_bits_change_their_type():
    module = program(
        """
        orch.func opaque @f(in %a : f32, in %b : i16) -> (i32, f16) {
          %i = arith.bitcast %a : f32 to i32
          %h = arith.bitcast %b : i16 to f16
          orch.return %i, %h : i32, f16
        }
        """
    )
    # 0xBF800000 is -1.0; 0x3C00 is 1.0.
    assert run(module, "f", [-1.0, 0x3C00]).results == (0xBF800000 - 2**32, 1.0)
