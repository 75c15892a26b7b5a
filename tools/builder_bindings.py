"""
Runs a script that builds a `pto` module by MLIR's Python bindings, and prints the module.

    python tools/builder_bindings.py path/to/builder.py

MLIR's bindings need a build of LLVM and of the assembler. This stands in for the part of them that
such scripts use, on this project's dialects: classes and properties are found by their names, so
that what the dialect declares is all there is to say. The script is foreign code and is run as it
is: give it only what you would run yourself.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, ClassVar, cast

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.universe import Universe

from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import PtoOp, enumerations
from pypto_xdsl.syntax.parser import parse_module

_points: list[InsertPoint] = []
"""Where ops go; the innermost `with InsertionPoint` counts."""


class Made:
    """An op as the bindings show it."""

    def __init__(self, op: Operation) -> None:
        self.operation = self.op = op
        self.attributes = op.attributes
        self.results = op.results

    @property
    def result(self) -> SSAValue:
        return self.op.results[0]

    def add_entry_block(self) -> Any:
        return _Block(self.op.regions[0].block)

    @property
    def body(self) -> Any:
        return _Block(self.op.regions[0].block)

    def verify(self) -> bool:
        self.op.verify()
        return True


class _Block:
    def __init__(self, block: Block) -> None:
        self.block = block

    @property
    def arguments(self) -> Sequence[SSAValue]:
        return self.block.args


def _insert(op: Operation) -> Made:
    Rewriter.insert_op(op, _points[-1])
    return Made(op)


def _value(given: Any) -> Any:
    if isinstance(given, Made):
        return given.result
    if isinstance(given, list | tuple):
        return [_value(given[place]) for place in range(len(cast("list[Any]", given)))]
    return given


# mlir.ir


class _Scoped:
    def __init__(self, *_: Any) -> None: ...

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None: ...

    @classmethod
    def unknown(cls, *_: Any) -> Any:
        return cls()


class InsertionPoint:
    """`with InsertionPoint(block):`"""

    def __init__(self, block: Any) -> None:
        self.point = InsertPoint.at_end(block.block)

    @classmethod
    def at_block_begin(cls, block: Any) -> Any:
        made = cls(block)
        made.point = InsertPoint.at_start(block.block)
        return made

    def __enter__(self) -> Any:
        _points.append(self.point)
        return self

    def __exit__(self, *_: object) -> None:
        _points.pop()


class Module:
    """A module, which prints as text."""

    def __init__(self, op: builtin.ModuleOp) -> None:
        self.op = op
        self.operation = Made(op)
        self.body = _Block(op.body.block)

    @classmethod
    def create(cls, *_: Any) -> Module:
        return cls(builtin.ModuleOp([]))

    @classmethod
    def parse(cls, text: str, *_: Any) -> Module:
        return cls(parse_module(_context(), text, "<text of the builder>"))

    def __str__(self) -> str:
        return str(self.op)


def _context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def _parse_attribute(text: str, *_: Any) -> Attribute:
    # An attribute alone has no parser of its own: it is that of an empty module.
    module = parse_module(_context(), f"module attributes {{a = {text}}} {{}}", "<attribute>")
    return module.attributes["a"]


def _getter(make: Callable[..., Any]) -> type:
    """A class of which only `get` is used; a context at the end does not count."""

    def get(*args: Any) -> Any:
        return make(*(a for a in args if not isinstance(a, _Scoped)))

    return type("Getter", (), {"get": staticmethod(get)})


class IntegerType:
    """`IntegerType.get_signless(32)`"""

    @staticmethod
    def get_signless(width: int, *_: Any) -> Attribute:
        return builtin.IntegerType(width)

    get = get_signless

    @staticmethod
    def get_unsigned(width: int, *_: Any) -> Attribute:
        return builtin.IntegerType(width, builtin.Signedness.UNSIGNED)

    @staticmethod
    def get_signed(width: int, *_: Any) -> Attribute:
        return builtin.IntegerType(width, builtin.Signedness.SIGNED)


class _Attributes:
    parse = staticmethod(_parse_attribute)


def _integer_attribute(type: Any, value: int) -> Attribute:
    return builtin.IntegerAttr(value, type)


def _float_attribute(type: Any, value: float) -> Attribute:
    return builtin.FloatAttr(value, type)


_IR: dict[str, Any] = {
    "Context": _Scoped,
    "Location": _Scoped,
    "Module": Module,
    "InsertionPoint": InsertionPoint,
    "IntegerType": IntegerType,
    "Attribute": _Attributes,
    "Type": _Attributes,
    "F16Type": _getter(builtin.Float16Type),
    "BF16Type": _getter(builtin.BFloat16Type),
    "F32Type": _getter(builtin.Float32Type),
    "IndexType": _getter(builtin.IndexType),
    "FunctionType": _getter(builtin.FunctionType.from_lists),
    "UnitAttr": _getter(builtin.UnitAttr),
    "BoolAttr": _getter(builtin.BoolAttr.from_bool),
    "StringAttr": _getter(builtin.StringAttr),
    "IntegerAttr": _getter(_integer_attribute),
    "FloatAttr": _getter(_float_attribute),
}


# mlir.dialects


def _constant(type: Any, value: Any) -> Made:
    attribute: Any = value
    if not isinstance(value, Attribute):
        is_float = isinstance(type, builtin.AnyFloat)
        attribute = (builtin.FloatAttr if is_float else builtin.IntegerAttr)(value, type)
    return _insert(arith.ConstantOp(attribute))


def _generic(op_class: Any) -> Callable[..., Made]:
    """An op of a standard dialect, by its operands; results are as the first operand."""

    def make(*args: Any, **named: Any) -> Made:
        values = [_value(a) for a in args]
        types = [v for v in values if isinstance(v, TypeAttribute)]
        operands: list[Any] = [v for v in values if isinstance(v, SSAValue)]
        return _insert(op_class.build(operands=operands, result_types=types or [operands[0].type]))

    return make


class _Function(Made):
    def __init__(self, name: str, type: Any, **_: Any) -> None:
        found = func.FuncOp(name, type, Region(Block(arg_types=type.inputs)))
        super().__init__(_insert(found).op)

    @staticmethod
    def from_py_func(*types: Any, name: str | None = None) -> Any:
        def decorate(body: Callable[..., Any]) -> Made:
            made = _Function(name or body.__name__, builtin.FunctionType.from_lists(types, []))
            with InsertionPoint(made.add_entry_block()):
                body(*made.add_entry_block().arguments)
                _insert(func.ReturnOp())
            return made

        return decorate


class _For(Made):
    """`scf.ForOp(low, high, step)`, with `induction_variable`."""

    def __init__(self, low: Any, high: Any, step: Any, carried: Sequence[Any] = ()) -> None:
        initial = [_value(v) for v in carried]
        body = Block(arg_types=[builtin.IndexType(), *(v.type for v in initial)])
        loop = scf.ForOp(_value(low), _value(high), _value(step), initial, body)
        super().__init__(_insert(loop).op)
        self.induction_variable = body.args[0]
        self.inner_iter_args = body.args[1:]


class _If(Made):
    def __init__(self, condition: Any, types: Any = (), *, hasElse: bool = False) -> None:
        made = scf.IfOp(_value(condition), list(types), [Block()], [Block()] if hasElse else None)
        super().__init__(_insert(made).op)
        self.then_block = _Block(made.true_region.block)
        if hasElse:
            self.else_block = _Block(made.false_region.block)


def _word(name: str) -> str:
    return name.replace("_", "").lower()


class _Words:
    """An enumeration; its words are found whatever their case: `BLayout.RowMajor`."""

    def __init__(self, enumeration: Any) -> None:
        self._words = {_word(member.name): member for member in enumeration}

    def __getattr__(self, name: str) -> Any:
        found = self._words.get(_word(name).removeprefix("cast"))
        if found is None:
            raise AttributeError(name)
        return found


class _TileConfig:
    fractalABSize: ClassVar[int] = 512
    fractalCSize: ClassVar[int] = 1024


class _Configuration:
    """Layouts, fractal size and pad value of a tile."""

    def __init__(self, *parts: Any) -> None:
        words = [getattr(part, "data", part) for part in parts]
        self.words: dict[Any, Any] = {type(word): word for word in words}
        self.fractal = next((p for p in parts if isinstance(p, int)), _TileConfig.fractalABSize)

    @classmethod
    def get(cls, *parts: Any) -> _Configuration:
        return cls(*parts)

    @classmethod
    def get_default(cls, *_: Any) -> _Configuration:
        return cls()


def _tile(shape: Any, element: Any, space: Any, valid: Any = None, config: Any = None) -> Attribute:
    config = config or _Configuration()
    words = config.words
    return pto.TileBufType(
        tuple(shape),
        element,
        space.data,
        valid_shape=tuple(valid or shape),
        blayout=words.get(enumerations.BLayout, enumerations.BLayout.ROW_MAJOR),
        slayout=words.get(enumerations.SLayout, enumerations.SLayout.NONE_BOX),
        fractal=config.fractal,
        pad=words.get(enumerations.Pad, enumerations.Pad.NULL),
    )


def _view_type(view: Any) -> Callable[..., Any]:
    def make(shape: Any, element: Any) -> Any:
        extents = (pto.DYNAMIC,) * shape if isinstance(shape, int) else tuple(shape)
        return view(extents, element)

    return make


def _op(op_class: type[PtoOp]) -> Callable[..., Made]:
    """Result types, operands and properties in the order of the definition, or by name."""
    declaration = op_class.DECLARATION
    results = len(op_class.get_irdl_definition().results)

    def make(*args: Any, **named: Any) -> Made:
        given = [_value(a) for a in args]
        types = [v for v in given if isinstance(v, TypeAttribute)]
        values: list[Any] = [v for v in given if isinstance(v, SSAValue | list)]
        properties = [v for v in given if isinstance(v, Attribute) and v not in types]
        # Sources before destinations, as in the text.
        order = (*declaration.ins, *declaration.outs)
        infos = tuple(declaration.operand(name) for name in order)
        if len(values) < len(infos):
            infos = tuple(
                i
                for i in infos
                if (not i.is_optional or i.needed_before_060) and i.name not in named
            )
        operands: dict[str, Any] = {i.name: v for i, v in zip(infos, values, strict=False)}
        by_name = {_word(text): python for python, text in declaration.property_names.items()}
        for name, value in named.items():
            if value is not None:
                operands[by_name.get(_word(name), name)] = _value(value)
        for attribute in properties:
            operands[_property_for(op_class, attribute)] = attribute
        if results and not types:
            types = list(_result_types(op_class, operands))
        return _insert(op_class(result_types=types, **operands))

    return make


def _property_for(op_class: type[PtoOp], attribute: Attribute) -> str:
    for python, text in op_class.DECLARATION.property_names.items():
        constraint: Any = op_class.get_irdl_definition().properties[text].constr
        if isinstance(attribute, constraint.base):
            return python
    raise TypeError(f"{op_class.name} has no property for {attribute}")


def _result_types(op_class: type[PtoOp], operands: dict[str, Any]) -> Iterator[Attribute]:
    """What the bindings infer: that of the first operand for another name of it, else an index."""
    for _ in op_class.get_irdl_definition().results:
        if op_class is pto.AddPtrOp:
            yield next(iter(operands.values())).type
        else:
            yield builtin.IndexType()


class _Dialect(ModuleType):
    """A module whose attributes are found when they are asked for."""

    def __init__(self, name: str, find: Callable[[str], Any]) -> None:
        super().__init__(name)
        self._find = find

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else self._find(name)
        if found is None:
            raise AttributeError(f"{self.__name__} has no {name}: it is not stood in for")
        return found


def _nothing(*_: Any, **__: Any) -> None:
    """What registers a dialect has nothing to do: all are known."""


def _pointer(element: Any, *_: Any) -> Attribute:
    return pto.PtrType(element)


def _same(word: Any) -> Any:
    return word


def _fill_pad(source: Any, destination: Any, *rest: Any, **named: Any) -> Made:
    """From 0.60 on one op is three: here those that keep the shape and that do not."""
    is_same = _value(source).type.get_shape() == _value(destination).type.get_shape()
    made = _op(pto.TFillPadOp if is_same else pto.TFillPadExpandOp)
    return made(source, destination, *rest, **named)


_PTO: dict[str, Any] = {
    "TFillPadOp": _fill_pad,
    "register_dialect": _nothing,
    "TileConfig": _TileConfig,
    "TileBufConfigAttr": _Configuration,
    "TileBufType": _getter(_tile),
    "PtrType": _getter(_pointer),
    "TensorViewType": _getter(_view_type(pto.TensorViewType)),
    "PartitionTensorViewType": _getter(_view_type(pto.PartitionTensorViewType)),
}

_ALIASES = {"padvalue": "pad", "padvalueattr": "padattr"}


def _find_pto(name: str) -> Any:
    if name in _PTO:
        return _PTO[name]
    wanted = _word(name)
    wanted = _ALIASES.get(wanted, wanted)
    for known in dir(pto):
        if _word(known) == wanted and isinstance(found := getattr(pto, known), type):
            if issubclass(found, PtoOp):
                return _op(found)
            if issubclass(found, Attribute):
                return _getter(found)
    for known in dir(enumerations):
        if _word(known) == wanted:
            return _Words(getattr(enumerations, known))
        if _word(known) == wanted.removesuffix("attr"):
            # A word of the layout of a tile is no attribute of its own here.
            return _getter(_same)
    return None


def _find_in(module: Any, special: dict[str, Any]) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        if name in special:
            return special[name]
        found = getattr(module, name, None)
        return _generic(found) if isinstance(found, type) else None

    return find


def _return(values: Sequence[Any], **_: Any) -> Made:
    return _insert(func.ReturnOp(*(_value(v) for v in values)))


def _yield(values: Sequence[Any], **_: Any) -> Made:
    return _insert(scf.YieldOp(*(_value(v) for v in values)))


def _modules() -> Iterator[ModuleType]:
    yield _Dialect("mlir", lambda name: None)
    yield _Dialect("mlir.ir", _IR.get)
    yield _Dialect("mlir.dialects", lambda name: sys.modules.get(f"mlir.dialects.{name}"))
    yield _Dialect("mlir.dialects.pto", _find_pto)
    functions: dict[str, Any] = {
        "FuncOp": _Function,
        "FunctionType": _IR["FunctionType"],
        "ReturnOp": _return,
    }
    yield _Dialect("mlir.dialects.func", functions.get)
    yield _Dialect("mlir.dialects.builtin", _IR.get)
    yield _Dialect("mlir.dialects.arith", _find_in(arith, {"ConstantOp": _constant}))
    loops: dict[str, Any] = {
        "ForOp": _For,
        "IfOp": _If,
        "YieldOp": _yield,
    }
    yield _Dialect("mlir.dialects.scf", loops.get)


@contextmanager
def standing_in() -> Generator[None]:
    """`import mlir` finds this, and `import ptoas.mlir`."""
    made = {module.__name__: module for module in _modules()}
    made |= {f"ptoas.{name}": module for name, module in made.items()}
    made["ptoas"] = _Dialect("ptoas", lambda name: made.get(f"ptoas.{name}"))
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in made:
            del sys.modules[name]


def main() -> int:
    """Run the script that is the first argument; what it prints is the module."""
    if len(sys.argv) != 2:
        print("usage: builder_bindings.py BUILDER.py", file=sys.stderr)
        return 2
    path = sys.argv[1]
    sys.argv = [path]
    with standing_in():
        runpy.run_path(path, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
