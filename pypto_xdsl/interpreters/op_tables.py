"""
Implementations that are chosen by a table, one entry an op, instead of one method an op.

    @register_impls
    @implements({tile.RowSumOp: total, tile.RowMaxOp: largest}, run_reduction)
    class TileReductionFunctions(InterpreterFunctions): ...

`run_reduction(meaning)` makes the method for an op from its entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl
from xdsl.ir import Operation

from pypto_xdsl.interpreters.borrowing import does_keep_nothing, keeps_nothing
from pypto_xdsl.interpreters.execution import prepare_of, prepared

Run: TypeAlias = Callable[[Interpreter, Any, PythonValues], PythonValues]
"""Runs one op on its operands: `(interpreter, op, operands) -> results`."""

_EntryT = TypeVar("_EntryT")
_FunctionsT = TypeVar("_FunctionsT", bound=type[InterpreterFunctions])


def implements(
    table: Mapping[type[Operation], _EntryT], make: Callable[[type[Operation], _EntryT], Run]
) -> Callable[[_FunctionsT], _FunctionsT]:
    """Implement each op class of a table by what `make(op class, entry)` returns."""

    def decorate(functions: _FunctionsT) -> _FunctionsT:
        for op_class, entry in table.items():
            run = make(op_class, entry)

            def method(
                self: InterpreterFunctions,
                interpreter: Interpreter,
                op: Operation,
                args: PythonValues,
                run: Run = run,
            ) -> PythonValues:
                return run(interpreter, op, args)

            implementation = impl(op_class)(method)
            prepare = prepare_of(run)
            if prepare is not None:
                implementation = prepared(prepare)(implementation)
            if does_keep_nothing(run):
                implementation = keeps_nothing(implementation)
            setattr(functions, f"run_{op_class.name}", implementation)
        return functions

    return decorate


def table_by_name(
    operations: Iterable[type[Operation]], entries: Mapping[str, _EntryT]
) -> dict[type[Operation], _EntryT]:
    """The table of those ops of a dialect whose name, without the dialect, has an entry."""
    found: dict[type[Operation], _EntryT] = {}
    for op_class in operations:
        entry = entries.get(op_class.name.partition(".")[2])
        if entry is not None:
            found[op_class] = entry
    return found
