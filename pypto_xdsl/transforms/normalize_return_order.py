"""
normalize-return-order: makes kernels return the parameters they write, in the parameters' order.

A kernel may store its outputs in any order and return them in any order. What consumes a
program (orchestration code, task graphs) must know which result is which buffer. After this pass
that is a matter of looking: result `k` of a kernel is its `k`-th written parameter.

    orch.func incore @kernel(in %x, out %a, out %b) -> (tensor<16xf32>, tensor<16xf32>) {
      %b1 = tile.store %prod, %b[0]
      %a1 = tile.store %sum, %a[0]
      orch.return %b1, %a1                        // before
      orch.return %a, %b                          // after; the stores stay as they are
    }
    %r:2 = orch.call @kernel(%x, %c, %d)          // uses of %r#0 and %r#1 are exchanged

Three steps:

* **Canonicalise** (kernels, groups, spmd wrappers, graphs): a returned tensor that is a
  parameter's buffer under the parameter's own type becomes the parameter (`return_lineage`).
  Fresh buffers, scalars and tensors known under another type stay.
* **Reorder** (kernels): results that are written parameters go to the places that these have
  among all written parameters; other results keep their places. Declarations that say which
  parameters they return take part.
* **Fix the uses**, wherever they stand: a call or submit of a reordered function gets its results
  in the new order, with the types they had at that use, and whoever used the old results uses
  the same buffers as before.

Where the places do not come out even (a written parameter is not returned, one is returned
twice, a result that is no parameter stands in the way) the order stays and a remark at the return
says so. Consumers then read the places off the return, which names the parameters all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.ir import Attribute
from xdsl.rewriter import InsertPoint, Rewriter

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.return_lineage import (
    Lineages,
    ReturnLineage,
    explicit_parameters,
    returned_values,
)
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose, note, remark
from pypto_xdsl.dialects.orch import DispatchOp, FuncOp
from pypto_xdsl.dialects.ptensor import TypeCastOp
from pypto_xdsl.dialects.ptensor.types import tensor_of
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.properties.return_params_explicit import returns_parameters
from pypto_xdsl.rewriting.locating import at


@dataclass(frozen=True)
class NormalizeReturnOrderPass(CheckedPass):
    """Return written parameters as themselves, in the order of the parameters."""

    name = "normalize-return-order"
    required = ("SplitIncoreOrch", "IncoreTileOps")
    produced = ("ReturnParamsExplicit",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        calls = CallGraph(module)
        lineage = ReturnLineage(calls)
        functions = [f for f in calls.functions if returns_parameters(f)]
        if errors := [error for f in functions for error in _arity_errors(f, calls)]:
            raise DiagnosticsError(errors)
        # All lineages are those of the program as it was.
        lineages = {function: lineage.of(function) for function in functions}
        for function in functions:
            retyped = canonicalize_returns(function, lineages[function])
            order = result_order(function)
            if order is not None:
                reorder_results(function, order)
            if retyped or order is not None:
                for dispatch in calls.uses_of(function):
                    _fix_use(dispatch, function, order, retyped)
            _tell_of_disorder(function)


def _arity_errors(function: FuncOp, calls: CallGraph) -> Iterable[Diagnostic]:
    """Uses whose results cannot be told apart, because there are too few or too many."""
    wanted = len(function.function_type.outputs)
    for dispatch in calls.uses_of(function):
        found = len(dispatch.callee_results)
        if found != wanted:
            yield diagnose(
                dispatch,
                f"in function '{calls.caller(dispatch).sym_name.data}' has {found} results of "
                f"'{function.sym_name.data}', which returns {wanted}",
                [note(function, f"'{function.sym_name.data}' is defined here")],
            )


def canonicalize_returns(function: FuncOp, lineages: Lineages) -> dict[int, Attribute]:
    """
    Return the parameters themselves where the results are parameters.

    Gives the results whose type had to change, with their old types: a type may speak of a
    callee's symbols, the parameter's never does.
    """
    end = function.return_op
    retyped: dict[int, Attribute] = {}
    if end is None:
        return retyped
    types = list(function.function_type.outputs)
    for position, (value, traced) in enumerate(
        zip(returned_values(function), lineages, strict=True)
    ):
        if traced is None or not traced.is_exact:
            continue
        parameter = function.parameters[traced.parameter]
        if value is parameter:
            continue
        end.operands[position] = parameter
        if value.type != parameter.type:
            retyped[position] = types[position]
            types[position] = parameter.type
    if retyped:
        function.set_results(types)
    return retyped


def written_parameters(function: FuncOp) -> list[int]:
    """The positions of the `out` and `inout` parameters."""
    directions = function.parameter_directions
    return [index for index, direction in enumerate(directions) if direction.writes]


def result_order(function: FuncOp) -> tuple[int, ...] | None:
    """
    Of each result of a kernel the place where it belongs; None if all stand there already, or if
    the places do not come out even.
    """
    if not function.kind.data.is_in_core:
        return None
    place_of = {parameter: place for place, parameter in enumerate(written_parameters(function))}
    explicit = explicit_parameters(function)
    order = tuple(
        position if parameter is None else place_of.get(parameter, position)
        for position, parameter in enumerate(explicit)
    )
    identity = tuple(range(len(order)))
    if len(place_of) > len(order) or order == identity or sorted(order) != list(identity):
        return None
    return order


def _origins(order: Sequence[int]) -> list[int]:
    """Of each place the position that what belongs there had."""
    return sorted(range(len(order)), key=order.__getitem__)


def reorder_results(function: FuncOp, order: Sequence[int]) -> None:
    """Put each result of a function at its place, in the signature and in the return."""
    origins = _origins(order)
    types = list(function.function_type.outputs)
    function.set_results([types[old] for old in origins])
    if function.return_op is not None:
        values = tuple(function.return_op.values)
        function.return_op.operands = [values[old] for old in origins]
    if function.returns is not None:
        places = function.returns.get_values()
        function.returns = DenseArrayBase.from_list(i64, [places[old] for old in origins])


def _fix_use(
    dispatch: DispatchOp,
    function: FuncOp,
    order: Sequence[int] | None,
    retyped: dict[int, Attribute],
) -> None:
    """Let whoever used a result use the same buffer, under the same type, as before."""
    old_results = tuple(dispatch.callee_results)
    places = range(len(old_results)) if order is None else order
    explicit = explicit_parameters(function)
    types = list(dispatch.result_types)
    for old, place in enumerate(places):
        types[place] = old_results[old].type
        parameter = explicit[place]
        if old in retyped and parameter is not None and parameter < len(dispatch.arguments):
            # The parameter's type as it is at this use, in the caller's symbols.
            types[place] = dispatch.arguments[parameter].type
    new = dispatch.with_results(types)
    rewriter = Rewriter()
    rewriter.insert_op(new, InsertPoint.before(dispatch))
    uses = [(old_results[old], new.results[place]) for old, place in enumerate(places)]
    if dispatch.task is not None and new.task is not None:
        uses.append((dispatch.task, new.task))
    for old_result, new_result in uses:
        new_result.name_hint = old_result.name_hint
        if old_result.type != new_result.type and old_result.first_use is not None:
            cast = at(dispatch, TypeCastOp(new_result, tensor_of(old_result.type)))
            rewriter.insert_op(cast, InsertPoint.before(dispatch))
            new_result = cast.result
        old_result.replace_all_uses_with(new_result)
    rewriter.erase_op(dispatch)


def _tell_of_disorder(function: FuncOp) -> None:
    """Say why the results of a kernel are not its written parameters, one by one."""
    if not function.kind.data.is_in_core or not function.function_type.outputs:
        return
    reasons = disorder(function)
    if reasons:
        remark(
            function if function.return_op is None else function.return_op,
            f"'{function.sym_name.data}' keeps the order of its results: {'; '.join(reasons)}",
        )


def disorder(function: FuncOp) -> list[str]:
    """What keeps result `k` of a kernel from being its `k`-th written parameter."""
    written = written_parameters(function)
    explicit = explicit_parameters(function)
    if list(explicit[: len(written)]) == written:
        return []
    reasons: list[str] = []
    for place, parameter in enumerate(written):
        spelled = f"parameter {parameter}"
        if function.parameters and (hint := function.parameters[parameter].name_hint):
            spelled += f" (%{hint})"
        returned_at = [index for index, found in enumerate(explicit) if found == parameter]
        if not returned_at:
            reasons.append(f"{spelled} is written, but not returned")
        elif len(returned_at) > 1:
            listed = ", ".join(map(str, returned_at))
            reasons.append(f"{spelled} is returned more than once, as results {listed}")
        elif place < len(explicit) and explicit[place] not in written:
            reasons.append(
                f"result {place} is no written parameter and stands in the place of {spelled}, "
                f"which is result {returned_at[0]}"
            )
    return reasons
