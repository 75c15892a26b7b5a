"""Types as annotations spell them: `pl.Out[pl.Tensor[[M, 128], pl.FP32]]` and the like."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects.element_types import ElementType, is_element_type
from pypto_xdsl.dialects.orch.attributes import TASK_ID, ArrayType, Direction
from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.dialects.ptensor.types import TensorLayout, tensor_type
from pypto_xdsl.dialects.tile.attributes import MemorySpace, TileLayout
from pypto_xdsl.dialects.tile.types import Layout, TileType, implicit_layout
from pypto_xdsl.frontend.pl.compile_time import Evaluator, StaticScope
from pypto_xdsl.frontend.pl.context import symbol_at
from pypto_xdsl.frontend.pl.source import Source, dotted_name
from pypto_xdsl.frontend.pl.static_values import DslCall, DslName, DType, Symbol, Unsettled
from pypto_xdsl.frontend.pl.values import Typed, Value, describe_value, fits_index
from pypto_xdsl.frontend.pl.vocabulary import DTYPES, UNNAMED, EnumWord
from pypto_xdsl.syntax.spelling import did_you_mean

HEADS = ("Tensor", "Tile", "Scalar", "Array", "Tuple", "tuple", "Out", "InOut", "DistributedTensor")
_MARKERS = ("UnknownType", "MemRefType", "Ptr", "WindowBufferType", "None")
_LAYOUT_KEYWORDS = ("blayout", "slayout", "fractal")

Resolve = Callable[[ast.expr], Value]
"""What an extent is, in a body: an int, a symbol, or a run-time value."""


@dataclass
class Annotation:
    """What an annotation says; several types for `tuple[A, B]`."""

    kind: str
    """`Tensor`, `Tile`, `Scalar`, `Array`, `Tuple`, or `Ignored`."""
    type: Attribute | None = None
    """None for a tuple, and for a tensor whose shape or dtype is not said."""
    direction: Direction = Direction.IN
    parts: list[Annotation] = field(default_factory=list["Annotation"])
    memref: DslCall | Any = None
    """The buffer that a `pl.MemRef` names."""
    memref_node: ast.expr | None = None
    space: MemorySpace | None = None
    view: dict[str, Any] = field(default_factory=dict[str, Any])
    """The fields of a view that are spelled out."""
    one_tuple: bool = False
    """Whether this is `pl.Tuple[...]`, one position of tuple type."""
    layout: TensorLayout | None = None
    """A layout that stands alone."""

    def flat_types(self) -> list[Annotation]:
        """This, or the parts of a tuple."""
        if self.kind != "Tuple":
            return [self]
        return [inner for part in self.parts for inner in part.flat_types()]


class AnnotationReader:
    """Reads annotations among the names of a scope."""

    def __init__(
        self,
        source: Source,
        scope: StaticScope,
        resolve: Resolve | None = None,
        *,
        symbols_from_names: bool = True,
    ):
        self.source = source
        self.scope = scope
        self.resolve = resolve
        self.symbols_from_names = symbols_from_names
        """Whether an unknown name in a shape is a symbol."""

    def read(self, node: ast.expr, *, allow_incomplete: bool = False) -> Annotation:
        """What an annotation says. `allow_incomplete` accepts a bare `pl.Tensor`."""
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)):
            return Annotation("Ignored")
        if isinstance(node, ast.Call):
            return self._legacy_call(node)
        if isinstance(node, ast.Subscript):
            head = dotted_name(node.value)
            word = head[-1] if head else ""
            if word in HEADS:
                return self._head(word, node, allow_incomplete)
            raise self._unknown(node, ast.unparse(node.value))
        name = dotted_name(node)
        if name is not None:
            if name[-1] in _MARKERS:
                return Annotation("Ignored")
            if allow_incomplete and name[-1] in ("Tensor", "Tile"):
                return Annotation(name[-1])
            if allow_incomplete and name[-1] in DTYPES:
                return Annotation("Scalar", DTYPES[name[-1]])
            if allow_incomplete and name[-1] == "Scalar":
                return Annotation("Scalar")
            if name[-1] in ("CommCtx", "CommCtxType", "AsyncEvent", "AsyncSession"):
                raise self.source.error(node, f"distributed type {'.'.join(name)} is not supported")
        shown = ast.unparse(node)
        if name is not None and name[-1] in ("Tensor", "Tile"):
            raise self.source.error(
                node, f"cannot read type '{shown}'; write pl.{name[-1]}[[shape], dtype]"
            )
        raise self._unknown(node, shown)

    def _unknown(self, node: ast.expr, shown: str) -> DiagnosticsError:
        if len(shown) > 60:
            shown = shown[:57] + "..."
        last = shown.rpartition(".")[2]
        return self.source.error(node, f"cannot read type '{shown}'{did_you_mean(last, HEADS)}")

    def _legacy_call(self, node: ast.Call) -> Annotation:
        name = dotted_name(node.func)
        if name is not None and name[-1] in ("Tensor", "Scalar", "Tuple") and not node.keywords:
            arguments: ast.expr = ast.Tuple(list(node.args), ast.Load())
            if len(node.args) == 1:
                arguments = node.args[0]
            subscript = ast.Subscript(node.func, ast.copy_location(arguments, node), ast.Load())
            return self._head(name[-1], ast.copy_location(subscript, node), False)
        raise self._unknown(node, ast.unparse(node.func))

    def _head(self, word: str, node: ast.Subscript, incomplete: bool) -> Annotation:
        inner = node.slice
        parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        match word:
            case "Out" | "InOut":
                annotation = self.read(inner, allow_incomplete=incomplete)
                annotation.direction = Direction.OUT if word == "Out" else Direction.INOUT
                if annotation.kind == "Scalar" and word == "InOut":
                    raise self.source.error(node, "a scalar is passed by value and cannot be InOut")
                return annotation
            case "Tuple" | "tuple":
                if isinstance(inner, ast.List):
                    parts = inner.elts
                elements = [self.read(part) for part in parts]
                return Annotation("Tuple", parts=elements, one_tuple=word == "Tuple")
            case "Scalar":
                return Annotation("Scalar", self.dtype(parts[0]))
            case "Array":
                if len(parts) != 2:
                    raise self.source.error(node, "an array is pl.Array[extent, dtype]")
                extent = self.constant(parts[0], "the extent of an array")
                if extent <= 0:
                    raise self.source.error(
                        parts[0], f"an array has a positive extent, got {extent}"
                    )
                return Annotation("Array", ArrayType(extent, self.dtype(parts[1])))
            case "Tile":
                return self._tile(node, parts)
            case "DistributedTensor":
                raise self.source.error(node, "distributed tensors are not supported")
            case _:
                return self._tensor(node, parts)

    # Tensors

    def _tensor(self, node: ast.Subscript, parts: Sequence[ast.expr]) -> Annotation:
        if len(parts) < 2:
            raise self.source.error(node, "a tensor is pl.Tensor[[shape], dtype]")
        shape = self.shape(parts[0])
        element = self.element_type(parts[1])
        annotation = Annotation("Tensor")
        for part in parts[2:]:
            self._qualifier(annotation, part, tile=False)
        view = annotation.view
        layout = view.get("layout", annotation.layout) or TensorLayout.ND
        if isinstance(layout, str) and not isinstance(layout, TensorLayout):
            raise self.source.error(node, f"layout {layout} is not supported")
        valid = view.get("valid_shape")
        strides = view.get("stride")
        extents = tuple(symbolic(extent) for extent in shape)
        try:
            annotation.type = tensor_type(
                extents,
                element,
                valid=None if not valid else [_static(v) for v in valid],
                strides=None if not strides else [_static(s) for s in strides],
                layout=layout,
                pad=view.get("pad", PadValue.NULL),
            )
        except VerifyException as e:
            raise self.source.error(node, str(e)) from None
        return annotation

    # Tiles

    def _tile(self, node: ast.Subscript, parts: Sequence[ast.expr]) -> Annotation:
        if len(parts) < 2:
            raise self.source.error(node, "a tile is pl.Tile[[shape], dtype]")
        shape = [_static(extent) for extent in self.shape(parts[0])]
        element = self.element_type(parts[1])
        annotation = Annotation("Tile")
        for part in parts[2:]:
            self._qualifier(annotation, part, tile=True)
        view = annotation.view
        try:
            annotation.type = tile_with_view(shape, element, annotation.space, view)
        except VerifyException as e:
            raise self.source.error(node, str(e)) from None
        return annotation

    def _qualifier(self, annotation: Annotation, node: ast.expr, *, tile: bool) -> None:
        """What stands after the dtype: a space, a layout, a view, a buffer."""
        call = node.func if isinstance(node, ast.Call) else None
        head = dotted_name(call) if call is not None else None
        if head is not None and head[-1] in ("TensorView", "TileView"):
            assert isinstance(node, ast.Call)
            annotation.view = self.view(node)
            return
        if self._is_memref(node):
            annotation.memref_node = node
            return
        value = self._evaluate(node)
        match value:
            case EnumWord(value=MemorySpace() as space) if tile:
                if annotation.space is not None:
                    raise self.source.error(node, "the memory space is given twice")
                annotation.space = space
            case EnumWord(value=TensorLayout() as layout) if not tile:
                if layout is TensorLayout.DN:
                    raise self.source.error(
                        node,
                        "layout DN needs its strides: write "
                        "pl.TensorView(stride=[...], layout=pl.TensorLayout.DN)",
                    )
                annotation.layout = layout
            case EnumWord(enum="TensorLayout", member=member) if not tile:
                raise self.source.error(node, f"layout {member} is not supported")
            case DslCall(path=(*_, "TensorView" | "TileView"), node=inner, scope=scope):
                reader = AnnotationReader(scope.source, scope, self.resolve)
                annotation.view = reader.view(inner)
            case DslCall(path=(*_, "MemRef")):
                annotation.memref_node = node
            case str() if not tile:
                pass
            case _:
                kind = "tile" if tile else "tensor"
                raise self.source.error(
                    node, f"a {kind} type has no {describe_value(value)} after its dtype"
                )

    def _is_memref(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Call):
            head = dotted_name(node.func)
            return head is not None and head[-1] == "MemRef"
        if isinstance(node, ast.Name):
            try:
                value = self.scope.lookup(node.id, node.lineno)
            except (KeyError, Unsettled):
                return False
            return isinstance(value, DslCall) and value.path[-1] == "MemRef"
        return False

    def view(self, node: ast.Call) -> dict[str, Any]:
        """The fields of a `pl.TensorView(...)` or `pl.TileView(...)`."""
        if node.args:
            raise self.source.error(node, "a view is given by keywords")
        fields: dict[str, Any] = {}
        for keyword in node.keywords:
            word, value = keyword.arg, keyword.value
            match word:
                case "valid_shape" | "stride":
                    fields[word] = self.shape(value)
                case "fractal":
                    fields[word] = self.constant(value, "the fractal size")
                case "layout" | "blayout" | "slayout" | "pad" | "compact":
                    found = self._evaluate(value)
                    if not isinstance(found, EnumWord):
                        raise self.source.error(value, f"{word} is no {describe_value(found)}")
                    fields[word] = found.value
                case "start_offset":
                    found = self._evaluate(value)
                    if found is not None:
                        raise self.source.error(
                            value, "a view with a start offset is not supported"
                        )
                case _:
                    raise self.source.error(value, f"a view has no '{word}'")
        return fields

    # Parts

    def _evaluate(self, node: ast.expr) -> Any:
        try:
            return Evaluator(self.scope).evaluate(node)
        except Unsettled as e:
            raise self.source.error(node, f"'{_short(node)}' {e.reason}") from None

    def dtype(self, node: ast.expr) -> Attribute:
        """The type that a dtype stands for."""
        name = dotted_name(node)
        if name is not None and len(name) == 2 and name[0] == "pl" and name[1] in DTYPES:
            return DTYPES[name[1]]
        try:
            value = Evaluator(self.scope).evaluate(node)
        except Unsettled as e:
            if name is not None and name[-1] in DTYPES:
                return DTYPES[name[-1]]
            raise self.source.error(node, f"'{_short(node)}': {e.reason}") from None
        if isinstance(value, DType):
            return value.type
        last = name[-1] if name else ""
        if last in DTYPES:
            return DTYPES[last]
        raise self.source.error(node, f"unknown dtype '{_short(node)}'{did_you_mean(last, DTYPES)}")

    def element_type(self, node: ast.expr) -> ElementType:
        """The type that a dtype stands for, of elements."""
        type = self.dtype(node)
        if type == TASK_ID or not is_element_type(type):
            raise self.source.error(node, "tensors and tiles hold numbers, not tasks")
        return type

    def constant(self, node: ast.expr, what: str) -> int:
        """An integer known at compile time."""
        value = self._evaluate(node)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.source.error(node, f"{what} must be an int, got {describe_value(value)}")
        return value

    def shape(self, node: ast.expr) -> list[Value]:
        """The extents in a list: ints, symbols, or run-time values (`None` in a signature)."""
        if isinstance(node, ast.List | ast.Tuple):
            return [self.extent(element) for element in node.elts]
        value = self._evaluate(node)
        if not isinstance(value, list | tuple):
            raise self.source.error(
                node, f"a shape is a list of extents, got {describe_value(value)}"
            )
        parts = cast("Sequence[Any]", value)
        return [self._checked(part, node, repr(part)) for part in parts]

    def extent(self, node: ast.expr) -> Value:
        """One extent."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self._checked(node.value, node, str(node.value))
        if isinstance(node, ast.Name) and self.resolve is not None:
            value = self.resolve(node)
            if value is not None:
                return value
        try:
            value = Evaluator(self.scope).evaluate(node)
            if isinstance(value, DslCall):
                raise Unsettled("is not known before the program runs")
        except Unsettled as e:
            names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
            if isinstance(node, ast.Name):
                if self.symbols_from_names and "is not defined" in e.reason:
                    return Symbol(node.id)
            elif self._is_symbolic(names) and isinstance(node, ast.BinOp | ast.Call | ast.UnaryOp):
                # Arithmetic on symbols: a symbol of its own, equal wherever it stands alike.
                return Symbol(ast.unparse(self._folded(node)))
            elif self.resolve is not None:
                value = self.resolve(node)
                if value is not None:
                    return value
            raise self.source.error(node, f"extent '{_short(node)}' {e.reason}") from None
        return self._checked(value, node, _short(node))

    def _checked(self, value: Value, node: ast.expr, shown: str) -> Value:
        """A value as an extent; -1 is one that is known at run time."""
        if isinstance(value, bool) or not isinstance(value, int | Symbol):
            raise self.source.error(
                node,
                f"extent '{shown}' must be an int, a pl.dynamic symbol or an index, "
                f"got {describe_value(value)}",
            )
        if isinstance(value, int) and not (value >= -1 and fits_index(value)):
            raise self.source.error(node, f"extent '{shown}' is out of reach")
        return DYNAMIC_INDEX if value == -1 else value

    def _folded(self, node: ast.expr) -> ast.expr:
        """An expression with the constants in it worked out, and symbols by their names."""
        try:
            value = Evaluator(self.scope).evaluate(node)
        except Unsettled:
            value = None
        if isinstance(value, Symbol):
            return ast.Name(value.name, ast.Load())
        if isinstance(value, int) and not isinstance(value, bool):
            return ast.Constant(value)
        if isinstance(node, ast.BinOp):
            return ast.BinOp(self._folded(node.left), node.op, self._folded(node.right))
        if isinstance(node, ast.UnaryOp):
            return ast.UnaryOp(node.op, self._folded(node.operand))
        if isinstance(node, ast.Call):
            return ast.Call(node.func, [self._folded(a) for a in node.args], [])
        return node

    def _is_symbolic(self, names: Sequence[ast.Name]) -> bool:
        found = False
        for name in names:
            if self.resolve is not None and self.resolve(name) is not None:
                # A name of the function.
                return False
            try:
                value = self.scope.lookup(name.id, name.lineno)
            except KeyError:
                found = True
                continue
            except Unsettled:
                return False
            found |= isinstance(value, Symbol)
            if not isinstance(value, Symbol | int | DslName):
                return False
        return found


