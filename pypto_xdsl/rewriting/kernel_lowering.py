"""
Lowers one kernel from tiles to `pto`: values become bytes.

`lower_kernel` makes the `func.func` of a kernel. What it decides:

* **Storage**: one `pto.alloc_tile` for all tiles that share storage (`analysis.tile_storage`),
  where the first of them is made; copies (`pto.tmov`) where a value is handed over into a place
  that it does not live in.
* **Views**: a reshaped tile is a `pto.treshape` of its storage, one with another valid region a
  `pto.subview`.
* **Signature**: tensors come first, as pointers; then the other parameters; then the run-time
  extents of the tensors, one a symbol; then the place in the grid, where the kernel asks for it.
* **Tensors** name windows and make no code, see `global_views`. Loops and ifs carry scalars only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
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
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.control_flow import terminator
from pypto_xdsl.analysis.tile_storage import TileStorage, updated_operand
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.instruction import Instruction
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch, ptensor, pto, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.ptensor import AtomicKind, TensorLayout
from pypto_xdsl.dialects.pto.declaration import PtoOp
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.pto.views import SIZES
from pypto_xdsl.dialects.tile import TileLayout, TileType
from pypto_xdsl.rewriting.global_views import View, Window, packed_strides
from pypto_xdsl.rewriting.kernel_builder import KernelBuilder
from pypto_xdsl.rewriting.parallel_copies import Copy, sequence_copies
from pypto_xdsl.syntax.lists import Index

GRID = {
    tile.GetBlockIdxOp: "__pypto_spmd_block_idx",
    tile.GetBlockNumOp: "__pypto_spmd_block_num",
    tile.GetSubblockIdxOp: "__pypto_spmd_subblock_idx",
}
"""The hidden i32 parameter that answers each question about the grid, as PyPTO names it."""

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


class _Lowering:
    """One kernel while it is lowered."""

    def __init__(self, kernel: orch.FuncOp, backend: Backend):
        self.kernel = kernel
        self.backend = backend
        self.builder = KernelBuilder(kernel)
        self.storage = TileStorage(kernel, self._may_share)
        self.scalars: dict[SSAValue, SSAValue] = {}
        self.windows: dict[SSAValue, Window] = {}
        self.tiles: dict[SSAValue, SSAValue] = {}
        """The `!pto.tile_buf` of a tile that is not its storage under its own type."""
        self.allocated: dict[SSAValue, SSAValue] = {}
        """The `pto.alloc_tile` of each storage."""
        self.extents: dict[SSAValue, tuple[Index, ...]] = {}
        """The valid extents of tiles of which some are known only at run time."""
        self.valid_of: dict[SSAValue, tuple[Index, Index]] = {}
        """The valid rows and columns of each buffer and view."""
        self.unsure: list[Operation] = []
        """Allocations and views, of which some turn out to be used by nobody."""
        self.grid: dict[str, SSAValue] = {}

    def run(self) -> tuple[func.FuncOp, Sequence[int]]:
        self._parameters()
        returned: Operation | None = None
        for op in self.kernel.body.block.ops:
            if isinstance(op, orch.ReturnOp):
                returned = op
            else:
                self._lower(op)
        self.builder.insert_op(func.ReturnOp())
        for op in reversed(self.unsure):
            if op.results[0].first_use is None:
                block = op.parent_block()
                assert block is not None
                block.erase_op(op)
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

    def _lower(self, op: Operation) -> None:
        self.builder.origin = op
        try:
            self._dispatch(op)
        except VerifyException as error:
            raise OpError(op, str(error)) from error

    def _dispatch(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self._lower_for(op)
            case scf.WhileOp():
                self._lower_while(op)
            case scf.IfOp():
                self._lower_if(op)
            case arith.ConstantOp():
                self._constant(op)
            case tile.CreateOp():
                self._note_extents(op.result, self._indices(op.valid_extents))
                self._allocate(op.result)
            case tile.LoadOp():
                self._load(op)
            case tile.StoreOp():
                self._store(op)
            case tile.ReshapeOp() | tile.SetValidShapeOp():
                self._view(op)
            case tile.ReadOp():
                offset = self._element(op.source, op.element)
                self._scalar(op, pto.TGetValOp, {"src": self._tile(op.source), "offset": offset})
            case tile.WriteOp():
                self._write(op)
            case tile.ValidDimOp():
                axis = op.axis.value.data
                self.scalars[op.result] = self.builder.index(self._valid(op.source)[axis])
            case tile.GetBlockIdxOp() | tile.GetBlockNumOp() | tile.GetSubblockIdxOp():
                number = self.grid[GRID[type(op)]]
                place = self.builder.convert(number, op.result.type)
                place.name_hint = op.result.name_hint
                self.scalars[op.result] = place
            case ptensor.DimOp():
                window = self._window(op.source)
                extent = window.extents[op.axis.value.data]
                self.scalars[op.result] = self.builder.index(extent)
            case ptensor.SliceOp():
                self._slice(op)
            case ptensor.ReshapeOp():
                self._reshape(op)
            case ptensor.TypeCastOp() | ptensor.SetValidShapeOp():
                self.windows[op.result] = self._window(op.source)
            case ptensor.ReadOp():
                window = self._window(op.source)
                offset = window.element(self._indices(op.element), self.builder)
                self._scalar(op, pto.LoadScalarOp, {"ptr": window.view.pointer, "offset": offset})
            case ptensor.WriteOp():
                window = self._window(op.destination)
                self.builder.insert_op(
                    build(
                        pto.StoreScalarOp,
                        {
                            "ptr": window.view.pointer,
                            "offset": window.element(self._indices(op.element), self.builder),
                            "value": self._value(op.value),
                        },
                    )
                )
                self.windows[op.result] = window
            case arith.AddfOp():
                # The assembler does not lower arith.addf.
                negated = self.builder.insert(arith.NegfOp(self._value(op.rhs)))
                difference = arith.SubfOp(self._value(op.lhs), negated)
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
        if isinstance(type, IndexType) or (isinstance(type, IntegerType) and type.width.data > 1):
            number = cast(Any, value).value.data
            self.scalars[op.result] = self.builder.constant(number, type)
        else:
            copy = arith.ConstantOp(value, type)
            self.scalars[op.result] = self.builder.hoist(copy, op.result.name_hint)

    def _copy(self, op: Operation) -> None:
        """An op on scalars, as it is."""
        new = type(op).create(
            operands=[self._value(operand) for operand in op.operands],
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

    def _value(self, value: SSAValue) -> SSAValue:
        found = self.scalars.get(value)
        if found is None:
            raise OpError(self.builder.origin, f"uses a {value.type}, which is not lowered")
        return found

    def _indices(self, indices: Sequence[Index]) -> tuple[Index, ...]:
        return tuple(i if isinstance(i, int) else self._value(i) for i in indices)

    # Tensors.

    def _window(self, value: SSAValue) -> Window:
        found = self.windows.get(value)
        if found is None:
            raise OpError(self.builder.origin, f"uses a {value.type} that is no buffer")
        return found

    def _slice(self, op: ptensor.SliceOp) -> None:
        window = self._window(op.source)
        shape = ptensor.tensor_of(op.result.type).get_shape()
        extents = self._indices(op.extents) or shape
        offsets = self._indices(op.window_offsets)
        self.windows[op.result] = window.part(offsets, extents, self.builder)

    def _reshape(self, op: ptensor.ReshapeOp) -> None:
        window = self._window(op.source)
        shape = ptensor.tensor_of(op.result.type).get_shape()
        extents = self._indices(op.extents) or shape
        view = window.view
        if not window.is_whole or not view.is_packed:
            raise OpError(op, "reshapes a window whose elements do not lie one after the other")
        layout = TensorLayout.ND
        if len(extents) > 1 and extents[-1] == 1:
            layout = TensorLayout.DN
        strides = packed_strides(extents, layout, self.builder)
        hint = op.result.name_hint or view.hint
        new = View(view.parameter, view.pointer, tuple(extents), strides, layout, hint)
        self.windows[op.result] = Window(new, (0,) * len(extents), tuple(extents))

    def _load(self, op: tile.LoadOp) -> None:
        window = self._window(op.source)
        type = TileType.of(op.result.type)
        self._expect_layout(op, type, window)
        valid = self._indices(op.valid_extents) or type.valid_shape
        self._note_extents(op.result, valid)
        destination = self._allocate(op.result)
        part = window.partition(self._indices(op.window_offsets), valid, self.builder)
        self.builder.insert_op(build(pto.TLoadOp, {"src": part, "dst": destination}))

    def _store(self, op: tile.StoreOp) -> None:
        window = self._window(op.destination)
        type = TileType.of(op.source.type)
        self._expect_layout(op, type, window)
        offsets = self._indices(op.window_offsets)
        part = window.partition(offsets, self._valid(op.source), self.builder)
        properties: dict[str, Attribute] = {}
        if op.atomic.data is AtomicKind.ADD:
            properties["atomicType"] = pto.AtomicTypeAttr(pto.AtomicType.ADD)
        values = {"src": self._tile(op.source), "dst": part}
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
            stored = "row-major" if by_row else "column-major"
            raise OpError(
                op,
                f"moves a {stored} tile {type} from or to a tensor whose elements lie in "
                f"{layout.value} order; reshape the tile, or make the tensor's layout agree",
            )

    # Tiles.

    def _note_extents(self, value: SSAValue, valid: Sequence[Index]) -> None:
        type = TileType.of(value.type)
        if DYNAMIC_INDEX in type.valid_shape:
            self.extents[value] = tuple(valid) or type.valid_shape

    def _valid(self, value: SSAValue) -> tuple[Index, ...]:
        """The extents of the valid region of a tile."""
        return self.extents.get(value) or TileType.of(value.type).valid_shape

    def _tile(self, value: SSAValue) -> SSAValue:
        """The buffer of a tile, under its own type."""
        found = self.tiles.get(value)
        if found is None:
            storage = self.allocated.get(self.storage.storage(value))
            if storage is None:
                raise OpError(self.builder.origin, "uses a tile that has no storage")
            found = self.tiles[value] = self._retyped(storage, value)
        return found

    def _allocate(self, value: SSAValue) -> SSAValue:
        """The buffer to write a tile to; its storage is allocated if it is not there yet."""
        key = self.storage.storage(value)
        if key not in self.allocated:
            type = self._buffer_type(value)
            valid = self._matrix_extents(value)
            values: dict[str, SSAValue | Sequence[SSAValue]] = {}
            if type.has_dynamic_valid:
                values = {
                    "valid_row": self.builder.index(valid[0]),
                    "valid_col": self.builder.index(valid[1]),
                }
            storage = self.builder.insert(
                build(pto.AllocTileOp, values, {}, (type,)), value.name_hint
            )
            self.allocated[key] = storage
            self.unsure.append(cast(Operation, storage.owner))
            self.valid_of[storage] = valid
        return self._tile(value)

    def _retyped(self, buffer: SSAValue, value: SSAValue) -> SSAValue:
        """A buffer under the type of a tile that shares its bytes."""
        have, want = cast(pto.TileBufType, buffer.type), self._buffer_type(value)
        valid = self._matrix_extents(value)
        if have == want and valid == self.valid_of[buffer]:
            return buffer
        if have.get_shape() == want.get_shape() and have.config == want.config:
            zero = self.builder.index(0)
            view = build(
                pto.SubViewOp,
                {
                    "source": buffer,
                    "offsets": [zero, zero],
                    "valid_row": self.builder.index(valid[0]),
                    "valid_col": self.builder.index(valid[1]),
                },
                {},
                (want,),
                {"sizes": SIZES.make(want.get_shape())},
            )
        else:
            if want.has_dynamic_valid:
                raise OpError(
                    self.builder.origin, "reshapes a tile whose valid region is known at run time"
                )
            view = build(pto.TReshapeOp, {"src": buffer}, {}, (want,))
        self.unsure.append(view)
        result = self.builder.insert(view, value.name_hint)
        self.valid_of[result] = valid
        return result

    def _buffer_type(self, value: SSAValue) -> pto.TileBufType:
        try:
            return tile_buf_type(TileType.of(value.type))
        except VerifyException as error:
            raise OpError(self.builder.origin, str(error)) from error

    def _matrix_extents(self, value: SSAValue) -> tuple[Index, Index]:
        """Valid rows and columns of a tile, seen as a matrix."""
        type = TileType.of(value.type)
        if value not in self.extents:
            rows, columns = matrix_valid(type.get_shape(), type.valid_shape)
            return rows, columns
        valid = self.extents[value]
        if len(valid) == 1:
            return 1, valid[0]
        if len(valid) > 2:
            raise OpError(
                self.builder.origin,
                "has a valid region known at run time in more than two dimensions",
            )
        return valid[0], valid[1]

    def _view(self, op: tile.ReshapeOp | tile.SetValidShapeOp) -> None:
        storage = self.allocated.get(self.storage.storage(op.source))
        if isinstance(op, tile.SetValidShapeOp):
            self._note_extents(op.result, self._indices(op.valid_extents))
            if storage is None or storage.type != self._buffer_type(op.result):
                # A window keeps the shape of what it is a window of.
                self.tiles[op.result] = self._retyped(self._tile(op.source), op.result)
        else:
            self._infer_extents(op, op.result)
        self._tile(op.result)

    def _infer_extents(self, op: Operation, result: SSAValue) -> None:
        """
        The run-time extents of a result: those of the first operand that has one along the axis;
        of a reshape, in their order.
        """
        type = TileType.of(result.type)
        if DYNAMIC_INDEX not in type.valid_shape or result in self.extents:
            return
        known = [self.extents[operand] for operand in op.operands if operand in self.extents]
        extents: list[Index] = []
        for axis, extent in enumerate(type.valid_shape):
            if extent != DYNAMIC_INDEX:
                extents.append(extent)
                continue
            along = [
                valid[axis]
                for valid in known
                if axis < len(valid) and isinstance(valid[axis], SSAValue)
            ]
            values = along or [e for valid in known for e in valid if isinstance(e, SSAValue)]
            if not values:
                raise OpError(op, f"has a valid region that nothing gives: {type}")
            extents.append(values[0])
        self.extents[result] = tuple(extents)

    def _element(self, value: SSAValue, indices: Sequence[Index]) -> SSAValue:
        """The place of an element of a tile among its elements."""
        type = TileType.of(value.type)
        if type.layout.slayout is not TileLayout.NONE_BOX:
            raise OpError(self.builder.origin, f"accesses an element of a boxed tile {type}")
        shape = list(type.get_shape())
        places = list(self._indices(indices))
        if type.layout.blayout is TileLayout.COL_MAJOR:
            shape.reverse()
            places.reverse()
        total: Index = 0
        for place, extent in zip(places, shape, strict=True):
            total = self.builder.add(self.builder.multiply(total, extent), place)
        return self.builder.index(total)

    def _write(self, op: tile.WriteOp) -> None:
        destination = self._updated(op, op.result)
        self.builder.insert_op(
            build(
                pto.TSetValOp,
                {
                    "offset": self._element(op.destination, op.element),
                    "val": self._value(op.value),
                    "dst": destination,
                },
            )
        )

    def _updated(self, op: Operation, result: OpResult) -> SSAValue:
        """The buffer of a result that is written over an operand; a copy of it, if needed."""
        index = updated_operand(result)
        assert index is not None
        self._infer_extents(op, result)
        if result not in self.extents and op.operands[index] in self.extents:
            self.extents[result] = self.extents[op.operands[index]]
        destination = self._allocate(result)
        if (op, index) in self.storage.copies:
            self._move(self._tile(op.operands[index]), destination)
        return destination

    def _move(self, source: SSAValue, destination: SSAValue) -> None:
        self.builder.insert_op(build(pto.TMovOp, {"src": source, "dst": destination}))

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
                self._infer_extents(op, result)
                outputs.append(self._allocate(result))
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
                buffer = updated.get(places[own]) or self._tile(value)
                values[name] = self._row(buffer) if in_rows else buffer
            else:
                elements = cast(pto.TileBufType, outputs[0].type).element_type
                if own not in _RESULT_SCALARS:
                    elements = self._scalar_type(op, elements)
                wanted = instruction.scalar or elements
                values[name] = self.builder.convert(self._value(value), wanted)
        if in_rows:
            outputs = [self._row(output) for output in outputs]
        outs = instruction.op_type.DECLARATION.outs
        values.update(zip(outs, outputs, strict=False))
        self.builder.insert_op(
            build(instruction.op_type, values, {}, (), instruction.properties(op))
        )

    def _row(self, buffer: SSAValue) -> SSAValue:
        """A column as the row that has the same bytes."""
        type = cast(pto.TileBufType, buffer.type)
        rows, _ = type.get_shape()
        config = (pto.BLayout.ROW_MAJOR, *type.config.data[1:])
        row = type.with_(shape=(1, rows), valid_shape=(1, type.valid_shape[0]), config=config)
        view = build(pto.TReshapeOp, {"src": buffer}, {}, (row,))
        return self.builder.insert(view, buffer.name_hint)

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

    # Control flow.

    def _lower_for(self, op: scf.ForOp) -> None:
        arguments = op.body.block.args[1:]
        scalars = self._enter(op, 3, arguments, op.results)
        lower, upper, step = (
            self.builder.convert(self._value(bound), IndexType()) for bound in op.operands[:3]
        )
        inits = [self._value(op.operands[3 + place]) for place in scalars]
        body = Block(arg_types=[IndexType(), *(value.type for value in inits)])
        loop = scf.ForOp(lower, upper, step, inits, body)
        induction = op.body.block.args[0]
        for argument in body.args:
            argument.location = op.location
        body.args[0].name_hint = induction.name_hint
        self._enter_scalars(body.args[1:], [arguments[place] for place in scalars])
        with self.builder.inside(body):
            self.scalars[induction] = self.builder.convert(body.args[0], induction.type)
            self._lower_block(op.body.block)
            end = terminator(op.body)
            self._leave(end, 0, [(arguments[p], op.results[p]) for p in range(len(arguments))])
            self._yield(end, 0, scalars)
        self.builder.origin = op
        self.builder.insert_op(loop)
        self._exit(op, loop, scalars)

    def _lower_while(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        condition, end = terminator(op.before_region), terminator(op.after_region)
        scalars = self._enter(op, 0, before.args, ())
        passed = self._scalar_places(condition.operands[1:])
        self._allocate_all([*after.args, *op.results])
        inits = [self._value(op.operands[place]) for place in scalars]
        types = [condition.operands[1 + place].type for place in passed]
        new_before = Block(arg_types=[value.type for value in inits])
        new_after = Block(arg_types=types)
        for argument in (*new_before.args, *new_after.args):
            argument.location = op.location
        self._enter_scalars(new_before.args, [before.args[place] for place in scalars])
        self._enter_scalars(new_after.args, [after.args[place] for place in passed])
        with self.builder.inside(new_before):
            self._lower_block(before)
            targets = list(zip(after.args, op.results, strict=True))
            self._leave(condition, 1, targets)
            values = [self._value(condition.operands[1 + place]) for place in passed]
            test = self._value(condition.operands[0])
            self.builder.insert_op(scf.ConditionOp(test, *values))
        with self.builder.inside(new_after):
            self._lower_block(after)
            self._leave(end, 0, [(argument,) for argument in before.args])
            self._yield(end, 0, scalars)
        self.builder.origin = op
        loop = scf.WhileOp(inits, types, [new_before], [new_after])
        self.builder.insert_op(loop)
        self._exit(op, loop, passed)

    def _lower_if(self, op: scf.IfOp) -> None:
        scalars = self._scalar_places(op.results)
        self._allocate_all(op.results)
        condition = self._value(op.cond)
        regions: list[Region] = []
        windows: dict[int, Window] = {}
        for region in op.regions:
            if region.first_block is None:
                regions.append(Region())
                continue
            block = Block()
            with self.builder.inside(block):
                self._lower_block(region.block)
                end = terminator(region)
                self._leave(end, 0, [(result,) for result in op.results], windows)
                self._yield(end, 0, scalars)
            regions.append(Region(block))
        self.builder.origin = op
        types = [op.results[place].type for place in scalars]
        new = scf.IfOp(condition, types, *regions)
        self.builder.insert_op(new)
        for place, window in windows.items():
            self.windows[op.results[place]] = window
        for place, value in zip(scalars, new.results, strict=True):
            value.name_hint = op.results[place].name_hint
            self.scalars[op.results[place]] = value

    def _lower_block(self, block: Block) -> None:
        for inner in block.ops:
            if inner is not block.last_op:
                self._lower(inner)
        last = block.last_op
        assert last is not None
        self.builder.origin = last

    def _scalar_places(self, values: Sequence[SSAValue]) -> list[int]:
        return [
            place
            for place, value in enumerate(values)
            if not isinstance(value.type, TileType | TensorType)
        ]

    def _enter(
        self,
        op: Operation,
        first: int,
        arguments: Sequence[SSAValue],
        results: Sequence[SSAValue],
    ) -> list[int]:
        """Bring what a loop starts from into its places; the places of scalars are returned."""
        for place, argument in enumerate(arguments):
            start = op.operands[first + place]
            if isinstance(argument.type, TensorType):
                window = self._window(start)
                self.windows[argument] = window
                if results:
                    self.windows[results[place]] = window
            elif isinstance(argument.type, TileType) and start in self.extents:
                self.extents[argument] = self.extents[start]
                if results:
                    self.extents[results[place]] = self.extents[start]
        self._allocate_all([*arguments, *results])
        self._hand_over(op, first, [(argument,) for argument in arguments])
        return self._scalar_places(arguments)

    def _allocate_all(self, values: Sequence[SSAValue]) -> None:
        """Allocate the places of tiles that control flow hands over, before it starts."""
        for value in values:
            if isinstance(value.type, TileType):
                if DYNAMIC_INDEX in value.type.valid_shape and value not in self.extents:
                    raise OpError(
                        self.builder.origin,
                        f"hands over a tile whose valid region is known only at run time: "
                        f"{value.type}",
                    )
                self._allocate(value)

    def _leave(
        self,
        end: Operation,
        first: int,
        targets: Sequence[Sequence[SSAValue]],
        windows: dict[int, Window] | None = None,
    ) -> None:
        """Hand over tiles at the end of a region; tensors must be the buffer they were."""
        for place, names in enumerate(targets):
            value = end.operands[first + place]
            if not isinstance(value.type, TensorType):
                continue
            window = self._window(value)
            known = self.windows.get(names[0])
            if known is None and windows is not None:
                known = windows.setdefault(place, window)
            if known is None:
                for name in names:
                    self.windows[name] = window
            elif known != window:
                raise OpError(
                    end,
                    f"hands over another buffer as result {place}: which one it is may not "
                    "depend on control flow in a kernel",
                )
        self._check_extents(end, first, targets)
        self._hand_over(end, first, targets)

    def _check_extents(
        self, end: Operation, first: int, targets: Sequence[Sequence[SSAValue]]
    ) -> None:
        for place, names in enumerate(targets):
            value = end.operands[first + place]
            for name in names:
                if isinstance(name.type, TileType) and self._valid(name) != self._valid(value):
                    raise OpError(
                        end, f"hands over a tile with another valid region as result {place}"
                    )

    def _hand_over(self, op: Operation, first: int, targets: Sequence[Sequence[SSAValue]]) -> None:
        """Copy the tiles that do not live in the place where they are handed over."""
        copies: list[Copy] = []
        for place, names in enumerate(targets):
            if (op, first + place) in self.storage.copies:
                value, name = op.operands[first + place], names[0]
                copies.append(
                    Copy(
                        self._tile(value),
                        self._tile(name),
                        self.storage.storage(value),
                        self.storage.storage(name),
                    )
                )
        for source, destination in sequence_copies(copies, self._temporary):
            self._move(source, destination)

    def _temporary(self, value: SSAValue) -> SSAValue:
        """New storage like that of `value`."""
        type = cast(pto.TileBufType, value.type)
        if type.has_dynamic_valid:
            raise OpError(
                self.builder.origin, "exchanges tiles whose valid region is known only at run time"
            )
        swap = self.builder.insert(build(pto.AllocTileOp, {}, {}, (type,)), "swap")
        self.valid_of[swap] = self.valid_of[value]
        return swap

    def _enter_scalars(self, new: Sequence[SSAValue], old: Sequence[SSAValue]) -> None:
        for value, was in zip(new, old, strict=True):
            value.name_hint = was.name_hint
            self.scalars[was] = value

    def _yield(self, end: Operation, first: int, places: Sequence[int]) -> None:
        values = [self._value(end.operands[first + place]) for place in places]
        self.builder.insert_op(scf.YieldOp(*values))

    def _exit(self, op: Operation, new: Operation, places: Sequence[int]) -> None:
        for place, value in zip(places, new.results, strict=True):
            value.name_hint = op.results[place].name_hint
            self.scalars[op.results[place]] = value


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


def _is_scalar(op: Operation) -> bool:
    """Whether an op works on numbers alone."""
    return (
        not isinstance(op, DeclaredOp)
        and not op.regions
        and bool(op.results)
        and all(is_element_type(value.type) for value in (*op.operands, *op.results))
    )


@lru_cache(maxsize=4096)
def tile_buf_type(type: TileType) -> pto.TileBufType:
    """
    The `!pto.tile_buf` of a tile: seen as a matrix of its last dimension by all others. A valid
    region of which a part is known only at run time is so as a whole.

    Raises `VerifyException` for a tile that is none: without a memory or with run-time extents.
    """
    if type.memory_space is None:
        raise VerifyException(f"the memory space of {type} is not known")
    shape = type.get_shape()
    if DYNAMIC_INDEX in shape:
        raise VerifyException(f"a buffer has constant extents, got {type}")
    valid: tuple[int, int] = (pto.DYNAMIC, pto.DYNAMIC)
    if DYNAMIC_INDEX not in type.valid_shape:
        valid = matrix_valid(shape, type.valid_shape)
    layout = type.layout
    return pto.TileBufType(
        (prod(shape[:-1]), shape[-1]),
        type.element_type,
        pto.AddressSpace(type.memory_space.value),
        valid_shape=valid,
        blayout=pto.BLayout(layout.blayout.value),
        slayout=pto.SLayout(layout.slayout.value),
        fractal=layout.fractal,
        pad=pto.Pad(type.pad_value.value),
        compact=pto.Compact.NORMAL if type.is_compact else pto.Compact.NULL,
    )


def matrix_valid(shape: Sequence[int], valid: Sequence[int]) -> tuple[int, int]:
    """
    The valid rows and columns of a tile seen as a matrix. Raises `VerifyException` where they are
    no rectangle.
    """
    outer, rows = shape[:-1], valid[:-1]
    for place, (extent, inner) in enumerate(zip(outer, rows, strict=True)):
        if inner == extent:
            continue
        if any(e != 1 for e in outer[:place]) or tuple(rows[place + 1 :]) != tuple(
            outer[place + 1 :]
        ):
            raise VerifyException(
                f"the valid region {list(valid)} of {list(shape)} is no rectangle of a matrix"
            )
    return prod(rows), valid[-1]
