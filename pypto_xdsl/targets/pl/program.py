"""Programs and functions as classes and methods of the DSL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

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
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.dialects.tile.storage import AllocOp
from pypto_xdsl.frontend.pl.context import hint
from pypto_xdsl.frontend.pl.function_options import (
    AUTO_SCOPE,
    DERIVED,
    EXTERNAL_SOURCE,
    MARKS,
    MIXED_SOURCES,
    SYMBOL,
    is_host_worker,
)
from pypto_xdsl.frontend.pl.vocabulary import spell
from pypto_xdsl.targets.pl.calls import attribute_text
from pypto_xdsl.targets.pl.names import Names
from pypto_xdsl.targets.pl.scalars import NAN
from pypto_xdsl.targets.pl.statements import INDENT, BodyWriter
from pypto_xdsl.targets.pl.symbols import Symbols, names_in, symbols_in
from pypto_xdsl.targets.pl.types import annotation

_UNNAMED = "Program"
_NAN = re.compile(rf"\b{NAN}\b")
_TAKEN = frozenset(("split", "slot_num", SYMBOL, AUTO_SCOPE, EXTERNAL_SOURCE, *MARKS))
"""What `pl.func_attr` has words for."""
_READ_BY_NAME = (
    "yield_",
    "cond",
    "func_attr",
    "get_block_idx",
    "reserve_buffer",
    "import_peer_buffer",
)
"""What calls are read as that are of this name, whatever they are of: no function has it."""
_MARK_NAMES = {attribute: name for name, attribute in MARKS.items()}


def program_text(module: ModuleOp) -> str:
    """The program that a module holds. Raises `OpError` for what the DSL has no words for."""
    for name in module.attributes:
        if name != TARGET_ARCH:
            raise OpError(module, f"has an attribute '{name}' that the DSL has no words for")
    functions: list[orch.FuncOp] = []
    for op in module.body.block.ops:
        if isinstance(op, ModuleOp):
            raise OpError(op, "holds kernels that are lowered: they have no spelling in the DSL")
        if not isinstance(op, orch.FuncOp):
            raise OpError(op, "has no spelling in the DSL")
        functions.append(op)
    if not functions:
        raise OpError(module, "has no spelling in the DSL: a program holds at least one function")
    members = Names(_READ_BY_NAME)
    own_names = {
        function.sym_name.data: members.legal(function.sym_name.data) for function in functions
    }
    name = Names().legal(module.sym_name.data) if module.sym_name is not None else _UNNAMED
    if hint(name) is None:
        name = _UNNAMED
    symbols = Symbols(Names({*own_names.values(), name}), _symbols(functions))
    body: list[str] = []
    for place, function in enumerate(functions):
        if place:
            body.append("")
        body += _FunctionWriter(function, own_names, symbols).lines()
    lines = [f"# pypto.program: {name}", "import pypto.language as pl", ""]
    declarations = symbols.declarations()
    if any(_NAN.search(line) for line in body):
        declarations.append(f'{NAN} = float("nan")')
    lines += [*declarations, ""] if declarations else []
    lines += ["", "@pl.program(strict_ssa=True)", f"class {name}:", *body]
    return "\n".join(lines) + "\n"


def _symbols(functions: Iterable[orch.FuncOp]) -> Iterator[str]:
    """Those of all types. Raises `OpError` for one that is no name, nor made of names."""
    seen: set[Attribute] = set()
    for function in functions:
        for op, type in _types(function):
            if type in seen:
                continue
            seen.add(type)
            for symbol in symbols_in(type):
                names = [*names_in(symbol)]
                if not names or not all(name.isidentifier() for name in names):
                    raise OpError(op, f"has an extent '{symbol}', which is no name in the DSL")
                yield symbol


def _types(function: orch.FuncOp) -> Iterator[tuple[Operation, Attribute]]:
    for op in walk(function):
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            yield op, value.type
    for type in (*function.function_type.inputs.data, *function.function_type.outputs.data):
        yield function, type


class _FunctionWriter:
    """Writes one function of a program."""

    def __init__(self, function: orch.FuncOp, functions: Mapping[str, str], symbols: Symbols):
        self.function = function
        self.functions = functions
        """What the text calls each function."""
        self.symbols = symbols

    def lines(self) -> list[str]:
        """The decorator, the signature and the body."""
        function = self.function
        if function.sym_visibility is not None:
            raise OpError(
                function,
                f"is {function.sym_visibility.data}, which the DSL has no word for",
            )
        external = function.attributes.keys() & {EXTERNAL_SOURCE, *MIXED_SOURCES}
        if function.implementation is not None:
            raise OpError(function, "is lowered: its body has no spelling in the DSL")
        level = None if function.level is None else function.level.data
        role = None if function.role is None else function.role.data
        host_worker = is_host_worker(level, role)
        if function.is_declaration and not external and not host_worker:
            raise OpError(
                function,
                "has no spelling in the DSL: it is declared only, and no external source has it",
            )
        inputs = [
            self._parameter(direction, type)
            for direction, type in zip(
                function.parameter_directions, function.function_type.inputs.data, strict=True
            )
        ]
        results = [self._type(type) for type in function.function_type.outputs.data]
        names = Names({*self.functions.values(), *self.symbols.variables()})
        for op in walk(function):
            if isinstance(op, AllocOp) and op.space is not None:
                # Variables that hold buffers are called as these are.
                names.exact(op.result, op.buffer.data)
        parameters = [] if host_worker else ["self"]
        for place, spelled in enumerate(inputs):
            name = (
                names.fresh(f"p{place}")
                if function.is_declaration
                else names.name(function.parameters[place])
            )
            parameters.append(f"{name}: {spelled}")
        arrow = ""
        if len(results) == 1:
            arrow = f" -> {results[0]}"
        elif results:
            arrow = f" -> tuple[{', '.join(results)}]"
        own = self.functions[function.sym_name.data]
        writer = BodyWriter(names, self.functions, self.symbols, 2)
        _marks(writer, function, None if own == function.sym_name.data else function.sym_name.data)
        if not function.is_declaration:
            block = function.body.first_block
            if block is None or block is not function.body.last_block:
                raise OpError(function, "has no spelling in the DSL: its body has several blocks")
            for place, policy in cache_policies(function).items():
                tensor = names.name(block.args[place])
                writer.line(f"pl.set_cache_policy({tensor}, {spell('CachePolicy', policy)})")
            writer.look_ahead(function)
            writer.block(block)
        return [
            f"{INDENT}@pl.function{self._options()}",
            f"{INDENT}def {own}({', '.join(parameters)}){arrow}:",
            *(writer.lines or [f"{INDENT * 2}{'...' if host_worker else 'pass'}"]),
        ]

    def _options(self) -> str:
        """What the decorator says, in parentheses, if anything."""
        function = self.function
        options: list[str] = []
        if function.kind.data is not FunctionKind.OPAQUE:
            options.append(f"type={spell('FunctionType', function.kind.data)}")
        for word, said, derived in zip(
            ("level", "role"),
            (function.level, function.role),
            DERIVED.get(function.kind.data, (None, None)),
            strict=True,
        ):
            if said is not None and derived is None:
                options.append(f"{word}={spell(word.capitalize(), said.data)}")
            elif said is not None and said.data is not derived:
                raise OpError(
                    function,
                    f"has no spelling in the DSL with {word} {said.data.value}: "
                    f"{function.kind.data.value} functions have {word} {derived}",
                )
        auto = function.attributes.get(AUTO_SCOPE)
        if auto is not None and not _number(auto):
            options.append("auto_scope=False")
        external = function.attributes.get(EXTERNAL_SOURCE)
        if isinstance(external, StringAttr):
            options.append(f"external_source={external.data!r}")
        return f"({', '.join(options)})" if options else ""

    def _parameter(self, direction: Direction, type: Attribute) -> str:
        text = self._type(type)
        match direction:
            case Direction.IN:
                return text
            case Direction.OUT:
                return f"pl.Out[{text}]"
            case Direction.INOUT:
                return f"pl.InOut[{text}]"

    def _type(self, type: Attribute) -> str:
        text = annotation(type, self.symbols, signature=True)
        if text is None:
            raise OpError(self.function, f"has a type that the DSL has no words for: {type}")
        return text


def _number(value: Attribute) -> int:
    return value.value.data if isinstance(value, IntegerAttr) else 1


def _marks(writer: BodyWriter, function: orch.FuncOp, symbol: str | None) -> None:
    """What the function says about itself to later passes, and its own name if it has another."""
    entries = [] if symbol is None else [f'"{SYMBOL}": {symbol!r}']
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
            if name.removeprefix("pl.") in _TAKEN:
                raise OpError(
                    function, f"has an attribute '{name}', which says something else in the DSL"
                )
            entries.append(attribute_text(function, name, value))
        else:
            raise OpError(function, f"has an attribute '{name}' that the DSL has no words for")
    if entries:
        writer.line(f"pl.func_attr({{{', '.join(entries)}}})")
