"""
Name hints that print apart.

xDSL prints the second value with the hint `v` as `%v_1`, and reads `%v_1_1` as the hint `v_1`: so
two values may print as one, and the text is another program or none. Hints without a number at
their end cannot meet.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from pypto_xdsl.analysis.walk import blocks_inside, walk

_NUMBERS = re.compile(r"(?:_\d+)+$")


def settle_hints(module: ModuleOp) -> None:
    """Take the numbers off the name hints of a program; the printer puts on its own."""
    for op in walk(module):
        for result in op.results:
            _settle(result)
        for block in blocks_inside(op):
            _settle(block)
            for argument in block.args:
                _settle(argument)


def _settle(named: SSAValue | Block) -> None:
    hint = named.name_hint
    if hint is not None and hint[-1:].isdigit() and (number := _NUMBERS.search(hint)) is not None:
        named.name_hint = hint[: number.start()] or None
