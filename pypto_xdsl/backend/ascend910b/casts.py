"""
The conversions that the vector unit has as one instruction.

Anything else is a chain of these. Source: the a2a3 table of PTO's `tcvt`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f16, f32, i8, i16, i32, i64
from xdsl.ir import Attribute

from pypto_xdsl.dialects.element_types import UI8

_TARGETS: dict[Attribute, tuple[Attribute, ...]] = {
    f32: (f16, bf16, i16, i32, i64),
    f16: (f32, i32, i16, i8, UI8),
    bf16: (f32, i32),
    i16: (f16, f32),
    i32: (f32, i16, i64, f16),
    i64: (f32, i32),
    UI8: (f16,),
    i8: (f16,),
}

CASTS: frozenset[tuple[Attribute, Attribute]] = frozenset(
    (source, target) for source, targets in _TARGETS.items() for target in targets
)

ROUNDED: Attribute = f32
"""The type that is also converted to itself: numbers become whole ones."""
