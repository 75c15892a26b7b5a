"""What calls, submits and scopes say beside their arguments: dependencies, predicates, marks."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    BoolAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.dialects.element_types import is_element_type
from pypto_xdsl.dialects.orch.attributes import (
    TASK_ID,
    ArgDirection,
    ArrayType,
    Comparison,
)
from pypto_xdsl.dialects.orch.launch import Predicate
from pypto_xdsl.dialects.orch.tasks import ArrayCreateOp, ArrayGetOp, ArrayUpdateOp
from pypto_xdsl.dialects.ptensor.types import (
    tensor_of,
)
from pypto_xdsl.frontend.pl.compile_time import Evaluator
from pypto_xdsl.frontend.pl.context import Context, as_tuple, task_or_fail
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.static_values import Unsettled
from pypto_xdsl.frontend.pl.values import (
    Typed,
    Value,
    is_tensor,
)
from pypto_xdsl.syntax.lists import Index

_COMPARISONS: Mapping[type[ast.cmpop], Comparison] = {
    ast.Eq: Comparison.EQ,
    ast.NotEq: Comparison.NE,
    ast.Lt: Comparison.LT,
    ast.LtE: Comparison.LE,
    ast.Gt: Comparison.GT,
    ast.GtE: Comparison.GE,
}
_MIRRORED = {
    Comparison.LT: Comparison.GT,
    Comparison.LE: Comparison.GE,
    Comparison.GT: Comparison.LT,
    Comparison.GE: Comparison.LE,
}


@dataclass
class Launch:
    """What a call or submit says beside its arguments."""

    deps: list[SSAValue] = field(default_factory=list[SSAValue])
    width: SSAValue | None = None
    sync_start: bool = False
    predicate: Predicate | None = None
    early_resolve: bool = False
    no_dep: list[int] = field(default_factory=list[int])
    dump: list[int] = field(default_factory=list[int])
    directions: list[ArgDirection] | None = None
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])


def constant_attribute(value: Value) -> Attribute | None:
    """A constant as an attribute, None if it has no such form."""
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case _:
            return None


# Dependencies and predicates


def read_deps(context: Context, node: ast.expr) -> list[SSAValue]:
    """`deps=[t0, ids, ids[i], None]`, or a comprehension over an array's elements."""
    if isinstance(node, ast.ListComp):
        return _packed(context, _comprehension(context, node), node)
    if not isinstance(node, ast.List | ast.Tuple):
        value = context.read(node)
        listed = as_tuple(value)
        if listed is None:
            raise context.error(node, "deps is a list of tasks")
        return [task_or_fail(context, element, node) for element in listed if element is not None]
    found: list[SSAValue] = []
    elements: list[SSAValue] = []
    whole: list[SSAValue] = []
    for element in node.elts:
        if isinstance(element, ast.ListComp):
            elements += _comprehension(context, element)
            continue
        value = context.read(element)
        if value is None:
            continue
        task = task_or_fail(context, value, element)
        if isinstance(task.owner, ArrayGetOp) and isinstance(element, ast.Subscript):
            elements.append(task)
        elif isinstance(task.type, ArrayType):
            whole.append(task)
        found.append(task)
    return found + [task for task in elements if task not in found]


def _comprehension(context: Context, node: ast.ListComp) -> list[SSAValue]:
    if len(node.generators) != 1 or node.generators[0].ifs:
        raise context.error(node, "a comprehension in deps has one 'for'")
    generator = node.generators[0]
    if not isinstance(generator.target, ast.Name):
        raise context.error(generator.target, "a comprehension in deps has one variable")
    try:
        values = Evaluator(context.scope).evaluate(generator.iter)
    except Unsettled as e:
        raise context.error(generator.iter, f"'{ast.unparse(generator.iter)}' {e.reason}") from None
    values = as_tuple(values)
    if values is None or len(values) > 4096:
        raise context.error(
            generator.iter, "a comprehension in deps goes over a short constant range"
        )
    found: list[SSAValue] = []
    name = generator.target.id
    with context.names.frame():
        for value in values:
            context.names.bind(context.prefix + name, value)
            found.append(task_or_fail(context, context.read(node.elt), node.elt))
    return found


def _packed(context: Context, tasks: Sequence[SSAValue], node: ast.expr) -> list[SSAValue]:
    """Many tasks as one array of them."""
    if len(tasks) <= 16:
        return list(tasks)
    array = context.emit(ArrayCreateOp(ArrayType(len(tasks), TASK_ID)), node).result
    for place, task in enumerate(tasks):
        index = context.as_index(place, node)
        array = context.emit(ArrayUpdateOp(task, array, index), node).result
    return [array]


def read_predicate(context: Context, node: ast.expr) -> Predicate:
    """`predicate=(t[i] > 0)`: an element of an integer tensor compared with a constant."""
    rule = "a predicate compares an element of an integer tensor with a constant"
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        raise context.error(node, rule)
    comparison = _COMPARISONS.get(type(node.ops[0]))
    if comparison is None:
        raise context.error(node, rule)
    left, right = node.left, node.comparators[0]
    for element, constant, order in (
        (left, right, comparison),
        (right, left, _MIRRORED.get(comparison, comparison)),
    ):
        found = _predicate_element(context, element)
        if found is None:
            continue
        value = context.read(constant)
        if isinstance(value, Typed):
            value = value.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise context.error(constant, rule)
        tensor, indices = found
        return Predicate(tensor, indices, order, value)
    raise context.error(node, rule)


def _predicate_element(context: Context, node: ast.expr) -> tuple[SSAValue, Sequence[Index]] | None:
    if isinstance(node, ast.Call) and len(node.args) == 2:
        path = dotted_name(node.func)
        if path is not None and path[-1] == "cast":
            return _predicate_element(context, node.args[0])
        if path is not None and path[-1] == "read":
            base, subscript = node.args
            return _element(context, base, subscript)
        return None
    if isinstance(node, ast.Subscript):
        return _element(context, node.value, node.slice)
    return None


def _element(
    context: Context, base: ast.expr, subscript: ast.expr
) -> tuple[SSAValue, Sequence[Index]] | None:
    tensor = context.read(base)
    if not is_tensor(tensor):
        return None
    type = tensor_of(tensor.type)
    if not is_element_type(type.element_type):
        return None
    parts = subscript.elts if isinstance(subscript, ast.Tuple | ast.List) else [subscript]
    if len(parts) != type.get_num_dims():
        raise context.error(subscript, f"a predicate needs {type.get_num_dims()} indices")
    indices: list[Index] = []
    for part in parts:
        value = context.read(part)
        plain = isinstance(value, int) and not isinstance(value, bool)
        indices.append(value if plain else context.as_index(value, part))
    return tensor, indices


# The op
