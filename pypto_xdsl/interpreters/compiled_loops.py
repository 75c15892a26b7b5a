"""
The bodies of loops that run often, as Python functions.

A step of a plan takes its operands from a list and puts its results there. A loop that has run
for a while is written out as Python instead, a line a step, where the values of its body are local
variables and what comes from outside is read once:

    def loop(values, indices, carried):
        v3 = values[3]
        v9, = carried
        try:
            for v8 in indices:
                v12, = run0((v3, v8))
                run1((v12, v9))
                v9, = v12,
        except ERRORS as e:
            raise error_at(ops[e.__traceback__.tb_lineno], e) from e
        return v9,
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.interpreter import PythonValues
from xdsl.ir import Block, Operation, SSAValue

from pypto_xdsl.diagnostics import DiagnosticsError

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.execution import Prepared

Loop: TypeAlias = Callable[[list[Any], Iterable[Any], PythonValues], PythonValues]
"""Runs a body on the values of its function, for each index, and what the first one is given."""


def compile_loop(
    block: Block,
    steps: Sequence[tuple[Operation, Prepared]],
    places: Mapping[SSAValue, int],
    errors: tuple[type[Exception], ...],
    error_at: Callable[[Operation, Exception], Exception],
) -> Loop:
    """
    The loop whose body is a block; its first argument is the index, and its terminator returns its
    operands. `places` are those of values in the list, of which regions inside the body read some.
    """
    terminator = block.last_op
    assert terminator is not None
    body = [op for op, _ in steps]
    outer = _from_outside(block, [*body, terminator])
    inner = _used_in_regions(body)
    index, *carried = (_name(places, argument) for argument in block.args)
    lines = ["def loop(values, indices, carried):"]
    lines += [f" {_name(places, value)} = values[{places[value]}]" for value in outer]
    if carried:
        lines.append(f" {_tuple(carried)} = carried")
    lines += [" try:", f"  for {index} in indices:"]
    lines += [f"   {_kept(places, a)}" for a in block.args if a in inner]
    ops: dict[int, Operation] = {}
    names: dict[str, Any] = {
        "ops": ops,
        "ERRORS": errors,
        "DiagnosticsError": DiagnosticsError,
        "error_at": error_at,
    }
    for op, run in steps:
        names[run_name := f"run{len(ops)}"] = run
        results = _tuple(_name(places, result) for result in op.results)
        operands = ", ".join(_name(places, operand) for operand in op.operands)
        called = f"{run_name}(({operands}{',' if len(op.operands) == 1 else ''}))"
        lines.append(f"   {results} = {called}" if op.results else f"   {called}")
        ops[len(lines)] = op
        lines += [f"   {_kept(places, result)}" for result in op.results if result in inner]
    if carried:
        yielded = _tuple(_name(places, operand) for operand in terminator.operands)
        lines.append(f"   {_tuple(carried)} = {yielded}")
    lines += [
        "   pass",
        " except DiagnosticsError:",
        "  raise",
        " except ERRORS as e:",
        "  raise error_at(ops[e.__traceback__.tb_lineno], e) from e",
        f" return {_tuple(carried) if carried else '()'}",
    ]
    exec(compile("\n".join(lines), "<loop>", "exec"), names)
    return names["loop"]


def _name(places: Mapping[SSAValue, int], value: SSAValue) -> str:
    return f"v{places[value]}"


def _tuple(names: Iterable[str]) -> str:
    return "".join(f"{name}, " for name in names).rstrip()


def _kept(places: Mapping[SSAValue, int], value: SSAValue) -> str:
    """Puts a value where regions inside the body find it."""
    return f"values[{places[value]}] = {_name(places, value)}"


def _from_outside(block: Block, ops: Iterable[Operation]) -> list[SSAValue]:
    """What ops of a block use that is defined before it."""
    found = dict.fromkeys(
        operand
        for op in ops
        for operand in op.operands
        if (operand.owner if isinstance(operand.owner, Block) else operand.owner.parent)
        is not block
    )
    return list(found)


def _used_in_regions(ops: Iterable[Operation]) -> set[SSAValue]:
    """What is used by ops inside these."""
    return {
        operand
        for op in ops
        if op.regions
        for inside in op.walk()
        if inside is not op
        for operand in inside.operands
    }
