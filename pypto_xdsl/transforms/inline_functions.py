"""
inline-functions: splices inline functions into their callers.

    orch.func inline @scale(in %x : tensor<64xf32>, in %f : f32) -> tensor<64xf32> {
      %y = ptensor.muls %x, %f : tensor<64xf32>, f32
      orch.return %y : tensor<64xf32>
    }
    orch.func opaque @main(in %a : tensor<64xf32>, in %k : f32) -> tensor<64xf32> {
      %r = orch.call @scale(%a, %k) : (tensor<64xf32>, f32) -> tensor<64xf32>
      orch.return %r : tensor<64xf32>
    }

becomes

    orch.func opaque @main(in %a : tensor<64xf32>, in %k : f32) -> tensor<64xf32> {
      %y = ptensor.muls %a, %k : tensor<64xf32>, f32
      orch.return %y : tensor<64xf32>
    }

Helpers that call helpers are done from the inside out; afterwards there is no inline function.
Ops keep the location of the helper, with that of the call. What a call marks for a dump, or
answers for the order of, is marked on what uses it in the helper. A helper's symbols get the
caller's names (`rewriting/symbol_substitution`).

PyPTO's pass InlineFunctions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, DenseArrayBase, ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError, note
from pypto_xdsl.dialects.orch import (
    DispatchOp,
    FuncOp,
    FunctionKind,
    OutlinableScopeOp,
    ReturnOp,
    SubmitOp,
)
from pypto_xdsl.dialects.ptensor import TypeCastOp, is_tensor_type
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.symbol_substitution import Substitution, symbols_in, unify


@dataclass(frozen=True)
class InlineFunctionsPass(CheckedPass):
    """Splice inline functions into their callers."""

    name = "inline-functions"
    required: ClassVar[tuple[str, ...]] = ("SSAForm",)
    produced: ClassVar[tuple[str, ...]] = ("SSAForm", "InlineFunctionsEliminated")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        calls = CallGraph(module)
        helpers = _callees_first(calls)
        if not helpers:
            return
        errors: list[Diagnostic] = []
        others = [f for f in calls.functions if f.kind.data is not FunctionKind.INLINE]
        for function in (*helpers, *others):
            symbols: set[str] | None = None
            for use in calls.uses_in(function):
                callee = calls.callee(use)
                if callee is None or callee.kind.data is not FunctionKind.INLINE:
                    continue
                if symbols is None:
                    symbols = symbols_in(function)
                try:
                    _splice(use, callee, symbols)
                except DiagnosticsError as error:
                    errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)
        for helper in helpers:
            assert helper.parent is not None
            helper.parent.erase_op(helper)


def _callees_first(calls: CallGraph) -> Sequence[FuncOp]:
    """The inline functions, each after those that it calls."""
    found: list[FuncOp] = []
    for component in calls.components():
        helpers = [f for f in component if f.kind.data is FunctionKind.INLINE]
        inside = set(helpers)
        for use in (use for helper in helpers for use in calls.uses_in(helper)):
            if (callee := calls.callee(use)) in inside:
                assert callee is not None
                raise OpError(
                    use,
                    f"calls inline function '{callee.sym_name.data}' from within itself, so that "
                    "its body would never end: break the circle, or make it no inline function",
                    [note(callee, "the function is here")],
                )
        found += helpers
    return found


def _splice(use: DispatchOp, callee: FuncOp, symbols: set[str]) -> None:
    """
    Put the body of a function in the place of a call of it. `symbols` are those of the caller,
    and get those that are new.
    """
    end = _check(use, callee)
    body = callee.body.block
    substitution = _substitution(use, callee, symbols)
    values: dict[SSAValue, SSAValue] = {}
    block = use.parent
    assert block is not None
    for parameter, argument in zip(callee.parameters, use.arguments, strict=True):
        values[parameter] = _cast(argument, substitution.type(parameter.type), use, block)
    marks = _marked(use)
    for op in body.ops:
        if op is end:
            break
        new = op.clone(values)
        block.insert_op_before(new, use)
        if not substitution.is_identity:
            new = _renamed(op, new, substitution, values)
        for inner in walk(new):
            inner.location = CallSiteLoc(inner.location, use.location)
            _mark(inner, marks)
    for result, returned in zip(use.results, end.values, strict=True):
        value = _cast(values.get(returned, returned), result.type, use, block)
        result.replace_all_uses_with(value)
    block.erase_op(use)


def _check(use: DispatchOp, callee: FuncOp) -> ReturnOp:
    """The return of a function that can be spliced in."""
    name = callee.sym_name.data
    here = [note(callee, "the function is here")]
    if isinstance(use, SubmitOp):
        raise OpError(
            use, f"submits inline function '{name}', which is no task: call it instead", here
        )
    if use.launch is not None:
        raise OpError(
            use,
            f"launches inline function '{name}' on several cores, but it is part of its caller: "
            "put the call into an orch.spmd scope",
            here,
        )
    if callee.is_declaration:
        raise OpError(use, f"calls inline function '{name}', which has no body", here)
    end = callee.return_op
    if end is None or callee.body.first_block is not callee.body.last_block:
        raise OpError(
            use, f"calls inline function '{name}', which does not end in its only return", here
        )
    given, wanted = len(use.arguments), len(callee.parameters)
    if given != wanted or len(use.results) != len(end.values):
        raise OpError(
            use,
            f"passes {given} arguments to and takes {len(use.results)} results of '{name}', which "
            f"has {wanted} and {len(end.values)}",
            here,
        )
    return end


def _substitution(use: DispatchOp, callee: FuncOp, symbols: set[str]) -> Substitution:
    names = unify(
        [parameter.type for parameter in callee.parameters],
        [argument.type for argument in use.arguments],
        symbols_in(callee),
    )
    for symbol, name in names.items():
        if not name:
            names[symbol] = _fresh(symbol, symbols)
        symbols.add(names[symbol])
    return Substitution(names)


def _fresh(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 0
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _cast(value: SSAValue, type: Attribute, use: Operation, block: Block) -> SSAValue:
    """A value under a type that says the same of it."""
    if value.type == type or not is_tensor_type(type):
        return value
    cast = TypeCastOp(value, type)
    cast.location = use.location
    cast.result.name_hint = value.name_hint
    block.insert_op_before(cast, use)
    return cast.result


def _renamed(
    old: Operation, new: Operation, substitution: Substitution, values: dict[SSAValue, SSAValue]
) -> Operation:
    """A copied op with the symbols of the caller; `values` follows."""
    substitution.apply(new)
    values.update(zip(old.results, new.results, strict=True))
    return new


# Marks of the call.


Mark: TypeAlias = Literal["dump", "no_dep"]


def _marked(use: DispatchOp) -> Mapping[Mark, Sequence[SSAValue]]:
    """The arguments that a call marks."""
    dump = () if use.dump is None else use.dump.get_values()
    return {
        "dump": tuple(dict.fromkeys(use.arguments[place] for place in dump)),
        "no_dep": tuple(dict.fromkeys(use.arguments[place] for place in use.no_dep_arguments)),
    }


def _mark(op: Operation, marks: Mapping[Mark, Sequence[SSAValue]]) -> None:
    """Mark what an op of the body does with a tensor that the call marks."""
    for word, tensors in marks.items():
        if not tensors:
            continue
        if isinstance(op, DispatchOp):
            old = op.dump if word == "dump" else op.no_dep
            places = {*(() if old is None else old.get_values())}
            added = {place for place, a in enumerate(op.arguments) if a in tensors}
            if added - places:
                op.properties[word] = DenseArrayBase.from_list(i64, sorted(places | added))
        elif isinstance(op, OutlinableScopeOp):
            used = {operand for inner in walk(op) if inner is not op for operand in inner.operands}
            listed = op.dump if word == "dump" else op.no_dep
            added_tensors = [t for t in tensors if t in used and t not in listed]
            if added_tensors:
                op.list_tensors(word, added_tensors)
