"""
Lowers one kernel from tiles to `pto`: values become bytes.

`lower_kernel` makes the `func.func` of a kernel. What it decides:

* **Storage**: one `pto.alloc_tile` for all tiles that share storage (`analysis.tile_storage`),
  where the first of them is made, at the address that the program says, if it does; copies
  (`pto.tmov`) where a value is handed over into a place that it does not live in.
* **Views**: a tile reshaped or seen transposed is a `pto.treshape` of its storage, one with another
  valid region a `pto.subview`.
* **Signature**: tensors come first, as pointers; then the other parameters; then the run-time
  extents of the tensors, one a symbol; then the place in the grid, where the kernel asks for it.
* **Tensors** name windows and make no code, see `global_views`. Loops and ifs carry scalars only.

How each kind of op is lowered: `control_flow_lowering`, `transfer_lowering` (global memory),
`global_gather_lowering` (likewise, by index), `tile_part_lowering` (windows and elements of tiles),
`sync_lowering` (barriers, events, flags), `ring_lowering`, and for all others
`instruction_lowering`. `LOWERINGS` has those that are no single instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, IndexType, TensorType, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.tile_storage import TileStorage
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor, pto, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import is_element_type, is_integer
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.ptensor import TensorLayout
from pypto_xdsl.dialects.pto.unit_attributes import KERNEL_KIND
from pypto_xdsl.dialects.tile.cross_core import RingOp
from pypto_xdsl.rewriting import global_gather_lowering, sync_lowering
from pypto_xdsl.rewriting import instruction_lowering as instructions
from pypto_xdsl.rewriting import tile_part_lowering as parts
from pypto_xdsl.rewriting import transfer_lowering as transfers
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering
from pypto_xdsl.rewriting.explicit_addresses import explicit_places
from pypto_xdsl.rewriting.global_views import View, Window, lie_in_a_row, packed_strides
from pypto_xdsl.rewriting.kernel_builder import KernelBuilder
from pypto_xdsl.rewriting.ring_lowering import RING_OPS, lower_ring_op
from pypto_xdsl.syntax.lists import Index

GRID: Mapping[type[Operation], str] = {
    tile.GetBlockIdxOp: "__pypto_spmd_block_idx",
    tile.GetBlockNumOp: "__pypto_spmd_block_num",
    tile.GetSubblockIdxOp: "__pypto_spmd_subblock_idx",
}
"""The hidden i32 parameter that answers each question about the grid, as PyPTO names it."""

RING_MEMORIES = {
    kind: pto.AddressSpace.MAT if kind is FunctionKind.AIC else pto.AddressSpace.VEC
    for kind in FunctionKind
}
"""The memory in which a core keeps what it pops."""

KERNEL_KINDS = {
    FunctionKind.AIC: pto.KernelKind.CUBE,
    FunctionKind.AIV: pto.KernelKind.VECTOR,
}


def lower_kernel(kernel: orch.FuncOp, backend: Backend) -> tuple[func.FuncOp, Sequence[int]]:
    """
    The kernel as a `pto` function, and for each of its results the parameter that it names
    (`orch.NO_PARAMETER` for none). The kernel itself stays as it is.

    Raises `OpError` at the first op that is not handled.
    """
    return _Lowering(kernel, backend).run()


class _Lowering(ControlFlowLowering):
    """One kernel while it is lowered."""

    def __init__(self, kernel: orch.FuncOp, backend: Backend):
        self.backend = backend
        super().__init__(
            KernelBuilder(kernel),
            TileStorage(kernel, partial(instructions.may_write_over, backend=backend)),
        )
        self.kernel = kernel
        self.grid: dict[str, SSAValue] = {}
        self._ahead: set[Operation] = set()
        """Ops that were lowered before their turn."""
        self.buffers.places = explicit_places(self.storage, backend)

    def run(self) -> tuple[func.FuncOp, Sequence[int]]:
        self._parameters()
        returned: Operation | None = None
        for op in self.kernel.body.block.ops:
            if isinstance(op, orch.ReturnOp):
                returned = op
            else:
                self.lower(op)
        self.builder.insert_op(func.ReturnOp())
        self.buffers.erase_unused()
        entry = self.builder.finish()
        types = FunctionType.from_lists([argument.type for argument in entry.args], [])
        lowered = func.FuncOp(self.kernel.sym_name.data, types, Region(entry))
        lowered.location = self.kernel.location
        kind = KERNEL_KINDS.get(self.kernel.kind.data)
        if kind is not None:
            lowered.attributes[KERNEL_KIND] = pto.KernelKindAttr(kind)
        return lowered, () if returned is None else self._returns(returned)

    def _returns(self, op: Operation) -> Sequence[int]:
        found: list[int] = []
        for place, value in enumerate(op.operands):
            window = self.windows.get(value)
            if window is None:
                raise OpError(op, f"returns {value.type} as result {place}, which is no buffer")
            found.append(window.view.parameter)
        return found

    # The signature.

    def _parameters(self) -> None:
        entry = self.builder.entry
        parameters = tuple(self.kernel.parameters)
        tensors = [p for p in parameters if isinstance(p.type, TensorType)]
        pointers: dict[SSAValue, SSAValue] = {}

        def add(type: Attribute, hint: str | None) -> SSAValue:
            argument = entry.insert_arg(type, len(entry.args))
            argument.name_hint = hint
            argument.location = self.kernel.location
            return argument

        for parameter in tensors:
            element_type = ptensor.tensor_of(parameter.type).element_type
            pointers[parameter] = add(pto.PtrType(element_type), parameter.name_hint)
        for parameter in parameters:
            if parameter in pointers:
                continue
            if not is_element_type(parameter.type):
                raise OpError(self.kernel, f"has a parameter of type {parameter.type}")
            self.scalars[parameter] = add(parameter.type, parameter.name_hint)
        symbols: dict[str, SSAValue] = {}
        for parameter in tensors:
            tensor = ptensor.tensor_of(parameter.type)
            extents: list[Index] = []
            for extent in ptensor.symbolic_shape_of(tensor):
                if isinstance(extent, str):
                    if extent not in symbols:
                        symbols[extent] = add(IndexType(), extent)
                    extents.append(symbols[extent])
                elif extent == DYNAMIC_INDEX:
                    extents.append(add(IndexType(), f"{parameter.name_hint or 'dim'}_extent"))
                else:
                    extents.append(extent)
            self._enter_tensor(parameter, parameters.index(parameter), pointers[parameter], extents)
        asked = {GRID[type(op)] for op in self.storage.order.ops if type(op) in GRID}
        for name in GRID.values():
            if name in asked:
                self.grid[name] = add(i32, name)

    def _enter_tensor(
        self, parameter: SSAValue, index: int, pointer: SSAValue, extents: Sequence[Index]
    ) -> None:
        type = ptensor.tensor_of(parameter.type)
        layout = ptensor.layout_of(type)
        if len(extents) > 1 and extents[-1] == 1:
            # The bytes of one column lie as those of a column-major matrix do.
            layout = TensorLayout.DN
        explicit = ptensor.explicit_strides_of(type)
        is_packed = layout is TensorLayout.ND or extents[-1] == 1
        if explicit is None:
            strides = packed_strides(extents, layout, self.builder)
        elif DYNAMIC_INDEX in explicit:
            raise OpError(self.kernel, f"has strides known only at run time: {type}")
        else:
            strides = explicit
            is_packed = is_packed and lie_in_a_row(extents, explicit)
        view = View(index, pointer, tuple(extents), strides, layout, is_packed, parameter.name_hint)
        self.windows[parameter] = Window(view, (0,) * len(extents), tuple(extents))

    # Ops.

    def lower(self, op: Operation) -> None:
        if op in self._ahead:
            return
        self.builder.origin = op
        try:
            self._dispatch(op)
        except VerifyException as error:
            raise OpError(op, str(error)) from error

    def _dispatch(self, op: Operation) -> None:
        lowering = LOWERINGS.get(type(op))
        if lowering is not None:
            lowering(op, self)
        elif self._number(op):
            pass
        elif isinstance(op, DeclaredOp):
            instructions.lower_instruction(op, self, self.backend)
        else:
            raise OpError(op, "is not lowered to pto yet")

    # Numbers.

    def number_ahead(self, value: SSAValue) -> SSAValue | None:
        if value not in self.scalars:
            op, origin = value.owner, self.builder.origin
            if not isinstance(op, Operation) or not _is_scalar(op):
                return None
            if any(self.number_ahead(operand) is None for operand in op.operands):
                return None
            self.lower(op)
            self._ahead.add(op)
            self.builder.origin = origin
        return self.scalars[value]

    def _number(self, op: Operation) -> bool:
        """Lower an op that makes a number from numbers, or of the grid; False if it is none."""
        match op:
            case arith.ConstantOp():
                self._constant(op)
            case arith.AddfOp():
                # The assembler does not lower arith.addf.
                negated = self.builder.insert(arith.NegfOp(self.value(op.rhs)))
                difference = arith.SubfOp(self.value(op.lhs), negated)
                self.scalars[op.result] = self.builder.insert(difference, op.result.name_hint)
            case arith.BitcastOp() if is_integer(op.input.type) and is_integer(op.result.type):
                # Signed and unsigned numbers of one width have the same bits.
                number = self.builder.convert(self.value(op.input), op.result.type)
                self.scalars[op.result] = number
            case _ if _is_scalar(op):
                self._copy(op)
            case _:
                return False
        return True

    def _constant(self, op: arith.ConstantOp) -> None:
        type = op.result.type
        value = op.value
        if isinstance(type, IndexType) or (is_integer(type) and type.width.data > 1):
            number = cast(Any, value).value.data
            self.scalars[op.result] = self.builder.constant(number, type)
        else:
            copy = arith.ConstantOp(value, type)
            self.scalars[op.result] = self.builder.hoist(copy, op.result.name_hint)

    def _copy(self, op: Operation) -> None:
        """An op on scalars, as it is."""
        new = type(op).create(
            operands=[self.value(operand) for operand in op.operands],
            result_types=op.result_types,
            properties=op.properties,
            attributes=op.attributes,
        )
        self.builder.insert_op(new)
        self._name_scalars(op, new)

    def _name_scalars(self, old: Operation, new: Operation) -> None:
        for result, value in zip(old.results, new.results, strict=True):
            value.name_hint = result.name_hint
            self.scalars[result] = value


def _is_scalar(op: Operation) -> bool:
    """Whether an op works on numbers alone."""
    return (
        not isinstance(op, DeclaredOp)
        and not op.regions
        and bool(op.results)
        and all(is_element_type(value.type) for value in (*op.operands, *op.results))
    )


# What is more than one instruction, or less.


def _flow_lowering(op: Operation, into: _Lowering) -> None:
    match op:
        case scf.ForOp():
            into.lower_for(op)
        case scf.WhileOp():
            into.lower_while(op)
        case _:
            assert isinstance(op, scf.IfOp)
            into.lower_if(op)


def _create(op: tile.CreateOp, into: _Lowering) -> None:
    into.buffers.set_extents(op.result, into.indices(op.valid_extents))
    into.buffers.allocate(op.result)


def _set_valid_shape(op: tile.SetValidShapeOp, into: _Lowering) -> None:
    into.buffers.set_extents(op.result, into.indices(op.valid_extents))
    into.buffers.view(op)


def _view(
    op: tile.ReshapeOp | tile.TransposeViewOp | tile.ReinterpretViewOp, into: _Lowering
) -> None:
    into.buffers.view(op)


def _buffer(op: tile.AllocOp, into: _Lowering) -> None:
    """Where it is, `explicit_addresses` says; it is no code."""


def _place(op: tile.PlaceOp, into: _Lowering) -> None:
    into.buffers.same(op.source, op.result)


def _move(op: tile.MoveOp, into: _Lowering) -> None:
    window = parts.boxed_window(op.source)
    if window is None:
        instructions.lower_instruction(op, into, into.backend)
    else:
        parts.extract(window.source, window.window_offsets, op.result, into)


def _valid_dim(op: tile.ValidDimOp, into: _Lowering) -> None:
    extent = into.buffers.valid(op.source)[op.axis.value.data]
    into.scalars[op.result] = into.builder.index(extent)


def _place_in_grid(op: tile.GridOp, into: _Lowering) -> None:
    place = into.builder.convert(into.grid[GRID[type(op)]], op.result.type)
    place.name_hint = op.result.name_hint
    into.scalars[op.result] = place


def _dimension(op: ptensor.DimOp, into: _Lowering) -> None:
    extent = into.window(op.source).extents[op.axis.value.data]
    into.scalars[op.result] = into.builder.index(extent)


def _ring(op: RingOp, into: _Lowering) -> None:
    lower_ring_op(op, into, RING_MEMORIES[into.kernel.kind.data])


LOWERINGS: Mapping[type[Operation], Callable[[Any, _Lowering], None]] = {
    **dict.fromkeys((scf.ForOp, scf.WhileOp, scf.IfOp), _flow_lowering),
    tile.CreateOp: _create,
    tile.SetValidShapeOp: _set_valid_shape,
    tile.ReshapeOp: _view,
    tile.TransposeViewOp: _view,
    tile.ReinterpretViewOp: _view,
    tile.AllocOp: _buffer,
    tile.PlaceOp: _place,
    tile.MoveOp: _move,
    tile.ValidDimOp: _valid_dim,
    **dict.fromkeys(GRID, _place_in_grid),
    ptensor.DimOp: _dimension,
    **dict.fromkeys(RING_OPS, _ring),
    **parts.LOWERINGS,
    **transfers.LOWERINGS,
    **global_gather_lowering.LOWERINGS,
    **sync_lowering.LOWERINGS,
    tile.FillpadInplaceOp: instructions.pad_in_place,
    tile.MrgsortFormat2Op: instructions.merge_lists,
}
"""Op class -> how it is lowered, where it is no single instruction of the backend."""
