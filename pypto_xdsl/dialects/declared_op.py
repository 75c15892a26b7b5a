"""
Everything the compiler asks about an op, declared once, on the op, next to its operands.

    class StoreOp(TileOp):
        source = operand_def(reads(TILE, spaces=(MemorySpace.VEC, MemorySpace.ACC)))
        destination = operand_def(writes(TENSOR, resolve=atomic_effect))
        result = result_def(names("destination", TENSOR))

A constraint on an operand also says what the op does to it (its *effect*), in which memory spaces
it may stand, and whether it is a *workspace*: scratch that the compiler supplies, the hardware
writes and nobody reads. A constraint on a result also says which operand's buffer it names, and
in which space it lives. Passes and analyses ask through `DeclaredOp`, and none holds a list of
op names.

Naming and writing are two declarations: an op may name a buffer that it does not write (a view)
and write one that it does not name (a workspace). xDSL's memory effects follow from the same
declaration, see `DeclaredMemoryEffects`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from types import ModuleType
from typing import Any, ClassVar, Generic, Self, TypeAlias, cast

from typing_extensions import TypeVar
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    IntConstraint,
    IRDLOperation,
    VariadicDef,
    VerificationContext,
    traits_def,
)
from xdsl.traits import ConditionallySpeculatable, EffectInstance, MemoryEffect, MemoryEffectKind

from pypto_xdsl.dialects.extents import has_run_time_extents

_AttributeT = TypeVar("_AttributeT", bound=Attribute, default=Attribute)


class DeclarationError(ValueError):
    """What ops of a dialect declare contradicts itself."""


class Effect(Enum):
    """What an op does to what an operand holds. Overwriting a part is a write, not a read."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "readwrite"

    @property
    def reads(self) -> bool:
        return self is not Effect.WRITE

    @property
    def writes(self) -> bool:
        return self is not Effect.READ


EffectResolver: TypeAlias = Callable[[Any], Effect]
"""The effect on an operand where it depends on the op's attributes."""


@dataclass(frozen=True)
class _Declaration(AttrConstraint[_AttributeT], Generic[_AttributeT]):
    """A constraint that passes every question about types on to another."""

    constraint: AttrConstraint[_AttributeT]

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        self.constraint.verify(attr, constraint_context)

    def variables(self) -> set[str]:
        return self.constraint.variables()

    def get_bases(self) -> set[type[Attribute]] | None:
        return self.constraint.get_bases()

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> Self:
        return replace(self, constraint=self.constraint.mapping_type_vars(type_var_mapping))


@dataclass(frozen=True)
class OperandDeclaration(_Declaration[_AttributeT]):
    """The constraint on an operand's type, and what the op does with it."""

    effect: Effect | None = None
    """None: nobody declared it; a multi-result op must not leave it so."""
    spaces: tuple[str, ...] = ()
    """The memory spaces in which a tile may stand here; empty: any."""
    workspace: bool = False
    resolve: EffectResolver | None = None

    @property
    def may_write(self) -> bool:
        """Whether some form of the op writes here."""
        return self.resolve is not None or (self.effect is not None and self.effect.writes)


@dataclass(frozen=True)
class ResultDeclaration(_Declaration[_AttributeT]):
    """The constraint on a result's type, and where the result lives."""

    names: str | None = None
    """The operand whose buffer the result names; None: a buffer of its own."""
    view: bool = False
    """The result names a window of the buffer, or has it in another shape."""
    space: str | None = None
    """The memory space that the op gives the result."""
    space_of: str | None = None
    """The operand whose memory space the result has."""
    declared: bool = True
    """Whether somebody said where the result lives, be it "where its type says"."""


def reads(
    constraint: AttrConstraint[_AttributeT], *, spaces: tuple[str, ...] = ()
) -> OperandDeclaration[_AttributeT]:
    """An operand that the op reads and leaves as it is."""
    return OperandDeclaration(constraint, Effect.READ, spaces)


