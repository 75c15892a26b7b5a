"""Calls of ops on whole tensors, where shapes stand in types and lists are offsets or extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.orch import MANUAL_DEP
from pypto_xdsl.dialects.ptensor import aliases
from pypto_xdsl.dialects.ptensor import fill as tensor_fill
from pypto_xdsl.dialects.ptensor import memory as ptensor
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind, PadValue
from pypto_xdsl.dialects.ptensor.types import (
    TensorLayout,
    is_tensor_type,
    layout_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.frontend.pl.arguments import (
    Arguments,
    Bound,
    run_time_extents,
    static_extents,
    symbolic_extents,
)
from pypto_xdsl.frontend.pl.static_values import Symbol
from pypto_xdsl.frontend.pl.structural_ops import (
    Form,
    atomic_kind,
    axes_of,
    emit,
    fill_value,
    narrowed,
    pad_value,
    rank_must_be,
    static_shape,
    valid_extents,
)
from pypto_xdsl.frontend.pl.values import Value
from pypto_xdsl.syntax.lists import Index


def _tensor_transpose(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor axis1? axis2? valid_shape?")
    source, rank = bound.tensor("tensor"), bound.tensor_type("tensor").get_num_dims()
    axes = axes_of(bound, rank)
    value = emit(bound, lambda: aliases.TransposeOp(source, *axes))
    if bound.has("valid_shape"):
        valid = bound.indices("valid_shape")
        value = emit(bound, lambda: ptensor.SetValidShapeOp(value, valid))
    return value


def _tensor_reinterpret_view(arguments: Arguments) -> Value:
    bound = arguments.bind("data dtype *shape?")
    source, type = bound.tensor("data"), bound.tensor_type("data")
    dtype = bound.dtype("dtype")
    if bound.has("shape"):
        shape = bound.extents("shape")
    else:
        shape = list(symbolic_shape_of(type))
        last = shape[-1]
        scaled = last * byte_width(type.element_type) if isinstance(last, int) else None
        if scaled is None or scaled % byte_width(dtype) or last == DYNAMIC_INDEX:
            raise bound.error("data", "cannot tell the last extent: give shape=")
        shape[-1] = scaled // byte_width(dtype)
    result = tensor_type(symbolic_extents(shape), dtype)
    sizes = run_time_extents(bound.context, shape, bound.node)
    return emit(bound, lambda: aliases.ReinterpretViewOp(source, result, sizes))


def _create_l1(arguments: Arguments) -> Value:
    bound = arguments.bind("shape dtype transpose?")
    extents = static_shape(bound, "shape")
    result = tensor_type(extents, bound.dtype("dtype"))
    transpose = bound.boolean("transpose")
    return emit(bound, lambda: tensor_fill.CreateL1Op(result, transpose=transpose))


def _tensor_create(arguments: Arguments) -> Value:
    bound = arguments.bind("shape dtype layout? manual_dep? init_value?")
    shape = bound.extents("shape")
    dtype = bound.dtype("dtype")
    layout = bound.word("layout", TensorLayout, TensorLayout.ND)
    sizes = run_time_extents(bound.context, shape, bound.node_of("shape"))
    type = tensor_type(symbolic_extents(shape), dtype, layout=layout)
    value = bound.get("init_value")
    if value is not None:
        filled = bound.context.materialize(value, bound.node_of("init_value"), dtype)
        created = emit(bound, lambda: ptensor.FullOp(filled, type, sizes))
    else:
        created = emit(bound, lambda: ptensor.CreateOp(type, sizes))
    if bound.boolean("manual_dep"):
        op = created.owner
        assert isinstance(op, Operation)
        op.attributes[MANUAL_DEP] = UnitAttr()
    return created


def _tensor_full(arguments: Arguments) -> Value:
    bound = arguments.bind("shape dtype value")
    shape = bound.extents("shape")
    dtype = bound.dtype("dtype")
    value = fill_value(bound, dtype)
    sizes = run_time_extents(bound.context, shape, bound.node_of("shape"))
    type = tensor_type(symbolic_extents(shape), dtype)
    return emit(bound, lambda: ptensor.FullOp(value, type, sizes))


def _tensor_slice(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor shape offset valid_shape? drop_dims? pad_value? clamp?")
    source = bound.tensor("tensor")
    shape, offsets = bound.extents("shape"), bound.indices("offset")
    rank = bound.tensor_type("tensor").get_num_dims()
    rank_must_be(bound, "offset", offsets, rank)
    if len(shape) > rank or not shape:
        raise bound.error("shape", f"'shape' lists {len(shape)} dimensions, expected {rank}")
    valid = bound.extents("valid_shape") if bound.has("valid_shape") else []
    dropped = bound.extents("drop_dims") if bound.has("drop_dims") else []
    pad = pad_value(bound, "pad_value")
    if bound.boolean("clamp") and not valid and len(shape) == rank:
        limits = valid_shape_of(bound.tensor_type("tensor"))
        valid = narrowed(shape, offsets, limits, clamp=True)
    value = slice_tensor(bound, source, shape, offsets, valid, pad)
    if dropped:
        value = drop_dimensions(bound, value, [int(axis) for axis in dropped])
    return value


def slice_tensor(
    bound: Bound,
    source: SSAValue,
    shape: Sequence[Value],
    offsets: Sequence[Index],
    valid: Sequence[Value] = (),
    pad: PadValue = PadValue.NULL,
) -> SSAValue:
    """A window of a tensor, with a valid region where one is given."""
    type = tensor_of(source.type)
    sizes = run_time_extents(bound.context, shape, bound.node)
    known = valid and all(isinstance(extent, int) for extent in valid)
    result = tensor_type(
        symbolic_extents(shape),
        type.element_type,
        valid=static_extents(valid) if known and len(valid) == len(shape) else None,
        layout=layout_of(type),
    )
    value = emit(bound, lambda: ptensor.SliceOp(source, offsets, result, sizes))
    if valid and not known and list(valid) != list(shape):
        if len(valid) != len(shape):
            raise bound.error("valid_shape", f"lists {len(valid)} extents, expected {len(shape)}")
        listed = [v if isinstance(v, int) else bound.context.as_index(v, bound.node) for v in valid]
        value = emit(bound, lambda: ptensor.SetValidShapeOp(value, listed))
    if pad is not PadValue.NULL:
        value = emit(bound, lambda: ptensor.TypeCastOp(value, with_pad(value.type, pad)))
    return value


def with_pad(type: Attribute, pad: PadValue) -> TensorType[Attribute]:
    """The same tensor type with another pad value."""
    tensor = tensor_of(type)
    return tensor_type(
        symbolic_shape_of(tensor),
        tensor.element_type,
        valid=valid_shape_of(tensor),
        layout=layout_of(tensor),
        pad=pad,
    )


def drop_dimensions(bound: Bound, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """The same tensor without dimensions of extent 1."""
    type = tensor_of(value.type)
    shape = symbolic_shape_of(type)
    for axis in axes:
        if not 0 <= axis < len(shape) or shape[axis] != 1:
            raise bound.error("drop_dims", f"cannot drop dimension {axis}: its extent is not 1")
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    valid = valid_shape_of(type)
    result = tensor_type(
        [shape[axis] for axis in kept],
        type.element_type,
        valid=[valid[axis] for axis in kept] if valid != type.get_shape() else None,
    )
    return reshape_tensor(bound, value, result)


def reshape_tensor(
    bound: Bound, value: SSAValue, result: TensorType[Attribute], sizes: Sequence[Index] = ()
) -> SSAValue:
    """A tensor in another shape; run-time extents that are not given are read from the source."""
    if DYNAMIC_INDEX in result.get_shape() and not sizes:
        source = tensor_of(value.type)
        listed: list[Index] = []
        axes = iter(axis for axis, extent in enumerate(source.get_shape()) if extent < 0)
        for extent in result.get_shape():
            if extent != DYNAMIC_INDEX:
                listed.append(extent)
                continue
            axis = next(axes)
            dim = bound.context.emit(ptensor.DimOp(value, axis), bound.node)
            listed.append(dim.result)
        sizes = listed
    return emit(bound, lambda: ptensor.ReshapeOp(value, result, sizes))


def _tensor_reshape(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor shape valid_shape?")
    source, type = bound.tensor("tensor"), bound.tensor_type("tensor")
    shape = bound.extents("shape", inferred=True)
    if -1 in shape:
        static = type.get_shape()
        rest = prod(extent for extent in shape if isinstance(extent, int) and extent != -1)
        if DYNAMIC_INDEX in static or shape.count(-1) > 1 or not rest:
            raise bound.error("shape", "cannot tell the extent that -1 stands for")
        shape = [prod(static) // rest if extent == -1 else extent for extent in shape]
    sizes = run_time_extents(bound.context, shape, bound.node_of("shape"))
    result = tensor_type(symbolic_extents(shape), type.element_type)
    declared = bound.context.declared
    if is_tensor_type(declared) and valid_shape_of(type) != type.get_shape():
        # What is valid of the source does not tell by itself what is valid in another shape.
        same = symbolic_shape_of(declared) == symbolic_shape_of(result)
        if same and declared.element_type == result.element_type:
            valid = valid_shape_of(declared)
            result = tensor_type(symbolic_extents(shape), type.element_type, valid=valid)
    value = emit(bound, lambda: ptensor.ReshapeOp(source, result, sizes))
    if bound.has("valid_shape"):
        valid = bound.indices("valid_shape")
        value = emit(bound, lambda: ptensor.SetValidShapeOp(value, valid))
    return value


def _assemble(arguments: Arguments) -> Value:
    bound = arguments.bind("target source offset *atomic?")
    destination, source = bound.tensor("target"), bound.tensor("source")
    offsets = bound.indices("offset")
    rank_must_be(bound, "offset", offsets, bound.tensor_type("target").get_num_dims())
    return assemble_tensor(bound, source, destination, offsets, atomic_kind(bound))


def assemble_tensor(
    bound: Bound,
    source: SSAValue,
    destination: SSAValue,
    offsets: Sequence[Index],
    atomic: AtomicKind = AtomicKind.NONE,
) -> SSAValue:
    """Write a tensor into another; all names of the other stand for the result."""
    extra = tensor_of(source.type).get_num_dims() - tensor_of(destination.type).get_num_dims()
    if extra > 0:
        source = drop_dimensions(bound, source, range(extra))
    destination = bound.context.before_put_back(source, destination, offsets)
    result = emit(bound, lambda: ptensor.AssembleOp(source, destination, offsets, atomic=atomic))
    bound.context.written(destination, result)
    return result


def _dim(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor axis")
    tensor, type = bound.tensor("tensor"), bound.tensor_type("tensor")
    axis, rank = bound.integer("axis"), type.get_num_dims()
    if not -rank <= axis < rank:
        raise bound.error("axis", f"axis {axis} of a tensor of {rank} dimensions")
    axis %= rank
    extent = type.get_shape()[axis]
    if extent != DYNAMIC_INDEX and not bound.context.strict_ssa:
        return extent
    return emit(bound, lambda: ptensor.DimOp(tensor, axis))


def _tensor_read(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor indices")
    source, indices = bound.tensor("tensor"), bound.indices("indices")
    rank_must_be(bound, "indices", indices, bound.tensor_type("tensor").get_num_dims())
    return emit(bound, lambda: ptensor.ReadOp(source, indices))


def _tensor_write(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor indices value")
    destination, indices = bound.tensor("tensor"), bound.indices("indices")
    rank_must_be(bound, "indices", indices, bound.tensor_type("tensor").get_num_dims())
    element = bound.tensor_type("tensor").element_type
    value = bound.scalar("value", element)
    result = emit(bound, lambda: ptensor.WriteOp(value, destination, indices))
    bound.context.written(destination, result)
    return result


def _tensor_set_validshape(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor valid_rows valid_cols?")
    source = bound.tensor("tensor")
    valid = valid_extents(bound)
    return emit(bound, lambda: ptensor.SetValidShapeOp(source, valid))


def _view(arguments: Arguments) -> Value:
    bound = arguments.bind("tensor shape? valid_shape? *layout?")
    source, type = bound.tensor("tensor"), bound.tensor_type("tensor")
    layout = bound.word("layout", TensorLayout, layout_of(type))
    if bound.has("shape"):
        shape = bound.extents("shape")
    else:
        shape = [Symbol(e) if isinstance(e, str) else e for e in symbolic_shape_of(type)]
        if layout is not layout_of(type):
            # The same bytes in the other order: rows are columns.
            shape[-2:] = reversed(shape[-2:])
    sizes = run_time_extents(bound.context, shape, bound.node)
    result = tensor_type(symbolic_extents(shape), type.element_type, layout=layout)
    value = emit(bound, lambda: aliases.LayoutViewOp(source, result, sizes))
    if bound.has("valid_shape"):
        valid = bound.indices("valid_shape")
        value = emit(bound, lambda: ptensor.SetValidShapeOp(value, valid))
    return value


FORMS: Mapping[str, Form] = {
    "tensor.transpose": _tensor_transpose,
    "tensor.reinterpret_view": _tensor_reinterpret_view,
    "tensor.create_l1": _create_l1,
    "tensor.create": _tensor_create,
    "tensor.full": _tensor_full,
    "tensor.slice": _tensor_slice,
    "tensor.reshape": _tensor_reshape,
    "tensor.assemble": _assemble,
    "tensor.dim": _dim,
    "tensor.read": _tensor_read,
    "tensor.write": _tensor_write,
    "tensor.set_validshape": _tensor_set_validshape,
    "tensor.view": _view,
}
"""Ops with a form of their own, by level and name."""
