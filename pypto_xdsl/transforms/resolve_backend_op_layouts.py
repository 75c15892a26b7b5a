"""
resolve-backend-op-layouts: stores tiles the way the target's instructions want them.

Many instructions of the vector unit take row-major tiles only. Where an op is given another
tile, it is repaired on the spot, in one of two ways.

A *column* `[N, 1]` has the bytes of the row `[1, N]`, so the op works on rows, and nothing moves:

    %c = tile.add %a, %b : !tile.tile<16x1xf32, vec>

becomes

    %a_row = tile.reshape %a : !tile.tile<16x1xf32, vec> -> !tile.tile<1x16xf32, vec>
    %b_row = tile.reshape %b : !tile.tile<16x1xf32, vec> -> !tile.tile<1x16xf32, vec>
    %c_row = tile.add %a_row, %b_row : !tile.tile<1x16xf32, vec>
    %c = tile.reshape %c_row : !tile.tile<1x16xf32, vec> -> !tile.tile<16x1xf32, vec>

Any other tile is copied within its memory, and the result copied back:

    %e = tile.exp %m : !tile.tile<16x256xf32, vec, blayout = col_major>

becomes

    %m_row = tile.move %m : ... -> !tile.tile<16x256xf32, vec>
    %e_row = tile.exp %m_row : !tile.tile<16x256xf32, vec>
    %e = tile.move %e_row : ... -> !tile.tile<16x256xf32, vec, blayout = col_major>

A selection between columns has a mask with a byte for each row, one between rows a mask with a
bit for each column. There the comparison that made the mask is done on rows as well.

The operands of an op are repaired together, so that it stays one op on one shape, and the type of
its result is restored: nobody else sees a change. What is wanted comes from the backend's layout
specs (`backend/<name>/layouts.py`); without a backend there is nothing to do. Only kernels are
repaired: they alone compute on tiles.

A column that is taken out of a row-major tile on chip is stored as one first, and what is made of
it is a column as well:

    %c = tile.slice %t[0, 8] : ... -> !tile.tile<16x1xf32, vec, blayout = row_major>

becomes

    %w = tile.slice %t[0, 8] : ... -> !tile.tile<16x8xf32, vec, valid = [16, 1]>
    %c = tile.row_max %w, %tmp : ... -> !tile.tile<16x1xf32, vec>

An op that wants rows but whose meaning hangs on its columns (a column against a matrix, say) has
no such repair, and is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.kernels import kernels
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.layout_spec import LayoutSpec, MisplacedOperand, MisplacedResult
from pypto_xdsl.diagnostics import DiagnosticsError, OpError
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import Layout, TileLayout, TileType
from pypto_xdsl.dialects.typed_op import InferringOp
from pypto_xdsl.properties.backend_pass import BackendPass
from pypto_xdsl.rewriting.locating import at, locate
from pypto_xdsl.rewriting.tile_columns import store_columns


@dataclass(frozen=True)
class ResolveBackendOpLayoutsPass(BackendPass):
    """Store tiles the way the target's instructions want them."""

    name = "resolve-backend-op-layouts"
    required = ("SSAForm", "IncoreTileOps", "SplitIncoreOrch", "TileOps2D")
    produced = (
        "SSAForm",
        "IncoreTileOps",
        "SplitIncoreOrch",
        "TileOps2D",
        "NormalizedStmtStructure",
        "BackendLayoutsSatisfied",
    )

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        if backend is not None:
            for kernel in kernels(module):
                store_columns(kernel, backend)
            resolve_layouts(module, backend)


def resolve_layouts(module: ModuleOp, backend: Backend) -> None:
    """
    Repair each op in the module's kernels whose tiles are not stored as the backend wants.

    Raises `DiagnosticsError` with all ops that cannot be repaired.
    """
    masks = _Masks()
    errors: dict[int, OpError] = {}
    pending: list[tuple[int, DeclaredOp, OpError]] = []
    for place, (op, spec) in enumerate(constrained_ops(module, backend)):
        operands = list(spec.misplaced_operands(op))
        results = list(spec.misplaced_results(op))
        if not operands and not results:
            continue
        try:
            _Repair(op, operands, results, masks).apply()
        except _PackedResult as error:
            # All is well if who uses the mask gets another one.
            pending.append((place, op, error))
        except OpError as error:
            errors[place] = error
    masks.erase_unused()
    for place, op, error in pending:
        if any(result.uses for result in op.results):
            errors[place] = error
        elif op.parent is not None:
            op.parent.erase_op(op)
    if errors:
        raise DiagnosticsError(
            diagnostic for _, error in sorted(errors.items()) for diagnostic in error.diagnostics
        )


def constrained_ops(module: ModuleOp, backend: Backend) -> Iterator[tuple[DeclaredOp, LayoutSpec]]:
    """The ops in kernels of which the backend demands a layout."""
    for kernel in kernels(module):
        for op in walk(kernel):
            spec = backend.layout_spec(type(op))
            if spec is not None and isinstance(op, DeclaredOp):
                yield op, spec


