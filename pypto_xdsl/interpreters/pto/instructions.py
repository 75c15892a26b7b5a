"""
How instructions run: on copies of what they read, one after the other.

An instruction reads its sources over the valid region of its destination, computes, and writes
that region; what lies outside it stays. Scratch is spoiled. What computing means stands in
`arithmetic.py`, `reductions.py` and `casts.py`, as for tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.ptensor.attributes import CompareMode, RoundMode
from pypto_xdsl.dialects.pto import BLayout, PtoOp, Role
from pypto_xdsl.dialects.pto import enumerations as words
from pypto_xdsl.interpreters.arithmetic import MEANINGS, Meaning, Partial, function_of
from pypto_xdsl.interpreters.casts import cast, rounded
from pypto_xdsl.interpreters.elements import (
    Array,
    Element,
    Mask,
    element_of,
    integer_value,
    number_of,
)
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepared, by_preparing
from pypto_xdsl.interpreters.machine import machine_of
from pypto_xdsl.interpreters.op_tables import Run, implements
from pypto_xdsl.interpreters.pto.array_forms import ArrayForm, with_form
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.pto.memory import LocalTile
from pypto_xdsl.interpreters.pto.operands import named, operand_place
from pypto_xdsl.interpreters.reductions import REDUCTIONS, Reduction, stored_reduction
from pypto_xdsl.interpreters.selection import COMPARISONS, pack, unpack

Values = tuple[Array, Mask | None]
"""Computed elements, and which of them are defined (None: all)."""


_BLOCK = 32
"""Bytes."""


def finish(tile: LocalTile, result: Array | Partial, defined: Mask | None) -> None:
    """Write a result to the region of its extents."""
    element = tile.element
    if isinstance(result, Partial):
        defined = result.defined if defined is None else defined & result.defined
        result = result.values
    tile.write(np.asarray(element.narrow(result)), defined)


def operand_values(
    value: Any, region: tuple[int, int], element: Element, axis: int | None = None
) -> Values:
    """
    An operand over a region, as elements of a type; along `axis` its first place is repeated, or
    the block of 32 bytes that a vector of rows holds for each.
    """
    if not isinstance(value, LocalTile):
        return np.broadcast_to(element.number(number_of(value)), region), None
    part = [1 if axis == place else extent for place, extent in enumerate(region)]
    in_blocks = axis == 1 and value.type.blayout is BLayout.ROW_MAJOR and value.valid[1] > 1
    if in_blocks:
        part[1] = _BLOCK // value.element.storage.itemsize
        if value.valid[1] != part[1]:
            raise ProgramError(f"spreads {value.valid[1]} columns, which are neither 1 nor a block")
    stored, defined = value.read((part[0], part[1]))
    own = value.element
    values = own.widen(stored) if own is element else element.compute_from(stored, own)
    if in_blocks:
        places = np.arange(region[1]) % part[1]
        values = values[:, places]
        defined = None if defined is None else defined[:, places]
    elif axis is not None:
        values = np.broadcast_to(values, region)
        defined = None if defined is None else np.broadcast_to(defined, region)
    return values, defined


def both_defined(masks: Sequence[Mask | None]) -> Mask | None:
    """Where all of some arrays are defined, of the mask of each; None: everywhere."""
    known = [mask for mask in masks if mask is not None]
    if not known:
        return None
    found = known[0]
    for mask in known[1:]:
        found = found & mask
    return found


def scratch_places(op: PtoOp) -> tuple[int, ...]:
    """Where the scratch of an instruction is among its operands."""
    return tuple(place for place, (_, role, _) in enumerate(op.roles()) if role is Role.SCRATCH)


def spoil_scratch(op: PtoOp, args: PythonValues) -> None:
    """Make undefined what an instruction was given as scratch: nobody may read it afterwards."""
    for place in scratch_places(op):
        args[place].spoil()


def _spread_axes(spread: Mapping[str, int], operands: Mapping[str, Any]) -> Mapping[str, int]:
    """Which sources are spread; of two for rows, the one that does not lie as the result does."""
    if spread != _SPREAD_ROWS:
        return spread
    left, right, destination = (operands[name] for name in ("src0", "src1", "dst"))
    is_full = [
        tile.type.blayout is BLayout.ROW_MAJOR and tile.valid == destination.valid
        for tile in (left, right)
    ]
    return {"src0": 1} if is_full == [False, True] else spread


_SPREAD_ROWS: Mapping[str, int] = {"src1": 1}


def _elementwise(
    sources: tuple[str, ...], spread: Mapping[str, int] = {}
) -> Callable[[type[Operation], Meaning], Run]:
    """Computes on sources over the valid region of `dst`; some are spread along an axis."""

    def make(op_class: type[Operation], meaning: Meaning) -> Run:
        def prepare(interpreter: Interpreter, op: Any) -> Prepared:
            to_place = operand_place(op, "dst")
            from_places = [(name, operand_place(op, name)) for name in sources]
            scratch = scratch_places(op)
            element = element_of(op.operands[to_place].type.element_type)

            def run(args: PythonValues) -> PythonValues:
                destination: LocalTile = args[to_place]
                region = destination.valid
                axes = _spread_axes(spread, named(op, args)) if spread else spread
                values = [
                    operand_values(args[place], region, element, axes.get(name))
                    for name, place in from_places
                ]
                for place in scratch:
                    args[place].spoil()
                result = meaning(element, *[array for array, _ in values])
                finish(destination, result, both_defined([mask for _, mask in values]))
                return ()

            def form(args: PythonValues) -> ArrayForm | None:
                # Integers divided by zero, or shifted too far, have no result.
                if spread or not element.is_float:
                    return None
                region = args[to_place].valid
                tiles = [place for _, place in from_places if isinstance(args[place], LocalTile)]
                if not tiles:
                    return None
                compute = _of_arrays(meaning, element, [args[place] for _, place in from_places])
                reads = tuple([(place, region) for place in tiles])
                return ArrayForm(reads, (to_place, region), compute, scratch)

            return with_form(run, form)

        return by_preparing(prepare)

    return make


def _of_arrays(meaning: Meaning, element: Element, operands: Sequence[Any]) -> Callable[..., Array]:
    """A meaning as a function of what the operands hold that are tiles, all as stored."""
    if element.storage is element.compute and all(
        isinstance(operand, LocalTile) and operand.element is element for operand in operands
    ):
        function = function_of(meaning, element)
        if function is not None:
            return function
        return lambda *arrays: element.narrow(as_array(meaning(element, *arrays)))

    def compute(*arrays: Array) -> Array:
        remaining = iter(arrays)
        values = [
            element.compute_from(next(remaining), operand.element)
            if isinstance(operand, LocalTile)
            else element.number(number_of(operand))
            for operand in operands
        ]
        return element.narrow(as_array(meaning(element, *values)))

    return compute


def as_array(result: Array | Partial) -> Array:
    """A result that is defined everywhere."""
    assert not isinstance(result, Partial)
    return result


def _expand_rows(op_class: type[Operation], _: None) -> Run:
    """Repeats the first column, of however many."""

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        source, destination = args
        rows, columns = destination.valid
        stored, defined = source.read((rows, 1))
        mask = None if defined is None else np.broadcast_to(defined, (rows, columns))
        destination.write(np.broadcast_to(stored, (rows, columns)), mask)
        return ()

    return run


def _first(element: Element, operand: Array) -> Array:
    return operand


_ONE = {
    pto.TAbsOp: "abs",
    pto.TNegOp: "neg",
    pto.TNotOp: "not",
    pto.TExpOp: "exp",
    pto.TLogOp: "log",
    pto.TSqrtOp: "sqrt",
    pto.TRsqrtOp: "rsqrt",
    pto.TRecipOp: "recip",
    pto.TReluOp: "relu",
}
_TWO = {
    pto.TAddOp: "add",
    pto.TSubOp: "sub",
    pto.TMulOp: "mul",
    pto.TDivOp: "div",
    pto.TMaxOp: "maximum",
    pto.TMinOp: "minimum",
    pto.TFModOp: "fmod",
    pto.TRemOp: "rem",
    pto.TAndOp: "and",
    pto.TOrOp: "or",
    pto.TXorOp: "xor",
    pto.TShlOp: "shl",
    pto.TShrOp: "shr",
    pto.TPReluOp: "prelu",
    pto.TAddReluOp: "add_relu",
}
_SCALAR = {
    pto.TAddSOp: "adds",
    pto.TSubSOp: "subs",
    pto.TMulSOp: "muls",
    pto.TDivSOp: "divs",
    pto.TMaxSOp: "maximums",
    pto.TMinSOp: "minimums",
    pto.TFModSOp: "fmods",
    pto.TRemSOp: "rems",
    pto.TAndSOp: "ands",
    pto.TOrSOp: "ors",
    pto.TXorSOp: "xors",
    pto.TShlSOp: "shls",
    pto.TShrSOp: "shrs",
    pto.TPowSOp: "pow",
}
_THREE = {pto.TAddCOp: "addc", pto.TSubCOp: "subc"}
_SCALAR_THREE = {pto.TAddSCOp: "addsc", pto.TSubSCOp: "subsc"}
_ROW_SPREAD = {
    pto.TRowExpandAddOp: "row_expand_add",
    pto.TRowExpandSubOp: "row_expand_sub",
    pto.TRowExpandMulOp: "row_expand_mul",
    pto.TRowExpandDivOp: "row_expand_div",
    pto.TRowExpandMaxOp: "row_expand_max",
    pto.TRowExpandMinOp: "row_expand_min",
    pto.TRowExpandExpDifOp: "row_expand_expdif",
}
_COLUMN_SPREAD = {
    pto.TColExpandAddOp: "col_expand_add",
    pto.TColExpandSubOp: "col_expand_sub",
    pto.TColExpandMulOp: "col_expand_mul",
    pto.TColExpandDivOp: "col_expand_div",
    pto.TColExpandMaxOp: "col_expand_max",
    pto.TColExpandMinOp: "col_expand_min",
    pto.TColExpandExpDifOp: "col_expand_expdif",
}
_ROW_FOLD = {
    pto.TRowSumOp: "sum",
    pto.TRowMaxOp: "max",
    pto.TRowMinOp: "min",
    pto.TRowProdOp: "prod",
    pto.TRowArgMaxOp: "argmax",
    pto.TRowArgMinOp: "argmin",
}
_COLUMN_FOLD = {
    pto.TColSumOp: "sum",
    pto.TColMaxOp: "max",
    pto.TColMinOp: "min",
    pto.TColProdOp: "prod",
    pto.TColArgMaxOp: "argmax",
    pto.TColArgMinOp: "argmin",
}


def _meanings(names: Mapping[Any, str]) -> Mapping[type[Operation], Meaning]:
    return {op: MEANINGS[name] for op, name in names.items()}


def _folds(names: Mapping[Any, str]) -> Mapping[type[Operation], Reduction]:
    return {op: REDUCTIONS[name] for op, name in names.items()}


def _fold(axis: int) -> Callable[[type[Operation], Reduction], Run]:
    """Folds the valid region of `src` along an axis."""

    def make(op_class: type[Operation], reduction: Reduction) -> Run:
        def prepare(interpreter: Interpreter, op: Any) -> Prepared:
            from_place, to_place = operand_place(op, "src"), operand_place(op, "dst")
            machine, scratch = machine_of(interpreter), scratch_places(op)
            element = element_of(op.operands[from_place].type.element_type)

            def run(args: PythonValues) -> PythonValues:
                stored, defined = args[from_place].read()
                if defined is not None:
                    machine.require_defined(op, defined)
                for place in scratch:
                    args[place].spoil()
                finish(args[to_place], reduction(element, element.widen(stored), axis), None)
                return ()

            def form(args: PythonValues) -> ArrayForm | None:
                rows, columns = args[from_place].valid
                target = args[to_place].element
                if not rows or not columns:
                    return None

                # Over some elements, there is a result.
                compute: Any = stored_reduction(reduction, element, target, axis)
                region = (rows, 1) if axis == 1 else (1, columns)
                return ArrayForm(
                    ((from_place, (rows, columns)),), (to_place, region), compute, scratch
                )

            return with_form(run, form)

        return by_preparing(prepare)

    return make


def _compare(op_class: type[Operation], second: str) -> Run:
    """A bit an element; the valid region is that of the first source."""
    first = "src0" if second == "src1" else "src"

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands[first]
        mode = op.properties.get("cmpMode")
        comparison = CompareMode.EQ if mode is None else CompareMode(mode.data.value)
        left, left_defined = operand_values(source, source.valid, source.element)
        right, right_defined = operand_values(operands[second], source.valid, source.element)
        bits = COMPARISONS[comparison](left, right)
        defined = both_defined([left_defined, right_defined])
        octets = pack(np.asarray(bits))
        mask = None if defined is None else pack(~defined) == 0
        destination: LocalTile = operands["dst"]
        destination.write(octets.astype(destination.element.storage), mask)
        return ()

    return run


def _bits(mask: LocalTile, region: tuple[int, int]) -> tuple[Mask, Mask | None]:
    each = 8 * mask.element.storage.itemsize
    stored, defined = mask.read((region[0], -(-region[1] // each)))
    bits = unpack(stored, region[1])
    if defined is not None:
        defined = np.repeat(defined, each, axis=-1)[:, : region[1]]
    return bits, defined


def _select(op_class: type[Operation], names: tuple[str, str]) -> Run:
    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        destination: LocalTile = operands["dst"]
        element, region = destination.element, destination.valid
        bits, known = _bits(operands["mask"], region)
        (left, left_known), (right, right_known) = (
            operand_values(operands[name], region, element) for name in names
        )
        spoil_scratch(op, args)
        chosen = np.where(
            bits,
            True if left_known is None else left_known,
            True if right_known is None else right_known,
        )
        defined = chosen if known is None else chosen & known
        finish(destination, np.where(bits, left, right), defined)
        return ()

    return run


def _no_machine_state(op_class: type[Operation], _: None) -> Run:
    """Ops that order what is in order already, or only bring data nearer."""

    def run(interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        return ()

    return run


_ORDERED: Mapping[type[Operation], None] = dict.fromkeys(
    (
        pto.BarrierOp,
        pto.SetFlagOp,
        pto.WaitFlagOp,
        pto.SetFlagDynOp,
        pto.WaitFlagDynOp,
        pto.RecordEventOp,
        pto.WaitEventOp,
        pto.BarrierSyncOp,
        pto.TPrefetchOp,
    )
)


@register_impls
@implements(_meanings(_ONE), _elementwise(("src",)))
@implements(_meanings(_TWO), _elementwise(("src0", "src1")))
@implements(_meanings(_SCALAR), _elementwise(("src", "scalar")))
@implements(_meanings(_THREE), _elementwise(("src0", "src1", "src2")))
@implements(_meanings(_SCALAR_THREE), _elementwise(("src0", "scalar", "src1")))
@implements(_meanings({pto.TPowOp: "pow"}), _elementwise(("base", "exp")))
@implements(_meanings({pto.TLReluOp: "lrelu"}), _elementwise(("src", "slope")))
@implements(_meanings(_ROW_SPREAD), _elementwise(("src0", "src1"), _SPREAD_ROWS))
@implements(_meanings(_COLUMN_SPREAD), _elementwise(("src0", "src1"), {"src1": 0}))
@implements({pto.TRowExpandOp: None}, _expand_rows)
@implements({pto.TColExpandOp: _first}, _elementwise(("src",), {"src": 0}))
@implements({pto.TExpandSOp: _first}, _elementwise(("scalar",)))
@implements(_folds(_ROW_FOLD), _fold(1))
@implements(_folds(_COLUMN_FOLD), _fold(0))
@implements({pto.TCmpOp: "src1", pto.TCmpSOp: "scalar"}, _compare)
@implements({pto.TSelOp: ("src0", "src1"), pto.TSelSOp: ("src", "scalar")}, _select)
@implements(_ORDERED, _no_machine_state)
class PtoInstructionFunctions(InterpreterFunctions):
    @impl(pto.TCvtOp)
    def run_tcvt(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        source: LocalTile = operands["src"]
        destination: LocalTile = operands["dst"]
        mode = op.properties.get("rmode")
        rounding = (
            RoundMode.RINT if mode is None else RoundMode[mode.data.name.removeprefix("CAST_")]
        )
        stored, defined = source.read(destination.valid)
        element = destination.element
        if source.element is element and element.is_float:
            result: Array | Partial = rounded(stored, element, rounding)
        else:
            result = cast(
                stored, source.element, element, rounding, saturates=_SATURATION[_mode(op)]
            )
        spoil_scratch(op, args)
        finish(destination, result, defined)
        return ()

    @impl(pto.TGetValOp)
    def run_tgetval(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        tile: LocalTile = operands["src"]
        values, flags = tile.flat()
        place = _place(operands["offset"].value.data, len(values))
        machine_of(interpreter).require_defined(
            op, flags[place].all(keepdims=True), "reads an undefined element"
        )
        return (tile.element.scalar(values[place]),)

    @impl(pto.TSetValOp)
    def run_tsetval(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        operands = named(op, args)
        tile: LocalTile = operands["dst"]
        values, flags = tile.flat()
        place = _place(operands["offset"].value.data, len(values))
        element = tile.element
        values[place] = element.narrow(element.number(number_of(operands["val"])))
        flags[place] = True
        return ()

    @impl(pto.LoadScalarOp)
    def run_load_scalar(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        operands = named(op, args)
        pointer: Pointer = operands["ptr"].moved(operands["offset"].value.data)
        stored, defined = pointer.tensor("the access", (1,), (1,)).read()
        machine_of(interpreter).require_defined(op, defined, "reads an undefined element")
        return (pointer.element.scalar(stored[0]),)

    @impl(pto.StoreScalarOp)
    def run_store_scalar(
        self, interpreter: Interpreter, op: Any, args: PythonValues
    ) -> PythonValues:
        operands = named(op, args)
        pointer: Pointer = operands["ptr"].moved(operands["offset"].value.data)
        element = pointer.element
        value = element.narrow(element.number(number_of(operands["value"])))
        pointer.tensor("the access", (1,), (1,)).write((), np.asarray(value).reshape(1))
        return ()

    @impl(UnrealizedConversionCastOp)
    def run_conversion(self, interpreter: Interpreter, op: Any, args: PythonValues) -> PythonValues:
        (result,) = op.results
        return (integer_value(int(number_of(args[0])), result.type),)


_SATURATION: Mapping[words.SaturationMode | None, bool | None] = {
    words.SaturationMode.ON: True,
    words.SaturationMode.OFF: False,
    None: None,
}


def _mode(op: Any) -> words.SaturationMode | None:
    mode: Any = op.properties.get("sat_mode")
    return None if mode is None else mode.data


def _place(offset: int, count: int) -> int:
    if not 0 <= offset < count:
        raise ProgramError(f"element {offset} lies outside a tile of {count}")
    return offset
