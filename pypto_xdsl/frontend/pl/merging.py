"""Values that meet: at the end of an `if`, and around a loop."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i1
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue

from pypto_xdsl.dialects.element_types import is_element_type, is_float
from pypto_xdsl.dialects.ptensor.memory import TypeCastOp
from pypto_xdsl.dialects.ptensor.types import (
    explicit_strides_of,
    is_tensor_type,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.tile.memory import SetValidShapeOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl.context import Context, Frame, hint
from pypto_xdsl.frontend.pl.scalars import cast_scalar
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Value,
    describe_apart,
    is_constant,
    is_literal,
    is_value,
    literal_type,
)


class Merge:
    """What the two branches of an `if` give to the names after it."""

    def __init__(self, context: Context, node: ast.stmt):
        self.context = context
        self.node = node
        self.left: list[Any] = []
        self.right: list[Any] = []
        self._places: dict[tuple[int, int], int] = {}
        self._names: list[tuple[str, Any]] = []
        self._moved: set[str] = set()

    def add(
        self,
        name: str,
        left: Value,
        right: Value,
        *,
        keep: bool = False,
        frames: Sequence[Frame] = (),
    ) -> None:
        """
        A name with its value of each branch. Two names for one tensor in both branches share a
        result; `keep` gives the name a result of its own.
        """
        self._names.append((name, self._shape(left, right, keep, name)))
        if frames and not any(name in frame.assigned for frame in frames):
            self._moved.add(name)

    def _shape(self, left: Value, right: Value, keep: bool, name: str) -> Any:
        """The place of a result, or a tuple of such."""
        if isinstance(left, Tuple) and isinstance(right, Tuple):
            if len(left.elements) != len(right.elements):
                self._fail(name, left, right)
            return [
                self._shape(a, b, keep, name)
                for a, b in zip(left.elements, right.elements, strict=True)
            ]
        key = (id(left), id(right))
        tensors = is_value(left) and is_value(right)
        if not keep and tensors and key in self._places:
            return self._places[key]
        place = len(self.left)
        self.left.append(left)
        self.right.append(right)
        if tensors:
            self._places[key] = place
        return place

    def _fail(self, name: str, left: Value, right: Value) -> None:
        one, other = describe_apart(left, right)
        raise self.context.error(
            self.node,
            f"'{name.rpartition(':')[2]}' is {one} after one branch and {other} after the other",
        )

    def types(self, blocks: tuple[Block, Block]) -> list[Attribute]:
        """The types of the results; the values of both branches are brought to them."""
        found: list[Attribute] = []
        for place in range(len(self.left)):
            name = next(
                (n for n, s in self._names if s == place or (isinstance(s, list) and place in s)),
                "a value",
            )
            merged = merge_values(
                self.context, (self.left[place], self.right[place]), blocks, self.node
            )
            if merged is None:
                self._fail(name, self.left[place], self.right[place])
                raise AssertionError
            self.left[place], self.right[place] = merged
            found.append(merged[0].type)
        return found

    def end(self, block: Block, values: Sequence[SSAValue]) -> None:
        """End a branch."""
        op = scf.YieldOp.create(operands=values)
        op.location = self.context.source.location(self.node)
        block.add_op(op)

    def bind(self, results: Sequence[OpResult]) -> None:
        """Let the names stand for the results."""
        for result, *sources in zip(results, self.left, self.right, strict=True):
            if is_tensor_type(result.type):
                self.context.names.aliases.merge(result, sources)
        for name, shape in self._names:
            value = _shaped(shape, results)
            if name in self._moved:
                self.context.names.move(name, value)
            else:
                self.context.names.bind(name, value)
            if isinstance(value, OpResult) and value.name_hint is None:
                value.name_hint = hint(name.rpartition(":")[2])


def _shaped(shape: Any, results: Sequence[OpResult]) -> Value:
    if isinstance(shape, list):
        parts = cast(list[Any], shape)
        return Tuple(tuple(_shaped(inner, results) for inner in parts))
    return results[cast(int, shape)]


def merge_values(
    context: Context, values: Sequence[Value], blocks: Sequence[Block], node: ast.stmt
) -> list[SSAValue] | None:
    """Values at the ends of blocks as SSA values of one type; None if they do not fit."""
    types = [_type_of(value) for value in values]
    wanted: Attribute | None = None
    for value, type in zip(values, types, strict=True):
        if type is None:
            return None
        if wanted is None or (type != wanted and is_literal(values[0]) and value is not values[0]):
            wanted = type
    for type in types:
        assert type is not None
        assert wanted is not None
        wanted = unify(wanted, type)
        if wanted is None:
            return None
    assert wanted is not None
    return [
        converted(context, value, wanted, block, node)
        for value, block in zip(values, blocks, strict=True)
    ]


def _type_of(value: Value) -> Attribute | None:
    if is_value(value):
        return value.type
    if is_constant(value):
        return literal_type(value)
    if value is None:
        from pypto_xdsl.dialects.orch.attributes import TASK_ID

        return TASK_ID
    return None


def unify(a: Attribute, b: Attribute) -> Attribute | None:
    """The type that values of both types can have, None if there is none."""
    if a == b:
        return a
    if is_tensor_type(a) and is_tensor_type(b):
        return _unify_tensors(tensor_of(a), tensor_of(b))
    if isinstance(a, TileType) and isinstance(b, TileType):
        if a.memory_space is None:
            a = a.with_space(b.memory_space)
        if b.memory_space is None:
            b = b.with_space(a.memory_space)
        return a if a == b else None
    if is_element_type(a) and is_element_type(b):
        if is_float(a) or is_float(b) or i1 in (a, b):
            return None
        return a
    return None


def _unify_tensors(
    a: TensorType[Attribute], b: TensorType[Attribute]
) -> TensorType[Attribute] | None:
    """The more general of two tensor types."""
    if a.element_type != b.element_type or a.get_num_dims() != b.get_num_dims():
        return None
    shape: list[int | str] = []
    for mine, other in zip(symbolic_shape_of(a), symbolic_shape_of(b), strict=True):
        if mine == other:
            shape.append(mine)
        elif (
            isinstance(mine, int) and isinstance(other, int) and DYNAMIC_INDEX not in (mine, other)
        ):
            return None
        else:
            shape.append(DYNAMIC_INDEX)
    if layout_of(a) is not layout_of(b):
        return None
    strides = explicit_strides_of(a)
    valid: list[int] | None = [
        x if x == y else DYNAMIC_INDEX
        for x, y in zip(valid_shape_of(a), valid_shape_of(b), strict=True)
    ]
    if valid_shape_of(a) == a.get_shape() and valid_shape_of(b) == b.get_shape():
        valid = None
    return tensor_type(
        shape,
        a.element_type,
        valid=valid,
        strides=strides if strides == explicit_strides_of(b) else None,
        layout=layout_of(a),
        pad=pad_value_of(a),
    )


def converted(
    context: Context, value: Value, type: Attribute, block: Block, node: ast.stmt
) -> SSAValue:
    """A value as one of a type, with an op at the end of a block where it takes one."""
    outer = context.block
    context.block = block
    context.constants.append({})
    try:
        found = context.materialize(value, node, type)
        if found.type == type:
            return found
        if is_tensor_type(type):
            return context.emit(TypeCastOp(found, tensor_of(type)), node).result
        if isinstance(type, TileType):
            have = TileType.of(found.type)
            if have.valid_shape != type.valid_shape:
                found = context.emit(SetValidShapeOp(found, type.valid_shape), node).result
            give_space(found, type)
            return found
        return cast_scalar(context, found, type, node)
    finally:
        context.constants.pop()
        context.block = outer


def give_space(value: SSAValue, type: TileType) -> None:
    """Let a tile that lives nowhere yet live where another does that it merges with."""
    value._type = type  # pyright: ignore


def carried_type(value: Value) -> Attribute | None:
    """The type of a value that a loop carries, None if it cannot carry it."""
    return _type_of(value)


def _is_view_of(type: Attribute, have: Attribute, wanted: Attribute | None) -> bool:
    """Whether a value differs from the carried one in its view only."""
    if is_tensor_type(type) and is_tensor_type(have):
        return wanted is not None
    if isinstance(type, TileType) and isinstance(have, TileType):
        space = type.memory_space or have.memory_space
        bare = have.with_valid(None).with_space(space), type.with_valid(None).with_space(space)
        return bare[0] == bare[1] and all(extent >= 0 for extent in type.valid_shape)
    return False


def settle(
    context: Context,
    argument: BlockArgument,
    init: SSAValue,
    value: Value,
    block: Block,
    name: str,
    node: ast.stmt,
) -> SSAValue:
    """What a loop's body yields for a carried value, as one of the carried type."""
    type = argument.type
    have = _type_of(value)
    if have is not None and have != type:
        wanted = unify(type, have)
        if isinstance(wanted, TileType) and wanted != type:
            give_space(argument, wanted)
            give_space(init, wanted)
            type = wanted
        elif _is_view_of(type, have, wanted):
            # The name keeps the view that it had before the loop.
            pass
        elif wanted is None or wanted != type:
            have = None
    if have is None:
        before, after = describe_apart(type, value)
        raise context.error(node, f"'{name}' enters the loop as {before} and becomes {after}")
    return converted(context, value, type, block, node)