class _PackedResult(OpError):
    """An op on columns whose result is a packed mask, which is no other mask in another shape."""


@dataclass
class _Masks:
    """Masks of columns, made anew for the columns seen as rows."""

    turned: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def of(self, mask: SSAValue, shape: tuple[int, ...]) -> SSAValue | None:
        """The mask of tiles of a shape for these tiles turned; None if nobody can tell."""
        found = self.turned.get(mask)
        if found is None:
            comparison = mask.owner
            if not isinstance(comparison, InferringOp) or not _packs(comparison):
                return None
            found = self._compare_turned(comparison, shape)
            if found is not None:
                self.turned[mask] = found
        return found

    def _compare_turned(self, op: InferringOp, shape: tuple[int, ...]) -> SSAValue | None:
        operands = list(op.operands)
        made: list[Operation] = []
        for index, operand in enumerate(operands):
            type = operand.type
            if not isinstance(type, TileType) or _has_shape(type, (1, 1)):
                continue
            if not _has_shape(type, shape) or type.layout.slayout is not TileLayout.NONE_BOX:
                return None
            view = tile.ReshapeOp(operand, turned(type))
            made.append(view)
            (operands[index],) = view.results
        types = [operand.type for operand in operands]
        compared = op.__class__.create(
            operands=operands,
            result_types=op.inferred_types(types, op.properties),
            properties=op.properties,
            attributes=op.attributes,
        )
        block = op.parent
        assert block is not None
        for new in (*made, compared):
            locate(op.location, new)
            if (hint := op.results[0].name_hint) is not None:
                new.results[0].name_hint = f"{hint}_turned"
        block.insert_ops_after([*made, compared], op)
        return compared.results[0]

    def erase_unused(self) -> None:
        """Erase the comparisons that nobody needs in their first shape any more."""
        for mask in self.turned:
            op = mask.owner
            if isinstance(op, Operation) and not mask.uses and op.parent is not None:
                op.parent.erase_op(op)


def _packs(op: DeclaredOp) -> bool:
    """Whether the result of an op is a packed mask."""
    return any(name in op.PACKED for name, _ in op.declaration().results)