def writes(
    constraint: AttrConstraint[_AttributeT],
    *,
    spaces: tuple[str, ...] = (),
    resolve: EffectResolver | None = None,
) -> OperandDeclaration[_AttributeT]:
    """An operand that the op writes without reading it, unless `resolve` says otherwise."""
    return OperandDeclaration(constraint, Effect.WRITE, spaces, resolve=resolve)


def updates(
    constraint: AttrConstraint[_AttributeT], *, spaces: tuple[str, ...] = ()
) -> OperandDeclaration[_AttributeT]:
    """An operand that the op reads and writes."""
    return OperandDeclaration(constraint, Effect.READ_WRITE, spaces)


def workspace(
    constraint: AttrConstraint[_AttributeT], *, spaces: tuple[str, ...] = ()
) -> OperandDeclaration[_AttributeT]:
    """Scratch: the op writes it, nobody reads it."""
    return OperandDeclaration(constraint, Effect.WRITE, spaces, workspace=True)


def names(operand: str, constraint: AttrConstraint[_AttributeT]) -> ResultDeclaration[_AttributeT]:
    """A result that names the buffer of an operand, and lives where that does."""
    return ResultDeclaration(constraint, names=operand, space_of=operand)


def views(operand: str, constraint: AttrConstraint[_AttributeT]) -> ResultDeclaration[_AttributeT]:
    """
    A result that names a window of the buffer of an operand, or has it in another shape: an index
    means another element than in the operand.
    """
    return ResultDeclaration(constraint, names=operand, space_of=operand, view=True)


def lives_freely(constraint: AttrConstraint[_AttributeT]) -> ResultDeclaration[_AttributeT]:
    """A result with a buffer of its own, whose type says where it lives."""
    return ResultDeclaration(constraint)


def lives_in(space: str, constraint: AttrConstraint[_AttributeT]) -> ResultDeclaration[_AttributeT]:
    """A result with a buffer of its own in the given memory space."""
    return ResultDeclaration(constraint, space=space)


def lives_with(
    operand: str, constraint: AttrConstraint[_AttributeT]
) -> ResultDeclaration[_AttributeT]:
    """A result with a buffer of its own in the memory space of an operand."""
    return ResultDeclaration(constraint, space_of=operand)


@dataclass(frozen=True)
class OpDeclaration:
    """What an op class declares; operands and results in the order of the definition."""

    operands: tuple[tuple[str, OperandDeclaration], ...]
    results: tuple[tuple[str, ResultDeclaration], ...]
    one_each: bool
    """Whether each operand of the definition is one value: none is optional or variadic."""

    def operand(self, name: str) -> OperandDeclaration:
        return dict(self.operands)[name]

    @property
    def workspaces(self) -> tuple[str, ...]:
        return tuple(name for name, operand in self.operands if operand.workspace)


