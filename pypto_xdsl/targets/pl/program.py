"""Programs and functions as classes and methods of the DSL."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.orch.attributes import Direction, FunctionKind, SplitModeAttr
from pypto_xdsl.dialects.orch.function_marks import (
    CACHE_POLICY,
    SLOT_NUM,
    SPLIT,
    cache_policies,
)
from pypto_xdsl.frontend.pl.function_options import AUTO_SCOPE, EXTERNAL_SOURCE, MARKS
from pypto_xdsl.frontend.pl.vocabulary import spell
from pypto_xdsl.targets.pl.names import Names
from pypto_xdsl.targets.pl.statements import INDENT, BodyWriter
from pypto_xdsl.targets.pl.types import annotation, symbols_in

_MARK_NAMES = {attribute: name for name, attribute in MARKS.items()}


def program_text(module: ModuleOp) -> str:
    """The program that a module holds. Raises `OpError` for what the DSL has no words for."""
    functions: list[orch.FuncOp] = []
    for op in module.body.block.ops:
        if not isinstance(op, orch.FuncOp):
            raise OpError(op, "has no spelling in the DSL")
        functions.append(op)
    symbols = sorted(set(_symbols(functions)))
    name = module.sym_name.data if module.sym_name is not None else "Program"
    lines = [f"# pypto.program: {name}", "import pypto.language as pl", ""]
    plain = sorted({name for symbol in symbols for name in _names_in(symbol)})
    lines += [f'{symbol} = pl.dynamic("{symbol}")' for symbol in plain]
    if plain:
        lines.append("")
    lines += ["", "@pl.program(strict_ssa=True)", f"class {name}:"]
    taken = {*plain, *(f.sym_name.data for f in functions)}
    for place, function in enumerate(functions):
        if place:
            lines.append("")
        lines += _function(function, taken)
    if not functions:
        lines.append(f"{INDENT}pass")
    return "\n".join(lines) + "\n"


def _symbols(functions: Iterable[orch.FuncOp]) -> Iterator[str]:
    for function in functions:
        for op in walk(function):
            for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
                yield from symbols_in(value.type)
        for type in (*function.function_type.inputs.data, *function.function_type.outputs.data):
            yield from symbols_in(type)


def _names_in(symbol: str) -> Iterator[str]:
    """The names in a symbol, which may be arithmetic on others."""
    for node in ast.walk(ast.parse(symbol, mode="eval")):
        if isinstance(node, ast.Name) and node.id != "pl":
            yield node.id


def _function(function: orch.FuncOp, taken: Iterable[str]) -> list[str]:
    options: list[str] = []
    if function.kind.data is not FunctionKind.OPAQUE:
        options.append(f"type={spell('FunctionType', function.kind.data)}")
    if function.level is not None:
        options.append(f"level={spell('Level', function.level.data)}")
    if function.role is not None:
        options.append(f"role={spell('Role', function.role.data)}")
    external = function.attributes.get(EXTERNAL_SOURCE)
    auto = function.attributes.get(AUTO_SCOPE)
    if auto is not None:
        options.append(f"auto_scope={bool(_number(auto))}")
    if isinstance(external, StringAttr):
        options.append(f"external_source={external.data!r}")
    lines = [f"{INDENT}@pl.function({', '.join(options)})" if options else f"{INDENT}@pl.function"]
    names = Names(taken)
    parameters = ["self"]
    inputs = function.function_type.inputs.data
    for place, (direction, type) in enumerate(
        zip(function.parameter_directions, inputs, strict=True)
    ):
        name = names.fresh(f"p{place}")
        if not function.is_declaration:
            argument = function.parameters[place]
            name = names.name(argument)
        parameters.append(f"{name}: {_parameter(function, direction, type)}")
    results = [_type(function, type) for type in function.function_type.outputs.data]
    arrow = ""
    if len(results) == 1:
        arrow = f" -> {results[0]}"
    elif results:
        arrow = f" -> tuple[{', '.join(results)}]"
    lines.append(f"{INDENT}def {function.sym_name.data}({', '.join(parameters)}){arrow}:")
    writer = BodyWriter(names, 2)
    _marks(writer, function)
    if function.is_declaration:
        if function.implementation is not None:
            raise OpError(function, "is lowered: its body has no spelling in the DSL")
    else:
        block = function.body.block
        for place, policy in cache_policies(function).items():
            tensor = names.name(block.args[place])
            writer.line(f"pl.set_cache_policy({tensor}, {spell('CachePolicy', policy)})")
        writer.block(block)
    lines += writer.lines or [f"{INDENT * 2}pass"]
    return lines


def _number(value: Attribute) -> int:
    return value.value.data if isinstance(value, IntegerAttr) else 1


def _parameter(function: Operation, direction: Direction, type: Attribute) -> str:
    text = _type(function, type)
    match direction:
        case Direction.IN:
            return text
        case Direction.OUT:
            return f"pl.Out[{text}]"
        case Direction.INOUT:
            return f"pl.InOut[{text}]"


def _type(function: Operation, type: Attribute) -> str:
    text = annotation(type)
    if text is None:
        raise OpError(function, f"has a type that the DSL has no words for: {type}")
    return text


def _marks(writer: BodyWriter, function: orch.FuncOp) -> None:
    """What the function says about itself to later passes."""
    entries: list[str] = []
    for name, value in function.attributes.items():
        if name in (AUTO_SCOPE, EXTERNAL_SOURCE, CACHE_POLICY):
            continue
        if name == SPLIT and isinstance(value, SplitModeAttr):
            entries.append(f'"split": {spell("SplitMode", value.data)}')
        elif name == SLOT_NUM and isinstance(value, IntegerAttr):
            entries.append(f'"slot_num": {value.value.data}')
        elif name in _MARK_NAMES and isinstance(value, UnitAttr):
            entries.append(f'"{_MARK_NAMES[name]}": True')
        elif name.startswith("pl."):
            entries.append(f'"{name.removeprefix("pl.")}": {_constant(function, value)}')
        else:
            raise OpError(function, f"has an attribute '{name}' that the DSL has no words for")
    if entries:
        writer.line(f"pl.func_attr({{{', '.join(entries)}}})")


def _constant(function: orch.FuncOp, value: Attribute) -> str:
    from pypto_xdsl.targets.pl.calls import attribute_text

    return attribute_text(function, value)