@dataclass
class _Repair:
    """One op, and what is put in its place."""

    op: DeclaredOp
    operands: Sequence[MisplacedOperand]
    results: Sequence[MisplacedResult]
    masks: _Masks
    before: list[Operation] = field(default_factory=list[Operation])
    after: list[Operation] = field(default_factory=list[Operation])

    def apply(self) -> None:
        operands = list(self.op.operands)
        result_types = list(self.op.result_types)
        if (shape := self._vector_shape()) is not None:
            self._expect_one_shape(shape)
            for index, (name, operand, _) in enumerate(self.op.declared_operands()):
                if name in self.op.PACKED:
                    operands[index] = self._turned_mask(operand, shape)
                elif _has_shape(operand.type, shape):
                    operands[index] = self._turned(operand, f"arg{index}")
            for index, result_type in enumerate(result_types):
                if _has_shape(result_type, shape):
                    result_types[index] = turned(TileType.of(result_type))
        for misplaced in self.operands:
            operand = operands[misplaced.index]
            operands[misplaced.index] = self._moved(operand, misplaced.wanted)
        for misplaced in self.results:
            index = misplaced.result.index
            result_types[index] = stored(TileType.of(result_types[index]), misplaced.wanted)
        self._replace(operands, result_types)

    def _vector_shape(self) -> tuple[int, ...] | None:
        """
        The shape of the columns (or rows) to be seen as rows (or columns), if there are any.
        """
        for misplaced in self.operands:
            vector = TileType.of(self.op.operands[misplaced.index].type)
            if is_turnable(vector, misplaced.wanted):
                return vector.get_shape()
        for misplaced in self.results:
            vector = TileType.of(misplaced.result.type)
            if is_turnable(vector, misplaced.wanted):
                return vector.get_shape()
        return None

    def _expect_one_shape(self, shape: tuple[int, ...]) -> None:
        """
        Raise unless the op means the same after its tiles of this shape are turned: it works
        element by element, and no tile has a shape that the turned ones would meet otherwise.
        """
        what = "x".join(map(str, shape))
        if not self.op.ELEMENTWISE:
            raise OpError(
                self.op, f"needs {self._wanted()} tiles, and a {what} tile cannot be turned here"
            )
        if _packs(self.op):
            raise _PackedResult(
                self.op,
                f"needs {self._wanted()} tiles, and the mask of a {what} tile is used where it "
                f"cannot be that of a turned one",
            )
        tiles = [
            (f"operand '{name}'", operand.type)
            for name, operand, declared in self.op.declared_operands()
            if not declared.workspace and name not in self.op.PACKED
        ]
        tiles += [(f"result '{name}'", r.type) for name, r, _ in self.op.declared_results()]
        for name, type in tiles:
            if isinstance(type, TileType) and not _has_shape(type, shape, (1, 1)):
                raise OpError(
                    self.op,
                    f"needs {self._wanted()} tiles, and a {what} tile cannot be turned where "
                    f"{name} is {type}",
                )

    def _turned_mask(self, mask: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        found = self.masks.of(mask, shape)
        if found is None:
            what = "x".join(map(str, shape))
            raise OpError(
                self.op,
                f"needs {self._wanted()} tiles, and its mask of a {what} tile is no result of a "
                "comparison of such tiles",
            )
        return found

    def _wanted(self) -> str:
        return str([*self.operands, *self.results][0].wanted)

    def _turned(self, value: SSAValue, name: str) -> SSAValue:
        vector = TileType.of(value.type)
        if vector.layout.slayout is not TileLayout.NONE_BOX:
            # Boxed, its bytes are not in the order of a vector.
            self._expect_space(vector)
            vector = vector.with_shape(vector.get_shape(), vector.valid_shape)
            value = self._insert(tile.MoveOp(value, vector), f"{name}_unboxed")
        return self._insert(tile.ReshapeOp(value, turned(vector)), f"{name}_turned")

    def _moved(self, value: SSAValue, wanted: TileLayout) -> SSAValue:
        type = TileType.of(value.type)
        if type.layout.blayout is wanted:
            return value
        self._expect_space(type)
        return self._insert(tile.MoveOp(value, stored(type, wanted)), f"arg_{wanted}")

    def _insert(self, op: tile.ReshapeOp | tile.MoveOp, name: str) -> OpResult:
        locate(self.op.location, op)
        (result,) = op.results
        result.name_hint = f"{self._base_name()}_{name}"
        self.before.append(op)
        return result

    def _base_name(self) -> str:
        hint = self.op.results[0].name_hint if self.op.results else None
        return hint or "layout_fix"

    def _expect_space(self, type: TileType) -> None:
        if type.memory_space is None:
            raise OpError(
                self.op,
                f"needs {self._wanted()} tiles, but the memory space of {type} is not known",
            )

    def _replace(self, operands: Sequence[SSAValue], result_types: Sequence[Attribute]) -> None:
        op = self.op
        repaired = type(op).create(
            operands=operands,
            result_types=result_types,
            properties=op.properties,
            attributes=op.attributes,
        )
        repaired = at(op, repaired)
        try:
            repaired.verify_()
        except VerifyException as error:
            for inserted in (repaired, *reversed(self.before)):
                inserted.erase()
            raise OpError(
                op, f"needs {self._wanted()} tiles, but not on tiles stored so: {error}"
            ) from error
        for old, new in zip(op.results, repaired.results, strict=True):
            old.replace_all_uses_with(new if new.type == old.type else self._restored(old, new))
        block = op.parent
        assert block is not None
        block.insert_ops_before([*self.before, repaired, *self.after], op)
        block.erase_op(op)

    def _restored(self, old: OpResult, new: OpResult) -> OpResult:
        """The result as it was declared."""
        was = TileType.of(old.type)
        if TileType.of(new.type).get_shape() != was.get_shape():
            op = tile.ReshapeOp(new, was)
        else:
            self._expect_space(was)
            op = tile.MoveOp(new, was)
        locate(self.op.location, op)
        (result,) = op.results
        result.name_hint = old.name_hint
        if old.name_hint is not None:
            new.name_hint = f"{old.name_hint}_{self._wanted()}"
        self.after.append(op)
        return result


@lru_cache(maxsize=1024)
def is_turnable(tile: TileType, wanted: TileLayout) -> bool:
    """Whether the bytes of a tile are those of its transpose in the wanted layout."""
    shape = tile.get_shape()
    if len(shape) != 2 or 1 not in shape or tile.layout.slayout is not TileLayout.NONE_BOX:
        return False
    return turned(tile).layout.blayout is wanted


@lru_cache(maxsize=1024)
def turned(tile: TileType) -> TileType:
    """A column seen as a row, or a row as a column: the same bytes in the same order."""
    rows, columns = tile.get_shape()
    valid_rows, valid_columns = tile.valid_shape
    return tile.with_shape((columns, rows), (valid_columns, valid_rows))


@lru_cache(maxsize=1024)
def stored(tile: TileType, wanted: TileLayout) -> TileType:
    """The tile in another block layout, its blocks unboxed."""
    if tile.layout.blayout is wanted:
        return tile
    return tile.with_layout(Layout(wanted, TileLayout.NONE_BOX, 512))


def _has_shape(type: Attribute, *shapes: tuple[int, ...]) -> bool:
    return isinstance(type, TileType) and type.get_shape() in shapes