class DeclaredMemoryEffects(MemoryEffect):
    """
    xDSL's memory effects, derived from the declaration.

    Tensors are references: effects on them are effects on memory, and a result with a buffer of
    its own allocates it, so that two equal ops are not merged into one buffer. Tiles are values:
    in-place updates and workspaces inform bufferization only.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, DeclaredOp)
        found = set[EffectInstance]()
        if op.HAS_SIDE_EFFECTS:
            found.add(EffectInstance(MemoryEffectKind.READ))
            found.add(EffectInstance(MemoryEffectKind.WRITE))
        for operand, effect in op.operand_effects():
            if not isinstance(operand.type, TensorType):
                continue
            if effect.reads and op.READS_ELEMENTS:
                found.add(EffectInstance(MemoryEffectKind.READ, operand))
            if effect.writes:
                found.add(EffectInstance(MemoryEffectKind.WRITE, operand))
        for result in op.results:
            if isinstance(result.type, TensorType) and op.named_operand(result) is None:
                found.add(EffectInstance(MemoryEffectKind.ALLOC, result))
        return found


class DeclaredSpeculation(ConditionallySpeculatable):
    """
    Whether an op may run where the program would not have run it, as in front of a loop that may
    make no iteration: not if it can fail there.
    """

    @classmethod
    def is_speculatable(cls, op: Operation) -> bool:
        assert isinstance(op, DeclaredOp)
        return not op.may_fail()


class DeclaredOp(IRDLOperation, ABC):
    """An op whose facts are declared; the interface through which passes ask for them."""

    traits = traits_def(DeclaredMemoryEffects(), DeclaredSpeculation())

    READS_ELEMENTS: ClassVar[bool] = True
    """Whether what it reads are elements; a view reads only where a buffer is, or how large."""
    IS_ACCESS: ClassVar[bool] = True
    """
    Whether what it reads counts as read by the function that it is in: asking for an extent, or
    giving a tensor another type, is no access.
    """
    HAS_SIDE_EFFECTS: ClassVar[bool] = False
    """
    Whether it does more than its operands and results tell, as a barrier or a push to another core
    does: it is never removed, repeated or moved across another such op.
    """
    READING_ORDER: ClassVar[tuple[str, ...]] = ()
    """
    The operands in the order in which PyPTO's call lists them, where that is not the order of the
    definition: the order in which a program reads them.
    """
    ELEMENTWISE: ClassVar[bool] = False
    """
    Whether each element of a result comes from the elements of the operands at its own place, so
    that the op means the same on another shape, if all tiles have it.
    """
    ROWWISE: ClassVar[bool] = False
    """
    Whether each row of a result comes from the same row of the operands, so that the op means the
    same on the matrix of all rows of tiles of more dimensions. An elementwise op does so anyway.
    """
    COLUMNWISE: ClassVar[bool] = False
    """Whether each column of a matrix that it makes comes from the same column of the operands."""
    FAILS_BY_ELEMENTS: ClassVar[bool] = False
    """Whether elements can make a run fail, as indices outside of what they index do."""
    SAME_ON_TILES: ClassVar[bool] = True
    """Of an op on whole tensors: whether the op of its name on tiles, if any, computes the same."""
    LOADED_IN_PARTS: ClassVar[tuple[str, ...]] = ()
    """Of an op on whole tensors: operands of which a core loads what it needs, never all."""
    PACKED: ClassVar[tuple[str, ...]] = ()
    """Operands and results that are packed masks: with a bit for each element of the others."""
    IN_PLACE: ClassVar[bool] = True
    """Whether a result may share its storage with an operand that dies here."""
    NOT_IN_PLACE_WITH: ClassVar[tuple[str, ...]] = ()
    """Operands with which no result may share storage, of an op that is otherwise in-place safe."""
    TAKEN_APART_BY: ClassVar[str] = ""
    """
    Of an op on tiles that is composed of simpler ones before a core runs it: the pass that makes
    those of it.
    """

    @classmethod
    def declaration(cls) -> OpDeclaration:
        """What the class declares."""
        return _declaration(cls)

    def operand_effects(self) -> Iterator[tuple[SSAValue, Effect]]:
        """Each operand with what this op does to it; an operand nobody declared is read."""
        for _, operand, declared in self.declared_operands():
            yield operand, self._effect(declared)

    def operands_as_read(self) -> Iterator[SSAValue]:
        """The operands in the order in which a program reads them."""
        for name in self.READING_ORDER:
            yield from self._operands_named(name)
        if not self.READING_ORDER:
            yield from self.operands

    def may_fail(self) -> bool:
        """
        Whether a run can end in an error here: what an index decides may lie outside, and extents
        that only the run knows may not fit.
        """
        if self.FAILS_BY_ELEMENTS or self.ELEMENTWISE:
            return self.FAILS_BY_ELEMENTS
        return any(isinstance(operand.type, IndexType) for operand in self.operands) or any(
            has_run_time_extents(value.type) for value in (*self.operands, *self.results)
        )

    def effect_on(self, name: str) -> Effect:
        """What this op does to the operand of this name."""
        return self._effect(self.declaration().operand(name))

    def declared_operands(self) -> Iterator[tuple[str, SSAValue, OperandDeclaration]]:
        """Each operand with its name and declaration."""
        declaration = self.declaration()
        if declaration.one_each:
            for (name, declared), operand in zip(declaration.operands, self.operands, strict=True):
                yield name, operand, declared
            return
        for name, declared in declaration.operands:
            for operand in self._operands_named(name):
                yield name, operand, declared

    def declared_results(self) -> Iterator[tuple[str, OpResult, ResultDeclaration]]:
        """Each result with its name and declaration."""
        for result, (name, declared) in zip(self.results, self.declaration().results, strict=True):
            yield name, result, declared

    def named_operand(self, result: OpResult) -> SSAValue | None:
        """The operand whose buffer the result names, or None if it has its own."""
        _, declared = self.declaration().results[result.index]
        if declared.names is None:
            return None
        return next(iter(self._operands_named(declared.names)), None)

    def is_view(self, result: OpResult) -> bool:
        """Whether the result has the buffer it names as a window, or in another shape."""
        _, declared = self.declaration().results[result.index]
        return declared.view

    def window_start(self, result: OpResult) -> Sequence[int | SSAValue] | None:
        """
        Of a view: where its window starts in the operand, one index a dimension; None if it is no
        window but another shape.
        """
        return None

    def swapped_axes(self, result: OpResult) -> tuple[int, int] | None:
        """Of a view: the two axes of the operand that it exchanges; None if it is another view."""
        return None

    def copied_window(self, result: OpResult) -> tuple[SSAValue, Sequence[int | SSAValue]] | None:
        """
        Of an op that copies all of an operand into a window of what the result names: the operand,
        and where the window starts, one index a dimension. None of any other op.
        """
        return None

    def updated_by(self, result: OpResult) -> Sequence[SSAValue] | None:
        """
        Of an op that writes nothing and whose result names a buffer as earlier writes through other
        names left it: those names, none where the writes gave none. None of any other op.
        """
        return None

    def workspaces(self) -> tuple[SSAValue, ...]:
        """The operands that are scratch."""
        return tuple(
            operand for _, operand, declared in self.declared_operands() if declared.workspace
        )

    def may_share_storage(self, operand: SSAValue) -> bool:
        """Whether a result may be written to the storage of this operand, if it dies here."""
        if not self.IN_PLACE:
            return False
        return not any(operand in self._operands_named(name) for name in self.NOT_IN_PLACE_WITH)

    def _effect(self, declared: OperandDeclaration) -> Effect:
        if declared.resolve is not None:
            return declared.resolve(self)
        return declared.effect or Effect.READ

    def _operands_named(self, name: str) -> Sequence[SSAValue]:
        value: SSAValue | Sequence[SSAValue] | None = getattr(self, name)
        if isinstance(value, SSAValue):
            return (value,)
        return value or ()


@cache
def _declaration(op_type: type[DeclaredOp]) -> OpDeclaration:
    definition = op_type.get_irdl_definition()
    operands: list[tuple[str, OperandDeclaration]] = []
    for name, operand in definition.operands:
        constraint = _innermost(operand.constr)
        if not isinstance(constraint, OperandDeclaration):
            constraint = OperandDeclaration(constraint)
        operands.append((name, constraint))
    results: list[tuple[str, ResultDeclaration]] = []
    for name, result in definition.results:
        constraint = _innermost(result.constr)
        if not isinstance(constraint, ResultDeclaration):
            constraint = ResultDeclaration(constraint, declared=False)
        results.append((name, constraint))
    one_each = not any(isinstance(operand, VariadicDef) for _, operand in definition.operands)
    return OpDeclaration(tuple(operands), tuple(results), one_each)


def _innermost(constraint: Any) -> AttrConstraint[Any]:
    """The declaration inside the constraint on a range, or the constraint on each element."""
    while not isinstance(constraint, _Declaration):
        # A range of a fixed length wraps the constraint on its elements once more.
        inner = getattr(constraint, "constr", None) or getattr(constraint, "constraint", None)
        if inner is None:
            break
        constraint = inner
    return cast(AttrConstraint[Any], constraint)


def ops_defined_in(*modules: ModuleType) -> list[type[Operation]]:
    """The ops that modules of a dialect define, in the order of their definition."""
    # Whether a class is an op is asked last: for one that is not, Python looks at all ops.
    return [
        member
        for module in modules
        for member in vars(module).values()
        if isinstance(member, type)
        and member.__module__ == module.__name__
        and "name" in vars(member)
        and issubclass(member, IRDLOperation)
    ]
