"""
convert-tensor-to-tile-ops: makes kernels compute on tiles instead of whole tensors.

A kernel written on tensors reads its parameters whole and makes new tensors:

    orch.func incore @k(in %x : tensor<64x128xf32>, in %y : tensor<64x128xf32>)
        -> tensor<64x128xf32> {
      %sum = ptensor.add %x, %y : tensor<64x128xf32>
      orch.return %sum : tensor<64x128xf32>
    }

On chip there are tiles only. What is read is loaded where it gets its name, what is computed is a
tile, and what is returned is stored to a buffer that the caller provides:

    orch.func incore @k(in %x : tensor<64x128xf32>, in %y : tensor<64x128xf32>,
        out %sum_out : tensor<64x128xf32>) -> tensor<64x128xf32> {
      %x_tile = tile.load %x[0, 0] : tensor<64x128xf32> -> !tile.tile<64x128xf32>
      %y_tile = tile.load %y[0, 0] : tensor<64x128xf32> -> !tile.tile<64x128xf32>
      %sum = tile.add %x_tile, %y_tile : !tile.tile<64x128xf32>
      %sum_stored = tile.store %sum, %sum_out[0, 0] : ...
      orch.return %sum_stored : tensor<64x128xf32>
    }

Which tensors become tiles is a question of buffers: a parameter, a window of one and every later
name of it stay in global memory; the result of tensor math does not exist there. Loops and ifs
carry a tile where any of the values that meet is one. A `ptensor.create` that the kernel only
fills part by part and returns is no tile either: it is the caller's buffer from the start.

Calls and submits of a kernel that gained an output pass a new buffer; wrappers (`group`, `spmd`)
gain the parameter themselves and pass it on. Windows are loaded as windows
(`ptensor.slice` and then math loads the slice alone), single elements are read from global memory.
A part of a tensor that exists on chip is
a window of its tile, and what is put into it is put into the tile. What has no tile form yet is an
error at its line. Cache policies of parameters become those of their loads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.control_flow import terminator
from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.on_chip import OnChip
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError, note
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.extents import reshape_valid
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.dialects.tile.counterparts import counterpart_on_tiles
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.cached_loads import give_loads_their_cache_policies
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.loaded_windows import load_tensor, views_of
from pypto_xdsl.rewriting.output_parameters import OutputParameters
from pypto_xdsl.rewriting.parameter_directions import raise_directions
from pypto_xdsl.rewriting.tensor_gather import (
    create_l1,
    expand_clone,
    gather,
    gather_row,
    paged_gather,
    scatter,
    scatter_mask,
    scatter_update,
)
from pypto_xdsl.rewriting.tensor_parts import put_view_back, transposed, with_rank
from pypto_xdsl.rewriting.tensor_products import Product, multiply
from pypto_xdsl.rewriting.tensor_to_tile import convert_op, tile_type_of
from pypto_xdsl.rewriting.tile_merges import (
    bring_operand,
    cast_valid,
    joined,
    left_open,
    with_valid,
)


@dataclass(frozen=True)
class ConvertTensorToTileOpsPass(CheckedPass):
    """Make kernels compute on tiles instead of whole tensors."""

    name = "convert-tensor-to-tile-ops"
    required = ("SSAForm", "SplitIncoreOrch", "NormalizedStmtStructure")
    produced = ("SSAForm", "IncoreTileOps", "NormalizedStmtStructure")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        outputs = OutputParameters(module)
        errors: list[Diagnostic] = []
        for kernel in kernels(module):
            if kernel.kind.data is not FunctionKind.INCORE or kernel.is_declaration:
                continue
            try:
                _Kernel(kernel, outputs).convert()
            except OpError as error:
                errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)
        outputs.update_callers()
        raise_directions(module)
        give_loads_their_cache_policies(module, kernels(module))


class _Kernel:
    """One kernel while it is converted."""

    def __init__(self, function: orch.FuncOp, outputs: OutputParameters):
        self.function = function
        self.outputs = outputs
        self.on_chip = OnChip(function)
        self.tiles: dict[SSAValue, SSAValue] = {}
        """The tile that stands for a tensor: what it holds, if that lies in global memory."""
        self.matrices: dict[SSAValue, SSAValue] = {}
        """The tile in L1 that a tensor in global memory is multiplied from."""
        self.dead: list[Operation] = []
        self.views: list[Operation] = []
        """Views that were loaded; most name nothing else then."""

    def convert(self) -> None:
        if not self.on_chip.is_needed:
            return
        block = self.function.body.block
        for create in self.on_chip.filled_outputs:
            self._provide(create)
        self._convert_block(block)
        self._store_results()
        for op in reversed(self.dead):
            _erase(op)
        # What was loaded twice, to be computed with and to be multiplied, is there twice.
        for view in reversed(dict.fromkeys(self.views)):
            if not any(result.first_use for result in view.results):
                _erase(view)

    def _provide(self, create: ptensor.CreateOp) -> None:
        """Let the caller provide a buffer that the kernel fills and returns."""
        result = create.result
        if DYNAMIC_INDEX in ptensor.tensor_of(result.type).get_shape():
            raise OpError(create, f"makes a result of run-time extents: {result.type}")
        parameter = self.outputs.add(self.function, result.type, result.name_hint)
        result.replace_all_uses_with(parameter)
        block = create.parent_block()
        assert block is not None
        block.erase_op(create)

    # The walk.

    def _convert_block(self, block: Block) -> None:
        start = block.first_op
        for argument in block.args:
            if self.on_chip.is_loaded(argument) and start is not None:
                self._load(argument, Inserter(start, InsertPoint.before(start)))
        op = block.first_op
        while op is not None:
            following = op.next_op
            try:
                self._convert_op(op)
            except VerifyException as error:
                raise OpError(op, f"does not fit what tiles can be: {error}") from error
            for result in op.results:
                if self.on_chip.is_loaded(result):
                    point = InsertPoint(block, following)
                    self._load(result, Inserter(op, point))
            op = following

    def _convert_op(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self._convert_for(op)
            case scf.WhileOp():
                self._convert_while(op)
            case orch.ReturnOp():
                pass
            case ptensor.GridOp():
                self._convert_number(op)
            case ptensor.ExpandCloneOp() if op.result not in self.on_chip:
                self._rename(op, expand_clone(op, self.tiles, Inserter(op)))
            case _ if op.has_trait(IsTerminator, value_if_unregistered=False):
                self._forward(op)
            case _ if op.regions and any(operand in self.on_chip for operand in op.operands):
                # Branches and scopes take no tensors: what they use they see.
                self._convert_use(op)
            case _ if op.regions and not isinstance(op, ModuleOp):
                self._convert_branches(op)
            case _ if any(result in self.on_chip for result in op.results):
                self._convert_fresh(op)
            case ptensor.AssembleOp() if op.source in self.tiles:
                self._store(op)
            case _ if any(operand in self.on_chip for operand in op.operands):
                self._convert_use(op)
            case _:
                pass

    def _become(self, op: Operation, results: Sequence[SSAValue]) -> None:
        """`results` stand for the results of `op`, which is done with."""
        for old, new in zip(op.results, results, strict=True):
            self.tiles[old] = new
        self.dead.append(op)

    def _convert_fresh(self, op: Operation) -> None:
        """An op whose result is no buffer in global memory."""
        inserter = Inserter(op)
        match op:
            case ptensor.CreateOp():
                new = tile.CreateOp(tile_type_of(op.result.type, op))
            case ptensor.FullOp():
                new = tile.FullOp(op.value, tile_type_of(op.result.type, op))
            case ptensor.TypeCastOp():
                source = self.tiles[op.source]
                if not _has_no_more_to_return(op):
                    source = cast_valid(source, ptensor.tensor_of(op.result.type), inserter)
                self._become(op, (source,))
                return
            case ptensor.UpdatedOp():
                self._become(op, (self._updated(op, inserter),))
                return
            case ptensor.ReshapeOp():
                new = tile.ReshapeOp(self.tiles[op.source], self._reshaped(op))
            case ptensor.SetValidShapeOp():
                new = tile.SetValidShapeOp(self.tiles[op.source], op.valid_extents)
            case ptensor.WriteOp():
                new = tile.WriteOp(op.value, self.tiles[op.destination], op.element)
            case ptensor.TransposeOp():
                self._become(op, (transposed(self.tiles[op.source], op, inserter),))
                return
            case ptensor.SliceOp():
                new = self._slice(op)
            case ptensor.AssembleOp():
                new = self._put(op, self.tiles[op.source], inserter)
            case tile.StoreOp():
                new = self._put(op, op.source, inserter)
            case ptensor.CiOp():
                row = tile_type_of(op.result.type, op)
                new = tile.CiOp(op.start, row, descending=bool(op.descending.value.data))
            case ptensor.FillpadExpandOp():
                shape = ptensor.tensor_of(op.result.type).get_shape()
                new = tile.FillpadExpandOp(self.tiles[op.source], shape, op.pad_value.data)
            case ptensor.MatmulOp() | ptensor.MatmulAccOp():
                self._become(op, (self._product(op),))
                return
            case _ if (lower := _COMPOSED.get(type(op))) is not None:
                for operand in op.operands:
                    if operand not in self.on_chip:
                        self.views += reversed(list(views_of(operand)))
                self._become(op, (lower(op, self.tiles, inserter),))
                return
            case DeclaredOp():
                self._become(op, convert_op(op, self.tiles, inserter))
                return
            case _:
                raise OpError(op, "makes a tensor in a kernel, and has no tile form")
        result: SSAValue = inserter.insert(new, op.results[0].name_hint)
        if isinstance(op, ptensor.SliceOp):
            result = with_rank(result, ptensor.tensor_of(op.result.type).get_num_dims(), inserter)
        self._become(op, (result,))

    def _slice(self, op: ptensor.SliceOp) -> tile.SliceOp:
        """A window of a tile."""
        source = self.tiles[op.source]
        type = TileType.of(source.type)
        window = tile_type_of(op.result.type, op)
        missing = type.get_num_dims() - window.get_num_dims()
        shape = (*(1,) * missing, *window.get_shape())
        try:
            result = tile.SliceOp.window(type, op.window_offsets, shape)
            if window.valid_shape != window.get_shape():
                result = result.with_valid((*(1,) * missing, *window.valid_shape))
            new = tile.SliceOp(source, op.window_offsets, result)
            new.verify_()
        except VerifyException as error:
            raise OpError(op, str(error)) from error
        return new

    def _put(
        self, op: ptensor.AssembleOp | tile.StoreOp, source: SSAValue, inserter: Inserter
    ) -> tile.AssembleOp:
        """A tile with another one put into it."""
        destination = self.tiles[op.destination]
        type = TileType.of(destination.type)
        source = with_rank(source, type.get_num_dims(), inserter)
        part = TileType.of(source.type)
        if op.atomic.data is not ptensor.AtomicKind.NONE:
            raise OpError(op, "adds to a tensor on chip, but only global memory is added to so")
        if part.valid_shape != part.get_shape():
            raise OpError(
                op,
                f"puts the valid part of {part} into a tensor on chip, where all of it would go; "
                "take a slice of what is valid",
            )
        try:
            new = tile.AssembleOp(source, destination, op.window_offsets)
            new.verify_()
        except VerifyException as error:
            raise OpError(op, str(error)) from error
        return new

    def _updated(self, op: ptensor.UpdatedOp, inserter: Inserter) -> SSAValue:
        """A tile with what was written to views of it: these are tiles of their own."""
        whole = self.tiles[op.source]
        try:
            for name in op.by:
                whole = put_view_back(op, name, self.tiles.get(name), whole, inserter)
        except VerifyException as error:
            raise OpError(op, str(error)) from error
        return whole

    def _product(self, op: Product) -> OpResult:
        """A product of matrices, or of batches of them."""
        lhs, rhs = (self.matrices.get(v) or self._tile_at(v, op) for v in (op.lhs, op.rhs))
        acc = self._tile_at(op.acc, op) if isinstance(op, ptensor.MatmulAccOp) else None
        only_stored = lambda: all(self._is_stored(use) for use in op.result.uses)  # noqa: E731
        return multiply(op, lhs, rhs, acc, only_stored, Inserter(op))

    def _is_stored(self, use: Use) -> bool:
        """Whether a use of a tensor only puts it into global memory."""
        op = use.operation
        if isinstance(op, ptensor.AssembleOp):
            return use.index == 0 and op.result not in self.on_chip
        return isinstance(op, orch.ReturnOp)

    def _reshaped(self, op: ptensor.ReshapeOp) -> TileType:
        source = TileType.of(self.tiles[op.source].type)
        shape = tile_type_of(op.result.type, op).get_shape()
        try:
            valid = reshape_valid(source.get_shape(), source.valid_shape, shape)
        except VerifyException as error:
            raise OpError(op, str(error)) from error
        return source.with_shape(shape, valid)

    def _convert_number(self, op: ptensor.GridOp) -> None:
        """A question about the grid has the same answer on tiles."""
        counterpart = counterpart_on_tiles(op)
        assert counterpart is not None
        assert issubclass(counterpart, tile.GridOp)
        result = Inserter(op).insert(counterpart(), op.result.name_hint)
        op.result.replace_all_uses_with(result)
        self.dead.append(op)

    def _part(self, op: tile.LoadOp) -> SSAValue:
        """What is loaded from a tensor that is on chip already: a window of its tile."""
        value, wanted = self.tiles[op.source], TileType.of(op.result.type)
        inserter, hint = Inserter(op), op.result.name_hint
        whole = TileType.of(value.type)
        try:
            if whole.get_shape() != wanted.get_shape():
                window = tile.SliceOp.window(whole, op.window_offsets, wanted.get_shape())
                value = inserter.insert(tile.SliceOp(value, op.window_offsets, window), hint)
            if TileType.of(value.type).valid_shape != wanted.valid_shape:
                extents = op.valid_extents or wanted.valid_shape
                value = inserter.insert(tile.SetValidShapeOp(value, extents), hint)
            have, space = TileType.of(value.type), wanted.memory_space
            if space not in (None, have.memory_space):
                value = inserter.insert(tile.MoveOp(value, tile.MoveOp.moved(have, space)), hint)
        except VerifyException as error:
            raise OpError(op, str(error)) from error
        return value

    def _convert_use(self, op: Operation) -> None:
        """An op that uses a tile where a tensor stood, and makes none."""
        match op:
            case ptensor.DimOp():
                extent = ptensor.tensor_of(op.source.type).get_shape()[op.axis.value.data]
                constant = arith.ConstantOp.from_int_and_width(extent, IndexType())
            case ptensor.ReadOp():
                constant = tile.ReadOp(self.tiles[op.source], op.element)
            case tile.LoadOp():
                op.result.replace_all_uses_with(self._part(op))
                self.dead.append(op)
                return
            case _:
                raise OpError(op, "uses a computed tensor, which exists on chip only")
        result = Inserter(op).insert(constant, op.results[0].name_hint)
        op.results[0].replace_all_uses_with(result)
        self.dead.append(op)

    # Global memory.

    def _load(self, value: SSAValue, inserter: Inserter) -> None:
        """Load what a tensor in global memory holds, for the tensor ops that read it."""
        self.views += reversed(list(views_of(value)))
        if value in self.on_chip.loaded:
            reader = self.on_chip.loaded[value]
            self.tiles[value] = load_tensor(value, None, reader, inserter)
        if value in self.on_chip.multiplied:
            reader = self.on_chip.multiplied[value]
            self.matrices[value] = load_tensor(value, MemorySpace.MAT, reader, inserter)

    def _store(self, op: ptensor.AssembleOp) -> None:
        """Write a tile to global memory."""
        store = tile.StoreOp(
            self.tiles[op.source],
            op.destination,
            op.window_offsets,
            atomic=op.atomic.data,
            result_type=op.result.type,
        )
        self._rename(op, Inserter(op).insert(store, op.result.name_hint))

    def _rename(self, op: Operation, result: SSAValue) -> None:
        """`result` is the next name of the buffer in global memory that `op` writes."""
        (old,) = op.results
        old.replace_all_uses_with(result)
        if self.on_chip.is_loaded(old):
            self.on_chip.read_as(old, result)
            writer = result.owner
            assert isinstance(writer, Operation)
            self._load(result, Inserter(writer, InsertPoint.after(writer)))
        self.dead.append(op)

    def _store_results(self) -> None:
        """Store the tiles that are returned, each to a new parameter."""
        returned = self.function.return_op
        if returned is None:
            return
        values = list(returned.values)
        stored: dict[SSAValue, SSAValue] = {}
        for place, (value, type) in enumerate(
            zip(values, self.function.function_type.outputs.data, strict=True)
        ):
            source = self.tiles.get(value)
            copied = value in self.on_chip or value in self.on_chip.copied
            if source is None or not copied:
                continue
            if value not in stored:
                hint = value.name_hint
                parameter = self.outputs.add(self.function, type, hint)
                rank = ptensor.tensor_of(type).get_num_dims()
                store = tile.StoreOp(source, parameter, (0,) * rank, result_type=type)
                hint = None if hint is None else f"{hint}_stored"
                stored[value] = Inserter(returned).insert(store, hint)
            values[place] = stored[value]
        returned.operands = values

    # Control flow.

    def _tile_at(self, value: SSAValue, user: Operation) -> SSAValue:
        found = self.tiles.get(value)
        if found is None:
            raise OpError(user, "carries a tensor that has no tile here")
        return found

    def _enter_carries(self, op: Operation, first: int, targets: Sequence[BlockArgument]) -> None:
        """Let a loop start from tiles, and name them in its body."""
        operands = list(op.operands)
        for place, target in enumerate(targets):
            if target not in self.on_chip:
                continue
            start = self._tile_at(operands[first + place], op)
            # What the tensor leaves open may be another number in each iteration.
            start = left_open(start, ptensor.tensor_of(target.type), Inserter(op))
            operands[first + place] = start
            self._retype(target, start.type)
        op.operands = operands

    def _leave_carries(self, op: Operation, types: Sequence[Attribute | None]) -> None:
        """Give the results of control flow the types of the tiles that arrive there."""
        for result, type in zip(tuple(op.results), types, strict=True):
            if result in self.on_chip and type is not None:
                self._retype(result, type)

    def _retype(self, value: SSAValue, type: Attribute) -> None:
        """What control flow hands over is a tile now."""
        new = Rewriter.replace_value_with_new_type(value, type)
        self.on_chip.renamed(value, new)
        self.tiles[value] = self.tiles[new] = new

    def _convert_for(self, op: scf.ForOp) -> None:
        first = len(op.operands) - len(op.iter_args)
        self._enter_carries(op, first, op.body.block.args[1:])
        self._convert_block(op.body.block)
        self._expect_types(terminator(op.body), 0, op.body.block.args[1:])
        self._leave_carries(op, [argument.type for argument in op.body.block.args[1:]])

    def _convert_while(self, op: scf.WhileOp) -> None:
        self._enter_carries(op, 0, op.before_region.block.args)
        self._convert_block(op.before_region.block)
        condition = terminator(op.before_region)
        after = op.after_region.block
        for argument, value in zip(tuple(after.args), condition.operands[1:], strict=True):
            if argument in self.on_chip:
                self._retype(argument, value.type)
        self._convert_block(after)
        self._expect_types(terminator(op.after_region), 0, op.before_region.block.args)
        self._leave_carries(op, [value.type for value in condition.operands[1:]])

    def _convert_branches(self, op: Operation) -> None:
        ends: list[Operation] = []
        for region in op.regions:
            # Of ops that nobody registered a block may be empty.
            if region.first_block is not None and region.block.last_op is not None:
                self._convert_block(region.block)
                ends.append(terminator(region))
        self._leave_carries(op, [self._merge(op, ends, i) for i in range(len(op.results))])

    def _merge(self, op: Operation, ends: Sequence[Operation], place: int) -> Attribute | None:
        """Bring what branches yield as one result to one type, which is returned."""
        ends = [end for end in ends if place < len(end.operands)]
        types = [end.operands[place].type for end in ends]
        tiles = [type for type in types if isinstance(type, TileType)]
        if not tiles or len(tiles) < len(types):
            return types[0] if types else None
        type = joined(tiles)
        if type is None:
            end, other = next((e, t) for e, t in zip(ends, tiles, strict=True) if t != tiles[0])
            raise OpError(
                end,
                f"yields {other}, but another branch yields {tiles[0]}",
                (note(op, "of this branch"),),
            )
        seen_as = _seen_as(op.results[place])
        if seen_as is not None:
            type = with_valid(type, seen_as)
        for end in ends:
            bring_operand(end, place, type)
        return type

    def _forward(self, op: Operation) -> None:
        """The end of a region passes tiles on where the value that they become is a tile."""
        op.operands = [
            self._tile_at(operand, op)
            if isinstance(operand.type, TensorType) and self.on_chip.forwards_tile(op, place)
            else operand
            for place, operand in enumerate(op.operands)
        ]

    def _expect_types(self, end: Operation, first: int, targets: Sequence[BlockArgument]) -> None:
        for place, target in enumerate(targets, first):
            value, type = end.operands[place], target.type
            if value.type == type:
                continue
            if (
                not isinstance(value.type, TileType)
                or not isinstance(type, TileType)
                or joined((type, value.type)) is None
            ):
                raise OpError(
                    end,
                    f"yields {value.type}, but the loop carries {type}",
                    (note(target, "carried from here"),),
                )
            bring_operand(end, place, type)


_COMPOSED: Mapping[type[Operation], Callable[..., SSAValue]] = {
    ptensor.CreateL1Op: create_l1,
    ptensor.GatherOp: gather,
    ptensor.GatherRowOp: gather_row,
    ptensor.PagedGatherOp: paged_gather,
    ptensor.ScatterOp: scatter,
    ptensor.ScatterUpdateOp: scatter_update,
    ptensor.ScatterMaskOp: scatter_mask,
}
"""What is computed by more than one op on tiles, by the op on tensors."""


def _seen_as(value: SSAValue) -> tuple[int, ...] | None:
    """The constant valid region that all uses of a tensor see it with, if they cast it to one."""
    found: set[tuple[int, ...]] = set()
    for use in value.uses:
        if not isinstance(use.operation, ptensor.TypeCastOp):
            return None
        found.add(ptensor.valid_shape_of(ptensor.tensor_of(use.operation.result.type)))
    return found.pop() if len(found) == 1 and all(DYNAMIC_INDEX not in v for v in found) else None


def _has_no_more_to_return(op: ptensor.TypeCastOp) -> bool:
    """
    Whether what is returned as valid was computed just before: all that there is of it is what is
    valid of the source, and the rest of the buffer stays as it is.
    """
    owner = op.source.owner
    return (
        isinstance(owner, DeclaredOp)
        and isinstance(op.source, OpResult)
        and owner.named_operand(op.source) is None
        and all(isinstance(use.operation, orch.ReturnOp) for use in op.result.uses)
    )


def _erase(op: Operation) -> None:
    block = op.parent_block()
    assert block is not None
    block.erase_op(op)
