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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerType,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.tile_storage import (
    TileStorage,
    is_boxed_window,
    is_view_of_rows,
    updated_operand,
)
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.instruction import Instruction
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor, pto, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import bit_width, is_element_type, is_integer
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.ptensor import AtomicKind, TensorLayout
from pypto_xdsl.dialects.pto.declaration import PtoOp
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.tile import TileLayout, TileType
from pypto_xdsl.dialects.tile.cross_core import RingOp
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering
from pypto_xdsl.rewriting.explicit_addresses import explicit_addresses
from pypto_xdsl.rewriting.global_views import View, Window, packed_strides
from pypto_xdsl.rewriting.kernel_builder import KernelBuilder
from pypto_xdsl.rewriting.ring_lowering import lower_ring_op
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
        super().__init__(KernelBuilder(kernel), TileStorage(kernel, self._may_share))
        self.kernel = kernel
        self.grid: dict[str, SSAValue] = {}
        self.buffers.addresses = explicit_addresses(self.storage, backend)

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
            lowered.attributes["pto.kernel_kind"] = pto.KernelKindAttr(kind)
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
        if explicit is None:
            strides = packed_strides(extents, layout, self.builder)
        elif DYNAMIC_INDEX in explicit:
            raise OpError(self.kernel, f"has strides known only at run time: {type}")
        else:
            strides = explicit
        view = View(index, pointer, tuple(extents), strides, layout, parameter.name_hint)
        self.windows[parameter] = Window(view, (0,) * len(extents), tuple(extents))

    # Ops.

    def lower(self, op: Operation) -> None:
        self.builder.origin = op
        try:
            self._dispatch(op)
        except VerifyException as error:
            raise OpError(op, str(error)) from error

    def _dispatch(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self.lower_for(op)
            case scf.WhileOp():
                self.lower_while(op)
            case scf.IfOp():
                self.lower_if(op)
            case arith.ConstantOp():
                self._constant(op)
            case tile.CreateOp():
                self.buffers.set_extents(op.result, self.indices(op.valid_extents))
                self.buffers.allocate(op.result)
            case tile.LoadOp():
                self._load(op)
            case tile.StoreOp():
                self._store(op)
            case tile.SetValidShapeOp():
                self.buffers.set_extents(op.result, self.indices(op.valid_extents))
                self.buffers.view(op)
            case tile.ReshapeOp() | tile.TransposeViewOp():
                self.buffers.view(op)
            case tile.AllocOp():
                pass
            case tile.PlaceOp():
                self.buffers.same(op.source, op.result)
            case tile.SliceOp():
                self._slice_tile(op)
            case tile.MoveOp() if (window := _boxed_window(op.source)) is not None:
                self._extract(window.source, window.window_offsets, op.result)
            case tile.ExtractOp():
                self._extract(op.source, op.window_offsets, op.result)
            case tile.AssembleOp():
                self._assemble(op)
            case tile.ReadOp():
                offset = self._element(op.source, op.element)
                self._scalar(
                    op, pto.TGetValOp, {"src": self.buffers.buffer(op.source), "offset": offset}
                )
            case tile.WriteOp():
                self._write(op)
            case tile.CiOp():
                self._count(op)
            case RingOp():
                lower_ring_op(op, self, RING_MEMORIES[self.kernel.kind.data])
            case tile.ValidDimOp():
                axis = op.axis.value.data
                self.scalars[op.result] = self.builder.index(self.buffers.valid(op.source)[axis])
            case tile.GetBlockIdxOp() | tile.GetBlockNumOp() | tile.GetSubblockIdxOp():
                number = self.grid[GRID[type(op)]]
                place = self.builder.convert(number, op.result.type)
                place.name_hint = op.result.name_hint
                self.scalars[op.result] = place
            case ptensor.DimOp():
                window = self.window(op.source)
                extent = window.extents[op.axis.value.data]
                self.scalars[op.result] = self.builder.index(extent)
            case ptensor.SliceOp():
                self._slice(op)
            case ptensor.ReshapeOp() | ptensor.LayoutViewOp():
                self._reshape(op)
            case ptensor.TypeCastOp() | ptensor.SetValidShapeOp():
                self.windows[op.result] = self.window(op.source)
            case ptensor.ReadOp():
                window = self.window(op.source)
                offset = window.element(self.indices(op.element), self.builder)
                self._scalar(op, pto.LoadScalarOp, {"ptr": window.view.pointer, "offset": offset})
            case ptensor.WriteOp():
                window = self.window(op.destination)
                self.builder.insert_op(
                    build(
                        pto.StoreScalarOp,
                        {
                            "ptr": window.view.pointer,
                            "offset": window.element(self.indices(op.element), self.builder),
                            "value": self.value(op.value),
                        },
                    )
                )
                self.windows[op.result] = window
            case arith.AddfOp():
                # The assembler does not lower arith.addf.
                negated = self.builder.insert(arith.NegfOp(self.value(op.rhs)))
                difference = arith.SubfOp(self.value(op.lhs), negated)
                self.scalars[op.result] = self.builder.insert(difference, op.result.name_hint)
            case _ if _is_scalar(op):
                self._copy(op)
            case DeclaredOp():
                self._instruction(op)
            case _:
                raise OpError(op, "is not lowered to pto yet")

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

    def _scalar(
        self, op: Operation, op_type: type[PtoOp], operands: Mapping[str, SSAValue]
    ) -> None:
        (result,) = op.results
        new = build(op_type, operands, {}, (result.type,))
        self.scalars[result] = self.builder.insert(new, result.name_hint)

    # Tensors.

    def _slice(self, op: ptensor.SliceOp) -> None:
        window = self.window(op.source)
        shape = ptensor.tensor_of(op.result.type).get_shape()
        extents = self.indices(op.extents) or shape
        offsets = self.indices(op.window_offsets)
        self.windows[op.result] = window.part(offsets, extents, self.builder)

    def _reshape(self, op: ptensor.ReshapeOp | ptensor.LayoutViewOp) -> None:
        window = self.window(op.source)
        shape = ptensor.tensor_of(op.result.type).get_shape()
        extents = self.indices(op.extents) or shape
        view = window.view
        if not window.is_whole or not view.is_packed:
            raise OpError(op, "reshapes a window whose elements do not lie one after the other")
        layout = ptensor.layout_of(ptensor.tensor_of(op.result.type))
        if len(extents) > 1 and extents[-1] == 1:
            layout = TensorLayout.DN
        strides = packed_strides(extents, layout, self.builder)
        hint = op.result.name_hint or view.hint
        new = View(view.parameter, view.pointer, tuple(extents), strides, layout, hint)
        self.windows[op.result] = Window(new, (0,) * len(extents), tuple(extents))

    def _load(self, op: tile.LoadOp) -> None:
        window = self.window(op.source)
        type = TileType.of(op.result.type)
        self._expect_layout(op, type, window)
        valid = self.indices(op.valid_extents) or type.valid_shape
        self.buffers.set_extents(op.result, valid)
        destination = self.buffers.allocate(op.result)
        part = window.partition(self.indices(op.window_offsets), valid, self.builder)
        self.builder.insert_op(build(pto.TLoadOp, {"src": part, "dst": destination}))

    def _store(self, op: tile.StoreOp) -> None:
        window = self.window(op.destination)
        type = TileType.of(op.source.type)
        self._expect_layout(op, type, window)
        offsets = self.indices(op.window_offsets)
        part = window.partition(offsets, self.buffers.valid(op.source), self.builder)
        properties: dict[str, Attribute] = {}
        if op.atomic.data is AtomicKind.ADD:
            properties["atomicType"] = pto.AtomicTypeAttr(pto.AtomicType.ADD)
        values = {"src": self.buffers.buffer(op.source), "dst": part}
        self.builder.insert_op(build(pto.TStoreOp, values, {}, (), properties))
        self.windows[op.result] = window

    def _expect_layout(self, op: Operation, type: TileType, window: Window) -> None:
        """Raise unless the elements of tile and tensor follow each other in one direction."""
        layout = window.view.layout
        if type.layout.slayout is not TileLayout.NONE_BOX:
            return
        by_row = type.layout.blayout is TileLayout.ROW_MAJOR
        if prod(type.get_shape()[:-1]) == 1 and len(window.view.extents) == 1:
            return
        if by_row != (layout is TensorLayout.ND):
            if type.is_column and layout is TensorLayout.ND:
                raise OpError(
                    op,
                    f"moves a column {type} from or to a row-major tensor, where its elements do "
                    "not follow each other: put columns together on chip, or keep each in a "
                    "tensor of its own",
                )
            stored = "row-major" if by_row else "column-major"
            raise OpError(
                op,
                f"moves a {stored} tile {type} from or to a tensor whose elements lie in "
                f"{layout.value} order; reshape the tile, or make the tensor's layout agree",
            )

    def _element(self, value: SSAValue, indices: Sequence[Index]) -> SSAValue:
        """The place of an element of a tile among its elements."""
        type = TileType.of(value.type)
        if type.layout.slayout is not TileLayout.NONE_BOX:
            raise OpError(self.builder.origin, f"accesses an element of a boxed tile {type}")
        shape = list(type.get_shape())
        places = list(self.indices(indices))
        if type.layout.blayout is TileLayout.COL_MAJOR:
            shape.reverse()
            places.reverse()
        total: Index = 0
        for place, extent in zip(places, shape, strict=True):
            total = self.builder.add(self.builder.multiply(total, extent), place)
        return self.builder.index(total)

    def _matrix_offsets(self, offsets: Sequence[Index]) -> tuple[Index, Index]:
        match self.indices(offsets):
            case (column,):
                return 0, column
            case (row, column):
                return row, column
            case _:
                raise OpError(self.builder.origin, "is a window in more than two dimensions")

    def _slice_tile(self, op: tile.SliceOp) -> None:
        """Rows of a tile are a view of it; of columns a copy is made; boxes are copied by moves."""
        if is_boxed_window(op):
            for use in op.result.uses:
                if not isinstance(use.operation, tile.MoveOp):
                    raise OpError(
                        use.operation, "uses a part of a tile in boxes, which only moves take"
                    )
            return
        if is_view_of_rows(op):
            offsets = self._matrix_offsets(op.window_offsets)
            self.buffers.window(op, offsets, self.indices(op.valid_extents))
            return
        self.buffers.set_extents(op.result, self.indices(op.valid_extents))
        self._extract(op.source, op.window_offsets, op.result)

    def _extract(self, source: SSAValue, offsets: Sequence[Index], result: OpResult) -> None:
        row, column = self._matrix_offsets(offsets)
        self.buffers.infer_extents(result.op, result)
        destination = self.buffers.allocate(result)
        self.builder.insert_op(
            build(
                pto.TExtractOp,
                {
                    "src": self.buffers.as_floats(self.buffers.buffer(source)),
                    "index_row": self.builder.index(row),
                    "index_col": self.builder.index(column),
                    "dst": self.buffers.as_floats(destination),
                },
            )
        )

    def _assemble(self, op: tile.AssembleOp) -> None:
        """
        Whole rows are moved into a view; anything else is inserted. All of the source goes there,
        whatever of it is valid.
        """
        destination = self._updated(op, op.result)
        source = self.buffers.whole(self.buffers.buffer(op.source))
        row, column = self._matrix_offsets(op.window_offsets)
        part, whole = TileType.of(op.source.type), TileType.of(op.destination.type)
        if part.get_shape()[-1] == whole.get_shape()[-1] and part.layout == whole.layout:
            self.buffers.move(source, self.buffers.rows(destination, (row, column), source))
            return
        self.builder.insert_op(
            build(
                pto.TInsertOp,
                {
                    "src": self.buffers.as_floats(source),
                    "index_row": self.builder.index(row),
                    "index_col": self.builder.index(column),
                    "dst": self.buffers.as_floats(destination),
                },
            )
        )

    def _write(self, op: tile.WriteOp) -> None:
        destination = self._updated(op, op.result)
        self.builder.insert_op(
            build(
                pto.TSetValOp,
                {
                    "offset": self._element(op.destination, op.element),
                    "val": self.value(op.value),
                    "dst": destination,
                },
            )
        )

    def _count(self, op: tile.CiOp) -> None:
        """The unit counts in signed integers; unsigned ones have the same bits."""
        instruction = self.backend.instructions[tile.CiOp]
        destination = self.buffers.allocate(op.result)
        signless = IntegerType(bit_width(TileType.of(op.result.type).element_type))
        if TileType.of(op.result.type).element_type != signless:
            destination = self.buffers.reinterpreted(destination, signless)
        values = {"s": self.builder.convert(self.value(op.start), signless), "dst": destination}
        new = build(instruction.op_type, values, {}, (), instruction.properties(op))
        self.builder.insert_op(new)

    def _updated(self, op: Operation, result: OpResult) -> SSAValue:
        """The buffer of a result that is written over an operand; a copy of it, if needed."""
        index = updated_operand(result)
        assert index is not None
        self.buffers.copy_extents(op.operands[index], result)
        destination = self.buffers.allocate(result)
        if (op, index) in self.storage.copies:
            self.buffers.move(self.buffers.buffer(op.operands[index]), destination)
        return destination

    # Instructions.

    def _may_share(self, op: DeclaredOp, index: int) -> bool:
        """Whether the instruction may write over an operand, by the op and by itself."""
        instruction = self.backend.instructions.get(type(op))
        if instruction is None or not op.may_share_storage(op.operands[index]):
            return False
        names = instruction.in_place_operands
        if names.issuperset(instruction.named_operands.values()):
            return True
        for place, (name, _, _) in enumerate(op.declared_operands()):
            if place == index:
                return name in names
        return False

    def _instruction(self, op: DeclaredOp) -> None:
        instruction = self.backend.instructions.get(op.__class__)
        if instruction is None:
            raise OpError(op, f"is no instruction of {self.backend.name}, and not lowered to pto")
        self._expect_all_used(op, instruction)
        outputs: list[SSAValue] = []
        updated: dict[int, SSAValue] = {}
        for result in op.results:
            index = updated_operand(result)
            if index is None:
                self.buffers.infer_extents(op, result)
                outputs.append(self.buffers.allocate(result))
            else:
                outputs.append(self._updated(op, result))
                updated[index] = outputs[-1]
        in_rows = _is_column_work(op)
        values: dict[str, SSAValue | Sequence[SSAValue]] = {}
        places = {name: i for i, (name, _, _) in enumerate(op.declared_operands())}
        operands = {name: value for name, value, _ in op.declared_operands()}
        for name, own in instruction.named_operands.items():
            value = operands.get(own)
            if value is None:
                continue
            if isinstance(value.type, TileType):
                buffer = updated.get(places[own]) or self.buffers.buffer(value)
                values[name] = self.buffers.row(buffer) if in_rows else buffer
            else:
                elements = cast(pto.TileBufType, outputs[0].type).element_type
                if own not in _RESULT_SCALARS:
                    elements = self._scalar_type(op, elements)
                wanted = instruction.scalar or elements
                values[name] = self.builder.convert(self.value(value), wanted)
        if in_rows:
            outputs = [self.buffers.row(output) for output in outputs]
        outs = instruction.op_type.DECLARATION.outs
        values.update(zip(outs, outputs, strict=False))
        self.builder.insert_op(
            build(instruction.op_type, values, {}, (), instruction.properties(op))
        )

    def _scalar_type(self, op: DeclaredOp, default: Attribute) -> Attribute:
        """What the elements are that a scalar operand goes with: those of the first tile."""
        for operand in op.operands:
            if isinstance(operand.type, TileType):
                return operand.type.element_type
        return default

    def _expect_all_used(self, op: DeclaredOp, instruction: Instruction) -> None:
        used = {*instruction.named_operands.values(), *instruction.ignored}
        for name, _, _ in op.declared_operands():
            if name not in used:
                raise OpError(op, f"is given '{name}', which '{instruction.op_type.name}' lacks")


_RESULT_SCALARS = ("value",)
"""Scalars that become elements of the result, not operands beside a tile."""


def _is_column_work(op: DeclaredOp) -> bool:
    """
    Whether an op works element by element on columns alone. The bytes of a column are those of a
    row, which the vector unit takes everywhere.
    """
    types = [v.type for v in (*op.operands, *op.results) if isinstance(v.type, TileType)]
    return op.ELEMENTWISE and all(
        type.is_column
        and type.layout.slayout is TileLayout.NONE_BOX
        and type.get_shape() == types[0].get_shape()
        and DYNAMIC_INDEX not in type.valid_shape
        for type in types
    )


def _boxed_window(value: SSAValue) -> tile.SliceOp | None:
    """The op that makes a tile, if it is a part of a tile in boxes."""
    op = value.owner
    return op if isinstance(op, tile.SliceOp) and is_boxed_window(op) else None


def _is_scalar(op: Operation) -> bool:
    """Whether an op works on numbers alone."""
    return (
        not isinstance(op, DeclaredOp)
        and not op.regions
        and bool(op.results)
        and all(is_element_type(value.type) for value in (*op.operands, *op.results))
    )
