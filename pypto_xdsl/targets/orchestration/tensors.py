"""Tensors in C++: what creates buffers, names parts of them, and reads and writes elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import ptensor
from pypto_xdsl.dialects.element_types import is_float
from pypto_xdsl.dialects.orch import MANUAL_DEP
from pypto_xdsl.dialects.ptensor.aliases import LayoutViewOp, ReinterpretViewOp, TransposeOp
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind
from pypto_xdsl.dialects.ptensor.types import TensorLayout, layout_of, tensor_of
from pypto_xdsl.syntax.lists import Index
from pypto_xdsl.targets.orchestration.body import TENSOR, Body, Place, Writers
from pypto_xdsl.targets.orchestration.names import base_name
from pypto_xdsl.targets.orchestration.scalars import data_type, scalar_type

MOST_DIMENSIONS = 5
"""So many dimensions a tensor of the runtime has."""
MOST_CREATED_AT_ONCE = 16
"""So many buffers are allocated together."""
_EXACT_INTEGER = 1 << 53
"""The runtime fills with integers that a double holds."""

Creation = ptensor.CreateOp | ptensor.FullOp


# Extents and places.


def _u32(body: Body, index: Index) -> str:
    if isinstance(index, int):
        return str(index) if index >= 0 else f"static_cast<uint32_t>({index})"
    text = body.of(index)
    if text.isdigit():
        return text
    return f"static_cast<uint32_t>{text if text.startswith('(') else f'({text})'}"


def shape_of(tensor: TensorType[Attribute], sizes: Sequence[Index]) -> Sequence[Index]:
    """The extents of a tensor: from its type, or what the op says of those known at run time."""
    if not sizes:
        return tensor.get_shape()
    return tuple(sizes)


def _check_rank(op: Operation, tensor: TensorType[Attribute]) -> None:
    rank = tensor.get_num_dims()
    if not 0 < rank <= MOST_DIMENSIONS:
        raise OpError(
            op,
            f"has a tensor of {rank} dimensions; one of the runtime has 1 to {MOST_DIMENSIONS}",
        )


def _array(name: str, extents: Sequence[str]) -> str:
    return f"uint32_t {name}[{len(extents)}] = {{{', '.join(extents)}}};"


# Buffers.


def allocate_early(body: Body, block: Block, place: Place) -> None:
    """
    Create in a place before a block, together, the buffers that the block creates and whose
    extents are known there.
    """
    batch: list[Creation] = []
    op = block.first_op
    while op is not None:
        if isinstance(op, Creation) and _is_early(body, op, block):
            batch.append(op)
        op = op.next_op
    for first in range(0, len(batch), MOST_CREATED_AT_ONCE):
        _allocate(body, batch[first : first + MOST_CREATED_AT_ONCE], place)


def _is_early(body: Body, op: Creation, block: Block) -> bool:
    """Whether a buffer that a block needs can be created before the block."""
    return not body.liveness.is_idle(op) and all(
        _is_known_before(operand, block) for operand in op.operands
    )


def _is_known_before(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    if isinstance(owner, Block):
        return owner is not block
    return owner.parent is not block or isinstance(owner, arith.ConstantOp)


def _allocate(body: Body, creations: Sequence[Creation], place: Place) -> None:
    text = place.text
    infos: list[str] = []
    for op in creations:
        for operand in op.operands:
            if isinstance(operand.owner, arith.ConstantOp):
                # It may stand below.
                body.write(body, operand.owner)
        base = base_name(op.result)
        info, lines = create_info(body, op, base, tensor_of(op.result.type), op.extents, place)
        for line in lines:
            text.line(line)
        if isinstance(op, ptensor.FullOp):
            text.line(f"{info}.set_initial_value({_initial(body, op)});")
        infos.append(info)
    allocation = body.declare(f"alloc_{body.batches}", place)
    body.batches += 1
    text.line(f"TaskOutputTensors {allocation} = alloc_tensors({', '.join(infos)});")
    for index, op in enumerate(creations):
        name = body.declare(base_name(op.result), place)
        body.bind(op.result, name)
        text.line(f"const {TENSOR}& {name} = {allocation}.get_ref({index});")


def create_info(
    body: Body,
    op: Operation,
    base: str,
    tensor: TensorType[Attribute],
    sizes: Sequence[Index] = (),
    place: Place | None = None,
) -> tuple[str, Sequence[str]]:
    """The name of what describes a buffer to be created, and the lines that make it."""
    _check_rank(op, tensor)
    word = data_type(tensor.element_type)
    if word is None:
        raise OpError(op, f"creates elements of type {tensor.element_type}, which C++ has not")
    if layout_of(tensor) is not TensorLayout.ND:
        raise OpError(op, "creates a tensor that is not row-major: the runtime creates no other")
    extents = [_u32(body, extent) for extent in shape_of(tensor, sizes)]
    info = body.declare(f"{base}_ci", place)
    shapes = body.declare(f"{base}_ci_shapes", place)
    by_hand = ", /*manual_dep=*/true" if MANUAL_DEP in op.attributes else ""
    return info, (
        _array(shapes, extents),
        f"TensorCreateInfo {info}({shapes}, {len(extents)}, {word}{by_hand});",
    )


def _initial(body: Body, op: ptensor.FullOp) -> str:
    """What a buffer is filled with."""
    type = op.value.type
    owner = op.value.owner
    number = owner.value if isinstance(owner, arith.ConstantOp) else None
    if isinstance(number, FloatAttr | IntegerAttr):
        value = number.value.data
        if isinstance(value, float) and not isfinite(value):
            raise OpError(op, f"fills with {value}, which the runtime does not")
        if isinstance(value, int) and abs(value) > _EXACT_INTEGER:
            raise OpError(op, f"fills with {value}, beyond what the runtime fills with")
        if not value:
            return "0"
    if is_float(type) and not isinstance(type, Float32Type | Float64Type):
        raise OpError(op, f"fills with {type} other than zero, which the runtime does not")
    return f"static_cast<{scalar_type(type)}>({body.of(op.value)})"


def _create(body: Body, op: Operation) -> None:
    assert isinstance(op, Creation)
    if not body.is_bound(op.result):
        _allocate(body, [op], body.place())


# Views.


def _slice(body: Body, op: Operation) -> None:
    assert isinstance(op, ptensor.SliceOp)
    source, result = body.of(op.source), tensor_of(op.result.type)
    _check_rank(op, tensor_of(op.source.type))
    base = base_name(op.result)
    dropped = len(op.window_offsets) - result.get_num_dims()
    offsets = body.declare(f"{base}_offsets")
    window = [*(1,) * dropped, *shape_of(result, op.extents)]
    clamped: list[str] = []
    for axis, extent in enumerate(window):
        have = f"{source}.shapes[{axis}]"
        start = f"{offsets}[{axis}]"
        clamped.append(
            f"({start} >= {have} ? 0u : std::min<uint32_t>({_u32(body, extent)}, {have} - {start}))"
        )
    starts = [_u32(body, offset) for offset in op.window_offsets]
    body.line(_array(offsets, starts))
    name = body.declare(f"{base}_view" if dropped else base)
    shapes = body.declare(f"{name}_shapes")
    body.line(_array(shapes, clamped))
    body.line(f"{TENSOR} {name} = {source}.view({shapes}, {offsets});")
    if dropped:
        name = _without_leading(body, base, name, dropped, result.get_num_dims())
    body.windows[name] = (source, *starts)
    body.bind(op.result, name)


def _without_leading(body: Body, base: str, view: str, dropped: int, rank: int) -> str:
    """The view without its first dimensions, which have the extent 1."""
    name = body.declare(base)
    stride = body.declare(f"{base}_expected_stride")
    contiguous = body.declare(f"{base}_contiguous")
    axis = body.names.fresh("axis")
    body.line(f"{TENSOR} {name} = {view};")
    body.line(f"{name}.ndims = {rank};")
    for place in range(rank):
        body.line(f"{name}.shapes[{place}] = {view}.shapes[{place + dropped}];")
        body.line(f"{name}.strides[{place}] = {view}.strides[{place + dropped}];")
    body.line(f"if ({view}.numel() == 0) {{")
    with body.block():
        body.line(f"{name}.shapes[0] = 0;")
    body.line("}")
    body.line(f"uint64_t {stride} = 1;")
    body.line(f"bool {contiguous} = true;")
    body.line(f"for (int32_t {axis} = {rank - 1}; {axis} >= 0; --{axis}) {{")
    with body.block():
        body.line(f"{contiguous} = {contiguous} && {name}.strides[{axis}] == {stride};")
        body.line(f"{stride} *= {name}.shapes[{axis}];")
    body.line("}")
    body.line(f"{name}.is_contiguous = {contiguous};")
    return name


def _reshaped(
    body: Body, op: Operation, source: str, result: SSAValue, sizes: Sequence[Index]
) -> None:
    tensor = tensor_of(result.type)
    _check_rank(op, tensor)
    base = base_name(result)
    name = body.declare(base)
    shapes = body.declare(f"{name}_shapes")
    extents = [_u32(body, extent) for extent in shape_of(tensor, sizes)]
    body.line(_array(shapes, extents))
    body.line(f"{TENSOR} {name} = {source}.reshape({shapes}, {len(extents)});")
    body.bind(result, name)


def _reshape(body: Body, op: Operation) -> None:
    assert isinstance(op, ptensor.ReshapeOp)
    _reshaped(body, op, body.of(op.source), op.result, op.extents)


def _transposed(body: Body, source: str, result: SSAValue, first: int, second: int) -> None:
    name = body.declare(base_name(result))
    body.line(f"{TENSOR} {name} = {source}.transpose({first}, {second});")
    body.bind(result, name)


def _transpose(body: Body, op: Operation) -> None:
    assert isinstance(op, TransposeOp)
    axes = op.axis1.value.data, op.axis2.value.data
    _transposed(body, body.of(op.source), op.result, *axes)


def _layout_view(body: Body, op: Operation) -> None:
    assert isinstance(op, LayoutViewOp)
    source, result = tensor_of(op.source.type), tensor_of(op.result.type)
    have, want = source.get_shape(), result.get_shape()
    if layout_of(source) is layout_of(result):
        if have == want and DYNAMIC_INDEX not in have:
            body.alias(op.result, op.source)
        elif layout_of(result) is TensorLayout.ND:
            _reshaped(body, op, body.of(op.source), op.result, op.extents)
        else:
            raise OpError(op, "reshapes a tensor that is not row-major: the runtime does not")
        return
    if (*want[:-2], want[-1], want[-2]) != have:
        raise OpError(
            op,
            "changes shape and layout: the runtime only swaps the two innermost dimensions "
            f"of {source}",
        )
    _transposed(body, body.of(op.source), op.result, len(want) - 2, len(want) - 1)


def _reinterpret(body: Body, op: Operation) -> None:
    raise OpError(op, "sees elements of another type, which the runtime's tensors do not")


def _same(body: Body, op: Operation) -> None:
    """Another type or the next name for the same window: nothing happens."""
    body.alias(op.results[0], op.operands[0])


def _assemble(body: Body, op: Operation) -> None:
    """What is put back where it is already only gets its next name."""
    assert isinstance(op, ptensor.AssembleOp)
    if op.atomic.data is not AtomicKind.NONE:
        raise OpError(
            op, "adds to a tensor, which no task does here: move it into the in-core scope"
        )
    if not _is_in_place(body, op):
        raise OpError(
            op,
            "copies a buffer into another, which orchestration does not: let the kernel write "
            "there, or run 'fuse-create-assemble-to-slice' before 'derive-call-directions'",
        )
    body.alias(op.result, op.destination)


def _is_in_place(body: Body, op: ptensor.AssembleOp) -> bool:
    """Whether what is assembled is the window of the target that it is assembled into."""
    source, *offsets = body.windows.get(body.of(op.source), ("",))
    wanted = [_u32(body, offset) for offset in op.window_offsets]
    return source == body.of(op.destination) and offsets == wanted


# Elements.


def _element(body: Body, op: Operation, base: str, element: Sequence[Index]) -> tuple[str, str]:
    """The name of the indices of an element, and the line that makes it."""
    name = body.declare(f"indices_{base}")
    return name, _array(name, [_u32(body, index) for index in element])


def _read(body: Body, op: Operation) -> None:
    assert isinstance(op, ptensor.ReadOp)
    name = body.declare(base_name(op.result))
    type = body.type_of(op.result)
    indices, line = _element(body, op, name, op.element)
    body.line(line)
    source, rank = body.of(op.source), len(op.element)
    body.line(f"{type} {name} = get_tensor_data<{type}>({source}, {rank}, {indices});")
    body.bind(op.result, name)


def _write(body: Body, op: Operation) -> None:
    assert isinstance(op, ptensor.WriteOp)
    target, rank = body.of(op.destination), len(op.element)
    type = body.type_of(op.value)
    body.line("{")
    with body.block():
        indices, line = _element(body, op, base_name(op.destination), op.element)
        body.line(line)
        body.line(f"set_tensor_data<{type}>({target}, {rank}, {indices}, {body.of(op.value)});")
    body.line("}")
    body.alias(op.result, op.destination)


def _dim(body: Body, op: Operation) -> None:
    assert isinstance(op, ptensor.DimOp)
    axis = op.axis.value.data
    extent = tensor_of(op.source.type).get_shape()[axis]
    if extent != DYNAMIC_INDEX:
        body.bind(op.result, str(extent))
        return
    name = body.declare(base_name(op.result))
    body.line(f"int64_t {name} = static_cast<int64_t>({body.of(op.source)}.shapes[{axis}]);")
    body.bind(op.result, name)


WRITERS: Writers = {
    ptensor.CreateOp: _create,
    ptensor.FullOp: _create,
    ptensor.SliceOp: _slice,
    ptensor.ReshapeOp: _reshape,
    TransposeOp: _transpose,
    LayoutViewOp: _layout_view,
    ReinterpretViewOp: _reinterpret,
    ptensor.TypeCastOp: _same,
    ptensor.SetValidShapeOp: _same,
    ptensor.UpdatedOp: _same,
    ptensor.AssembleOp: _assemble,
    ptensor.ReadOp: _read,
    ptensor.WriteOp: _write,
    ptensor.DimOp: _dim,
}
