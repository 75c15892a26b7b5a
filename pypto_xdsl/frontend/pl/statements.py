"""Statements of the DSL; names become SSA values on the way."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from pypto_xdsl.dialects.orch.attributes import FunctionKind
from pypto_xdsl.dialects.orch.functions import ReturnOp
from pypto_xdsl.dialects.ptensor.memory import TypeCastOp
from pypto_xdsl.dialects.ptensor.types import (
    is_tensor_type,
    tensor_of,
)
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl import carries, loops, scope_outputs, scopes, storage, subscripts
from pypto_xdsl.frontend.pl.annotations import Annotation
from pypto_xdsl.frontend.pl.context import Construct, Context, Frame, as_tuple
from pypto_xdsl.frontend.pl.function_options import is_prologue
from pypto_xdsl.frontend.pl.handed_on import HandedOn, end_region, make_current, resume
from pypto_xdsl.frontend.pl.liveness import is_yield
from pypto_xdsl.frontend.pl.merging import Merge
from pypto_xdsl.frontend.pl.scalars import cast_scalar, condition_type
from pypto_xdsl.frontend.pl.source import MAX_DEPTH, descendants, dotted_name
from pypto_xdsl.frontend.pl.static_values import describe
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Typed,
    Unavailable,
    Value,
    describe_value,
    is_value,
)
from pypto_xdsl.frontend.pl.vocabulary import INDEX

if TYPE_CHECKING:
    from pypto_xdsl.frontend.pl.program import FunctionInfo

from pypto_xdsl.frontend.pl.declared_types import (
    annotation_reader,
    declared_scalar,
    declared_tensor,
    with_annotation,
)

MAX_STATEMENTS = 250_000
"""How many statements a program may have with inline functions and unrolled loops written out."""

_ADVICE: dict[type[ast.stmt], str] = {
    ast.Try: "",
    ast.Assert: "; use pl.static_assert(...)",
    ast.FunctionDef: "; define it outside",
    ast.Raise: "",
}


def read_body(context: Context, body: Sequence[ast.stmt]) -> None:
    """Read the statements of a block."""
    if body and len(context.names.frames) > MAX_DEPTH:
        raise context.error(body[0], "blocks are nested too deeply")
    program = context.program
    program.statements += len(body)
    if program.statements > MAX_STATEMENTS:
        raise context.error(
            body[0],
            f"the program has more than {MAX_STATEMENTS} statements, "
            "with inline functions and unrolled loops written out",
        )
    for place, statement in enumerate(body):
        _statement(context, statement)
        if isinstance(statement, ast.Return) and place + 1 < len(body):
            raise context.error(body[place + 1], "this is never reached")


def _statement(context: Context, statement: ast.stmt) -> None:
    match statement:
        case ast.Assign(targets=[target], value=value):
            _assign(context, target, value, statement)
        case ast.Assign():
            raise context.error(statement, "a chain of assignments is not part of the DSL")
        case ast.AnnAssign(target=target, value=value, annotation=annotation):
            if not isinstance(target, ast.Name) or value is None:
                raise context.error(statement, "a declaration needs one name and a value")
            _annotated(context, target, annotation, value, statement)
        case ast.AugAssign(target=target, op=op, value=value):
            load = _as_load(target)
            combined = ast.copy_location(ast.BinOp(load, op, value), statement)
            _assign(context, target, combined, statement)
        case ast.Expr(value=value):
            _expression(context, value, statement)
        case ast.For():
            loops.read_for(context, statement)
        case ast.While():
            loops.read_while(context, statement)
        case ast.If():
            _if(context, statement)
        case ast.With():
            scopes.read_with(context, statement)
        case ast.Return(value=value):
            _return(context, value, statement)
        case ast.Pass():
            pass
        case ast.Break() | ast.Continue():
            word = "break" if isinstance(statement, ast.Break) else "continue"
            raise context.error(statement, f"'{word}' is not supported here")
        case _:
            advice = _ADVICE.get(type(statement), "")
            raise context.error(statement, f"{describe(statement)} is not part of the DSL{advice}")


def _as_load(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Subscript(value=value, slice=index):
            return ast.copy_location(ast.Subscript(value, index, ast.Load()), target)
        case _:
            return target


def _expression(context: Context, value: ast.expr, statement: ast.Expr) -> None:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return
    if isinstance(value, ast.Constant) and value.value is ...:
        raise context.error(statement, "'...' stands for a body only where there is none")
    if is_prologue(statement):
        return
    if is_yield(value):
        assert isinstance(value, ast.Call)
        if value.args:
            loops.bare_yield(context, value)
        return
    if isinstance(value, ast.Call):
        path = dotted_name(value.func)
        if path is not None and path[-1] in ("submit", "spmd_submit") and path[0] != "self":
            raise context.error(
                statement, "the task of a submit must be kept: write 'out, tid = ...'"
            )
    context.read(value)


# Assignments


def _assign(context: Context, target: ast.expr, value: ast.expr, statement: ast.stmt) -> None:
    if is_yield(value):
        assert isinstance(value, ast.Call)
        loops.read_yield(context, target, value, statement)
        return
    match target:
        case ast.Name(id=name):
            found = context.read(value)
            assign_name(context, name, found, target, value)
        case ast.Tuple() | ast.List():
            found = context.read(value)
            unpack(context, target, found, value)
        case ast.Subscript():
            found = context.read(value)
            assert isinstance(statement, ast.Assign | ast.AugAssign)
            made = ast.copy_location(ast.Assign([target], value), statement)
            subscripts.write_subscript(context, target, found, made)
        case ast.Starred():
            raise context.error(target, "'*' is not part of the DSL")
        case _:
            raise context.error(target, "only names and subscripts can be assigned to")


def assign_name(
    context: Context, name: str, value: Value, target: ast.expr, node: ast.expr
) -> None:
    """`name = value`."""
    if isinstance(value, Tuple) and not value.elements:
        raise context.error(node, "this gives no value")
    if value is None:
        value = context.materialize(None, node)
    if context.strict_types:
        _keep_type(context, name, value, target)
    if name in context.outputs and not context.prefix and is_value(value):
        context.rebound[target] = (name, value)
    context.bind(name, value)


def _keep_type(context: Context, name: str, value: Value, target: ast.expr) -> None:
    """Refuse another type for a name that has one."""
    old = context.names.get(context.prefix + name)
    if isinstance(old, Unavailable) or old is value:
        return
    before, after = _shape_of(old), _shape_of(value)
    if before is not None and after is not None and before != after:
        raise context.error(
            target,
            f"'{name}' is {describe_value(old)} and cannot become {describe_value(value)}; "
            "use another name",
        )


def _shape_of(value: Value) -> Any:
    """What about a value a name keeps: kind, dtype, constant extents."""
    match value:
        case SSAValue(type=TensorType() as type):
            extents = tuple(max(e, -1) for e in type.get_shape())
            return ("tensor", type.element_type, extents)
        case SSAValue(type=TileType() as type):
            return ("tile", type.element_type, type.get_shape())
        case SSAValue(type=type):
            return _scalar_kind(type)
        case Typed(type=type):
            return _scalar_kind(type)
        case bool():
            return _scalar_kind(i1)
        case _:
            return None


def _scalar_kind(type: Attribute) -> Any:
    if type in (INDEX, i64):
        return ("scalar", "index")
    return ("scalar", type)


def unpack(context: Context, target: ast.Tuple | ast.List, value: Value, node: ast.expr) -> None:
    """`a, b = value`, with nested targets for the results of a submit."""
    elements = as_tuple(value)
    if elements is None:
        raise context.error(node, f"cannot unpack {describe_value(value)}")
    targets = target.elts
    if len(targets) != len(elements):
        if len(targets) == 2 and isinstance(targets[0], ast.Tuple | ast.List):
            # `(p, q), tid = pl.submit(...)`
            unpack(context, targets[0], Tuple(tuple(elements[:-1])), node)
            assign_name(context, _name_of(context, targets[1]), elements[-1], targets[1], node)
            return
        raise context.error(target, f"{len(targets)} names for {len(elements)} values")
    for inner, element in zip(targets, elements, strict=True):
        if isinstance(inner, ast.Tuple | ast.List):
            parts = as_tuple(element)
            unpack(context, inner, Tuple((element,)) if parts is None else element, node)
        elif isinstance(inner, ast.Subscript):
            made = ast.copy_location(ast.Assign([inner], node), inner)
            subscripts.write_subscript(context, inner, element, made)
        else:
            name = _name_of(context, inner)
            if name != "_":
                assign_name(context, name, element, inner, node)


def _name_of(context: Context, target: ast.expr) -> str:
    if not isinstance(target, ast.Name):
        raise context.error(target, "expected a name")
    return target.id


def _annotated(
    context: Context,
    target: ast.Name,
    annotation: ast.expr,
    value: ast.expr,
    statement: ast.AnnAssign,
) -> None:
    if is_yield(value):
        assert isinstance(value, ast.Call)
        loops.read_yield(context, target, value, statement)
        return
    if isinstance(value, ast.Call) and storage.is_allocation(value):
        storage.read_allocation(context, target.id, value)
        return
    declared = annotation_reader(context).read(annotation)
    context.declared = declared.type
    found = context.read(value)
    context.declared = None
    found = with_annotation(context, found, declared, value)
    if declared.memref_node is not None:
        found = storage.bind_storage(context, found, declared, annotation)
    assign_name(context, target.id, found, target, value)


def _if(context: Context, statement: ast.If) -> None:
    condition = context.read(statement.test)
    condition_type(context, condition, statement.test)
    if isinstance(condition, bool) and not _has_yield(statement):
        # Settled at compile time: the other branch is not part of the program.
        read_body(context, statement.body if condition else statement.orelse)
        return
    value = context.materialize(condition, statement.test)
    branches: list[tuple[Block, Frame, Construct]] = []
    handed = HandedOn()
    for body in (statement.body, statement.orelse):
        block = Block()
        construct = Construct("if", node=statement)
        context.constructs.append(construct)
        with context.inside(block) as frame:
            read_body(context, body)
            handed = handed.and_of(end_region(context, statement, frame))
        context.constructs.pop()
        branches.append((block, frame, construct))
    changed = sorted(
        name
        for name in {*branches[0][1], *branches[1][1]}
        if not name.startswith(carries.YIELD)
        and (name in handed.names or is_live(context, statement, name))
    )
    for _, frame, _ in branches:
        make_current(context, changed, frame, statement)
    merge = Merge(context, statement)
    _explicit_results(context, merge, statement, branches)
    (then_block, then, _), (else_block, orelse, _) = branches
    for name in sorted({*then, *orelse}):
        if name.startswith(carries.YIELD):
            continue
        before = context.names.get(name)
        left, right = then.get(name, before), orelse.get(name, before)
        if left is right:
            if is_value(left) and _is_inside(left, then_block, else_block):
                continue
            context.names.leave(name, left, then, orelse)
            continue
        if name not in handed.names and not is_live(context, statement, name):
            if not isinstance(before, Unavailable):
                context.names.bind(name, Unavailable("has different values here"))
            continue
        if isinstance(left, Unavailable) or isinstance(right, Unavailable):
            context.names.bind(name, Unavailable("is assigned in one branch of an 'if' only"))
            continue
        merge.add(name, left, right, frames=(then, orelse))
    types = merge.types((then_block, else_block))
    has_else = bool(types) or else_block.last_op is not None
    for block, values in ((then_block, merge.left), (else_block, merge.right)):
        merge.end(block, values)
    regions = Region(then_block), Region(else_block) if has_else else Region()
    op = scf.IfOp.create(operands=[value], result_types=types, regions=regions)
    context.emit(op, statement)
    merge.bind(op.results)
    resume(context, handed, op.results)


def _has_yield(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Call) and is_yield(node) for node in descendants(statement))


def is_live(context: Context, statement: ast.stmt, name: str) -> bool:
    """Whether a name, with its prefix, may be read after a statement."""
    if context.prefix and not name.startswith(context.prefix):
        return True
    if not context.prefix and ":" in name:
        return False
    return context.liveness.is_live_after(statement, name.removeprefix(context.prefix))


def _is_inside(value: SSAValue, *blocks: Block) -> bool:
    return value.owner in blocks or getattr(value.owner, "parent", None) in blocks


def _explicit_results(
    context: Context,
    merge: Merge,
    statement: ast.If,
    branches: Sequence[tuple[Block, Frame, Construct]],
) -> None:
    """What the branches yield: names in order of appearance over then, else."""
    (_, then, first), (_, orelse, second) = branches
    if first.yields is None and second.yields is None:
        return
    if first.yields is None or second.yields is None:
        raise context.error(statement, "both branches of an 'if' yield, or none")
    if len(first.yields) != len(second.yields):
        raise context.error(
            statement,
            f"one branch yields {len(first.yields)} values, the other {len(second.yields)}",
        )
    for left, right in zip(first.yields, second.yields, strict=True):
        if left != right:
            raise context.error(statement, f"one branch yields '{left}', the other '{right}'")
        merge.add(
            context.prefix + left,
            then[carries.yield_name(context, left)],
            orelse[carries.yield_name(context, right)],
            keep=True,
        )


# The end


def _return(context: Context, value: ast.expr | None, statement: ast.Return) -> None:
    if context.constructs or len(context.scopes) > context.scope_floor:
        raise context.error(statement, "'return' is not supported here")
    if value is None:
        context.returned = Tuple(())
        return
    if isinstance(value, ast.Constant) and value.value is None:
        context.returned = Tuple(())
        return
    context.returned = _returned(context, value)


def _returned(context: Context, node: ast.expr) -> Value:
    """
    What is returned. A name stands for what was assigned to it: that a tensor was written since
    changes nothing about which tensor is named. What is put in the place of its call hands the
    newest name on, by which the text after it reads what was written.
    """
    if isinstance(node, ast.Tuple):
        return Tuple(tuple(_returned(context, element) for element in node.elts))
    value = context.read(node)
    is_inline = context.splicing or context.kind is FunctionKind.INLINE
    if isinstance(node, ast.Name) and is_value(value) and not is_inline:
        assigned = context.names.assigned(context.prefix + node.id)
        if is_value(assigned) and is_tensor_type(assigned.type):
            return assigned
    return value


def read_function_body(context: Context, info: FunctionInfo, body: Sequence[ast.stmt]) -> None:
    """Read a whole function, with its return."""
    context.returned = Unavailable("is returned by nobody")
    context.policies.append([])
    read_body(context, body)
    returned = context.returned
    end = body[-1]
    if isinstance(returned, Unavailable):
        if info.declared_results:
            raise context.error(
                info.function.node,
                f"function '{info.name}' declares {len(info.declared_results)} results "
                "but does not return",
            )
        returned = Tuple(())
    values = list(as_tuple(returned) or (returned,)) if not _is_empty(returned) else []
    node = end.value if isinstance(end, ast.Return) and end.value is not None else None
    at: Any = node or end
    values = [inner for value in values for inner in (as_tuple(value) or (value,))]
    declared = info.declared_results
    if declared is not None and len(declared) != len(values):
        raise context.error(
            at,
            f"function '{info.name}' declares {len(declared)} results, got {len(values)}",
        )
    results: list[SSAValue] = []
    nodes = node.elts if isinstance(node, ast.Tuple) and len(node.elts) == len(values) else None
    for place, value in enumerate(values):
        inner = at if nodes is None else nodes[place]
        results.append(_result(context, info, value, declared[place] if declared else None, inner))
    info.result_types = [value.type for value in results]
    context.emit(ReturnOp(*results), at)
    _finish_updates(context)
    scope_outputs.drop_unused_outputs(context.block)
    _function_policies(context, info)


def _finish_updates(context: Context) -> None:
    """Remove what was made for reads that turned out to be none."""
    replaced: dict[SSAValue, SSAValue] = {}
    context.names.aliases.finish(replaced.__setitem__)
    for target, (name, value) in context.rebound.items():
        while value in replaced:
            value = replaced[value]
        context.rebound[target] = (name, value)


def _is_empty(value: Value) -> bool:
    return isinstance(value, Tuple) and not value.elements


def _result(
    context: Context, info: FunctionInfo, value: Value, declared: Annotation | None, node: Any
) -> SSAValue:
    """A returned value of the declared type."""
    if declared is None:
        return context.materialize(value, node)
    type = declared.type
    assert type is not None
    if declared.kind == "Scalar":
        found = context.materialize(declared_scalar(context, value, declared, node), node, type)
        if found.type != type:
            found = cast_scalar(context, found, type, node)
        return found
    if declared.kind == "Tensor":
        found = declared_tensor(context, value, declared, node)
        assert is_value(found)
        if found.type != type:
            return context.emit(TypeCastOp(found, tensor_of(type)), node).result
        return found
    if declared.kind == "Tile" and info.kind is not FunctionKind.INLINE:
        raise context.error(node, "a function cannot return a tile: store it to a tensor")
    found = with_annotation(context, value, declared, node)
    return context.materialize(found, node)


def _function_policies(context: Context, info: FunctionInfo) -> None:
    """Cache policies of a kernel's own parameters."""
    policies = context.policies.pop()
    if not policies:
        return
    info.cache_policies = []
    block = context.block
    for tensor, policy, node in policies:
        for place, parameter in enumerate(block.args):
            if parameter is tensor:
                info.cache_policies.append((place, policy))
                break
        else:
            raise context.error(node, "pl.set_cache_policy names no parameter of the kernel")
