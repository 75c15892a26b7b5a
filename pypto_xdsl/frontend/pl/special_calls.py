"""Calls of the DSL that are no ops of a dialect: constants, tasks, arrays, static checks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from xdsl.ir import Attribute

from pypto_xdsl.dialects.element_types import byte_width, is_element_type
from pypto_xdsl.dialects.orch.attributes import ArrayType, CachePolicy, is_array
from pypto_xdsl.dialects.orch.chip import AvailableAivCountOp, AvailableClusterCountOp
from pypto_xdsl.dialects.orch.tasks import (
    ArrayCreateOp,
    ArrayGetOp,
    ArrayUpdateOp,
    TaskDummyOp,
    TaskInvalidOp,
    TaskIsValidOp,
)
from pypto_xdsl.frontend.pl import calls, launches
from pypto_xdsl.frontend.pl.compile_time import Evaluator
from pypto_xdsl.frontend.pl.context import Context, task_or_fail
from pypto_xdsl.frontend.pl.source import dotted_name
from pypto_xdsl.frontend.pl.static_values import DslName, DType, Function, Unsettled
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Typed,
    Value,
    describe_value,
    fits,
    is_constant,
    is_tensor,
)
from pypto_xdsl.frontend.pl.vocabulary import EnumWord

Special = Callable[[Context, ast.Call], Value]


def _arguments(context: Context, node: ast.Call, names: str) -> dict[str, ast.expr]:
    """The argument nodes by the names of parameters, `?` for optional ones."""
    what = ".".join(dotted_name(node.func) or ("this",))
    words = names.split()
    found: dict[str, ast.expr] = {}
    if len(node.args) > len(words):
        raise context.error(node, f"{what} takes {len(words)} arguments, got {len(node.args)}")
    for word, argument in zip(words, node.args, strict=False):
        found[word.strip("?")] = argument
    for keyword in node.keywords:
        if keyword.arg == "attrs":
            continue
        if keyword.arg is None or keyword.arg not in [word.strip("?") for word in words]:
            raise context.error(keyword.value, f"{what} has no argument '{keyword.arg}'")
        found[keyword.arg] = keyword.value
    for word in words:
        if not word.endswith("?") and word not in found:
            raise context.error(node, f"{what} needs an argument '{word}'")
    return found


def _const(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "value dtype")
    value = context.read(given["value"])
    dtype = context.read(given["dtype"])
    if not isinstance(dtype, DType):
        raise context.error(given["dtype"], f"expected a dtype, got {describe_value(dtype)}")
    if not is_constant(value):
        raise context.error(given["value"], f"expected a number, got {describe_value(value)}")
    number = value.value if isinstance(value, Typed) else value
    if isinstance(number, str) or not is_element_type(dtype.type):
        raise context.error(node, f"a constant has no dtype {dtype}")
    if not fits(number, dtype.type):
        raise context.error(node, f"{number} does not fit {dtype}")
    return Typed(number, dtype.type)


def byte_width_of(context: Context, type: Attribute, node: ast.expr) -> Value:
    """`pl.FP32.get_byte()`."""
    if not is_element_type(type):
        raise context.error(node, "a task has no size")
    return byte_width(type)


def _submit(context: Context, node: ast.Call) -> Value:
    return calls.submit(context, node, spmd=False)


def _spmd_submit(context: Context, node: ast.Call) -> Value:
    return calls.submit(context, node, spmd=True)


def _task_invalid(context: Context, node: ast.Call) -> Value:
    _arguments(context, node, "")
    return context.emit(TaskInvalidOp(), node).task


def _task_dummy(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "deps?")
    deps = launches.read_deps(context, given["deps"]) if "deps" in given else []
    return context.emit(TaskDummyOp(deps), node).task


def _task_is_valid(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "task_id")
    task = task_or_fail(context, context.read(given["task_id"]), given["task_id"])
    return context.emit(TaskIsValidOp(task), node).result


def _core_count(
    op: type[AvailableAivCountOp | AvailableClusterCountOp],
) -> Special:
    def count(context: Context, node: ast.Call) -> Value:
        _arguments(context, node, "")
        return context.emit(op(), node).result

    return count


def _array_create(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "extent dtype")
    extent = context.static_int(context.read(given["extent"]), given["extent"], "an extent")
    dtype = context.read(given["dtype"])
    if not isinstance(dtype, DType):
        raise context.error(given["dtype"], f"expected a dtype, got {describe_value(dtype)}")
    if extent <= 0:
        raise context.error(given["extent"], f"an array has a positive extent, got {extent}")
    return context.emit(ArrayCreateOp(ArrayType(extent, dtype.type)), node).result


def _array(context: Context, node: ast.expr) -> tuple[Value, Attribute]:
    array = context.read(node)
    type: Attribute | None = getattr(array, "type", None)
    if type is None or not is_array(type):
        raise context.error(node, f"expected an array, got {describe_value(array)}")
    return array, type.element_type


def _array_get(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "array index")
    array, _ = _array(context, given["array"])
    index = context.index(given["index"])
    return context.emit(ArrayGetOp(array, index), node).result


def _array_update(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "array index value")
    array, element = _array(context, given["array"])
    index = context.index(given["index"])
    value = context.value(given["value"], element)
    return context.build(
        lambda: ArrayUpdateOp(value, array, index), node, ast.unparse(node.func)
    ).result


def _static_assert(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "condition message?")
    try:
        holds = Evaluator(context.scope).evaluate(given["condition"])
    except Unsettled:
        holds = context.read(given["condition"])
        if not isinstance(holds, bool | int | float):
            raise context.error(
                given["condition"], "pl.static_assert needs a constant condition"
            ) from None
    if not holds:
        message = ""
        if "message" in given:
            value = context.read(given["message"])
            message = f": {value}" if isinstance(value, str) else ""
        raise context.error(node, f"static assertion fails{message}")
    return Tuple(())


def _nothing(context: Context, node: ast.Call) -> Value:
    return Tuple(())


def _prefetch(context: Context, node: ast.Call) -> Value:
    """A hint to the cache, which changes no value: its tensor is looked at, and it is left out."""
    for argument in node.args[:1]:
        if not is_tensor(context.read(argument)):
            raise context.error(argument, "pl.prefetch.async_prefetch takes a tensor first")
    context.source.warn(node, "a prefetch is left out: nothing here knows of the cache")
    return Tuple(())


def _prefetch_context(context: Context, node: ast.Call) -> Value:
    return DslName(("pl", "prefetch", "context"))


def _dump_tag(context: Context, node: ast.Call) -> Value:
    for argument in node.args:
        if not isinstance(argument, ast.Name) or not is_tensor(context.read(argument)):
            raise context.error(argument, "pl.dump_tag takes a tensor by its name")
        context.dumped.add(argument.id)
    return Tuple(())


def _set_cache_policy(context: Context, node: ast.Call) -> Value:
    given = _arguments(context, node, "tensor policy")
    tensor, policy = context.read(given["tensor"]), context.read(given["policy"])
    if not is_tensor(tensor):
        raise context.error(given["tensor"], f"expected a tensor, got {describe_value(tensor)}")
    if not isinstance(policy, EnumWord) or not isinstance(policy.value, CachePolicy):
        raise context.error(
            given["policy"], "expected pl.CachePolicy.BYPASS or pl.CachePolicy.DEFAULT"
        )
    if not context.policies:
        raise context.error(node, "pl.set_cache_policy belongs in a scope or a kernel")
    context.policies[-1].append((tensor, policy.value, given["tensor"]))
    return Tuple(())


def _misplaced(message: str) -> Special:
    def refuse(context: Context, node: ast.Call) -> Value:
        raise context.error(node, message)

    return refuse


def _at_statement(name: str) -> Special:
    return _misplaced(f"pl.{name} belongs in a 'with' or 'for' statement")


SPECIAL: Mapping[tuple[str, ...], Special] = {
    ("const",): _const,
    ("submit",): _submit,
    ("spmd_submit",): _spmd_submit,
    ("system", "task_invalid"): _task_invalid,
    ("system", "task_dummy"): _task_dummy,
    ("system", "task_is_valid"): _task_is_valid,
    ("task_dummy",): _task_dummy,
    ("system", "available_aiv_count"): _core_count(AvailableAivCountOp),
    ("system", "available_cluster_count"): _core_count(AvailableClusterCountOp),
    ("available_aiv_count",): _core_count(AvailableAivCountOp),
    ("available_cluster_count",): _core_count(AvailableClusterCountOp),
    ("array", "create"): _array_create,
    ("array", "get_element"): _array_get,
    ("array", "update_element"): _array_update,
    ("static_assert",): _static_assert,
    ("static_print",): _nothing,
    ("dump_tag",): _dump_tag,
    ("prefetch", "make_context"): _prefetch_context,
    ("prefetch", "async_prefetch"): _prefetch,
    ("set_cache_policy",): _set_cache_policy,
    ("no_dep",): _misplaced("pl.no_dep belongs around an argument of a call"),
    ("yield_",): _misplaced("pl.yield_ belongs at the end of a loop or branch"),
    ("cond",): _misplaced("pl.cond belongs at the start of a pl.while_ loop"),
    ("func_attr",): _misplaced("pl.func_attr belongs at the start of a function"),
    **{
        (name,): _at_statement(name)
        for name in (
            "range",
            "parallel",
            "unroll",
            "pipeline",
            "while_",
            "spmd",
            "split_aiv",
            "at",
            "cluster",
            "scope",
            "manual_scope",
        )
    },
}
"""Calls with a meaning of their own, by the path behind `pl`."""


def is_dsl_function(function: Function) -> bool:
    """Whether a function is one of the DSL: its decorators say so."""
    return any(function_decorator(decorator) for decorator in function.node.decorator_list)


def function_decorator(decorator: ast.expr) -> tuple[str, ...] | None:
    """The path of a decorator of the DSL: `("function",)`, `("jit", "incore")`, `("inline",)`."""
    path = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
    if path is None:
        return None
    if "jit" in path:
        return path[path.index("jit") :]
    if path[-1] in ("function", "inline"):
        return path[-1:]
    return None
