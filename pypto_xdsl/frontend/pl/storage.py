"""Where tiles and tensors are kept: `pl.tile.alloc` and `pl.MemRef`."""

from __future__ import annotations

import ast

from pypto_xdsl.frontend.pl.annotations import Annotation
from pypto_xdsl.frontend.pl.context import Context
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.values import Value


def is_allocation(call: ast.Call) -> bool:
    """Whether a call is a `pl.tile.alloc(...)`."""
    path = dotted_name(call.func)
    return path is not None and path[-1] == "alloc" and len(path) > 1


def read_allocation(context: Context, name: str, call: ast.Call) -> None:
    """`buf: pl.Ptr = pl.tile.alloc(space, size)`."""
    raise context.error(call, "allocations are not supported")


def bind_storage(context: Context, value: Value, declared: Annotation, node: ast.expr) -> Value:
    """A value in the buffer that its annotation names."""
    assert declared.memref_node is not None
    raise context.error(declared.memref_node, "buffers in types are not supported")