def _short(node: ast.expr) -> str:
    shown = ast.unparse(node)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def symbolic(extent: Value) -> int | str:
    """
    An extent as types store it: a constant, the name of a symbol, or `DYNAMIC_INDEX`, for which a
    signature has a symbol that says by its name that it names nothing.
    """
    if isinstance(extent, int):
        return extent
    if isinstance(extent, Typed):
        return int(extent.value)
    name = symbol_at(extent)
    return DYNAMIC_INDEX if name is None or UNNAMED.fullmatch(name) else name


def _static(extent: Value) -> int:
    found = symbolic(extent)
    return DYNAMIC_INDEX if isinstance(found, str) else found


def tile_with_view(
    shape: Sequence[int],
    element: ElementType,
    space: MemorySpace | None,
    view: dict[str, Any],
    valid: Sequence[int] | None = None,
) -> TileType:
    """A tile whose view has the given fields; those not given are implicit."""
    layout: Layout | None = None
    if any(word in view for word in _LAYOUT_KEYWORDS):
        implicit = implicit_layout(shape, space)
        blayout = view.get("blayout", implicit.blayout)
        slayout = view.get("slayout", implicit.slayout)
        assert isinstance(blayout, TileLayout)
        assert isinstance(slayout, TileLayout)
        layout = Layout(blayout, slayout, view.get("fractal", implicit.fractal))
    listed = view.get("valid_shape")
    if listed:
        valid = [_static(extent) for extent in listed]
    return TileType(
        shape,
        element,
        space,
        valid=valid,
        layout=layout,
        pad=view.get("pad", PadValue.NULL),
        compact=bool(view.get("compact", 0)),
    )
