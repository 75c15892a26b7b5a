"""Calls of ops on tensors, where they are not just operands and properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor
from pypto_xdsl.dialects.ptensor import fill as tensor_fill
from pypto_xdsl.dialects.ptensor import gather as tensor_gather
from pypto_xdsl.dialects.ptensor.attributes import AtomicKind
from pypto_xdsl.dialects.ptensor.types import layout_of, tensor_of, valid_shape_of
from pypto_xdsl.frontend.pl.vocabulary import COMPARE_MODES, spell
from pypto_xdsl.targets.pl import shared_forms
from pypto_xdsl.targets.pl.parts import Parts, call, dtype_of, extents_of, keyword, listed, sized
from pypto_xdsl.targets.pl.shared_forms import Form, fill_value


def _tensor_create(op: ptensor.CreateOp) -> Parts:
    type = tensor_of(op.result.type)
    arguments: list[Parts] = [
        extents_of(type, op.extents),
        keyword("dtype", dtype_of(op, type.element_type)),
        keyword("layout", spell("TensorLayout", layout_of(type))),
    ]
    if orch.MANUAL_DEP in op.attributes:
        arguments.append(keyword("manual_dep", "True"))
    return call("tensor.create", *arguments)


def _tensor_full(op: ptensor.FullOp) -> Parts:
    type = tensor_of(op.result.type)
    dtype = keyword("dtype", dtype_of(op, type.element_type))
    shape = extents_of(type, op.extents)
    if orch.MANUAL_DEP in op.attributes:
        by_hand = keyword("manual_dep", "True")
        value = ["init_", *fill_value(op, op.value)]
        return call("tensor.create", shape, dtype, by_hand, value)
    return call("tensor.full", shape, dtype, fill_value(op, op.value))


def _tensor_slice(op: ptensor.SliceOp) -> Parts:
    valid = valid_shape_of(tensor_of(op.result.type))
    if valid == tensor_of(op.result.type).get_shape():
        return call("tensor.slice", *_window(op))
    if DYNAMIC_INDEX in valid:
        raise OpError(op, "has no spelling in the DSL with a run-time valid region")
    return call("tensor.slice", *_window(op), listed(valid))


def _window(op: ptensor.SliceOp) -> list[Parts]:
    """The tensor, the extents and the offsets."""
    extents = extents_of(op.result.type, op.extents)
    return [[op.source], extents, _offsets(op)]


def _offsets(op: ptensor.SliceOp) -> Parts:
    """
    The offsets of a window. One that reaches beyond its tensor, of which less is valid, is only
    legal where that is not plain to see: offsets that are computed stay so.
    """
    limits = tensor_of(op.source.type).get_shape()
    extents = tensor_of(op.result.type).get_shape()
    same_rank = len(limits) == len(extents)
    beyond = same_rank and any(
        DYNAMIC_INDEX not in (limit, extent) and extent > limit
        for limit, extent in zip(limits, extents, strict=True)
    )
    return sized(op.window_offsets) if beyond else listed(op.window_offsets)


def valid_window(op: Operation | None) -> ptensor.SetValidShapeOp | None:
    """
    The op that says what is valid of a window, known at run time: the DSL says it where it says
    the window, so that both are one call.
    """
    if not isinstance(op, ptensor.SliceOp) or not op.result.has_one_use():
        return None
    type = tensor_of(op.result.type)
    follows = op.next_op
    while isinstance(follows, ConstantOp):
        follows = follows.next_op
    if not isinstance(follows, ptensor.SetValidShapeOp) or follows.source is not op.result:
        return None
    known = all(isinstance(extent, int) for extent in follows.valid_extents)
    return None if known or valid_shape_of(type) != type.get_shape() else follows


def _set_validshape(op: ptensor.SetValidShapeOp) -> Parts:
    window = op.source.owner
    if isinstance(window, ptensor.SliceOp) and valid_window(window) is op:
        return call("tensor.slice", *_window(window), sized(op.valid_extents))
    return shared_forms.set_validshape("tensor")(op)


def _tensor_reshape(op: ptensor.ReshapeOp) -> Parts:
    return call("tensor.reshape", [op.source], extents_of(op.result.type, op.extents))


def _tensor_view(op: Any) -> Parts:
    type = tensor_of(op.result.type)
    layout = keyword("layout", spell("TensorLayout", layout_of(type)))
    return call("tensor.view", [op.source], extents_of(type, op.extents), layout)


def _tensor_reinterpret(op: Any) -> Parts:
    type = tensor_of(op.result.type)
    shape: Parts = ["shape=", *extents_of(type, op.extents)]
    return call("tensor.reinterpret_view", [op.source], [dtype_of(op, type.element_type)], shape)


def _tensor_assemble(op: ptensor.AssembleOp) -> Parts:
    arguments: list[Parts] = [[op.destination], [op.source], listed(op.window_offsets)]
    if op.atomic.data is not AtomicKind.NONE:
        arguments.append(keyword("atomic", spell("AtomicType", op.atomic.data)))
    return call("tensor.assemble", *arguments)


def _dim(op: ptensor.DimOp) -> Parts:
    return call("tensor.dim", [op.source], [str(op.axis.value.data)])


def _tensor_transpose(op: Any) -> Parts:
    axes: list[Parts] = [[str(axis.value.data)] for axis in (op.axis1, op.axis2)]
    return call("tensor.transpose", [op.source], *axes)


def _create_l1(op: tensor_fill.CreateL1Op) -> Parts:
    type = tensor_of(op.result.type)
    arguments: list[Parts] = [
        listed(type.get_shape()),
        keyword("dtype", dtype_of(op, type.element_type)),
    ]
    if op.transpose.value.data:
        arguments.append(keyword("transpose", "True"))
    return call("tensor.create_l1", *arguments)


def _gather(op: tensor_gather.GatherOp) -> Parts:
    axis = keyword("dim", str(op.dim.value.data))
    return call("tensor.gather", [op.source], axis, ["index=", op.index])


def _scatter(op: tensor_gather.ScatterOp) -> Parts:
    arguments: list[Parts] = [["index=", op.index], ["src=", op.source]]
    return call("tensor.scatter", [op.destination], keyword("dim", "-1"), *arguments)


def _matmul_acc(op: ptensor.MatmulAccOp) -> Parts:
    arguments: list[Parts] = [[op.acc], [op.lhs], [op.rhs]]
    for word, flag in (("a_trans", op.a_trans), ("b_trans", op.b_trans)):
        if flag.value.data:
            arguments.append(keyword(word, "True"))
    if op.init_cond is not None:
        arguments.append(["init_cond=", op.init_cond])
    return call("tensor.matmul_acc", *arguments)


def _with_scalar(name: str) -> Form:
    """The op of this name with a scalar as second operand: the DSL has one name for both."""
    return lambda op: call(f"tensor.{name}", [op.lhs], [op.rhs])


def _compare_scalar(op: ptensor.CmpsOp) -> Parts:
    word = keyword("cmp_type", str(COMPARE_MODES.index(op.cmp_type.data)))
    return call("tensor.cmp", [op.lhs], [op.rhs], word)


FORMS: Mapping[type[Operation], Form] = {
    ptensor.CreateOp: _tensor_create,
    ptensor.FullOp: _tensor_full,
    ptensor.SliceOp: _tensor_slice,
    ptensor.ReshapeOp: _tensor_reshape,
    ptensor.LayoutViewOp: _tensor_view,
    ptensor.ReinterpretViewOp: _tensor_reinterpret,
    ptensor.SetValidShapeOp: _set_validshape,
    ptensor.AssembleOp: _tensor_assemble,
    ptensor.DimOp: _dim,
    ptensor.ReadOp: shared_forms.read("tensor"),
    ptensor.WriteOp: shared_forms.write("tensor"),
    ptensor.TransposeOp: _tensor_transpose,
    ptensor.MatmulAccOp: _matmul_acc,
    ptensor.MaximumsOp: _with_scalar("maximum"),
    ptensor.MinimumsOp: _with_scalar("minimum"),
    ptensor.CmpsOp: _compare_scalar,
    tensor_fill.FillpadExpandOp: shared_forms.fillpad_expand("tensor"),
    tensor_fill.CiOp: shared_forms.generator("tensor"),
    tensor_fill.CreateL1Op: _create_l1,
    tensor_gather.GatherOp: _gather,
    tensor_gather.GatherRowOp: shared_forms.gather_row("tensor"),
    tensor_gather.ScatterOp: _scatter,
    tensor_gather.ScatterUpdateOp: shared_forms.scatter_update("tensor"),
    ptensor.MrgsortFormat2Op: shared_forms.merge_sort("tensor"),
    ptensor.MrgsortFormat1Op: shared_forms.merge_sort_blocks("tensor"),
}
"""How ops on tensors are called."""
